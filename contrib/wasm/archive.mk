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
CC = emcc
AR = emar
# What runs for each object is made fast, and all else small: a page loads it.
HOT = profiler/walk profiler/roots profiler/strings schema/batch_encode schema/ephemeron_columns lz4/lib/lz4 lz4/lib/xxhash
$(HOT:%=$(OUT)/%.o): OPTIMISE = -O2
OPTIMISE = -Oz
CFLAGS = $(OPTIMISE) -g0 -fwasm-exceptions -msimd128 -fvisibility=hidden -ffunction-sections -fdata-sections \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers -Werror
CPPFLAGS = -D_GNU_SOURCE -include $(SRCDIR)/profiler/wasm_mono.h -I$(OUT) -I$(SRCDIR) -I. -I$(OUT)/lz4/lib -I$(OUT)/protobuf-c -isystem $(MONO)

LZ4 = lz4 lz4frame xxhash
OBJECTS = $(SOURCES:%.c=$(OUT)/%.o) $(OUT)/lz4hc_absent.o $(LZ4:%=$(OUT)/lz4/lib/%.o) $(OUT)/protobuf-c/protobuf-c/protobuf-c.o

all: $(OUT)/libmono-profiler-heapshot.a

$(OUT)/libmono-profiler-heapshot.a: $(OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(OBJECTS): $(OUT)/.has-sources $(OUT)/config.h

$(OUT)/config.h: $(SRCDIR)/contrib/wasm/archive.mk
	@mkdir -p $(@D)
	echo '#define PACKAGE_VERSION "$(VERSION)"' >$@

# The tarballs alone; what is in Debian's own patches is not needed.
$(OUT)/.has-sources:
	@mkdir -p $(OUT)/lz4 $(OUT)/protobuf-c
	cd $(OUT) && apt-get source -qq --download-only --tar-only lz4 protobuf-c
	tar -x --strip-components=1 -C $(OUT)/lz4 -f $(OUT)/lz4_*.orig.tar.*z
	tar -x --strip-components=1 -C $(OUT)/protobuf-c -f $(OUT)/protobuf-c_*.orig.tar.*z
	rm -f $(OUT)/*.orig.tar.*
	touch $@

# These are not held to our warnings.
# Frames here are of one independent block, which is never one of a stream.
$(OUT)/lz4/lib/lz4frame.o: CPPFLAGS += -DLZ4_compress_fast_continue=heapshot_no_stream
# Words of 8 bytes where pointers have 4: what LZ4 itself does on x32.
$(OUT)/lz4/lib/lz4.o: CPPFLAGS += -D__x86_64__
$(OUT)/lz4/lib/%.o: $(OUT)/.has-sources
	$(CC) $(filter -DLZ4% -D__%,$(CPPFLAGS)) $(filter-out -W%,$(CFLAGS)) -w -c $(@:.o=.c) -o $@
$(OUT)/protobuf-c/protobuf-c/protobuf-c.o: $(OUT)/.has-sources
	$(CC) $(filter-out -W%,$(CFLAGS)) -w -I$(OUT)/protobuf-c -c $(@:.o=.c) -o $@

$(OUT)/lz4hc_absent.o: $(SRCDIR)/contrib/wasm/lz4hc_absent.c
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(OUT)/%.o: $(SRCDIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

-include $(SOURCES:%.c=$(OUT)/%.d)
