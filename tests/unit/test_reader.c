/* SPDX-License-Identifier: MIT */
/*
 * The reader library on whole recordings: what it tells of them, from memory,
 * files, pipes and callbacks, and that asking wrongly is answered.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contrib/reader/heapshot-reader.h"
#include "schema/heapshot.pb-c.h"
#include "schema/tag.h"
#include "tests/data/synthetic.h"
#include "tests/unit/leak_check.h"

TestSuite(reader, .fini = leak_check);

#define NODES 0x7f0000010000u
#define ARRAY 0x7f0000000010u

static struct synthetic_bytes make(const char *variant)
{
	struct synthetic_bytes bytes;

	cr_assert(synthetic_make(variant, 0, &bytes));
	return bytes;
}

static struct heapshot_reader *open_bytes(const struct synthetic_bytes *bytes)
{
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	enum heapshot_read_result result =
		heapshot_reader_open_memory(reader, bytes->data, bytes->size);

	cr_assert_eq(result, HEAPSHOT_READ_OK, "%s", heapshot_reader_error(reader));
	return reader;
}

static void check_total(const struct heapshot_totals *totals, uint32_t type, uint64_t objects,
			uint64_t bytes, uint64_t references)
{
	size_t i;

	for (i = 0; i < totals->n_types && totals->types[i].type != type; i++)
		;
	cr_assert_lt(i, totals->n_types, "no type %u", type);
	cr_assert_eq(totals->types[i].objects, objects);
	cr_assert_eq(totals->types[i].bytes, bytes);
	cr_assert_eq(totals->types[i].references, references);
}

Test(reader, tells_all_of_a_good_recording)
{
	struct synthetic_bytes bytes = make("good");
	struct heapshot_reader *reader = open_bytes(&bytes);
	const struct heapshot_snapshot *snapshots;
	const struct heapshot_type *type;
	struct heapshot_totals totals;
	uint64_t nodes = GOOD_NODES, met;
	size_t n, i;

	cr_assert_eq(heapshot_reader_header(reader)->word_bytes, 8);
	cr_assert_eq(heapshot_reader_header(reader)->pid, 4711);
	cr_assert_str_eq(heapshot_reader_header(reader)->runtime, "Mono 6.8.0.105");
	cr_assert(heapshot_reader_summary(reader)->has_end);
	cr_assert_eq(heapshot_reader_summary(reader)->end_offset, bytes.size);
	heapshot_reader_issues(reader, &n, &met);
	cr_assert_eq(n + met, 0);

	snapshots = heapshot_reader_snapshots(reader, &n);
	cr_assert_eq(n, GOOD_SNAPSHOTS);
	cr_assert_str_eq(snapshots[1].label, "after login");
	cr_assert_str_eq(snapshots[2].trigger, "shutdown");
	for (i = 0; i < n; i++, nodes *= 2) {
		cr_assert_eq(snapshots[i].id, i + 1);
		cr_assert(snapshots[i].is_complete);
		cr_assert_eq(heapshot_reader_totals(reader, &snapshots[i], &totals),
			     HEAPSHOT_READ_OK, "%s", heapshot_reader_error(reader));
		cr_assert_eq(totals.objects, nodes + nodes / 10 + 3);
		cr_assert_eq(totals.objects, snapshots[i].objects);
		cr_assert_eq(totals.slot_bytes, snapshots[i].slot_bytes);
		cr_assert_eq(totals.root_batches, 2);
		cr_assert_eq(totals.ephemeron_batches, 1);
		check_total(&totals, 2, 1, 32 + 8 * GOOD_ARRAY_REFS, GOOD_ARRAY_REFS);
		check_total(&totals, 3, nodes - nodes / 16, (nodes - nodes / 16) * GOOD_NODE_BYTES,
			    totals.types[2].references);
		check_total(&totals, 5, 1, 24, 0);
	}
	cr_assert_eq(heapshot_reader_last_snapshot(reader, 1), &snapshots[2]);
	cr_assert_eq(heapshot_reader_last_snapshot(reader, 3), &snapshots[0]);
	cr_assert_null(heapshot_reader_last_snapshot(reader, 4));
	cr_assert_null(heapshot_reader_last_snapshot(reader, 0));
	cr_assert_null(heapshot_reader_snapshot(reader, 0));
	cr_assert_null(heapshot_reader_snapshot(reader, 4));

	cr_assert_eq(heapshot_reader_load_names(reader), HEAPSHOT_READ_OK);
	/* Defined in the last frame, met in the first snapshot. */
	type = heapshot_reader_type(reader, 5);
	cr_assert_not_null(type);
	cr_assert_str_eq(type->name, "T.Late");
	cr_assert_str_eq(type->assembly, "app");
	cr_assert_str_eq(heapshot_reader_type(reader, 1)->assembly, "mscorlib");
	cr_assert_null(heapshot_reader_type(reader, 99));
	cr_assert_str_eq(heapshot_reader_domain(reader, 1)->name, "app.exe");
	cr_assert_str_eq(heapshot_reader_thread(reader, 0x7fff1234)->name, "main");
	heapshot_reader_types(reader, &n);
	cr_assert_eq(n, 7);
	heapshot_reader_free(reader);
	free(bytes.data);
}

