#!/usr/bin/env python3
"""pg2arrow and every type of PostgreSQL: what pyarrow and Arrow_Fdw read is what the server has, extremes included."""
import datetime
import decimal
import math
import struct
import subprocess
import uuid

import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, psql, query, run

OUT = folder("pg2arrow_types")
DB = fresh_database("strom_pg2arrow_types")
EPOCH = datetime.date(1970, 1, 1)


def dump(sql, name="out", *options):
    """By COPY, and then by record batches that the server makes, which must be the same."""
    tables = []
    for more in (["--no-server-side"], []):
        status, out, err = run("pg2arrow", "-d", DB, "-c", sql, "-o", OUT / f"{name}.arrow", "-f", "--verify", "--progress", *options, *more)
        if not ok(status == 0, f"pg2arrow {sql} {options} {more}", err):
            return None
        server_side = "record batches made by the server: pgstrom.arrow_ipc_stream" in err
        by_copy = bool(more) or sql.startswith("SELECT FROM") or "geometry" in sql or "shapes" in sql or "--dictionary" in str(options)
        ok(server_side != by_copy, f"{sql} {options} {more}: the path", err)
        tables.append(pa.ipc.open_file(str(OUT / f"{name}.arrow")).read_all())
    # By bytes: to Table.equals() a NaN differs from itself, and Python has not all dates.
    ok(tables[0].schema.equals(tables[1].schema, check_metadata=True), f"{sql}: both ways have one schema", tables[0].schema, tables[1].schema)
    one, other = ([batch.serialize().to_pybytes() for batch in table.combine_chunks().to_batches()] for table in tables)
    ok(one == other, f"{sql}: both ways have the same rows")
    return tables[1]


def texts(sql):
    out = subprocess.run(["psql", "-XqAt", "-d", DB, "-v", "ON_ERROR_STOP=1", "-P", "null=<null>", "-R", "\x1e", "-f", "-"],
                         input=sql, capture_output=True, text=True, check=True).stdout
    return (out[:-1] if out.endswith("\n") else out).split("\x1e")


def number_text(value):
    return "<null>" if value is None else str(value)


def days(column):
    return [None if v is None else v for v in column.cast(pa.int32()).to_pylist()]


def reads_back(original, name="out", value="{}::text"):
    """Arrow_Fdw makes a table of the same columns from the file's metadata, with the same rows."""
    (OUT / f"{name}.arrow").chmod(0o644)
    query(f"""DROP FOREIGN TABLE IF EXISTS read_back;
        IMPORT FOREIGN SCHEMA read_back FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/{name}.arrow', named_types 'any')""", DB)
    columns = """SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0 AND attname <> 'i'"""
    equal(query(columns.format("read_back"), DB), query(columns.format(original), DB), f"{original}: the types are read back")
    names = query(f"""SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
        WHERE attrelid = '{original}'::regclass AND attnum > 0 AND attname <> 'i'""", DB)
    rows = [f"SELECT {', '.join(value.format(n) for n in names.split(', '))} FROM {t}" for t in (original, "read_back")]
    for one, other in (rows, rows[::-1]):
        equal(query(f"SELECT count(*) FROM ({one} EXCEPT ALL {other}) x", DB), "0", f"{names} is read back")


# Types that pyarrow shows as PostgreSQL does, or nearly so: (type, values, kind in Arrow, how a value is shown).
def plain(value):
    return str(value)


def boolean(value):
    return "t" if value else "f"


def hexadecimal(value):
    return "\\x" + value.hex()


