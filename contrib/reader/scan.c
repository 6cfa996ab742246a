/* SPDX-License-Identifier: MIT */
/*
 * The first pass: all tags, the file header, and the records that begin and
 * end snapshots.  No body of a snapshot is decompressed here.
 */
#include <string.h>

#include "contrib/reader/reader.h"

/* The entry of snapshot ID, made when it is met first. */
static struct heapshot_snapshot *get_snapshot(struct heapshot_reader *reader, uint64_t id,
					      uint64_t offset, uint64_t time_ns)
{
	struct hs_snapshots *snapshots = &reader->snapshots;
	uint32_t *index = hs_idmap_find(&snapshots->index, id);
	struct heapshot_snapshot *snapshot;

	if (index != NULL)
		return &snapshots->list[*index];
	if (!hs_memory_reserve(&reader->memory, &snapshots->list, snapshots->n, &snapshots->room,
			       sizeof(*snapshots->list)) ||
	    !hs_memory_reserve(&reader->memory, &snapshots->n_issues, snapshots->n,
			       &snapshots->room_issues, sizeof(*snapshots->n_issues)) ||
	    !hs_idmap_put(&reader->memory, &snapshots->index, id, (uint32_t)snapshots->n))
		return NULL;
	snapshots->n_issues[snapshots->n] = reader->n_issues_met;
	snapshot = &snapshots->list[snapshots->n++];
	*snapshot = (struct heapshot_snapshot){
		.id = id,
		.label = "",
		.trigger = "",
		.fork = "",
		.note = "",
		.time_ns = time_ns,
		.begin_offset = offset,
	};
	return snapshot;
}

static bool set_texts(struct heapshot_reader *reader, struct heapshot_snapshot *snapshot,
		      const char *label, const char *trigger)
{
	struct hs_arena *arena = &reader->snapshots.arena;

	if (*snapshot->label == '\0')
		snapshot->label = hs_arena_text(&reader->memory, arena, label);
	if (*snapshot->trigger == '\0' && snapshot->label != NULL)
		snapshot->trigger = hs_arena_text(&reader->memory, arena, trigger);
	return snapshot->label != NULL && snapshot->trigger != NULL;
}

static bool take_begin(struct heapshot_reader *reader, struct heapshot_snapshot *snapshot,
		       const Heapshot__SnapshotBegin *begin, uint64_t time_ns)
{
	snapshot->has_begin = begin->id == snapshot->id;
	snapshot->time_ns = time_ns;
	snapshot->generation = begin->generation;
	snapshot->is_stats_only = begin->is_stats_only;
	snapshot->is_unreachable_possible = begin->unreachable_possible;
	return set_texts(reader, snapshot, begin->label, begin->trigger);
}

static const char *fork_name(Heapshot__SnapshotFork fork)
{
	static const char *const names[] = {"",     "child",  "never",   "output",       "small",
					    "last", "unsafe", "refused", "after_failure"};

	return (size_t)fork < sizeof(names) / sizeof(*names) ? names[fork] : "";
}

static bool take_end(struct heapshot_reader *reader, struct heapshot_snapshot *snapshot,
		     const Heapshot__SnapshotEnd *end, uint64_t time_ns)
{
	size_t i;

	snapshot->has_end = end->id == snapshot->id;
	snapshot->end_time_ns = time_ns;
	snapshot->status = (uint32_t)end->status;
	snapshot->objects = end->objects;
	snapshot->references = end->references;
	snapshot->bytes = end->bytes;
	snapshot->slot_bytes = end->slot_bytes;
	snapshot->roots = end->roots;
	snapshot->unresolved_roots = end->unresolved_roots;
	snapshot->ephemeron_edges = end->ephemeron_edges;
	snapshot->object_hash = end->object_hash;
	snapshot->object_batches = end->object_batches;
	snapshot->root_batches = end->root_batches;
	snapshot->ephemeron_batches = end->ephemeron_batches;
	snapshot->handle_tables = end->handle_tables;
	snapshot->handles = end->handles;
	snapshot->pause_ns = end->pause_ns;
	snapshot->walk_ns = end->walk_ns;
	snapshot->duration_ns = end->duration_ns;
	snapshot->fork_ns = end->fork_ns;
	snapshot->frames_lost = end->frames_lost;
	snapshot->heap_bytes = end->heap_bytes;
	snapshot->fork = fork_name(end->fork);
	snapshot->child_cpu_ns = end->child_cpu_ns;
	snapshot->copied_bytes = end->copied_bytes;
	snapshot->note = hs_arena_text(&reader->memory, &reader->snapshots.arena, end->note);
	if (snapshot->note == NULL)
		return false;
	for (i = 0; i < end->n_roots_by_kind && i < HEAPSHOT_ROOT_KINDS_MAX; i++)
		snapshot->roots_by_kind[i] = end->roots_by_kind[i];
	return set_texts(reader, snapshot, end->label, end->trigger);
}

