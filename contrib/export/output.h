/* SPDX-License-Identifier: MIT */
/*
 * A stream that formats are written to: buffered, with an error that stays, so
 * that writers ask once at the end.
 */
#ifndef HEAPSHOT_EXPORT_OUTPUT_H
#define HEAPSHOT_EXPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Takes SIZE bytes, all of them; false when that is not possible, said by itself. */
typedef bool export_take(void *user_data, const void *data, size_t size);

#define EXPORT_BUFFER_BYTES (64u << 10)

struct export_output {
	export_take *take;
	void *user_data;
	bool has_failed;
	uint64_t taken; /* bytes before the buffer */
	size_t n;
	uint8_t buffer[EXPORT_BUFFER_BYTES];
};

/* Empties the buffer; false when something could not be written, now or before. */
bool export_flush(struct export_output *output);

/* Room for SIZE bytes (at most EXPORT_BUFFER_BYTES), to be filled and counted in n. */
static inline uint8_t *export_room(struct export_output *output, size_t size)
{
	if (output->n + size > EXPORT_BUFFER_BYTES)
		export_flush(output);
	return output->buffer + output->n;
}

void export_put(struct export_output *output, const void *data, size_t size);

static inline void export_put_byte(struct export_output *output, uint8_t byte)
{
	*export_room(output, 1) = byte;
	output->n++;
}

static inline void export_put_text(struct export_output *output, const char *text)
{
	export_put(output, text, strlen(text));
}

/* In decimal. */
void export_put_number(struct export_output *output, uint64_t number);
/* As a string of JSON; TEXT is valid UTF-8. */
void export_put_json_text(struct export_output *output, const char *text);
/* Little-endian. */
void export_put_u32(struct export_output *output, uint32_t number);
void export_put_u64(struct export_output *output, uint64_t number);

/* Bytes that were put so far. */
static inline uint64_t export_place(const struct export_output *output)
{
	return output->taken + output->n;
}

#endif
