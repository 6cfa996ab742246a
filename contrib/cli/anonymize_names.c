/* SPDX-License-Identifier: MIT */
/*
 * Names and what is written in place of them.  Names are numbered as they are met;
 * only their hashes are kept.  A name is replaced where it is not part of a path that
 * is known to be everybody's, so that what is unknown is never shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "contrib/cli/anonymize.h"
#include "schema/tag.h"
#include "schema/varint.h"

#define HASH_SEED   14695981039346656037u
#define HASH_PRIME  1099511628211u
#define DEPTH_MAX   64
#define LETTERS_MAX 14 /* of 20: 60 bits */

void anonymize_add(struct anonymize_out *out, const void *data, size_t size)
{
	if (size > out->room - out->size) {
		out->is_over = true;
		return;
	}
	memcpy(out->data + out->size, data, size);
	out->size += size;
}

void anonymize_add_varint(struct anonymize_out *out, uint64_t value)
{
	uint8_t bytes[HS_VARINT_MAX];

	anonymize_add(out, bytes, (size_t)(hs_varint_put(bytes, value) - bytes));
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size-- > 0)
		hash = (hash ^ *at++) * HASH_PRIME;
	return hash;
}

static uint64_t hash_text(const char *text)
{
	return hash_bytes(HASH_SEED, text, strlen(text));
}

static uint64_t hash_slice(struct hs_slice text)
{
	return hash_bytes(HASH_SEED, text.data, (size_t)(text.end - text.data));
}

/* ---- Tables ---- */

static struct anonymize_entry *place(const struct anonymize_table *table, uint64_t hash)
{
	size_t i = (size_t)(hash * 0x9E3779B97F4A7C15u >> 20);

	for (;; i++) {
		struct anonymize_entry *entry = &table->entries[i & (table->room - 1)];

		if (!entry->is_used || entry->hash == hash)
			return entry;
	}
}

static bool has(const struct anonymize_table *table, uint64_t hash)
{
	return table->room != 0 && place(table, hash)->is_used;
}

static bool grow(struct anonymize_names *names, struct anonymize_table *table)
{
	struct anonymize_table more = {.n = table->n, .room = table->room ? table->room * 2 : 256};
	const size_t bytes = (more.room - table->room) * sizeof(*more.entries);
	size_t i;

	if (bytes > names->memory_limit - names->memory_bytes)
		return false;
	more.entries = calloc(more.room, sizeof(*more.entries));
	if (more.entries == NULL)
		return false;
	for (i = 0; i < table->room; i++)
		if (table->entries[i].is_used)
			*place(&more, table->entries[i].hash) = table->entries[i];
	free(table->entries);
	*table = more;
	names->memory_bytes += bytes;
	return true;
}

/* The number of HASH in TABLE, a new one if it is new. */
static uint32_t number_of(struct anonymize_names *names, struct anonymize_table *table,
			  uint64_t hash)
{
	struct anonymize_entry *entry;

	if ((table->n + 1) * 4 > table->room * 3 && !grow(names, table)) {
		names->is_full = true;
		return 0;
	}
	entry = place(table, hash);
	if (!entry->is_used)
		*entry = (struct anonymize_entry){hash, (uint32_t)++table->n, true};
	return entry->number;
}

static void add_list(struct anonymize_names *names, struct anonymize_table *table,
		     const char *const *list)
{
	for (; *list != NULL; list++)
		number_of(names, table, hash_text(*list));
}

bool anonymize_names_init(struct anonymize_names *names, size_t limit_bytes)
{
	*names = (struct anonymize_names){.memory_limit = limit_bytes};
	add_list(names, &names->words, anonymize_words);
	add_list(names, &names->assemblies, anonymize_assemblies);
	return !names->is_full &&
	       getrandom(names->key, sizeof(names->key), 0) == (ssize_t)sizeof(names->key);
}

void anonymize_names_free(struct anonymize_names *names)
{
	free(names->given.entries);
	free(names->numbers.entries);
	free(names->known.entries);
	free(names->words.entries);
	free(names->assemblies.entries);
}

bool anonymize_is_framework(const struct anonymize_names *names, const char *assembly)
{
	return has(&names->assemblies, hash_text(assembly));
}

/* ---- Single names ---- */

static void put_name(struct anonymize_names *names, struct hs_slice text, struct anonymize_out *out)
{
	char name[16];

	anonymize_add(out, name,
		      (size_t)snprintf(name, sizeof(name), "n%u",
				       number_of(names, &names->given, hash_slice(text))));
}

static void put_as_is(struct hs_slice text, struct anonymize_out *out)
{
	anonymize_add(out, text.data, (size_t)(text.end - text.data));
}

void anonymize_whole(struct anonymize_names *names, struct hs_slice text, struct anonymize_out *out)
{
	if (text.data != text.end)
		put_name(names, text, out);
}

void anonymize_word(struct anonymize_names *names, struct hs_slice text, struct anonymize_out *out)
{
	if (has(&names->words, hash_slice(text)))
		put_as_is(text, out);
	else
		anonymize_whole(names, text, out);
}

