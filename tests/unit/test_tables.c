/* SPDX-License-Identifier: MIT */
/*
 * The tables that grow while the world is stopped: area, map of addresses,
 * types, ranges, and the set of addresses; the larger ones against naive models
 * with random steps.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/area.h"
#include "profiler/ptr_map.h"
#include "profiler/ranges.h"
#include "profiler/seen.h"
#include "profiler/types.h"
#include "schema/heapshot.pb-c.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/random.h"

TestSuite(tables, .fini = leak_check);

Test(tables, area)
{
	struct hs_area area = {0};
	size_t offset, total = 0, bytes;

	random_start("area");
	for (uint32_t i = 0; i < 5000; i++) {
		bytes = random_below(100);
		offset = hs_area_add(&area, bytes);
		cr_assert_eq(offset, total, "round %u", i);
		cr_assert_eq(offset % 8, 0);
		total += (bytes + 7) & ~(size_t)7;
		cr_assert(area.used == total && area.capacity >= total);
		for (size_t j = offset; j < total; j++)
			cr_assert_eq(area.data[j], 0);
		memset(area.data + offset, (int)(i & 0xff) | 1, bytes);
	}
	cr_assert_eq(area.data[8] & 1, 1);
	/* What there is no memory for changes nothing. */
	cr_assert(!hs_area_reserve(&area, SIZE_MAX / 2));
	cr_assert(!hs_area_reserve(&area, SIZE_MAX - area.used));
	cr_assert_eq(hs_area_add(&area, SIZE_MAX / 2), SIZE_MAX);
	cr_assert_eq(area.used, total);
	bytes = area.capacity;
	cr_assert(hs_area_reserve(&area, area.capacity - area.used));
	cr_assert_eq(area.capacity, bytes);
	cr_assert(hs_area_reserve(&area, area.capacity - area.used + 1));
	cr_assert_geq(area.capacity, 2 * bytes);
	hs_area_free(&area);
	cr_assert(!area.data && !area.used && !area.capacity);
}

/* Keys of a few bit patterns, so that probes run into each other. */
static uintptr_t key_of(size_t i)
{
	return i % 3 == 0   ? (uintptr_t)(i + 1) << 4
	       : i % 3 == 1 ? (uintptr_t)(i + 1) << 32
			    : UINTPTR_MAX - i;
}

Test(tables, map)
{
	enum { N = 3000 };
	static uint32_t model[N];
	static bool is_set[N];
	struct hs_ptr_map map = {0};
	size_t used = 0, i;

	random_start("map");
	cr_assert_eq(hs_ptr_map_get(&map, 1), 0);
	cr_assert_null(hs_ptr_map_find(&map, 1));
	hs_ptr_map_remove(&map, 1);
	for (int step = 0; step < 300000; step++) {
		/* Fill up, run down, and fill again. */
		const bool grows = step % 100000 < 60000;
		i = random_below(N);
		if (random_below(10) < (grows ? 7u : 3u)) {
			cr_assert(hs_ptr_map_set(&map, key_of(i), (uint32_t)step));
			used += !is_set[i];
			is_set[i] = true;
			model[i] = (uint32_t)step;
		} else {
			hs_ptr_map_remove(&map, key_of(i));
			used -= is_set[i];
			is_set[i] = false;
		}
		cr_assert_eq(map.used, used);
		i = random_below(N);
		cr_assert_eq(hs_ptr_map_find(&map, key_of(i)) != NULL, is_set[i]);
		cr_assert_eq(hs_ptr_map_get(&map, key_of(i)), is_set[i] ? model[i] : 0);
		if (step % 10000 == 0)
			for (i = 0; i < N; i++)
				cr_assert_eq(hs_ptr_map_get(&map, key_of(i)),
					     is_set[i] ? model[i] : 0);
	}
	hs_ptr_map_clear(&map);
	for (i = 0; i < N; i++)
		cr_assert_null(hs_ptr_map_find(&map, key_of(i)));
	i = map.mask;
	cr_assert(hs_ptr_map_reserve(&map, 10));
	cr_assert_eq(map.mask, i);
	cr_assert(hs_ptr_map_reserve(&map, map.mask));
	cr_assert_gt(map.mask, i);
	cr_assert(!hs_ptr_map_reserve(&map, SIZE_MAX / 2));
	hs_ptr_map_free(&map);
	cr_assert(!map.slots && !map.used && !map.mask);
}

