/* SPDX-License-Identifier: MIT */
/*
 * Taking a snapshot: all of it in the process, or its beginning, while a child
 * writes the rest.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <mono/metadata/mono-gc.h>

#include "profiler/fork.h"
#include "profiler/gc.h"
#include "profiler/handles.h"
#include "profiler/helper.h"
#include "profiler/late.h"
#include "profiler/recorder.h"
#include "profiler/request.h"
#include "profiler/roots.h"
#include "profiler/service.h"
#include "profiler/snapshot.h"
#include "profiler/walk.h"
#include "profiler/windup.h"

/* The snapshot under way; one at a time. */
static struct {
	uint64_t id;
	uint64_t begin_ns;
	uint64_t stall_ns; /* how long a slow reader may still be waited for */
	bool has_begun;    /* its begin is in the output, or on the way there */
	bool is_file;      /* writes to a regular file are never a matter of a reader */
	bool is_shared;    /* the writer thread compresses and writes */
	Heapshot__SnapshotFork fork;
	Heapshot__TypeTotal totals[64];
	size_t n_totals;
} current;

static struct hs_root_set root_set;

static bool is_for_child(void)
{
	return current.fork == HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_CHILD;
}

/*
 * The time until which a slow reader is waited for.  What is left of the bound
 * shrinks by what each frame took.
 */
static uint64_t deadline(void)
{
	return hs_monotonic_ns() + current.stall_ns;
}

static void account(uint64_t since_ns)
{
	const uint64_t took_ns = hs_monotonic_ns() - since_ns;

	if (!current.is_file)
		current.stall_ns -= took_ns < current.stall_ns ? took_ns : current.stall_ns;
}

static int put(enum hs_frame_kind kind, Heapshot__Record *record, uint64_t time_ns)
{
	const uint64_t since_ns = hs_monotonic_ns();
	int error = hs_stream_put(hs_recorder.stream, kind, hs_since_start(time_ns), record,
				  deadline());

	account(since_ns);
	return error;
}

static int flush(enum hs_frame_kind kind)
{
	const uint64_t since_ns = hs_monotonic_ns();
	int error = hs_stream_flush(hs_recorder.stream, kind, deadline());

	account(since_ns);
	return error;
}

static uint8_t *reserve(uint32_t field, size_t bytes, int *error)
{
	const uint64_t since_ns = hs_monotonic_ns();
	uint8_t *out = hs_stream_put_raw(hs_recorder.stream, HS_FRAME_SNAPSHOT_BODY,
					 hs_since_start(current.begin_ns), field, bytes, deadline(),
					 error);

	account(since_ns);
	return out;
}

static int put_objects(void)
{
	int error = 0;
	uint8_t *out = reserve(HEAPSHOT__RECORD__BODY_OBJECT_BATCH,
			       hs_batch_bytes(hs_recorder.batches), &error);

	if (out)
		hs_batch_finish(hs_recorder.batches, out);
	return error;
}

static int put_ephemerons(void)
{
	int error = 0;
	uint8_t *out = reserve(HEAPSHOT__RECORD__BODY_EPHEMERON_BATCH,
			       hs_ephemeron_bytes(&hs_recorder.ephemeron_encoder), &error);

	if (out)
		hs_ephemeron_finish(&hs_recorder.ephemeron_encoder, out);
	return error;
}

static int put_strings(const uint8_t *message, size_t bytes)
{
	int error = 0;
	uint8_t *out = reserve(HEAPSHOT__RECORD__BODY_STRING_BATCH, bytes, &error);

	if (out)
		memcpy(out, message, bytes);
	return error;
}

static uint8_t *reserve_handles(size_t bytes, int *error)
{
	return reserve(HEAPSHOT__RECORD__BODY_HANDLE_TABLE, bytes, error);
}

static int put_roots(void)
{
	int error = 0;
	uint8_t *out = reserve(HEAPSHOT__RECORD__BODY_ROOT_BATCH,
			       hs_root_bytes(&hs_recorder.root_encoder), &error);

	if (out)
		hs_root_finish(&hs_recorder.root_encoder, out);
	return error;
}

