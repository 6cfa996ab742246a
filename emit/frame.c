/* SPDX-License-Identifier: MIT */
/*
 * Frames by LZ4's own frame function: at its fast levels it keeps its state on
 * the stack.  A library built otherwise would allocate; a unit test counts.
 */
#include "emit/frame.h"

#include <lz4frame.h>

static LZ4F_preferences_t preferences(size_t raw_bytes, int level)
{
	/*
	 * No block checksum: the lz4 command (1.9.4) stops after the first of
	 * several frames that carry block but no content checksums, and one
	 * block per frame makes the content's checksum find damage as exactly.
	 */
	return (LZ4F_preferences_t){
		.frameInfo =
			{
				.blockSizeID = LZ4F_max1MB,
				.blockMode = LZ4F_blockIndependent,
				.contentChecksumFlag = LZ4F_contentChecksumEnabled,
				.blockChecksumFlag = LZ4F_noBlockChecksum,
				.contentSize = raw_bytes,
			},
		.compressionLevel = level,
	};
}

size_t hs_frame_bound(size_t raw_bytes)
{
	const LZ4F_preferences_t prefs = preferences(raw_bytes, 0);

	return HS_TAG_BYTES + LZ4F_compressFrameBound(raw_bytes, &prefs);
}

size_t hs_frame_compress_body(uint8_t *out, size_t out_bytes, const uint8_t *raw, size_t raw_bytes,
			      int level)
{
	const LZ4F_preferences_t prefs = preferences(raw_bytes, level);
	size_t size;

	if (raw_bytes == 0 || raw_bytes > HS_FRAME_RAW_MAX)
		return 0;
	/* It needs what LZ4F_compressFrameBound says, and looks itself. */
	size = LZ4F_compressFrame(out, out_bytes, raw, raw_bytes, &prefs);
	return LZ4F_isError(size) ? 0 : size;
}

size_t hs_frame_compress(uint8_t *out, size_t out_bytes, const uint8_t *raw, size_t raw_bytes,
			 struct hs_tag *tag)
{
	size_t size;

	if (out_bytes < hs_frame_bound(raw_bytes))
		return 0;
	size = hs_frame_compress_body(out + HS_TAG_BYTES, out_bytes - HS_TAG_BYTES, raw, raw_bytes,
				      0);
	if (size == 0)
		return 0;
	tag->version = HS_TAG_VERSION;
	tag->compressed_bytes = (uint32_t)size;
	tag->raw_bytes = (uint32_t)raw_bytes;
	hs_tag_encode(tag, out);
	return HS_TAG_BYTES + size;
}