/* "No address" is never there, whatever its slot held before. */
Test(tables, map_without_an_address)
{
	struct hs_ptr_map map = {0};
	uintptr_t key = 1;

	cr_assert(hs_ptr_map_reserve(&map, 1));
	while (hs_ptr_hash(key, map.shift))
		key++;
	cr_assert_eq(hs_ptr_map_get(&map, 0), 0);
	cr_assert(hs_ptr_map_set(&map, key, 7));
	cr_assert_eq(hs_ptr_map_get(&map, 0), 0);
	hs_ptr_map_remove(&map, key);
	cr_assert_eq(hs_ptr_map_get(&map, 0), 0);
	hs_ptr_map_free(&map);
}

Test(tables, types)
{
	struct hs_types types = {0};
	uint32_t id, bytes;
	char name[32];

	cr_assert_null(hs_types_get(&types, 0));
	cr_assert_null(hs_types_get(&types, 1));
	cr_assert_eq(hs_types_intern(&types, 0), 0);
	for (uint32_t i = 1; i <= 5000; i++) {
		cr_assert_eq(hs_types_intern(&types, 16 * i), i);
		cr_assert_eq(hs_types_intern(&types, 16 * i), i);
		bytes = (uint32_t)snprintf(name, sizeof name, "T.Type%u", i);
		cr_assert(hs_types_set_name(&types, i, name, bytes));
	}
	for (uint32_t i = 1; i <= 5000; i++) {
		const struct hs_type *type = hs_types_get(&types, i);
		snprintf(name, sizeof name, "T.Type%u", i);
		cr_assert(type->klass == 16 * i && !type->is_announced);
		cr_assert_eq(type->name_bytes, strlen(name));
		cr_assert_str_eq(hs_types_text(&types, type->name), name);
	}
	cr_assert_null(hs_types_get(&types, 5001));
	cr_assert(!hs_types_set_name(&types, 5001, "x", 1));
	/* An address that comes again is another type; the first keeps its name. */
	hs_types_get(&types, 7)->is_announced = true;
	id = hs_types_renew(&types, 16 * 7);
	cr_assert_eq(id, 5001);
	cr_assert_eq(hs_types_intern(&types, 16 * 7), id);
	cr_assert(!hs_types_get(&types, id)->is_announced && !hs_types_get(&types, id)->name_bytes);
	cr_assert_str_eq(hs_types_text(&types, hs_types_get(&types, 7)->name), "T.Type7");
	hs_types_free(&types);
	cr_assert(types.n_types == 0 && hs_types_get(&types, 1) == NULL);
}

/* Pages of address space that this process has. */
static long mapped_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	cr_assert(file && fscanf(file, "%ld", &pages) == 1);
	fclose(file);
	return pages;
}

/* Recordings follow each other in one process: what one mapped goes with it. */
Test(tables, types_are_freed_whole)
{
	long first = 0;
	bool is_new;

	for (int round = 0; round < 50; round++) {
		struct hs_types types = {0};
		uint32_t id = hs_types_intern(&types, 16);

		cr_assert(hs_types_set_name(&types, id, "T", 1));
		cr_assert(hs_types_add_static(&types, id, 8, "field", 5));
		cr_assert(hs_types_define(&types, id, 32, 7));
		cr_assert_eq(hs_types_definition(&types, 32, 7), id);
		cr_assert_eq(hs_types_definition(&types, 48, 7), 0);
		hs_types_image(&types, 32, &is_new);
		hs_types_domain(&types, 64, &is_new);
		cr_assert(hs_types_name_thread(&types, 77, "main", 4));
		cr_assert(hs_ptr_map_set(&types.vtables, 80, id));
		cr_assert(hs_ptr_map_set(&types.vtable_domains, 80, 1));
		hs_types_free(&types);
		if (round == 0)
			first = mapped_pages();
	}
	/* One page a round would be 49; other things in the process may grow a little. */
	cr_assert_lt(mapped_pages() - first, 25);
}

