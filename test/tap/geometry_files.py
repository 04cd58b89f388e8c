#!/usr/bin/env python3
"""Columns of geometries in Arrow and Parquet files (GeoArrow, well-known binary, GeoParquet): the same values as
PostGIS's own, read by the engine and by PostgreSQL, and what is imported without PostGIS. Skipped where PostGIS is not
installed."""
import json
import os
import pathlib
import re
import struct
import subprocess

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from server import done, engine_session, equal, folder, fresh_database, ok, psql, query, state_of, with_and_without_engine

if query("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgis'").strip() == "0":
    ok(True, "skipped: PostGIS is not installed")
    done()

FILES = folder("geometry_files")
DB = fresh_database("strom_geometry_files")
query("CREATE SCHEMA gis; CREATE EXTENSION postgis SCHEMA gis", DB)
session = engine_session(DB)
session.execute("SET search_path = public, gis")
EPSG = {"type": "GeographicCRS", "name": "any [1,2] \"name\"", "id": {"authority": "EPSG", "code": 4326}}
HAS_PARQUET = (pathlib.Path(subprocess.run([os.path.join(os.environ["STROM_PG_BINDIR"], "pg_config"), "--pkglibdir"],
                                           capture_output=True, text=True, check=True).stdout.strip()) /
               "pg_strom_parquet.so").exists()
SAMPLES = [
    "POINT (1 2)", "POINT (-0 1e-300)", "POINT EMPTY", "POINT Z (1 2 3)", "POINT M (1 2 4)", "POINT ZM (1 2 3 4)",
    "LINESTRING (0 0, 1 1)", "LINESTRING (0 0, 1 1, 2 0.1)", "LINESTRING EMPTY", "LINESTRING Z (0 0 5, 1 1 6, 7 7 7)",
    "POLYGON ((0 0, 9.1 0, 9 9.7, 0 0))", "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (2 2, 3 2, 3 3, 2 2), (5 5, 6 5, 6 6, 5 5))",
    "POLYGON EMPTY", "POLYGON ZM ((0 0 1 2, 9 0 3 4, 9 9 5 6, 0 0 1 2))", "MULTIPOINT (1 1)", "MULTIPOINT (1 1, 2 0.3, 3 3)",
    "MULTIPOINT (1 1, EMPTY)", "MULTIPOINT EMPTY", "MULTILINESTRING ((0 0, 1 1))", "MULTILINESTRING ((0 0, 1 1, 2 2))",
    "MULTILINESTRING ((0 0, 1 1), (2 2, 3 3.3))", "MULTILINESTRING EMPTY", "MULTILINESTRING (EMPTY, (2 2, 3 3))",
    "MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0)), ((20 20, 21 20, 21 21, 20 20), (20.5 20.1, 20.6 20.1, 20.6 20.2, 20.5 20.1)))",
    "MULTIPOLYGON (EMPTY, ((0 0, 9 0, 9 9, 0 0)))", "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 4 4))",
    "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 2), MULTIPOLYGON (((0 0, 9 0, 9 9, 0 0)))), POINT EMPTY)",
    "GEOMETRYCOLLECTION EMPTY", "POLYGON ((1e39 0, 3e40 0, 1e40 1e39, 1e39 0))",
    "LINESTRING (0.1 0.1, 0.2 0.2, 16777217 3)",
]
session.execute("CREATE TABLE own (id int, g geometry)")
for number, text in enumerate(SAMPLES * 3):
    session.execute("INSERT INTO own VALUES (%s, st_geomfromtext(%s))", (number, text))
session.execute("INSERT INTO own VALUES (100, 'POINT (3 3)'), (101, NULL), (102, 'LINESTRING (0 0, NaN 1, 4 5)')")
session.execute("ANALYZE own")


