/* SPDX-License-Identifier: MIT */
/*
 * What becomes of each field.  All fields that carry text stand in the table; one
 * that a later schema adds is left out until somebody decides about it, and a test
 * asks for that decision.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/anonymize.h"
#include "profiler/options.h"
#include "schema/heapshot_named.pb-c.h"
#include "schema/wire.h"

struct row {
	const ProtobufCMessageDescriptor *type;
	const char *field;
	enum anonymize_rule rule;
};

#define ROW(message, field, rule)                                                                  \
	{                                                                                          \
		&heapshot_named__##message##__descriptor, field, ANONYMIZE_##rule                  \
	}

static const struct row rows[] = {
	ROW(type, "name", PATH),
	ROW(type, "name_space", PATH),
	ROW(type, "name_hash", NUMBER),
	ROW(field, "name", FIELD),
	ROW(string_content, "text", CONTENT),
	ROW(handle_table, "name", WORD),
	ROW(handle_table, "note", WORD),
	ROW(handle_table, "text", WORD),
	ROW(jit_method, "name", METHOD),
	ROW(jit_method, "shared_name", METHOD),
	ROW(jit_method, "signature", PATH),
	ROW(jit_method, "wrapper", WORD),
	ROW(jit_method, "name_hash", NUMBER),
	ROW(jit_method, "il_hash", NUMBER),
	ROW(method_code, "data", ZEROS),
	ROW(code_buffer, "name", WORD),
	ROW(root_source, "kind_text", WORD),
	ROW(root_source, "name", ROOT),
	ROW(root_source, "handle_type", WORD),
	ROW(root_range, "name", WORD),
	ROW(thread, "name", WORD),
	ROW(image, "name", ASSEMBLY),
	ROW(image, "file", IMAGE_FILE),
	ROW(image, "mvid", MVID),
	ROW(domain, "name", FILE),
	ROW(counter, "name", WORD),
	ROW(counter, "section", WORD),
	ROW(counter, "unit", WORD),
	ROW(counter, "variance", WORD),
	ROW(counter_value, "string_value", WHOLE),
	ROW(marker, "label", WHOLE),
	ROW(snapshot_begin, "label", WHOLE),
	ROW(snapshot_begin, "trigger", WORD),
	ROW(snapshot_end, "label", WHOLE),
	ROW(snapshot_end, "trigger", WORD),
	ROW(snapshot_end, "note", WORD),
	ROW(loss, "reason", WORD),
	ROW(end, "note", WORD),
	ROW(file_header, "writer", PRODUCT),
	ROW(file_header, "runtime", PRODUCT),
	ROW(file_header, "architecture", PRODUCT),
	ROW(file_header, "system", PRODUCT),
	ROW(file_header, "pid", DROP),
	ROW(file_header, "wall_start_unix_ns", DROP),
	ROW(file_header, "options", OPTIONS),
	ROW(file_header, "host_name", WHOLE),
	ROW(file_header, "command_line", WHOLE),
};

bool anonymize_rule_row(size_t i, const ProtobufCMessageDescriptor **type, const char **field)
{
	if (i >= sizeof(rows) / sizeof(*rows))
		return false;
	*type = rows[i].type;
	*field = rows[i].field;
	return true;
}

enum anonymize_rule anonymize_rule_of(const ProtobufCMessageDescriptor *type,
				      const ProtobufCFieldDescriptor *field)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].type == type && strcmp(rows[i].field, field->name) == 0)
			return rows[i].rule;
	return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES
		       ? ANONYMIZE_UNDECIDED
		       : ANONYMIZE_KEEP;
}

/* ---- What a rule asks of the message around ---- */

/* A message that is being written, and the one around it. */
struct scope {
	const struct scope *outer;
	struct hs_slice message;
};

/* Number NUMBER of the message, 0 where it is not set. */
static uint64_t get_number(struct hs_slice message, uint32_t number)
{
	struct hs_field field;
	uint64_t value = 0;

	while (hs_field_next(&message, &field) > 0)
		if (field.number == number && field.wire == HS_WIRE_VARINT)
			value = field.value;
	return value;
}

