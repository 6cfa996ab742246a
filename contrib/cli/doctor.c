/* SPDX-License-Identifier: MIT */
/*
 * heapshot doctor: mono says nothing when it does not find a profiler module.
 * This looks where mono looks, tries it, and says what to do.
 */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/cli/cli.h"
#include "contrib/cli/json.h"
#include "contrib/cli/process.h"
#include "contrib/cli/text.h"

#define MODULE "libmono-profiler-heapshot.so"

struct doctor {
	bool is_json, has_failed;
	struct json json;
	char *mono;            /* as found */
	char *real;            /* without links */
	char module[PATH_MAX]; /* "" when not found */
};

static void report(struct doctor *doctor, bool is_good, const char *check, const char *detail,
		   const char *advice)
{
	doctor->has_failed = doctor->has_failed || !is_good;
	if (doctor->is_json) {
		json_begin(&doctor->json, '{');
		json_put_text(&doctor->json, "check", check);
		json_put_bool(&doctor->json, "ok", is_good);
		json_put_text(&doctor->json, "detail", detail);
		json_put_text(&doctor->json, "advice", is_good ? "" : advice);
		json_end(&doctor->json, '}');
		return;
	}
	printf("%-4s  %s: ", is_good ? "ok" : "FAIL", check);
	text_put_masked(stdout, detail);
	if (!is_good && *advice != '\0') {
		fputs("\n      ", stdout);
		text_put_masked(stdout, advice);
	}
	putchar('\n');
}

/* Where mono itself looks, besides the loader's search. */
static const char *const beside[] = {".libs", "../lib", "../profiler/.libs"};
static const char *const system_folders[] = {"/usr/lib", "/usr/local/lib", "/lib",
					     "/usr/lib/x86_64-linux-gnu",
					     "/usr/lib/aarch64-linux-gnu"};
/* /usr/local/lib: the loader comes to it by its cache only. */
#define CACHED_FOLDER 1

static bool try_module(struct doctor *doctor, const char *folder, size_t folder_bytes)
{
	if (snprintf(doctor->module, sizeof(doctor->module), "%.*s/%s", (int)folder_bytes, folder,
		     MODULE) < (int)sizeof(doctor->module) &&
	    access(doctor->module, R_OK) == 0)
		return true;
	doctor->module[0] = '\0';
	return false;
}

static bool find_in_cache(struct doctor *doctor)
{
	char *const arguments[] = {(char[]){"/sbin/ldconfig"}, (char[]){"-p"}, NULL};
	size_t size = 1 << 20;
	char *output = malloc(size), *line = NULL, *arrow;

	if (output != NULL && process_read(arguments, 10, output, size) == 0)
		line = strstr(output, "\t" MODULE " ");
	arrow = line != NULL ? strstr(line, "=> ") : NULL;
	if (arrow != NULL) {
		arrow[3 + strcspn(arrow + 3, "\n")] = '\0';
		snprintf(doctor->module, sizeof(doctor->module), "%s", arrow + 3);
	}
	free(output);
	return arrow != NULL;
}

static void find_module(struct doctor *doctor)
{
	const char *path = getenv("LD_LIBRARY_PATH"), *slash = strrchr(doctor->real, '/');
	char folder[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		int n = snprintf(folder, sizeof(folder), "%.*s/%s", (int)(slash - doctor->real),
				 doctor->real, beside[i]);

		if (n < (int)sizeof(folder) && try_module(doctor, folder, (size_t)n))
			return;
	}
	while (path != NULL && *path != '\0') {
		size_t n = strcspn(path, ":;");

		if (n > 0 && try_module(doctor, path, n))
			return;
		path += n;
		path += *path != '\0';
	}
	if (find_in_cache(doctor))
		return;
	/* The loader's own folders, which need no cache. */
	for (i = 0; i < sizeof(system_folders) / sizeof(*system_folders); i++)
		if (i != CACHED_FOLDER &&
		    try_module(doctor, system_folders[i], strlen(system_folders[i])))
			return;
}

/* A package that installs only libmono-profiler-heapshot.so.0 is a known trap. */
static bool find_versioned(struct doctor *doctor, char *found, size_t size)
{
	const char *slash = strrchr(doctor->real, '/');
	size_t i, n_beside = sizeof(beside) / sizeof(*beside);
	bool is_found = false;

	for (i = 0; !is_found && i < n_beside + sizeof(system_folders) / sizeof(*system_folders);
	     i++) {
		char pattern[PATH_MAX];
		glob_t names;

		if (i < n_beside)
			snprintf(pattern, sizeof(pattern), "%.*s/%s/" MODULE ".*",
				 (int)(slash - doctor->real), doctor->real, beside[i]);
		else
			snprintf(pattern, sizeof(pattern), "%s/" MODULE ".*",
				 system_folders[i - n_beside]);
		if (glob(pattern, 0, NULL, &names) == 0) {
			snprintf(found, size, "%s", names.gl_pathv[0]);
			is_found = true;
			globfree(&names);
		}
	}
	return is_found;
}

