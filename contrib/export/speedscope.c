/* SPDX-License-Identifier: MIT */
/*
 * The JSON of speedscope: the merged dominator tree as samples of stacks, each with
 * the bytes of what is at its end.
 */
#include "config.h"

#include "contrib/export/flame.h"

static void put_frames(struct export_output *output, const struct flame *flame)
{
	size_t i;

	export_put_text(output,
			"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			"\"exporter\":\"" PACKAGE_NAME " " PACKAGE_VERSION
			"\",\n\"shared\":{\"frames\":[");
	for (i = 0; i < flame->names.n; i++) {
		export_put_text(output, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
		export_put_json_text(output, flame->names.texts[i]);
		export_put_byte(output, '}');
	}
	export_put_text(output, "]},\n");
}

static void put_samples(struct export_output *output, const struct flame *flame)
{
	uint32_t path[FLAME_DEPTH_MAX + 1], i;
	bool has_some = false;

	export_put_text(output, "\"samples\":[");
	for (i = 1; i < flame->n && !output->has_failed; i++) {
		size_t n, k;

		if (flame->nodes[i].objects == 0)
			continue;
		export_put_text(output, has_some ? ",\n[" : "\n[");
		has_some = true;
		n = flame_path(flame, i, path);
		for (k = 0; k < n; k++) {
			if (k > 0)
				export_put_byte(output, ',');
			export_put_number(output, flame->nodes[path[k]].name);
		}
		export_put_byte(output, ']');
	}
	export_put_text(output, "],\n");
}

static void put_weights(struct export_output *output, const struct flame *flame)
{
	bool has_some = false;
	uint32_t i;

	export_put_text(output, "\"weights\":[");
	for (i = 1; i < flame->n && !output->has_failed; i++) {
		if (flame->nodes[i].objects == 0)
			continue;
		export_put_text(output, has_some ? ",\n" : "\n");
		has_some = true;
		export_put_number(output, flame->nodes[i].bytes);
	}
	export_put_text(output, "]");
}

enum export_result export_write_speedscope(struct export *export)
{
	struct export_output *output = export->output;
	struct heapshot_graph_counts counts;
	struct flame flame;

	if (!flame_make(&flame, export)) {
		flame_free(&flame);
		return export_fail_memory(export);
	}
	heapshot_graph_counts(export->graph, &counts);
	put_frames(output, &flame);
	export_put_text(output, "\"profiles\":[{\"type\":\"sampled\",\"name\":\"retained\","
				"\"unit\":\"bytes\",\"startValue\":0,\"endValue\":");
	export_put_number(output, counts.live_bytes);
	export_put_text(output, ",\n");
	put_samples(output, &flame);
	put_weights(output, &flame);
	export_put_text(output, "}]}\n");
	flame_free(&flame);
	return EXPORT_OK;
}
