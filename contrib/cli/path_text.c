/* SPDX-License-Identifier: MIT */
/*
 * A path in words:
 *
 *     static T.Pub.Ev -> System.EventHandler._invocationList -> System.Object[] [17]
 *     -> T.Node.next (1,234 times) -> T.Handler
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/path.h"
#include "contrib/cli/text.h"

/* Steps of the JSON: of longer paths the ends. */
#define JSON_STEPS_END 500
/* The same of texts, where runs of steps that read the same are one. */
#define TEXT_PARTS_END 20

struct slot {
	const char *type;
	char unnamed[32];
	char name[HEAPSHOT_SLOT_NAME_BYTES]; /* "_items", "[17]"; "" of the last step */
	bool is_element;                     /* the name begins with an index */
};

static void name_slot(const struct path *path, const struct heapshot_graph_step *step, bool is_last,
		      bool is_merged, struct slot *slot)
{
	size_t n;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(path->graph, &n);
	uint32_t type = classes[heapshot_graph_class_of(path->graph, step->node)].type;
	uint64_t index, inner;

	slot->type = recording_type_name(path->recording, type, slot->unnamed);
	slot->is_element = false;
	slot->name[0] = '\0';
	if (is_last)
		return;
	if (step->is_ephemeron) {
		snprintf(slot->name, sizeof(slot->name), "(ConditionalWeakTable)");
		return;
	}
	heapshot_reader_slot_name(path->recording->reader, type, step->offset, slot->name);
	slot->is_element =
		slot->name[0] == '[' && heapshot_reader_element(path->recording->reader, type,
								step->offset, &index, &inner);
	if (slot->is_element && is_merged)
		graph_drop_index(slot->name);
}

/* Whether two steps read the same: an object of one type, and the slot of one name. */
static bool is_alike(const struct path *path, const struct heapshot_graph_step *a,
		     const struct heapshot_graph_step *b)
{
	return a->offset == b->offset && a->is_ephemeron == b->is_ephemeron &&
	       heapshot_graph_class_of(path->graph, a->node) ==
		       heapshot_graph_class_of(path->graph, b->node);
}

static void write_slot(FILE *out, const struct slot *slot)
{
	fputs(slot->type, out);
	if (slot->name[0] == '\0')
		return;
	/* "T.Node._next", but "Object[] [17]", "T.Node +24", "T.Key (ConditionalWeakTable)". */
	fputc(strchr("[+(", slot->name[0]) != NULL ? ' ' : '.', out);
	fputs(slot->name, out);
}

/* The first step behind I that does not read the same; the last one always stands alone. */
static size_t behind(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
		     size_t i)
{
	size_t k;

	for (k = i + 1; k + 1 < n && is_alike(path, &steps[i], &steps[k]); k++)
		;
	return k;
}

char *path_text(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
		bool is_merged)
{
	char number[TEXT_NUMBER_BYTES], source[512], *text = NULL;
	size_t bytes, n_parts = 0, part = 0, i, k;
	FILE *out = open_memstream(&text, &bytes);
	struct slot slot;

	if (out == NULL)
		return NULL;
	graph_put_node(path->recording, path->graph, steps[0].node, source, sizeof(source));
	fputs(source, out);
	for (i = 1; i < n; i = behind(path, steps, n, i))
		n_parts++;
	for (i = 1; i < n; i = k, part++) {
		k = behind(path, steps, n, i);
		if (n_parts > 2 * TEXT_PARTS_END && part == TEXT_PARTS_END) {
			for (; part < n_parts - TEXT_PARTS_END; part++, i = k)
				k = behind(path, steps, n, i);
			k = behind(path, steps, n, i);
			fprintf(out, " -> ... %s more ...",
				text_number(number, n_parts - 2 * TEXT_PARTS_END));
		}
		name_slot(path, &steps[i], i + 1 == n, is_merged, &slot);
		fputs(" -> ", out);
		write_slot(out, &slot);
		if (k > i + 1 && is_merged)
			fputs(" (again and again)", out);
		else if (k > i + 1)
			fprintf(out, " (%s times)", text_number(number, k - i));
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

void path_put(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
	      bool is_merged)
{
	char *text = path_text(path, steps, n, is_merged);

	text_put_masked(stdout, text != NULL ? text : "?");
	free(text);
}

void path_json(const struct path *path, struct json *json, const struct heapshot_graph_step *steps,
	       size_t n, bool is_merged)
{
	char *text = path_text(path, steps, n, is_merged);
	struct slot slot;
	size_t i;

	json_put_unsigned(json, "length", n - 1);
	json_put_text(json, "text", text);
	free(text);
	json_key(json, "root");
	json_begin(json, '{');
	graph_node_json(json, path->recording, path->graph, steps[0].node);
	json_end(json, '}');
	json_key(json, "steps");
	json_begin(json, '[');
	for (i = 1; i < n; i++) {
		if (i == JSON_STEPS_END + 1 && n > 2 * JSON_STEPS_END + 1) {
			i = n - JSON_STEPS_END;
			json_null(json); /* what is between the ends */
		}
		name_slot(path, &steps[i], i + 1 == n, is_merged, &slot);
		json_begin(json, '{');
		json_put_unsigned(json, "address",
				  heapshot_graph_address(path->graph, steps[i].node));
		json_put_text(json, "type", slot.type);
		json_put_text(json, "slot", i + 1 == n ? NULL : slot.name);
		json_end(json, '}');
	}
	json_end(json, ']');
}