def real(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


INT = {"int2": (pa.int16(), 2**15), "int4": (pa.int32(), 2**31), "int8": (pa.int64(), 2**63)}
CASES = [(t, [-m, -1, 0, 1, m - 1], arrow, plain) for t, (arrow, m) in INT.items()]
CASES += [
    ("bool", ["true", "false"], pa.bool_(), boolean),
    ("oid", [0, 1, 4294967295], pa.uint32(), plain),
    ("xid8", [0, 18446744073709551615], pa.uint64(), plain),
    ("pg_lsn", ["0/0", "FFFFFFFF/FFFFFFFF", "16/B374D848"], pa.uint64(), lambda v: f"{v >> 32:X}/{v & 0xFFFFFFFF:X}"),
    ("tid", ["(0,0)", "(1,2)", "(4294967295,65535)", "(258,772)"], pa.binary(6),
     lambda v: f"({int.from_bytes(v[:4], 'big')},{int.from_bytes(v[4:], 'big')})"),
    ("text", ["", "a", " b ", "häß", "日本語", "😀", "tab\tnew\nline\n", "x" * 100000, "\\N", "'quotes\""], pa.string(), plain),
    ("varchar(10)", ["", "abc", "äöü"], pa.string(), plain),
    ("name", ["", "pg_catalog"], pa.string(), plain),
    ("bpchar", ["", "abc", "abc  "], pa.string(), plain),
    ("char(5)", ["", "abc", "äöüß"], pa.string(), plain),
    ("bytea", ["", "\\x00", "\\xff00ff", "\\x" + "ab" * 5000], pa.binary(), hexadecimal),
    ("numeric(10,2)", ["0", "0.01", "-0.01", "99999999.99", "-99999999.99", "1", "10000", "10000.10"], pa.decimal128(10, 2), plain),
    ("numeric(38,0)", ["9" * 38, "-" + "9" * 38, "1" + "0" * 37, "0", "123456789012345678"], pa.decimal128(38, 0), plain),
    ("numeric(38,38)", ["0." + "9" * 38, "-0." + "0" * 37 + "1", "0"], pa.decimal128(38, 38), lambda v: format(v, "f")),
    ("numeric(18,18)", ["0." + "9" * 18, "-0." + "0" * 17 + "1"], pa.decimal128(18, 18), lambda v: format(v, "f")),
    ("numeric(76,10)", ["9" * 66 + "." + "9" * 10, "-" + "9" * 66 + "." + "9" * 10, "0", "1.5"], pa.decimal256(76, 10), lambda v: format(v, "f")),
    ("numeric(50,50)", ["0." + "9" * 50, "-0." + "0" * 49 + "1"], pa.decimal256(50, 50), lambda v: format(v, "f")),
    ("numeric(5,-2)", ["9999900", "-100", "0"], pa.decimal128(5, -2), lambda v: format(v, "f")),
    ("numeric(3,5)", ["0.00999", "-0.00001", "0"], pa.decimal128(3, 5), lambda v: format(v, "f")),
    ("numeric", ["1.5", "-123456789012345678901234567.123456789", "0", "0.000000001"], pa.decimal128(36, 9),
     lambda v: format(v.normalize(), "f")),
    ("json", ['{"a": [1, 2.50, null]}', "[]", '"x"'], pa.string(), plain),
    ("jsonb", ['{"a": [1, 2.50, null]}', "[]", '"x"'], pa.string(), plain),
    ("uuid", ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "123e4567-e89b-12d3-a456-426614174000"],
     pa.binary(16), lambda v: str(uuid.UUID(bytes=v))),
    ("macaddr", ["08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff"], pa.binary(6), lambda v: ":".join(f"{b:02x}" for b in v)),
    ("macaddr8", ["08:00:2b:01:02:03:04:05"], pa.binary(8), lambda v: ":".join(f"{b:02x}" for b in v)),
    ("inet", ["0.0.0.0", "255.255.255.255", "10.1.2.3/8", "::", "::1", "2001:db8::8a2e:370:7334", "fe80::1/64", "::ffff:1.2.3.4"], pa.string(), plain),
    ("cidr", ["10.0.0.0/8", "192.168.1.1/32", "::/0", "2001:db8::/32"], pa.string(), plain),
    ("time", ["00:00:00", "23:59:59.999999", "12:34:56.5"], pa.time64("us"),
     lambda v: v.isoformat().rstrip("0") if v.microsecond else v.isoformat()),
]
# Others are their own text.
CASES += [(t, values, pa.string(), plain) for t, values in {
    "timetz": ["00:00:00+00", "23:59:59.999999-15:59"], "money": ["$1,234.56", "-$92,233,720,368,547,758.08"],
    "bit(4)": ["0101"], "varbit": ["", "10101"], "point": ["(1,2)"], "box": ["(3,4),(1,2)"], "circle": ["<(1,2),3>"],
    "path": ["((0,0),(1,1))"], "tsvector": ["'a':1 'b':2"], "tsquery": ["'a' & 'b'"], "xml": ["<a>b</a>"],
    "int4range": ["empty", "[1,5)", "(,)", "[10,)"], "int8range": ["[1,9223372036854775807)"], "numrange": ["[1.5,2.5]"],
    "daterange": ["[2020-01-01,2021-01-01)"], "tstzrange": ["empty"], "int4multirange": ["{[1,3),[5,7)}"],
    "\"char\"": ["a", ""], "regtype": ["integer"], "pg_snapshot": ["10:20:10,14"],
}.items()]

