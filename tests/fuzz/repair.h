/* SPDX-License-Identifier: MIT */
/*
 * For libFuzzer: mutated inputs whose tags have their CRC set right again, for
 * behind a wrong CRC a reader looks at nothing.  One mutation in four stays as
 * it is.
 */
#ifndef HEAPSHOT_TESTS_FUZZ_REPAIR_H
#define HEAPSHOT_TESTS_FUZZ_REPAIR_H

#include "config.h"

#ifdef HEAPSHOT_FUZZING
#include "schema/tag.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	static const uint8_t magic[4] = {0x5B, 0x2A, 0x4D, 0x18};
	size_t at;

	size = LLVMFuzzerMutate(data, size, room);
	for (at = 0; seed % 4 && at + HS_TAG_BYTES <= size; at++) {
		uint8_t *payload = data + at + 8;
		uint32_t crc;

		if (memcmp(data + at, magic, sizeof magic) != 0)
			continue;
		crc = hs_crc32(payload, HS_TAG_PAYLOAD_BYTES - 4);
		for (unsigned i = 0; i < 4; i++)
			payload[HS_TAG_PAYLOAD_BYTES - 4 + i] = (uint8_t)(crc >> 8 * i);
	}
	return size;
}
#endif

#endif
