/* SPDX-License-Identifier: MIT */
/*
 * From the log to the tables and the stream.
 */
#include "config.h"

#include <errno.h>

#include "profiler/drain.h"
#include "profiler/ring.h"

int hs_drain_put(struct hs_draining *drain, enum hs_frame_kind kind,
		 const struct hs_log_entry *entry, Heapshot__Record *record)
{
	return hs_record_put(kind, hs_since_start(entry->time_ns), record, drain->deadline_ns);
}

static hs_drain_entry *const drains[] = {
	[HS_ENTRY_CLASS] = hs_drain_class,   [HS_ENTRY_LAYOUT] = hs_drain_layout,
	[HS_ENTRY_VTABLE] = hs_drain_vtable, [HS_ENTRY_IMAGE] = hs_drain_image,
	[HS_ENTRY_DOMAIN] = hs_drain_domain, [HS_ENTRY_THREAD] = hs_drain_thread,
	[HS_ENTRY_ROOT] = hs_drain_root,     [HS_ENTRY_GC] = hs_drain_gc,
	[HS_ENTRY_MOVES] = hs_drain_moves,   [HS_ENTRY_CHUNK] = hs_drain_chunk,
	[HS_ENTRY_HANDLE] = hs_drain_handle, [HS_ENTRY_COUNTER] = hs_drain_counter,
	[HS_ENTRY_SAMPLE] = hs_drain_sample, [HS_ENTRY_MARKER] = hs_drain_marker,
	[HS_ENTRY_METHOD] = hs_drain_method, [HS_ENTRY_CODE] = hs_drain_code,
	[HS_ENTRY_BUFFER] = hs_drain_buffer,
};

static Heapshot__LossKind loss_of(uint32_t kind)
{
	switch (kind) {
	case HS_ENTRY_ROOT:
		return HEAPSHOT__LOSS_KIND__LOSS_KIND_ROOT_RANGES;
	case HS_ENTRY_METHOD:
	case HS_ENTRY_CODE:
	case HS_ENTRY_BUFFER:
		return HEAPSHOT__LOSS_KIND__LOSS_KIND_METHODS;
	case HS_ENTRY_GC:
	case HS_ENTRY_MOVES:
	case HS_ENTRY_CHUNK:
	case HS_ENTRY_HANDLE:
	case HS_ENTRY_SAMPLE:
	case HS_ENTRY_MARKER:
		return HEAPSHOT__LOSS_KIND__LOSS_KIND_EVENTS;
	default:
		return HEAPSHOT__LOSS_KIND__LOSS_KIND_DEFINITIONS;
	}
}

static bool visit(struct hs_log_entry *entry, void *data)
{
	struct hs_draining *drain = data;
	int error = drains[entry->kind](drain, entry);

	if (error == -ENOMEM || error == -EMSGSIZE) {
		/* This one is lost; what comes behind it is not. */
		hs_count_loss(loss_of(entry->kind), 1);
		return true;
	}
	drain->error = error;
	return error == 0;
}

int hs_drain(uint64_t deadline_ns)
{
	struct hs_draining drain = {.deadline_ns = deadline_ns};

	if (hs_log_drain(&hs_recorder.log, visit, &drain))
		atomic_store(&hs_recorder.is_stuck, 0);
	if (!drain.error)
		drain.error = hs_drain_open_gc(&drain);
	return drain.error;
}
