/* SPDX-License-Identifier: MIT */
/*
 * What takes linear memory, for counters, and for JavaScript:
 *
 *     const at = Module._heapshot_memory() >> 3;
 *     const [live, free, native, total, linear, maximum] = Module.HEAPF64.subarray(at, at + 6);
 *     console.log(Module.UTF8ToString(Module._heapshot_memory_line()));
 *
 * Bytes: managed objects that outlived the last collection, the rest of the managed heap
 * (the nursery is part of it, whatever is in it), what is not the managed heap's (malloc's, code tables, the
 * stack, what the collector keeps beside its heap), the sum of these three; linear
 * memory as it is, and as it may grow to.  Nothing is collected, and nothing need be
 * recorded; what is returned stands there until the next call.
 */
#include "config.h"

#include <emscripten/heap.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <mono/metadata/mono-gc.h>

#include "profiler/wasm_memory.h"

/* The runtime's: it counts all of it as used. */
extern size_t sgen_nursery_size;

#define API __attribute__((visibility("default")))

API double *heapshot_memory(void);
API const char *heapshot_memory_line(void);

void hs_memory_read(struct hs_memory *memory)
{
	const struct mallinfo malloc_state = mallinfo();

	*memory = (struct hs_memory){
		.linear = emscripten_get_heap_size(),
		.maximum = emscripten_get_heap_max(),
		.taken = (uintptr_t)sbrk(0),
		.malloc_used = (size_t)malloc_state.uordblks,
		.malloc_free = (size_t)malloc_state.fordblks,
		.heap = (uint64_t)mono_gc_get_heap_size(),
		.heap_used = (uint64_t)mono_gc_get_used_size(),
	};
	memory->heap_used -=
		memory->heap_used > sgen_nursery_size ? sgen_nursery_size : memory->heap_used;
}

double *heapshot_memory(void)
{
	static double numbers[6];
	struct hs_memory memory;

	hs_memory_read(&memory);
	numbers[0] = (double)memory.heap_used;
	numbers[1] = (double)(memory.heap - memory.heap_used);
	numbers[2] = (double)memory.taken - (double)memory.heap;
	numbers[3] = (double)memory.taken;
	numbers[4] = (double)memory.linear;
	numbers[5] = (double)memory.maximum;
	return numbers;
}

const char *heapshot_memory_line(void)
{
	static char line[256];
	const double *numbers = heapshot_memory();

	snprintf(line, sizeof line,
		 "live managed %.1f MB, free in the managed heap %.1f MB, native %.1f MB, "
		 "total %.1f MB of at most %.1f MB",
		 numbers[0] / 1e6, numbers[1] / 1e6, numbers[2] / 1e6, numbers[3] / 1e6,
		 numbers[5] / 1e6);
	return line;
}