def write(name, fields, columns, compression=None, batches=1):
    """An Arrow file of that name with `fields` and their arrays."""
    schema = pa.schema(fields)
    path = FILES / f"{name}.arrow"
    table = pa.Table.from_arrays(columns, schema=schema)
    options = ipc.IpcWriteOptions(compression=compression)
    with ipc.new_file(str(path), schema, options=options) as writer:
        writer.write_table(table, max_chunksize=-(-table.num_rows // batches) or None)
    return path


def extension(name, **metadata):
    return {"ARROW:extension:name": name, "ARROW:extension:metadata": json.dumps(metadata)}


def import_table(name, path):
    session.execute(f"DROP FOREIGN TABLE IF EXISTS {name}")
    session.execute(f"IMPORT FOREIGN SCHEMA {name} FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}')")


def type_of(table, column="g"):
    return session.execute("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass"
                           " AND attname = %s", (table, column)).fetchone()[0]


def answer(session, statement):
    return sorted(session.execute(statement).fetchall(), key=repr)


def is_in_engine(statement):
    return "Custom Scan (Cpu" in "\n".join(row[0] for row in session.execute("EXPLAIN (COSTS OFF) " + statement))


def same_everywhere(statement, name):
    ok(is_in_engine(statement), f"{name}: the engine runs it", statement)
    engine, alone = with_and_without_engine(session, statement, answer)
    equal(engine, alone, f"{name}: and answers as PostgreSQL does")
    return engine


def same_bytes(table, own, name):
    """The stored bytes: what PostGIS compares, whether there is a box, and their number."""
    shape = "id, g::text, pg_column_size(g), postgis_hasbbox(g), box3d(g)::text"
    for enabled in ("on", "off"):
        session.execute(f"SET pg_strom.enabled = {enabled}")
        found = answer(session, f"SELECT {shape} FROM {table}")
        # Made anew, because values of heap tables may have short headers.
        wanted = answer(session, f"SELECT {shape} FROM (SELECT id, st_setsrid(g, st_srid(g)) AS g FROM {own}) made")
        equal(found, wanted, f"{name}: the bytes of PostGIS, engine {enabled}")
    session.execute("SET pg_strom.enabled = on")


rows = session.execute("SELECT id, st_asewkb(g), st_asbinary(g), st_asbinary(g, 'XDR') FROM own ORDER BY id").fetchall()
ids = pa.array([row[0] for row in rows], pa.int32())
session.execute("CREATE VIEW known_4326 AS SELECT id, st_setsrid(g, 4326) AS g FROM own")

# Well-known binary of each kind, in each layout of bytes.
for place, layout in ((1, pa.binary()), (2, pa.large_binary()), (3, pa.binary_view()), (3, pa.binary())):
    values = pa.array([row[place] for row in rows], layout)
    for kind, crs in (("geoarrow.wkb", None), ("ogc.wkb", EPSG)):
        name = f"wkb_{place}_{layout}_{kind[:3]}"
        path = write(name, [pa.field("id", pa.int32()), pa.field("g", layout, metadata=extension(kind, crs=crs))],
                     [ids, values], compression="lz4" if place == 1 and crs else None, batches=3)
        import_table("wkb", path)
        equal(type_of("wkb"), "geometry" if crs is None else "geometry(Geometry,4326)", f"{name}: the type")
        same_bytes("wkb", "own" if crs is None else "known_4326", name)
same_everywhere("SELECT count(*), sum(st_npoints(g)), min(st_geometrytype(g)) FROM wkb"
                " WHERE st_intersects(g, 'SRID=4326;polygon ((0 0, 5 0, 5 5, 0 5, 0 0))')", "filters and aggregates of WKB")
same_everywhere("SELECT id, g FROM wkb WHERE st_npoints(g) > 2", "geometries come out")

# GeoArrow's own layouts: the same coordinates in all of them.
def coordinates(dimensions, interleaved):
    if interleaved:
        return pa.list_(pa.field(dimensions, pa.float64(), nullable=False), len(dimensions))
    return pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in dimensions])


def point(numbers, dimensions, interleaved):
    return list(numbers[: len(dimensions)]) if interleaved else dict(zip(dimensions, numbers))


def in_lists(value, depth, make):
    return make(value) if depth == 0 else [in_lists(part, depth - 1, make) for part in value]


def ring(x, y, size):
    return [(x, y, 1, 2), (x + size, y, 3, 4), (x + size, y + size, 5, 6), (x, y, 1, 2)]


