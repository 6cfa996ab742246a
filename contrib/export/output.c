/* SPDX-License-Identifier: MIT */
/*
 * The buffered stream.
 */
#include <stdio.h>

#include "contrib/export/output.h"

bool export_flush(struct export_output *output)
{
	if (output->n > 0 && !output->has_failed)
		output->has_failed = !output->take(output->user_data, output->buffer, output->n);
	output->taken += output->n;
	output->n = 0;
	return !output->has_failed;
}

void export_put(struct export_output *output, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size > 0) {
		size_t room = EXPORT_BUFFER_BYTES - output->n, n = size < room ? size : room;

		memcpy(output->buffer + output->n, at, n);
		output->n += n;
		at += n;
		size -= n;
		if (output->n == EXPORT_BUFFER_BYTES)
			export_flush(output);
	}
}

void export_put_number(struct export_output *output, uint64_t number)
{
	uint8_t digits[20], *at = digits + sizeof(digits);

	do {
		*--at = (uint8_t)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	export_put(output, at, (size_t)(digits + sizeof(digits) - at));
}

void export_put_u32(struct export_output *output, uint32_t number)
{
	uint8_t *at = export_room(output, 4);
	unsigned i;

	for (i = 0; i < 4; i++)
		at[i] = (uint8_t)(number >> 8 * i);
	output->n += 4;
}

void export_put_u64(struct export_output *output, uint64_t number)
{
	export_put_u32(output, (uint32_t)number);
	export_put_u32(output, (uint32_t)(number >> 32));
}

void export_put_json_text(struct export_output *output, const char *text)
{
	export_put_byte(output, '"');
	for (; *text != '\0'; text++) {
		const uint8_t byte = (uint8_t)*text;
		char escaped[8];

		if (byte == '"' || byte == '\\') {
			export_put_byte(output, '\\');
			export_put_byte(output, byte);
		} else if (byte < 0x20 || byte == 0x7F) {
			snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
			export_put_text(output, escaped);
		} else {
			export_put_byte(output, byte);
		}
	}
	export_put_byte(output, '"');
}