for kind, values, arrow, shown in CASES:
    rows = ", ".join(f"({i}, '{v}')" for i, v in enumerate(str(v).replace("'", "''") for v in values))
    query(f"DROP TABLE IF EXISTS cases; CREATE TABLE cases (i int, v {kind}); INSERT INTO cases VALUES {rows}, ({len(values)}, NULL)", DB)
    table = dump("SELECT v FROM cases ORDER BY i")
    if table is None:
        continue
    equal(table.schema.field(0).type, arrow, f"{kind} becomes {arrow}")
    ok(b"pg_type" in (table.schema.field(0).metadata or {}), f"{kind} has pg_type")
    found = ["<null>" if v is None else shown(v) for v in table.column(0).to_pylist()]
    # Not the cast to text, which strips the padding of char(n) and adds masks to inet.
    wanted = texts("SELECT CASE WHEN v IS NOT NULL THEN format('%s', v) END FROM cases ORDER BY i")
    if kind == "numeric":
        wanted = [w if w == "<null>" else format(decimal.Decimal(w).normalize(), "f") for w in wanted]
    equal(found, wanted, f"{kind}: the values")
    # Numbers are those of the decimal's scale then.
    reads_back("cases", value="{}" if kind == "numeric" else "{}::text")

# Floating point, by its bits.
for kind, arrow, code, values in (
        ("float4", pa.float32(), ">f", ["0", "-0", "NaN", "Infinity", "-Infinity", "3.4028235e38", "1e-45", "1.1"]),
        ("float8", pa.float64(), ">d", ["0", "-0", "NaN", "Infinity", "-Infinity", "1.7976931348623157e308", "5e-324", "0.1"])):
    rows = ", ".join(f"({i}, '{v}'::{kind})" for i, v in enumerate(values))
    table = dump(f"SELECT v FROM (VALUES {rows}) AS t(i, v) ORDER BY i")
    equal(table.schema.field(0).type, arrow, f"{kind} becomes {arrow}")
    sent = texts(f"SELECT encode({kind}send(v), 'hex') FROM (VALUES {rows}) AS t(i, v) ORDER BY i")
    equal([struct.pack(code, v).hex() for v in table.column(0).to_pylist()], sent, f"{kind}: the bits")

# Dates and times, as numbers.
table = dump("SELECT v FROM unnest('{4713-01-01 BC,0001-01-01,1970-01-01,1969-12-31,2000-01-01,5874897-12-31,NULL}'::date[]) v")
wanted = [None if v == "<null>" else int(v) for v in texts("SELECT v - date '1970-01-01' FROM unnest('{4713-01-01 BC,0001-01-01,1970-01-01,1969-12-31,2000-01-01,5874897-12-31,NULL}'::date[]) v")]
equal((table.schema.field(0).type, table.column(0).cast(pa.int32()).to_pylist()), (pa.date32(), wanted), "date")
stamps = "'{4713-01-01 00:00:00 BC,1970-01-01 00:00:00.000001,1999-12-31 23:59:59.999999,294246-12-31 23:59:59.999999,NULL}'"
micros = "(extract(epoch FROM v) * 1000000)::numeric(40,0)"
for kind, zone in (("timestamp", None), ("timestamptz", "Asia/Tokyo")):
    table = dump(f"SELECT v FROM unnest({stamps}::{kind}[]) v", "out", "--set=timezone:Asia/Tokyo")
    wanted = [None if v == "<null>" else int(v) for v in texts(f"SET timezone = 'Asia/Tokyo'; SELECT {micros} FROM unnest({stamps}::{kind}[]) v")]
    equal(table.schema.field(0).type, pa.timestamp("us", zone), f"{kind} becomes a timestamp")
    equal(table.column(0).cast(pa.int64()).to_pylist(), wanted, f"{kind}: the values")
