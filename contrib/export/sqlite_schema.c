/* SPDX-License-Identifier: MIT */
/*
 * Indexes and views of the sqlite format.  doc/export-sqlite.md explains them, and its
 * queries are run by a test; version 1 of "PRAGMA user_version".
 */
#include "contrib/export/sqlite.h"

const char sqlite_indexes[] = "CREATE INDEX objects_type ON objects (type);"
			      "CREATE INDEX objects_address ON objects (address);"
			      "CREATE INDEX refs_source ON refs (source);"
			      "CREATE INDEX refs_target ON refs (target);"
			      "CREATE INDEX ephemerons_source ON ephemerons (source);"
			      "CREATE INDEX ephemerons_target ON ephemerons (target);"
			      "CREATE INDEX strings_object ON strings (object);"
			      "CREATE INDEX roots_object ON roots (object);"
			      "CREATE INDEX roots_source ON roots (source);"
			      "CREATE INDEX dominators_dominator ON dominators (dominator);"
			      "CREATE INDEX dominators_retained ON dominators (retained);"
			      "CREATE INDEX types_name ON types (name);"
			      "CREATE INDEX events_kind ON events (kind);"
			      "CREATE INDEX counter_samples_counter ON counter_samples (counter);";

/*
 * A pause of the collector ends at the last "post_start_world" of its number; it is
 * a collection when a start or an end lies in it, as heapshot events has it.
 */
#define COLLECTIONS                                                                                \
	"CREATE VIEW collections AS SELECT "                                                       \
	"  row_number() OVER (ORDER BY pause) AS number,"                                          \
	"  min(time_ns) FILTER (WHERE phase = 'post_stop_world') AS time_ns,"                      \
	"  max(generation) FILTER (WHERE phase IN ('start', 'end')) AS generation,"                \
	"  CASE WHEN sum(phase = 'end') = 0 THEN 'concurrent'"                                     \
	"       WHEN sum(phase = 'start') = 0 THEN 'finish' ELSE 'full' END AS kind,"              \
	"  max(serial) FILTER (WHERE phase = 'post_stop_world') AS serial,"                        \
	"  max(0, max(time_ns) FILTER (WHERE phase = 'post_start_world')"                          \
	"    - min(time_ns) FILTER (WHERE phase = 'post_stop_world')) AS pause_ns"                 \
	" FROM events WHERE kind = 'gc' AND pause IS NOT NULL GROUP BY pause"                      \
	" HAVING sum(phase IN ('start', 'end')) > 0 AND sum(phase = 'post_start_world') > 0;"

const char sqlite_views[] =
	"CREATE VIEW objects_named AS SELECT"
	"  o.id, o.snapshot, o.address, coalesce(t.name, 'type#' || o.type) AS type,"
	"  coalesce(t.assembly, '') AS assembly, o.domain, o.bytes, o.slot_bytes, o.live,"
	"  d.retained, d.dominator"
	" FROM objects o LEFT JOIN types t ON t.id = o.type"
	"  LEFT JOIN dominators d ON d.object = o.id;"
	"CREATE VIEW refs_named AS SELECT"
	"  r.source, coalesce(st.name, 'type#' || s.type) AS source_type,"
	"  coalesce('[' || r.item || ']', '')"
	"    || CASE WHEN r.item IS NOT NULL AND f.name IS NOT NULL THEN '.' ELSE '' END"
	"    || coalesce(f.name, '') AS field,"
	"  r.target, coalesce(tt.name, 'type#' || t.type) AS target_type"
	" FROM refs r JOIN objects s ON s.id = r.source JOIN objects t ON t.id = r.target"
	"  LEFT JOIN fields f ON f.id = r.field"
	"  LEFT JOIN types st ON st.id = s.type LEFT JOIN types tt ON tt.id = t.type;"
	"CREATE VIEW roots_named AS SELECT"
	"  r.id, s.snapshot, s.kind, s.name, r.holds, s.handle_type, r.address, r.object,"
	"  coalesce(t.name, 'type#' || o.type) AS type, r.source"
	" FROM roots r JOIN root_sources s ON s.id = r.source JOIN objects o ON o.id = r.object"
	"  LEFT JOIN types t ON t.id = o.type;"
	"CREATE VIEW roots_by_kind AS SELECT"
	"  s.snapshot, s.kind, count(*) AS roots, count(DISTINCT r.object) AS objects"
	" FROM roots r JOIN root_sources s ON s.id = r.source GROUP BY s.snapshot, s.kind;" //
	COLLECTIONS;
