/* SPDX-License-Identifier: MIT */
/*
 * libheapshot-reader: reads heapshot recordings.
 *
 * Reading order of this header: results, opening, the snapshots and names of a
 * recording, totals and roots of one snapshot, and at the end the passes over
 * frames, records and objects that all of the above is made of.  Methods and
 * other code have a header of their own, heapshot-reader-code.h.
 *
 * Threads:  a reader belongs to one thread at a time; different readers may be
 *           used on different threads.  There is no global state.
 * Errors:   functions return enum heapshot_read_result; what it means for each
 *           is said there.  heapshot_reader_error() has the sentence for people.
 *           The library never prints, never exits and never aborts.
 * Memory:   all of a reader's memory is counted against a limit that is given
 *           when it is made.  Every size in a file is checked against what is
 *           there before memory is asked for; what would pass the limit is
 *           refused with HEAPSHOT_READ_MEMORY.  Pointers handed out stay valid
 *           until the reader is freed, unless said otherwise.
 * Units:    stand in names: _ns nanoseconds, _bytes bytes.  Times are since the
 *           start of the recording.  Sizes of objects are exact ones; those of
 *           their slots in the heap, which may be larger, are called slot_bytes.
 * Text:     comes from the file as it is (UTF-8 when the writer kept the rules).
 *           Mask it before it reaches a terminal.
 *
 * What is unknown (kinds of frames, records, fields) is passed over and counted.
 * What is lost (damaged frames, a missing end) is kept as a list of issues with
 * positions, and everything else is read.
 */
#ifndef HEAPSHOT_READER_H
#define HEAPSHOT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HEAPSHOT_READER_API __attribute__((visibility("default")))
#else
#define HEAPSHOT_READER_API
#endif

/* ---- Results ---- */

enum heapshot_read_result {
	HEAPSHOT_READ_OK = 0,
	/* Nothing more: the last frame, record, object was read before. */
	HEAPSHOT_READ_END = 1,
	/* The file ends inside a frame; all before it can be read. */
	HEAPSHOT_READ_TRUNCATED = 2,
	/* Bytes were changed: something is lost, see the issues; the rest was read. */
	HEAPSHOT_READ_DAMAGED = 3,
	/* Not made by heapshot: empty, text, another format. */
	HEAPSHOT_READ_NOT_RECORDING = 4,
	/* A recording of another major version of the format. */
	HEAPSHOT_READ_WRONG_VERSION = 5,
	/* The system could not open or read it; heapshot_reader_errno() says why. */
	HEAPSHOT_READ_IO = 6,
	/* Out of memory, or over the reader's limit. */
	HEAPSHOT_READ_MEMORY = 7,
	/* No such snapshot, or no snapshot at all. */
	HEAPSHOT_READ_NOT_FOUND = 8,
	/* The snapshot has no end, or what was read differs from its totals. */
	HEAPSHOT_READ_INCOMPLETE = 9,
	/* The call was wrong: not open, wrong order, NULL. */
	HEAPSHOT_READ_MISUSE = 10
};

/* A few words for RESULT; a static string, never NULL. */
HEAPSHOT_READER_API const char *heapshot_read_result_text(enum heapshot_read_result result);

/* ---- Opening ---- */

struct heapshot_reader;

struct heapshot_reader_options {
	size_t size;           /* sizeof(struct heapshot_reader_options) */
	size_t memory_bytes;   /* limit; 0: 48 MiB */
	uintptr_t reserved[6]; /* 0 */
};

/*
 * Makes a reader.  OPTIONS may be NULL.  Returns NULL when there is no memory.
 */
HEAPSHOT_READER_API struct heapshot_reader *
heapshot_reader_new(const struct heapshot_reader_options *options);

/* Frees a reader and all that it handed out; NULL is allowed. */
HEAPSHOT_READER_API void heapshot_reader_free(struct heapshot_reader *reader);

/* Raises or lowers the limit of memory. */
HEAPSHOT_READER_API void heapshot_reader_set_memory(struct heapshot_reader *reader, size_t bytes);

