/* SPDX-License-Identifier: MIT */
/*
 * The streams of an export.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "contrib/cli/export_target.h"
#include "contrib/export/rows.h"

static bool take(void *user_data, const void *data, size_t size)
{
	return newfile_write(user_data, data, size) == CLI_OK;
}

static struct export_output *open_table(void *user_data, const char *table)
{
	struct export_target *target = user_data;
	size_t i;

	if (target->table != NULL)
		return strcmp(table, target->table) == 0 ? target->outputs : NULL;
	for (i = 0; i < target->n; i++)
		if (strcmp(table, rows_tables[i].name) == 0)
			return &target->outputs[i];
	return NULL;
}

/* One file for each table: TABLE/host=.../pid=.../time=.../part.csv. */
static int open_folder(struct export_target *target, const struct export *export,
		       const struct export_format *format, const struct cli_command *command,
		       const struct cli_arguments *arguments)
{
	int status = newfolder_open(&target->folder, command, arguments);
	size_t i;

	export_partition(export, target->partition);
	for (i = 0; i < ROWS_TABLES && status == CLI_OK; i++) {
		char name[EXPORT_PARTITION_BYTES + 64];

		snprintf(name, sizeof(name), "%s/%s/part.%s", rows_tables[i].name,
			 target->partition, format->name);
		if (newfolder_add(&target->folder, name) == NULL)
			status = CLI_IO;
	}
	return status;
}

int export_target_open(struct export_target *target, struct export *export,
		       const struct export_format *format, const struct cli_command *command,
		       const struct cli_arguments *arguments)
{
	int status;
	size_t i;

	*target = (struct export_target){
		.table = arguments->table,
		.is_folder = format->is_tables && arguments->table == NULL,
		.file = {.fd = -1},
		.n = 1,
	};
	if (target->is_folder)
		target->n = ROWS_TABLES;
	target->outputs = malloc(target->n * sizeof(*target->outputs));
	if (target->outputs == NULL) {
		target->n = 0; /* there is nothing to close */
		return cli_no_memory();
	}
	status = target->is_folder ? open_folder(target, export, format, command, arguments)
				   : newfile_open(&target->file, command, arguments);
	for (i = 0; i < target->n; i++) {
		struct export_output *output = &target->outputs[i];

		output->take = take;
		output->user_data = target->is_folder ? &target->folder.files[i] : &target->file;
		output->has_failed = false;
		output->taken = 0;
		output->n = 0;
	}
	if (status != CLI_OK)
		target->n = 0;
	export->output = target->outputs;
	export->path = target->file.temporary;
	export->open_table = open_table;
	export->user_data = target;
	return status;
}

bool export_target_flush(struct export_target *target)
{
	bool is_good = true;
	size_t i;

	for (i = 0; i < target->n && is_good; i++)
		is_good = export_flush(&target->outputs[i]);
	return is_good;
}

uint64_t export_target_bytes(const struct export_target *target)
{
	uint64_t bytes = 0;
	struct stat st;
	size_t i;

	for (i = 0; i < target->folder.n; i++)
		bytes += target->folder.files[i].bytes;
	/* SQLite writes by itself. */
	if (!target->is_folder && fstat(target->file.fd, &st) == 0)
		bytes = (uint64_t)st.st_size;
	return bytes;
}

int export_target_close(struct export_target *target, int status)
{
	if (target->is_folder)
		status = newfolder_close(&target->folder, status);
	else if (target->n > 0)
		status = newfile_close(&target->file, status);
	free(target->outputs);
	return status;
}