table = dump("SELECT v FROM unnest('{1 year 2 mons -3 days 04:05:06.789,-178000000 years,00:00:00,2147483647 days,2562047:00:00,NULL}'::interval[]) v")
equal([None if v is None else (v.months, v.days, v.nanoseconds) for v in table.column(0).to_pylist()],
      [(14, -3, 14706789000000), (-2136000000, 0, 0), (0, 0, 0), (0, 2147483647, 0), (0, 0, 2562047 * 3600 * 10**9), None], "interval")

# Values that Arrow does not have are errors that name row and column.
for sql, message in (
        ("SELECT 1 AS a, 'NaN'::numeric(5,2) AS v", 'NaN or infinity, which decimals do not have, in row 1, column "v"'),
        ("SELECT v FROM unnest('{1,Infinity}'::numeric[]) v", 'NaN or infinity, which decimals do not have, in row 2, column "v"'),
        ("SELECT 0.0000000001 AS v", 'numeric with more decimal places than the column\'s decimal type in row 1, column "v"'),
        ("SELECT 1e30 AS v", 'numeric with too many digits for the column\'s type in row 1, column "v"'),
        ("SELECT 1e1000 AS v", 'numeric with too many digits for the column\'s type in row 1, column "v"'),
        ("SELECT 'infinity'::date AS v", 'infinite date, timestamp or interval, which Arrow does not have, in row 1, column "v"'),
        ("SELECT '-infinity'::timestamptz AS v", 'infinite date, timestamp or interval, which Arrow does not have, in row 1, column "v"'),
        ("SELECT '294276-12-31'::timestamp AS v", 'value outside of the range of the Arrow type in row 1, column "v"'),
        ("SELECT '3000000:00:00'::interval AS v", 'value outside of the range of the Arrow type in row 1, column "v"'),
        ("SELECT ARRAY[[1,2],[3,4]] AS v", 'array of several dimensions in row 1, column "v"'),
        ("SELECT '[0:1]={1,2}'::int[] AS v", 'array whose first index is not 1 in row 1, column "v"')):
    status, out, err = run("pg2arrow", "-d", DB, "-c", sql, "-o", OUT / "refused.arrow", "--no-server-side")
    ok(status == 1 and err.startswith(f"pg2arrow: error: {message}\n") and "hint:" in err, f"refused: {sql}", err)
    status, out, err = run("pg2arrow", "-d", DB, "-c", sql, "-o", OUT / "refused.arrow")
    ok(status == 1 and ', column "v" cannot be written to Arrow' in err and " in row " in err and "hint:" in err, f"refused by the server: {sql}", err)
    ok(not (OUT / "refused.arrow").exists(), "and no file is written")
table = dump("SELECT '-infinity'::date AS d, 'infinity'::timestamp AS t", "out", "--infinity=null")
equal(table.to_pylist(), [{"d": None, "t": None}], "--infinity=null")

