# SPDX-License-Identifier: MIT
# The tests under sanitizers and valgrind: minutes, so not in `make check`.
if [ "${HEAPSHOT_LONG:-0}" != 1 ]; then
	echo "1..1"
	echo "ok 1 - unit and command line tests under ASan, UBSan and valgrind # SKIP long: make check-long"
	exit 0
fi
exec "$top_srcdir/contrib/check-sanitizers"