/* Copied from tag to tag the bytes are the file. */
Test(reader, gives_frames_as_they_are)
{
	struct synthetic_bytes bytes = make("good");
	struct heapshot_reader *reader = open_bytes(&bytes);
	struct heapshot_frame_bytes frame_bytes;
	struct heapshot_frame frame;
	size_t at = 0;

	cr_assert_eq(heapshot_reader_frame_bytes(reader, &frame_bytes), HEAPSHOT_READ_MISUSE);
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		cr_assert_eq(heapshot_reader_load_frame(reader, &frame), HEAPSHOT_READ_OK);
		cr_assert_eq(heapshot_reader_frame_bytes(reader, &frame_bytes), HEAPSHOT_READ_OK);
		cr_assert_leq(at + frame_bytes.tag_bytes + frame_bytes.body_bytes, bytes.size);
		cr_assert_eq(memcmp(bytes.data + at, frame_bytes.tag, frame_bytes.tag_bytes), 0);
		at += frame_bytes.tag_bytes;
		cr_assert_eq(memcmp(bytes.data + at, frame_bytes.body, frame_bytes.body_bytes), 0);
		at += frame_bytes.body_bytes;
		cr_assert_eq(frame_bytes.content_bytes, frame.raw_bytes);
		cr_assert_eq(frame_bytes.content[0], 0x0a, "a record is field 1");
	}
	cr_assert_eq(at, bytes.size);
	heapshot_reader_free(reader);
	free(bytes.data);
}

Test(reader, gives_roots_with_types)
{
	struct synthetic_bytes bytes = make("good");
	struct heapshot_reader *reader = open_bytes(&bytes);
	struct heapshot_roots roots;
	bool kinds[19] = {false};
	size_t i, n_static = 0;

	cr_assert_eq(heapshot_reader_roots(reader, heapshot_reader_snapshot(reader, 1), &roots),
		     HEAPSHOT_READ_OK, "%s", heapshot_reader_error(reader));
	cr_assert_eq(roots.n_roots, 20);
	cr_assert_eq(roots.n_sources, 19); /* T.Pub.Root is in both batches */
	for (i = 0; i < roots.n_roots; i++) {
		const struct heapshot_root_source *source = &roots.sources[roots.roots[i].source];

		kinds[source->kind] = true;
		cr_assert_lt(roots.roots[i].address, 0x600000 + 8 * 20);
		if (i > 0)
			cr_assert_leq(roots.roots[i - 1].object, roots.roots[i].object);
		if (source->kind == 4) {
			n_static++;
			cr_assert_str_eq(source->name, "T.Pub.Root");
			cr_assert_eq(roots.roots[i].type, roots.roots[i].object == ARRAY ? 2u : 3u);
		}
		if (source->kind == 18)
			cr_assert_str_eq(source->kind_text, "marshal cache");
	}
	cr_assert_eq(n_static, 2);
	for (i = 0; i < 19; i++)
		cr_assert(kinds[i], "kind %zu", i);
	cr_assert_str_eq(heapshot_root_kind_name(5), "thread_static");
	cr_assert_str_eq(heapshot_root_kind_name(99), "unknown");
	heapshot_reader_free(reader);
	free(bytes.data);
}