# Choices for numeric without precision.
odd = "SELECT v FROM unnest('{1.50,NaN,-Infinity,1e400,1e-400,-0.10,123456789.123456789123456789,0,0.00,10000,100000000.0001,NULL}'::numeric[]) v"
table = dump(odd, "out", "--numeric=text")
equal([number_text(v) for v in table.column(0).to_pylist()], texts(odd), "--numeric=text is PostgreSQL's text")
rounded = "SELECT v FROM unnest('{1.50,NaN,-Infinity,0.1,-0.10,123456789.123456789123456789,1e308,1e-320,NULL}'::numeric[]) v"
table = dump(rounded, "out", "--numeric=float64-nearest")
equal(table.schema.field(0).type, pa.float64(), "--numeric=float64-nearest")
wanted = [None if v == "<null>" else float(v) for v in texts(rounded.replace("SELECT v", "SELECT v::float8"))]
equal([repr(v) for v in table.column(0).to_pylist()], [repr(v) for v in wanted], "rounds as PostgreSQL does")
table = dump("SELECT 1.5 AS v, ARRAY[2.25] AS a", "out", "--numeric=decimal(60,2)")
equal(table.schema.types, [pa.decimal256(60, 2), pa.list_(pa.field("element", pa.decimal256(60, 2)))], "--numeric=decimal(60,2)")

# Enums, domains, arrays, composites, and what is in them.
query("""CREATE TYPE mood AS ENUM ('sad', 'ok', 'häppy'); ALTER TYPE mood ADD VALUE 'so so' BEFORE 'ok';
CREATE DOMAIN small AS int CHECK (VALUE < 100); CREATE DOMAIN price AS numeric(8,3);
CREATE TYPE inner_type AS (a int, b text, m mood); CREATE TYPE outer_type AS (x inner_type, y float8[], z price, i inner_type[]);
CREATE TYPE odd_type AS (r int4range, a int);
CREATE TABLE part (gone int, k int, v text); ALTER TABLE part DROP COLUMN gone; INSERT INTO part VALUES (1, 'one'), (2, NULL)""", DB)
table = dump("SELECT unnest('{sad,häppy,NULL,ok,so so}'::mood[]) AS m, 'ok'::mood AS n")
equal(table.schema.field(0).type, pa.dictionary(pa.int32(), pa.string(), ordered=True), "enum becomes a dictionary")
equal(table.column(0).to_pylist(), ["sad", "häppy", None, "ok", "so so"], "enum: the values")
equal(table.column(0).chunk(0).dictionary.to_pylist(), ["sad", "so so", "ok", "häppy"], "enum: its order")
table = dump("SELECT 7::small AS s, 1.5::price AS p, ARRAY[1,2]::small[] AS a, ARRAY[1.5]::price[] AS b")
equal(table.schema.types[:2], [pa.int32(), pa.decimal128(8, 3)], "domains are their base types")
equal(table.to_pylist(), [{"s": 7, "p": decimal.Decimal("1.500"), "a": [1, 2], "b": [decimal.Decimal("1.500")]}], "domains: the values")
table = dump("SELECT v FROM (VALUES (1, '{1,2,3}'::int[]), (2, '{}'), (3, NULL), (4, '{NULL,5}')) AS t(i, v) ORDER BY i")
equal(table.schema.field(0).type, pa.list_(pa.field("element", pa.int32())), "array becomes a list")
equal(table.column(0).to_pylist(), [[1, 2, 3], [], None, [None, 5]], "array: the values")
table = dump("""SELECT '{a,NULL,"b,c"}'::text[] AS t, '{sad,ok}'::mood[] AS m, '{t,f,NULL}'::bool[] AS b, '{1.1.1.1,::1/64}'::inet[] AS i,
    '{"[1,2)",NULL}'::int4range[] AS r, ARRAY['a b'::tsvector] AS v, '{"\\\\x00ff"}'::bytea[] AS y, '{2020-01-02}'::date[] AS d""")
equal(table.to_pylist(), [{"t": ["a", None, "b,c"], "m": ["sad", "ok"], "b": [True, False, None], "i": ["1.1.1.1", "::1/64"],
                           "r": ["[1,2)", None], "v": ["'a' 'b'"], "y": [b"\x00\xff"], "d": [datetime.date(2020, 1, 2)]}],
      "arrays of many types")
table = dump("""SELECT v FROM (VALUES (1, ROW(ROW(1, 'x', 'ok')::inner_type, '{1.5,NULL}', 2.5, ARRAY[ROW(3, NULL, 'sad')::inner_type, NULL])::outer_type),
    (2, NULL), (3, ROW(NULL, NULL, NULL, NULL)::outer_type)) AS t(i, v) ORDER BY i""")