static bool is_set(struct hs_slice message, uint32_t number)
{
	struct hs_field field;

	while (hs_field_next(&message, &field) > 0)
		if (field.number == number && field.bytes.data != field.bytes.end)
			return true;
	return false;
}

static bool is_framework_image(const struct anonymize *anonymize, uint64_t id)
{
	const struct heapshot_image *image = heapshot_reader_image(anonymize->reader, (uint32_t)id);

	return image != NULL && !anonymize->is_all &&
	       anonymize_is_framework(&anonymize->names, image->name);
}

static bool is_framework_type(const struct anonymize *anonymize, uint64_t id)
{
	const struct heapshot_type *type = heapshot_reader_type(anonymize->reader, (uint32_t)id);

	return type != NULL && is_framework_image(anonymize, type->image);
}

/* Whether the method is one of a framework's own: none that was made at run time. */
static bool is_framework_method(const struct anonymize *anonymize, struct hs_slice method)
{
	return is_framework_image(anonymize, get_number(method, 5)) && !is_set(method, 7) &&
	       get_number(method, 8) == 0;
}

/* ---- Rules ---- */

static bool is_text(struct hs_slice text, const char *is)
{
	const size_t size = strlen(is);

	return (size_t)(text.end - text.data) == size && memcmp(text.data, is, size) == 0;
}

/* The last part of a path, and of that the ending of an assembly. */
static void put_file(struct anonymize *anonymize, struct hs_slice text, struct anonymize_out *out)
{
	static const char *const endings[] = {".dll", ".exe"};
	struct hs_slice ending = {text.end, text.end};
	const uint8_t *at;
	size_t i;

	for (at = text.data; at < text.end; at++)
		if (*at == '/' || *at == '\\')
			text.data = at + 1;
	for (i = 0; i < 2; i++)
		if (text.end - text.data > 4 &&
		    is_text((struct hs_slice){ending.end - 4, ending.end}, endings[i]))
			ending.data = ending.end - 4;
	text.end = ending.data;
	anonymize_path(&anonymize->names, text, false, out);
	anonymize_add(out, ending.data, (size_t)(ending.end - ending.data));
}

static void put_assembly(struct anonymize *anonymize, uint64_t id, struct hs_slice text,
			 struct anonymize_out *out)
{
	/* It may have had another name before. */
	if (is_framework_image(anonymize, id) &&
	    is_text(text, heapshot_reader_image(anonymize->reader, (uint32_t)id)->name))
		anonymize_add(out, text.data, (size_t)(text.end - text.data));
	else
		anonymize_path(&anonymize->names, text, false, out);
}

/* "/usr/lib/mono/4.5/mscorlib.dll" of mscorlib is mscorlib.dll. */
static void put_image_file(struct anonymize *anonymize, uint64_t id, struct hs_slice text,
			   struct anonymize_out *out)
{
	const struct heapshot_image *image = heapshot_reader_image(anonymize->reader, (uint32_t)id);

	if (!is_framework_image(anonymize, id)) {
		put_file(anonymize, text, out);
		return;
	}
	anonymize_add(out, image->name, strlen(image->name));
	anonymize_add(out, ".dll", 4);
}

static void put_mvid(struct anonymize *anonymize, bool is_kept, struct hs_slice text,
		     struct anonymize_out *out)
{
	uint64_t hash = 14695981039346656037u;
	const uint8_t *at;
	char guid[40];

	if (is_kept && text.end - text.data <= 38) {
		anonymize_add(out, text.data, (size_t)(text.end - text.data));
		return;
	}
	for (at = text.data; at < text.end; at++)
		hash = (hash ^ *at) * 1099511628211u;
	anonymize_add(
		out, guid,
		(size_t)snprintf(guid, sizeof(guid), "00000000-0000-0000-0000-%012llX",
				 (unsigned long long)anonymize_number(&anonymize->names, hash)));
}

