#!/usr/bin/env python3
"""Values that PostgreSQL has and Arrow has not: an error that names row and column in every way of writing, or NULL when
that was asked for. Numbers that a double does not have. Workers whose parts leave out rows. Scripts of a whole database."""
import datetime
import decimal
import re

import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, psql, query, run

OUT = folder("out_of_range")
OUT.chmod(0o777)
DB = fresh_database("strom_out_of_range")


def dump(sql, *options):
    return run("pg2arrow", "-d", DB, "-c", sql, "-o", OUT / "out.arrow", "-f", *options)


def column(path=OUT / "out.arrow"):
    return pa.ipc.open_file(str(path)).read_all().column("v").to_pylist()


BAD = {
    "time": ["time '24:00:00'"],
    "date": ["date 'infinity'", "date '-infinity'"],
    "timestamp": ["timestamp 'infinity'", "timestamp '-infinity'", "timestamp '294276-12-31 23:59:59.999999'", "timestamp '294247-01-10 04:00:55'"],
    "timestamptz": ["timestamptz 'infinity'", "timestamptz '294276-12-31 23:59:59+00'"],
    "numeric(10,2)": ["'NaN'::numeric(10,2)"],
    "numeric": ["'NaN'::numeric", "'Infinity'::numeric", "'-Infinity'::numeric", "1e30::numeric", "1e-10::numeric"],
    "numeric(60,2)": ["'NaN'::numeric(60,2)"],
    "interval": ["interval '9223372036854775807 microseconds'", "interval '-2562047788 hours'"],
}
GOOD = {"time": "time '23:59:59.999999'", "date": "date '5874897-12-31'", "timestamp": "timestamp '294246-12-31'", "timestamptz": "timestamptz '294246-12-31 00:00+00'",
        "numeric(10,2)": "1.5", "numeric": "1.5", "numeric(60,2)": "1.5", "interval": "interval '1 mon'"}
for kind, values in BAD.items():
    for value in values:
        for wrapped, what in (("{}", "plain"), ("ARRAY[{}]", "in an array"), ("ROW({})::pair", "in a composite")):
            if what == "in a composite":
                query(f"DROP TYPE IF EXISTS pair; CREATE TYPE pair AS (x {kind})", DB)
            sql = f"SELECT {wrapped.format(GOOD[kind])} AS v UNION ALL SELECT {wrapped.format('NULL::' + kind)} UNION ALL SELECT {wrapped.format(value)}"
            for way in (["--no-server-side"], []):
                status, out, err = dump(sql, *way)
                ok(status == 1 and 'in row 3, column "v"' in err, f"{value} {what} {way}: an error with row and column", status, err)
                status, out, err = dump(sql, "--out-of-range=null", *way)
                ok(status == 0, f"{value} {what} {way}: --out-of-range=null", err)
                found = pa.ipc.open_file(str(OUT / "out.arrow")).read_all().column("v").combine_chunks()
                inner = found if what == "plain" else found.flatten() if what == "in an array" else found.field(0)
                equal((len(inner), inner.null_count), (3, 2), f"{value} {what} {way}: NULL")
                is_infinite = "inf" in value and "numeric" not in kind
                status, out, err = dump(sql, "--infinity=null", *way)
                equal(status, 0 if is_infinite else 1, f"{value} {what} {way}: --infinity=null is about infinite dates and timestamps")
    for call in (f"pgstrom.arrow_export($$SELECT {values[0]} AS v$$, '{OUT}/e.arrow', '{{\"overwrite\": true@}}')",
                 f"length(pgstrom.arrow_ipc($$SELECT {values[0]} AS v$$, '{{\"statistics\": true@}}'))"):
        out, err = psql("SELECT " + call.replace("@", ""), DB)
        ok('in row 1, column "v" cannot be written to Arrow' in err, f"{values[0]}: {call[:24]}", out, err)
        query("SELECT " + call.replace("@", ', "out_of_range": "null"'), DB)
    equal(column(OUT / "e.arrow"), [None], f"{values[0]}: arrow_export, null")

# The whole table, whose pages the server reads itself.
query("CREATE TABLE times AS SELECT CASE WHEN i = 700 THEN time '24:00' ELSE time '00:00:01' END AS v, i FROM generate_series(1, 1000) i", DB)
for way in (["--no-server-side"], []):
    status, out, err = run("pg2arrow", "-d", DB, "-t", "times", "-o", OUT / "out.arrow", "-f", *way)
    ok(status == 1 and 'in row 700, column "v"' in err, f"a table {way}", err)

