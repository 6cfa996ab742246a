# SPDX-License-Identifier: MIT
# What archive.mk and reader.mk have in common: OBJECTS of SOURCES, and of lz4 and protobuf-c,
# from Debian's source packages.  They set CFLAGS, CPPFLAGS, and of LZ4's flags LZ4_CPPFLAGS.
CC = emcc
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers -Werror
INCLUDES = -I$(OUT) -I$(SRCDIR) -I. -I$(OUT)/lz4/lib -I$(OUT)/protobuf-c

LZ4 = lz4 lz4frame xxhash
OBJECTS = $(SOURCES:%.c=$(OUT)/%.o) $(OUT)/lz4hc_absent.o $(LZ4:%=$(OUT)/lz4/lib/%.o) $(OUT)/protobuf-c/protobuf-c/protobuf-c.o
$(OBJECTS): $(OUT)/.has-sources $(OUT)/config.h

# The tarballs alone; what is in Debian's own patches is not needed.
$(OUT)/.has-sources:
	@mkdir -p $(OUT)/lz4 $(OUT)/protobuf-c
	cd $(OUT) && apt-get source -qq --download-only --tar-only lz4 protobuf-c
	tar -x --strip-components=1 -C $(OUT)/lz4 -f $(OUT)/lz4_*.orig.tar.*z
	tar -x --strip-components=1 -C $(OUT)/protobuf-c -f $(OUT)/protobuf-c_*.orig.tar.*z
	rm -f $(OUT)/*.orig.tar.*
	touch $@

# A new date would compile all anew.
$(OUT)/config.h: $(SRCDIR)/contrib/wasm/objects.mk
	@mkdir -p $(@D)
	printf '#define %s\n' 'VERSION "$(VERSION)"' 'PACKAGE_VERSION VERSION' 'PACKAGE_NAME "heapshot"' >$@.new
	cmp -s $@.new $@ && touch -r $@ $@.new; mv $@.new $@

# These are not held to our warnings.
# Frames here are of one independent block, which is never one of a stream.
$(OUT)/lz4/lib/lz4frame.o: LZ4_CPPFLAGS += -DLZ4_compress_fast_continue=heapshot_no_stream
$(OUT)/lz4/lib/%.o: $(OUT)/.has-sources
	$(CC) $(LZ4_CPPFLAGS) $(filter-out -W%,$(CFLAGS)) -w -c $(@:.o=.c) -o $@
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
