# SPDX-License-Identifier: MIT
# The unit tests' own safety net: a failed assertion, a crash, a time-out and an
# early exit of a Criterion test must each reach automake as a failure.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cat >"$dir/bad.c" <<'END'
#include <criterion/criterion.h>
#include <stdlib.h>
Test(net, good) { cr_assert(1); }
Test(net, assertion) { cr_assert_eq(1, 2); }
Test(net, crash) { abort(); }
Test(net, early) { exit(3); }
Test(net, endless, .timeout = 0.2) { for (;;) ; }
END
if ! pkg-config --exists criterion || ! ${CC:-cc} -o "$dir/bad" "$dir/bad.c" $(pkg-config --cflags --libs criterion); then
	echo "1..1"
	echo "ok 1 - failures of Criterion tests are seen # SKIP criterion is missing"
	exit 0
fi
"$top_srcdir/tests/run-unit" "$dir/bad" >"$dir/tap" 2>/dev/null
n=0
for want in "ok - net::good" "not ok - net::assertion" "not ok - net::crash" "not ok - net::early" "not ok - net::endless"; do
	n=$((n + 1))
	name="result of Criterion's test ${want##*::} is seen as it is"
	if grep -q "^$want" "$dir/tap"; then echo "ok $n - $name"; else echo "not ok $n - $name"; fi
done
echo "1..$n"
