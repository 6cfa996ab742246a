/* SPDX-License-Identifier: MIT */
/*
 * Inputs of the target "records": the contents of frames, without tags,
 * compression and FrameStart, so that mutations meet records and not checksums.
 *
 * A byte of RECORDS_ flags; then for each frame its kind (one byte), its
 * snapshot (one byte), the length of its content (two bytes, little-endian) and
 * the content: encoded records of Stream.
 */
#ifndef HEAPSHOT_TESTS_FUZZ_RECORDS_H
#define HEAPSHOT_TESTS_FUZZ_RECORDS_H

#define RECORDS_JSON    1 /* commands write JSON */
#define RECORDS_OBJECTS 2 /* dump writes rows */
#define RECORDS_ADDRESS 4 /* jit looks for what was at an address */
#define RECORDS_MAX     64

#endif
