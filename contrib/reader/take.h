/* SPDX-License-Identifier: MIT */
/*
 * From a record to a table of the reader's, by the generated code.
 */
#ifndef HEAPSHOT_READER_TAKE_H
#define HEAPSHOT_READER_TAKE_H

#include "contrib/reader/reader.h"

/*
 * The end of a function that has READER and RECORD: unpacks the record's body as
 * MESSAGE, lets TAKE, an expression on `unpacked` that is false when there is no
 * memory, copy what it wants, frees it, and returns.
 */
#define HS_TAKE(message, take)                                                                     \
	do {                                                                                       \
		void *unpacked =                                                                   \
			heapshot__##message##__unpack(NULL, record->body_bytes, record->body);     \
		bool has_memory;                                                                   \
		if (unpacked == NULL)                                                              \
			return hs_bad_record(reader, #message);                                    \
		has_memory = take;                                                                 \
		heapshot__##message##__free_unpacked(unpacked, NULL);                              \
		return has_memory ? HEAPSHOT_READ_OK : hs_fail_memory(reader);                     \
	} while (0)

#endif