# Writable tables.
for kind, values in BAD.items():
    if kind == "numeric":
        continue
    query(f"DROP FOREIGN TABLE IF EXISTS w; CREATE FOREIGN TABLE w (v {kind}, a {kind}[]) SERVER arrow_fdw OPTIONS (file '{OUT}/w_{re.sub('[^a-z0-9]', '_', kind)}.arrow', writable 'true')", DB)
    for value in values:
        for row in (f"({value}, NULL)", f"(NULL, ARRAY[{value}])"):
            out, err = psql(f"INSERT INTO w VALUES {row}", DB)
            ok("cannot be written to Arrow" in err, f"INSERT of {row}", out, err)
            out, err = psql(f"INSERT INTO w SELECT v::{kind}, a::{kind}[] FROM (VALUES {row}) AS x(v, a)", DB)
            ok("cannot be written to Arrow" in err, f"INSERT … SELECT of {row}", out, err)
    equal(query("SELECT count(*) FROM w", DB), "0", f"{kind}: nothing was written")
pa_file = pa.record_batch([pa.array([86400000000], pa.int64()).view(pa.time64("us"))], names=["t"])
with pa.ipc.new_file(str(OUT / "t.arrow"), pa_file.schema) as writer:
    writer.write_batch(pa_file)
status, out, err = run("arrow-info", "--validate", OUT / "t.arrow")
ok(status == 1 and 'column "t", row 0: has a time outside of a day' in out, "--validate finds 24:00:00", out, err)

# Timestamps in seconds and milliseconds reach as far as PostgreSQL's.
for unit, factor in (("s", 1), ("ms", 1000)):
    last = 9224318016000 * factor - 1
    first = -210866803200 * factor
    values = [first, 0, 9224318015999 * factor, last, 9223372036855 * factor]
    batch = pa.record_batch([pa.array(values, pa.int64()).view(pa.timestamp(unit)), pa.array(values, pa.int64()).view(pa.timestamp(unit, "UTC")),
                             pa.array([[v] for v in values], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp(unit)))], names=["a", "b", "l"])
    with pa.ipc.new_file(str(OUT / f"{unit}.arrow"), batch.schema) as writer:
        writer.write_batch(batch)
    (OUT / f"{unit}.arrow").chmod(0o666)
    query(f"DROP FOREIGN TABLE IF EXISTS far; IMPORT FOREIGN SCHEMA far FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/{unit}.arrow', writable 'true')", DB)
    for enabled in ("on", "off"):
        equal(query(f"SET timezone = 'UTC'; SET pg_strom.enabled = {enabled}; SELECT string_agg(a::text || ' ' || b::text || ' ' || l[1]::text, ',' ORDER BY a) FROM far WHERE a > '-infinity'", DB).splitlines()[-1],
              ",".join(f"{t}{'' if fraction == 0 else '.999'}{era} {t}{'' if fraction == 0 else '.999'}+00{era} {t}{'' if fraction == 0 else '.999'}{era}" for t, era, fraction in (
                  ("4714-11-24 00:00:00", " BC", 0), ("1970-01-01 00:00:00", "", 0), ("294247-01-10 04:00:55", "", 0), ("294276-12-31 23:59:59", "", 0),
                  ("294276-12-31 23:59:59", "", factor - 1))),
              f"timestamps in {unit}, engine {enabled}")
    query("INSERT INTO far VALUES ('294276-12-31 23:59:59', '294276-12-31 23:59:59+00', ARRAY[timestamp '4714-11-24 BC'])", DB)
    equal(query("SET timezone = 'UTC'; SELECT count(*), max(a) FROM far WHERE a >= '294276-12-31 23:59:59'", DB).splitlines()[-1].split("|")[0] >= "1", True, f"{unit}: written")

# Numbers that a double does not have.
for value, is_exact in (("0.1", True), ("123456789012345", True), ("1e20", True), ("9007199254740993", False), ("0.1234567890123456789", False), ("1e-400", False), ("1e400", False),
                        ("'NaN'", True), ("'Infinity'", True), ("-12.50", True), ("1e308", True), ("0", True), ("179769313486231570" + "0" * 291, True), ("5e-324", True), ("4.5e-324", False),
                        ("12345678901234567890", False), ("0.30000000000000004", True), ("0.30000000000000001", False)):
    for way in (["--no-server-side"], []):
        sql = f"SELECT 1.5::numeric AS v UNION ALL SELECT {value}::numeric"
        status, out, err = dump(sql, "--numeric=float64", *way)
        ok(status == (0 if is_exact else 1) and (is_exact or "row 2" in err), f"--numeric=float64 of {value} {way}", status, err)
        if is_exact:
            equal(str(column()[1]), str(float(value.strip("'"))), f"{value} {way}: the number")
        status, out, err = dump(sql, "--numeric=float64-nearest", *way)
        ok(status == (1 if value == "1e400" else 0), f"--numeric=float64-nearest of {value} {way}", status, err)
        if status == 0:
            equal(str(column()[1]), str(float(value.strip("'"))), f"{value} {way}: the nearest number")