equal(table.column(0).to_pylist(), [
    {"x": {"a": 1, "b": "x", "m": "ok"}, "y": [1.5, None], "z": decimal.Decimal("2.500"), "i": [{"a": 3, "b": None, "m": "sad"}, None]},
    None, {"x": None, "y": None, "z": None, "i": None}], "composites")
table = dump("SELECT p FROM part p ORDER BY k")
equal(table.column(0).to_pylist(), [{"k": 1, "v": "one"}, {"k": 2, "v": None}], "rows of a table with a dropped column")
table = dump("SELECT ROW('[1,2)', 5)::odd_type AS o, ROW(1, 'x') AS r, NULL AS n, 'lit' AS u")
equal(table.to_pylist(), [{"o": '("[1,2)",5)', "r": "(1,x)", "n": None, "u": "lit"}], "composites that have no Struct are text")

query("""CREATE TABLE parts_back AS SELECT * FROM (VALUES
  (1, 'sad'::mood, '{1,2,NULL}'::int[], '{a,NULL,"b,c"}'::text[], '{sad,ok}'::mood[], ARRAY[1,2]::small[],
   '{"[1,2)",NULL}'::int4range[], '{1.1.1.1,::1/64}'::inet[], '{"\\\\x00ff"}'::bytea[], ARRAY[1.5]::price[],
   ROW(ROW(1, 'x', 'ok')::inner_type, '{1.5,NULL}', 2.5, ARRAY[ROW(3, NULL, 'sad')::inner_type, NULL])::outer_type,
   ROW('[1,2)', 5)::odd_type, interval '1 year 2 mons -3 days 04:05:06.789', '2020-01-02'::date),
  (2, NULL, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', ROW(NULL, '{}', NULL, '{}')::outer_type, NULL, NULL, NULL),
  (3, 'häppy', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '-178000000 years', NULL)) AS
  t(i, e, ia, ta, ea, da, ra, na, ya, pa, c, o, v, dt)""", DB)
dump("SELECT e, ia, ta, ea, da, ra, na, ya, pa, c, o, v, dt FROM parts_back ORDER BY i", "parts")
reads_back("parts_back", "parts")

# PostGIS.
if query("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgis'", DB) == "1":
    query("CREATE SCHEMA gis; CREATE EXTENSION postgis SCHEMA gis", DB)
    shapes = ["POINT(1 2)", "POINT Z(1 2 3)", "POINT M(1 2 3)", "POINT ZM(1 2 3 4)", "POINT EMPTY", "LINESTRING(0 0,1 1)", "POLYGON((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))",
              "MULTIPOINT Z(1 2 3,4 5 6)", "MULTILINESTRING((0 0,1 1),(2 2,3 3))", "MULTIPOLYGON(((0 0,4 0,4 4,0 0)))",
              "GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(LINESTRING(0 0,1 1)))", "CIRCULARSTRING(0 0,1 1,2 0)", "COMPOUNDCURVE(CIRCULARSTRING(0 0,1 1,2 0),(2 0,3 3))",
              "CURVEPOLYGON(CIRCULARSTRING(0 0,4 0,4 4,0 4,0 0))", "TRIANGLE((0 0,1 0,1 1,0 0))", "TIN(((0 0,1 0,1 1,0 0)))", "GEOMETRYCOLLECTION EMPTY"]
    values = ", ".join(f"({i}, '{shape}'::gis.geometry)" for i, shape in enumerate(shapes))
    for srid in (0, 4326):
        query(f"DROP TABLE IF EXISTS shapes; CREATE TABLE shapes AS SELECT i, gis.st_setsrid(g, {srid}) AS g FROM (VALUES {values}, (99, NULL)) v(i, g)", DB)
        table = dump("SELECT g FROM shapes ORDER BY i")
        equal(["<null>" if v is None else v.hex() for v in table.column(0).to_pylist()], texts("SELECT encode(gis.st_asbinary(g, 'NDR'), 'hex') FROM shapes ORDER BY i"),
              f"geometry as WKB, SRID {srid}")
        equal(table.schema.field(0).metadata[b"ARROW:extension:metadata"], b'{"crs":"EPSG:4326"}' if srid else b"{}", "with GeoArrow's metadata")
    equal(table.schema.field(0).metadata[b"ARROW:extension:name"], b"geoarrow.wkb", "and its name")
    table = dump("SELECT 'SRID=3857;POINT(1 2)'::gis.geometry(Point,3857) AS g, 'POINT(1 2)'::gis.geography AS h, ARRAY['POINT(1 2)'::gis.geometry] AS a")
    equal([f.metadata[b"ARROW:extension:metadata"] for f in (table.schema.field(0), table.schema.field(1))],
          [b'{"crs":"EPSG:3857"}', b'{"crs":"EPSG:4326","edges":"spherical"}'], "a modifier, and geography")
    status, out, err = run("pg2arrow", "-d", DB, "-c", "SELECT v FROM (VALUES ('SRID=4326;POINT(1 2)'::gis.geometry), ('POINT(1 2)')) AS t(v)", "-o", OUT / "refused.arrow")
    ok(status == 1 and 'geometry with another SRID than those before in row 2, column "v"' in err, "two SRIDs", err)