/*
 * Opens the recording at PATH; "-" is standard input.  What cannot be read at
 * any position (a pipe, a FIFO) is first copied to an unnamed file in $TMPDIR
 * (or /tmp).  A file that grows is read as long as it is now.
 *
 * All three ways to open read the tags of the whole recording and the frames
 * that begin and end its snapshots, but no bodies of snapshots.
 *
 * A ring file (see FORMAT.md) is read as a recording with its frames in order;
 * offsets then count in what is read, not in the file.
 *
 * Returns OK also when parts are damaged or the end is missing: see the issues.
 * NOT_RECORDING, WRONG_VERSION, IO, MEMORY as above; TRUNCATED when not even
 * the first frame is whole.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_open_file(struct heapshot_reader *reader, const char *path);

/* The same on SIZE bytes of memory, which must stay until the reader is freed. */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_open_memory(struct heapshot_reader *reader, const void *data, size_t size);

/*
 * Fills BUFFER with up to SIZE bytes from OFFSET; returns how many (fewer only
 * at the end of the data), or a negative errno.
 */
typedef ssize_t heapshot_read_at(void *user_data, uint64_t offset, void *buffer, size_t size);

/* The same on a function and the SIZE of what it reads. */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_open_callback(struct heapshot_reader *reader, heapshot_read_at *read_at,
			      void *user_data, uint64_t size);

/* One sentence on the last failure of READER; never NULL; until its next call. */
HEAPSHOT_READER_API const char *heapshot_reader_error(const struct heapshot_reader *reader);
/* errno value of the last HEAPSHOT_READ_IO, else 0. */
HEAPSHOT_READER_API int heapshot_reader_errno(const struct heapshot_reader *reader);
/* Bytes of the recording's file. */
HEAPSHOT_READER_API uint64_t heapshot_reader_size_bytes(const struct heapshot_reader *reader);

/* ---- The recording ---- */

struct heapshot_header {
	uint32_t version_major, version_minor;
	uint32_t word_bytes; /* 4 or 8 */
	uint64_t pid;
	uint64_t wall_start_unix_ns; /* wall clock at time 0 */
	bool is_late_start;          /* recording began in a running runtime */
	bool is_assumed;             /* the header was lost: 8-byte words are assumed */
	const char *writer, *runtime, *architecture, *system, *options, *host_name,
		*command_line; /* never NULL */
};

HEAPSHOT_READER_API const struct heapshot_header *
heapshot_reader_header(const struct heapshot_reader *reader);

/* What the tags say of the whole file. */
struct heapshot_summary {
	uint32_t stream; /* the recording's random id */
	uint64_t n_frames;
	uint64_t n_frames_by_kind[8]; /* index: enum heapshot_frame_kind */
	uint64_t n_unknown_frames;    /* of kinds unknown to us */
	uint64_t raw_bytes;           /* before compression, as the tags say */
	uint64_t last_time_ns;        /* of the last frame */
	uint64_t end_offset;          /* behind the last frame of the recording */
	bool has_end;                 /* the recording ended in order */
	uint32_t end_reason;          /* EndReason of heapshot.proto */
	const char *end_note;         /* never NULL */
	bool is_ring;                 /* the file is a ring: frames are read in order */
	uint64_t n_dropped;           /* frames that a ring has dropped for newer ones */
	uint64_t n_unkept;            /* frames of names that a ring had no lasting room for */
	uint64_t n_left_out;          /* frames that are not in this part of a recording */
};

HEAPSHOT_READER_API const struct heapshot_summary *
heapshot_reader_summary(const struct heapshot_reader *reader);

