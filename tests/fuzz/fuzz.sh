# SPDX-License-Identifier: MIT
# Fuzzes each target for FUZZ_SECONDS (600), as many at a time as there are
# processors, in a build of its own by clang with libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer.  FUZZ_ONLY names some of them only.  What is
# found stands in fuzz/found of the build folder, to be replayed by
#
#     fuzz/tests/fuzz/TARGET fuzz/found/TARGET-...
skip() {
	echo "1..1"
	echo "ok 1 - fuzzing # SKIP $1"
	exit 0
}
[ "${HEAPSHOT_LONG:-0}" = 1 ] || skip "long: make check-long"
clang=${FUZZ_CLANG:-$(command -v clang || command -v clang-14 || command -v clang-19)}
[ -n "$clang" ] || skip "clang is missing"

build=$top_builddir/fuzz
seconds=${FUZZ_SECONDS:-600}
unset MAKEFLAGS MAKELEVEL MFLAGS
mkdir -p "$build/found"
log=$build/log
(
	cd "$build" &&
		{ [ -f config.status ] || "$top_srcdir/configure" CC="$clang" --enable-fuzzing --disable-shared --prefix=/usr; } &&
		make Makefile && # which may print, when something is newer
		make -s -f - print-targets >targets <<<$'include Makefile\nprint-targets: ; @echo $(FUZZ_TARGETS)' &&
		make -j2 schema/heapshot.pb-c.h &&
		make -j2 $(cat targets)
) >"$log" 2>&1 </dev/null || {
	echo "1..1"
	echo "not ok 1 - build with --enable-fuzzing"
	tail -n 40 "$log" | sed 's/^/# /'
	exit 0
}

fuzz() {
	local name=$1
	mkdir -p "$build/corpus/$name"
	timeout -k 10 $((seconds + 120)) "$build/tests/fuzz/$name" -max_total_time="$seconds" \
		-rss_limit_mb=512 -timeout=20 -max_len=16384 -print_final_stats=1 \
		-artifact_prefix="$build/found/$name-" \
		"$build/corpus/$name" "$top_srcdir/tests/fuzz/corpus/$name" >"$build/$name.log" 2>&1 </dev/null
	echo $? >"$build/$name.status"
}

# A small quarantine: the reader's buffers would else be new pages each time.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=16:malloc_context_size=6
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
targets=${FUZZ_ONLY:-$(xargs -n 1 basename <"$build/targets")}
n=0
for name in $targets; do
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
	rm -f "$build/$name.status"
	fuzz "$name" &
done
wait
for name in $targets; do
	n=$((n + 1))
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")
	if [ "$(cat "$build/$name.status" 2>/dev/null)" = 0 ]; then
		echo "ok $n - $name: nothing found in $seconds s, $runs inputs"
	else
		echo "not ok $n - $name: something was found, see $build/found"
		grep -vE '^#[0-9]' "$build/$name.log" | tail -n 60 | sed 's/^/# /'
	fi
done
echo "1..$n"