static bool take_edge(void *user_data, const struct heapshot_ephemeron *edge)
{
	uint64_t *n = user_data;

	cr_assert_eq(edge->table, ARRAY);
	cr_assert_eq(edge->key, NODES + 32 * *n);
	cr_assert_eq(edge->value, NODES + 32 * (*n + 1));
	++*n;
	return true;
}

static bool take_no_root(void *user_data, const struct heapshot_root *root)
{
	(void)root;
	++*(uint64_t *)user_data;
	return false;
}

/* Objects with references, as a graph builder reads them. */
Test(reader, passes_over_rows_and_edges)
{
	struct synthetic_bytes bytes = make("good");
	struct heapshot_reader *reader = open_bytes(&bytes);
	uint64_t n_array = 0, n_rows = 0, n_edges = 0, n_root_calls = 0, n_root_batches = 0, i;
	struct heapshot_object object;
	struct heapshot_record record;
	struct heapshot_frame frame;
	struct heapshot_batch batch;

	heapshot_reader_rewind(reader, heapshot_reader_snapshot(reader, 1));
	while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
		if (frame.kind != HEAPSHOT_FRAME_SNAPSHOT_BODY)
			continue;
		cr_assert_eq(frame.snapshot, 1);
		cr_assert_eq(heapshot_reader_load_frame(reader, &frame), HEAPSHOT_READ_OK);
		while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK) {
			if (record.field == HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH)
				cr_assert_eq(heapshot_reader_each_ephemeron(reader, &record,
									    take_edge, &n_edges),
					     HEAPSHOT_READ_OK);
			if (record.field == HEAPSHOT__RECORD__BODY_ROOT_BATCH) {
				n_root_batches++;
				heapshot_reader_each_root(reader, &record, take_no_root,
							  &n_root_calls);
			}
			if (record.field != HEAPSHOT__RECORD__BODY_OBJECT_BATCH) {
				cr_assert_eq(
					heapshot_reader_begin_objects(reader, &record, true, NULL),
					HEAPSHOT_READ_MISUSE);
				continue;
			}
			cr_assert_eq(heapshot_reader_begin_objects(reader, &record, true, &batch),
				     HEAPSHOT_READ_OK);
			cr_assert_eq(batch.snapshot, 1);
			while (heapshot_reader_next_object(reader, &object) == HEAPSHOT_READ_OK) {
				n_rows++;
				if (object.address != ARRAY)
					continue;
				cr_assert_eq(object.is_continuation, n_array > 0);
				for (i = 0; i < object.n_references; i++, n_array++) {
					cr_assert_eq(object.offsets[i], 32 + 8 * n_array);
					cr_assert_eq(object.references[i], NODES + 32 * n_array);
				}
			}
		}
	}
	cr_assert_eq(n_array, GOOD_ARRAY_REFS);
	cr_assert_eq(n_rows, GOOD_NODES + GOOD_NODES / 10 + 3 + 2);
	cr_assert_eq(n_edges, 2);
	cr_assert_eq(n_root_batches, 2);
	cr_assert_eq(n_root_calls, 2, "a callback that says false ends the loop");
	heapshot_reader_free(reader);
	free(bytes.data);
}

