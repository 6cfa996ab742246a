/* SPDX-License-Identifier: MIT */
/*
 * Sorting without memory: qsort may take as much memory again, uncounted.
 */
#ifndef HEAPSHOT_READER_SORT_H
#define HEAPSHOT_READER_SORT_H

#include <stddef.h>

/*
 * Defines void NAME(TYPE *items, size_t n), a heap sort.  IS_BEFORE(a, b), of two
 * pointers to items, says whether *a stands before *b.
 */
#define HS_DEFINE_SORT(name, type, is_before)                                                      \
	static void name##_sift_down(type *items, size_t at, size_t n)                             \
	{                                                                                          \
		const type item = items[at];                                                       \
                                                                                                   \
		for (;;) {                                                                         \
			size_t child = 2 * at + 1;                                                 \
                                                                                                   \
			if (child >= n)                                                            \
				break;                                                             \
			if (child + 1 < n && is_before(&items[child], &items[child + 1]))          \
				child++;                                                           \
			if (!is_before(&item, &items[child]))                                      \
				break;                                                             \
			items[at] = items[child];                                                  \
			at = child;                                                                \
		}                                                                                  \
		items[at] = item;                                                                  \
	}                                                                                          \
                                                                                                   \
	static void name(type *items, size_t n)                                                    \
	{                                                                                          \
		size_t i;                                                                          \
                                                                                                   \
		for (i = n / 2; i > 0; i--)                                                        \
			name##_sift_down(items, i - 1, n);                                         \
		for (i = n; i > 1; i--) {                                                          \
			const type last = items[i - 1];                                            \
                                                                                                   \
			items[i - 1] = items[0];                                                   \
			items[0] = last;                                                           \
			name##_sift_down(items, 0, i - 1);                                         \
		}                                                                                  \
	}

#endif
