#!/usr/bin/env python3
"""Columns of geometries in store tables: the values of PostGIS, joins and scans in the engine, changes, and compaction.
Skipped where PostGIS is not installed."""
import os

from server import alive, done, engine_session, equal, folder, fresh_database, ok, query, with_and_without_engine

if query("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgis'").strip() == "0":
    ok(True, "skipped: PostGIS is not installed")
    done()

FILES = folder("geometry_store")
os.chmod(FILES, 0o777)
DB = fresh_database("strom_geometry_store")
query("CREATE EXTENSION postgis", DB)
session = engine_session(DB)
OPTIONS = (f"base_file '{FILES}/areas.base', redo_log_file '{FILES}/areas.redo', max_num_rows '20000', "
           "primary_key 'id'")
session.execute(f"CREATE FOREIGN TABLE areas (id int, g geometry) SERVER gstore_fdw OPTIONS ({OPTIONS})")
# Squares beside each other, one in ten a polygon of 400 corners or so; NULL, and what is no polygon.
session.execute("""
  CREATE TABLE plain AS
  SELECT i AS id, CASE WHEN i % 10 = 0 THEN st_buffer(st_makepoint(i % 50 + 0.5, i / 50 + 0.5), 0.7, 100)
                       ELSE st_makeenvelope(i % 50, i / 50, i % 50 + 1, i / 50 + 1) END AS g
  FROM generate_series(0, 499) i
  UNION ALL SELECT 3000, NULL UNION ALL SELECT 3001, 'POINT(3 3)'::geometry
  UNION ALL SELECT 3002, 'POLYGON EMPTY' UNION ALL SELECT 3003, 'LINESTRING(0 0, 50 50)';
  CREATE TABLE points AS SELECT i AS id, (i * 7919 % 50021) / 1000.0 AS x, (i * 104729 % 50021) / 1000.0 AS y
  FROM generate_series(1, 5000) i;
  INSERT INTO areas SELECT * FROM plain;
  ANALYZE plain, points""")
SAME = "SELECT id, g::bytea FROM {} ORDER BY id"
STATEMENTS = {
    "polygons of the store, points of a heap table":
        "SELECT a.id, count(*), sum(p.id) FROM {} a, points p WHERE st_contains(a.g, st_makepoint(p.x, p.y)) GROUP BY 1",
    "what is near": "SELECT count(*), sum(a.id) FROM {} a, points p WHERE p.id < 500 AND st_dwithin(a.g, st_makepoint(p.x, p.y), 0.3)",
    "a constant": "SELECT count(*), sum(id) FROM {} WHERE st_intersects(g, 'POLYGON((3 3, 20 3, 20 17, 3 3))')",
    "boxes": "SELECT count(*), sum(id) FROM {} WHERE g && 'POLYGON((3 3, 20 3, 20 17, 3 3))'::geometry",
    "measures": "SELECT count(*), sum(st_npoints(g)), max(st_area(g)) FROM {} WHERE st_area(g) > 0.5",
}


def rows(session, statement):
    return sorted(session.execute(statement).fetchall(), key=repr)


def compare(when):
    equal(rows(session, SAME.format("areas")), rows(session, SAME.format("plain")), f"the same bytes, {when}")
    for name, statement in STATEMENTS.items():
        engine, alone = with_and_without_engine(session, statement.format("areas"), rows)
        equal(engine, alone, f"{name}, {when}")
        equal(engine, rows(session, statement.format("plain")), f"{name}, as of a heap table, {when}")


for name, statement in STATEMENTS.items():
    plan = "\n".join(row[0] for row in session.execute("EXPLAIN (COSTS OFF) " + statement.format("areas")).fetchall())
    ok("Custom Scan" in plan, f"{name}: the engine answers", plan)
compare("as inserted")
for table in ("areas", "plain"):
    session.execute(f"UPDATE {table} SET g = st_translate(g, 0.25, 0.25) WHERE id % 7 = 0")
    session.execute(f"UPDATE {table} SET g = st_setsrid(g, 0) WHERE id % 11 = 0")
    session.execute(f"DELETE FROM {table} WHERE id % 13 = 0")
compare("changed")
equal(session.execute("SELECT pgstrom.store_check('areas') IS NOT NULL").fetchone()[0], True, "the checker finds nothing")
session.execute("SELECT pgstrom.store_compact('areas')")
compare("compacted")
alive("after geometries in store tables")
done()
