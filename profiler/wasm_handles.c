/* SPDX-License-Identifier: MIT */
/*
 * Tables of handles: JavaScript's entries joined with managed objects, and behind
 * them the objects that JavaScript did not speak of.
 */
#include "config.h"

#include <string.h>

#include <mono/metadata/object.h>

#include "profiler/area.h"
#include "profiler/handles.h"
#include "profiler/ptr_map.h"
#include "profiler/wasm_handles.h"

/* The runtime's table of handles: how they are numbered, and its first bucket. */
#define HANDLE_TYPE_SHIFT 3
#define HANDLE_TYPE_BITS  3 /* of normal ones: their type is 2 */
#define BUCKET_SLOTS_MIN  32

static struct hs_js_part part;
static struct hs_ptr_map proxies; /* GC handle -> place of its name + 1 */
static struct hs_area names;      /* each with a zero at its end */
static bool is_short;             /* of memory */

struct writing {
	uint64_t snapshot;
	hs_handle_reserve *reserve;
	struct hs_handle_totals *totals;
	int error;
};

void hs_handles_begin(void)
{
	hs_held_clear(hs_js_has_tables());
	hs_ptr_map_clear(&proxies);
	names.used = 0;
	is_short = false;
}

static MonoObject *target(uintptr_t handle)
{
	return mono_gchandle_get_target_v2((MonoGCHandle)handle);
}

/* "JavaScript TYPE NAME"; returns its place + 1, or 0. */
static uint32_t add_name(const struct hs_handle_row *row)
{
	static const char first[] = "JavaScript";
	const struct hs_chars texts[] = {
		{first, sizeof first - 1},
		row->js_type ? part.texts[row->js_type + 1] : (struct hs_chars){NULL, 0},
		row->js_name ? part.texts[row->js_name + 1] : (struct hs_chars){NULL, 0},
	};
	const size_t place =
		hs_area_add(&names, texts[0].bytes + texts[1].bytes + texts[2].bytes + 3);
	char *at;

	if (place == SIZE_MAX)
		return 0;
	at = (char *)names.data + place;
	for (int i = 0; i < 3; i++) {
		if (!texts[i].bytes)
			continue;
		if (i)
			*at++ = ' ';
		memcpy(at, texts[i].data, texts[i].bytes);
		at += texts[i].bytes;
	}
	/* The names of the snapshot before stood here. */
	*at = '\0';
	return (uint32_t)place + 1;
}

/* Rows of one part with the same texts have one name. */
static void name_proxies(void)
{
	static struct {
		uint32_t js_type, js_name, place;
	} recent[16];

	memset(recent, 0, sizeof recent);
	for (uint32_t i = 0; i < part.n_rows; i++) {
		const struct hs_handle_row *row = &part.rows[i];
		const size_t at = (row->js_type * 7 + row->js_name) % 16;

		if (!row->object)
			continue;
		if (!recent[at].place || recent[at].js_type != row->js_type ||
		    recent[at].js_name != row->js_name) {
			recent[at].js_type = row->js_type;
			recent[at].js_name = row->js_name;
			recent[at].place = add_name(row);
		}
		if (!recent[at].place ||
		    !hs_ptr_map_set(&proxies, (uintptr_t)row->handle, recent[at].place))
			is_short = true;
	}
}

static bool is_named(const char *name)
{
	const struct hs_chars *text = &part.texts[0];

	return text->bytes == strlen(name) && memcmp(text->data, name, text->bytes) == 0;
}

/* Sets the rows' objects. */
static void join(void)
{
	const bool is_proxies = is_named("js_proxy");
	int sort = 1;

	while (sort < HS_N_HELD && !is_named(hs_held_names[sort]))
		sort++;
	for (uint32_t i = 0; i < part.n_rows; i++) {
		struct hs_handle_row *row = &part.rows[i];

		row->object = 0;
		if (is_proxies && row->handle > 0 && row->handle <= UINT32_MAX)
			row->object = (uintptr_t)target((uintptr_t)row->handle);
		else if (sort < HS_N_HELD)
			row->object = hs_held_take(sort, row->handle);
	}
	if (is_proxies)
		name_proxies();
}

static void write_part(struct writing *writing)
{
	const struct hs_handle_part record = {
		.snapshot = writing->snapshot,
		.escaped = (uint64_t)part.escaped,
		.released = (uint64_t)part.released,
		.collected = (uint64_t)part.collected,
		.name = part.texts[0],
		.note = part.texts[1],
		.texts = part.texts + 2,
		.n_texts = part.n_texts - 2,
		.rows = part.rows,
		.n_rows = part.n_rows,
		.word_bytes = sizeof(void *),
	};
	uint8_t *out = writing->error
			       ? NULL
			       : writing->reserve(hs_handle_part_bytes(&record), &writing->error);

	if (!out)
		return;
	hs_handle_part_encode(out, &record);
	writing->totals->n_parts++;
	writing->totals->n_rows += part.n_rows;
}

static void begin_part(const char *name, const char *note)
{
	memset(&part, 0, offsetof(struct hs_js_part, rows));
	part.n_texts = 2;
	part.texts[0] = (struct hs_chars){name, strlen(name)};
	part.texts[1] = (struct hs_chars){note, strlen(note)};
}

/* Managed objects that JavaScript did not speak of. */
static void write_rest(struct writing *writing, enum hs_held sort)
{
	size_t at = 0;

	begin_part(hs_held_names[sort], "");
	while (hs_held_next(sort, &at, &part.rows[part.n_rows]))
		if (++part.n_rows == HS_JS_ROWS_MAX) {
			write_part(writing);
			part.n_rows = 0;
		}
	if (part.n_rows)
		write_part(writing);
}

int hs_handles_write(uint64_t snapshot, hs_handle_reserve *reserve, struct hs_handle_totals *totals)
{
	struct writing writing = {.snapshot = snapshot, .reserve = reserve, .totals = totals};

	if (!hs_js_has_tables() || !hs_js_begin())
		return 0;
	while (hs_js_next(&part)) {
		join();
		write_part(&writing);
	}
	for (int sort = 1; sort < HS_N_HELD; sort++)
		write_rest(&writing, sort);
	if (is_short || hs_held_n_lost()) {
		begin_part("js_object", "memory was short: not all managed objects were found");
		write_part(&writing);
	}
	return writing.error;
}

const char *hs_handles_name(const struct hs_root *root, const struct hs_range *range,
			    uintptr_t slot)
{
	/* Each bucket is twice the one before, so its size tells how many slots come first. */
	const uintptr_t number = range->size / sizeof(void *) - BUCKET_SLOTS_MIN + slot;
	const uintptr_t handle = (number << HANDLE_TYPE_SHIFT | HANDLE_TYPE_BITS) << 1;
	const uint32_t place = hs_ptr_map_get(&proxies, handle);

	if (!place || (uintptr_t)target(handle) != root->object)
		return NULL;
	return (const char *)names.data + place - 1;
}