Test(tables, statics)
{
	static const uint64_t offsets[] = {16, 0, 64, 8};
	static const char *const expected[] = {"f1", "f3", "f0", "f0", "f0",
					       "f0", "f0", "f0", "f2", "f2"};
	struct hs_types types = {0};
	const struct hs_static_field *field;
	char name[8];

	hs_types_intern(&types, 16);
	hs_types_intern(&types, 32);
	cr_assert_null(hs_types_static_at(&types, 1, 0));
	cr_assert_null(hs_types_static_at(&types, 9, 0));
	cr_assert(!hs_types_add_static(&types, 9, 0, "x", 1));
	for (uint32_t i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "f%u", i);
		cr_assert(hs_types_add_static(&types, 1, offsets[i], name, 2));
		cr_assert(hs_types_add_static(&types, 2, 100 + offsets[i], "other", 5));
	}
	/* A word belongs to the last field that begins at or before it. */
	for (uint64_t slot = 0; slot < 10; slot++) {
		field = hs_types_static_at(&types, 1, 8 * slot);
		cr_assert_str_eq(hs_types_text(&types, field->name), expected[slot]);
		cr_assert_eq(field->name_bytes, 2);
	}
	cr_assert_null(hs_types_static_at(&types, 2, 99));
	cr_assert_str_eq(hs_types_text(&types, hs_types_static_at(&types, 2, 100)->name), "other");
	hs_types_free(&types);
}

Test(tables, images_and_domains)
{
	struct hs_types types = {0};
	bool is_new;

	cr_assert(hs_types_image(&types, 0, &is_new) == 0 && !is_new);
	cr_assert(hs_types_image(&types, 16, &is_new) == 1 && is_new);
	cr_assert(hs_types_image(&types, 32, &is_new) == 2 && is_new);
	cr_assert(hs_types_image(&types, 16, &is_new) == 1 && !is_new);
	cr_assert(hs_types_domain(&types, 16, &is_new) == 1 && is_new);
	/* An id is never given twice. */
	hs_ptr_map_remove(&types.images, 16);
	cr_assert(hs_types_image(&types, 16, &is_new) == 3 && is_new);
	hs_types_free(&types);
}

Test(tables, thread_names)
{
	struct hs_types types = {0};
	uint32_t bytes = 9;
	size_t used;

	cr_assert_str_eq(hs_types_thread_name(&types, 77, &bytes), "");
	cr_assert_eq(bytes, 0);
	cr_assert(hs_types_name_thread(&types, 77, "worker", 6));
	cr_assert(hs_types_name_thread(&types, 78, "main", 4));
	cr_assert_eq(strncmp(hs_types_thread_name(&types, 77, &bytes), "worker", 6), 0);
	cr_assert_eq(bytes, 6);
	/* A thread that ended has no name; its successor's may be shorter, longer or none. */
	cr_assert(hs_types_name_thread(&types, 77, "", 0));
	hs_types_thread_name(&types, 77, &bytes);
	cr_assert_eq(bytes, 0);
	used = types.text.used;
	for (int i = 0; i < 1000; i++) {
		cr_assert(
			hs_types_name_thread(&types, 77, i % 2 ? "pool" : "ioport", i % 2 ? 4 : 6));
		cr_assert(hs_types_name_thread(&types, 77, "", 0));
	}
	cr_assert_eq(types.text.used, used, "names of threads that come and go pile up");
	cr_assert(hs_types_name_thread(&types, 77, "much longer than that", 21));
	cr_assert_eq(strncmp(hs_types_thread_name(&types, 77, &bytes), "much longer than that", 21),
		     0);
	cr_assert_eq(bytes, 21);
	cr_assert_eq(strncmp(hs_types_thread_name(&types, 78, &bytes), "main", 4), 0);
	cr_assert_eq(types.n_names, 2);
	hs_types_free(&types);
}

/* ---- ranges ------------------------------------------------------------------- */

#define WORD sizeof(uintptr_t)