static int flush_totals(void)
{
	Heapshot__TypeTotals message = HEAPSHOT__TYPE_TOTALS__INIT;
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;
	Heapshot__TypeTotal *pointers[sizeof current.totals / sizeof *current.totals];
	size_t i;

	if (!current.n_totals)
		return 0;
	for (i = 0; i < current.n_totals; i++)
		pointers[i] = &current.totals[i];
	record.body_case = HEAPSHOT__RECORD__BODY_TYPE_TOTALS;
	record.type_totals = &message;
	message.snapshot = current.id;
	message.n_total = current.n_totals;
	message.total = pointers;
	current.n_totals = 0;
	return put(HS_FRAME_SNAPSHOT_BODY, &record, current.begin_ns);
}

static int put_totals(uint32_t type, uint64_t objects, uint64_t bytes, uint64_t references)
{
	Heapshot__TypeTotal *total = &current.totals[current.n_totals++];

	heapshot__type_total__init(total);
	total->type = type;
	total->objects = objects;
	total->bytes = bytes;
	total->references = references;
	return current.n_totals == sizeof current.totals / sizeof *current.totals ? flush_totals()
										  : 0;
}

static int put_begin(const struct hs_snapshot *snapshot)
{
	Heapshot__SnapshotBegin begin = HEAPSHOT__SNAPSHOT_BEGIN__INIT;
	Heapshot__Record record = HEAPSHOT__RECORD__INIT;
	int error;

	record.body_case = HEAPSHOT__RECORD__BODY_SNAPSHOT_BEGIN;
	record.snapshot_begin = &begin;
	begin.id = current.id;
	begin.label = (char *)(uintptr_t)snapshot->label;
	begin.trigger = (char *)(uintptr_t)snapshot->trigger;
	begin.gc = (uint64_t)mono_gc_collection_count(mono_gc_max_generation());
	begin.generation = snapshot->generation;
	begin.unreachable_possible = HS_SERVICE_TAKES_MINOR && snapshot->generation == 0;
	begin.is_stats_only = snapshot->is_stats_only;
	error = put(HS_FRAME_SNAPSHOT_BEGIN, &record, current.begin_ns);
	if (error)
		return error;
	error = flush(HS_FRAME_SNAPSHOT_BEGIN);
	current.has_begun = !hs_stream_buffered(hs_recorder.stream, HS_FRAME_SNAPSHOT_BEGIN);
	return error;
}

static void init_end(Heapshot__SnapshotEnd *end, Heapshot__Record *record,
		     const struct hs_snapshot *snapshot)
{
	heapshot__record__init(record);
	heapshot__snapshot_end__init(end);
	record->body_case = HEAPSHOT__RECORD__BODY_SNAPSHOT_END;
	record->snapshot_end = end;
	end->id = snapshot->id;
	end->label = (char *)(uintptr_t)snapshot->label;
	end->trigger = (char *)(uintptr_t)snapshot->trigger;
	end->fork = current.fork;
}

static int put_end(const struct hs_snapshot *snapshot, const struct hs_walk_totals *walk,
		   const struct hs_root_totals *roots, const struct hs_handle_totals *handles)
{
	Heapshot__SnapshotEnd end;
	Heapshot__Record record;
	const uint64_t now_ns = hs_monotonic_ns();
	int error;

	init_end(&end, &record, snapshot);
	end.objects = walk->n_objects;
	end.references = walk->n_references;
	end.bytes = walk->bytes;
	/* Statistics are no rows: there is nothing to hold these against. */
	if (!snapshot->is_stats_only) {
		end.slot_bytes = walk->slot_bytes;
		end.object_hash = walk->hash;
	}
	end.object_batches = walk->n_batches;
	end.ephemeron_edges = walk->n_ephemerons;
	end.ephemeron_batches = walk->n_ephemeron_batches;
	end.roots = roots->n_roots;
	end.n_roots_by_kind = HEAPSHOT__ROOT_KIND__ROOT_KIND_SAVED_REGISTERS + 1;
	end.roots_by_kind = (uint64_t *)(uintptr_t)roots->by_kind;
	end.unresolved_roots = roots->n_unresolved;
	end.root_batches = roots->n_batches;
	end.handle_tables = handles->n_parts;
	end.handles = handles->n_rows;
	end.heap_bytes = (uint64_t)mono_gc_get_heap_size();
	end.pause_ns = end.walk_ns = now_ns - current.begin_ns;
	end.duration_ns = now_ns - snapshot->asked_ns;
	if (HS_SERVICE_TAKES_MINOR && snapshot->generation == 0)
		end.note =
			(char *)(uintptr_t) "of a minor collection: old objects may be in it that "
					    "nothing holds any more";
	if (is_for_child())
		hs_fork_fill_end(&end);
	error = put(HS_FRAME_SNAPSHOT_END, &record, now_ns);
	/* Beside the writer thread the rest can wait until the world runs again. */
	if (error || current.is_shared)
		return error;
	error = flush(HS_FRAME_SNAPSHOT_END);
	/* The writer thread brings the rest of it to a slow reader; a child has none. */
	return error == -EAGAIN && !is_for_child() ? 0 : error;
}