enum heapshot_issue_kind {
	HEAPSHOT_ISSUE_TRUNCATED = 1,  /* the file ends inside a frame */
	HEAPSHOT_ISSUE_NO_END = 2,     /* no end record: killed, still running, or cut */
	HEAPSHOT_ISSUE_DAMAGED = 3,    /* no frame can be found in these bytes */
	HEAPSHOT_ISSUE_BAD_FRAME = 4,  /* a frame does not match its tag or checksum */
	HEAPSHOT_ISSUE_REFUSED = 5,    /* a frame says to be larger than is allowed */
	HEAPSHOT_ISSUE_BAD_RECORD = 6, /* a record cannot be decoded */
	HEAPSHOT_ISSUE_GAP = 7,        /* frames are missing from the numbering */
	HEAPSHOT_ISSUE_TRAILING = 8,   /* bytes behind the end of the recording */
	HEAPSHOT_ISSUE_SECOND = 9,     /* another recording begins here; it is not read */
	HEAPSHOT_ISSUE_NO_HEADER = 10, /* the file header was lost */
	HEAPSHOT_ISSUE_DROPPED = 11    /* a ring has dropped frames for newer ones; no damage */
};

struct heapshot_issue {
	enum heapshot_issue_kind kind;
	uint64_t offset;     /* in the file */
	uint64_t bytes;      /* concerned, in the file */
	uint64_t frames;     /* lost, where that is known, else 0 */
	uint64_t seq;        /* frame's number, where it is known */
	uint32_t frame_kind; /* enum heapshot_frame_kind, 0: unknown */
	uint32_t snapshot;   /* the frame belongs to, 0: none or unknown */
	const char *detail;  /* static text or "" */
};

/*
 * Issues met so far: those of the tags when the file is opened, those of bodies
 * when they are read.  At most HEAPSHOT_ISSUES_MAX are kept; *n_met (may be
 * NULL) counts all.  The array is valid until the next call on READER.
 */
#define HEAPSHOT_ISSUES_MAX 64
HEAPSHOT_READER_API const struct heapshot_issue *
heapshot_reader_issues(const struct heapshot_reader *reader, size_t *n_kept, uint64_t *n_met);

/* ---- Snapshots ---- */

/* No RootKind is above; kinds that this version does not know count as 0. */
#define HEAPSHOT_ROOT_KINDS_MAX 32

struct heapshot_snapshot {
	uint64_t id;      /* number in the recording, from 1 */
	uint64_t time_ns; /* when it began */
	uint64_t end_time_ns;
	const char *label, *trigger; /* never NULL */
	bool has_begin, has_end;
	bool is_complete;   /* both, with a good status, and no frame known to be lost */
	bool is_stats_only; /* types and counts only */
	bool is_unreachable_possible;
	uint32_t generation;
	uint32_t status; /* SnapshotStatus of heapshot.proto */
	/* Totals as the recorder states them at the end; 0 without an end. */
	uint64_t objects, references, bytes, slot_bytes, roots, unresolved_roots;
	uint64_t ephemeron_edges, object_hash;
	uint64_t object_batches, root_batches, ephemeron_batches;
	uint64_t pause_ns, walk_ns, duration_ns, fork_ns, frames_lost, heap_bytes;
	uint64_t roots_by_kind[HEAPSHOT_ROOT_KINDS_MAX]; /* index: RootKind of heapshot.proto */
	uint64_t begin_offset, end_offset; /* its frames lie in [begin, end) of the file */
	uint64_t last_offset;              /* of the tag of the last of them */
	/*
	 * Who wrote it: "child" (a forked one), or why it was written in the process:
	 * "never", "output", "small", "last", "unsafe", "refused", "after_failure"; ""
	 * where that is not stated.
	 */
	const char *fork;
	uint64_t child_cpu_ns, copied_bytes; /* of the child; 0: not known */
	const char *note;                    /* why it was given up, or "" */
	uint64_t handle_tables, handles;     /* records of handle tables, and their rows */
};

/* All snapshots in the order of the file; *n_snapshots their number. */
HEAPSHOT_READER_API const struct heapshot_snapshot *
heapshot_reader_snapshots(const struct heapshot_reader *reader, size_t *n_snapshots);

/* Snapshot number ID, or NULL. */
HEAPSHOT_READER_API const struct heapshot_snapshot *
heapshot_reader_snapshot(const struct heapshot_reader *reader, uint64_t id);

/* The BACK-th last complete snapshot (1: the last), or NULL. */
HEAPSHOT_READER_API const struct heapshot_snapshot *
heapshot_reader_last_snapshot(const struct heapshot_reader *reader, uint64_t back);

