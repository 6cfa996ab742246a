/* SPDX-License-Identifier: MIT */
/*
 * Rules and names of heapshot anonymize: every text of the schema has a rule, what
 * has none is left out, and names keep their structure.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "contrib/cli/anonymize.h"
#include "schema/heapshot_named.pb-c.h"
#include "tests/unit/leak_check.h"

TestSuite(anonymize, .fini = leak_check);

static struct hs_slice slice(const char *text)
{
	return (struct hs_slice){(const uint8_t *)text, (const uint8_t *)text + strlen(text)};
}

/* Looks at all fields that carry text, in MESSAGE and what it contains. */
static unsigned walk(const ProtobufCMessageDescriptor *message)
{
	unsigned n = 0, i;

	for (i = 0; i < message->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->fields[i];

		if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
			n += walk(field->descriptor);
		} else if (field->type == PROTOBUF_C_TYPE_STRING ||
			   field->type == PROTOBUF_C_TYPE_BYTES) {
			const enum anonymize_rule rule = anonymize_rule_of(message, field);

			n++;
			cr_expect(rule != ANONYMIZE_UNDECIDED && rule != ANONYMIZE_KEEP,
				  "%s.%s carries text: what becomes of it stands nowhere in "
				  "contrib/cli/anonymize_rules.c",
				  message->short_name, field->name);
		}
	}
	return n;
}

Test(anonymize, every_text_has_a_rule)
{
	cr_assert_gt(walk(&heapshot_named__stream__descriptor), 35, "the schema was walked");
}

Test(anonymize, every_rule_has_a_field)
{
	const ProtobufCMessageDescriptor *message;
	const char *field;
	size_t i;

	for (i = 0; anonymize_rule_row(i, &message, &field); i++)
		cr_expect_not_null(protobuf_c_message_descriptor_get_field_by_name(message, field),
				   "%s.%s", message->short_name, field);
	cr_assert_gt(i, 35);
}

static struct anonymize make(void)
{
	struct anonymize anonymize = {.is_all = true};

	cr_assert(anonymize_names_init(&anonymize.names, 1 << 20));
	anonymize.reader = heapshot_reader_new(NULL);
	return anonymize;
}

static void discard(struct anonymize *anonymize)
{
	anonymize_names_free(&anonymize->names);
	heapshot_reader_free((struct heapshot_reader *)(uintptr_t)anonymize->reader);
}

/* A message of a later schema, with one field that nobody decided about. */
Test(anonymize, text_without_a_rule_is_left_out)
{
	static const ProtobufCFieldDescriptor fields[] = {
		{.name = "secret", .id = 1, .type = PROTOBUF_C_TYPE_STRING},
		{.name = "number", .id = 2, .type = PROTOBUF_C_TYPE_UINT32},
		{.name = "bytes", .id = 3, .type = PROTOBUF_C_TYPE_BYTES},
	};
	static const ProtobufCIntRange ranges[] = {{1, 0}, {0, 3}};
	static const ProtobufCMessageDescriptor message = {
		.magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
		.name = "Later",
		.short_name = "Later",
		.n_fields = 3,
		.fields = fields,
		.n_field_ranges = 1,
		.field_ranges = ranges,
	};
	static const uint8_t in[] = {0x0a, 3, 'a', 'b', 'c', 0x10, 7, 0x1a, 2, 'd', 'e'};
	uint8_t out[64];
	struct anonymize_out made = {.data = out, .room = sizeof(out)};
	struct anonymize anonymize = make();

	cr_assert(anonymize_message(&anonymize, &message, (struct hs_slice){in, in + sizeof(in)},
				    &made));
	cr_assert_eq(made.size, 2);
	cr_assert_eq(memcmp(out, in + 5, 2), 0);
	cr_assert_eq(anonymize.n_undecided_fields, 2);
	discard(&anonymize);
}

/* Text where a number is due, unknown fields, and what is no message. */
Test(anonymize, nothing_hides)
{
	static const uint8_t hidden[] = {0x08, 5, 0x12, 2, 'a', 'b', 0x7a, 1, 'c', 0x0a, 1, 'd'};
	static const uint8_t cut[] = {0x08, 5, 0x1a, 9, 'a'};
	uint8_t out[64];
	struct anonymize_out made = {.data = out, .room = sizeof(out)};
	struct anonymize anonymize = make();

	/* Type: id 5; class_address, token beyond the schema's fields, and id again as text. */
	cr_assert(anonymize_message(&anonymize, &heapshot_named__type__descriptor,
				    (struct hs_slice){hidden, hidden + sizeof(hidden)}, &made));
	cr_assert_eq(made.size, 2);
	cr_assert_eq(anonymize.n_unknown_fields, 3);
	cr_assert_not(anonymize_message(&anonymize, &heapshot_named__type__descriptor,
					(struct hs_slice){cut, cut + sizeof(cut)}, &made));
	discard(&anonymize);
}

