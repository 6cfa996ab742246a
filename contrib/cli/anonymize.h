/* SPDX-License-Identifier: MIT */
/*
 * What the files of heapshot anonymize share: the names that were given, which
 * names are everybody's, and the rules for the fields of records.
 */
#ifndef HEAPSHOT_CLI_ANONYMIZE_H
#define HEAPSHOT_CLI_ANONYMIZE_H

#include <protobuf-c/protobuf-c.h>

#include "contrib/cli/recording.h"
#include "schema/columns.h"

/* Lists, each with NULL at its end. */
extern const char *const anonymize_words[],
	*const anonymize_assemblies[], *const anonymize_keywords[], *const anonymize_tails[];

/* ---- What is written ---- */

/* Bytes with an end; what passes it is left out and noted. */
struct anonymize_out {
	uint8_t *data;
	size_t size, room;
	bool is_over;
};

void anonymize_add(struct anonymize_out *out, const void *data, size_t size);
void anonymize_add_varint(struct anonymize_out *out, uint64_t value);

/* ---- Names ---- */

/* A set of hashes with a number each. */
struct anonymize_table {
	struct anonymize_entry {
		uint64_t hash;
		uint32_t number;
		bool is_used;
	} * entries;
	size_t n, room;
};

struct anonymize_names {
	struct anonymize_table given;   /* names that were replaced, with their numbers */
	struct anonymize_table numbers; /* the same for numbers that are hashes */
	struct anonymize_table known;   /* paths of types that are everybody's: kept */
	struct anonymize_table words;   /* texts of the runtime and the recorder: kept */
	struct anonymize_table assemblies;
	size_t memory_bytes, memory_limit; /* of all tables */
	bool is_full;                      /* the limit was passed; all that follows is void */
	uint8_t key[16];                   /* for contents of strings */
};

/* LIMIT is a number of bytes.  False where the system has no memory or no random numbers. */
bool anonymize_names_init(struct anonymize_names *names, size_t limit_bytes);
void anonymize_names_free(struct anonymize_names *names);

/* Takes what is everybody's from the types of READER, whose names are loaded. */
void anonymize_names_learn(struct anonymize_names *names, const struct heapshot_reader *reader);
/* True for an assembly that comes with the runtime. */
bool anonymize_is_framework(const struct anonymize_names *names, const char *assembly);

/* The text as one name, whatever it holds: "n17"; "" stays. */
void anonymize_whole(struct anonymize_names *names, struct hs_slice text,
		     struct anonymize_out *out);
/* As it is if it is a word of the runtime's or the recorder's, else as one name. */
void anonymize_word(struct anonymize_names *names, struct hs_slice text, struct anonymize_out *out);
/*
 * A name of a type, method, namespace or a signature: each identifier in it by itself,
 * and all between them as it is.  With WITH_MEMBER what stands behind a known type, or
 * behind a colon, is kept.
 */
void anonymize_path(struct anonymize_names *names, struct hs_slice text, bool with_member,
		    struct anonymize_out *out);
/* The number of a hash, from 1. */
uint64_t anonymize_number(struct anonymize_names *names, uint64_t hash);
/* Letters in place of UTF-16LE, of the same length; the same for the same text. */
void anonymize_content(struct anonymize_names *names, struct hs_slice text, uint64_t length,
		       struct anonymize_out *out);

/* ---- Fields ---- */

/* What becomes of a field. */
enum anonymize_rule {
	ANONYMIZE_UNDECIDED, /* text that no rule knows: left out */
	ANONYMIZE_KEEP,      /* as it is; all that is neither text nor listed */
	ANONYMIZE_DROP,
	ANONYMIZE_WORD,
	ANONYMIZE_WHOLE,
	ANONYMIZE_PATH,
	ANONYMIZE_FIELD,    /* of TypeLayout */
	ANONYMIZE_ASSEMBLY, /* of Image */
	ANONYMIZE_FILE,     /* the last part of a path */
	ANONYMIZE_IMAGE_FILE,
	ANONYMIZE_MVID,
	ANONYMIZE_METHOD,  /* of JitMethod */
	ANONYMIZE_ROOT,    /* of RootSource */
	ANONYMIZE_PRODUCT, /* "Mono 6.8.0.105 (...)": name and version */
	ANONYMIZE_OPTIONS, /* without paths */
	ANONYMIZE_NUMBER,  /* a hash */
	ANONYMIZE_CONTENT, /* of a string */
	ANONYMIZE_ZEROS,   /* bytes of code: as many zeros */
};

/* The rule for FIELD of messages TYPE (descriptors of heapshot_named.pb-c.h). */
enum anonymize_rule anonymize_rule_of(const ProtobufCMessageDescriptor *type,
				      const ProtobufCFieldDescriptor *field);
/* The rows of the table, to be tested; false behind the last. */
bool anonymize_rule_row(size_t i, const ProtobufCMessageDescriptor **type, const char **field);

struct anonymize {
	struct anonymize_names names;
	const struct heapshot_reader *reader; /* its names are loaded */
	bool is_all;                          /* nothing is everybody's */
	uint64_t n_unknown_fields, n_undecided_fields;
};

/*
 * Writes MESSAGE of TYPE without what would tell names.  False when it cannot be
 * decoded; OUT may be over its end then or else.
 */
bool anonymize_message(struct anonymize *anonymize, const ProtobufCMessageDescriptor *type,
		       struct hs_slice message, struct anonymize_out *out);

#endif