/* ---- Names ---- */

struct heapshot_type {
	uint32_t id;
	uint32_t image;
	uint32_t kind; /* TypeKind of heapshot.proto */
	uint32_t element, rank, parent, generic_definition;
	uint64_t instance_size_bytes;
	uint64_t name_bytes; /* length of the whole name if it was cut, else 0 */
	uint64_t name_hash;
	const char *name, *name_space; /* never NULL */
	const char *assembly;          /* simple name of its image, "" when unknown */
};

/* A module of an assembly. */
struct heapshot_image {
	uint32_t id;
	bool is_unloaded;
	const char *name; /* the assembly's simple name; never NULL, nor are the others */
	const char *file;
	const char *mvid; /* module version id; "" for dynamic ones */
};

struct heapshot_domain {
	uint32_t id;
	bool is_unloaded;
	const char *name; /* never NULL */
};

struct heapshot_thread {
	uint64_t id;
	uint32_t state;   /* ThreadState of heapshot.proto */
	const char *name; /* never NULL */
};

/*
 * Reads all metadata frames.  The functions below need it once.  Definitions
 * may stand anywhere in the file; of several with one id the last counts.
 * Returns OK, DAMAGED (some names are lost), IO, MEMORY.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_load_names(struct heapshot_reader *reader);

/* By id; NULL when it was never defined. */
HEAPSHOT_READER_API const struct heapshot_type *
heapshot_reader_type(const struct heapshot_reader *reader, uint32_t id);
HEAPSHOT_READER_API const struct heapshot_image *
heapshot_reader_image(const struct heapshot_reader *reader, uint32_t id);
HEAPSHOT_READER_API const struct heapshot_domain *
heapshot_reader_domain(const struct heapshot_reader *reader, uint32_t id);
HEAPSHOT_READER_API const struct heapshot_thread *
heapshot_reader_thread(const struct heapshot_reader *reader, uint64_t id);
/* All types in the order of their definition. */
HEAPSHOT_READER_API const struct heapshot_type *
heapshot_reader_types(const struct heapshot_reader *reader, size_t *n_types);

/* ---- Totals of a snapshot ---- */

struct heapshot_type_total {
	uint32_t type;
	uint64_t objects;
	uint64_t bytes;
	uint64_t slot_bytes;
	uint64_t references; /* from objects of the type; ephemeron edges apart */
};

struct heapshot_totals {
	const struct heapshot_type_total *types; /* those with objects; by type id */
	size_t n_types;
	uint64_t objects, references, bytes, slot_bytes;
	uint64_t object_batches, root_batches, ephemeron_batches;
	uint64_t roots, ephemeron_edges;
};

/* Told now and then how far a pass came; returns nothing. */
typedef void heapshot_progress(void *user_data, uint64_t done_bytes, uint64_t all_bytes);
HEAPSHOT_READER_API void heapshot_reader_set_progress(struct heapshot_reader *reader,
						      heapshot_progress *progress, void *user_data);

/*
 * Counts the objects of a snapshot by type in one pass over its frames.  Needs
 * memory for the types only.
 *
 * Returns OK when the sums are those of the snapshot's end; INCOMPLETE when it
 * has no end or they differ; DAMAGED when a frame was lost on the way.  In all
 * three cases TOTALS holds what is there, until the next call for totals.
 * IO and MEMORY: nothing; DAMAGED with n_types 0 when a sum passes 2^64.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_totals(struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot,
		       struct heapshot_totals *totals);

/* ---- Roots of a snapshot ---- */

struct heapshot_root_source {
	uint32_t kind;         /* RootKind of heapshot.proto */
	const char *kind_text; /* the runtime's own word, or "" */
	const char *name;      /* "T.Pub.Root", "main", or ""; never NULL, nor are its neighbours */
	const char *handle_type;
	uint32_t type; /* that declares the static field */
	uint32_t domain;
	uint64_t thread;
};

struct heapshot_root {
	uint64_t address; /* of the slot */
	uint64_t object;
	uint32_t source; /* index into sources */
	uint32_t type;   /* of the object; 0: no such object in the snapshot */
};

