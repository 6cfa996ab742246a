# SPDX-License-Identifier: MIT
# Compiles SOURCES with emscripten into OUT/reader.wasm, which reads recordings in a
# page, with lz4 and protobuf-c from Debian's source packages.  Run by `make panel-reader`
# where emscripten is (contrib/wasm/emscripten), in the build folder, with
#
#     SOURCES    of the tree, relative to SRCDIR, or to the build folder
#     SRCDIR     the tree
#     OUT        where it goes
#     VERSION    of heapshot
CC = emcc
# Sizes of a file have 64 bits, those of memory 32.
CFLAGS = -O2 -g0 -msimd128 -fvisibility=hidden -ffunction-sections -fdata-sections \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers -Wshorten-64-to-32 -Werror
CPPFLAGS = -D_GNU_SOURCE -I$(OUT) -I$(SRCDIR) -I. -I$(OUT)/lz4/lib -I$(OUT)/protobuf-c
# No JavaScript of emscripten's: contrib/browser/panel/reader.js gives the few functions
# that are imported.  A walk of the dominators needs no stack, printing needs some.
LDFLAGS = -O2 --no-entry -sSTANDALONE_WASM -sPURE_WASI -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=16777216 \
	-sMAXIMUM_MEMORY=4294967296 -sSTACK_SIZE=1048576 \
	-sEXPORTED_FUNCTIONS=_malloc,_free

LZ4 = lz4 lz4frame xxhash
OBJECTS = $(SOURCES:%.c=$(OUT)/%.o) $(OUT)/lz4hc_absent.o $(LZ4:%=$(OUT)/lz4/lib/%.o) $(OUT)/protobuf-c/protobuf-c/protobuf-c.o

all: $(OUT)/reader.wasm

$(OUT)/reader.wasm: $(OBJECTS)
	$(CC) $(LDFLAGS) $^ -o $@.new.wasm
	mv $@.new.wasm $@

$(OBJECTS): $(OUT)/.has-sources $(OUT)/config.h

$(OUT)/config.h: $(SRCDIR)/contrib/wasm/reader.mk
	@mkdir -p $(@D)
	printf '#define %s\n' 'VERSION "$(VERSION)"' 'PACKAGE_VERSION VERSION' 'PACKAGE_NAME "heapshot"' >$@.new
	cmp -s $@.new $@ && touch -r $@ $@.new; mv $@.new $@

# The tarballs alone; what is in Debian's own patches is not needed.
$(OUT)/.has-sources:
	@mkdir -p $(OUT)/lz4 $(OUT)/protobuf-c
	cd $(OUT) && apt-get source -qq --download-only --tar-only lz4 protobuf-c
	tar -x --strip-components=1 -C $(OUT)/lz4 -f $(OUT)/lz4_*.orig.tar.*z
	tar -x --strip-components=1 -C $(OUT)/protobuf-c -f $(OUT)/protobuf-c_*.orig.tar.*z
	rm -f $(OUT)/*.orig.tar.*
	touch $@

# These are not held to our warnings.
$(OUT)/lz4/lib/lz4frame.o: CPPFLAGS += -DLZ4_compress_fast_continue=heapshot_no_stream
$(OUT)/lz4/lib/%.o: $(OUT)/.has-sources
	$(CC) $(filter -DLZ4%,$(CPPFLAGS)) $(filter-out -W%,$(CFLAGS)) -w -c $(@:.o=.c) -o $@
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
