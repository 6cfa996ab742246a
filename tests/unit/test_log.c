/* SPDX-License-Identifier: MIT */
/*
 * The lock-free log: order, holes, wrapping, refusal; against a plain queue
 * with random steps; and four producers against one consumer.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/log.h"
#include "tests/unit/leak_check.h"
#include "tests/unit/random.h"

TestSuite(log, .fini = leak_check);

static void *make(struct hs_log *log, size_t n_cells)
{
	void *memory = aligned_alloc(64, (hs_log_bytes(n_cells) + 63) & ~(size_t)63);

	cr_assert(memory != NULL);
	memset(memory, 0, hs_log_bytes(n_cells));
	memset(log, 0xff, sizeof *log);
	hs_log_init(log, memory, n_cells);
	return memory;
}

/* Payload of BYTES that tells its number in each byte. */
static struct hs_log_entry *reserve(struct hs_log *log, uint32_t number, size_t bytes)
{
	struct hs_log_entry *entry = hs_log_reserve(log, number, bytes, number + 7);

	if (entry)
		memset(hs_log_payload(entry), (int)(number & 0xff), bytes);
	return entry;
}

static bool put(struct hs_log *log, uint32_t number, size_t bytes)
{
	struct hs_log_entry *entry = reserve(log, number, bytes);

	if (entry)
		hs_log_publish(log, entry);
	return entry != NULL;
}

struct seen {
	uint32_t kinds[4096];
	size_t n, stop_at; /* 0: never */
};

static bool see(struct hs_log_entry *entry, void *data)
{
	struct seen *seen = data;
	const unsigned char *payload = hs_log_payload(entry);
	uint32_t i;

	cr_assert_eq((uintptr_t)payload % 8, 0);
	cr_assert_eq(entry->time_ns, entry->kind + 7);
	for (i = 0; i < entry->bytes; i++)
		cr_assert_eq(payload[i], entry->kind & 0xff, "entry %u, byte %u", entry->kind, i);
	if (seen->stop_at && seen->n + 1 == seen->stop_at)
		return false;
	seen->kinds[seen->n++] = entry->kind;
	return true;
}

static size_t drain(struct hs_log *log, struct seen *seen)
{
	size_t n;

	seen->n = 0;
	n = hs_log_drain(log, see, seen);
	cr_assert_eq(n, seen->n);
	return n;
}

Test(log, holes_are_passed_over_and_come_later)
{
	struct hs_log log;
	struct seen seen = {.stop_at = 0};
	void *memory = make(&log, 64);
	struct hs_log_entry *a = reserve(&log, 1, 100);

	cr_assert(put(&log, 2, 10));
	cr_assert_eq(drain(&log, &seen), 1);
	cr_assert_eq(seen.kinds[0], 2);
	/* B is not seen again, and its room is not free before A's. */
	cr_assert_eq(drain(&log, &seen), 0);
	cr_assert_eq(hs_log_used(&log), 3);
	cr_assert(put(&log, 3, 0));
	hs_log_publish(&log, a);
	cr_assert_eq(drain(&log, &seen), 2);
	cr_assert_eq(seen.kinds[0], 1);
	cr_assert_eq(seen.kinds[1], 3);
	cr_assert_eq(hs_log_used(&log), 0);
	free(memory);
}

Test(log, a_visitor_that_stops_keeps_its_entry)
{
	struct hs_log log;
	struct seen seen = {.stop_at = 3};
	void *memory = make(&log, 64);

	for (uint32_t i = 1; i <= 5; i++)
		cr_assert(put(&log, i, 60));
	cr_assert_eq(drain(&log, &seen), 2);
	cr_assert_eq(hs_log_used(&log), 6);
	seen.stop_at = 1;
	cr_assert_eq(drain(&log, &seen), 0);
	seen.stop_at = 0;
	cr_assert_eq(drain(&log, &seen), 3);
	cr_assert_eq(seen.kinds[0], 3);
	cr_assert_eq(seen.kinds[2], 5);
	cr_assert_eq(hs_log_used(&log), 0);
	free(memory);
}

Test(log, a_full_log_refuses)
{
	enum { N = 64 };
	struct hs_log log;
	struct seen seen = {.stop_at = 0};
	void *memory = make(&log, N);
	uint32_t n = 0;

	/* One byte more than fits beside the head of an entry takes a second cell. */
	while (put(&log, n, HS_LOG_CELL - sizeof(struct hs_log_entry)))
		n++;
	cr_assert_eq(n, N);
	cr_assert_eq(hs_log_used(&log), N);
	cr_assert(!put(&log, n, 0));
	cr_assert_eq(drain(&log, &seen), N);
	for (n = 0; n < N; n++)
		cr_assert_eq(seen.kinds[n], n);
	for (n = 0; put(&log, n, HS_LOG_CELL - sizeof(struct hs_log_entry) + 1); n++)
		;
	cr_assert_eq(n, N / 2);
	drain(&log, &seen);
	/* The largest fits at any place once the log is empty; one byte more never does. */
	for (n = 0; n < 3 * N; n++) {
		cr_assert(put(&log, n, hs_log_payload_max(&log)), "at %u", n);
		cr_assert(!put(&log, n, hs_log_payload_max(&log) + 1));
		cr_assert(!put(&log, n, SIZE_MAX));
		cr_assert_eq(drain(&log, &seen), 1);
		cr_assert(put(&log, n, 0));
		cr_assert_eq(drain(&log, &seen), 1);
	}
	free(memory);
}