static bool is_number(struct hs_slice text, bool is_hexadecimal)
{
	const uint8_t *at;

	for (at = text.data; at < text.end; at++)
		if (!((*at >= '0' && *at <= '9') || (is_hexadecimal && *at >= 'a' && *at <= 'f')))
			return false;
	return text.data < text.end;
}

/* A thread's name, or what the recorder writes where it has none: "thread 0x7f12". */
static void put_thread(struct anonymize *anonymize, struct hs_slice text, struct anonymize_out *out)
{
	static const char prefix[] = "thread 0x";
	const size_t size = sizeof(prefix) - 1;

	if ((size_t)(text.end - text.data) > size && memcmp(text.data, prefix, size) == 0 &&
	    is_number((struct hs_slice){text.data + size, text.end}, true))
		anonymize_add(out, text.data, (size_t)(text.end - text.data));
	else
		anonymize_word(&anonymize->names, text, out);
}

/* "JavaScript object Customer", or "normal". */
static void put_handle(struct anonymize *anonymize, struct hs_slice text, struct anonymize_out *out)
{
	static const char prefix[] = "JavaScript";
	const size_t size = sizeof(prefix) - 1;

	if ((size_t)(text.end - text.data) < size || memcmp(text.data, prefix, size) != 0) {
		anonymize_word(&anonymize->names, text, out);
		return;
	}
	anonymize_add(out, prefix, size);
	for (text.data += size; text.data < text.end && *text.data == ' ';) {
		const uint8_t *word = text.data + 1;
		const uint8_t *end = memchr(word, ' ', (size_t)(text.end - word));

		if (end == NULL)
			end = text.end;
		anonymize_add(out, " ", 1);
		anonymize_word(&anonymize->names, (struct hs_slice){word, end}, out);
		text.data = end;
	}
}

/* As the recorder makes it of the kind of the root. */
static void put_root(struct anonymize *anonymize, struct hs_slice source, struct hs_slice text,
		     struct anonymize_out *out)
{
	static const char slot[] = " slot ";
	const uint8_t *at = text.end;

	switch (get_number(source, 1)) {
	case HEAPSHOT_NAMED__ROOT_KIND__ROOT_KIND_STATIC:
		if (get_number(source, 4) == 0)
			break;
		anonymize_path(&anonymize->names, text,
			       is_framework_type(anonymize, get_number(source, 4)), out);
		return;
	case HEAPSHOT_NAMED__ROOT_KIND__ROOT_KIND_THREAD_STATIC:
		while (at > text.data && at[-1] >= '0' && at[-1] <= '9')
			at--;
		if (at < text.end && at - text.data > (ptrdiff_t)sizeof(slot) - 1 &&
		    memcmp(at - (sizeof(slot) - 1), slot, sizeof(slot) - 1) == 0) {
			put_thread(anonymize, (struct hs_slice){text.data, at - (sizeof(slot) - 1)},
				   out);
			at -= sizeof(slot) - 1;
			anonymize_add(out, at, (size_t)(text.end - at));
			return;
		}
		break;
	case HEAPSHOT_NAMED__ROOT_KIND__ROOT_KIND_GC_HANDLE:
		put_handle(anonymize, text, out);
		return;
	default:
		break;
	}
	put_thread(anonymize, text, out);
}

/* "Mono 6.8.0.105 (built by...)": the first word, and a version behind it. */
static void put_product(struct hs_slice text, struct anonymize_out *out)
{
	const uint8_t *at = text.data;

	while (at < text.end && at - text.data < 16 &&
	       ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
		(*at >= '0' && *at <= '9') || *at == '_'))
		at++;
	if (at + 1 < text.end && at > text.data && *at == ' ' && at[1] >= '0' && at[1] <= '9')
		for (at++; at < text.end && at - text.data < 32 &&
			   ((*at >= '0' && *at <= '9') || *at == '.');
		     at++)
			;
	if (at == text.end || *at == ' ' || *at == '-' || *at == '+')
		anonymize_add(out, text.data, (size_t)(at - text.data));
}

