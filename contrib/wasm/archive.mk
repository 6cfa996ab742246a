# SPDX-License-Identifier: MIT
# Compiles SOURCES with emscripten into the archive OUT/libmono-profiler-heapshot.a,
# with lz4 and protobuf-c from Debian's source packages.  Run by `make wasm` where
# emscripten is (contrib/wasm/emscripten), in the build folder, with
#
#     SOURCES    of the tree, relative to SRCDIR, or to the build folder
#     SRCDIR     the tree
#     MONO       folder of the headers of a runtime pack
#     OUT        where it goes
#     VERSION    of heapshot
all: $(OUT)/libmono-profiler-heapshot.a

include $(SRCDIR)/contrib/wasm/objects.mk

AR = emar
# What runs for each object is made fast, and all else small: a page loads it.
HOT = profiler/walk profiler/roots profiler/strings schema/batch_encode schema/ephemeron_columns lz4/lib/lz4 lz4/lib/xxhash
$(HOT:%=$(OUT)/%.o): OPTIMISE = -O2
OPTIMISE = -Oz
CFLAGS = $(OPTIMISE) -g0 -fwasm-exceptions -msimd128 -fvisibility=hidden -ffunction-sections -fdata-sections $(WARNINGS)
CPPFLAGS = -D_GNU_SOURCE -include $(SRCDIR)/profiler/wasm_mono.h $(INCLUDES) -isystem $(MONO)
# Words of 8 bytes where pointers have 4: what LZ4 itself does on x32.
$(OUT)/lz4/lib/lz4.o: LZ4_CPPFLAGS += -D__x86_64__

$(OUT)/libmono-profiler-heapshot.a: $(OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^