uint64_t anonymize_number(struct anonymize_names *names, uint64_t hash)
{
	return number_of(names, &names->numbers, hash);
}

/* ---- Paths ---- */

/* What is between identifiers. */
static bool is_between(uint8_t c)
{
	return c < 0x80 && c != 0 && strchr("./+:<>[](),&* !?`", c) != NULL;
}

/* Behind these a component begins, and a < is part of it. */
static bool is_before(uint8_t c)
{
	return c < 0x80 && c != 0 && strchr("./+:<[(, &*", c) != NULL;
}

static bool is_in(const char *const *list, struct hs_slice text)
{
	const size_t size = (size_t)(text.end - text.data);

	for (; *list != NULL; list++)
		if (strlen(*list) == size && memcmp(*list, text.data, size) == 0)
			return true;
	return false;
}

/* The end of the component that begins at AT: "Name", "<Name>c__Iterator0", "<>c". */
static const uint8_t *component_end(const uint8_t *at, const uint8_t *end)
{
	unsigned depth = 0;

	for (; at < end && *at == '<'; depth = 0)
		for (; at < end; at++) {
			depth += *at == '<';
			depth -= *at == '>';
			if (depth == 0) {
				at++;
				break;
			}
		}
	while (at < end && !is_between(*at))
		at++;
	return at;
}

/* What a compiler puts behind <>: one of a list, then digits (of either base) and _. */
static bool is_tail(const uint8_t *at, const uint8_t *end)
{
	const char *const *tail;

	for (tail = anonymize_tails; *tail != NULL; tail++) {
		const size_t size = strlen(*tail);
		const uint8_t *rest = at + size;

		if ((size_t)(end - at) < size || memcmp(at, *tail, size) != 0)
			continue;
		/* "c" and digits would be "c" and any name of some letters. */
		if (size > 1)
			while (rest < end && ((*rest >= '0' && *rest <= '9') || *rest == '_' ||
					      (*rest >= 'A' && *rest <= 'F')))
				rest++;
		if (rest == end)
			return true;
	}
	return false;
}

/* A component that is not known. */
static void put_component(struct anonymize_names *names, struct hs_slice text,
			  struct anonymize_out *out)
{
	static const char *const inner[] = {"Module", "PrivateImplementationDetails", NULL};
	static const char *const accessors[] = {"get_", "set_", "add_", "remove_", NULL};
	const char *const *accessor;
	const uint8_t *at = text.data;

	while (at < text.end && *at == '<') {
		/* To the bracket that closes this one. */
		const uint8_t *close = at;
		unsigned depth = 0;

		for (; close < text.end; close++) {
			depth += *close == '<';
			depth -= *close == '>';
			if (depth == 0)
				break;
		}
		anonymize_add(out, "<", 1);
		if (is_in(inner, (struct hs_slice){at + 1, close}))
			put_as_is((struct hs_slice){at + 1, close}, out);
		else if (close > at + 1)
			anonymize_whole(names, (struct hs_slice){at + 1, close}, out);
		if (close < text.end)
			anonymize_add(out, ">", 1);
		at = close < text.end ? close + 1 : close;
	}
	if (at == text.end)
		return;
	if (at > text.data && is_tail(at, text.end)) {
		put_as_is((struct hs_slice){at, text.end}, out);
		return;
	}
	for (accessor = accessors; *accessor != NULL; accessor++) {
		const size_t size = strlen(*accessor);

		if ((size_t)(text.end - at) > size && memcmp(at, *accessor, size) == 0) {
			anonymize_add(out, *accessor, size);
			at += size;
			break;
		}
	}
	anonymize_whole(names, (struct hs_slice){at, text.end}, out);
}

/* Where a name has come to, at one depth of its brackets. */
struct level {
	uint64_t path;  /* hash of the components so far */
	bool is_known;  /* they are everybody's, as far as they go */
	bool is_start;  /* there is none yet */
	bool is_member; /* what comes is a member */
};

static const struct level fresh = {.path = HASH_SEED, .is_known = true, .is_start = true};

static uint64_t extend(uint64_t path, struct hs_slice component)
{
	return hash_bytes(
		hash_bytes(path, component.data, (size_t)(component.end - component.data)), "\n",
		1);
}

static void take_component(struct anonymize_names *names, struct level *level,
			   struct hs_slice component, bool may_keep_member,
			   struct anonymize_out *out)
{
	static const char *const constructors[] = {"ctor", "cctor", NULL};
	const uint64_t path = extend(level->path, component);
	const bool is_type = level->is_known && !level->is_start;
	/* "T.Node:.ctor" */
	const bool is_constructor =
		level->is_member && level->is_start && is_in(constructors, component);

