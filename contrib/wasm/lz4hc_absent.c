/* SPDX-License-Identifier: MIT */
/*
 * In place of lz4hc.c: frames are compressed at LZ4's fast levels only, and the
 * others, which lz4frame.c asks for, are 40 KB of code; linked blocks are 10 KB more.
 */
#define LZ4_HC_STATIC_LINKING_ONLY
#include <stddef.h>

#include "lz4hc.h"

int heapshot_no_stream(LZ4_stream_t *stream, const char *source, char *target, int size, int room,
		       int acceleration);

int heapshot_no_stream(LZ4_stream_t *stream, const char *source, char *target, int size, int room,
		       int acceleration)
{
	(void)stream;
	(void)source;
	(void)target;
	(void)size;
	(void)room;
	(void)acceleration;
	return 0;
}

int LZ4_sizeofStateHC(void)
{
	return 0;
}

LZ4_streamHC_t *LZ4_createStreamHC(void)
{
	return NULL;
}

int LZ4_freeStreamHC(LZ4_streamHC_t *stream)
{
	(void)stream;
	return 0;
}

LZ4_streamHC_t *LZ4_initStreamHC(void *buffer, size_t size)
{
	(void)buffer;
	(void)size;
	return NULL;
}

void LZ4_resetStreamHC_fast(LZ4_streamHC_t *stream, int level)
{
	(void)stream;
	(void)level;
}

void LZ4_setCompressionLevel(LZ4_streamHC_t *stream, int level)
{
	(void)stream;
	(void)level;
}

void LZ4_favorDecompressionSpeed(LZ4_streamHC_t *stream, int favor)
{
	(void)stream;
	(void)favor;
}

int LZ4_loadDictHC(LZ4_streamHC_t *stream, const char *dictionary, int size)
{
	(void)stream;
	(void)dictionary;
	(void)size;
	return 0;
}

int LZ4_saveDictHC(LZ4_streamHC_t *stream, char *dictionary, int size)
{
	(void)stream;
	(void)dictionary;
	(void)size;
	return 0;
}

void LZ4_attach_HC_dictionary(LZ4_streamHC_t *stream, const LZ4_streamHC_t *dictionary)
{
	(void)stream;
	(void)dictionary;
}

int LZ4_compress_HC_continue(LZ4_streamHC_t *stream, const char *source, char *target, int size,
			     int room)
{
	(void)stream;
	(void)source;
	(void)target;
	(void)size;
	(void)room;
	return 0;
}

int LZ4_compress_HC_extStateHC_fastReset(void *state, const char *source, char *target, int size,
					 int room, int level)
{
	(void)state;
	(void)source;
	(void)target;
	(void)size;
	(void)room;
	(void)level;
	return 0;
}
