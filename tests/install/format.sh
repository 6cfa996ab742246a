# SPDX-License-Identifier: MIT
# C files are as .clang-format says.  Versions of clang-format differ in small
# things; the one that counts is 14, Debian bookworm's.
name="C files are as clang-format 14 writes them"
echo "1..1"
if ! command -v clang-format >/dev/null; then
	echo "ok 1 - $name # SKIP clang-format is missing"
	exit 0
fi
version=$(clang-format --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [ "$version" != 14 ]; then
	echo "ok 1 - $name # SKIP clang-format is version $version"
	exit 0
fi
cd "$top_srcdir" || exit 99
mapfile -t files < <(find schema emit profiler contrib tests -name '*.[ch]' ! -name '*.pb-c.*' ! -name report_page.c | sort)
# What differs is named by file and line.
wrong=$(clang-format --dry-run "${files[@]}" 2>&1 | grep -F '[-Wclang-format-violations]')
if [ -n "$wrong" ]; then
	echo "not ok 1 - $name"
	echo "$wrong" | sed 's/^/# /' | head -n 50
	echo "# clang-format -i FILE mends it"
	exit 0
fi
echo "ok 1 - $name"
