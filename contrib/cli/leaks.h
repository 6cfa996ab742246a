/* SPDX-License-Identifier: MIT */
/*
 * Suspects: what may leak, and what may be wasted.  Each detector is a file that
 * adds its findings; leaks.c runs them, leaks_show.c and overview.c print them.
 */
#ifndef HEAPSHOT_CLI_LEAKS_H
#define HEAPSHOT_CLI_LEAKS_H

#include "contrib/cli/path.h"
#include "contrib/cli/text.h"

/* Less than this is not worth a line, however small the heap. */
#define LEAKS_BYTES_MIN ((uint64_t)64 << 10)

enum leak_kind {
	LEAK_GROWTH,     /* a type has more objects from snapshot to snapshot */
	LEAK_EVENT,      /* a delegate that calls many */
	LEAK_COLLECTION, /* an array that many objects hang on */
	LEAK_HOLDER,     /* another object, or a root, that many hang on */
	LEAK_STRUCTURE,  /* a list or tree of objects of one type */
	LEAK_HANDLES,    /* GCHandles that were not freed */
	LEAK_SPARSE,     /* arrays that are hardly filled; waste, as is what follows */
	LEAK_EMPTY,      /* arrays without elements */
	LEAK_STRINGS,    /* strings with one text */
};
/* "growth", "event", ... */
const char *leak_kind_name(enum leak_kind kind);
/* Findings are shown in three lists. */
enum leak_list { LEAK_LIST_GROWTH, LEAK_LIST_SUSPECTS, LEAK_LIST_WASTE, LEAK_LISTS };
enum leak_list leak_list_of(enum leak_kind kind);

struct leak {
	enum leak_kind kind;
	uint32_t holder;  /* node that would let go; NONE: no single one */
	uint32_t target;  /* object that the path leads to; NONE: no path */
	bool is_merged;   /* the path stands for several that read alike */
	const char *type; /* of the objects counted; NULL: it is in unnamed */
	char unnamed[32];
	uint64_t count;           /* handlers, objects, handles, arrays, strings */
	uint64_t bytes;           /* that would go; growth: that came; waste: that are wasted */
	uint64_t before, after;   /* growth: objects */
	uint32_t n_steps, n_grew; /* growth: from snapshot to snapshot */
	double score;             /* order among its like */
	char *text;               /* one sentence */
};

const char *leak_type(const struct leak *leak);
/* Sets it to the type of a class. */
struct leaks;
void leak_set_type(const struct leaks *leaks, struct leak *leak, uint32_t class_index);

struct leaks {
	struct recording *recording;
	const struct cli_arguments *arguments;
	struct heapshot_graph *graph;
	struct graph_types types;
	struct path path; /* shortest ways, to print them */
	const struct heapshot_graph_class *classes;
	size_t n_classes;
	uint64_t live_objects, live_bytes;
	uint64_t threshold;                    /* what holds less is no suspect */
	const struct heapshot_snapshot *first; /* of the series; NULL: one snapshot */
	uint32_t n_steps;
	bool has_strings;    /* some were recorded */
	bool is_strings_cut; /* too many differ for all to be compared */
	struct leak *list;
	size_t n, room;
};

/* Adds a copy of LEAK with its sentence.  CLI_OK, or CLI_IO, said. */
int leaks_add(struct leaks *leaks, const struct leak *leak, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Name of a class's type; BUFFER has 32 bytes. */
const char *leaks_class_name(const struct leaks *leaks, uint32_t class_index, char *buffer);
/* "static T.Pub.Ev" or "T.Form.Closed": what holds OBJECT on its shortest way. */
void leaks_put_place(const struct leaks *leaks, uint32_t object, char *text, size_t size);
/* True for an array of one dimension with references; *capacity its elements. */
bool leaks_is_array(const struct leaks *leaks, uint32_t object, uint64_t *capacity);

/* The detectors: CLI_OK, or a status, said.  Growth is read before there is a graph ... */
struct leaks_growth;
int leaks_read_growth(struct leaks *leaks, struct leaks_growth **growth);
/* ... and looks there for what holds the objects. */
int leaks_find_growth(struct leaks *leaks, const struct leaks_growth *growth);
void leaks_growth_free(struct leaks_growth *growth);
/*
 * Sets holder and target of LEAK: what most of the objects of TYPE, a number in types,
 * hang on.  False without memory.
 */
bool leaks_find_holder(const struct leaks *leaks, uint32_t type, struct leak *leak);
int leaks_find_events(struct leaks *leaks);
/* Behind the events: what is theirs is not told twice. */
int leaks_find_holders(struct leaks *leaks);
int leaks_find_handles(struct leaks *leaks);
int leaks_find_arrays(struct leaks *leaks);
int leaks_find_strings(struct leaks *leaks);

/* Whether a delegate's list of what it calls is ARRAY; for leaks_find_holders. */
bool leaks_is_told(const struct leaks *leaks, uint32_t array);

/*
 * Makes the graph of the recording's snapshot, and finds all suspects; LEAKS has its
 * recording and arguments.  CLI_OK, or a status, said; to be freed by leaks_free either way.
 */
int leaks_look(struct leaks *leaks);
/* The shortest ways as findings show them.  CLI_OK, or a status, said. */
int leaks_ways(struct recording *recording, struct heapshot_graph *graph,
	       struct heapshot_graph_ways **ways);
void leaks_free(struct leaks *leaks);

/* Writes all of them as keys of an object; CLI_OK, or CLI_IO, said. */
int leaks_put_json(const struct leaks *leaks, struct json *json);
/* All lists; or JSON. */
int leaks_show(const struct leaks *leaks);
/* In half a screen. */
int leaks_show_overview(const struct leaks *leaks);
/* The path of LEAK in words, to be freed, not masked; NULL without memory, "" without a path. */
char *leaks_path_text(const struct leaks *leaks, const struct leak *leak);

#endif
