/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, for flamegraph.pl and what reads the same: a line for each path of
 * the merged dominator tree, and the bytes of what is at its end.
 */
#include "contrib/export/flame.h"

/* What stands between names, and ends a line, may not stand in them. */
static void put_name(struct export_output *output, const char *name)
{
	for (; *name != '\0'; name++) {
		const char byte = *name;

		export_put_byte(output, (uint8_t)(byte == ';'                ? ','
						  : (unsigned char)byte < 32 ? '?'
									     : byte));
	}
}

enum export_result export_write_folded(struct export *export)
{
	struct export_output *output = export->output;
	uint32_t path[FLAME_DEPTH_MAX + 1];
	struct flame flame;
	uint32_t i;

	if (!flame_make(&flame, export)) {
		flame_free(&flame);
		return export_fail_memory(export);
	}
	for (i = 1; i < flame.n && !output->has_failed; i++) {
		size_t n, k;

		if (flame.nodes[i].objects == 0)
			continue;
		n = flame_path(&flame, i, path);
		for (k = 0; k < n; k++) {
			if (k > 0)
				export_put_byte(output, ';');
			put_name(output, flame.names.texts[flame.nodes[path[k]].name]);
		}
		export_put_byte(output, ' ');
		export_put_number(output, flame.nodes[i].bytes);
		export_put_byte(output, '\n');
	}
	flame_free(&flame);
	return EXPORT_OK;
}