/* Totals by shape are those of the rows, type by type. */
Test(reader, counts_as_the_rows_do)
{
	static const char *const variants[] = {"varied", "good"};
	size_t v, i;

	for (v = 0; v < 2; v++) {
		struct synthetic_bytes bytes = make(variants[v]);
		struct heapshot_reader *reader = open_bytes(&bytes);
		struct heapshot_type_total sums[10] = {{0}};
		struct heapshot_totals totals;
		struct heapshot_object object;
		struct heapshot_record record;
		struct heapshot_frame frame;

		cr_assert_eq(heapshot_reader_totals(reader, heapshot_reader_snapshot(reader, 2),
						    &totals),
			     HEAPSHOT_READ_OK);
		heapshot_reader_rewind(reader, heapshot_reader_snapshot(reader, 2));
		while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
			heapshot_reader_load_frame(reader, &frame);
			while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK) {
				if (record.field != HEAPSHOT__RECORD__BODY_OBJECT_BATCH)
					continue;
				heapshot_reader_begin_objects(reader, &record, false, NULL);
				while (heapshot_reader_next_object(reader, &object) ==
				       HEAPSHOT_READ_OK) {
					cr_assert_lt(object.type, 10);
					sums[object.type].objects += !object.is_continuation;
					sums[object.type].bytes += object.size;
					sums[object.type].slot_bytes += object.slot_size;
					sums[object.type].references += object.n_references;
				}
			}
		}
		cr_assert_gt(totals.n_types, 1);
		for (i = 0; i < totals.n_types; i++) {
			sums[totals.types[i].type].type = totals.types[i].type;
			cr_assert_eq(memcmp(&sums[totals.types[i].type], &totals.types[i],
					    sizeof(*sums)),
				     0, "%s: type %u", variants[v], totals.types[i].type);
		}
		heapshot_reader_free(reader);
		free(bytes.data);
	}
}

Test(reader, reads_statistics_and_large_numbers)
{
	struct synthetic_bytes bytes = make("stats");
	struct heapshot_reader *reader = open_bytes(&bytes);
	struct heapshot_totals totals;

	cr_assert(heapshot_reader_snapshot(reader, 1)->is_stats_only);
	cr_assert_eq(heapshot_reader_totals(reader, heapshot_reader_snapshot(reader, 1), &totals),
		     HEAPSHOT_READ_OK);
	cr_assert_eq(totals.bytes, 160);
	heapshot_reader_free(reader);
	free(bytes.data);

	bytes = make("huge");
	reader = open_bytes(&bytes);
	cr_assert_eq(heapshot_reader_totals(reader, heapshot_reader_snapshot(reader, 1), &totals),
		     HEAPSHOT_READ_OK);
	cr_assert_eq(totals.bytes, 3 * (1ull << 62) + (1ull << 31) + 8);
	check_total(&totals, 7, 3, 3 * (1ull << 62), 0);
	heapshot_reader_free(reader);
	free(bytes.data);

	bytes = make("overflow");
	reader = open_bytes(&bytes);
	cr_assert_eq(heapshot_reader_totals(reader, heapshot_reader_snapshot(reader, 1), &totals),
		     HEAPSHOT_READ_DAMAGED);
	cr_assert_eq(totals.n_types, 0);
	heapshot_reader_free(reader);
	free(bytes.data);
}

Test(reader, holds_every_total_against_the_body)
{
	uint64_t n;

	for (n = 1; n <= SYNTHETIC_TOTALS; n++) {
		struct synthetic_bytes bytes;
		struct heapshot_reader *reader;
		struct heapshot_totals totals;

		cr_assert(synthetic_make("differs", n, &bytes));
		reader = open_bytes(&bytes);
		cr_expect_eq(heapshot_reader_totals(reader, heapshot_reader_snapshot(reader, 1),
						    &totals),
			     HEAPSHOT_READ_INCOMPLETE, "total %d", (int)n);
		heapshot_reader_free(reader);
		free(bytes.data);
	}
}

struct expectation {
	const char *variant;
	enum heapshot_read_result opened;
	size_t snapshots, complete;
	enum heapshot_read_result totals; /* of the last snapshot */
	enum heapshot_issue_kind issue;   /* 0: none */
};

