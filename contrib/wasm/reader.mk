# SPDX-License-Identifier: MIT
# Compiles SOURCES with emscripten into OUT/reader.wasm, which reads recordings in a
# page, with lz4 and protobuf-c from Debian's source packages.  Run by `make panel-reader`
# where emscripten is (contrib/wasm/emscripten), in the build folder, with
#
#     SOURCES    of the tree, relative to SRCDIR, or to the build folder
#     SRCDIR     the tree
#     OUT        where it goes
#     VERSION    of heapshot
all: $(OUT)/reader.wasm

include $(SRCDIR)/contrib/wasm/objects.mk

# Sizes of a file have 64 bits, those of memory 32.
CFLAGS = -O2 -g0 -msimd128 -fvisibility=hidden -ffunction-sections -fdata-sections $(WARNINGS) -Wshorten-64-to-32
CPPFLAGS = -D_GNU_SOURCE $(INCLUDES)
# No JavaScript of emscripten's: contrib/browser/panel/reader.js gives the few functions
# that are imported.  A walk of the dominators needs no stack, printing needs some.
LDFLAGS = -O2 --no-entry -sSTANDALONE_WASM -sPURE_WASI -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=16777216 \
	-sMAXIMUM_MEMORY=4294967296 -sSTACK_SIZE=1048576 \
	-sEXPORTED_FUNCTIONS=_malloc,_free

$(OUT)/reader.wasm: $(OBJECTS)
	$(CC) $(LDFLAGS) $^ -o $@.new.wasm
	mv $@.new.wasm $@