# Workers' parts.
query("CREATE TABLE parts AS SELECT CASE WHEN i % 10 = 0 THEN NULL ELSE i END AS id FROM generate_series(-1000, 1001) i; CREATE TABLE whole AS SELECT i AS id FROM generate_series(1, 100) i", DB)
WARNING = "rows are left out"
for table, condition, wanted, warns in (("parts", "id % $(N_WORKERS) = $(WORKER_ID)", None, True), ("parts", "abs(coalesce(id, 0) % $(N_WORKERS)) = $(WORKER_ID)", 2002, False),
                                        ("whole", "id % $(N_WORKERS) = $(WORKER_ID)", 100, False), ("parts", "id % $(N_WORKERS)=$(WORKER_ID) AND id > 0", None, False), ("parts", "id % $(N_WORKERS)=$(WORKER_ID) AND id > -9", None, True),
                                        ("parts", "coalesce(id, 0) % $(N_WORKERS) = $(WORKER_ID)", None, True), ("parts", "abs(id % $(N_WORKERS)) = $(WORKER_ID)", None, True)):
    status, out, err = dump(f"SELECT * FROM {table} WHERE {condition}", "-n", "4", "--no-server-side")
    ok(status == 0 and (WARNING in err) == warns, f"workers: {table} WHERE {condition}", status, err)
    if wanted is not None:
        equal(pa.ipc.open_file(str(OUT / "out.arrow")).read_all().num_rows, wanted, f"rows: {table} WHERE {condition}")

# A whole database: its script makes tables of the same types, also where types and schemas are not there.
query("""DROP TABLE times; CREATE SCHEMA "odd schema"; CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy'); CREATE TYPE "odd schema".pair AS (a int, b text);
    CREATE DOMAIN positive AS int CHECK (value > 0); CREATE DOMAIN "odd schema".short AS varchar(5);
    CREATE TABLE "odd schema"."t 1" (m mood, ms mood[], p "odd schema".pair, d positive, s "odd schema".short, c char(5), v varchar(7), i inet, r int4range, b bit(3), vb bit varying(9),
        n numeric(10,2), t time(3), ts timestamp(0), j json, jb jsonb, u uuid, m8 macaddr8, tz timetz, mo money, o oid, na name, ch "char", po point, x xml, l pg_lsn, ia int[], ca char(3)[], i1 int1, f2 float2, i1a int1[], da positive[], pd positive);
    INSERT INTO "odd schema"."t 1" VALUES ('it''s ok', '{sad,happy}', (1, 'x'), 5, 'abc', 'ab', 'v', '10.0.0.1/8', '[1,5)', '101', '1100', 1.5, '01:02:03.004', '2024-01-01 00:00:01', '{"a": 1}',
        '[1]', '00000000-0000-0000-0000-000000000001', '08:00:2b:01:02:03:04:05', '01:02:03+02', 12.34, 17, 'name', 'x', '(1,2)', '<a/>', '0/10', '{1,2}', '{abc,d}', -128, 1.5, '{1,NULL,127}', '{1,2}', 7)""", DB)
status, out, err = run("pg2arrow", "-d", DB, "--all-tables", "-o", OUT / "all")
ok(status == 0, "--all-tables", err)
for file in (OUT / "all").iterdir():
    file.chmod(0o644)
script = (OUT / "all" / "create_tables.sql").read_text()
OTHER = fresh_database("strom_out_of_range_other")
query("SET client_min_messages = warning;" + script, OTHER)
types = """SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = '"odd schema"."t 1"'::regclass AND attnum > 0"""
equal(query(types, OTHER), query(types, DB), "create_tables.sql: the types")
names = query("""SELECT string_agg(quote_ident(attname) || '::text', ', ') FROM pg_attribute WHERE attrelid = '"odd schema"."t 1"'::regclass AND attnum > 0""", DB)
values = f"""SET timezone = 'UTC'; SELECT ROW({names}) FROM "odd schema"."t 1" """
equal(query(values, OTHER).splitlines()[-1], query(values, DB).splitlines()[-1], "create_tables.sql: the values")
done()