TYPES = {
    "point": (0, "POINT", [(1, 2, 3, 4), (0.1, -7, 0, 0)]),
    "linestring": (1, "LINESTRING", [ring(0, 0, 3), ring(1, 1, 0.3)[:2], []]),
    "polygon": (2, "POLYGON", [[ring(0, 0, 9), ring(4, 2, 1)], [ring(0.3, 0, 1)], []]),
    "multipoint": (1, "MULTIPOINT", [ring(0, 0, 3), ring(1, 1, 3)[:1], []]),
    "multilinestring": (2, "MULTILINESTRING", [[ring(0, 0, 3), ring(1, 1, 3)[:2]], [ring(2, 2, 1)[:2]], []]),
    "multipolygon": (3, "MULTIPOLYGON", [[[ring(0, 0, 9), ring(4, 2, 1)], [ring(20, 0, 1)]], [[ring(0.3, 0, 1)]], []]),
}
NAMES = {"xy": "", "xyz": "Z", "xym": "M", "xyzm": "ZM"}


def text_of(value, depth, kind, count, outer=True):
    if depth == 0:
        numbers = " ".join(repr(float(number)) for number in value[:count])
        return f"({numbers})" if outer else numbers
    if not value:
        return "EMPTY"
    return "(" + ", ".join(text_of(part, depth - 1, kind, count, False) for part in value) + ")"


for kind, (depth, label, values) in TYPES.items():
    for dimensions, letters in NAMES.items():
        for interleaved in (False, True):
            layout = coordinates(dimensions, interleaved)
            for level in range(depth):
                layout = pa.large_list(layout) if level == 1 and interleaved else pa.list_(layout)
            rows = [in_lists(value, depth, lambda p: point(p, dimensions, interleaved)) for value in values]
            name = f"{kind} {dimensions} {'interleaved' if interleaved else 'separate'}"
            path = write("native", [pa.field("id", pa.int32()),
                                    pa.field("g", layout, metadata=extension(f"geoarrow.{kind}", crs="EPSG:3857", crs_type="authority_code"))],
                         [pa.array(range(len(rows) + 1), pa.int32()), pa.array([*rows, None], layout)],
                         compression="zstd" if interleaved and depth == 2 else None)
            import_table("native", path)
            session.execute("DROP TABLE IF EXISTS wanted")
            session.execute("CREATE TABLE wanted (id int, g geometry)")
            for number, value in enumerate(values):
                session.execute("INSERT INTO wanted VALUES (%s, st_geomfromtext(%s, 3857))",
                                (number, f"{label} {letters} {text_of(value, depth, kind, len(dimensions))}"))
            session.execute(f"INSERT INTO wanted VALUES ({len(values)}, NULL)")
            equal(type_of("native").upper(), f"GEOMETRY({label}{letters},3857)", f"{name}: the type")
            same_bytes("native", "wanted", name)
same_everywhere("SELECT id, st_area(g), st_npoints(g), g FROM native", "GeoArrow's polygons")

# NaN makes a point empty; a NULL of the file is NULL.
empty = write("empty", [pa.field("g", coordinates("xy", False), metadata=extension("geoarrow.point"))],
              [pa.array([{"x": float("nan"), "y": float("nan")}, {"x": 1.0, "y": float("nan")}, None], coordinates("xy", False))])
import_table("empty", empty)
equal(same_everywhere("SELECT st_isempty(g), count(*) FROM empty GROUP BY 1", "points of NaN"),
      sorted([(True, 1), (False, 1), (None, 1)], key=repr), "NaN is an empty point")

# Joins of points in files with polygons in files, and by distance.
grid = [(x / 4, y / 4) for x in range(60) for y in range(60)]
points = write("points", [pa.field("id", pa.int32()), pa.field("g", coordinates("xy", True), metadata=extension("geoarrow.point"))],
               [pa.array(range(len(grid)), pa.int32()),
                pa.FixedSizeListArray.from_arrays(pa.array([n for p in grid for n in p]), 2).cast(coordinates("xy", True))], batches=7)
import_table("points", points)
areas = session.execute("SELECT row_number() OVER ()::int, st_asbinary(st_buffer(st_makepoint(x, y), 2.3, 5)) FROM"
                        " generate_series(1, 13, 4) x, generate_series(1, 13, 4) y").fetchall()
path = write("areas", [pa.field("id", pa.int32()), pa.field("g", pa.binary(), metadata=extension("geoarrow.wkb"))],
             [pa.array([a[0] for a in areas], pa.int32()), pa.array([a[1] for a in areas], pa.binary())], compression="zstd")