/* As many collections as it takes to forget what had ended before. */
static void end_collections(struct hs_ranges *ranges)
{
	for (unsigned n = 0; n < HS_RANGE_KEPT_GCS; n++)
		hs_ranges_gc_ended(ranges);
}

struct model_range {
	uintptr_t start, size;
	uint32_t kind;
	int life; /* 0: free, 1: live, 2: ended in this collection */
};

/* Live ones first; of ended ones any that holds the address. */
static bool is_right(const struct model_range *model, size_t n, uintptr_t address,
		     const struct hs_range *found, uintptr_t slot)
{
	bool is_ended_there = false;
	size_t i;

	for (i = 0; i < n; i++)
		if (model[i].life == 1 && address - model[i].start < model[i].size)
			return found && found->start == model[i].start &&
			       found->kind == model[i].kind && !found->ended_gc &&
			       slot == (address - model[i].start) / WORD;
	for (i = 0; i < n; i++) {
		if (model[i].life != 2 || address - model[i].start >= model[i].size)
			continue;
		is_ended_there = true;
		if (found && found->start == model[i].start && found->kind == model[i].kind &&
		    found->size == model[i].size)
			return true;
	}
	return !is_ended_there && !found;
}

Test(tables, ranges_against_a_model)
{
	enum { N = 400, PLACES = 200 };
	static struct model_range model[N];
	struct hs_ranges ranges = {0};
	const struct hs_range *found;
	uintptr_t address, slot;
	size_t i, place;

	random_start("ranges");
	for (int step = 0; step < 40000; step++) {
		place = random_below(PLACES);
		address = 0x100000 + place * 0x1000;
		switch (random_below(5)) {
		case 0:
		case 1: { /* registered anew, or again with another size */
			const uintptr_t size = WORD * (1 + random_below(512));
			const uint32_t kind = 1 + (uint32_t)random_below(3);
			struct model_range *free_one = NULL;
			for (i = 0; i < N; i++) {
				if (model[i].life == 1 && model[i].start == address)
					break;
				if (!model[i].life)
					free_one = &model[i];
			}
			if (i < N)
				free_one = &model[i];
			if (!free_one)
				break;
			*free_one = (struct model_range){address, size, kind, 1};
			cr_assert(hs_ranges_add(&ranges, address, size, kind, step, "name"));
			break;
		}
		case 2: { /* at most a few tombstones lie over each other */
			int n_ended = 0;
			for (i = 0; i < N; i++)
				n_ended += model[i].life == 2 && model[i].start == address;
			if (n_ended > 3)
				break;
			hs_ranges_remove(&ranges, address);
			for (i = 0; i < N; i++)
				if (model[i].life == 1 && model[i].start == address)
					model[i].life = 2;
			break;
		}
		case 3:
			if (random_below(20))
				break;
			end_collections(&ranges);
			for (i = 0; i < N; i++)
				if (model[i].life == 2)
					model[i].life = 0;
			break;
		default:
			if (random_below(4))
				break;
			cr_assert(hs_ranges_settle(&ranges, WORD));
			for (i = 0; i < 40; i++) {
				address = 0x100000 - 8 + random_below(PLACES * 0x1000 + 16);
				found = hs_ranges_find(&ranges, address, &slot);
				cr_assert(is_right(model, N, address, found, slot), "step %d, %#zx",
					  step, (size_t)address);
			}
		}
	}
	/* Places of forgotten ranges are used again. */
	cr_assert_leq(ranges.n_ranges, 4 * PLACES + PLACES);
	hs_ranges_free(&ranges);
	cr_assert_eq(ranges.n_ranges, 0);
}