static bool take_header(struct heapshot_reader *reader, const Heapshot__FileHeader *header)
{
	struct hs_memory *memory = &reader->memory;
	struct hs_arena *arena = &reader->arena;

	reader->has_header = true;
	reader->header = (struct heapshot_header){
		.version_major = header->version_major,
		.version_minor = header->version_minor,
		.word_bytes = header->word_bytes,
		.pid = header->pid,
		.wall_start_unix_ns = header->wall_start_unix_ns,
		.is_late_start = header->late_start,
		.writer = hs_arena_text(memory, arena, header->writer),
		.runtime = hs_arena_text(memory, arena, header->runtime),
		.architecture = hs_arena_text(memory, arena, header->architecture),
		.system = hs_arena_text(memory, arena, header->system),
		.options = hs_arena_text(memory, arena, header->options),
		.host_name = hs_arena_text(memory, arena, header->host_name),
		.command_line = hs_arena_text(memory, arena, header->command_line),
	};
	return reader->header.writer && reader->header.runtime && reader->header.architecture &&
	       reader->header.system && reader->header.options && reader->header.host_name &&
	       reader->header.command_line;
}

static bool take_file_end(struct heapshot_reader *reader, const Heapshot__End *end)
{
	reader->summary.end_reason = (uint32_t)end->reason;
	reader->summary.end_note = hs_arena_text(&reader->memory, &reader->arena, end->note);
	return reader->summary.end_note != NULL;
}

/*
 * A frame of SNAPSHOT was met: issues since its first one lie inside of it.
 * They are counted, since the list keeps only the first of all.
 */
static void count_issues(struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot)
{
	struct hs_snapshots *snapshots = &reader->snapshots;
	uint64_t *n_issues = &snapshots->n_issues[snapshot - snapshots->list];

	if (*n_issues != reader->n_issues_met)
		*n_issues = HS_TORN;
}

/* One record of a frame that the scan looks into. */
static enum heapshot_read_result take_record(struct heapshot_reader *reader,
					     const struct heapshot_record *record,
					     struct heapshot_snapshot *snapshot)
{
	bool has_memory = true;