import_table("areas", path)
session.execute("ANALYZE points, areas")
found = same_everywhere("SELECT a.id, count(*) FROM areas a JOIN points p ON st_contains(a.g, p.g) GROUP BY a.id", "joins of files")
ok(len(found) == len(areas) and all(count > 100 for _, count in found), "the join has rows", found)
ok("GiST Join" in "\n".join(r[0] for r in session.execute(
    "EXPLAIN SELECT count(*) FROM areas a JOIN points p ON st_contains(a.g, p.g)")), "a join of files is a GiST join")
same_everywhere("SELECT count(*), sum(a.id) FROM points a JOIN points b ON st_dwithin(a.g, b.g, 0.25)", "joins by distance")

# What is declared by hand.
session.execute(f"CREATE FOREIGN TABLE bytes (id int, g bytea) SERVER arrow_fdw OPTIONS (file '{path}')")
equal(session.execute("SELECT g FROM bytes ORDER BY id").fetchall(), [(a[1],) for a in areas], "as bytea the file's bytes")
for declared, state in (("geometry(Polygon)", None), ("geometry(Polygon, 4326)", None), ("geometry(Point)", "XX001"), ("geometry(PolygonZ)", "XX001")):
    session.execute(f"CREATE FOREIGN TABLE t (id int, g {declared}) SERVER arrow_fdw OPTIONS (file '{path}')")
    equal(state_of(lambda: session.execute("SELECT count(*), min(st_srid(g)) FROM t WHERE st_npoints(g) > 1").fetchall()), state, f"declared as {declared}")
    session.execute("DROP FOREIGN TABLE t")
session.execute(f"CREATE FOREIGN TABLE t (g geometry(Polygon)) SERVER arrow_fdw OPTIONS (file '{points}')")
equal(state_of(lambda: session.execute("SELECT * FROM t")), "42804", "a column of points is none of polygons")
session.execute("DROP FOREIGN TABLE t")
session.execute("CREATE DOMAIN place AS geometry CHECK (st_srid(VALUE) = 0)")
session.execute(f"CREATE FOREIGN TABLE t (id int, g place) SERVER arrow_fdw OPTIONS (file '{path}')")
equal(answer(session, "SELECT id, st_area(g) FROM t"), answer(session, "SELECT id, st_area(g) FROM areas"), "a domain")

# Parts of nested columns.
parts = pa.list_(pa.field("item", pa.binary(), metadata=extension("geoarrow.wkb")))
path = write("parts", [pa.field("g", parts)], [pa.array([[a[1] for a in areas[:3]], [], None], parts)])
import_table("parts", path)
equal((type_of("parts"), session.execute("SELECT sum(st_npoints(e)) FROM parts, unnest(g) e").fetchone()),
      ("geometry[]", session.execute("SELECT sum(st_npoints(g)) FROM areas WHERE id <= 3").fetchone()), "lists of geometries")

# Other edges than straight ones, unknown kinds, and fields that are not what their name says stay what they are.
for metadata, layout in ((extension("geoarrow.wkb", edges="spherical"), pa.binary()), (extension("geoarrow.box"), pa.binary()),
                         (extension("geoarrow.point"), pa.binary())):
    import_table("other", write("other", [pa.field("g", layout, metadata=metadata)], [pa.array([b"x"], layout)]))
    equal(type_of("other"), "bytea", f"stays bytes: {metadata}")
import_table("other", write("other", [pa.field("g", pa.binary(), metadata=extension("ogc.wkb", edges="planar", crs={"id": {"authority": "OGC", "code": "CRS84"}}))],
                            [pa.array([b""], pa.binary())[:0]]))
equal(type_of("other"), "geometry(Geometry,4326)", "longitude and latitude")

# Damaged values: an error that tells where, whoever reads.
good = struct.pack("<BIdd", 1, 1, 1.0, 2.0)
for bad in (b"", good[:-1], b"\x02" + good[1:], struct.pack("<BI", 1, 99), struct.pack("<BII", 1, 3, 1) + struct.pack("<I", 3) + good[5:] * 3,
            struct.pack("<BII", 1, 2, 1) + good[5:], struct.pack("<BII", 1, 4, 1) + struct.pack("<BII", 1, 2, 0), struct.pack("<BII", 1, 7, 1 << 31),
            struct.pack("<BII", 1, 10, 0), b"".join(struct.pack("<BII", 1, 7, 1) for _ in range(300)) + good):
    path = write("bad", [pa.field("id", pa.int32()), pa.field("g", pa.binary(), metadata=extension("geoarrow.wkb"))],
                 [pa.array([1, 2], pa.int32()), pa.array([good, bad], pa.binary())])
    import_table("bad", path)
    states = []
    for enabled in ("on", "off"):
        session.execute(f"SET pg_strom.enabled = {enabled}")
        states.append(state_of(lambda: session.execute("SELECT count(*) FROM bad WHERE st_npoints(g) = 1").fetchall()))
    session.execute("SET pg_strom.enabled = on")
    equal(states, ["XX001"] * 2, f"damaged: {bad[:20]}")
