/* SPDX-License-Identifier: MIT */
/*
 * gzip (RFC 1952) around stored blocks (RFC 1951, 3.2.4).
 */
#include "contrib/export/gzip.h"
#include "schema/tag.h"

#define STORED_MAX 65535u

static void put_block(struct export_output *output, const uint8_t *data, size_t size, bool is_last)
{
	const uint8_t head[] = {
		is_last, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size, (uint8_t)(~size >> 8),
	};

	export_put(output, head, sizeof(head));
	export_put(output, data, size);
}

static bool take(void *user_data, const void *data, size_t size)
{
	struct export_gzip *gzip = user_data;
	const uint8_t *at = data;

	gzip->crc = hs_crc32_more(gzip->crc, data, size);
	while (size > 0) {
		const size_t n = size < STORED_MAX ? size : STORED_MAX;

		put_block(gzip->output, at, n, false);
		at += n;
		size -= n;
	}
	return !gzip->output->has_failed;
}

void export_gzip_begin(struct export_gzip *gzip, struct export_output *output)
{
	/* Deflated, without name and time, of an unknown system. */
	static const uint8_t head[] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255};

	gzip->output = output;
	gzip->crc = 0;
	gzip->inner.take = take;
	gzip->inner.user_data = gzip;
	gzip->inner.has_failed = false;
	gzip->inner.taken = 0;
	gzip->inner.n = 0;
	export_put(output, head, sizeof(head));
}

void export_gzip_end(struct export_gzip *gzip)
{
	export_flush(&gzip->inner);
	put_block(gzip->output, NULL, 0, true);
	export_put_u32(gzip->output, gzip->crc);
	export_put_u32(gzip->output, (uint32_t)gzip->inner.taken);
}
