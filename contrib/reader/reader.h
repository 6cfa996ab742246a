/* SPDX-License-Identifier: MIT */
/*
 * What the files of the library share: the reader itself and the steps of a
 * pass, from frames to rows.
 */
#ifndef HEAPSHOT_READER_READER_H
#define HEAPSHOT_READER_READER_H

#include <lz4frame.h>

#include "contrib/reader/heapshot-reader-code.h"
#include "contrib/reader/heapshot-reader-fields.h"
#include "contrib/reader/idmap.h"
#include "contrib/reader/memory.h"
#include "contrib/reader/source.h"
#include "schema/columns.h"
#include "schema/heapshot.pb-c.h"
#include "schema/tag.h"

/* Most bytes of an LZ4 frame with HS_FRAME_RAW_MAX bytes of content, as one
 * block or as several: headers, checksums, and blocks stored as they are. */
#define HS_FRAME_COMPRESSED_MAX (HS_FRAME_RAW_MAX + (HS_FRAME_RAW_MAX >> 8) + 4096)

#define HS_DEFAULT_MEMORY (48u << 20)

/* Place of a pass in the file. */
struct hs_cursor {
	uint64_t offset; /* where the next tag should stand */
	uint64_t rescan; /* where to look for it if it does not: behind the last tag */
	uint64_t stop;   /* no frame that begins here or behind is wanted */
	uint64_t next_seq;
	bool has_seq;
	bool is_quiet; /* issues of this way were noted by the first pass */
};

/* The loaded frame. */
struct hs_content {
	const uint8_t *at, *end;
	uint64_t time_ns;
	struct heapshot_frame frame;
};

struct hs_names {
	struct heapshot_type *types;
	size_t n_types, room_types;
	struct hs_idmap type_index;
	struct heapshot_domain *domains;
	size_t n_domains, room_domains;
	struct hs_idmap domain_index;
	struct heapshot_thread *threads;
	size_t n_threads, room_threads;
	struct hs_idmap thread_index;
	struct heapshot_image *images;
	size_t n_images, room_images;
	struct hs_idmap image_index;
	struct hs_arena arena;
	bool is_loaded;
	enum heapshot_read_result result;
};

#define HS_TORN UINT64_MAX

struct hs_snapshots {
	struct heapshot_snapshot *list;
	size_t n, room;
	/* Issues met before each one's first frame, or HS_TORN: others lie inside of it. */
	uint64_t *n_issues;
	size_t room_issues;
	struct hs_idmap index;
	struct hs_arena arena;
};

/* Totals by type id: small ids directly, others through a map. */
#define HS_DIRECT_TYPES (1u << 18)
struct hs_type_totals {
	struct heapshot_type_total *direct;
	uint32_t n_direct;
	struct heapshot_type_total *others;
	size_t n_others, room_others;
	struct hs_idmap index;
	struct heapshot_type_total *result;
	size_t n_result;
	struct hs_shape_total *shapes; /* of the batch under way */
};

struct hs_root_table {
	struct heapshot_root *roots;
	size_t n_roots, room_roots;
	struct heapshot_root_source *sources;
	size_t n_sources, room_sources;
	struct hs_idmap source_index; /* hash of the encoded source */
	struct hs_slice *encoded;     /* of each source, in the arena */
	size_t room_encoded;
	uint32_t *local; /* source of the batch -> source of the table */
	size_t room_local;
	uint8_t *filter;
	struct hs_arena arena;
};

struct hs_wanted_handle;

/* Rows of a table stand in an array of its own: parts of several may alternate. */
struct hs_handles {
	struct heapshot_handle_table *tables;
	size_t n_tables, room_tables;
	struct heapshot_handle **rows; /* of each table */
	size_t *room_rows;
	size_t room_row_lists, room_rooms;
	const char **local; /* texts of the record under way */
	size_t room_local;
	uint64_t n_records, n_rows;
	struct hs_wanted_handle *wanted; /* by object */
	size_t n_wanted, room_wanted;
	uint8_t *filter;
	struct hs_arena arena;
};

