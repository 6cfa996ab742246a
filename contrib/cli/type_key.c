/* SPDX-License-Identifier: MIT */
/*
 * Types by name and assembly.
 */
#include <inttypes.h>
#include <string.h>

#include "contrib/cli/text.h"
#include "contrib/cli/type_key.h"

struct type_key type_key_of(const struct recording *recording, uint32_t id)
{
	const struct heapshot_type *type = heapshot_reader_type(recording->reader, id);

	return (struct type_key){
		.name = type != NULL ? type->name : "",
		.assembly = type != NULL ? type->assembly : "",
		.hash = type != NULL && *type->name != '\0' ? type->name_hash : id,
		.id = id,
	};
}

int type_key_compare(const struct type_key *a, const struct type_key *b)
{
	int order = strcmp(a->name, b->name);

	if (order == 0)
		order = strcmp(a->assembly, b->assembly);
	return order != 0 ? order : (a->hash > b->hash) - (a->hash < b->hash);
}

const char *type_key_name(const struct type_key *key, char *buffer)
{
	if (*key->name != '\0')
		return key->name;
	snprintf(buffer, 32, "type#%" PRIu32, key->id);
	return buffer;
}

bool type_key_matches(const struct type_key *key, const char *assembly, const char *filter)
{
	char unnamed[32];

	return (assembly == NULL || strcmp(assembly, key->assembly) == 0) &&
	       text_matches(type_key_name(key, unnamed), filter);
}
