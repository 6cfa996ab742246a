/* SPDX-License-Identifier: MIT */
/*
 * Types by growth from one count to another, of one recording.
 */
#ifndef HEAPSHOT_CLI_GROWTH_H
#define HEAPSHOT_CLI_GROWTH_H

#include "contrib/cli/recording.h"
#include "contrib/cli/type_key.h"

struct growth_count {
	uint32_t type;
	uint64_t objects, bytes;
};

struct growth_row {
	struct type_key key;
	uint64_t objects, bytes;
	int64_t objects_change, bytes_change;
};

struct growth {
	struct growth_count *first; /* what was counted first, by type */
	size_t n_first;
	struct growth_row *rows; /* of the last count; what grew most in bytes is first */
	size_t n;
};

/* Makes the rows of TOTALS; the first ones are kept to compare with.  False without memory. */
bool growth_take(struct growth *growth, const struct recording *recording,
		 const struct heapshot_totals *totals);
void growth_free(struct growth *growth);

#endif