	switch (record->field) {
	case HEAPSHOT__RECORD__BODY_HEADER: {
		Heapshot__FileHeader *header =
			heapshot__file_header__unpack(NULL, record->body_bytes, record->body);

		if (header == NULL)
			return hs_bad_record(reader, "FileHeader");
		if (!reader->has_header)
			has_memory = take_header(reader, header);
		heapshot__file_header__free_unpacked(header, NULL);
		if (has_memory && reader->header.version_major != 1)
			return hs_fail(reader, HEAPSHOT_READ_WRONG_VERSION,
				       "format %u.%u; this reader knows 1.x, get a newer heapshot",
				       reader->header.version_major, reader->header.version_minor);
		if (has_memory && reader->header.word_bytes != 4 && reader->header.word_bytes != 8)
			return hs_fail(reader, HEAPSHOT_READ_WRONG_VERSION,
				       "words of %u bytes; this reader knows 4 and 8",
				       reader->header.word_bytes);
		break;
	}
	case HEAPSHOT__RECORD__BODY_SNAPSHOT_BEGIN: {
		Heapshot__SnapshotBegin *begin =
			heapshot__snapshot_begin__unpack(NULL, record->body_bytes, record->body);

		if (begin == NULL)
			return hs_bad_record(reader, "SnapshotBegin");
		if (snapshot != NULL)
			has_memory = take_begin(reader, snapshot, begin, record->time_ns);
		heapshot__snapshot_begin__free_unpacked(begin, NULL);
		break;
	}
	case HEAPSHOT__RECORD__BODY_SNAPSHOT_END: {
		Heapshot__SnapshotEnd *end =
			heapshot__snapshot_end__unpack(NULL, record->body_bytes, record->body);

		if (end == NULL)
			return hs_bad_record(reader, "SnapshotEnd");
		if (snapshot != NULL)
			has_memory = take_end(reader, snapshot, end, record->time_ns);
		heapshot__snapshot_end__free_unpacked(end, NULL);
		break;
	}
	case HEAPSHOT__RECORD__BODY_END: {
		Heapshot__End *end = heapshot__end__unpack(NULL, record->body_bytes, record->body);

		if (end == NULL)
			return hs_bad_record(reader, "End");
		has_memory = take_file_end(reader, end);
		heapshot__end__free_unpacked(end, NULL);
		break;
	}
	default:
		break;
	}
	return has_memory ? HEAPSHOT_READ_OK : hs_fail_memory(reader);
}

/* Looks into one frame; DAMAGED is noted as an issue and not returned. */
static enum heapshot_read_result look_into(struct heapshot_reader *reader,
					   const struct heapshot_frame *frame,
					   struct heapshot_snapshot *snapshot)
{
	enum heapshot_read_result result = heapshot_reader_load_frame(reader, frame);
	struct heapshot_record record;

	while (result == HEAPSHOT_READ_OK) {
		result = heapshot_reader_next_record(reader, &record);
		if (result == HEAPSHOT_READ_OK)
			result = take_record(reader, &record, snapshot);
		/* The header stands first; what follows are names. */
		if (result == HEAPSHOT_READ_OK && frame->kind == HEAPSHOT_FRAME_METADATA)
			break;
	}
	if (result == HEAPSHOT_READ_END || result == HEAPSHOT_READ_DAMAGED)
		return HEAPSHOT_READ_OK;
	return result;
}

/* Takes one frame into account. */
static enum heapshot_read_result scan_frame(struct heapshot_reader *reader,
					    const struct heapshot_frame *frame)
{
	struct heapshot_summary *summary = &reader->summary;
	struct heapshot_snapshot *snapshot = NULL;

	if (summary->n_frames++ == 0)
		reader->first_offset = frame->offset;
	summary->raw_bytes += frame->raw_bytes;
	summary->last_time_ns = frame->time_ns;
	reader->last_offset = frame->offset;
	summary->end_offset = frame->body_offset + frame->compressed_bytes;
	if (frame->kind >= HEAPSHOT_FRAME_METADATA && frame->kind <= HEAPSHOT_FRAME_END)
		summary->n_frames_by_kind[frame->kind]++;
	else
		summary->n_unknown_frames++;

	switch (frame->kind) {
	case HEAPSHOT_FRAME_SNAPSHOT_BEGIN:
	case HEAPSHOT_FRAME_SNAPSHOT_BODY:
	case HEAPSHOT_FRAME_SNAPSHOT_END:
		snapshot = get_snapshot(reader, frame->snapshot, frame->offset, frame->time_ns);
		if (snapshot == NULL)
			return hs_fail_memory(reader);
		count_issues(reader, snapshot);
		snapshot->last_offset = frame->offset;
		snapshot->end_offset = summary->end_offset;
		if (frame->kind == HEAPSHOT_FRAME_SNAPSHOT_BODY)
			break;
		return look_into(reader, frame, snapshot);
	case HEAPSHOT_FRAME_METADATA:
		if (!reader->has_header)
			return look_into(reader, frame, NULL);
		break;
	case HEAPSHOT_FRAME_END:
		summary->has_end = true;
		return look_into(reader, frame, NULL);
	default:
		break;
	}
	return HEAPSHOT_READ_OK;
}

