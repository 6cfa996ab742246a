/* SPDX-License-Identifier: MIT */
/*
 * Handle tables joined with the graph.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/handle_groups.h"

#define UNNAMED_BYTES 32

static const char *title_of(const char *name)
{
	static const char *const titles[][2] = {
		{"js_proxy", "managed objects that JavaScript holds"},
		{"js_object", "JavaScript objects that managed code holds"},
		{"dotnet_object_reference",
		 "DotNetObjectReference: managed objects given to JavaScript"},
		{"js_object_reference",
		 "IJSObjectReference: JavaScript objects given to managed code"},
	};

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (strcmp(titles[i][0], name) == 0)
			return titles[i][1];
	return name;
}

/* A handle with what its group is told by. */
struct member {
	const struct heapshot_handle *handle;
	uint32_t object; /* of the graph, or NONE */
	const char *type, *assembly;
};

static int by_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_groups(const struct member *a, const struct member *b)
{
	int order = by_text(a->type, b->type);

	if (order == 0)
		order = by_text(a->assembly, b->assembly);
	if (order == 0)
		order = strcmp(a->handle->js_type, b->handle->js_type);
	return order != 0 ? order : strcmp(a->handle->js_name, b->handle->js_name);
}

static int by_group(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = compare_groups(a, b);

	if (order == 0)
		order = (a->object > b->object) - (a->object < b->object);
	return order != 0 ? order : (a->handle > b->handle) - (a->handle < b->handle);
}

static int by_retained(const void *left, const void *right)
{
	const struct handle_group *a = left, *b = right;

	if (a->retained != b->retained)
		return a->retained < b->retained ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return (a->first > b->first) - (a->first < b->first);
}

struct joining {
	struct recording *recording;
	const struct heapshot_graph *graph;
	bool is_single;
	char *names;     /* room for types without a name */
	uint32_t *marks; /* of each node: 2 * group, one more when it is in the group or below it */
	uint32_t n_groups; /* so far, of all tables */
};

/* Whether another object of the group dominates OBJECT. */
static bool is_below(struct joining *joining, uint32_t object)
{
	const uint32_t none = 2 * joining->n_groups, below = none + 1;
	const uint32_t above = heapshot_graph_dominator(joining->graph, object);
	uint32_t node = above, found = none;

	while (node != HEAPSHOT_GRAPH_NONE && joining->marks[node] != none &&
	       joining->marks[node] != below)
		node = heapshot_graph_dominator(joining->graph, node);
	if (node != HEAPSHOT_GRAPH_NONE)
		found = joining->marks[node];
	/* So that nobody goes the same way again. */
	for (uint32_t way = above; way != node; way = heapshot_graph_dominator(joining->graph, way))
		joining->marks[way] = found;
	return found == below;
}

static void sum_group(struct joining *joining, const struct member *members, size_t n,
		      struct handle_group *group)
{
	*group = (struct handle_group){
		.first = members->handle,
		.type = members->type,
		.assembly = members->assembly,
		.count = n,
	};
	joining->n_groups++;
	for (size_t i = 0; i < n; i++) {
		if (members[i].handle < group->first)
			group->first = members[i].handle;
		if (members[i].object != HEAPSHOT_GRAPH_NONE)
			joining->marks[members[i].object] = 2 * joining->n_groups + 1;
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t object = members[i].object;

		if (object == HEAPSHOT_GRAPH_NONE || (i > 0 && members[i - 1].object == object))
			continue;
		group->objects++;
		group->bytes += heapshot_graph_size(joining->graph, object);
		if (!is_below(joining, object))
			group->retained += heapshot_graph_retained(joining->graph, object);
	}
}

static struct member make_member(struct joining *joining, const struct heapshot_handle *handle)
{
	struct member member = {.handle = handle, .object = HEAPSHOT_GRAPH_NONE};
	const struct heapshot_type *type;

	if (handle->object != 0)
		member.object = heapshot_graph_find(joining->graph, handle->object);
	if (member.object == HEAPSHOT_GRAPH_NONE)
		return member;
	type = heapshot_reader_type(joining->recording->reader, handle->type);
	member.type = recording_type_name(joining->recording, handle->type, joining->names);
	if (member.type == joining->names)
		joining->names += UNNAMED_BYTES;
	member.assembly = type != NULL ? type->assembly : "";
	return member;
}

static bool join_table(struct joining *joining, struct handle_table *table)
{
	const size_t n = table->table->n_handles;
	struct member *members = calloc(n + 1, sizeof(*members));
	size_t first, end;

	table->groups = calloc(n + 1, sizeof(*table->groups));
	if (members == NULL || table->groups == NULL) {
		free(members);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		const struct heapshot_handle *handle = &table->table->handles[i];

		members[i] = make_member(joining, handle);
		table->n_unknown += *handle->js_type == '\0' && *handle->js_name == '\0';
	}
	if (!joining->is_single)
		qsort(members, n, sizeof(*members), by_group);
	for (first = 0; first < n; first = end) {
		for (end = first + 1; end < n && !joining->is_single &&
				      compare_groups(&members[first], &members[end]) == 0;)
			end++;
		sum_group(joining, &members[first], end - first, &table->groups[table->n_groups++]);
	}
	if (!joining->is_single)
		qsort(table->groups, table->n_groups, sizeof(*table->groups), by_retained);
	free(members);
	return true;
}

int handle_tables_read(struct recording *recording, const struct heapshot_graph *graph,
		       bool is_single, struct handle_tables *tables)
{
	struct joining joining = {.recording = recording, .graph = graph, .is_single = is_single};
	struct heapshot_graph_counts counts;
	struct heapshot_handles handles;
	int status =
		recording_check(recording, heapshot_reader_handles(recording->reader,
								   recording->snapshot, &handles));
	bool is_good;

	*tables = (struct handle_tables){0};
	if (status != CLI_OK || handles.n_tables == 0)
		return status;
	heapshot_graph_counts(graph, &counts);
	tables->tables = calloc(handles.n_tables, sizeof(*tables->tables));
	tables->names = joining.names = calloc((size_t)handles.n_handles + 1, UNNAMED_BYTES);
	joining.marks = calloc((size_t)counts.nodes + 1, sizeof(*joining.marks));
	is_good = tables->tables != NULL && tables->names != NULL && joining.marks != NULL;
	for (size_t i = 0; is_good && i < handles.n_tables; i++) {
		struct handle_table *table = &tables->tables[tables->n++];

		table->table = &handles.tables[i];
		table->title = title_of(table->table->name);
		is_good = join_table(&joining, table);
	}
	free(joining.marks);
	if (is_good)
		return CLI_OK;
	handle_tables_free(tables);
	return cli_no_memory();
}

void handle_tables_free(struct handle_tables *tables)
{
	for (size_t i = 0; i < tables->n; i++)
		free(tables->tables[i].groups);
	free(tables->tables);
	free(tables->names);
	*tables = (struct handle_tables){0};
}
