/* SPDX-License-Identifier: MIT */
/*
 * An object for people.
 */
#include <inttypes.h>

#include "contrib/cli/show.h"
#include "contrib/cli/text.h"

#define NODE_BYTES 2048

static void put_line(const char *before, const char *text)
{
	fputs(before, stdout);
	text_put_masked(stdout, text);
	putchar('\n');
}

/* "T.Node 0x7f0000000010._next" */
static void name_slot(const struct show *show, uint32_t object, uint64_t offset, char *text,
		      size_t size)
{
	char name[HEAPSHOT_SLOT_NAME_BYTES];
	struct heapshot_graph_object facts;

	heapshot_graph_object(show->graph, object, &facts);
	heapshot_reader_slot_name(show->recording->reader, facts.type, offset, name);
	snprintf(text, size, "%s", name);
}

static void put_facts(const struct show *show)
{
	const struct heapshot_graph_object *facts = &show->facts;
	const struct heapshot_reader *reader = show->recording->reader;
	const struct heapshot_type *type = heapshot_reader_type(reader, facts->type);
	const struct heapshot_domain *domain = heapshot_reader_domain(reader, facts->domain);
	const struct object_details *details = &show->details;
	char numbers[3][TEXT_NUMBER_BYTES], text[NODE_BYTES];

	graph_put_node(show->recording, show->graph, show->object, text, sizeof(text));
	put_line("", text);
	printf("  %s bytes in a slot of %s", text_number(numbers[0], facts->size),
	       text_number(numbers[1], facts->slot_size));
	if (details->has_generation)
		printf(", generation %" PRIu32, details->generation);
	if (type != NULL && *type->assembly != '\0') {
		fputs(", assembly ", stdout);
		text_put_masked(stdout, type->assembly);
	}
	if (domain != NULL && *domain->name != '\0') {
		fputs(", domain ", stdout);
		text_put_masked(stdout, domain->name);
	}
	putchar('\n');
	if (show->asked != facts->address)
		printf("  0x%" PRIx64 " lies %" PRIu64 " bytes into it\n", show->asked,
		       show->asked - facts->address);
	if (details->text != NULL) {
		object_quote(details->text, details->text_bytes, details->is_cut, 200, text,
			     sizeof(text));
		printf("  length %s, text ", text_number(numbers[0], details->length));
		put_line("", text);
	}
	if (!(facts->flags & HEAPSHOT_GRAPH_LIVE)) {
		puts("  not live: no root leads to it");
		return;
	}
	printf("  live, retains %s bytes; would go with ",
	       text_number(numbers[2], heapshot_graph_retained(show->graph, show->object)));
	graph_put_node(show->recording, show->graph,
		       heapshot_graph_dominator(show->graph, show->object), text, sizeof(text));
	put_line("", text);
}

static void put_more(size_t n, uint64_t n_all, const char *what)
{
	char number[TEXT_NUMBER_BYTES];

	if (n < n_all)
		printf("  ... and %s more %s (--limit 0 shows all)\n",
		       text_number(number, n_all - n), what);
}

static void put_slot(const struct show *show, struct text_table *table,
		     const struct object_slot *slot, bool is_measure)
{
	char offset[32], target[NODE_BYTES] = "-", unnamed[32];
	const char *cells[] = {
		offset,
		slot->name,
		slot->type != 0 ? recording_type_name(show->recording, slot->type, unnamed) : "-",
		target,
	};

	snprintf(offset, sizeof(offset), "%" PRIu64, slot->offset);
	if (slot->target != HEAPSHOT_GRAPH_NONE)
		graph_put_node(show->recording, show->graph, slot->target, target, sizeof(target));
	if (is_measure)
		text_table_measure(table, cells);
	else
		text_table_print(table, cells, false);
}

