/* SPDX-License-Identifier: MIT */
/*
 * Walking messages by their descriptors.  The schema nests to a fixed depth.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/cli/message_json.h"
#include "schema/heapshot_named.pb-c.h"
#include "schema/wire.h"

/* GC_PHASE_START of GcPhase is "start". */
static void put_enum(struct json *json, const ProtobufCEnumDescriptor *type, int value)
{
	const ProtobufCEnumValue *found = protobuf_c_enum_descriptor_get_value(type, value);
	const char *name, *p;
	char text[80];
	size_t n = 0;

	if (found == NULL) {
		json_signed(json, value);
		return;
	}
	name = found->name;
	for (p = type->short_name; *p != '\0'; p++) {
		if (isupper((unsigned char)*p) && p != type->short_name && *name == '_')
			name++;
		if (*name != toupper((unsigned char)*p))
			break;
		name++;
	}
	if (*p != '\0' || *name != '_')
		name = found->name;
	else
		name++;
	for (; *name != '\0' && n < sizeof(text) - 1; name++)
		text[n++] = (char)tolower((unsigned char)*name);
	text[n] = '\0';
	json_text(json, text);
}

/* UTF-16LE, as string contents are; lone surrogates become U+FFFD. */
static void put_utf16(struct json *json, const ProtobufCBinaryData *bytes)
{
	/* Two bytes become three at the most, and four become four. */
	char *text = malloc(bytes->len / 2 * 3 + 1);
	size_t n = 0, i;

	if (text == NULL) {
		json_null(json);
		return;
	}
	for (i = 0; i + 1 < bytes->len; i += 2) {
		uint32_t point = bytes->data[i] | (uint32_t)bytes->data[i + 1] << 8;

		if (point >= 0xD800 && point < 0xDC00 && i + 3 < bytes->len &&
		    (bytes->data[i + 3] & 0xFC) == 0xDC) {
			point = 0x10000 + ((point & 0x3FF) << 10) +
				((bytes->data[i + 2] | (uint32_t)bytes->data[i + 3] << 8) & 0x3FF);
			i += 2;
		} else if (point >= 0xD800 && point < 0xE000) {
			point = 0xFFFD;
		}
		if (point < 0x80) {
			text[n++] = (char)point;
		} else if (point < 0x800) {
			text[n++] = (char)(0xC0 | point >> 6);
			text[n++] = (char)(0x80 | (point & 0x3F));
		} else {
			if (point >= 0x10000) {
				text[n++] = (char)(0xF0 | point >> 18);
				text[n++] = (char)(0x80 | (point >> 12 & 0x3F));
			} else {
				text[n++] = (char)(0xE0 | point >> 12);
			}
			text[n++] = (char)(0x80 | (point >> 6 & 0x3F));
			text[n++] = (char)(0x80 | (point & 0x3F));
		}
	}
	json_text_bytes(json, text, n);
	free(text);
}

static void put_hexadecimal(struct json *json, const ProtobufCBinaryData *bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * bytes->len + 1);
	size_t i;

	if (text == NULL) {
		json_null(json);
		return;
	}
	for (i = 0; i < bytes->len; i++) {
		text[2 * i] = digits[bytes->data[i] >> 4];
		text[2 * i + 1] = digits[bytes->data[i] & 15];
	}
	json_text_bytes(json, text, 2 * i);
	free(text);
}

/* Contents of strings as text; all other bytes are code. */
static void put_bytes(struct json *json, const ProtobufCFieldDescriptor *field,
		      const ProtobufCBinaryData *bytes)
{
	if (field == protobuf_c_message_descriptor_get_field_by_name(
			     &heapshot_named__string_content__descriptor, "text"))
		put_utf16(json, bytes);
	else
		put_hexadecimal(json, bytes);
}

/* Reads a value that the generated code stores at AT. */
#define VALUE(type) (*(type const *)at)

static size_t value_bytes(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		return sizeof(uint32_t);
	case PROTOBUF_C_TYPE_ENUM:
		return sizeof(int);
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_FLOAT:
		return sizeof(float);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return sizeof(uint64_t);
	}
}

