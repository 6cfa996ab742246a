/* SPDX-License-Identifier: MIT */
/*
 * The figures of a refresh: on a screen that is written anew each time, as lines
 * one below the other, or as a line of JSON.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "contrib/cli/json.h"
#include "contrib/cli/text.h"
#include "contrib/cli/watch.h"

#define DEFAULT_LIMIT 10
/* Lines above the rows of the table. */
#define HEAD_LINES 5

static void put_change(FILE *out, const char *before, uint64_t now, uint64_t first)
{
	char number[TEXT_NUMBER_BYTES];

	fprintf(out, "%s%s", before, text_change(number, (int64_t)(now - first)));
}

static void put_pauses(FILE *out, const struct watch *watch)
{
	const struct watch_pauses *pauses = &watch->gc.program;
	char numbers[2][TEXT_NUMBER_BYTES];

	if (!watch->gc.has_events) {
		fputs("collections are not in the recording's file", out);
		return;
	}
	fprintf(out, "%" PRIu64 " minor and %" PRIu64 " major collections", pauses->n_minor,
		pauses->n_major);
	if (pauses->n_minor + pauses->n_major > 0)
		fprintf(out, ", paused %s, longest %s", text_duration(numbers[0], pauses->ns),
			text_duration(numbers[1], pauses->max_ns));
}

/* What the refreshes themselves cost the program; its events may come with the next one only. */
static void put_ours(FILE *out, const struct watch *watch)
{
	const struct watch_pauses *ours = &watch->gc.ours;
	const uint64_t n = ours->n_minor + ours->n_major;
	char numbers[2][TEXT_NUMBER_BYTES];

	if (n > 0)
		fprintf(out, "watching: %" PRIu64 " stop%s, %s, longest %s", n, n == 1 ? "" : "s",
			text_duration(numbers[0], ours->ns),
			text_duration(numbers[1], ours->max_ns));
	else
		fprintf(out, "watching: stopped for %s to count",
			text_duration(numbers[0], watch->recording.snapshot->pause_ns));
}

static void put_sums(FILE *out, const struct watch *watch)
{
	const struct heapshot_snapshot *snapshot = watch->recording.snapshot;
	char numbers[3][TEXT_NUMBER_BYTES];

	fprintf(out, "heap %s  live %s bytes", text_number(numbers[0], snapshot->heap_bytes),
		text_number(numbers[1], watch->totals.bytes));
	put_change(out, " (", watch->totals.bytes, watch->first_bytes);
	fprintf(out, ")  %s objects", text_number(numbers[2], watch->totals.objects));
	put_change(out, " (", watch->totals.objects, watch->first_objects);
	fputc(')', out);
}

static void put_row(struct text_table *table, const struct growth_row *row, bool is_measure)
{
	char numbers[4][TEXT_NUMBER_BYTES], unnamed[32];
	const char *cells[] = {
		text_change(numbers[0], row->bytes_change),
		text_change(numbers[1], row->objects_change),
		text_number(numbers[2], row->bytes),
		text_number(numbers[3], row->objects),
		*row->key.assembly ? row->key.assembly : "-",
		type_key_name(&row->key, unnamed),
	};

	if (is_measure)
		text_table_measure(table, cells);
	else
		text_table_print(table, cells, false);
}

/* At most N rows, each cut behind COLUMNS (0: it is not). */
static void put_table(const struct watch *watch, size_t n, size_t columns, bool is_titled)
{
	static const char *const titles[] = {"+BYTES", "+COUNT",   "BYTES",
					     "COUNT",  "ASSEMBLY", "TYPE"};
	struct text_table table = {.align = "rrrrll", .most = columns};
	size_t i;

	text_table_measure(&table, titles);
	for (i = 0; i < n; i++)
		put_row(&table, &watch->growth.rows[i], true);
	if (is_titled)
		text_table_print(&table, titles, true);
	for (i = 0; i < n; i++)
		put_row(&table, &watch->growth.rows[i], false);
}

static size_t rows_that_grew(const struct watch *watch)
{
	size_t n = 0;

	while (n < watch->growth.n && watch->growth.rows[n].bytes_change > 0)
		n++;
	return n;
}

static double seconds(const struct watch *watch)
{
	return (double)(watch->recording.snapshot->time_ns - watch->first_ns) / 1e9;
}

/* ---- In place ---- */

static bool has_screen;

void watch_screen_begin(void)
{
	has_screen = true;
	/* The other screen, without cursor; lines are not wrapped. */
	fputs("\033[?1049h\033[?25l\033[?7l", stdout);
	fflush(stdout);
}

void watch_screen_end(void)
{
	if (!has_screen)
		return;
	has_screen = false;
	fputs("\033[?7h\033[?25h\033[?1049l", stdout);
	fflush(stdout);
}

static void put_title(FILE *out, const struct watch *watch)
{
	const struct heapshot_header *header = heapshot_reader_header(watch->recording.reader);

	fprintf(out, "process %s, watched %.1f s: %.400s", watch->process, seconds(watch),
		header->command_line);
}

/* What PUT writes, masked, as much of it as fits into COLUMNS. */
static void put_cut(void (*put)(FILE *out, const struct watch *watch), const struct watch *watch,
		    size_t columns)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (out == NULL)
		return;
	put(out, watch);
	fclose(out);
	text[sizeof(text) - 1] = '\0';
	text_put_cut(stdout, text, columns);
}

