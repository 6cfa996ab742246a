# SPDX-License-Identifier: MIT
# Puts ES modules together to one script: each becomes a function that is called
# at once, so that names of one module are not seen in another.  Understands
#     import { a, b } from "./x.js";         (on one line)
#     export function|class|const NAME ...   (and async function)
# and nothing else of modules; files come in the order in which they need each other.
BEGIN { print "\"use strict\";" }

function finish() {
	if (name != "")
		print "return {" exports " };\n})();"
	exports = ""
}

FNR == 1 {
	finish()
	name = FILENAME
	sub(/^.*\//, "", name)
	sub(/\.js$/, "", name)
	gsub(/[^A-Za-z0-9]/, "_", name)
	print "const module_" name " = (() => {"
}

/^import / {
	from = $0
	sub(/^.*"\.\//, "", from)
	sub(/\.js".*$/, "", from)
	gsub(/[^A-Za-z0-9]/, "_", from)
	sub(/^import /, "const ")
	sub(/ from .*$/, " = module_" from ";")
}

/^export / {
	sub(/^export /, "")
	line = $0
	sub(/^async /, "", line)
	sub(/^[a-z]+\*? /, "", line)
	sub(/[^A-Za-z0-9_$].*$/, "", line)
	exports = exports (exports == "" ? " " : ", ") line
}

{ print }

END { finish() }
