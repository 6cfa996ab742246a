/* SPDX-License-Identifier: MIT */
/*
 * heapshot retained: assemblies and domains.  What an assembly retains is what
 * would go with the objects of its types.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/retained.h"

#define ROWS_OF_GROUPS 30

static const char *assembly_of(const struct retained *retained,
			       const struct heapshot_graph_class *class)
{
	const struct heapshot_type *type =
		heapshot_reader_type(retained->recording->reader, class->type);

	return type != NULL ? type->assembly : "";
}

static const char *domain_of(const struct retained *retained,
			     const struct heapshot_graph_class *class)
{
	const struct heapshot_domain *domain =
		heapshot_reader_domain(retained->recording->reader, class->domain);

	return domain != NULL ? domain->name : "";
}

struct named_class {
	const char *name;
	uint32_t domain, class_index;
};

static int by_name(const void *left, const void *right)
{
	const struct named_class *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order != 0 ? order : (a->domain > b->domain) - (a->domain < b->domain);
}

/* Numbers the groups of classes with one name; returns how many there are. */
static size_t number(struct named_class *named, size_t n, uint32_t *groups,
		     struct retained_row *rows)
{
	size_t n_groups = 0, i;

	qsort(named, n, sizeof(*named), by_name);
	for (i = 0; i < n; i++) {
		if (i == 0 || by_name(&named[i - 1], &named[i]) != 0)
			rows[n_groups++] = (struct retained_row){.name = named[i].name,
								 .number = named[i].domain};
		groups[named[i].class_index] = (uint32_t)n_groups - 1;
	}
	return n_groups;
}

static void put_json(struct json *json, const char *key, const struct retained_row *rows, size_t n)
{
	bool is_domain = strcmp(key, "domains") == 0;
	size_t i;

	json_key(json, key);
	json_begin_rows(json);
	for (i = 0; i < n; i++) {
		json_begin(json, '{');
		json_put_text(json, is_domain ? "domain" : "assembly", rows[i].name);
		if (is_domain)
			json_put_unsigned(json, "id", rows[i].number);
		json_put_unsigned(json, "count", rows[i].count);
		json_put_unsigned(json, "bytes", rows[i].bytes);
		json_put_unsigned(json, "retained", rows[i].retained);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static int put_groups(const struct retained *retained, struct json *json, const char *key)
{
	static const char *const assembly_titles[] = {"RETAINED", "SHARE", "COUNT", "BYTES",
						      "ASSEMBLY"};
	static const char *const domain_titles[] = {"RETAINED", "SHARE", "COUNT", "BYTES",
						    "DOMAIN"};
	bool is_domain = strcmp(key, "domains") == 0;
	size_t limit = cli_limit(retained->arguments, ROWS_OF_GROUPS, SIZE_MAX), n, n_groups = 0, i;
	const struct heapshot_graph_class *classes = heapshot_graph_classes(retained->graph, &n);
	struct named_class *named = calloc(n + 1, sizeof(*named));
	uint32_t *groups = calloc(n + 1, sizeof(*groups));
	struct retained_row *rows = calloc(n + 1, sizeof(*rows));
	struct heapshot_graph_sum *sums = calloc(n + 1, sizeof(*sums));
	bool is_done = named != NULL && groups != NULL && rows != NULL && sums != NULL;

	for (i = 0; is_done && i < n; i++)
		named[i] = (struct named_class){
			.name = is_domain ? domain_of(retained, &classes[i])
					  : assembly_of(retained, &classes[i]),
			.domain = is_domain ? classes[i].domain : 0,
			.class_index = (uint32_t)i,
		};
	if (is_done) {
		n_groups = number(named, n, groups, rows);
		is_done = heapshot_graph_sums(retained->graph, groups, n_groups, sums) ==
			  HEAPSHOT_READ_OK;
	}
	if (is_done) {
		for (i = 0; i < n_groups; i++) {
			rows[i].retained = sums[i].retained;
			rows[i].count = sums[i].objects;
			rows[i].bytes = sums[i].bytes;
		}
		qsort(rows, n_groups, sizeof(*rows), retained_order);
		if (limit > n_groups)
			limit = n_groups;
		if (json != NULL)
			put_json(json, key, rows, limit);
		else
			retained_put_table(retained, is_domain ? "DOMAINS" : "ASSEMBLIES",
					   is_domain ? domain_titles : assembly_titles, "rrrrl",
					   rows, limit, n_groups);
	}
	free(named);
	free(groups);
	free(rows);
	free(sums);
	return is_done ? CLI_OK : cli_no_memory();
}

int retained_assemblies(const struct retained *retained, struct json *json)
{
	return put_groups(retained, json, "assemblies");
}

int retained_domains(const struct retained *retained, struct json *json)
{
	return put_groups(retained, json, "domains");
}
