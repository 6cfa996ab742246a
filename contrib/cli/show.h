/* SPDX-License-Identifier: MIT */
/*
 * What the files of heapshot show share: all that is known of one object.
 */
#ifndef HEAPSHOT_CLI_SHOW_H
#define HEAPSHOT_CLI_SHOW_H

#include "contrib/cli/object.h"
#include "contrib/cli/path.h"

/* A reference to the object. */
struct show_referrer {
	uint32_t object;
	uint64_t offset; /* of the slot in it */
};

/* An ephemeron that the object is part of. */
struct show_ephemeron {
	const char *role; /* "key", "value", "table" */
	const struct heapshot_graph_ephemeron *edge;
};

struct show {
	const struct cli_arguments *arguments;
	struct recording *recording;
	struct heapshot_graph *graph;
	uint64_t asked; /* the address that was given, in the object */
	uint32_t object;
	struct heapshot_graph_object facts;
	struct object_details details;
	size_t limit; /* rows of each list */
	struct object_slot *slots;
	size_t n_slots;
	struct show_referrer *referrers;
	size_t n_referrers; /* there; facts.n_referrers is all */
	const struct heapshot_graph_root *roots;
	size_t n_roots;
	struct show_ephemeron *ephemerons;
	size_t n_ephemerons, n_all_ephemerons;
	struct path path;
	struct path_steps steps; /* the shortest way; none for what does not live */
};

void show_put_json(const struct show *show);
void show_put_tables(const struct show *show);

#endif
