/* SPDX-License-Identifier: MIT */
/*
 * Finding and reading the copies.
 *
 * The runtime has no call that gives them, and no header that tells where they
 * are.  Its structure for a thread points to a byte array { data, length }, and
 * holds `data` and `length` once more, side by side: that is looked for, and
 * checked again for each thread and each time.  All of it is read through the
 * kernel, which refuses where a pointer leads nowhere.
 */
#include "config.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "profiler/saved.h"
#include "profiler/threads.h"

/* The structure is larger than that. */
#define INFO_WORDS  160u
#define LENGTH_MAX  (64u << 10)
#define PIECE_WORDS 512u
/* Runtimes that are built otherwise are not asked for ever. */
#define TRIES_MAX 64u
/* No object has an address below. */
#define ADDRESS_MIN ((uintptr_t)1 << 16)

struct copy {
	uintptr_t data;
	uint32_t length;
};

static struct {
	uint32_t array_at, copy_at; /* words; 0: not found yet */
	unsigned n_tries;
} layout;

void hs_saved_forget_layout(void)
{
	memset(&layout, 0, sizeof layout);
}

static bool read_memory(uintptr_t address, void *out, size_t bytes)
{
	const struct iovec to = {out, bytes};
	const struct iovec from = {(void *)address, bytes}; /* NOLINT(performance-no-int-to-ptr) */

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

static bool read_copy(uintptr_t address, struct copy *copy)
{
	return address >= ADDRESS_MIN && address % sizeof(uintptr_t) == 0 &&
	       read_memory(address, copy, sizeof *copy);
}

static bool is_sound(const struct copy *copy)
{
	return copy->data >= ADDRESS_MIN && copy->data % sizeof(uintptr_t) == 0 && copy->length &&
	       copy->length <= LENGTH_MAX && copy->length % sizeof(uintptr_t) == 0;
}

static bool is_same(const struct copy *one, const struct copy *other)
{
	return one->data == other->data && one->length == other->length;
}

static void find_layout(uintptr_t info)
{
	static uintptr_t words[INFO_WORDS];
	struct copy array, copy;

	if (layout.n_tries++ >= TRIES_MAX || !read_memory(info, words, sizeof words))
		return;
	for (uint32_t i = 0; i < INFO_WORDS; i++) {
		if (!read_copy(words[i], &array) || !is_sound(&array))
			continue;
		for (uint32_t j = i + 1; j + 1 < INFO_WORDS; j++) {
			memcpy(&copy, &words[j], sizeof copy);
			if (!is_same(&copy, &array))
				continue;
			layout.array_at = i;
			layout.copy_at = j;
			return;
		}
	}
}

static bool find_copy(uintptr_t info, struct copy *copy)
{
	uintptr_t pointer;
	struct copy array;

	if (!layout.copy_at)
		find_layout(info);
	return layout.copy_at && read_copy(info + layout.copy_at * sizeof(uintptr_t), copy) &&
	       is_sound(copy) &&
	       read_memory(info + layout.array_at * sizeof(uintptr_t), &pointer, sizeof pointer) &&
	       read_copy(pointer, &array) && is_same(copy, &array);
}

static void add(struct hs_area *words, const struct hs_thread *thread, uintptr_t word)
{
	const uintptr_t stack = atomic_load(&thread->stack);
	struct hs_saved_word *saved;

	word &= ~(uintptr_t)7;
	if (word < ADDRESS_MIN || word - stack < atomic_load(&thread->bytes))
		return;
	if (!hs_area_reserve(words, sizeof *saved))
		return;
	saved = hs_saved_words(words) + hs_saved_count(words);
	saved->word = word;
	saved->object = 0;
	saved->stack = stack;
	words->used += sizeof *saved;
}

static void add_copy(struct hs_area *words, const struct hs_thread *thread, struct copy copy)
{
	static uintptr_t piece[PIECE_WORDS];

	while (copy.length) {
		const uint32_t bytes = copy.length < sizeof piece ? copy.length : sizeof piece;

		if (!read_memory(copy.data, piece, bytes))
			return;
		for (size_t i = 0; i < bytes / sizeof *piece; i++)
			add(words, thread, piece[i]);
		copy.data += bytes;
		copy.length -= bytes;
	}
}

/* Shell's sort: qsort may allocate, and the world is stopped. */
static void sort(struct hs_saved_word *words, size_t n)
{
	for (size_t gap = n / 2; gap; gap /= 2)
		for (size_t i = gap; i < n; i++) {
			const struct hs_saved_word moved = words[i];
			size_t at = i;

			for (; at >= gap && words[at - gap].word > moved.word; at -= gap)
				words[at] = words[at - gap];
			words[at] = moved;
		}
}

void hs_saved_collect(struct hs_area *words)
{
	const struct hs_thread *thread = NULL;
	struct copy copy;

	words->used = 0;
	while ((thread = hs_threads_next(thread)) != NULL) {
		const uintptr_t info = atomic_load(&thread->info);

		if (info && find_copy(info, &copy))
			add_copy(words, thread, copy);
	}
	sort(hs_saved_words(words), hs_saved_count(words));
}

void hs_saved_meet(struct hs_area *words, uintptr_t address, uint64_t bytes)
{
	struct hs_saved_word *word = hs_saved_words(words);
	const size_t n = hs_saved_count(words);
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (word[middle].word < address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && word[low].word - address < bytes; low++)
		word[low].object = address;
}