Test(reader, judges_each_variant)
{
	static const struct expectation expectations[] = {
		{"small", HEAPSHOT_READ_OK, 2, 2, HEAPSHOT_READ_OK, 0},
		{"varied", HEAPSHOT_READ_OK, 2, 2, HEAPSHOT_READ_OK, 0},
		{"killed", HEAPSHOT_READ_OK, 3, 2, HEAPSHOT_READ_INCOMPLETE, HEAPSHOT_ISSUE_NO_END},
		{"none", HEAPSHOT_READ_OK, 0, 0, HEAPSHOT_READ_OK, 0},
		{"version", HEAPSHOT_READ_WRONG_VERSION, 0, 0, HEAPSHOT_READ_OK, 0},
		{"two", HEAPSHOT_READ_OK, 2, 2, HEAPSHOT_READ_OK, HEAPSHOT_ISSUE_SECOND},
		{"unknown", HEAPSHOT_READ_OK, 1, 1, HEAPSHOT_READ_OK, 0},
		{"inconsistent", HEAPSHOT_READ_OK, 1, 1, HEAPSHOT_READ_OK, 0},
		{"differs", HEAPSHOT_READ_OK, 1, 1, HEAPSHOT_READ_INCOMPLETE, 0},
		{"abandoned", HEAPSHOT_READ_OK, 2, 1, HEAPSHOT_READ_INCOMPLETE, 0},
		{"hostile-names", HEAPSHOT_READ_OK, 1, 1, HEAPSHOT_READ_OK, 0},
	};
	size_t i, k, n, complete;

	for (i = 0; i < sizeof(expectations) / sizeof(*expectations); i++) {
		const struct expectation *expected = &expectations[i];
		struct synthetic_bytes bytes = make(expected->variant);
		struct heapshot_reader *reader = heapshot_reader_new(NULL);
		const struct heapshot_snapshot *snapshots;
		const struct heapshot_issue *issues;
		struct heapshot_totals totals;

		cr_assert_eq(heapshot_reader_open_memory(reader, bytes.data, bytes.size),
			     expected->opened, "%s", expected->variant);
		if (expected->opened == HEAPSHOT_READ_OK) {
			snapshots = heapshot_reader_snapshots(reader, &n);
			for (k = complete = 0; k < n; k++)
				complete += snapshots[k].is_complete;
			cr_assert_eq(n, expected->snapshots, "%s", expected->variant);
			cr_assert_eq(complete, expected->complete, "%s", expected->variant);
			if (n > 0)
				cr_assert_eq(
					heapshot_reader_totals(reader, &snapshots[n - 1], &totals),
					expected->totals, "%s: %s", expected->variant,
					heapshot_reader_error(reader));
			issues = heapshot_reader_issues(reader, &n, NULL);
			cr_assert_eq(n, expected->issue != 0, "%s", expected->variant);
			if (n > 0)
				cr_assert_eq(issues[0].kind, expected->issue, "%s",
					     expected->variant);
		}
		heapshot_reader_free(reader);
		free(bytes.data);
	}
}

static ssize_t read_ten(void *user_data, uint64_t offset, void *buffer, size_t size)
{
	const struct synthetic_bytes *bytes = user_data;

	/* room says from where on nothing can be read. */
	if (offset + size > bytes->room)
		return -5;
	memcpy(buffer, bytes->data + offset, size);
	return (ssize_t)size;
}

