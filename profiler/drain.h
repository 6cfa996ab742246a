/* SPDX-License-Identifier: MIT */
/*
 * Inside of draining: one function for each kind of entry.  They run as the
 * owner, possibly in the stopped world: no malloc, no call into the runtime.
 *
 * A record is written first and applied to the tables afterwards, because an
 * entry that a slow reader leaves no room for stays in the log and comes again.
 */
#ifndef HEAPSHOT_PROFILER_DRAIN_H
#define HEAPSHOT_PROFILER_DRAIN_H

#include "profiler/recorder.h"

struct hs_draining {
	uint64_t deadline_ns;
	int error;
};

/* A record around BODY; all members of the union are pointers to messages. */
#define HS_RECORD(name, body, CASE)                                                                \
	Heapshot__Record name = HEAPSHOT__RECORD__INIT;                                            \
	name.body_case = HEAPSHOT__RECORD__BODY_##CASE;                                            \
	name.header = (void *)&body

int hs_drain_put(struct hs_draining *drain, enum hs_frame_kind kind,
		 const struct hs_log_entry *entry, Heapshot__Record *record);

static inline bool hs_drain_wants(uint32_t events)
{
	return hs_recorder.options.events & events;
}

/* Texts follow each other; each ends with a zero byte. */
static inline char *hs_drain_text(char **text, uint32_t bytes)
{
	char *current = *text;

	*text += bytes + 1;
	return current;
}

/* *id of the image at ADDRESS; one that was not announced is told with no more than its NAME. */
int hs_drain_image_of(struct hs_draining *drain, const struct hs_log_entry *entry,
		      uintptr_t address, char *name, uint32_t *id);

/* Tells of a stop of the world that lasts, before it is in the log.  0, -EAGAIN, or the output's error. */
int hs_drain_open_gc(struct hs_draining *drain);

/* Each returns 0, -EAGAIN (the entry stays), -ENOMEM or -EMSGSIZE (it is lost), or the output's error. */
typedef int hs_drain_entry(struct hs_draining *drain, struct hs_log_entry *entry);

/* drain_types.c */
hs_drain_entry hs_drain_class, hs_drain_layout, hs_drain_vtable, hs_drain_image, hs_drain_domain,
	hs_drain_thread;
/* drain_gc.c */
hs_drain_entry hs_drain_gc;
/* drain_events.c */
hs_drain_entry hs_drain_root, hs_drain_moves, hs_drain_handle, hs_drain_counter, hs_drain_sample,
	hs_drain_marker;
/* drain_methods.c */
hs_drain_entry hs_drain_chunk, hs_drain_method, hs_drain_code, hs_drain_buffer;

#endif
