# SPDX-License-Identifier: MIT
# page.sh FOLDER MODULE...: puts page/page.html, page/page.css and the modules of
# FOLDER together to one page, and writes it as lines of C.  Needs awk and sha256sum.
set -e
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk=${AWK:-awk}

# What stands between the tags, the first newline included.
{
	echo
	cat "$folder/page/page.css"
} >"$work/style"
{
	echo
	(cd "$folder/page" && $awk -f ../modules.awk "$@")
} >"$work/script"

# A hash for the policy: hexadecimal to base64.
hash_of() {
	sha256sum <"$1" | $awk '{
		split("0 1 2 3 4 5 6 7 8 9 a b c d e f", digits, " ")
		for (i in digits)
			value[digits[i]] = i - 1
		letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		hex = $1
		for (i = 1; i <= 64; i += 3) {
			number = value[substr(hex, i, 1)] * 256
			number += i + 1 > 64 ? 0 : value[substr(hex, i + 1, 1)] * 16
			number += i + 2 > 64 ? 0 : value[substr(hex, i + 2, 1)]
			text = text substr(letters, int(number / 64) + 1, 1)
			if (i < 64)
				text = text substr(letters, number % 64 + 1, 1)
		}
		print text "="
	}'
}

script=$(hash_of "$work/script")
style=$(hash_of "$work/style")

# The page, with the hashes, the style and the script in their places.
$awk -v script="$script" -v style="$style" -v work="$work" '
	# The tag stands before the newline that the file begins with.
	function put_file(tag, name) {
		printf "%s", tag
		while ((getline line < name) > 0)
			print line
		close(name)
	}
	/@POLICY@/ {
		sub(/@POLICY@/, "default-src '\''none'\''; script-src '\''sha256-" script "'\''; style-src '\''sha256-" style "'\''")
	}
	/^<style>$/ { put_file($0, work "/style"); next }
	/^<script>$/ { put_file($0, work "/script"); next }
	{ print }
' "$folder/page/page.html" >"$work/page"

echo '/* Made by contrib/browser/page.sh: do not edit. */'
echo '#include <stddef.h>'
echo '#include "contrib/cli/report.h"'
echo 'const char *const report_page[] = {'
sed -e '/^@DATA@$/{s/.*/NULL,/;b' -e '}' \
	-e 's/[\\"]/\\&/g' -e 's/?/\\?/g' -e 's/^/"/' -e 's/$/\\n",/' "$work/page"
echo 'NULL};'
