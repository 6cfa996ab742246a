/* SPDX-License-Identifier: MIT */
/*
 * A stream that wraps another one as a gzip file, of blocks that are stored as
 * they are: for small files that readers want in gzip.
 */
#ifndef HEAPSHOT_EXPORT_GZIP_H
#define HEAPSHOT_EXPORT_GZIP_H

#include "contrib/export/output.h"

struct export_gzip {
	struct export_output *output;
	struct export_output inner; /* what is put here comes out wrapped */
	uint32_t crc;
};

/* Begins the file in OUTPUT. */
void export_gzip_begin(struct export_gzip *gzip, struct export_output *output);
/* Ends it; OUTPUT knows whether it was taken. */
void export_gzip_end(struct export_gzip *gzip);

#endif