static void show_screen(const struct watch *watch)
{
	struct winsize size = {0};
	size_t lines, columns, n;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		size = (struct winsize){.ws_row = 24, .ws_col = 80};
	lines = size.ws_row;
	columns = size.ws_col;
	n = lines > HEAD_LINES + 1 ? lines - HEAD_LINES - 1 : 0;
	if (watch->arguments->has_limit)
		n = cli_limit(watch->arguments, n, n) < n ? cli_limit(watch->arguments, n, n) : n;
	if (n > watch->growth.n)
		n = watch->growth.n;
	/* Home; what each line, and the rest of the screen, held before is erased. */
	fputs("\033[H", stdout);
	put_cut(put_title, watch, columns);
	fputs("\033[K\n", stdout);
	put_cut(put_sums, watch, columns);
	if (lines > 3) {
		fputs("\033[K\n", stdout);
		put_cut(put_pauses, watch, columns);
		fputs("\033[K\n", stdout);
		put_cut(put_ours, watch, columns);
	}
	fputs("\033[K\033[J", stdout);
	if (n > 0) {
		putchar('\n');
		put_table(watch, n, columns, true);
	}
	fflush(stdout);
}

/* ---- As lines ---- */

static void show_lines(const struct watch *watch)
{
	const size_t n_grown = rows_that_grew(watch);
	const size_t limit = cli_limit(watch->arguments, DEFAULT_LIMIT, SIZE_MAX);

	printf("+%.1f s  ", seconds(watch));
	put_sums(stdout, watch);
	fputs("  ", stdout);
	put_pauses(stdout, watch);
	fputs("; ", stdout);
	put_ours(stdout, watch);
	putchar('\n');
	if (n_grown > 0)
		put_table(watch, n_grown < limit ? n_grown : limit, 0, watch->n_refreshes == 2);
	fflush(stdout);
}

void watch_show_last(const struct watch *watch)
{
	const size_t limit = cli_limit(watch->arguments, DEFAULT_LIMIT, SIZE_MAX);

	put_cut(put_title, watch, SIZE_MAX);
	putchar('\n');
	put_sums(stdout, watch);
	putchar('\n');
	put_pauses(stdout, watch);
	putchar('\n');
	put_ours(stdout, watch);
	putchar('\n');
	put_table(watch, watch->growth.n < limit ? watch->growth.n : limit, 0, true);
}

/* ---- As JSON ---- */

static void put_change_json(struct json *json, const char *key, int64_t change)
{
	json_key(json, key);
	json_signed(json, change);
}

static void put_pauses_json(struct json *json, const char *key, const struct watch_pauses *pauses,
			    bool is_known)
{
	json_key(json, key);
	if (!is_known) {
		json_null(json);
		return;
	}
	json_begin(json, '{');
	json_put_unsigned(json, "minor", pauses->n_minor);
	json_put_unsigned(json, "major", pauses->n_major);
	json_put_unsigned(json, "pause_ns", pauses->ns);
	json_put_unsigned(json, "max_pause_ns", pauses->max_ns);
	json_end(json, '}');
}

static void show_json(const struct watch *watch)
{
	const struct heapshot_snapshot *snapshot = watch->recording.snapshot;
	size_t n = cli_limit(watch->arguments, SIZE_MAX, SIZE_MAX), i;
	struct json json = {0};
	char unnamed[32];

	json_begin(&json, '{');
	json_put_text(&json, "process", watch->process);
	json_put_unsigned(&json, "snapshot", snapshot->id);
	json_put_unsigned(&json, "time_ns", snapshot->time_ns);
	json_put_unsigned(&json, "heap_bytes", snapshot->heap_bytes);
	json_put_unsigned(&json, "bytes", watch->totals.bytes);
	json_put_unsigned(&json, "objects", watch->totals.objects);
	put_change_json(&json, "bytes_change", (int64_t)(watch->totals.bytes - watch->first_bytes));
	put_change_json(&json, "objects_change",
			(int64_t)(watch->totals.objects - watch->first_objects));
	put_pauses_json(&json, "collections", &watch->gc.program, watch->gc.has_events);
	put_pauses_json(&json, "watching", &watch->gc.ours, watch->gc.has_events);
	json_put_unsigned(&json, "walk_ns", snapshot->pause_ns);
	json_key(&json, "types");
	json_begin(&json, '[');
	for (i = 0; i < watch->growth.n && i < n; i++) {
		const struct growth_row *row = &watch->growth.rows[i];

		json_begin(&json, '{');
		json_put_text(&json, "type", type_key_name(&row->key, unnamed));
		json_put_text(&json, "assembly", row->key.assembly);
		json_put_unsigned(&json, "count", row->objects);
		json_put_unsigned(&json, "bytes", row->bytes);
		put_change_json(&json, "count_change", row->objects_change);
		put_change_json(&json, "bytes_change", row->bytes_change);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
	fflush(stdout);
}

void watch_show(const struct watch *watch)
{
	if (watch->arguments->is_json)
		show_json(watch);
	else if (watch->is_screen)
		show_screen(watch);
	else
		show_lines(watch);
}