else:
    print("# PostGIS is not installed")

# Names and odd results.
table = dump('SELECT 1 AS "a b", 2 AS "ä""\'\\n", 3 AS "a b", \'x\'::tsvector AS "a b"')
equal(table.schema.names, ["a b", "ä\"'\\n", "a b", "a b"], "names with every character, and twice")
table = dump("SELECT FROM generate_series(1, 5)")
equal((table.num_columns, pa.ipc.open_file(str(OUT / "out.arrow")).get_batch(0).num_rows), (0, 5), "no columns")
table = dump("SELECT 1 AS a, 'x'::mood AS m, '{}'::int[] AS l WHERE false".replace("'x'", "'ok'"), "out", "--stats")
equal((table.num_rows, table.schema.names), (0, ["a", "m", "l"]), "no rows")
table = dump("SELECT g AS i, repeat('x', g % 50) AS t, CASE WHEN g % 7 <> 0 THEN g END AS n FROM generate_series(1, 200000) g -- comment", "out", "-s", "1m")
reader = pa.ipc.open_file(str(OUT / "out.arrow"))
ok(reader.num_record_batches > 3, "-s makes several batches", reader.num_record_batches)
equal((table.column("i").to_pylist(), table.column("n").null_count), (list(range(1, 200001)), 200000 // 7), "all rows, over several batches")
table.validate(full=True)

# Arrow_Fdw reads it back equal.
query("""CREATE TABLE back AS SELECT (g % 2 = 0) AS b, (g * 1000)::int2 AS i2, g AS i4, g::int8 << 40 AS i8, (g / 3.0)::float4 AS f4,
  exp(g::float8) AS f8, (g * 1.01)::numeric(12,4) AS n, 'text ' || g AS t, date '2000-01-01' + g AS d,
  timestamp '2000-01-01' + g * interval '1.000001 s' AS ts, timestamptz '2000-01-01+00' - g * interval '1 day' AS tz
  FROM generate_series(-30, 30) g;
INSERT INTO back SELECT NULL; INSERT INTO back VALUES (true, -32768, -2147483648, -9223372036854775808, 'NaN', '-Infinity', -99999999.9999, '',
  '4713-01-01 BC', '4713-01-01 BC', '4713-01-01 BC'), (false, 32767, 2147483647, 9223372036854775807, 'Infinity', 'NaN', 99999999.9999, '😀',
  '5874897-12-31', '294246-12-31', '294246-12-31')""", DB)
dump("SELECT * FROM back", "back", "--stats")
(OUT / "back.arrow").chmod(0o644)
query(f"IMPORT FOREIGN SCHEMA back_arrow FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/back.arrow')", DB)
equal(query("SELECT count(*) FROM (TABLE back EXCEPT ALL TABLE back_arrow) x", DB), "0", "Arrow_Fdw: no row is missing")
equal(query("SELECT count(*) FROM (TABLE back_arrow EXCEPT ALL TABLE back) x", DB), "0", "Arrow_Fdw: no row is new")
done()
