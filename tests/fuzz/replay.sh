# SPDX-License-Identifier: MIT
# Replays the corpus of each fuzz target, and checks that the corpora are what
# their generator makes.
corpus=$top_srcdir/tests/fuzz/corpus
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
n=0
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		tail -n 20 "$folder/log" | sed 's/^/# /'
	fi
}

for path in "$corpus"/*/; do
	name=$(basename "$path")
	if [ ! -x "$top_builddir/tests/fuzz/$name" ]; then
		n=$((n + 1))
		echo "ok $n - inputs of $name # SKIP the target is not built"
		continue
	fi
	timeout 60 "$top_builddir/tests/fuzz/$name" "$path" >"$folder/log" 2>&1 </dev/null
	status=$?
	result $status "inputs of $name: $(tail -n 1 "$folder/log")"
done
"$top_builddir/tests/fuzz/make_corpus" "$folder/corpus" >"$folder/log" 2>&1 &&
	diff -r "$corpus" "$folder/corpus" >>"$folder/log" 2>&1
result $? "the corpora are those of make_corpus (else: make corpus)"
echo "1..$n"
