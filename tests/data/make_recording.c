/* SPDX-License-Identifier: MIT */
/*
 * make_recording VARIANT FILE [N]: writes a synthetic recording, see
 * synthetic.h.  Without arguments it prints the names of the variants.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/data/synthetic.h"

int main(int argc, char **argv)
{
	struct synthetic_bytes bytes;
	const char *name;
	FILE *out;
	size_t i;
	int status = 1;

	if (argc < 3) {
		for (i = 0; (name = synthetic_name(i)) != NULL; i++)
			puts(name);
		return 0;
	}
	if (!synthetic_make(argv[1], argc > 3 ? strtoull(argv[3], NULL, 10) : 0, &bytes)) {
		fprintf(stderr, "make_recording: no variant '%s'\n", argv[1]);
		return 2;
	}
	out = fopen(argv[2], "wb");
	if (out != NULL) {
		status = fwrite(bytes.data, 1, bytes.size, out) != bytes.size;
		status |= fclose(out) != 0;
	}
	if (status != 0)
		perror(argv[2]);
	free(bytes.data);
	return status;
}