struct hs_code {
	struct heapshot_method *methods;
	size_t n_methods, room_methods;
	struct heapshot_code_buffer *buffers;
	size_t n_buffers, room_buffers;
	struct heapshot_chunk *chunks;
	size_t n_chunks, room_chunks;
	struct hs_idmap chunk_index; /* the last chunk at an address */
	struct hs_idmap orphans;     /* methods without a chunk, by address */
	struct hs_arena arena;
	uint64_t n_lost;
	bool has_bodies, is_loaded;
	enum heapshot_read_result result;
};

/* Where the fields of a type stand in the list. */
struct hs_layout {
	uint64_t instance_bytes;
	size_t first;
	uint32_t n_fields, n_instance; /* those that are not static come first */
};

struct hs_fields {
	struct heapshot_type_field *list;
	size_t n, room;
	struct hs_layout *layouts;
	size_t n_layouts, room_layouts;
	struct hs_idmap layout_index; /* type -> layouts */
	struct hs_arena arena;
	bool is_loaded;
	enum heapshot_read_result result;
};

struct hs_buffer {
	uint8_t *data;
	size_t room;
};

/* A ring file, which is read as if its frames stood in the order of their numbers. */
struct hs_ring_piece {
	uint64_t seq;
	uint64_t at;    /* in the file */
	uint64_t start; /* in what is read */
	uint32_t bytes; /* tag and frame */
	uint32_t raw_bytes;
	uint16_t tag_bytes;
	bool is_name; /* metadata, which outlives what goes round */
};
struct hs_ring_view {
	bool is_on;
	struct hs_source file; /* the bytes as they are */
	struct hs_ring_piece *pieces;
	size_t n, room;
};

struct heapshot_reader {
	struct hs_memory memory;
	struct hs_source source;
	struct hs_ring_view ring;
	bool is_open;
	char error[320];
	int saved_errno;

	struct heapshot_header header;
	bool has_header;
	struct heapshot_summary summary;
	bool has_stream;
	uint64_t first_offset, last_offset; /* of the first tag, and of the last one */
	struct hs_arena arena;

	struct heapshot_issue issues[HEAPSHOT_ISSUES_MAX];
	size_t n_issues;
	uint64_t n_issues_met;

	struct hs_snapshots snapshots;
	struct hs_names names;
	struct hs_type_totals totals;
	struct hs_root_table roots;
	struct hs_handles handles;
	struct hs_code code;
	struct hs_fields fields;

	struct hs_buffer compressed, raw, tag; /* one frame */
	LZ4F_dctx *lz4;
	struct hs_cursor cursor;
	struct hs_content content;
	struct hs_batch_decoder *batch;
	void *batch_memory;

	heapshot_progress *progress;
	void *progress_data;
};

/* Sets the sentence for people and returns RESULT. */
enum heapshot_read_result hs_fail(struct heapshot_reader *reader, enum heapshot_read_result result,
				  const char *format, ...) __attribute__((format(printf, 3, 4)));
enum heapshot_read_result hs_fail_memory(struct heapshot_reader *reader);
enum heapshot_read_result hs_fail_io(struct heapshot_reader *reader, int error);

/* Adds an issue, unless the same one was met before. */
void hs_issue(struct heapshot_reader *reader, const struct heapshot_issue *issue);

/*
 * Decodes the tag at OFFSET.  Returns its length, 0 when the file ends inside
 * what may be a tag, -1 when there is none; *skip is the length of another
 * skippable frame (padding), which holds nothing for us.
 */
int hs_frame_tag(struct heapshot_reader *reader, uint64_t offset, struct hs_tag *tag,
		 uint64_t *skip, enum heapshot_read_result *result);

