/* SPDX-License-Identifier: MIT */
/*
 * JSON on stdout or another stream, written as it comes.  Commas and colons are
 * put by the writer; the caller opens, names and closes.
 */
#ifndef HEAPSHOT_CLI_JSON_H
#define HEAPSHOT_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 32

struct json {
	FILE *out;    /* NULL: standard output */
	bool is_html; /* it is to stand in a page: what could end it there is escaped */
	unsigned depth;
	bool has_items[JSON_DEPTH_MAX + 1];
	bool is_named;                         /* a key was written, its value comes */
	bool is_row_array[JSON_DEPTH_MAX + 1]; /* its items stand on lines of their own */
};

void json_begin(struct json *json, char bracket); /* '{' or '[' */
void json_begin_rows(struct json *json);          /* '[', an item a line */
void json_end(struct json *json, char bracket);   /* '}' or ']' */
void json_key(struct json *json, const char *key);
void json_text(struct json *json, const char *text); /* NULL: null */
void json_text_bytes(struct json *json, const char *text, size_t bytes);
void json_unsigned(struct json *json, uint64_t number);
void json_signed(struct json *json, int64_t number);
void json_double(struct json *json, double number);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
/* A whole value that was written before, with is_html if it has to be. */
void json_written(struct json *json, const char *text, size_t bytes);
/* A newline behind a whole value. */
void json_line(struct json *json);

/* Key and value together. */
void json_put_text(struct json *json, const char *key, const char *text);
void json_put_unsigned(struct json *json, const char *key, uint64_t number);
void json_put_bool(struct json *json, const char *key, bool value);
/* The number, or null where it is not known. */
void json_put_known(struct json *json, const char *key, bool is_known, uint64_t number);

#endif