struct heapshot_roots {
	const struct heapshot_root *roots; /* in the order of object and address */
	size_t n_roots;
	const struct heapshot_root_source *sources;
	size_t n_sources;
};

/*
 * Reads the roots of a snapshot, and with a second pass over its objects the
 * types of what they hold.  Needs about 36 bytes of memory a root.
 * Returns as heapshot_reader_totals; ROOTS is valid until the next call for roots.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_roots(struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot,
		      struct heapshot_roots *roots);

/* The kind's name in lower case, "static", "thread_static", ...; "unknown" for others. */
HEAPSHOT_READER_API const char *heapshot_root_kind_name(uint32_t kind);

/* ---- Handle tables of a snapshot ---- */
/*
 * What JavaScript and the runtime hold of each other, in a browser: FORMAT.md, 7.4.
 * Recordings of other systems have none.
 */

struct heapshot_handle {
	int64_t handle;
	uint64_t object; /* managed object that goes with it; 0: not known */
	const char
		*js_type; /* what typeof says; "" with js_name "": JavaScript did not speak of it */
	const char *js_name; /* of the constructor; never NULL, nor is its neighbour */
	uint32_t type;       /* of the object; 0: no such object in the snapshot */
};

struct heapshot_handle_table {
	/* "js_proxy", "js_object", "dotnet_object_reference", "js_object_reference", or others. */
	const char *name;
	const char *note;                      /* for people, or ""; never NULL, nor is name */
	uint64_t escaped;                      /* known to exist, and not among them */
	uint64_t released, collected;          /* so far: given back, and found dead */
	const struct heapshot_handle *handles; /* in the order of the file */
	size_t n_handles;
};

struct heapshot_handles {
	const struct heapshot_handle_table *tables;
	size_t n_tables;
	uint64_t n_handles; /* of all of them */
};

/*
 * Reads the tables of a snapshot, and with a second pass over its objects the types
 * of what they go with.  Needs about 56 bytes of memory a handle.
 * Returns as heapshot_reader_totals; HANDLES is valid until the next call for handles.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_handles(struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot,
			struct heapshot_handles *handles);

/* ---- Passes: frames, records, objects ---- */
/*
 * A reader makes one pass at a time; the functions above end the pass under
 * way.  The loop is
 *
 *     heapshot_reader_rewind(reader, NULL);
 *     while (heapshot_reader_next_frame(reader, &frame) == HEAPSHOT_READ_OK) {
 *             if (!wanted(&frame) || heapshot_reader_load_frame(reader, &frame))
 *                     continue;
 *             while (heapshot_reader_next_record(reader, &record) == HEAPSHOT_READ_OK)
 *                     ...
 *     }
 */

enum heapshot_frame_kind {
	HEAPSHOT_FRAME_METADATA = 1,
	HEAPSHOT_FRAME_EVENTS = 2,
	HEAPSHOT_FRAME_SNAPSHOT_BEGIN = 3,
	HEAPSHOT_FRAME_SNAPSHOT_BODY = 4,
	HEAPSHOT_FRAME_SNAPSHOT_END = 5,
	HEAPSHOT_FRAME_END = 6
};

struct heapshot_frame {
	uint64_t offset;      /* of its tag */
	uint64_t body_offset; /* of the LZ4 frame */
	uint32_t kind;        /* enum heapshot_frame_kind, or a later one */
	uint32_t snapshot;
	uint64_t seq;
	uint64_t time_ns;
	uint32_t compressed_bytes;
	uint32_t raw_bytes;
	uint32_t flags;
};

/* Numbers of the bodies that functions below read; all of them stand in heapshot.proto. */
enum heapshot_field {
	HEAPSHOT_FIELD_ROOT_BATCH = 12,
	HEAPSHOT_FIELD_EPHEMERON_BATCH = 13,
	HEAPSHOT_FIELD_OBJECT_BATCH = 15,
};

