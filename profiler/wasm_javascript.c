/* SPDX-License-Identifier: MIT */
/*
 * Asking JavaScript for its tables of handles.
 *
 * The contract, for those who write the function.  `Module.heapshot.tables`, if it is
 * a function, is called once in each snapshot that holds objects, behind the walk, in
 * the middle of a collection: it only reads, must not call into the runtime nor any
 * function of heapshot, and must not change linear memory.  It returns an array of
 * tables,
 *
 *     {name, entries: [{handle, type, name}], escaped?, released?, collected?, note?}
 *
 * where `name` says what the handles are: FORMAT.md, 7.4.  Entries whose handle is no
 * whole number are passed over; texts are cut after 256 characters.  Where it throws, or
 * returns what cannot be read, the snapshot has no tables, and one line says so.
 */
#include "config.h"

#include <emscripten.h>

#include "profiler/handles.h"
#include "profiler/message.h"
#include "profiler/wasm_handles.h"

_Static_assert(sizeof(struct hs_handle_row) == 24 && sizeof(struct hs_chars) == 8 &&
		       offsetof(struct hs_js_part, texts) == 32,
	       "JavaScript writes them");

/* clang-format off */
/* An EM_JS is called in its own file only: elsewhere the linker, given LLVM's bitcode as the workload
 * wasm-tools makes it, does not know it for an import. */
EM_JS(bool, hs_js_tables_are_told, (void), {
	try {
		return typeof (Module["heapshot"] || {})["tables"] === "function";
	} catch {
		return false;
	}
});

EM_JS(bool, hs_js_ask, (void), {
	/* Apart from Module.heapshot, which is the page's: it may be frozen, or taken away in the middle. */
	const state = Module["heapshotTables"] || (Module["heapshotTables"] = {});
	try {
		const read = entry => [Number(entry["handle"]), String(entry["type"] ?? ""), String(entry["name"] ?? "")];
		state.reading = Array.from(Module["heapshot"]["tables"](), table => ({
			texts: [String(table["name"]), String(table["note"] ?? "")],
			counts: ["escaped", "released", "collected"].map(name => Math.max(0, Number(table[name])) || 0),
			rows: Array.from(table["entries"] ?? [], read).filter(row => Number.isSafeInteger(row[0])),
			next: 0
		}));
	} catch (error) {
		/* Once, until it answers again. */
		if (state.failure === undefined) {
			let text = "an error without a text";
			try {
				text = String(error).replace(/[^ -~]+/g, " ").slice(0, 200);
			} catch {
				/* Nothing of it may get through the collection. */
			}
			state.failure = text;
		}
		return false;
	}
	delete state.failure;
	delete state.isSaid;
	return true;
});

/* OUT is a struct hs_js_part, with its arrays at the places that follow. */
EM_JS(bool, hs_js_read, (uint8_t *out, uint8_t *rows, size_t n_rows_max, size_t n_texts_max, uint8_t *bytes, size_t n_bytes_max), {
	const reading = Module["heapshotTables"].reading;
	const table = reading[0];
	if (!table) {
		delete Module["heapshotTables"].reading;
		return false;
	}
	let nTexts = 0;
	let nRows = 0;
	let used = 0;
	const positions = new Map();
	const put = text => {
		const encoded = new TextEncoder().encode(text.slice(0, 256));
		if (nTexts === n_texts_max || used + encoded.length > n_bytes_max)
			return -1;
		HEAPU8.set(encoded, bytes + used);
		HEAPU32[(out + 32 >> 2) + 2 * nTexts] = bytes + used;
		HEAPU32[(out + 36 >> 2) + 2 * nTexts] = encoded.length;
		used += encoded.length;
		return ++nTexts - 2;
	};
	const position = text => {
		if (text && !positions.has(text)) {
			const at = put(text);
			if (at < 0)
				return at;
			positions.set(text, at);
		}
		return text ? positions.get(text) : 0;
	};
	table.texts.forEach(put);
	for (; nRows < n_rows_max && table.next < table.rows.length; nRows++, table.next++) {
		const row = table.rows[table.next];
		const type = position(row[1]);
		const name = type < 0 ? type : position(row[2]);
		if (name < 0)
			break;
		const at = (rows >> 2) + 6 * nRows;
		HEAPU32[at] = row[0];
		HEAPU32[at + 1] = Math.floor(row[0] / 4294967296);
		HEAPU32[at + 2] = type;
		HEAPU32[at + 3] = name;
	}
	table.counts.forEach((count, at) => { HEAPF64[(out >> 3) + at] = count; });
	HEAPU32[out + 24 >> 2] = nRows;
	HEAPU32[out + 28 >> 2] = nTexts;
	/* What counts for the table stands in its first part. */
	table.counts = [0, 0, 0];
	table.texts[1] = "";
	if (table.next === table.rows.length)
		reading.shift();
	return true;
});

EM_JS(int, hs_js_tables_failure, (char *text, size_t size), {
	const state = Module["heapshotTables"];
	if (!state || state.failure === undefined || state.isSaid)
		return 0;
	state.isSaid = true;
	stringToUTF8Array(state.failure, HEAPU8, text, size);
	return 1;
});
/* clang-format on */

bool hs_js_has_tables(void)
{
	return hs_js_tables_are_told();
}

bool hs_js_begin(void)
{
	return hs_js_ask();
}

bool hs_js_next(struct hs_js_part *part)
{
	return hs_js_read((uint8_t *)part, (uint8_t *)part->rows, HS_JS_ROWS_MAX, HS_JS_TEXTS_MAX,
			  (uint8_t *)part->bytes, HS_JS_BYTES_MAX);
}

void hs_handles_say(void)
{
	char text[256];

	if (hs_js_tables_failure(text, sizeof text))
		hs_message("Module.heapshot.tables threw %s; the snapshot has no tables of handles",
			   text);
}