Test(tables, an_ended_range_stays_for_some_collections)
{
	struct hs_ranges ranges = {0};
	const struct hs_range *found;
	uintptr_t slot;

	/* Nothing there, and the table of handles as the runtime announces it. */
	cr_assert(hs_ranges_settle(&ranges, WORD));
	cr_assert_null(hs_ranges_find(&ranges, 0x2000, &slot));
	cr_assert(hs_ranges_add(&ranges, 0, 0, 1, 0, "handles"));
	hs_ranges_remove(&ranges, 0);
	hs_ranges_remove(&ranges, 0x9999);
	cr_assert_eq(ranges.n_ranges, 0);

	cr_assert(hs_ranges_add(&ranges, 0x2000, 0x100, 2, 42, "first"));
	hs_ranges_remove(&ranges, 0x2000);
	cr_assert(hs_ranges_add(&ranges, 0x2080, 0x100, 3, 43, "second"));
	cr_assert(hs_ranges_settle(&ranges, WORD));
	found = hs_ranges_find(&ranges, 0x2000, &slot);
	cr_assert(found && found->key == 42 && slot == 0);
	cr_assert_str_eq(hs_range_name(&ranges, found), "first");
	/* A live one wins over an ended one. */
	found = hs_ranges_find(&ranges, 0x2088, &slot);
	cr_assert(found && found->key == 43 && slot == 1);
	cr_assert_str_eq(hs_range_name(&ranges, found), "second");
	cr_assert_null(hs_ranges_find(&ranges, 0x1fff, &slot));
	cr_assert_null(hs_ranges_find(&ranges, 0x2180, &slot));
	for (unsigned n = 1; n < HS_RANGE_KEPT_GCS; n++)
		hs_ranges_gc_ended(&ranges);
	cr_assert(hs_ranges_settle(&ranges, WORD));
	cr_assert(hs_ranges_find(&ranges, 0x2000, &slot));
	hs_ranges_gc_ended(&ranges);
	cr_assert(hs_ranges_settle(&ranges, WORD));
	cr_assert_null(hs_ranges_find(&ranges, 0x2000, &slot));
	cr_assert(hs_ranges_find(&ranges, 0x2100, &slot));
	hs_ranges_free(&ranges);
}

Test(tables, ranges_at_the_ends_of_memory_and_of_names)
{
	struct hs_ranges ranges = {0};
	const struct hs_range *found;
	uintptr_t slot;
	char name[100];

	/* The runtime registers addresses that are none; their size must not wrap. */
	cr_assert(hs_ranges_add(&ranges, UINTPTR_MAX - 7, 4096, 2, 1, "pseudo"));
	cr_assert(hs_ranges_add(&ranges, 1, 1, 3, 2, ""));
	cr_assert(hs_ranges_settle(&ranges, WORD));
	found = hs_ranges_find(&ranges, UINTPTR_MAX - 7, &slot);
	cr_assert(found && found->kind == 2 && slot == 0);
	found = hs_ranges_find(&ranges, 1, &slot);
	cr_assert(found && found->kind == 3);
	cr_assert_str_eq(hs_range_name(&ranges, found), "");
	cr_assert_null(hs_ranges_find(&ranges, 0, &slot));
	cr_assert_null(hs_ranges_find(&ranges, 2, &slot));
	/* Names are cut, kept once, and end somewhere. */
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	cr_assert(hs_ranges_add(&ranges, 0x5000, 8, 3, 2, name));
	cr_assert(hs_ranges_add(&ranges, 0x6000, 8, 3, 2, name));
	cr_assert_eq(ranges.n_names, 3);
	cr_assert(hs_ranges_settle(&ranges, WORD));
	found = hs_ranges_find(&ranges, 0x6000, &slot);
	cr_assert_eq(strlen(hs_range_name(&ranges, found)), HS_RANGE_NAME_MAX - 1);
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "made up %u", i);
		cr_assert(hs_ranges_add(&ranges, 0x10000 + 16 * i, 8, 3, i, name));
	}
	cr_assert_leq(ranges.n_names, 1024);
	cr_assert(hs_ranges_settle(&ranges, WORD));
	for (uint32_t i = 0; i < 3000; i++) {
		found = hs_ranges_find(&ranges, 0x10000 + 16 * i + 7, &slot);
		cr_assert(found && found->key == i && slot == 0);
		cr_assert_null(hs_ranges_find(&ranges, 0x10000 + 16 * i + 8, &slot));
	}
	hs_ranges_free(&ranges);
}