Test(reader, reads_callbacks_files_and_pipes)
{
	struct synthetic_bytes bytes = make("small");
	char path[] = "/tmp/heapshot-test-XXXXXX", name[32];
	struct heapshot_reader *reader = heapshot_reader_new(NULL);
	struct synthetic_bytes view = bytes;
	int fd = mkstemp(path), ends[2];
	size_t n;
	pid_t child;

	cr_assert_eq(write(fd, bytes.data, bytes.size), (ssize_t)bytes.size);
	close(fd);
	cr_assert_eq(heapshot_reader_open_file(reader, path), HEAPSHOT_READ_OK);
	heapshot_reader_snapshots(reader, &n);
	cr_assert_eq(n, 2);
	cr_assert_eq(heapshot_reader_open_file(reader, path), HEAPSHOT_READ_MISUSE);
	heapshot_reader_free(reader);
	unlink(path);

	reader = heapshot_reader_new(NULL);
	cr_assert_eq(heapshot_reader_open_file(reader, path), HEAPSHOT_READ_IO);
	cr_assert_eq(heapshot_reader_errno(reader), 2);
	heapshot_reader_free(reader);

	view.room = bytes.size;
	reader = heapshot_reader_new(NULL);
	cr_assert_eq(heapshot_reader_open_callback(reader, read_ten, &view, view.size),
		     HEAPSHOT_READ_OK);
	cr_assert_eq(heapshot_reader_load_names(reader), HEAPSHOT_READ_OK);
	heapshot_reader_free(reader);
	view.room = bytes.size / 2;
	reader = heapshot_reader_new(NULL);
	cr_assert_eq(heapshot_reader_open_callback(reader, read_ten, &view, view.size),
		     HEAPSHOT_READ_IO);
	cr_assert_eq(heapshot_reader_errno(reader), 5);
	heapshot_reader_free(reader);

	cr_assert_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		ssize_t done = write(ends[1], bytes.data, bytes.size);

		_exit(done != (ssize_t)bytes.size);
	}
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	reader = heapshot_reader_new(NULL);
	cr_assert_eq(heapshot_reader_open_file(reader, name), HEAPSHOT_READ_OK, "%s",
		     heapshot_reader_error(reader));
	heapshot_reader_snapshots(reader, &n);
	cr_assert_eq(n, 2);
	heapshot_reader_free(reader);
	close(ends[0]);
	waitpid(child, NULL, 0);
	free(bytes.data);
}

Test(reader, answers_wrong_use)
{
	struct heapshot_reader_options options = {.size = sizeof(options), .memory_bytes = 1 << 20};
	struct synthetic_bytes bytes = make("small");
	struct heapshot_reader *reader = heapshot_reader_new(&options);
	struct heapshot_record record = {.field = 15};
	struct heapshot_object object;
	struct heapshot_frame frame = {0};
	struct hs_tag tag;
	int i;

	cr_assert_eq(heapshot_reader_next_frame(reader, &frame), HEAPSHOT_READ_MISUSE);
	cr_assert_eq(heapshot_reader_next_record(reader, &record), HEAPSHOT_READ_MISUSE);
	cr_assert_eq(heapshot_reader_next_object(reader, &object), HEAPSHOT_READ_MISUSE);
	/* The buffers of the largest frame that is allowed need more than this limit. */
	cr_assert_gt(hs_tag_decode(bytes.data, bytes.size, &tag), 0);
	tag.raw_bytes = HS_FRAME_RAW_MAX;
	hs_tag_encode(&tag, bytes.data);
	cr_assert_eq(heapshot_reader_open_memory(reader, bytes.data, bytes.size),
		     HEAPSHOT_READ_MEMORY);
	cr_assert(strstr(heapshot_reader_error(reader), "1 MiB") != NULL);
	heapshot_reader_free(reader);
	free(bytes.data);
	bytes = make("small");

	reader = open_bytes(&bytes);
	frame.raw_bytes = 0xFFFFFFFF;
	cr_assert_eq(heapshot_reader_load_frame(reader, &frame), HEAPSHOT_READ_MISUSE);
	heapshot_reader_free(reader);
	heapshot_reader_free(NULL);
	for (i = 0; i <= HEAPSHOT_READ_MISUSE; i++)
		cr_assert(strlen(heapshot_read_result_text((enum heapshot_read_result)i)) > 0);
	free(bytes.data);
}
