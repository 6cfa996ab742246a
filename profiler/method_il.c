/* SPDX-License-Identifier: MIT */
/*
 * IL from the metadata where a method has its own there: asking the runtime
 * for a header would parse it anew, and inflate it for each generic instance.
 * Wrappers and emitted methods have no metadata, but a header that is kept.
 */
#include "config.h"

#include <stdbool.h>

#include <mono/metadata/attrdefs.h>
#include <mono/metadata/blob.h>
#include <mono/metadata/class.h>
#include <mono/metadata/image.h>
#include <mono/metadata/row-indexes.h>

#include "profiler/method_il.h"

#define TOKEN_METHOD 0x06u
/* ECMA-335, II.25.4: a header's first byte says in its low bits of which form it is. */
#define FORM_MASK 3u
#define FORM_TINY 2u
#define FORM_FAT  3u

static bool has_il(MonoMethod *method)
{
	uint32_t how = 0;
	const uint32_t flags = mono_method_get_flags(method, &how);

	return !(flags & (MONO_METHOD_ATTR_ABSTRACT | MONO_METHOD_ATTR_PINVOKE_IMPL)) &&
	       !(how &
		 (MONO_METHOD_IMPL_ATTR_CODE_TYPE_MASK | MONO_METHOD_IMPL_ATTR_INTERNAL_CALL));
}

static uint32_t little_u32(const unsigned char *in)
{
	return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static struct hs_il from_metadata(MonoImage *image, uint32_t row)
{
	const MonoTableInfo *table = mono_image_get_table_info(image, MONO_TABLE_METHOD);
	struct hs_il il = {0};
	const unsigned char *body;
	uint32_t place;

	if (!row || row > (uint32_t)mono_table_info_get_rows(table))
		return il;
	place = mono_metadata_decode_row_col(table, (int)row - 1, MONO_METHOD_RVA);
	body = place ? (const unsigned char *)mono_image_rva_map(image, place) : NULL;
	if (!body)
		return il;
	if ((*body & FORM_MASK) == FORM_TINY) {
		il.code = body + 1;
		il.bytes = *body >> 2;
	} else if ((*body & FORM_MASK) == FORM_FAT) {
		il.code = body + 4 * (body[1] >> 4);
		il.bytes = little_u32(body + 4);
	}
	return il;
}

struct hs_il hs_il_of(MonoMethod *method)
{
	const uint32_t token = mono_method_get_token(method);
	MonoImage *image = mono_class_get_image(mono_method_get_class(method));
	struct hs_il il = {0};
	uint32_t bytes = 0;

	if (token && !has_il(method))
		return il;
	if (token >> 24 == TOKEN_METHOD && image && !mono_image_is_dynamic(image))
		return from_metadata(image, token & 0xffffff);
	il.header = mono_method_get_header(method);
	if (il.header)
		il.code = mono_method_header_get_code(il.header, &bytes, NULL);
	il.bytes = il.code ? bytes : 0;
	return il;
}

void hs_il_release(struct hs_il *il)
{
	if (il->header)
		mono_metadata_free_mh(il->header);
	il->header = NULL;
}