/* Whether an option of the module may be shown: it is one, and its value is no path. */
static bool is_option_shown(struct hs_slice text)
{
	static const char *const hidden[] = {"output", "control"};
	const struct hs_option *option;
	const uint8_t *at = memchr(text.data, '=', (size_t)(text.end - text.data));
	const struct hs_slice name = {text.data, at != NULL ? at : text.end};
	size_t i;

	for (i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (is_text(name, hidden[i]))
			return false;
	for (option = hs_option_table; option->name != NULL; option++)
		if (is_text(name, option->name))
			break;
	for (at = name.end; at < text.end; at++)
		if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
		      (*at >= '0' && *at <= '9') || strchr("=+%-", *at) != NULL) ||
		    *at == 0)
			return false;
	return option->name != NULL;
}

static void put_options(struct hs_slice text, struct anonymize_out *out)
{
	const size_t start = out->size;
	const uint8_t *at = text.data;

	while (at < text.end) {
		const uint8_t *end = at;

		while (end < text.end && *end != ',')
			end += *end == '\\' && end + 1 < text.end ? 2 : 1;
		if (is_option_shown((struct hs_slice){at, end})) {
			if (out->size > start)
				anonymize_add(out, ",", 1);
			anonymize_add(out, at, (size_t)(end - at));
		}
		at = end + 1;
	}
}

static void put_zeros(struct hs_slice text, struct anonymize_out *out)
{
	static const uint8_t zeros[256];
	size_t left = (size_t)(text.end - text.data);

	while (left > 0) {
		const size_t n = left < sizeof(zeros) ? left : sizeof(zeros);

		anonymize_add(out, zeros, n);
		left -= n;
	}
}

/* Writes what becomes of TEXT. */
static void put_text(struct anonymize *anonymize, enum anonymize_rule rule,
		     const struct scope *scope, struct hs_slice text, struct anonymize_out *out)
{
	struct anonymize_names *names = &anonymize->names;
	const struct hs_slice around = scope->message;

	switch (rule) {
	case ANONYMIZE_WORD:
		anonymize_word(names, text, out);
		return;
	case ANONYMIZE_WHOLE:
		anonymize_whole(names, text, out);
		return;
	case ANONYMIZE_PATH:
		anonymize_path(names, text, false, out);
		return;
	case ANONYMIZE_METHOD:
		anonymize_path(names, text, is_framework_method(anonymize, around), out);
		return;
	case ANONYMIZE_FIELD:
		if (is_framework_type(anonymize, get_number(scope->outer->message, 1)))
			anonymize_add(out, text.data, (size_t)(text.end - text.data));
		else
			anonymize_path(names, text, false, out);
		return;
	case ANONYMIZE_ASSEMBLY:
		put_assembly(anonymize, get_number(around, 1), text, out);
		return;
	case ANONYMIZE_FILE:
		put_file(anonymize, text, out);
		return;
	case ANONYMIZE_IMAGE_FILE:
		put_image_file(anonymize, get_number(around, 1), text, out);
		return;
	case ANONYMIZE_MVID:
		put_mvid(anonymize, is_framework_image(anonymize, get_number(around, 1)), text,
			 out);
		return;
	case ANONYMIZE_ROOT:
		put_root(anonymize, around, text, out);
		return;
	case ANONYMIZE_PRODUCT:
		put_product(text, out);
		return;
	case ANONYMIZE_OPTIONS:
		put_options(text, out);
		return;
	case ANONYMIZE_CONTENT:
		anonymize_content(names, text, get_number(around, 2), out);
		return;
	case ANONYMIZE_ZEROS:
		put_zeros(text, out);
		return;
	case ANONYMIZE_UNDECIDED:
	case ANONYMIZE_KEEP:
	case ANONYMIZE_DROP:
	case ANONYMIZE_NUMBER:
		break;
	}
}

/* ---- Messages ---- */

/* True where FIELD stands in the form that TYPE has, so that no text hides in a number. */
static bool is_wire_good(const ProtobufCFieldDescriptor *type, const struct hs_field *field)
{
	switch (type->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return field->wire == HS_WIRE_BYTES;
	default:
		return field->wire != HS_WIRE_BYTES || type->label == PROTOBUF_C_LABEL_REPEATED;
	}
}

