/* SPDX-License-Identifier: MIT */
/*
 * Reading a recording while it is being written: each time what is new, together
 * with the frames of names from before.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/cli/watch.h"
#include "schema/tag.h"

/* Names of a program with very many types. */
#define READER_BYTES ((size_t)512 << 20)

/* ---- Finding the file ---- */

/* Whether descriptor NAME of process PID was opened to write. */
static bool is_written(long pid, const char *name)
{
	char path[320], line[128];
	unsigned flags = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/fdinfo/%s", pid, name);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "flags: %o", &flags) == 1)
			break;
	fclose(file);
	return (flags & O_ACCMODE) != O_RDONLY;
}

/* Opens the file behind the descriptor, if it is a recording; or -1. */
static int open_recording(long pid, const char *name)
{
	uint8_t start[HS_TAG_BYTES];
	char path[320];
	struct hs_tag tag;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%s", pid, name);
	/* To open a pipe, or a device, would be more than to look. */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !is_written(pid, name))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start) &&
	    hs_tag_decode(start, sizeof(start), &tag) > 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int watch_tail_open(struct watch_tail *tail, long pid)
{
	const struct dirent *entry;
	char path[64];
	DIR *folder;

	*tail = (struct watch_tail){.fd = -1};
	snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
	folder = opendir(path);
	if (folder == NULL)
		return errno == ENOENT ? -ESRCH : -errno;
	while (tail->fd < 0 && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			tail->fd = open_recording(pid, entry->d_name);
	closedir(folder);
	return tail->fd >= 0 ? 0 : -ENOENT;
}

void watch_tail_close(struct watch_tail *tail)
{
	if (tail->fd >= 0)
		close(tail->fd);
	free(tail->pieces);
	*tail = (struct watch_tail){.fd = -1};
}

/* ---- Pieces ---- */

static bool add(struct watch_tail *tail, uint64_t offset, uint64_t bytes)
{
	struct watch_piece *last = tail->n > 0 ? &tail->pieces[tail->n - 1] : NULL;

	if (last != NULL && last->offset + last->bytes == offset) {
		last->bytes += bytes;
		tail->bytes += bytes;
		return true;
	}
	if (tail->n == tail->room) {
		size_t room = tail->room != 0 ? tail->room * 2 : 16;
		struct watch_piece *pieces = reallocarray(tail->pieces, room, sizeof(*pieces));

		if (pieces == NULL)
			return false;
		tail->pieces = pieces;
		tail->room = room;
	}
	tail->pieces[tail->n++] = (struct watch_piece){tail->bytes, offset, bytes};
	tail->bytes += bytes;
	return true;
}

/* The piece in which OFFSET of all pieces lies; NULL behind the last. */
static const struct watch_piece *find(const struct watch_tail *tail, uint64_t offset)
{
	size_t first = 0, end = tail->n;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (offset >= tail->pieces[middle].at + tail->pieces[middle].bytes)
			first = middle + 1;
		else
			end = middle;
	}
	return first < tail->n ? &tail->pieces[first] : NULL;
}

static ssize_t read_at(void *user_data, uint64_t offset, void *buffer, size_t size)
{
	const struct watch_tail *tail = user_data;
	const struct watch_piece *piece;
	size_t done = 0;

	while (done < size && (piece = find(tail, offset + done)) != NULL) {
		const uint64_t inside = offset + done - piece->at;
		size_t wanted = size - done;
		ssize_t n;

		if (wanted > piece->bytes - inside)
			wanted = (size_t)(piece->bytes - inside);
		n = pread(tail->fd, (char *)buffer + done, wanted, (off_t)(piece->offset + inside));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

enum heapshot_read_result watch_tail_read(struct watch_tail *tail, struct heapshot_reader **reader)
{
	const struct heapshot_reader_options options = {
		.size = sizeof(options),
		.memory_bytes = READER_BYTES,
	};
	struct stat st;

	*reader = NULL;
	tail->new_at = tail->bytes;
	if (fstat(tail->fd, &st) < 0)
		return HEAPSHOT_READ_IO;
	if ((uint64_t)st.st_size > tail->next &&
	    !add(tail, tail->next, (uint64_t)st.st_size - tail->next))
		return HEAPSHOT_READ_MEMORY;
	*reader = heapshot_reader_new(&options);
	if (*reader == NULL)
		return HEAPSHOT_READ_MEMORY;
	return heapshot_reader_open_callback(*reader, read_at, tail, tail->bytes);
}

enum heapshot_read_result watch_tail_keep(struct watch_tail *tail, struct heapshot_reader *reader)
{
	struct watch_tail kept = {.fd = tail->fd, .next = tail->next};
	enum heapshot_read_result result;
	struct heapshot_frame frame;

	heapshot_reader_rewind(reader, NULL);
	while ((result = heapshot_reader_next_frame(reader, &frame)) == HEAPSHOT_READ_OK) {
		const uint64_t end = frame.body_offset + frame.compressed_bytes;
		const struct watch_piece *piece = find(tail, frame.offset);
		uint64_t start;

		/* What is not whole yet is read again. */
		if (end > tail->bytes || piece == NULL)
			break;
		start = piece->offset + (frame.offset - piece->at);
		if (frame.offset >= tail->new_at)
			kept.next = start + (end - frame.offset);
		if (frame.kind == HEAPSHOT_FRAME_METADATA &&
		    !add(&kept, start, end - frame.offset)) {
			free(kept.pieces);
			return HEAPSHOT_READ_MEMORY;
		}
	}
	if (result == HEAPSHOT_READ_IO) {
		free(kept.pieces);
		return result;
	}
	free(tail->pieces);
	*tail = kept;
	return HEAPSHOT_READ_OK;
}