static void check_module(struct doctor *doctor)
{
	char detail[2 * PATH_MAX], advice[2 * PATH_MAX], found[PATH_MAX], *lib;

	find_module(doctor);
	if (doctor->module[0] != '\0') {
		report(doctor, true, "module", doctor->module, "");
		return;
	}
	if (find_versioned(doctor, found, sizeof(found))) {
		const char *slash = strrchr(found, '/');

		snprintf(detail, sizeof(detail), "only %s is installed, mono wants " MODULE, found);
		snprintf(advice, sizeof(advice), "make a link: ln -s %s %.*s/" MODULE, slash + 1,
			 (int)(slash - found), found);
		report(doctor, false, "module", detail, advice);
		return;
	}
	snprintf(detail, sizeof(detail), "%.*s/../lib",
		 (int)(strrchr(doctor->real, '/') - doctor->real), doctor->real);
	lib = realpath(detail, NULL);
	snprintf(detail, sizeof(detail), MODULE " is in no folder that %s searches", doctor->mono);
	snprintf(advice, sizeof(advice),
		 "install it beside mono (configure --prefix, or --with-profilerdir=%s), "
		 "or set LD_LIBRARY_PATH to its folder",
		 lib != NULL ? lib : "LIBDIR");
	free(lib);
	report(doctor, false, "module", detail, advice);
}

static void check_libraries(struct doctor *doctor)
{
	char *arguments[] = {(char[]){"ldd"}, doctor->module, NULL};
	char output[16384], missing[1024] = "", *line, *rest;
	size_t n = 0;
	int status;

	if (doctor->module[0] == '\0')
		return;
	status = process_read(arguments, 10, output, sizeof(output));
	if (status == 127 || status < 0)
		return; /* no ldd here; the trial below tells the same */
	for (line = strtok_r(output, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (strstr(line, "not found") == NULL)
			continue;
		line += strspn(line, " \t");
		n += (size_t)snprintf(missing + n, sizeof(missing) - n, "%s%.*s", n ? ", " : "",
				      (int)strcspn(line, " "), line);
		if (n >= sizeof(missing))
			break;
	}
	report(doctor, n == 0, "libraries", n == 0 ? "all found" : missing,
	       "install these; on Debian: apt-get install liblz4-1 libprotobuf-c1");
}

static void check_trial(struct doctor *doctor)
{
	/* Mono loads modules only when there is a program to run, even if it is missing. */
	char *arguments[] = {doctor->mono, (char[]){"--profile=heapshot:help"},
			     (char[]){"heapshot-doctor.exe"}, NULL};
	char output[16384], detail[1024];
	int status = process_read(arguments, 20, output, sizeof(output));

	if (status == 0 && strstr(output, "snapshot=") != NULL) {
		report(doctor, true, "trial", "mono loads the module", "");
		return;
	}
	if (status == 128 + 14)
		snprintf(detail, sizeof(detail), "mono --profile=heapshot:help did not end");
	else
		snprintf(detail, sizeof(detail),
			 "mono --profile=heapshot:help ended with status %d and no list of options",
			 status);
	report(doctor, false, "trial", detail,
	       doctor->module[0] != '\0'
		       ? "run it with MONO_LOG_LEVEL=debug MONO_LOG_MASK=dll to see why"
		       : "install the module first, see above");
}

int cli_doctor(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments;
	struct doctor doctor = {0};
	int status = cli_parse(command, argc, argv, 0, 0, &arguments);

	if (status != CLI_OK)
		return status < 0 ? cli_finish(CLI_OK) : status;
	doctor.is_json = arguments.is_json;
	doctor.mono = process_find(arguments.mono != NULL ? arguments.mono : "mono");
	doctor.real = doctor.mono != NULL ? realpath(doctor.mono, NULL) : NULL;
	if (doctor.is_json) {
		json_begin(&doctor.json, '{');
		json_key(&doctor.json, "checks");
		json_begin_rows(&doctor.json);
	}
	if (doctor.real == NULL) {
		report(&doctor, false, "mono",
		       arguments.mono != NULL ? "there is no such program"
					      : "there is no mono on the PATH",
		       "install Mono (on Debian: apt-get install mono-runtime), or give --mono "
		       "PATH");
	} else {
		report(&doctor, true, "mono", doctor.real, "");
		check_module(&doctor);
		check_libraries(&doctor);
		check_trial(&doctor);
	}
	if (doctor.is_json) {
		json_end(&doctor.json, ']');
		json_put_text(&doctor.json, "mono", doctor.mono);
		json_put_text(&doctor.json, "module",
			      doctor.module[0] != '\0' ? doctor.module : NULL);
		json_put_bool(&doctor.json, "ok", !doctor.has_failed);
		json_end(&doctor.json, '}');
		json_line(&doctor.json);
	} else if (!doctor.has_failed) {
		puts("All is well. Record with: heapshot record -- mono app.exe");
	}
	free(doctor.mono);
	free(doctor.real);
	return cli_finish(doctor.has_failed ? CLI_CHECK_FAILED : CLI_OK);
}
