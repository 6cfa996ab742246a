# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of contrib/: what they need on Debian, and how it gets
# there.

# To build heapshot and to run a C# program under it.
build_packages=(
	gcc libc6-dev make autoconf automake libtool autoconf-archive pkg-config
	liblz4-dev libprotobuf-c-dev protobuf-c-compiler libsqlite3-dev libncurses-dev
	libmono-2.0-dev mono-runtime mono-mcs
)

# What the tests need beside that.
test_packages=(
	libcriterion-dev libjansson-dev lz4 protobuf-compiler python3 scdoc
	binutils valgrind util-linux procps tmux mono-runtime-boehm libmono-profiler
	sqlite3 chromium libdevel-nytprof-perl
)
# Where npm came in another way, Debian's would put it out.
command -v npm >/dev/null || test_packages+=(nodejs npm)
# For the folder that the tests of the wasm module are built in (contrib/wasm/emscripten).
can_test_wasm() {
	command -v dotnet >/dev/null && [ "$(id -u)" = 0 ]
}
! can_test_wasm || test_packages+=(debootstrap)

# What contrib/deb needs beside build_packages; the last of them for its tests.
deb_packages=(dpkg-dev debhelper scdoc libcriterion-dev)

# What `contrib/check --long` needs beside that: for fuzzing, for Debian
# packages, and for folders that hold a release of Debian.
long_packages=(clang libclang-rt-dev debootstrap dpkg-dev debhelper lintian)

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Installs those of the named packages that are missing.
install_missing() {
	local package missing=()

	if ! command -v dpkg-query >/dev/null; then
		echo "This is no Debian system; packages of these names are needed: $*" >&2
		return 0
	fi
	for package in "$@"; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "Packages are missing; install them as root:" >&2
		echo "    apt-get install ${missing[*]}" >&2
		return 1
	fi
	echo "Installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	local log
	log=$(mktemp)
	if ! { apt-get install -y --no-install-recommends "${missing[@]}" ||
		{ apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; }; } \
		>"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

# The files that belong to the tree, not what builds left in it; each ends in NUL.
list_files() {
	{ [ -e .git ] && git ls-files -z --cached --others --exclude-standard 2>/dev/null; } ||
		find . \( -path ./build -o -path ./.git \) -prune -o -type f -print0
}

# Copies them into a folder; m4 is empty and must be there.
copy_tree() {
	list_files | tar -c --null --files-from=- --ignore-failed-read 2>/dev/null | tar -x -C "$1" &&
		mkdir -p "$1/m4"
}

is_configure_new() {
	[ configure -nt configure.ac ] && [ -f build-aux/tap-driver.sh ]
}

# Whether the folder was configured with what the system has now: quickstart does
# without most of what the tests need, and configure leaves out what it misses.
is_configured() {
	[ config.status -nt ../configure ] && [ config.status -nt /var/lib/dpkg/status ]
}

# Configures and builds in the folder BUILD of the tree; what is there stays.
build_in() {
	local build=$1 log=$1/build.log
	shift

	mkdir -p "$build"
	(
		{ is_configure_new || autoreconf -fi; } &&
			cd "$build" &&
			{ is_configured || ../configure "$@"; } &&
			make -j"$(nproc)"
	) >"$log" 2>&1 </dev/null && return
	echo "The build failed; the end of $log:" >&2
	tail -n 30 "$log" >&2
	return 1
}