/* Nothing of a recording was found: says what it may be instead. */
static enum heapshot_read_result not_recording(struct heapshot_reader *reader)
{
	uint8_t head[512];
	ssize_t n = hs_source_read(&reader->source, 0, head, sizeof(head)), i;

	if (n < 0)
		return hs_fail_io(reader, (int)-n);
	if (n == 0)
		return hs_fail(reader, HEAPSHOT_READ_NOT_RECORDING,
			       "not a heapshot recording (the file is empty)");
	if (reader->n_issues > 0 && reader->issues[0].kind == HEAPSHOT_ISSUE_TRUNCATED &&
	    reader->issues[0].offset == 0)
		return hs_fail(reader, HEAPSHOT_READ_TRUNCATED,
			       "truncated at offset %llu, inside its first frame",
			       (unsigned long long)reader->source.size);
	if (n >= 4 && head[0] == 0x04 && head[1] == 0x22 && head[2] == 0x4D && head[3] == 0x18)
		return hs_fail(reader, HEAPSHOT_READ_NOT_RECORDING,
			       "not a heapshot recording (an LZ4 file without frame tags)");
	for (i = 0; i < n; i++)
		if (head[i] < 0x09 || (head[i] > 0x0D && head[i] < 0x20 && head[i] != 0x1B) ||
		    head[i] == 0x7F)
			break;
	if (i == n)
		return hs_fail(reader, HEAPSHOT_READ_NOT_RECORDING,
			       "not a heapshot recording (it is text)");
	return hs_fail(reader, HEAPSHOT_READ_NOT_RECORDING,
		       "not a heapshot recording (no frame tag at offset 0)");
}

/* Says which snapshots are whole, as far as tags, begins and ends tell. */
static void judge_snapshots(struct heapshot_reader *reader)
{
	struct hs_snapshots *snapshots = &reader->snapshots;
	size_t i;

	for (i = 0; i < snapshots->n; i++) {
		struct heapshot_snapshot *snapshot = &snapshots->list[i];

		snapshot->is_complete = snapshot->has_begin && snapshot->has_end &&
					snapshot->status == 0 && snapshot->frames_lost == 0 &&
					snapshots->n_issues[i] != HS_TORN;
	}
}

static void assume_header(struct heapshot_reader *reader)
{
	struct heapshot_issue issue = {.kind = HEAPSHOT_ISSUE_NO_HEADER};

	hs_issue(reader, &issue);
	reader->header.version_major = 1;
	reader->header.word_bytes = 8;
	reader->header.is_assumed = true;
}

enum heapshot_read_result hs_scan(struct heapshot_reader *reader)
{
	struct hs_cursor cursor = {.stop = reader->source.size, .rescan = 1};
	enum heapshot_read_result result;
	struct heapshot_frame frame;

	while ((result = hs_frame_next(reader, &cursor, &frame)) == HEAPSHOT_READ_OK) {
		result = scan_frame(reader, &frame);
		if (result != HEAPSHOT_READ_OK)
			return result;
		if (reader->progress != NULL)
			reader->progress(reader->progress_data, frame.offset, reader->source.size);
	}
	if (result != HEAPSHOT_READ_END)
		return result;
	if (reader->summary.n_frames == 0)
		return not_recording(reader);
	if (!reader->has_header)
		assume_header(reader);
	if (reader->summary.n_dropped > 0) {
		struct heapshot_issue issue = {
			.kind = HEAPSHOT_ISSUE_DROPPED,
			.frames = reader->summary.n_dropped,
		};

		hs_issue(reader, &issue);
	}
	if (!reader->summary.has_end) {
		struct heapshot_issue issue = {
			.kind = HEAPSHOT_ISSUE_NO_END,
			.offset = reader->summary.end_offset,
		};

		hs_issue(reader, &issue);
	}
	judge_snapshots(reader);
	return HEAPSHOT_READ_OK;
}