static void put_slots(const struct show *show)
{
	static const char *const titles[] = {"OFFSET", "FIELD", "DECLARED AS", "REFERS TO"};
	struct text_table table = {.align = "rlll"};
	const size_t n = show->n_slots < show->limit ? show->n_slots : show->limit;
	size_t i;

	if (n == 0)
		return;
	putchar('\n');
	text_table_measure(&table, titles);
	for (i = 0; i < n; i++)
		put_slot(show, &table, &show->slots[i], true);
	text_table_print(&table, titles, true);
	for (i = 0; i < n; i++)
		put_slot(show, &table, &show->slots[i], false);
	/* Of arrays only as many slots were read as are shown. */
	put_more(n, show->n_slots > n ? show->n_slots : show->facts.n_references,
		 show->n_slots > n ? "fields" : "references");
}

static void put_referrers(const struct show *show)
{
	char text[NODE_BYTES], slot[HEAPSHOT_SLOT_NAME_BYTES], number[TEXT_NUMBER_BYTES];
	size_t i;

	printf("\nreferrers: %s\n", text_number(number, show->facts.n_referrers));
	for (i = 0; i < show->n_referrers; i++) {
		const struct show_referrer *referrer = &show->referrers[i];

		graph_put_node(show->recording, show->graph, referrer->object, text, sizeof(text));
		name_slot(show, referrer->object, referrer->offset, slot, sizeof(slot));
		fputs("  ", stdout);
		text_put_masked(stdout, text);
		putchar(' ');
		text_put_masked(stdout, slot);
		puts(heapshot_graph_is_live(show->graph, referrer->object) ? "" : " (not live)");
	}
	put_more(show->n_referrers, show->facts.n_referrers, "referrers");
}

static void put_roots(const struct show *show)
{
	size_t n, i;
	const struct heapshot_graph_source *sources = heapshot_graph_sources(show->graph, &n);
	const size_t shown = show->n_roots < show->limit ? show->n_roots : show->limit;
	char text[NODE_BYTES], number[TEXT_NUMBER_BYTES];

	if (show->n_roots == 0)
		return;
	printf("\nroots: %s\n", text_number(number, show->n_roots));
	for (i = 0; i < shown; i++) {
		const struct heapshot_graph_root *root = &show->roots[i];

		graph_put_node(show->recording, show->graph,
			       heapshot_graph_source_node(show->graph, root->source), text,
			       sizeof(text));
		fputs("  ", stdout);
		text_put_masked(stdout, text);
		printf(" at 0x%" PRIx64 "%s\n", root->address,
		       sources[root->source].is_holding ? "" : " (holds nothing)");
	}
	put_more(shown, show->n_roots, "roots");
}

static void put_ephemerons(const struct show *show)
{
	char text[NODE_BYTES];
	size_t i;

	if (show->n_all_ephemerons == 0)
		return;
	puts("\nephemerons (entries of ConditionalWeakTable)");
	for (i = 0; i < show->n_ephemerons; i++) {
		const struct show_ephemeron *ephemeron = &show->ephemerons[i];
		const struct {
			const char *role;
			uint32_t object;
		} parts[] = {{"table", ephemeron->edge->table},
			     {"key", ephemeron->edge->key},
			     {"value", ephemeron->edge->value}};
		size_t k;

		printf("  %s", ephemeron->role);
		for (k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
			if (parts[k].object == show->object)
				continue;
			graph_put_node(show->recording, show->graph, parts[k].object, text,
				       sizeof(text));
			printf(", %s ", parts[k].role);
			text_put_masked(stdout, text);
		}
		putchar('\n');
	}
	put_more(show->n_ephemerons, show->n_all_ephemerons, "ephemerons");
}

static void put_way(const struct show *show)
{
	if (show->steps.n == 0)
		return;
	fputs("\nshortest path\n  ", stdout);
	path_put(&show->path, show->steps.list, show->steps.n, false);
	putchar('\n');
}

void show_put_tables(const struct show *show)
{
	recording_print_title(show->recording);
	put_facts(show);
	put_slots(show);
	put_referrers(show);
	put_roots(show);
	put_ephemerons(show);
	put_way(show);
}
