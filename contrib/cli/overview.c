/* SPDX-License-Identifier: MIT */
/*
 * heapshot FILE: in half a screen what grew, the suspects, and what to type next.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/leaks.h"
#include "contrib/cli/linear_memory.h"

#define GROWN_MAX    3
#define SUSPECTS_MAX 3
/* Of longer lines the middle is left out: the beginning says who, the end what. */
#define LINE_HEAD 100
#define LINE_TAIL 50
/* It is cut between words that are no longer. */
#define WORD_MAX 30

/* Writes TEXT, masked, as two lines of a terminal at most. */
static void put_cut(const char *text)
{
	const char *end = text, *tail = text, *at;
	size_t n = 0, i;
	char *head;

	for (at = text; *at != '\0'; n++)
		text_next(&at);
	if (n <= LINE_HEAD + LINE_TAIL + 5) {
		text_put_masked(stdout, text);
		return;
	}
	for (i = 0; i < LINE_HEAD; i++)
		text_next(&end);
	for (i = 0; i < n - LINE_TAIL; i++)
		text_next(&tail);
	for (at = end; at > text && end - at < WORD_MAX && *at != ' ';)
		at--;
	end = *at == ' ' ? at : end;
	i = strcspn(tail, " ");
	tail += i < WORD_MAX && tail[i] == ' ' ? i + 1 : 0;
	head = strndup(text, (size_t)(end - text));
	text_put_masked(stdout, head != NULL ? head : "");
	fputs(" ... ", stdout);
	text_put_masked(stdout, tail);
	free(head);
}

/* What the shell takes as it is. */
static bool is_plain(const char *word)
{
	return word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				 "._/-+@:,=%")] == '\0';
}

static void put_word(const char *word)
{
	if (is_plain(word) || strchr(word, '\'') != NULL) {
		text_put_masked(stdout, word);
		return;
	}
	putchar('\'');
	text_put_masked(stdout, word);
	putchar('\'');
}

static void put_command(const struct leaks *leaks, const char *command, const char *type,
			const char *does)
{
	printf("  heapshot %s ", command);
	put_word(leaks->arguments->operands[0]);
	if (type != NULL) {
		putchar(' ');
		put_word(type);
	}
	printf("   # %s\n", does);
}

/* A line for all that grew, the types that grew most in it. */
static void put_growth(const struct leaks *leaks)
{
	char number[TEXT_NUMBER_BYTES];
	size_t n = 0, i;

	if (leaks->first == NULL) {
		puts("one snapshot: record with snapshot=gc or 60s, or use heapshot take, to see "
		     "what grows");
		return;
	}
	printf("since snapshot %" PRIu64 ": ", leaks->first->id);
	for (i = 0; i < leaks->n; i++) {
		const struct leak *leak = &leaks->list[i];

		if (leak->kind != LEAK_GROWTH || ++n > GROWN_MAX)
			continue;
		fputs(n == 1 ? "grew " : ", ", stdout);
		text_put_masked(stdout, leak_type(leak));
		printf(" by %s", text_number(number, leak->count != 0 ? leak->count : leak->bytes));
		fputs(leak->count != 0 ? "" : " bytes", stdout);
	}
	if (n > GROWN_MAX)
		printf(", and %zu other types", n - GROWN_MAX);
	puts(n == 0 ? "nothing grew" : "");
}

/* Whether what HOLDER dominates is a part of what NODE does. */
static bool is_below(const struct leaks *leaks, uint32_t holder, uint32_t node)
{
	while (holder != HEAPSHOT_GRAPH_NONE && holder != node)
		holder = heapshot_graph_dominator(leaks->graph, holder);
	return node != HEAPSHOT_GRAPH_NONE && holder == node;
}

/*
 * What grew most first, but behind what explains it; then what does not grow but
 * holds much; then what else grew, elsewhere.
 */
static size_t choose(const struct leaks *leaks, const struct leak *chosen[SUSPECTS_MAX])
{
	const struct leak *grown = NULL, *cause = NULL;
	size_t n = 0, i;
	unsigned turn;

	if (leaks->n > 0 && leaks->list[0].kind == LEAK_GROWTH)
		grown = &leaks->list[0];
	for (i = 0; grown != NULL && cause == NULL && i < leaks->n; i++) {
		const struct leak *leak = &leaks->list[i];

		if (leak_list_of(leak->kind) == LEAK_LIST_SUSPECTS &&
		    is_below(leaks, grown->holder, leak->holder))
			cause = leak;
	}
	if (cause != NULL)
		chosen[n++] = cause;
	if (grown != NULL)
		chosen[n++] = grown;
	for (turn = 0; turn < 2; turn++)
		for (i = 0; i < leaks->n && n < SUSPECTS_MAX; i++) {
			const struct leak *leak = &leaks->list[i];

			if (leak == grown || leak == cause ||
			    leak_list_of(leak->kind) !=
				    (turn ? LEAK_LIST_GROWTH : LEAK_LIST_SUSPECTS))
				continue;
			/* What hangs there too is the same story. */
			if (turn && (leak->target == HEAPSHOT_GRAPH_NONE ||
				     (leak->holder != HEAPSHOT_GRAPH_NONE &&
				      leak->holder == grown->holder)))
				continue;
			chosen[n++] = leak;
		}
	return n;
}

/* Where memory has a maximum: how full it was. */
static int put_memory(const struct leaks *leaks)
{
	struct linear_memory memory;
	struct counters counters;
	char text[256];

	if (!linear_memory_is_there(leaks->recording))
		return CLI_OK;
	if (!counters_read(leaks->recording->reader, UINT64_MAX, &counters))
		return cli_no_memory();
	if (linear_memory_at(&counters, leaks->recording->snapshot, &memory))
		puts(linear_memory_text(&memory, text));
	counters_free(&counters);
	return CLI_OK;
}

int leaks_show_overview(const struct leaks *leaks)
{
	const struct leak *chosen[SUSPECTS_MAX] = {NULL};
	size_t n = choose(leaks, chosen), i;
	char numbers[2][TEXT_NUMBER_BYTES], *path;
	int status;

	recording_print_title(leaks->recording);
	status = put_memory(leaks);
	if (status != CLI_OK)
		return status;
	printf("%s objects live, %s bytes; ", text_number(numbers[0], leaks->live_objects),
	       text_number(numbers[1], leaks->live_bytes));
	put_growth(leaks);
	puts(n == 0 ? "No suspects: nothing holds many objects." : "Suspects:");
	for (i = 0; i < n; i++) {
		printf("%zu. ", i + 1);
		put_cut(chosen[i]->text);
		path = leaks_path_text(leaks, chosen[i]);
		if (path == NULL)
			return cli_no_memory();
		if (*path != '\0')
			fputs("\n   ", stdout);
		put_cut(path);
		putchar('\n');
		free(path);
	}
	puts("Next:");
	if (n > 0)
		put_command(leaks, "path", leak_type(chosen[0]), "what holds them");
	put_command(leaks, "leaks", NULL, "all suspects, and what is wasted");
	if (n == 0)
		put_command(leaks, "retained", NULL, "what takes the memory");
	return CLI_OK;
}