/* What NAME becomes after the names before it; in TEXT. */
static const char *become(struct anonymize *anonymize, const char *name, bool with_member)
{
	static char text[4096];
	struct anonymize_out out = {.data = (uint8_t *)text, .room = sizeof(text) - 1};

	anonymize_path(&anonymize->names, slice(name), with_member, &out);
	cr_assert_not(out.is_over);
	text[out.size] = '\0';
	return text;
}

Test(anonymize, names_keep_their_structure)
{
	static const char *const cases[][2] = {
		{"T.Node", "n1.n2"},
		{"T.Node[]", "n1.n2[]"},
		{"T.Node[,][]", "n1.n2[,][]"},
		{"T.Node*", "n1.n2*"},
		{"T.Outer.Node<T.Node,T.Outer[]>", "n1.n3.n2<n1.n2,n1.n3[]>"},
		{"T.Outer`2/Node<Key, Value>:Add<Node>", "n1.n3`2/n2<n4, n5>:n6<n2>"},
		{"T.Node:.ctor", "n1.n2:.ctor"},
		{"T.Node:.cctor", "n1.n2:.cctor"},
		{"T.Node:get_Key", "n1.n2:get_n4"},
		{"T.Node.<Add>c__Iterator0", "n1.n2.<n6>c__Iterator0"},
		{"T.Node.<>c", "n1.n2.<>c"},
		{"T.Node.<>cSecret", "n1.n2.<>n7"},
		{"T.Node.<<Add>b__0>d__1", "n1.n2.<n8>d__1"},
		{"<Key>k__BackingField", "<n4>k__BackingField"},
		{"<>f__AnonymousType0<T.Node,int>", "<>f__AnonymousType0<n1.n2,int>"},
		{"<Module>", "<Module>"},
		{"void (int,T.Node&,string[])", "void (int,n1.n2&,string[])"},
		{"T.Node<!0>", "n1.n2<!0>"},
		{"", ""},
		{".", "."},
		{"<", "<"},
		{">>]],,", ">>]],,"},
		{"T.Node<", "n1.n2<"},
		{"\xc3\xa9t\xc3\xa9.Node", "n9.n2"},
	};
	struct anonymize anonymize = make();
	char deep[1000];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(become(&anonymize, cases[i][0], false), cases[i][1], "%s: %s",
				 cases[i][0], become(&anonymize, cases[i][0], false));
	/* Brackets without end. */
	for (i = 0; i + 2 < sizeof(deep); i += 2)
		memcpy(deep + i, "T<", 3);
	cr_expect_eq(strncmp(become(&anonymize, deep, true), "n1<n1<", 6), 0);
	/* A member of what is everybody's stays, if it is said to be. */
	cr_expect_str_eq(become(&anonymize, "T.Node:Add", true), "n1.n2:Add");
	cr_expect_str_eq(become(&anonymize, "T.Node:Add<T.Node>", true), "n1.n2:Add<n1.n2>");
	discard(&anonymize);
}

/* A text that would pass the limit of texts is one name. */
Test(anonymize, long_names)
{
	enum { SIZE = 60000 };
	static char in[SIZE + 1], out[8 * SIZE];
	struct anonymize_out made = {.data = (uint8_t *)out, .room = sizeof(out)};
	struct anonymize anonymize = make();
	size_t i;

	for (i = 0; i < SIZE; i += 2)
		memcpy(in + i, "x.", 2);
	anonymize_path(&anonymize.names, slice(in), false, &made);
	cr_assert_lt(made.size, 16);
	discard(&anonymize);
}

static void content(struct anonymize *anonymize, const char *text, char out[64])
{
	struct anonymize_out made = {.data = (uint8_t *)out, .room = 64};
	const size_t size = 2 * strlen(text);
	uint8_t in[64];
	size_t i;

	for (i = 0; i < size; i++)
		in[i] = i % 2 ? 0 : (uint8_t)text[i / 2];
	memset(out, 0, 64);
	anonymize_content(&anonymize->names, (struct hs_slice){in, in + size}, strlen(text), &made);
	cr_assert_eq(made.size, size);
}

Test(anonymize, contents_of_strings)
{
	struct anonymize anonymize = make(), other = make();
	char a[64], b[64];

	content(&anonymize, "password", a);
	content(&anonymize, "password", b);
	cr_expect_eq(memcmp(a, b, 64), 0, "the same text gives the same letters");
	content(&anonymize, "passwort", b);
	cr_expect_neq(memcmp(a, b, 64), 0);
	content(&other, "password", b);
	cr_expect_neq(memcmp(a, b, 64), 0, "in another file it gives others");
	discard(&anonymize);
	discard(&other);
}

Test(anonymize, memory_is_bounded)
{
	struct anonymize_names names;
	uint8_t text[16];
	unsigned i;

	cr_assert(anonymize_names_init(&names, 64 << 10));
	for (i = 0; i < 100000; i++) {
		struct anonymize_out out = {.data = text, .room = sizeof(text)};
		char name[16];

		snprintf(name, sizeof(name), "name%u", i);
		anonymize_whole(&names, slice(name), &out);
	}
	cr_assert(names.is_full);
	cr_assert_leq(names.memory_bytes, 64 << 10);
	anonymize_names_free(&names);
}