/* Whether what a tag states of its frame is allowed. */
static inline bool hs_is_tag_good(const struct hs_tag *tag)
{
	return tag->raw_bytes != 0 && tag->raw_bytes <= HS_FRAME_RAW_MAX &&
	       tag->compressed_bytes != 0 && tag->compressed_bytes <= HS_FRAME_COMPRESSED_MAX;
}

/* The next tag on the way of CURSOR. */
enum heapshot_read_result hs_frame_next(struct heapshot_reader *reader, struct hs_cursor *cursor,
					struct heapshot_frame *frame);

/* Position of the next valid tag in [from, to); TO when there is none. */
enum heapshot_read_result hs_frame_find(struct heapshot_reader *reader, uint64_t from, uint64_t to,
					uint64_t *found);

/* Where the source is a ring file: puts its frames in order.  OK for all other files. */
enum heapshot_read_result hs_ring_open(struct heapshot_reader *reader);
void hs_ring_close(struct heapshot_reader *reader);

/* Leaves of pieces that overlap in the file one: the intact one, else the later written. */
enum heapshot_read_result hs_ring_part(struct heapshot_reader *reader);
/* Places the pieces one behind the other by their numbers; returns their bytes. */
uint64_t hs_ring_arrange(struct hs_ring_view *ring);
/* A heapshot_read_at of the arranged pieces; USER_DATA is the struct hs_ring_view. */
heapshot_read_at hs_ring_read;

/* Reads the tags of the whole file, the header, and begins and ends of snapshots. */
enum heapshot_read_result hs_scan(struct heapshot_reader *reader);

/*
 * Reads and decompresses FRAME into the reader's content.  *wrong says what is
 * not as the tag states, or is NULL.
 */
enum heapshot_read_result hs_frame_decode(struct heapshot_reader *reader,
					  const struct heapshot_frame *frame, const char **wrong);

/* Notes that the loaded frame has a record that cannot be decoded. */
enum heapshot_read_result hs_bad_record(struct heapshot_reader *reader, const char *detail);

/*
 * Gives TAKE each record of the frames of KIND, from the first on.  OK,
 * DAMAGED when some could not be read, or what ended the pass.
 */
enum heapshot_read_result
hs_read_all(struct heapshot_reader *reader, enum heapshot_frame_kind kind,
	    enum heapshot_read_result (*take)(struct heapshot_reader *reader,
					      const struct heapshot_record *record));

/*
 * Gives TAKE each record of the body of SNAPSHOT.  What cannot be read is passed
 * over and sets *is_damaged, as does a TAKE that returns DAMAGED.
 */
enum heapshot_read_result hs_read_body(
	struct heapshot_reader *reader, const struct heapshot_snapshot *snapshot,
	enum heapshot_read_result (*take)(void *user_data, const struct heapshot_record *record),
	void *user_data, bool *is_damaged);

/* Adds the roots of a root batch, and their sources, to READER's table of them. */
enum heapshot_read_result hs_roots_add(struct heapshot_reader *reader,
				       const struct heapshot_record *record);
/* In the order of object and address. */
void hs_roots_sort(struct hs_root_table *table);
void hs_root_table_free(struct hs_memory *memory, struct hs_root_table *table);

void hs_names_free(struct heapshot_reader *reader);
void hs_totals_free(struct heapshot_reader *reader);
void hs_roots_free(struct heapshot_reader *reader);
void hs_handles_free(struct heapshot_reader *reader);
void hs_code_free(struct heapshot_reader *reader);
void hs_fields_free(struct heapshot_reader *reader);

/* True when FRAME belongs to the body of SNAPSHOT. */
static inline bool hs_is_body(const struct heapshot_frame *frame,
			      const struct heapshot_snapshot *snapshot)
{
	return frame->kind == HEAPSHOT_FRAME_SNAPSHOT_BODY &&
	       frame->snapshot == (uint32_t)snapshot->id;
}

#endif