_, err = psql(f"SET search_path = public, gis; SELECT g FROM bad", DB)
ok("row 1" in err and "bad.arrow" in err and '"g"' in err, "the error tells where it is", err)

# Nobody writes other forms into such a field.
writable = write("writable", [pa.field("g", pa.binary(), metadata=extension("geoarrow.wkb"))], [pa.array([good], pa.binary())])
os.chmod(writable, 0o666)
session.execute(f"CREATE FOREIGN TABLE writable (g geometry) SERVER arrow_fdw OPTIONS (file '{writable}', writable 'true')")
ok(state_of(lambda: session.execute("INSERT INTO writable VALUES ('POINT (1 1)')")) is not None, "INSERT is refused")

# GeoParquet: the metadata are the file's, not the column's.
if HAS_PARQUET:
    table = pa.table({"id": pa.array([a[0] for a in areas], pa.int32()), "geometría": pa.array([a[1] for a in areas], pa.binary())})
    for crs, wanted in (({}, "geometry(Geometry,4326)"), ({"crs": None}, "geometry"), ({"crs": {"id": {"authority": "EPSG", "code": 2451}}}, "geometry(Geometry,2451)")):
        meta = {"version": "1.1.0", "primary_column": "geometría", "columns": {"geometría": {"encoding": "WKB", "geometry_types": [], **crs}}}
        pq.write_table(table.replace_schema_metadata({"geo": json.dumps(meta)}), FILES / "areas.parquet", row_group_size=5)
        import_table("parquet", FILES / "areas.parquet")
        equal(type_of("parquet", "geometría"), wanted, f"GeoParquet with {crs}")
    session.execute("SET pg_strom.enabled = on")
    equal(same_everywhere('SELECT id, st_area("geometría") FROM parquet', "GeoParquet"), answer(session, "SELECT id, st_area(g) FROM areas"), "the areas of GeoParquet")
    native = pa.table({"p": pa.array([{"x": 1.5, "y": 2.5}], coordinates("xy", False))})
    meta = {"version": "1.1.0", "primary_column": "p", "columns": {"p": {"encoding": "point", "geometry_types": ["Point"]}}}
    pq.write_table(native.replace_schema_metadata({"geo": json.dumps(meta)}), FILES / "point.parquet")
    import_table("parquet", FILES / "point.parquet")
    equal((type_of("parquet", "p"), answer(session, "SELECT st_astext(p) FROM parquet")), ("geometry(Point,4326)", [("POINT(1.5 2.5)",)]), "native points of GeoParquet")

# Boxes: row groups and record batches that no row of a condition lies in are left out.
def boxes_of(rows):
    return [{"xmin": x - 0.1, "ymin": y - 0.1, "xmax": x + 0.1, "ymax": y + 0.1} for x, y in rows]


def read_and_skipped(statement):
    plan = "\n".join(row[0] for row in session.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + statement))
    found = re.search(r"loaded: (\d+), skipped: (\d+)", plan)
    return (int(found[1]), int(found[2])) if found else plan


BOX = pa.struct([(corner, pa.float64()) for corner in ("xmin", "ymin", "xmax", "ymax")])
BATCH = 100
places = [(batch * 10 + i / 50, batch * 10 - i / 50) for batch in range(8) for i in range(BATCH)]
wkb = pa.array([struct.pack("<BIdd", 1, 1, x, y) for x, y in places], pa.binary())
CONDITIONS = {"g && 'POLYGON ((19 0, 31 0, 31 31, 19 0))'": (2, 6), "st_contains('POLYGON ((49 30, 53 30, 53 60, 49 60, 49 30))', g)": (1, 7),
              "st_intersects(g, 'POINT (30 30)')": (1, 7), "st_dwithin(g, 'POINT (35 35)', 5)": (2, 6), "st_dwithin('POINT (35 35)', g, 1)": (0, 8),
              "st_within(g, 'POLYGON EMPTY')": (0, 8), "st_contains('POLYGON ((49 30, 53 30, 53 60, 49 60, 49 30))', g) OR st_intersects('POINT (0 0)', g)": (2, 6),
              "NOT st_intersects(g, 'POINT (30 30)')": None, "st_disjoint(g, 'POINT (30 30)')": None, "st_dwithin(g, 'POINT (35 35)', id)": None}