/* A loaded frame as it stands in the file, and its content. */
struct heapshot_frame_bytes {
	const uint8_t *tag; /* the skippable frame before it */
	size_t tag_bytes;
	const uint8_t *body; /* the LZ4 frame */
	size_t body_bytes;
	const uint8_t *content; /* decompressed: the records, FrameStart among them */
	size_t content_bytes;
};

/*
 * The bytes of the frame that heapshot_reader_load_frame loaded, to copy them;
 * until the next frame is loaded.  OK, IO, MEMORY; MISUSE when none is loaded.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_frame_bytes(struct heapshot_reader *reader, struct heapshot_frame_bytes *bytes);

struct heapshot_record {
	uint32_t field; /* number of its body in message Record; 0: it has none */
	uint64_t time_ns;
	const uint8_t *body; /* encoded, never NULL; decode with code made from heapshot.proto */
	size_t body_bytes;   /* at most 192 KiB */
	uint32_t n_unknown;  /* unknown fields of Record */
};

/* Starts a pass at the beginning, or at the first frame of SNAPSHOT. */
HEAPSHOT_READER_API void heapshot_reader_rewind(struct heapshot_reader *reader,
						const struct heapshot_snapshot *snapshot);

/*
 * The next frame, by its tag; places without one are passed over (see the
 * issues).  OK, END (also at the last frame of the snapshot given to rewind), IO.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_next_frame(struct heapshot_reader *reader, struct heapshot_frame *frame);

/*
 * Decompresses FRAME for heapshot_reader_next_record.  OK; DAMAGED: it is lost,
 * go on with the next frame; IO, MEMORY.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_load_frame(struct heapshot_reader *reader, const struct heapshot_frame *frame);

/*
 * The next record of the loaded frame, FrameStart excepted.  OK; END; DAMAGED:
 * the rest of the frame cannot be decoded.  The body stays until the next
 * frame is loaded.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_next_record(struct heapshot_reader *reader, struct heapshot_record *record);

/* A row of an object batch. */
struct heapshot_object {
	uint64_t address;
	uint64_t size; /* exact bytes; 0 in a continuation */
	uint64_t slot_size;
	uint32_t type;
	uint32_t domain;
	uint64_t n_references;
	bool is_continuation;       /* further references of an object met before */
	const uint64_t *offsets;    /* of the references, bytes from the object's start */
	const uint64_t *references; /* target addresses; both NULL unless asked for */
};

/* What is common to the rows of a batch. */
struct heapshot_batch {
	uint64_t snapshot;
	uint32_t generation;
	uint32_t rows;
	uint32_t n_unknown; /* unknown fields */
};

/*
 * Begins with the rows of an object batch (HEAPSHOT_FIELD_OBJECT_BATCH); BATCH may be NULL.
 * OK or DAMAGED.
 */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_begin_objects(struct heapshot_reader *reader, const struct heapshot_record *record,
			      bool with_references, struct heapshot_batch *batch);

/* The next row: OK, END, DAMAGED.  Its arrays stay until the next row. */
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_next_object(struct heapshot_reader *reader, struct heapshot_object *object);

/* Edge of a ConditionalWeakTable: key -> value while table and key live. */
struct heapshot_ephemeron {
	uint64_t table, key, value;
};

/*
 * Calls back for each edge of an ephemeron batch (HEAPSHOT_FIELD_EPHEMERON_BATCH),
 * and for each root of a root batch (HEAPSHOT_FIELD_ROOT_BATCH; source counts from
 * 0 in this batch, type is 0).  OK or DAMAGED; the callback ends the loop with false.
 */
typedef bool heapshot_ephemeron_callback(void *user_data, const struct heapshot_ephemeron *edge);
typedef bool heapshot_root_callback(void *user_data, const struct heapshot_root *root);
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_each_ephemeron(struct heapshot_reader *reader, const struct heapshot_record *record,
			       heapshot_ephemeron_callback *callback, void *user_data);
HEAPSHOT_READER_API enum heapshot_read_result
heapshot_reader_each_root(struct heapshot_reader *reader, const struct heapshot_record *record,
			  heapshot_root_callback *callback, void *user_data);

#ifdef __cplusplus
}
#endif

#endif
