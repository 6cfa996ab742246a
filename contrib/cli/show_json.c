/* SPDX-License-Identifier: MIT */
/*
 * An object as JSON.
 */
#include "contrib/cli/show.h"

/* The reference to an object, or null. */
static void put_object(struct json *json, const char *key, const struct show *show, uint32_t object)
{
	json_key(json, key);
	if (object == HEAPSHOT_GRAPH_NONE) {
		json_null(json);
		return;
	}
	json_begin(json, '{');
	graph_node_json(json, show->recording, show->graph, object);
	json_end(json, '}');
}

static void put_slot_name(struct json *json, const struct show *show, uint32_t object,
			  uint64_t offset)
{
	char name[HEAPSHOT_SLOT_NAME_BYTES];
	struct heapshot_graph_object facts;

	heapshot_graph_object(show->graph, object, &facts);
	heapshot_reader_slot_name(show->recording->reader, facts.type, offset, name);
	json_put_text(json, "slot", name);
}

static void put_facts(struct json *json, const struct show *show)
{
	const struct heapshot_graph_object *facts = &show->facts;
	const struct heapshot_reader *reader = show->recording->reader;
	const struct heapshot_type *type = heapshot_reader_type(reader, facts->type);
	const struct heapshot_domain *domain = heapshot_reader_domain(reader, facts->domain);
	const struct object_details *details = &show->details;

	graph_node_json(json, show->recording, show->graph, show->object);
	json_put_text(json, "assembly", type != NULL ? type->assembly : "");
	json_put_unsigned(json, "bytes", facts->size);
	json_put_unsigned(json, "slot_bytes", facts->slot_size);
	json_put_text(json, "domain", domain != NULL ? domain->name : "");
	json_put_known(json, "generation", details->has_generation, details->generation);
	json_put_bool(json, "live", facts->flags & HEAPSHOT_GRAPH_LIVE);
	json_key(json, "text");
	if (details->text != NULL)
		json_text_bytes(json, details->text, details->text_bytes);
	else
		json_null(json);
	json_put_known(json, "length", details->text != NULL, details->length);
	json_put_unsigned(json, "retained", heapshot_graph_retained(show->graph, show->object));
	put_object(json, "dominator", show, heapshot_graph_dominator(show->graph, show->object));
}

static void put_slots(struct json *json, const struct show *show)
{
	size_t i;

	json_key(json, "fields");
	json_begin_rows(json);
	for (i = 0; i < show->n_slots && i < show->limit; i++) {
		const struct object_slot *slot = &show->slots[i];
		char unnamed[32];

		json_begin(json, '{');
		json_put_text(json, "name", slot->name);
		json_put_unsigned(json, "offset", slot->offset);
		json_put_text(json, "type",
			      slot->type != 0
				      ? recording_type_name(show->recording, slot->type, unnamed)
				      : NULL);
		put_object(json, "target", show, slot->target);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_put_unsigned(json, "references", show->facts.n_references);
}

static void put_referrers(struct json *json, const struct show *show)
{
	size_t i;

	json_key(json, "referrers");
	json_begin_rows(json);
	for (i = 0; i < show->n_referrers; i++) {
		const struct show_referrer *referrer = &show->referrers[i];

		json_begin(json, '{');
		graph_node_json(json, show->recording, show->graph, referrer->object);
		put_slot_name(json, show, referrer->object, referrer->offset);
		json_put_bool(json, "live", heapshot_graph_is_live(show->graph, referrer->object));
		json_end(json, '}');
	}
	json_end(json, ']');
	json_put_unsigned(json, "referrer_count", show->facts.n_referrers);
}

static void put_roots(struct json *json, const struct show *show)
{
	size_t n, i;
	const struct heapshot_graph_source *sources = heapshot_graph_sources(show->graph, &n);

	json_key(json, "roots");
	json_begin_rows(json);
	for (i = 0; i < show->n_roots && i < show->limit; i++) {
		const struct heapshot_graph_root *root = &show->roots[i];

		json_begin(json, '{');
		graph_node_json(json, show->recording, show->graph,
				heapshot_graph_source_node(show->graph, root->source));
		json_put_unsigned(json, "address", root->address);
		json_put_bool(json, "holds", sources[root->source].is_holding);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_put_unsigned(json, "root_count", show->n_roots);
}

static void put_ephemerons(struct json *json, const struct show *show)
{
	size_t i;

	json_key(json, "ephemerons");
	json_begin_rows(json);
	for (i = 0; i < show->n_ephemerons; i++) {
		const struct show_ephemeron *ephemeron = &show->ephemerons[i];

		json_begin(json, '{');
		json_put_text(json, "role", ephemeron->role);
		put_object(json, "table", show, ephemeron->edge->table);
		put_object(json, "key", show, ephemeron->edge->key);
		put_object(json, "value", show, ephemeron->edge->value);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void put_way(struct json *json, const struct show *show)
{
	json_key(json, "path");
	if (show->steps.n == 0) {
		json_null(json);
		return;
	}
	json_begin(json, '{');
	path_json(&show->path, json, show->steps.list, show->steps.n, false);
	json_end(json, '}');
}

void show_put_json(const struct show *show)
{
	struct json json = {0};

	json_begin(&json, '{');
	json_put_unsigned(&json, "snapshot", show->recording->snapshot->id);
	put_facts(&json, show);
	put_slots(&json, show);
	put_referrers(&json, show);
	put_roots(&json, show);
	put_ephemerons(&json, show);
	put_way(&json, show);
	json_end(&json, '}');
	json_line(&json);
}