static void put_value(struct json *json, const ProtobufCFieldDescriptor *field, const void *at)
{
	const ProtobufCMessage *message;

	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		json_signed(json, VALUE(int32_t));
		return;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		json_unsigned(json, VALUE(uint32_t));
		return;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		json_signed(json, VALUE(int64_t));
		return;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		json_unsigned(json, VALUE(uint64_t));
		return;
	case PROTOBUF_C_TYPE_FLOAT:
		json_double(json, (double)VALUE(float));
		return;
	case PROTOBUF_C_TYPE_DOUBLE:
		json_double(json, VALUE(double));
		return;
	case PROTOBUF_C_TYPE_BOOL:
		json_bool(json, VALUE(protobuf_c_boolean));
		return;
	case PROTOBUF_C_TYPE_ENUM:
		put_enum(json, field->descriptor, VALUE(int));
		return;
	case PROTOBUF_C_TYPE_STRING:
		json_text(json, VALUE(char *));
		return;
	case PROTOBUF_C_TYPE_BYTES:
		put_bytes(json, field, at);
		return;
	case PROTOBUF_C_TYPE_MESSAGE:
		message = VALUE(ProtobufCMessage *);
		json_begin(json, '{');
		if (message != NULL)
			message_put_json(json, message);
		json_end(json, '}');
		return;
	}
}

static bool is_unset(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message)
{
	const char *base = (const char *)message;

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *)(const void *)(base + field->quantifier_offset) !=
		       field->id;
	return false;
}

void message_put_json(struct json *json, const ProtobufCMessage *message)
{
	const char *base = (const char *)message;
	unsigned i;

	for (i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		const void *at = base + field->offset;
		size_t n, k, size = value_bytes(field->type);

		if (is_unset(field, message))
			continue;
		json_key(json, field->name);
		if (field->label != PROTOBUF_C_LABEL_REPEATED) {
			put_value(json, field, at);
			continue;
		}
		n = *(const size_t *)(const void *)(base + field->quantifier_offset);
		json_begin(json, '[');
		for (k = 0; k < n; k++)
			put_value(json, field, *(const char *const *)at + k * size);
		json_end(json, ']');
	}
}

uint64_t message_count_unknown(const ProtobufCMessage *message)
{
	const char *base = (const char *)message;
	uint64_t count = message->n_unknown_fields;
	unsigned i;

	for (i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		const void *at = base + field->offset;
		size_t n, k;

		if (field->type != PROTOBUF_C_TYPE_MESSAGE || is_unset(field, message))
			continue;
		if (field->label != PROTOBUF_C_LABEL_REPEATED) {
			if (VALUE(ProtobufCMessage *) != NULL)
				count += message_count_unknown(VALUE(ProtobufCMessage *));
			continue;
		}
		n = *(const size_t *)(const void *)(base + field->quantifier_offset);
		for (k = 0; k < n; k++)
			count += message_count_unknown(VALUE(ProtobufCMessage **)[k]);
	}
	return count;
}

static uint64_t count_fields(const ProtobufCMessageDescriptor *type, struct hs_slice message)
{
	struct hs_field field;
	uint64_t count = 0;

	while (hs_field_next(&message, &field) > 0) {
		const ProtobufCFieldDescriptor *known =
			protobuf_c_message_descriptor_get_field(type, field.number);

		if (known == NULL)
			count++;
		else if (known->type == PROTOBUF_C_TYPE_MESSAGE && field.wire == HS_WIRE_BYTES)
			count += count_fields(known->descriptor, field.bytes);
	}
	return count;
}

void message_count_record(const struct heapshot_record *record, uint64_t *records, uint64_t *fields)
{
	const ProtobufCFieldDescriptor *body = protobuf_c_message_descriptor_get_field(
		&heapshot_named__record__descriptor, record->field);

	*fields += record->n_unknown;
	if (body == NULL || body->type != PROTOBUF_C_TYPE_MESSAGE)
		*records += record->field != 0;
	else
		*fields += count_fields(
			body->descriptor,
			(struct hs_slice){record->body, record->body + record->body_bytes});
}

ProtobufCMessage *message_unpack(const struct heapshot_record *record,
				 const ProtobufCFieldDescriptor **field)
{
	*field = protobuf_c_message_descriptor_get_field(&heapshot_named__record__descriptor,
							 record->field);
	if (*field == NULL || (*field)->type != PROTOBUF_C_TYPE_MESSAGE) {
		*field = NULL;
		return NULL;
	}
	return protobuf_c_message_unpack((*field)->descriptor, NULL, record->body_bytes,
					 record->body);
}
