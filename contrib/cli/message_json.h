/* SPDX-License-Identifier: MIT */
/*
 * Any record as JSON, by the descriptors of the generated code: keys are the
 * names of heapshot.proto, values of enumerations their names in lower case
 * without the prefix, contents of strings are text, and code is hexadecimal.
 */
#ifndef HEAPSHOT_CLI_MESSAGE_JSON_H
#define HEAPSHOT_CLI_MESSAGE_JSON_H

#include <protobuf-c/protobuf-c.h>

#include "contrib/cli/json.h"
#include "contrib/reader/heapshot-reader.h"

/* The fields of MESSAGE into the object that is open. */
void message_put_json(struct json *json, const ProtobufCMessage *message);

/* Fields that the schema does not know, in MESSAGE and what it contains. */
uint64_t message_count_unknown(const ProtobufCMessage *message);

/* Adds 1 to *records if the schema does not know RECORD, else what it does not know of its
 * fields to *fields.  Decodes nothing. */
void message_count_record(const struct heapshot_record *record, uint64_t *records,
			  uint64_t *fields);

/* The body of a record, unpacked; NULL with *field set when it is malformed,
 * and with *field NULL when its number is unknown.  Free it by
 * protobuf_c_message_free_unpacked. */
ProtobufCMessage *message_unpack(const struct heapshot_record *record,
				 const ProtobufCFieldDescriptor **field);

#endif
