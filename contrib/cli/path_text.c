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

/* The first step behind I that does not read the same; the last one always stands alone. */
static size_t behind(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
		     size_t i)
{
	size_t k;

	for (k = i + 1; k + 1 < n && is_alike(path, &steps[i], &steps[k]); k++)
		;
	return k;
}

bool path_parts(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
		bool is_merged, path_take_part *take, void *user_data)
{
	size_t n_parts = 0, part = 0, i, k;
	struct slot slot;

	for (i = 1; i < n; i = behind(path, steps, n, i))
		n_parts++;
	for (i = 1; i < n; i = k, part++) {
		k = behind(path, steps, n, i);
		if (n_parts > 2 * TEXT_PARTS_END && part == TEXT_PARTS_END) {
			const struct path_part left_out = {.n_left_out =
								   n_parts - 2 * TEXT_PARTS_END};

			for (; part < n_parts - TEXT_PARTS_END; part++, i = k)
				k = behind(path, steps, n, i);
			k = behind(path, steps, n, i);
			if (!take(user_data, &left_out))
				return false;
		}
		name_slot(path, &steps[i], i + 1 == n, is_merged, &slot);
		if (!take(user_data, &(struct path_part){
					     .type = slot.type,
					     .slot = slot.name,
					     .is_element = slot.name[0] != '\0' &&
							   strchr("[+(", slot.name[0]) != NULL,
					     .times = k - i,
				     }))
			return false;
	}
	return true;
}

struct text {
	FILE *out;
	bool is_merged;
};

/* "T.Node._next", but "Object[] [17]", "T.Node +24", "T.Key (ConditionalWeakTable)". */
static bool write_part(void *user_data, const struct path_part *part)
{
	const struct text *text = user_data;
	char number[TEXT_NUMBER_BYTES];

	if (part->times == 0) {
		fprintf(text->out, " -> ... %s more ...", text_number(number, part->n_left_out));
		return true;
	}
	fprintf(text->out, " -> %s%s%s", part->type,
		part->slot[0] == '\0' ? ""
		: part->is_element    ? " "
				      : ".",
		part->slot);
	if (part->times > 1 && text->is_merged)
		fputs(" (again and again)", text->out);
	else if (part->times > 1)
		fprintf(text->out, " (%s times)", text_number(number, part->times));
	return true;
}

char *path_text(const struct path *path, const struct heapshot_graph_step *steps, size_t n,
		bool is_merged)
{
	char source[512], *result = NULL;
	size_t bytes;
	struct text text = {.out = open_memstream(&result, &bytes), .is_merged = is_merged};

	if (text.out == NULL)
		return NULL;
	graph_put_node(path->recording, path->graph, steps[0].node, source, sizeof(source));
	fputs(source, text.out);
	path_parts(path, steps, n, is_merged, write_part, &text);
	if (fclose(text.out) == 0)
		return result;
	free(result);
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
	if (path->is_brief)
		return;
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
