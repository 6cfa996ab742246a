/* SPDX-License-Identifier: MIT */
/*
 * Counters and tables of handles in a report.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "contrib/cli/handle_groups.h"
#include "contrib/cli/report_json.h"

/* So many stand one by one; of more, those that are alike are put together. */
#define SINGLE_MAX 2000

static bool copy_group(struct report *report, const struct handle_group *group,
		       struct report_handle *to)
{
	*to = (struct report_handle){
		.handle = group->first->handle,
		.object = group->first->object,
		.retained = group->retained,
		.count = group->count,
		.js_type = report_name(report, group->first->js_type),
		.js_name = report_name(report, group->first->js_name),
		.type = group->type != NULL ? report_name(report, group->type) : UINT32_MAX,
	};
	return to->js_type != UINT32_MAX && to->js_name != UINT32_MAX &&
	       (to->type != UINT32_MAX || group->type == NULL);
}

static bool copy_table(struct report *report, const struct handle_table *table,
		       struct report_handle_table *to)
{
	*to = (struct report_handle_table){
		.name = report_name(report, table->table->name),
		.title = report_name(report, table->title),
		.note = report_name(report, table->table->note),
		.escaped = table->table->escaped,
		.released = table->table->released,
		.collected = table->table->collected,
		.entries = calloc(table->n_groups + 1, sizeof(*to->entries)),
		.n = table->n_groups,
	};
	if (to->entries == NULL || to->name == UINT32_MAX || to->title == UINT32_MAX ||
	    to->note == UINT32_MAX)
		return false;
	for (size_t i = 0; i < table->n_groups; i++)
		if (!copy_group(report, &table->groups[i], &to->entries[i]))
			return false;
	return true;
}

int report_read_handles(struct report *report, struct report_snapshot *snapshot,
			struct heapshot_graph *graph)
{
	const bool is_single = snapshot->snapshot->handles <= SINGLE_MAX;
	struct handle_tables tables;
	bool is_good = true;
	int status;

	if (snapshot->snapshot->handle_tables == 0)
		return CLI_OK;
	status = handle_tables_read(snapshot->recording, graph, is_single, &tables);
	if (status != CLI_OK)
		return status;
	snapshot->handle_tables = calloc(tables.n + 1, sizeof(*snapshot->handle_tables));
	is_good = snapshot->handle_tables != NULL;
	for (size_t i = 0; is_good && i < tables.n; i++)
		is_good = copy_table(report, &tables.tables[i],
				     &snapshot->handle_tables[snapshot->n_handle_tables++]);
	handle_tables_free(&tables);
	return is_good ? CLI_OK : cli_no_memory();
}

void report_free_handles(struct report_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_handle_tables; i++)
		free(snapshot->handle_tables[i].entries);
	free(snapshot->handle_tables);
}

static const char *text_of(const struct report_writer *writer, uint32_t name)
{
	return name != UINT32_MAX ? writer->report->names.texts[name] : NULL;
}

static void put_entry(const struct report_writer *writer, const struct report_handle *entry)
{
	struct json *json = writer->json;
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, entry->object);
	json_begin(json, '{');
	json_key(json, "handle");
	json_signed(json, entry->handle);
	report_put_cut_key(writer, "js_type", text_of(writer, entry->js_type));
	report_put_cut_key(writer, "js_name", text_of(writer, entry->js_name));
	json_key(json, "type");
	if (entry->type != UINT32_MAX)
		report_put_cut(writer, text_of(writer, entry->type));
	else
		json_null(json);
	json_put_text(json, "object", entry->object != 0 ? address : NULL);
	json_put_known(json, "retained", entry->type != UINT32_MAX, entry->retained);
	json_put_unsigned(json, "count", entry->count);
	json_end(json, '}');
}

void report_put_handles(const struct report_writer *writer, const struct report_snapshot *snapshot)
{
	struct json *json = writer->json;

	json_key(json, "handles");
	if (snapshot->n_handle_tables == 0) {
		json_null(json);
		return;
	}
	json_begin_rows(json);
	for (size_t i = 0; i < snapshot->n_handle_tables; i++) {
		const struct report_handle_table *table = &snapshot->handle_tables[i];
		uint64_t n_other = 0;

		json_begin(json, '{');
		report_put_cut_key(writer, "name", text_of(writer, table->name));
		report_put_cut_key(writer, "title", text_of(writer, table->title));
		json_put_unsigned(json, "escaped", table->escaped);
		json_put_unsigned(json, "released", table->released);
		json_put_unsigned(json, "collected", table->collected);
		report_put_cut_key(writer, "note", text_of(writer, table->note));
		json_key(json, "entries");
		json_begin_rows(json);
		for (size_t k = 0; k < table->n; k++)
			if (k < writer->limits->handles)
				put_entry(writer, &table->entries[k]);
			else
				n_other += table->entries[k].count;
		json_end(json, ']');
		json_put_unsigned(json, "other", n_other);
		json_end(json, '}');
	}
	json_end(json, ']');
}

void report_put_counters(const struct report_writer *writer, const struct counters *counters)
{
	struct json *json = writer->json;

	json_key(json, "counters");
	json_begin_rows(json);
	for (size_t i = 0; i < counters->n; i++) {
		const struct counter_series *series = &counters->list[i];
		const size_t most = writer->limits->samples > 1 ? writer->limits->samples : 2;
		/* The first, the last, and between them each of so many. */
		const size_t step = (series->n + most - 2) / (most - 1);

		if (series->n == 0)
			continue;
		json_begin(json, '{');
		report_put_cut_key(writer, "name", series->name);
		report_put_cut_key(writer, "section", series->section);
		report_put_cut_key(writer, "unit", series->unit);
		for (int column = 0; column < 2; column++) {
			report_begin_column(json, column == 0 ? "time_ns" : "value");
			for (size_t k = 0; k < series->n; k++) {
				const struct counter_sample *sample = &series->samples[k];

				if (step > 1 && k % step != 0 && k + 1 != series->n)
					continue;
				if (column == 0)
					json_unsigned(json, sample->time_ns);
				else
					json_double(json, sample->value);
			}
			json_end(json, ']');
		}
		json_end(json, '}');
	}
	json_end(json, ']');
}