/* What comes before the objects. */
static int begin_snapshot(const struct hs_snapshot *snapshot)
{
	const uint64_t since_ns = hs_monotonic_ns();
	int error;

	hs_stream_set_snapshot(hs_recorder.stream, (uint32_t)current.id);
	/* Names first, so that a reader that stops here has them. */
	error = hs_drain(deadline());
	account(since_ns);
	if (!error)
		error = flush(HS_FRAME_METADATA);
	if (!error)
		error = flush(HS_FRAME_EVENTS);
	return error ? error : put_begin(snapshot);
}

/* What a child numbers, or finds without a name, is known to it alone. */
static bool are_types_known(uint32_t n_types, uint32_t n_domains)
{
	return !is_for_child() ||
	       (hs_recorder.types.n_types == n_types && hs_recorder.types.n_domains == n_domains &&
		!hs_late_has_collected());
}

static int finish_snapshot(const struct hs_snapshot *snapshot)
{
	const uint32_t n_types = hs_recorder.types.n_types, n_domains = hs_recorder.types.n_domains;
	struct hs_root_totals roots = {0};
	struct hs_handle_totals handles = {0};
	struct hs_walk *walk = hs_fork_walk();
	int error;

	memset(walk, 0, sizeof *walk);
	walk->snapshot = current.id;
	walk->is_stats_only = snapshot->is_stats_only;
	walk->roots = &root_set;
	walk->put_objects = put_objects;
	walk->put_ephemerons = put_ephemerons;
	walk->put_strings = put_strings;
	walk->put_totals = put_totals;
	hs_handles_begin();
	error = hs_walk_run(walk);
	if (!error && snapshot->is_stats_only)
		error = flush_totals();
	/* Before the roots, whose names may come from there. */
	if (!error && !snapshot->is_stats_only)
		error = hs_handles_write(current.id, reserve_handles, &handles);
	if (!error && !snapshot->is_stats_only)
		error = hs_roots_write(&root_set, current.id, put_roots, &roots);
	if (!error && !are_types_known(n_types, n_domains))
		error = -ENOENT;
	if (!error)
		error = flush(HS_FRAME_SNAPSHOT_BODY);
	return error ? error : put_end(snapshot, &walk->totals, &roots, &handles);
}

static void run_child(const struct hs_snapshot *snapshot)
{
	current.stall_ns = HS_FORK_READER_NS;
	hs_fork_child_end(hs_root_set_fill(&root_set) ? finish_snapshot(snapshot) : -ENOMEM);
}

/* Frames that the output has taken stay there; what is not in one yet is dropped. */
static void abandon(const struct hs_snapshot *snapshot, int error)
{
	hs_stream_discard(hs_recorder.stream, HS_FRAME_SNAPSHOT_BODY);
	if (!current.has_begun || hs_stream_error(hs_recorder.stream))
		return;
	hs_snapshot_give_up(snapshot,
			    error == -EAGAIN   ? "the output was too slow"
			    : error == -ENOMEM ? "memory was short"
					       : "it could not be encoded",
			    hs_monotonic_ns() - current.begin_ns);
}

