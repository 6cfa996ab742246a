/* SPDX-License-Identifier: MIT */
/*
 * The option `output`: its percent signs, and what it finds at the place
 * where it is to write.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiler/options.h"
#include "profiler/output.h"
#include "schema/tag.h"
#include "tests/unit/leak_check.h"

static char directory[64];

static void enter(void)
{
	strcpy(directory, "/tmp/heapshot-output-XXXXXX");
	cr_assert(mkdtemp(directory) != NULL);
	cr_assert_eq(chdir(directory), 0);
}

static void leave(void)
{
	char command[128];

	cr_assert_eq(chdir("/"), 0);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	cr_assert_eq(system(command), 0);
	leak_check();
}

TestSuite(output, .init = enter, .fini = leave);

static char message[512], used[HS_OPTIONS_VALUE_MAX];

static bool open_output(struct hs_sink *sink, const char *text, bool overwrite)
{
	strcpy(message, "none");
	return hs_output_open(sink, text, overwrite, used, sizeof used, message, sizeof message);
}

static void check_refused(const char *text, bool overwrite, const char *says)
{
	struct hs_sink sink;

	cr_assert(!open_output(&sink, text, overwrite), "%s is opened", text);
	cr_assert(strstr(message, says) != NULL, "%s: %s", text, message);
	cr_assert(!strchr(message, '\n'));
}

/* Opens, writes a mark, closes. */
static void check_opened(const char *text, bool overwrite, const char *expected_used)
{
	struct hs_sink sink;

	cr_assert(open_output(&sink, text, overwrite), "%s: %s", text, message);
	cr_assert_str_eq(used, expected_used);
	cr_assert_gt(sink.fd, STDERR_FILENO);
	cr_assert(fcntl(sink.fd, F_GETFD) & FD_CLOEXEC);
	cr_assert_eq(hs_sink_write(&sink, "mark", 4, 0), 4);
	cr_assert_eq(hs_sink_close(&sink, 0), 0);
}

static void put_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");

	cr_assert(file != NULL);
	cr_assert_eq(fwrite(data, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
}

static void put_recording(const char *path)
{
	const struct hs_tag tag = {
		.version = 1, .kind = HS_FRAME_METADATA, .compressed_bytes = 10, .raw_bytes = 10};
	uint8_t data[HS_TAG_BYTES + 10] = {0};

	hs_tag_encode(&tag, data);
	put_file(path, data, sizeof data);
}

static off_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) < 0 ? -1 : status.st_size;
}

Test(output, percent_signs)
{
	char path[64], expected[64];
	time_t now;

	cr_assert(hs_output_expand("a%%b%p.%p", path, sizeof path, message, sizeof message));
	snprintf(expected, sizeof expected, "a%%b%ld.%ld", (long)getpid(), (long)getpid());
	cr_assert_str_eq(path, expected);
	cr_assert(hs_output_expand("", path, sizeof path, message, sizeof message));
	cr_assert_str_eq(path, "");
	/* YYYYMMDD-HHMMSS, of this second or the one before. */
	now = time(NULL);
	cr_assert(hs_output_expand("%t", path, sizeof path, message, sizeof message));
	for (int late = 0; late < 3; late++) {
		struct tm local;
		time_t then = now + late;
		strftime(expected, sizeof expected, "%Y%m%d-%H%M%S", localtime_r(&then, &local));
		if (strcmp(path, expected) == 0)
			break;
	}
	cr_assert_str_eq(path, expected);

	static const char *const bad[] = {"%q", "a%", "%%%", "%n%n%n", "%1p", "%P", "% p"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		cr_assert(!hs_output_expand(bad[i], path, sizeof path, message, sizeof message),
			  "%s", bad[i]);
		cr_assert(strstr(message, "%p, %t and %%") != NULL, "%s", message);
	}
	/* Exactly as long as fits, and one more; also by what a sign becomes. */
	cr_assert(hs_output_expand("1234567", path, 8, message, sizeof message));
	cr_assert(!hs_output_expand("12345678", path, 8, message, sizeof message));
	cr_assert(strstr(message, "too long") != NULL);
	cr_assert(!hs_output_expand("%t", path, 15, message, sizeof message));
	cr_assert(hs_output_expand("%t", path, 16, message, sizeof message));
}

Test(output, an_earlier_recording_becomes_old)
{
	put_recording("a.hs");
	check_opened("a.hs", false, "a.hs");
	cr_assert_eq(size_of("a.hs"), 4);
	cr_assert_eq(size_of("a.hs.old"), HS_TAG_BYTES + 10);
	/* The one before it goes, whatever `overwrite` says. */
	put_recording("a.hs");
	check_opened("a.hs", true, "a.hs");
	cr_assert_eq(size_of("a.hs.old"), HS_TAG_BYTES + 10);
	/* A file that is none keeps its name. */
	put_recording("b.hs");
	put_file("b.hs.old", "diary", 5);
	check_refused("b.hs", false, "b.hs.old");
	cr_assert_eq(size_of("b.hs.old"), 5);
	cr_assert_eq(size_of("b.hs"), HS_TAG_BYTES + 10);
	check_opened("b.hs", true, "b.hs");
	cr_assert_eq(size_of("b.hs.old"), HS_TAG_BYTES + 10);
	put_recording("c.hs");
	cr_assert_eq(mkdir("c.hs.old", 0700), 0);
	check_refused("c.hs", false, "c.hs.old");
	cr_assert_eq(size_of("c.hs"), HS_TAG_BYTES + 10);
}