def bits(value):
    return str(struct.unpack("<q", struct.pack("<d", value))[0])


corners = []
for corner, sign, choose in (("xmin", -0.1, min), ("ymin", -0.1, min), ("xmax", 0.1, max), ("ymax", 0.1, max)):
    values = [choose(place[corner[0] == "y"] + sign for place in places[at : at + BATCH]) for at in range(0, len(places), BATCH)]
    listed = ",".join(bits(value) for value in values)
    corners.append(pa.field(corner, pa.float64(), metadata={"min_values": listed, "max_values": listed}))
arrow_boxes = pa.struct(corners)
boxes = write("boxes", [pa.field("id", pa.int32()), pa.field("g", pa.binary(), metadata=extension("geoarrow.wkb")), pa.field("bbox", arrow_boxes)],
              [pa.array(range(len(places)), pa.int32()), wkb, pa.array(boxes_of(places), arrow_boxes)], batches=8)
import_table("boxes", boxes)
forms = {"boxes": "g"}
if HAS_PARQUET:
    for name, box, covering in (("gpq", "extent", True), ("gpq_bbox", "bbox", False), ("gpq_own", "g_bbox", False), ("gpq_other", "other", False)):
        meta = {"version": "1.1.0", "primary_column": "g", "columns": {"g": {"encoding": "WKB", "geometry_types": [], "crs": None}}}
        if covering:
            meta["columns"]["g"]["covering"] = {"bbox": {corner: [box, corner] for corner in ("xmin", "ymin", "xmax", "ymax")}}
        table = pa.table({"id": pa.array(range(len(places)), pa.int32()), "g": wkb, box: pa.array(boxes_of(places), BOX)})
        pq.write_table(table.replace_schema_metadata({"geo": json.dumps(meta)}), FILES / f"{name}.parquet", row_group_size=BATCH)
        import_table(name, FILES / f"{name}.parquet")
        forms[name] = "g" if box != "other" else None
for name, column in forms.items():
    for condition, wanted in CONDITIONS.items():
        statement = f"SELECT count(*), sum(id) FROM {name} WHERE {condition}"
        answers = with_and_without_engine(session, statement, answer)
        session.execute("SET arrow_fdw.stats_hint_enabled = off")
        answers.append(answer(session, statement))
        session.execute("SET arrow_fdw.stats_hint_enabled = on")
        equal(answers[1:], answers[:1] * 2, f"{name}: {condition}")
        for enabled in ("on", "off"):
            session.execute(f"SET pg_strom.enabled = {enabled}")
            found = read_and_skipped(statement)
            if wanted is None or column is None:
                ok(isinstance(found, str), f"{name}: {condition}: nothing is left out, engine {enabled}", found)
            else:
                equal(found, wanted, f"{name}: {condition}: batches, engine {enabled}")
    session.execute("SET pg_strom.enabled = on")

# Without PostGIS, what is stored, and a word about it; with it, at once.
BARE = fresh_database("strom_geometry_files_bare")
_, err = psql(f"IMPORT FOREIGN SCHEMA t FROM SERVER arrow_fdw INTO public OPTIONS (file '{FILES / 'areas.arrow'}');"
              f"SELECT pgstrom.arrow_fdw_import_file('p', '{points}');", BARE)
equal(err.count('field "g" holds geometries and is imported as'), 2, "a notice without PostGIS")
equal(query("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid IN ('t'::regclass, 'p'::regclass) AND attname = 'g' ORDER BY 1", BARE).split(),
      ["bytea", "double", "precision[]"], "what is stored")
query(f"CREATE EXTENSION postgis; SELECT pgstrom.arrow_fdw_import_file('u', '{FILES / 'areas.arrow'}')", BARE)
equal(query("SELECT sum(st_npoints(g)) > 0 FROM u", BARE).strip(), "t", "PostGIS that comes later")
done()
