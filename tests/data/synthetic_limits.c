/* SPDX-License-Identifier: MIT */
/*
 * Heaps of few objects that pass a limit of some format.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/data/synthetic_limits.h"
#include "tests/data/synthetic_writer.h"

#define CHAIN 5u

static void make_chain(struct synthetic_bytes *bytes, uint64_t from, uint64_t gap, uint64_t size)
{
	struct synthetic_writer writer;
	unsigned i;

	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(&writer, "chain", "gc");
	for (i = 0; i < CHAIN; i++)
		synthetic_put_object(&writer, i % 2 == 0 ? TYPE_NODE : TYPE_HUGE, from + i * gap,
				     size, i + 1 < CHAIN ? from + (i + 1) * gap : 0, 0);
	synthetic_flush_batch(&writer);
	synthetic_put_root(&writer, synthetic_put_source(&writer, 4, "", "T.Pub.Root"), 4, from);
	synthetic_flush_roots(&writer);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

void synthetic_wide(struct synthetic_bytes *bytes, uint64_t n)
{
	make_chain(bytes, NODES, 64, n != 0 ? n : (uint64_t)1 << 30);
}

void synthetic_apart(struct synthetic_bytes *bytes, uint64_t n)
{
	make_chain(bytes, NODES, n != 0 ? n : (uint64_t)1 << 36, 32);
}

void synthetic_low(struct synthetic_bytes *bytes, uint64_t n)
{
	make_chain(bytes, 0x10000, n != 0 ? n : 64, 32);
}

void synthetic_names(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;
	uint64_t i;

	n = n != 0 ? n : 100;
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_begin_snapshot(&writer, "names", "gc");
	for (i = 0; i < n; i++)
		synthetic_put_object(&writer, TYPE_NODE, NODES + i * 32, 32, 0, 0);
	synthetic_flush_batch(&writer);
	for (i = 0; i < n; i++) {
		char name[80];

		if (i > 0 && i % 500 == 0) {
			synthetic_flush_roots(&writer);
			hs_root_begin(&writer.roots, writer.id);
		}
		snprintf(name, sizeof(name),
			 "T.Holder%llu.field_that_has_quite_a_long_name_of_its_own",
			 (unsigned long long)i);
		synthetic_put_root(&writer, synthetic_put_source(&writer, 4, "", name), 4,
				   NODES + i * 32);
	}
	synthetic_flush_roots(&writer);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
}

void synthetic_long_name(struct synthetic_bytes *bytes, uint64_t n)
{
	struct synthetic_writer writer;
	char *name;

	n = n != 0 ? n : 3000;
	name = calloc(n + 1, 1);
	if (name == NULL)
		abort();
	memset(name, 'n', n);
	memcpy(name, "T.", 2);
	synthetic_open(&writer, bytes, 0xC0FFEE, 1);
	synthetic_put_type(&writer, TYPE_LATE, name, 2);
	synthetic_begin_snapshot(&writer, "long", "gc");
	synthetic_put_object(&writer, TYPE_LATE, NODES, 32, 0, 0);
	synthetic_put_root(&writer, synthetic_put_source(&writer, 4, "", "T.Pub.Root"), 4, NODES);
	synthetic_flush_roots(&writer);
	synthetic_end_snapshot(&writer);
	synthetic_close(&writer, true, "");
	free(name);
}