Test(output, a_live_recording_keeps_its_place)
{
	char name[32];
	struct hs_sink sink;
	int fd;

	put_recording("a.hs");
	/* A lock belongs to an open file: another one of ours is like another process. */
	fd = open("a.hs", O_RDWR);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	snprintf(name, sizeof name, "a.hs.%ld", (long)getpid());
	check_opened("a.hs", true, name);
	cr_assert_eq(size_of(name), 4);
	cr_assert_eq(size_of("a.hs"), HS_TAG_BYTES + 10);
	/* What stands at that name is treated alike. */
	check_refused("a.hs", false, "not a recording");
	cr_assert_eq(size_of(name), 4);
	put_recording(name);
	check_opened("a.hs", false, name);
	close(fd);
	/* While it is open ours is live too, also when nothing was written yet. */
	cr_assert(open_output(&sink, "b.hs", false));
	fd = open("b.hs", O_RDWR);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), -1);
	close(fd);
	snprintf(name, sizeof name, "b.hs.%ld", (long)getpid());
	check_opened("b.hs", false, name);
	cr_assert_eq(hs_sink_close(&sink, 0), 0);
	/* Its writer gone, an empty file is in nobody's way. */
	check_opened("b.hs", false, "b.hs");
}

Test(output, other_files)
{
	struct stat status;

	check_opened("new.hs", false, "new.hs");
	cr_assert_eq(stat("new.hs", &status), 0);
	cr_assert_eq(status.st_mode & 0777, 0600);
	put_file("empty", "", 0);
	check_opened("empty", false, "empty");
	put_file("letter", "Dear Sir or Madam, this is longer than a tag of a recording would be.",
		 68);
	check_refused("letter", false, "overwrite");
	put_file("short", "Hi", 2);
	check_refused("short", false, "not a recording");
	cr_assert(size_of("letter") == 68 && size_of("short") == 2);
	check_opened("letter", true, "letter");
	cr_assert_eq(size_of("letter"), 4);
	/* What a link leads to counts. */
	put_file("target", "Dear Sir", 8);
	cr_assert_eq(symlink("target", "link"), 0);
	check_refused("link", false, "not a recording");
	cr_assert_eq(size_of("target"), 8);
	cr_assert_eq(symlink("fresh", "link2"), 0);
	check_opened("link2", false, "link2");
	cr_assert_eq(size_of("fresh"), 4);
	cr_assert_eq(symlink("/dev/null", "null"), 0);
	check_opened("null", false, "null");
	cr_assert_eq(symlink("loop", "loop"), 0);
	check_refused("loop", false, strerror(ELOOP));
}

Test(output, what_is_no_file)
{
	struct hs_sink sink;
	char text[16];
	int fd;

	cr_assert_eq(mkdir("folder", 0700), 0);
	check_refused("folder", false, strerror(EISDIR));
	check_refused("folder", true, strerror(EISDIR));
	check_refused("nowhere/a.hs", false, strerror(ENOENT));
	put_file("file", "x", 1);
	check_refused("file/a.hs", false, strerror(ENOTDIR));
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	check_refused("fifo", false, "nobody reads it");
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	check_opened("fifo", false, "fifo");
	cr_assert_eq(read(fd, text, sizeof text), 4);
	close(fd);
	/* A full device opens, and fails at the first write. */
	cr_assert(open_output(&sink, "/dev/full", false), "%s", message);
	cr_assert_eq(hs_sink_write(&sink, "mark", 4, 0), -ENOSPC);
	cr_assert_eq(hs_sink_close(&sink, 0), -ENOSPC);
	check_opened("/dev/null", false, "/dev/null");
	check_refused("%q.hs", false, "'%q'");
}

Test(output, descriptors_and_commands)
{
	static const char *const bad[] = {
		"#", "#x", "#-1", "#3x", "# 3", "#+3", "#99999999999999999999"};
	struct hs_sink sink;
	char text[32];
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	snprintf(text, sizeof text, "#%d", fds[1]);
	check_opened(text, false, text);
	/* Ours was a duplicate. */
	cr_assert_eq(write(fds[1], "more", 4), 4);
	cr_assert_eq(read(fds[0], text, 8), 8);
	cr_assert_eq(memcmp(text, "markmore", 8), 0);
	snprintf(text, sizeof text, "#%d", fds[0]);
	check_refused(text, false, text);
	close(fds[0]);
	close(fds[1]);
	check_refused(text, false, strerror(EBADF));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		check_refused(bad[i], false, "no descriptor");
	/* Signs of a command are its own. */
	cr_assert(open_output(&sink, "|cat > %p", false), "%s", message);
	cr_assert_str_eq(used, "|cat > %p");
	cr_assert_eq(hs_sink_write(&sink, "mark", 4, 0), 4);
	cr_assert_eq(hs_sink_close(&sink, UINT64_C(10000000000)), 0);
	cr_assert_eq(size_of("%p"), 4);
}

Test(output, closed_standard_descriptors_stay_closed)
{
	const char *const outputs[] = {"a.hs", "/dev/null", "fifo"};
	int kept[3], reader;

	cr_assert_eq(mkfifo("fifo", 0600), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	for (int fd = 0; fd < 3; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		close(fd);
	}
	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
		struct hs_sink sink;
		bool is_open = open_output(&sink, outputs[i], false);
		bool are_free =
			fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0;
		int fd = is_open ? sink.fd : -1;
		if (is_open)
			hs_sink_close(&sink, 0);
		if (is_open && are_free && fd > 2)
			continue;
		for (fd = 0; fd < 3; fd++)
			dup2(kept[fd], fd);
		cr_assert(false, "%s", outputs[i]);
	}
	for (int fd = 0; fd < 3; fd++) {
		if (kept[fd] >= 0)
			dup2(kept[fd], fd);
		close(kept[fd]);
	}
	close(reader);
}
