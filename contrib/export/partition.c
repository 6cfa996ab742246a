/* SPDX-License-Identifier: MIT */
/*
 * The keys of a partition.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "contrib/export/partition.h"
#include "contrib/reader/utf8.h"

/* A name of a folder has 255 bytes; a name of a host is made of letters, digits, - and dots. */
#define HOST_BYTES 192

static bool is_plain(unsigned char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
}

/* What may not stand in the name of a folder becomes %XX, as Hive does it. */
static void put_host(const char *host, char text[HOST_BYTES])
{
	static const char replacement[] = "\xEF\xBF\xBD";
	size_t n = 0;

	if (*host == '\0') /* null would be in no join */
		host = "unknown";
	/* A character has 4 bytes at most, each of 3 letters then. */
	while (*host != '\0' && n + 4 * 3 < HOST_BYTES) {
		const char *from = host, *end;

		/* Engines refuse what is no valid UTF-8. */
		if (hs_utf8_next(&host) < 0)
			from = replacement;
		end = from == replacement ? from + sizeof(replacement) - 1 : host;
		for (; from < end; from++)
			n += (size_t)snprintf(text + n, HOST_BYTES - n,
					      is_plain((unsigned char)*from) ? "%c" : "%%%02X",
					      (unsigned char)*from);
	}
}

void export_partition(const struct export *export, char text[EXPORT_PARTITION_BYTES])
{
	const struct heapshot_header *header = heapshot_reader_header(export->reader);
	const uint64_t start_ns = header->wall_start_unix_ns;
	const uint64_t since_ns = export->snapshot->time_ns;
	/* A wall clock of 64 bits ends in the year 2554. */
	const uint64_t ns = since_ns <= UINT64_MAX - start_ns ? start_ns + since_ns : UINT64_MAX;
	const time_t seconds = (time_t)(ns / 1000000000u);
	char host[HOST_BYTES], when[32] = "";
	struct tm tm;

	put_host(header->host_name, host);
	if (gmtime_r(&seconds, &tm) != NULL)
		strftime(when, sizeof(when), "%Y-%m-%dT%H%M%S", &tm);
	snprintf(text, EXPORT_PARTITION_BYTES, "host=%s/pid=%" PRIu64 "/time=%s.%03uZ", host,
		 header->pid, when, (unsigned)(ns / 1000000u % 1000u));
}