	if (level->is_known && has(&names->known, path)) {
		put_as_is(component, out);
	} else if (level->is_start && is_in(anonymize_keywords, component)) {
		put_as_is(component, out);
		level->is_known = false;
	} else if (is_constructor || (may_keep_member && (is_type || level->is_member))) {
		put_as_is(component, out);
		level->is_known = false;
	} else {
		put_component(names, component, out);
		level->is_known = false;
	}
	level->path = path;
	level->is_start = false;
}

static void put_path(struct anonymize_names *names, struct hs_slice text, bool with_member,
		     struct anonymize_out *out)
{
	struct level levels[DEPTH_MAX];
	const uint8_t *at = text.data, *begin = at;
	unsigned depth = 0;

	levels[0] = fresh;
	while (at < text.end) {
		struct level *level = &levels[depth < DEPTH_MAX ? depth : DEPTH_MAX - 1];
		const bool is_first = at == begin || is_before(at[-1]);

		if (!is_between(*at) || (*at == '<' && is_first)) {
			const uint8_t *end = component_end(at, text.end);

			take_component(names, level, (struct hs_slice){at, end},
				       with_member && depth == 0, out);
			at = end;
			continue;
		}
		anonymize_add(out, at, 1);
		switch (*at++) {
		case '<':
		case '[':
		case '(':
			depth++;
			if (depth < DEPTH_MAX)
				levels[depth] = fresh;
			break;
		case '>':
		case ']':
		case ')':
			depth -= depth > 0;
			break;
		case ':':
			*level = fresh;
			level->is_member = true;
			break;
		case ',':
		case ' ':
			*level = fresh;
			break;
		case '!':
		case '`': {
			const uint8_t *end = at;

			while (end < text.end && *end >= '0' && *end <= '9')
				end++;
			put_as_is((struct hs_slice){at, end}, out);
			at = end;
			break;
		}
		default:
			break;
		}
	}
}

void anonymize_path(struct anonymize_names *names, struct hs_slice text, bool with_member,
		    struct anonymize_out *out)
{
	const size_t start = out->size;
	const bool was_over = out->is_over;

	put_path(names, text, with_member, out);
	if (!out->is_over && out->size - start <= HS_NAME_MAX)
		return;
	/* It became longer than a text may be. */
	out->size = start;
	out->is_over = was_over;
	anonymize_whole(names, text, out);
}

/* The components of a name of everybody's, all prefixes of them. */
static void learn_path(struct anonymize_names *names, const char *name)
{
	const uint8_t *at = (const uint8_t *)name, *end = at + strlen(name);
	uint64_t path = HASH_SEED;

	while (at < end) {
		const uint8_t *stop = component_end(at, end);

		path = extend(path, (struct hs_slice){at, stop});
		number_of(names, &names->known, path);
		if (stop == end || strchr("./+", *stop) == NULL)
			return;
		at = stop + 1;
	}
}

void anonymize_names_learn(struct anonymize_names *names, const struct heapshot_reader *reader)
{
	/* Type parameters have no name space, and are called as the program's own may be. */
	static const char *const roots[] = {"System", "Microsoft", "Mono", NULL};
	const struct heapshot_type *types;
	size_t n, i;

	types = heapshot_reader_types(reader, &n);
	for (i = 0; i < n; i++) {
		const char *name = types[i].name;
		const struct hs_slice root = {(const uint8_t *)name,
					      (const uint8_t *)name + strcspn(name, ".<[&*,")};

		if (is_in(roots, root) && *root.end == '.' &&
		    anonymize_is_framework(names, types[i].assembly))
			learn_path(names, name);
	}
}

/* ---- Contents of strings ---- */

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static uint64_t get_u64(const uint8_t *in, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)in[i] << (8 * i);
	return value;
}

/* SipHash-2-4: who does not have the key cannot try texts. */
static uint64_t keyed_hash(const uint8_t key[16], const uint8_t *data, size_t size)
{
	const uint64_t k0 = get_u64(key, 8), k1 = get_u64(key + 8, 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
			 k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u};
	size_t at;
	int i;

	for (at = 0;; at += 8) {
		const size_t n = size - at < 8 ? size - at : 8;
		const uint64_t word = get_u64(data + at, n) | (n < 8 ? (uint64_t)size << 56 : 0);

		v[3] ^= word;
		sip_round(v);
		sip_round(v);
		v[0] ^= word;
		if (n < 8)
			break;
	}
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void anonymize_content(struct anonymize_names *names, struct hs_slice text, uint64_t length,
		       struct anonymize_out *out)
{
	const size_t size = (size_t)(text.end - text.data);
	uint64_t hash = keyed_hash(names->key, text.data, size) ^ length;
	/* Without vowels they are no words. */
	static const char letters[] = "BCDFGHJKLMNPQRSTVWXZ";
	size_t i;

	for (i = 0; i < size; i += 2) {
		uint8_t unit[2] = {'X', 0};

		if (i / 2 < LETTERS_MAX) {
			unit[0] = (uint8_t)letters[hash % 20];
			hash /= 20;
		}
		anonymize_add(out, unit, size - i < 2 ? 1 : 2);
	}
}