/* A thread's registered block of 1 KB points to the further ones from its words 1 to 7. */
Test(tables, blocks_of_thread_static_fields)
{
	static uintptr_t first[128], second[512], third[2048];
	struct hs_ranges ranges = {0};
	const struct hs_range *found;
	uintptr_t slot;

	first[1] = (uintptr_t)second;
	cr_assert(hs_ranges_add(&ranges, (uintptr_t)first, sizeof first,
				HEAPSHOT__ROOT_KIND__ROOT_KIND_THREAD_STATIC, 99,
				"thread statics"));
	/* Of another kind, or too small: what its words hold means nothing. */
	cr_assert(hs_ranges_add(&ranges, (uintptr_t)third, sizeof third,
				HEAPSHOT__ROOT_KIND__ROOT_KIND_STATIC, 5, "statics"));
	third[1] = 0x7000;
	cr_assert(hs_ranges_settle(&ranges, WORD));
	found = hs_ranges_find(&ranges, (uintptr_t)&first[127], &slot);
	cr_assert(found && found->key == 99 && slot == 127);
	found = hs_ranges_find(&ranges, (uintptr_t)&second[0], &slot);
	cr_assert(found && found->key == 99);
	cr_assert_eq(slot, 128);
	found = hs_ranges_find(&ranges, (uintptr_t)&second[511], &slot);
	cr_assert(found && slot == 128 + 511);
	cr_assert_null(hs_ranges_find(&ranges, 0x7000, &slot));
	/* Blocks come without an event. */
	hs_ranges_remove(&ranges, (uintptr_t)third);
	end_collections(&ranges);
	first[2] = (uintptr_t)third;
	cr_assert(hs_ranges_settle(&ranges, WORD));
	found = hs_ranges_find(&ranges, (uintptr_t)&third[2047], &slot);
	cr_assert(found && found->key == 99);
	cr_assert_eq(slot, 128 + 512 + 2047);
	/* Where the end of a range may have been missed its memory is not looked at. */
	ranges.is_uncertain = true;
	cr_assert(hs_ranges_settle(&ranges, WORD));
	cr_assert(hs_ranges_find(&ranges, (uintptr_t)&first[3], &slot));
	cr_assert_null(hs_ranges_find(&ranges, (uintptr_t)&third[2047], &slot));
	hs_ranges_free(&ranges);
}

/* ---- the set of addresses ------------------------------------------------------ */

Test(tables, seen)
{
	enum { N = 8000 };
	uintptr_t i;

	hs_seen_clear();
	/* Nothing comes in the place of what is there, until it is said. */
	cr_assert(hs_seen_add(48));
	hs_seen_remove(48);
	cr_assert(!hs_seen_add(48));
	hs_seen_expect_others();
	hs_seen_remove(48);
	cr_assert(hs_seen_add(48));
	hs_seen_clear();
	for (int round = 0; round < 3; round++) {
		for (i = 1; i <= N; i++)
			cr_assert(hs_seen_add(i * 48), "round %d, %zu", round, (size_t)i);
		for (i = 1; i <= N; i++)
			cr_assert(!hs_seen_add(i * 48));
		for (i = 2; i <= N; i += 2)
			hs_seen_remove(i * 48);
		hs_seen_remove(7 * N * 48);
		for (i = 1; i <= N; i++)
			cr_assert_eq(hs_seen_add(i * 48), i % 2 == 0);
		for (i = 1; i <= N; i++)
			hs_seen_remove(i * 48);
	}
	/* Over-full it forgets, and never says "seen" of what it has not seen. */
	hs_seen_clear();
	for (i = 1; i <= 100000; i++)
		cr_assert(hs_seen_add(i * 16));
}

struct adder {
	pthread_t thread;
	size_t n_new;
};

static void *add_all(void *data)
{
	struct adder *adder = data;

	for (uintptr_t i = 1; i <= 5000; i++)
		adder->n_new += hs_seen_add(i * 64);
	return NULL;
}

Test(tables, seen_by_several_threads_once)
{
	struct adder adders[4] = {{.n_new = 0}};
	size_t n = 0;

	hs_seen_clear();
	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&adders[i].thread, NULL, add_all, &adders[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(adders[i].thread, NULL);
		n += adders[i].n_new;
	}
	cr_assert_eq(n, 5000);
}