/* Entries are contiguous and do not overlap those that are not free yet. */
Test(log, random_steps_against_a_queue)
{
	enum { N = 128, OPEN = 4 };
	struct hs_log_entry *open[OPEN] = {NULL};
	struct hs_log log;
	struct seen seen = {.stop_at = 0};
	void *memory = make(&log, N);
	uint32_t number = 0, n_published = 0, n_seen = 0;
	static unsigned char is_published[1u << 20], is_seen[1u << 20];
	size_t bytes, i;

	random_start("log");
	for (int step = 0; step < 200000; step++) {
		i = random_below(OPEN);
		switch (random_below(8)) {
		case 0:
		case 1:
			seen.stop_at = random_below(3) ? 0 : 1 + random_below(6);
			drain(&log, &seen);
			for (i = 0; i < seen.n; i++) {
				cr_assert(is_published[seen.kinds[i]] && !is_seen[seen.kinds[i]]);
				is_seen[seen.kinds[i]] = 1;
				/* Within one pass in order. */
				cr_assert(i == 0 || seen.kinds[i - 1] < seen.kinds[i]);
				n_seen++;
			}
			break;
		case 2:
			if (open[i]) {
				is_published[open[i]->kind] = 1;
				hs_log_publish(&log, open[i]);
				open[i] = NULL;
				n_published++;
			}
			break;
		case 3:
			if (!open[i] && (open[i] = reserve(&log, number, random_below(300))))
				number++;
			break;
		default:
			bytes = random_below(hs_log_payload_max(&log) + 1);
			bytes = random_below(4) ? bytes % 200 : bytes;
			if (put(&log, number, bytes)) {
				unsigned char *end = log.cells + N * HS_LOG_CELL;
				cr_assert(log.cells < end);
				is_published[number++] = 1;
				n_published++;
			}
		}
		cr_assert_leq(hs_log_used(&log), N);
	}
	for (i = 0; i < OPEN; i++)
		if (open[i]) {
			hs_log_publish(&log, open[i]);
			n_published++;
		}
	seen.stop_at = 0;
	n_seen += (uint32_t)drain(&log, &seen);
	cr_assert_eq(n_seen, n_published);
	cr_assert_eq(n_seen, number);
	cr_assert_eq(hs_log_used(&log), 0);
	cr_assert_gt(number, 10000);
	free(memory);
}

/* ---- several producers ------------------------------------------------------- */

enum { N_PRODUCERS = 4, N_CELLS = 1024 };

static uint32_t n_each = 100000;

struct producer {
	pthread_t thread;
	struct hs_log *log;
	uint32_t number;
	uint64_t state;
};

static void *produce(void *data)
{
	struct producer *self = data;
	uint32_t i;

	for (i = 0; i < n_each; i++) {
		struct hs_log_entry *entry;
		uint32_t *words;
		size_t n, j;
		self->state = self->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		n = 1 + (size_t)(self->state >> 33) % 60;
		while (!(entry = hs_log_reserve(self->log, self->number, n * sizeof *words, i)))
			sched_yield();
		words = hs_log_payload(entry);
		for (j = 0; j < n; j++)
			words[j] = i * 31 + self->number + (uint32_t)j;
		hs_log_publish(self->log, entry);
	}
	return NULL;
}

struct consumer {
	uint32_t next[N_PRODUCERS];
	uint64_t n_wrong;
};

static bool consume(struct hs_log_entry *entry, void *data)
{
	struct consumer *self = data;
	const uint32_t *words = hs_log_payload(entry);
	uint32_t i, j;

	if (entry->kind >= N_PRODUCERS) {
		self->n_wrong++;
		return true;
	}
	i = self->next[entry->kind]++;
	self->n_wrong += entry->time_ns != i || entry->bytes % sizeof *words || !entry->bytes;
	for (j = 0; j < entry->bytes / sizeof *words; j++)
		self->n_wrong += words[j] != i * 31 + entry->kind + j;
	return true;
}

Test(log, four_producers_and_a_consumer)
{
	struct producer producers[N_PRODUCERS];
	struct consumer consumer = {.n_wrong = 0};
	struct hs_log log;
	void *memory = make(&log, N_CELLS);
	uint64_t n = 0;

	if (is_under_valgrind())
		n_each = 2000;
	for (uint32_t i = 0; i < N_PRODUCERS; i++) {
		producers[i] = (struct producer){.log = &log, .number = i, .state = i + 1};
		cr_assert_eq(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
	}
	while (n < (uint64_t)N_PRODUCERS * n_each) {
		size_t taken = hs_log_drain(&log, consume, &consumer);
		n += taken;
		if (!taken)
			sched_yield();
	}
	for (int i = 0; i < N_PRODUCERS; i++)
		pthread_join(producers[i].thread, NULL);
	cr_assert_eq(consumer.n_wrong, 0);
	for (int i = 0; i < N_PRODUCERS; i++)
		cr_assert_eq(consumer.next[i], n_each, "producer %d: %u", i, consumer.next[i]);
	cr_assert_eq(hs_log_used(&log), 0);
	cr_assert_eq(hs_log_drain(&log, consume, &consumer), 0);
	free(memory);
}