static bool put_message(struct anonymize *anonymize, const ProtobufCMessageDescriptor *type,
			const struct scope *scope, struct anonymize_out *out);

/* A field of bytes: its length is known when it is written. */
static bool put_bytes(struct anonymize *anonymize, const ProtobufCFieldDescriptor *known,
		      enum anonymize_rule rule, const struct scope *scope, struct hs_slice bytes,
		      struct anonymize_out *out)
{
	const size_t start = out->size;
	uint8_t head[2 * HS_VARINT_MAX], *at = head;
	bool is_good = true;
	size_t size;

	if (known->type == PROTOBUF_C_TYPE_MESSAGE) {
		const struct scope inner = {.outer = scope, .message = bytes};

		is_good = put_message(anonymize, known->descriptor, &inner, out);
	} else {
		put_text(anonymize, rule, scope, bytes, out);
	}
	size = out->size - start;
	/* Of several, others count on their places. */
	if (size == 0 && known->type != PROTOBUF_C_TYPE_MESSAGE &&
	    known->label != PROTOBUF_C_LABEL_REPEATED)
		return is_good;
	at = hs_varint_put(at, (uint64_t)known->id << 3 | HS_WIRE_BYTES);
	at = hs_varint_put(at, size);
	anonymize_add(out, head, (size_t)(at - head));
	if (out->is_over)
		return is_good;
	memmove(out->data + start + (at - head), out->data + start, size);
	memcpy(out->data + start, head, (size_t)(at - head));
	return is_good;
}

static void put_hash(struct anonymize *anonymize, const struct hs_field *field,
		     struct anonymize_out *out)
{
	uint64_t value = field->value;
	size_t i;

	if (field->wire == HS_WIRE_FIXED64)
		for (i = 0; i < 8; i++)
			value |= (uint64_t)field->bytes.data[i] << (8 * i);
	if (value == 0)
		return;
	value = anonymize_number(&anonymize->names, value);
	anonymize_add_varint(out, (uint64_t)field->number << 3 | field->wire);
	if (field->wire == HS_WIRE_VARINT)
		anonymize_add_varint(out, value);
	for (i = 0; field->wire == HS_WIRE_FIXED64 && i < 8; i++)
		anonymize_add(out, &(uint8_t){(uint8_t)(value >> (8 * i))}, 1);
}

static bool put_message(struct anonymize *anonymize, const ProtobufCMessageDescriptor *type,
			const struct scope *scope, struct anonymize_out *out)
{
	struct hs_slice rest = scope->message;
	struct hs_field field;
	bool is_good = true;
	int got;

	for (;;) {
		const uint8_t *start = rest.data;
		const ProtobufCFieldDescriptor *known;
		enum anonymize_rule rule;

		got = hs_field_next(&rest, &field);
		if (got <= 0)
			return is_good && got == 0;
		known = protobuf_c_message_descriptor_get_field(type, field.number);
		if (known == NULL || !is_wire_good(known, &field)) {
			anonymize->n_unknown_fields++;
			continue;
		}
		rule = anonymize_rule_of(type, known);
		if (rule == ANONYMIZE_UNDECIDED)
			anonymize->n_undecided_fields++;
		if (rule == ANONYMIZE_DROP || rule == ANONYMIZE_UNDECIDED)
			continue;
		if (rule == ANONYMIZE_NUMBER)
			put_hash(anonymize, &field, out);
		else if (known->type == PROTOBUF_C_TYPE_MESSAGE || rule != ANONYMIZE_KEEP)
			is_good = put_bytes(anonymize, known, rule, scope, field.bytes, out) &&
				  is_good;
		else
			anonymize_add(out, start, (size_t)(rest.data - start));
	}
}

bool anonymize_message(struct anonymize *anonymize, const ProtobufCMessageDescriptor *type,
		       struct hs_slice message, struct anonymize_out *out)
{
	const struct scope scope = {.message = message};

	return put_message(anonymize, type, &scope, out);
}