/* Sets *is_forked when a child writes the rest. */
static int write_snapshot(const struct hs_snapshot *snapshot, bool *is_forked)
{
	int error;

	if (!is_for_child() && !hs_root_set_fill(&root_set))
		return -ENOMEM;
	error = begin_snapshot(snapshot);
	if (!error && is_for_child()) {
		error = hs_fork(snapshot);
		if (error == 1)
			run_child(snapshot);
		if (!error) {
			*is_forked = true;
			return 0;
		}
		current.fork = HEAPSHOT__SNAPSHOT_FORK__SNAPSHOT_FORK_REFUSED;
		error = hs_root_set_fill(&root_set) ? 0 : -ENOMEM;
	}
	if (!error) {
		current.is_shared = hs_helper_begin();
		if (current.is_shared && current.is_file)
			current.stall_ns = HS_HELPER_FILE_NS;
		error = finish_snapshot(snapshot);
	}
	if (error)
		abandon(snapshot, error);
	return error;
}

void hs_snapshot_give_up(const struct hs_snapshot *snapshot, const char *why, uint64_t pause_ns)
{
	Heapshot__SnapshotEnd end;
	Heapshot__Record record;

	init_end(&end, &record, snapshot);
	end.status = HEAPSHOT__SNAPSHOT_STATUS__SNAPSHOT_STATUS_ABANDONED;
	end.note = (char *)(uintptr_t)why;
	end.pause_ns = pause_ns;
	/* What a slow reader leaves waiting the writer thread brings to it. */
	if (!hs_stream_put(hs_recorder.stream, HS_FRAME_SNAPSHOT_END,
			   hs_since_start(hs_monotonic_ns()), &record, 0))
		hs_stream_flush(hs_recorder.stream, HS_FRAME_SNAPSHOT_END, 0);
}

static void check_limits(void)
{
	const struct hs_options *options = &hs_recorder.options;

	if ((options->max_snapshots &&
	     atomic_load(&hs_recorder.n_snapshots) >= options->max_snapshots) ||
	    (options->max_size_bytes && hs_recorder.sink.bytes >= options->max_size_bytes)) {
		int expected = 0;
		atomic_store(&hs_recorder.is_limit_reached, 1);
		atomic_compare_exchange_strong(&hs_recorder.is_closing, &expected,
					       HEAPSHOT__END_REASON__END_REASON_LIMIT + 1);
	}
}

void hs_snapshot_ended(const struct hs_snapshot *snapshot, int error, uint64_t ns)
{
	if (error) {
		atomic_fetch_add(&hs_recorder.n_dropped, 1);
		hs_count_loss(HEAPSHOT__LOSS_KIND__LOSS_KIND_SNAPSHOTS, 1);
	} else {
		atomic_fetch_add(&hs_recorder.n_snapshots, 1);
		check_limits();
	}
	hs_gc_snapshot_ended(ns);
	if (snapshot->request)
		hs_request_done(snapshot->request, snapshot->id, error);
}

void hs_snapshot_take(struct hs_snapshot *snapshot)
{
	bool is_forked = false;
	int error = -EBUSY;

	current.begin_ns = hs_monotonic_ns();
	current.stall_ns = HS_STALL_LIMIT_NS;
	current.n_totals = 0;
	current.has_begun = current.is_shared = false;
	snapshot->id = ++hs_recorder.last_snapshot;
	current.id = snapshot->id;
	/* A child that forked without our knowing has our descriptors and none of our threads. */
	if (getpid() != hs_recorder.pid) {
		error = -ENOTCONN;
	} else if (hs_own(HS_OWNER_LIMIT_NS)) {
		current.is_file = hs_recorder.sink.is_regular;
		account(current.begin_ns);
		current.fork = hs_fork_decide(snapshot->request ? snapshot->request->trigger
								: HS_TRIGGER_GC);
		error = hs_recorder.error ? hs_recorder.error
					  : write_snapshot(snapshot, &is_forked);
		if (is_forked)
			hs_request_forked(snapshot->request, snapshot->id);
		if (!current.is_shared || hs_helper_end())
			hs_disown();
	}
	if (is_forked)
		hs_fork_tell_pause(hs_monotonic_ns() - current.begin_ns);
	else if (current.is_shared)
		hs_windup_later(snapshot, error, hs_monotonic_ns() - current.begin_ns,
				current.stall_ns);
	else
		hs_snapshot_ended(snapshot, error, hs_monotonic_ns() - current.begin_ns);
	hs_late_publish();
	hs_wake(hs_recorder.wake_writer);
}
