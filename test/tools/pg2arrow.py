#!/usr/bin/env python3
"""pg2arrow: sources, workers, statistics, output, appending, failures. Types are in pg2arrow_types.py. Record batches are
made by the server where it can; pg2arrow_copy.py is the same without that."""
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import pyarrow as pa

from checks import done, equal, folder, fresh_database, leftovers, ok, program, psql, query, run, start, wait_until

OPTIONS = sys.argv[1:]
OUT = folder("pg2arrow")
DB = fresh_database("strom_pg2arrow")


def dump(*arguments, **options):
    return run("pg2arrow", "-d", DB, *OPTIONS, *arguments, **options)


def read(path):
    return pa.ipc.open_file(str(path)).read_all()


def dumped(*arguments, **options):
    """The table that a command writes."""
    status, out, err = dump(*arguments, "-o", OUT / "out.arrow", "-f", **options)
    if not ok((status, err) == (0, ""), f"pg2arrow {arguments}", status, err):
        return pa.table({"failed": []})
    return read(OUT / "out.arrow")


def fails(wanted_status, message, *arguments, name=None, **options):
    status, out, err = dump(*arguments, **options)
    ok(status == wanted_status and message in err and err.startswith("pg2arrow: error: "), name or f"fails: {arguments}", status, err)


query("""CREATE TABLE t (id int, v text, x numeric(10,2), d date, f float8);
INSERT INTO t SELECT g, 'value ' || g, g / 7.0, date '2020-01-01' + g % 1000, CASE WHEN g % 10 = 0 THEN 'NaN' ELSE g / 8.0 END
  FROM generate_series(1, 50000) g;
CREATE TABLE "odd Name-""ä" (a int); INSERT INTO "odd Name-""ä" VALUES (7);
CREATE TABLE empty (a int, b text);
CREATE VIEW v AS SELECT id, v FROM t;
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (100000);
INSERT INTO p SELECT g, -g FROM generate_series(0, 20000) g;
CREATE TABLE parent (a int); CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT generate_series(1, 1000); INSERT INTO child SELECT generate_series(1001, 5000);
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE moods (m mood, n mood[]); INSERT INTO moods VALUES ('ok', '{sad}');""", DB)

# Sources.
equal(dumped("-t", "t").num_rows, 50000, "-t")
equal(dumped("-t", "public.t").num_rows, 50000, "-t with a schema")
equal(dumped("-t", 'odd Name-"ä').to_pydict(), {"a": [7]}, "-t with an odd name as it is")
equal(dumped("-t", '"odd Name-""ä"').to_pydict(), {"a": [7]}, "-t with an odd name in quotes")
equal(dumped("-c", "SELECT 1 AS a;\n; ").to_pydict(), {"a": [1]}, "-c with semicolons")
equal(dumped("-c", "VALUES (1), (2)").num_rows, 2, "-c with VALUES")
equal(dumped("-c", "WITH w AS (SELECT 5 AS x) TABLE w").to_pydict(), {"x": [5]}, "-c with WITH")
(OUT / "query.sql").write_text("SELECT 'ä' AS a\n-- the end")
equal(dumped("-c", f"file://{OUT}/query.sql").to_pydict(), {"a": ["ä"]}, "-c with a file")
equal(dumped("-c", "SELECT @(what)::int AS a, '@(what)' AS b", "--param=what:42").to_pydict(), {"a": [42], "b": ["42"]}, "--param")
equal(dumped("-c", "SELECT current_setting('work_mem') AS m", "--set=work_mem:5MB").to_pydict(), {"m": ["5MB"]}, "--set")
equal(read(OUT / "out.arrow").schema.metadata[b"sql_command"], b"SELECT current_setting('work_mem') AS m", "sql_command")
status, out, err = run("pg2arrow", DB, os.environ["PGUSER"], "-t", "t", "-o", OUT / "pos.arrow", "-v")
equal((status, out, err), (0, f"pg2arrow: wrote on '{OUT}/pos.arrow' total 1 record-batches, 50000 items\n", ""), "database and user as arguments")
status, out, err = dump("-t", "empty", env={"TMPDIR": str(OUT)})
path = out.split("'")[1]
ok(status == 0 and path.startswith(str(OUT)) and read(path).num_rows == 0, "without -o a temporary file", out, err)
equal(run("pg2arrow", "-d", f"dbname={DB} application_name=x", "-t", "empty", "-o", OUT / "e.arrow")[0], 0, "a connection string")

# Workers: all rows, each once, of one snapshot.
everything = sorted(read(OUT / "pos.arrow").column("id").to_pylist())
for workers in (1, 2, 3, 16):
    table = dumped("-t", "t", "-n", workers)
    equal(sorted(table.column("id").to_pylist()), everything, f"-n {workers}: every row once")
equal(sorted(dumped("-t", "p", "-n", 4).column("k").to_pylist()), list(range(20001)), "-n over partitions")
equal(sorted(dumped("-t", "parent", "-n", 3).column("a").to_pylist()), list(range(1, 5001)), "-n over children")
equal(dumped("-t", "empty", "-n", 4).num_rows, 0, "-n over nothing")
status, out, err = dump("-t", "v", "-n", 4, "-o", OUT / "v.arrow")
ok(status == 0 and "no pages to divide" in err and read(OUT / "v.arrow").num_rows == 50000, "-n over a view", err)
equal(sorted(dumped("-c", "SELECT id FROM t WHERE id % $(N_WORKERS) = $(WORKER_ID)", "-n", 3).column("id").to_pylist()), everything,
      "$(WORKER_ID) and $(N_WORKERS)")
equal(sorted(dumped("-c", "SELECT id FROM t WHERE $(CTID_RANGE) AND id > 100", "-n", 3, "--ctid-target=t").column("id").to_pylist()),
      everything[100:], "$(CTID_RANGE)")
equal(dumped("-c", "SELECT id FROM t WHERE $(CTID_RANGE)", "--ctid-target", "t").num_rows, 50000, "$(CTID_RANGE) with one worker")
equal(sorted(dumped("-c", "SELECT $(PARALLEL_KEY) AS k", "-k", "5,6,7").column("k").to_pylist()), [5, 6, 7], "-k")
changing = threading.Event()


def change():
    while not changing.is_set():
        psql("UPDATE t SET v = v || '' WHERE id % 100 = 1; BEGIN; DELETE FROM t WHERE id = 2; INSERT INTO t(id) VALUES (2); COMMIT", DB)


writer = threading.Thread(target=change)
writer.start()
for _ in range(5):
    equal(sorted(dumped("-t", "t", "-n", 4).column("id").to_pylist()), everything, "one snapshot while rows move")
changing.set()
writer.join()

# Record batches and statistics.
query("CREATE TABLE s AS SELECT g AS id, g::int2 AS i2, g::numeric(12,3) / 8 AS n, date '1970-01-01' + g AS d, g::float4 AS f4,"
      " CASE WHEN g % 2 = 0 THEN 'NaN' ELSE -g::float8 END AS f8, time '01:00' AS tm, 'x' || g AS t,"
      " NULL::int AS nothing, timestamptz '1970-01-01+00' + g * interval '1 us' AS ts FROM generate_series(1, 30000) g", DB)
table = dumped("-c", "SELECT id, i2, n::numeric(12,3), d, f4, f8, tm, t, nothing, ts FROM s ORDER BY id", "-s", "256k", "--stats")
batches = pa.ipc.open_file(str(OUT / "out.arrow")).num_record_batches
ok(batches > 3, "several record batches", batches)
reader = pa.ipc.open_file(str(OUT / "out.arrow"))
expected = {name: ([], []) for name in ("id", "d", "ts", "nothing")}
for i in range(batches):
    batch = reader.get_batch(i)
    for name, kind in (("id", pa.int32()), ("d", pa.int32()), ("ts", pa.int64())):
        values = batch.column(batch.schema.get_field_index(name)).cast(kind).to_pylist()
        expected[name][0].append(str(min(values)))
        expected[name][1].append(str(max(values)))
    for side in expected["nothing"]:
        side.append("null")
for name, (lowest, highest) in expected.items():
    metadata = table.schema.field(name).metadata
    equal((metadata[b"min_values"].decode(), metadata[b"max_values"].decode()), (",".join(lowest), ",".join(highest)), f"statistics of {name}")
texts = [reader.get_batch(i).column(table.schema.get_field_index("t")).to_pylist() for i in range(batches)]
equal((table.schema.field("t").metadata[b"min_values"].decode(), table.schema.field("t").metadata[b"max_values"].decode()),
      (",".join(f'"{min(t)}"' for t in texts), ",".join(f'"{max(t)}"' for t in texts)), "statistics of text")
table = dumped("-c", """SELECT E'a,b"%\\n' AS t, repeat('é', 20) AS u, 'null' AS n, '' AS e""", "--stats")
found = {field.name: (field.metadata[b"min_values"].decode(), field.metadata[b"max_values"].decode()) for field in table.schema}
cut = "%C3%A9" * 15
equal(found, {"t": ('"a%2Cb%22%25%0A"',) * 2, "u": (f'"{cut}%C3%A9"', f'"{cut}%C3%AA"'), "n": ('"null"',) * 2, "e": ('""',) * 2}, "quoted and cut texts")
table = dumped("-c", "SELECT -1.5::float4 AS f, 'NaN'::float8 AS g, (-2.25)::numeric(5,2) AS n, 0.5::float8 AS h", "--stat=f,g", "--stats=n", "-Sh")
found = {field.name: field.metadata.get(b"min_values") for field in table.schema}
equal(found, {"f": b"-1077936128", "g": b"null", "n": b"-225", "h": b"4602678819172646912"}, "floating point by its bits, NaN left out")
fails(1, 'there is no column "nope"', "-t", "t", "--stat=nope", "-o", OUT / "x.arrow")
fails(1, 'column "v" can have no statistics', "-c", "SELECT true AS v", "--stat=v", "-o", OUT / "x.arrow")

# Compression.
plain = dumped("-c", "SELECT id, v, x, d FROM t")
sizes = {}
for codec in ("none", "lz4", "zstd", "zstd:9"):
    ok(dumped("-c", "SELECT id, v, x, d FROM t", "-C", codec, "--verify").equals(plain), f"-C {codec}")
    sizes[codec] = (OUT / "out.arrow").stat().st_size
ok(max(sizes["zstd:9"], sizes["zstd"]) < sizes["lz4"] < sizes["none"], "each is smaller", sizes)
ok(dumped("-t", "moods", "-C", "zstd").to_pylist() == [{"m": "ok", "n": ["sad"]}], "dictionaries beside compressed batches")

# Streams.
status, out, err = dump("-c", "SELECT id, v, x, d FROM t", "-o", "-", binary=True)
ok(pa.ipc.open_stream(out).read_all().equals(plain), "-o - is a stream")
status, out, err = dump("-t", "moods", "-o", "-", "-C", "lz4", binary=True)
equal(pa.ipc.open_stream(out).read_all().to_pylist(), [{"m": "ok", "n": ["sad"]}], "a stream with dictionaries")
result = subprocess.run(["bash", "-c", f"{program('pg2arrow')} -d {DB} -t t -o - | head -c 100 > /dev/null; echo ${{PIPESTATUS[0]}}"],
                        capture_output=True, text=True)
equal((result.stdout, result.stderr), ("141\n", ""), "a closed pipe ends it in silence")

# Several files.
parts = folder("pg2arrow/parts")
equal(dump("-c", "SELECT id FROM t ORDER BY id", "--rows-per-file=15000", "-o", parts / "t.arrow")[0], 0, "--rows-per-file")
equal([read(parts / f"t-0000{i}.arrow").num_rows for i in range(1, 5)], [15000, 15000, 15000, 5000], "has files of so many rows")
query("CREATE TABLE sales (region text, year int, amount int);"
      "INSERT INTO sales SELECT (ARRAY['eu', 'a/b', NULL, ''])[g % 4 + 1], 2000 + g % 3, g FROM generate_series(1, 1200) g", DB)
equal(dump("-t", "sales", "--partition-by=region,year", "-o", parts / "sales", "--stats")[0], 0, "--partition-by")
found = {str(p.relative_to(parts / "sales")): read(p).num_rows for p in sorted((parts / "sales").rglob("*.arrow"))}
equal(found, {f"region={r}/year={y}/part-00001.arrow": 100 for r in ("", "__HIVE_DEFAULT_PARTITION__", "a%2Fb", "eu") for y in (2000, 2001, 2002)},
      "has a folder for each value")
ok(all(set(read(p).column("year").to_pylist()) == {int(p.parent.name[5:])} for p in (parts / "sales").rglob("*.arrow")), "with its rows alone")

# Order, dictionaries, resuming.
equal(dumped("-t", "t", "--sort-by=d,id:desc").column("id").to_pylist(),
      [int(i) for i in query("SELECT id FROM t ORDER BY d, id DESC", DB).split("\n")], "--sort-by")
ids = dumped("-t", "t", "--sort-by=id", "-n", 2).column("id").to_pylist()
ok(sorted(ids) == everything and sum(a > b for a, b in zip(ids, ids[1:])) <= 1, "--sort-by with workers")
fails(1, 'there is no column "nope" to sort by', "-t", "t", "--sort-by=nope", "-o", OUT / "x.arrow")
query("CREATE TABLE few AS SELECT g AS id, 'color ' || g % 5 AS color, CASE WHEN g % 3 > 0 THEN 'ä' || g % 40 END AS shade, 'v' || g AS v,"
      " 'n' || g % 7 AS n FROM generate_series(1, 60000) g; ALTER TABLE few ALTER n TYPE varchar(10); ANALYZE few", DB)
plain = dumped("-c", "SELECT * FROM few ORDER BY id")
for options in (["--dictionary"], ["--dictionary=color,shade,n", "-s", "64k"], ["--dictionary", "-C", "zstd", "--rows-per-file=25000"]):
    for old in OUT.glob("dict*"):
        old.unlink()
    equal(dump("-c", "SELECT * FROM few ORDER BY id", *options, "-o", OUT / "dict.arrow")[::2], (0, ""), f"{options}")
    files = sorted(OUT.glob("dict*"))
    equal([isinstance(t, pa.DictionaryType) for t in read(files[0]).schema.types], [False, True, True, False, True], "columns of few values have dictionaries")
    ok([r for f in files for r in read(f).to_pylist()] == plain.to_pylist(), "with the same rows")
sorted_rows = sorted(plain.to_pylist(), key=lambda r: r["id"])
ok(sorted(dumped("-t", "few", "--dictionary", "-n", 4, "-s", "64k").to_pylist(), key=lambda r: r["id"]) == sorted_rows, "dictionaries with workers")
status, out, err = dump("-t", "few", "--dictionary", "-o", "-", "-s", "64k", binary=True)
stream = pa.ipc.open_stream(out).read_all()
ok(stream.to_pylist() == plain.to_pylist() and isinstance(stream.schema.field("color").type, pa.DictionaryType), "dictionaries in a stream", err)
equal(dump("-c", "SELECT * FROM few WHERE id <= 3 ORDER BY id", "--dictionary", "-o", OUT / "dict.arrow", "-f")[0], 0, "a file with dictionaries")
equal(dump("-c", "SELECT * FROM few WHERE id > 3 ORDER BY id", "--dictionary", "--append", OUT / "dict.arrow")[::2], (0, ""), "appending to it")
ok(read(OUT / "dict.arrow").to_pylist() == plain.to_pylist(), "makes the dictionaries longer")
(OUT / "dict.arrow").chmod(0o644)
query(f"IMPORT FOREIGN SCHEMA dict_arrow FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/dict.arrow')", DB)
equal(query("SELECT count(*) FROM (TABLE few EXCEPT ALL TABLE dict_arrow) x", DB), "0", "Arrow_Fdw reads it")
query("DROP FOREIGN TABLE dict_arrow", DB)
fails(1, 'column "id" is not of text', "-t", "few", "--dictionary=id", "-o", OUT / "x.arrow")
for old in OUT.glob("dict*"):
    old.unlink()
RESUME = ["-t", "few", "--sort-by=id", "--rows-per-file=10000", "-o", parts / "few.arrow"]
equal(dump(*RESUME)[0], 0, "a dump that is to be interrupted")
for number in (4, 5, 6):
    (parts / f"few-0000{number}.arrow").unlink()
equal(dump(*RESUME, "--resume")[::2], (0, ""), "--resume")
equal([i for f in sorted(parts.glob("few-*")) for i in read(f).column("id").to_pylist()], list(range(1, 60001)), "has all rows, each once")
equal(dump(*RESUME, "--resume")[0], 0, "--resume when all is there")
equal(len(list(parts.glob("few-*"))), 6, "adds nothing")
fails(2, "--resume goes with", "-t", "few", "--resume", "-o", OUT / "x.arrow")

# Joined queries.
query("CREATE TABLE t_a AS SELECT g AS id, g * 1.5::float8 AS a1 FROM generate_series(1, 1000) g;"
      "CREATE TABLE t_b AS SELECT g AS id, g AS b1, -g AS b2 FROM generate_series(2, 1000, 2) g;"
      'CREATE TABLE t_c AS SELECT g AS "k ey", g::text AS c1 FROM generate_series(3, 1000, 3) g', DB)
inner = dumped("-t", "t_a", "--inner-join", "SELECT b1,b2 FROM t_b WHERE $(id) = id")
equal((inner.schema.names, inner.num_rows, inner.column("b1").null_count), (["id", "a1", "b1", "b2"], 500, 0), "--inner-join")
outer = dumped("-t", "t_a", "--outer-join", "SELECT b1,b2 FROM t_b WHERE $(id) = id", "--inner-join", 'SELECT c1 FROM t_c WHERE "k ey" = $(id);')
rows = sorted(outer.to_pylist(), key=lambda r: r["id"])
equal((len(rows), rows[0], rows[1]), (333, {"id": 3, "a1": 4.5, "b1": None, "b2": None, "c1": "3"},
                                     {"id": 6, "a1": 9.0, "b1": 6, "b2": -6, "c1": "6"}), "--outer-join, and both")
equal(dumped("-t", "t_a", "-n", 3, "--inner-join", "SELECT b1 FROM t_b WHERE $(id) = id").num_rows, 500, "joins with workers")
# More columns than PostgreSQL can return.
for t in range(3):
    columns = ", ".join(f"c{t}_{i} int2" for i in range(700))
    query(f"CREATE TABLE w{t} (id{t} int, {columns}, r{t} int4range);"
          f"INSERT INTO w{t} SELECT g, {', '.join(f'(g + {i}) % 1000' for i in range(700))}, int4range(g, g + 1) FROM generate_series({t}, {40 + t * 3}) g", DB)
for workers in (1, 2):
    wide = dumped("-t", "w0", "--outer-join", "SELECT * FROM w1 WHERE $(id0) = id1", "--inner-join", "SELECT * FROM w2 WHERE $(id0) = id2",
                  "-n", workers, "--stats=id0,c2_699")
    rows = {row["id0"]: row for row in wide.to_pylist()}
    equal((wide.num_columns, sorted(rows)), (2106, list(range(2, 41))), f"2106 columns, {workers} workers")
    equal([rows[40][c] for c in ("c0_1", "r0", "id1", "c1_5", "r1", "c2_699", "r2")], [41, "[40,41)", 40, 45, "[40,41)", 739, "[40,41)"], "with their values")
wide = dumped("-c", "SELECT * FROM w1 WHERE id1 = 43", "--outer-join", "SELECT * FROM w0 WHERE id0 = $(id1)", "--outer-join", "SELECT * FROM w2 WHERE id2 = $(id1)")
equal([wide.column(c).to_pylist() for c in ("id1", "id0", "r0", "c2_0")], [[43], [None], [None], [43]], "NULLs where there is no row")
wide = dumped("-t", "w0", "--outer-join", "SELECT * FROM w1 WHERE $(id0) = id1", "--inner-join", "SELECT * FROM w2 WHERE $(id0) = id2",
              "--sort-by=c1_699,c2_1:desc,id0:desc", "--sort-by=c0_5")
found = [(row["c1_699"] if row["c1_699"] is not None else 9999, -row["c2_1"], -row["id0"]) for row in wide.to_pylist()]
ok(len(found) == 39 and found == sorted(found), "sorted by columns of several records", found[:5])
fails(1, '--sort-by cannot name column "r1" beside more than 1600 columns', "-t", "w0", "--inner-join", "SELECT * FROM w1 WHERE $(id0) = id1",
      "--inner-join", "SELECT * FROM w2 WHERE $(id0) = id2", "--sort-by=r1", "-o", OUT / "x.arrow")
fails(1, 'refers to "nope"', "-t", "t_a", "--inner-join", "SELECT 1 WHERE $(nope) = 1", "-o", OUT / "x.arrow")

# Both ways, by COPY and by record batches of the server, give the same rows in the same record batches' order. Scans begin at
# the beginning then, whoever else is scanning.
query(f"ALTER DATABASE {DB} SET synchronize_seqscans = off")
query("""CREATE TYPE parts AS (n int, v text); CREATE TABLE wide AS SELECT g AS id, repeat('x', (g * 37) % 3000) AS text,
  CASE WHEN g % 3 > 0 THEN g % 2 = 0 END AS b, CASE WHEN g % 5 > 0 THEN (ARRAY[g, NULL, g + 1])[1:g % 4] END AS list,
  CASE WHEN g % 7 > 0 THEN ROW(g, CASE WHEN g % 2 = 0 THEN 'n' || g END)::parts END AS part,
  (CASE WHEN g % 11 > 0 THEN 'ok' END)::mood AS m FROM generate_series(1, 20000) g""", DB)


def parts(*arguments):
    """Rows of each file, sorted by name."""
    target = folder("pg2arrow/ways")
    status, out, err = dump(*arguments, "-o", target / "out.arrow", "--progress", "-f")
    ok(status == 0, f"{arguments}", err)
    return [read(path) for path in sorted(target.rglob("*.arrow")) if path.is_file()], "record batches made by the server" in err


for arguments, server_side in (
        (("-t", "wide"), True), (("-t", "wide", "-s", "64k", "--stats"), True), (("-t", "wide", "-C", "zstd", "-s", "1m"), True),
        (("-t", "wide", "-n", 3), True), (("-t", "wide", "--rows-per-file=777"), True), (("-t", "wide", "--sort-by=b,id:desc"), True),
        (("-t", "wide", "--partition-by=m"), False), (("-t", "wide", "--dictionary=text"), False), (("-t", "empty"), True),
        (("-c", "SELECT id, m FROM wide WHERE id < 100", "--inner-join", "SELECT text, part FROM wide w WHERE w.id = $(id)"), True),
        (("-c", "SELECT id AS a, id AS a, 'x' AS u FROM wide -- twice"), True), (("-c", "SELECT FROM wide"), False),
        (("-t", "wide", "--set=timezone:Asia/Tokyo", "--infinity=null"), True)):
    (one, way), (other, _) = parts(*arguments), parts(*arguments, "--no-server-side")
    equal(way, server_side and not OPTIONS, f"{arguments}: the path")
    equal([t.num_rows for t in one], [t.num_rows for t in other], f"{arguments}: the files")
    # Where record batches end is not the same, and by several workers their order is not.
    rows = [[sorted(map(str, t.to_pylist())) if "-n" in arguments else t.to_pylist() for t in tables]
            for tables in (one, other)] if len(set(one[0].column_names)) == one[0].num_columns else [[t.columns for t in ts] for ts in (one, other)]
    ok(rows[0] == rows[1], f"{arguments}: both ways have the same rows")
query("DROP ROLE IF EXISTS strom_pg2arrow_role; CREATE ROLE strom_pg2arrow_role LOGIN; GRANT SELECT ON t TO strom_pg2arrow_role;"
      "REVOKE EXECUTE ON FUNCTION pgstrom.arrow_ipc_stream FROM PUBLIC", DB)
status, out, err = dump("-t", "t", "-o", OUT / "role.arrow", "-f", "--progress", "-u", "strom_pg2arrow_role")
ok(status == 0 and "rows by COPY: " in err, "a role that may not call the server's function", err)
query("GRANT EXECUTE ON FUNCTION pgstrom.arrow_ipc_stream TO PUBLIC; DROP OWNED BY strom_pg2arrow_role; DROP ROLE strom_pg2arrow_role; "
      "DROP TABLE wide; DROP TYPE parts", DB)

# What is in a file.
equal(dump("-c", "SELECT 1 AS a, ARRAY[1.5::numeric(5,2)] AS l, 'ok'::mood AS m", "-o", OUT / "meta.arrow", "-C", "zstd", "--stats")[0], 0, "a file to look at")
status, out, err = run("pg2arrow", "--dump", OUT / "meta.arrow")
ok(status == 0 and out.startswith("[Footer]\n{Footer: version=V5, schema={Schema: endianness=little, fields=[{Field: name=\"a\", nullable=true, "
                                  "type={Int32}, children=[], custom_metadata=[{KeyValue: key=\"pg_type\" value=\"pg_catalog.int4\"}, "
                                  "{KeyValue: key=\"min_values\" value=\"1\"}"), "--dump shows the footer", out, err)
ok("[Dictionary Batch 0]" in out and "[Record Batch 0]\n{Block: offset=" in out and "codec=ZSTD" in out, "and the batches", out)
equal(run("pg2arrow", "--meta", OUT / "meta.arrow")[1], out, "--meta is the same")
equal(run("pg2arrow", "--schema", OUT / "meta.arrow")[1],
      'CREATE TABLE "meta" (\n  "a" integer,\n  "l" numeric(5,2)[],\n  "m" "public"."mood"\n);\n', "--schema")
fails(1, "is not an Arrow file", "--dump", OUT / "query.sql")

# The whole database.
query("CREATE SCHEMA other; CREATE TABLE other.\"a/b\" (x int); INSERT INTO other.\"a/b\" VALUES (1)", DB)
for workers in (1, 3):
    whole = folder("pg2arrow/whole")
    status, out, err = dump("--all-tables", "-o", whole, "-n", workers, "--stats", "-f")
    equal((status, out, err), (0, "", ""), f"--all-tables -n {workers}")
    found = {p.name: read(p).num_rows for p in whole.glob("*.arrow")}
    ok(found.items() >= {"public.t.arrow": 50000, "public.p.arrow": 20001, "public.parent.arrow": 1000, "public.child.arrow": 4000,
                         "public.empty.arrow": 0, 'public.odd Name-"ä.arrow': 1, "other.a%2Fb.arrow": 1}.items(), "has every table", found)
    ok("public.p1.arrow" not in found and "public.v.arrow" not in found, "and neither partitions nor views", found)
for path in whole.glob("*.arrow"):
    path.chmod(0o644)
script = (whole / "create_tables.sql").read_text()
foreign = fresh_database("strom_pg2arrow_foreign")
query("CREATE SCHEMA other;" + "".join(s + ";\n" for s in script.split(";\n") if "moods" not in s and s), foreign)
equal(query("SELECT count(*), sum(id), sum(x) FROM t", foreign), query("SELECT count(*), sum(id), sum(x) FROM t", DB), "and the script's tables have the rows")
equal(query('SELECT a FROM "odd Name-""ä"; SELECT x FROM other."a/b"', foreign), "7\n1", "odd names, too")
query(f"DROP DATABASE {foreign}")
(whole / "public.t.arrow").unlink()
before = (whole / "public.p.arrow").stat().st_ino
equal(dump("--all-tables", "-o", whole, "--resume")[::2], (0, ""), "--all-tables --resume")
equal((read(whole / "public.t.arrow").num_rows, (whole / "public.p.arrow").stat().st_ino, len(found)), (50000, before, len(list(whole.glob("*.arrow")))),
      "goes on where it stopped")
fails(2, "--all-tables needs a folder", "--all-tables")

# Appending.
base = OUT / "base.arrow"
equal(dump("-c", "SELECT id, x FROM t WHERE id <= 100", "-o", base, "--stat=id")[0], 0, "a file to append to")
equal(dump("-c", "SELECT id, x FROM t WHERE id BETWEEN 101 AND 250", "--append", base, "-C", "lz4")[:2], (0, ""), "--append")
equal(sorted(read(base).column("id").to_pylist()), list(range(1, 251)), "has both")
metadata = read(base).schema.field("id").metadata
equal((metadata[b"min_values"], metadata[b"max_values"]), (b"1,101", b"100,250"), "and the statistics of both")
equal(dump("-c", "SELECT id, x FROM t WHERE false", "--append", base)[0], 0, "appending nothing")
equal(read(base).num_rows, 250, "changes nothing")
equal(dump("-t", "moods", "-o", OUT / "moods.arrow")[0], 0, "a file with a dictionary")
query("ALTER TYPE mood ADD VALUE 'new' BEFORE 'sad'; INSERT INTO moods VALUES ('new', '{ok,new}')", DB)
equal(dump("-t", "moods", "--append", OUT / "moods.arrow")[::2], (0, ""), "appending new labels")
equal(read(OUT / "moods.arrow").to_pylist(), [{"m": "ok", "n": ["sad"]}] * 2 + [{"m": "new", "n": ["ok", "new"]}], "makes the dictionary longer")
foreign = OUT / "foreign.arrow"
with pa.OSFile(str(foreign), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("id", pa.int32()), ("v", pa.string())])) as out:
    out.write_table(pa.table({"id": pa.array([1, None], pa.int32()), "v": ["a", "b"]}))
equal(dump("-c", "SELECT id, v FROM t WHERE id = 5", "--append", foreign)[::2], (0, ""), "appending to a file of pyarrow")
equal(read(foreign).to_pylist(), [{"id": 1, "v": "a"}, {"id": None, "v": "b"}, {"id": 5, "v": "value 5"}], "has both")
before = base.read_bytes()
fails(1, 'Column 2 is "x" Decimal128(10,2) in the file and "x" Int32 in the query', "-c", "SELECT id, 1 AS x FROM t", "--append", base)
fails(1, "The file has 2 columns, the query 1", "-c", "SELECT id FROM t", "--append", base)
fails(1, 'Column 1 is "id" Int32 in the file and "ID" Int32', "-c", 'SELECT id AS "ID", x FROM t', "--append", base)
fails(1, "division by zero", "-c", "SELECT id, (1 / (id - 40000))::numeric(10,2) AS x FROM t", "--append", base)
(OUT / "text.txt").write_text("no Arrow file at all, but long enough to be one" * 10)
fails(1, "is not an Arrow file", "-t", "t", "--append", OUT / "text.txt")
(OUT / "cut.arrow").write_bytes(before[:-100])
fails(1, "corrupt Arrow file", "-c", "SELECT id, x FROM t", "--append", OUT / "cut.arrow")
fails(1, "No such file", "-t", "t", "--append", OUT / "missing.arrow")
(OUT / "empty").write_bytes(b"")
fails(1, "is not an Arrow file", "-t", "t", "--append", OUT / "empty")
rng = random.Random(3)
for _ in range(60):
    damaged = bytearray(before)
    for _ in range(rng.choice((1, 4))):
        damaged[rng.randrange(len(damaged) - 2000, len(damaged))] ^= 1 << rng.randrange(8)
    (OUT / "damaged.arrow").write_bytes(damaged)
    status, out, err = dump("-c", "SELECT id, x FROM t WHERE id < 5", "--append", OUT / "damaged.arrow")
    if status not in (0, 1) or (status == 1 and (OUT / "damaged.arrow").read_bytes() != damaged):
        ok(False, "a damaged file is refused or gone on with", status, err)
fails(1, "could not write file", "-c", "SELECT id, x FROM t", "--append", base, name="appending to a full disk",
      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
equal((base.read_bytes() == before, leftovers(OUT)), (True, []), "failures leave the old file and nothing else")
many = [start("pg2arrow", *OPTIONS, "-d", DB, "-c", f"SELECT id, x FROM t WHERE id = {i}", "--append", base) for i in range(1, 9)]
ok(all(p.wait(60) == 0 for p in many), "eight appends at once")
equal(sorted(read(base).column("id").to_pylist()), sorted(list(range(1, 251)) + list(range(1, 9))), "and none is lost")

# Killed at any instant: the old content is there, whole, every time; what is new is all of it.
kill = OUT / "kill.arrow"
equal(dump("-c", "SELECT g AS a, repeat('x', 100) AS b FROM generate_series(1, 1000) g", "-o", kill, "--stats")[0], 0, "a file to be killed over")
wanted, outcomes, broken, left = 1000, set(), [], []
for i in range(200):
    process = start("pg2arrow", *OPTIONS, "-d", DB, "-c", "SELECT g AS a, repeat('x', 100) AS b FROM generate_series(1, 20000) g",
                                "--append", kill, "-s", "64k", stderr=subprocess.DEVNULL)
    time.sleep(rng.random() * 0.12)
    process.send_signal(rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)))
    outcomes.add(process.wait(20))
    rows = read(kill).num_rows
    if rows not in (wanted, wanted + 20000):
        broken.append((i, rows, wanted))
    wanted = rows
    left.append(len(leftovers(OUT)))
equal(broken, [], "200 appends killed at any instant: the old rows or all of the new")
# A negative status: the signal came before the tool had begun to look for it.
ok(outcomes <= {0, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM, 130, 143} and -signal.SIGKILL in outcomes, "by all signals", outcomes)
ok(max(left) <= 1 and sum(left) < 20, "what they leave does not pile up", left)
equal(dump("-c", "SELECT 1 AS a", "-o", OUT / "after.arrow")[0], 0, "the next one")
equal(leftovers(OUT), [], "removes what they left")
equal(read(kill).column("a").to_pylist()[:1000], list(range(1, 1001)), "the first rows are those of the first file")

# Through pipes.
piped = subprocess.run(f"{program('pg2arrow')} -d {DB} -c 'SELECT id, x FROM t ORDER BY id' {' '.join(OPTIONS)} -o - | {program('arrow2csv')} --header -",
                       shell=True, capture_output=True, text=True)
equal((piped.stdout.split("\n")[:2], len(piped.stdout.split("\n")), piped.stderr),
      (["id,x", query("SELECT id || ',' || x FROM t ORDER BY id LIMIT 1", DB)], int(query("SELECT count(*) FROM t", DB)) + 2, ""),
      "pg2arrow -o - | arrow2csv -")

# Failures.
fails(2, "one of -c, -t and --all-tables", "-o", OUT / "x.arrow")
fails(2, "--command and --table exclude each other", "-c", "SELECT 1", "-t", "t")
fails(2, "--output and --append exclude each other", "-t", "t", "-o", "x", "--append", "y")
fails(2, "statistics need a file", "-t", "t", "-o", "-", "--stats")
fails(2, "did you mean --segment-size?", "-t", "t", "--segment-siz=1")
fails(1, "-n needs $(CTID_RANGE)", "-c", "SELECT 1", "-n", 2, "-o", OUT / "x.arrow")
fails(1, "needs --ctid-target", "-c", "SELECT 1 WHERE $(CTID_RANGE)", "-n", 2, "-o", OUT / "x.arrow")
fails(1, "is no heap table", "-c", "SELECT 1 FROM v WHERE $(CTID_RANGE)", "-n", 2, "--ctid-target=v", "-o", OUT / "x.arrow")
fails(1, 'relation "nope" does not exist', "-t", "nope", "-o", OUT / "x.arrow")
fails(1, "syntax error", "-c", "SELEC 1", "-o", OUT / "x.arrow")
status, out, err = dump("-c", "SELECT id,\n  nope FROM t", "-o", OUT / "x.arrow")
ok(status == 1 and err.endswith('pg2arrow: detail: LINE 2:   nope FROM t\n                            ^\n'), "an error in SQL shows its place", err)
status, out, err = dump("-c", "SELECT missing(id) FROM t", "-o", OUT / "x.arrow")
ok("LINE 1: SELECT missing(id)" in err and "hint: No function matches" in err, "beside what else the server says", err)
fails(1, "parameter @(day) of the query has no value", "-c", "SELECT '@(day)' AS a", "-o", OUT / "x.arrow")
fails(1, "--param=day:VALUE", "-c", "SELECT @(x) + @(day)", "--param=x:1", "-o", OUT / "x.arrow")
equal(dumped("-c", "SELECT @ (id - 3) AS a FROM t WHERE id = 1").to_pydict(), {"a": [2]}, "an absolute value is none")
fails(1, "$(PARALLEL_KEY) in the query has no value", "-c", "SELECT 1 AS a WHERE 1 = $(PARALLEL_KEY)", "-o", OUT / "x.arrow")
fails(1, "the query is empty", "-c", " ; ", "-o", OUT / "x.arrow")
fails(1, "read-only transaction", "-c", "DELETE FROM t RETURNING id", "-o", OUT / "x.arrow")
fails(1, "No such file or directory", "-t", "t", "-o", OUT / "no" / "x.arrow")
fails(1, "exists", "-t", "t", "-o", OUT / "out.arrow")
fails(1, "could not connect", "-h", OUT, "-t", "t", "-o", OUT / "x.arrow")
fails(1, 'database "nope" does not exist', "-d", "nope", "-t", "t", "-o", OUT / "x.arrow")
fails(1, "worker 2: the query failed: division by zero", "-c", "SELECT 1 / (CASE WHEN $(WORKER_ID) = 2 AND id > 1000 THEN 0 ELSE 1 END) AS a FROM t", "-n", 4,
      "-o", OUT / "x.arrow", name="an error in one worker")
fails(1, "could not write file", "-t", "t", "-o", OUT / "x.arrow", name="a full disk",
      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
if os.path.exists("/dev/full"):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([program("pg2arrow"), *OPTIONS, "-d", DB, "-t", "t", "-o", "-"], stdout=full, stderr=subprocess.PIPE, text=True)
    ok(result.returncode == 1 and "No space left" in result.stderr, "a full device", result)
ok(not (OUT / "x.arrow").exists() and not leftovers(OUT), "failures leave nothing behind", leftovers(OUT))

# The server's session ends in the middle.
for action in ("pg_terminate_backend", "pg_cancel_backend"):
    process = start("pg2arrow", *OPTIONS, "-d", f"dbname={DB} application_name=victim", "-c", "SELECT g, pg_sleep(0.001) FROM generate_series(1, 100000) g",
                                "-o", OUT / "x.arrow")
    wait_until(lambda: query(f"SELECT count({action}(pid)) FROM pg_stat_activity WHERE application_name = 'victim' AND query LIKE 'COPY%'", DB) == "1")
    err = process.communicate(timeout=60)[1]
    ok(process.returncode == 1 and ("terminat" in err or "cancel" in err or "broke" in err), f"{action} is an error", err)

# SIGINT ends the query on the server, too.
process = start("pg2arrow", *OPTIONS, "-d", f"dbname={DB} application_name=victim", "-c", "SELECT count(*) FROM generate_series(1, 2000000000)",
                            "-o", OUT / "x.arrow")
wait_until(lambda: query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'victim' AND query LIKE 'COPY%'", DB) == "1")
process.send_signal(signal.SIGINT)
err = process.communicate(timeout=60)[1]
equal((process.returncode, err), (130, "pg2arrow: interrupted\n"), "SIGINT while the server computes")
ok(wait_until(lambda: query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'victim'", DB) == "0"), "and the server has stopped")


# A proxy that cuts the connection after some bytes, and one that sends them in pieces.
def proxy(limit, piece=65536):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)

    def serve():
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{os.environ['PGHOST']}/.s.PGSQL.{os.environ['PGPORT']}")

        def pump(source, target, most):
            passed = 0
            try:
                while data := source.recv(min(piece, most - passed)):
                    target.sendall(data)
                    passed += len(data)
                    if passed >= most:
                        break
            except OSError:
                pass
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        threading.Thread(target=pump, args=(client, server, 1 << 60), daemon=True).start()
        pump(server, client, limit)
        listener.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


for limit in (1, 200, 2000, 5000, 100000, 1000000):
    fails(1, "", "-h", "127.0.0.1", "-p", proxy(limit), "-t", "t", "-o", OUT / "x.arrow", name=f"a connection that is cut after {limit} bytes")
ok(not (OUT / "x.arrow").exists() and not leftovers(OUT), "and nothing is left behind")
ok(dumped("-h", "127.0.0.1", "-p", proxy(1 << 60, 7), "-c", "SELECT id, v FROM t LIMIT 2000").num_rows == 2000, "a connection with small packets")

# A table that is altered or dropped meanwhile has to wait.
query("CREATE TABLE moving AS SELECT * FROM t", DB)
process = start("pg2arrow", *OPTIONS, "-d", f"dbname={DB} application_name=holder", "-c", "SELECT id, v, pg_sleep(0.00005)::text AS z FROM moving",
                            "-o", OUT / "moving.arrow")
wait_until(lambda: query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder' AND query LIKE 'COPY%'", DB) == "1")
_, err = psql("SET lock_timeout = '100ms'; ALTER TABLE moving DROP COLUMN v", DB)
ok("lock timeout" in err, "a table cannot be altered while it is dumped", err)
psql("DROP TABLE moving", DB)
equal((process.wait(120), read(OUT / "moving.arrow").num_rows), (0, 50000), "and is dumped whole")

# Large values.
table = dumped("-c", "SELECT repeat('0123456789', 10000000) AS big, 1 AS a UNION ALL SELECT 'x', 2", "-s", "1m")
equal([len(v) for v in table.column("big").to_pylist()], [100000000, 1], "a row of 100 MB")

# Text that is not UTF-8.
query("DROP DATABASE IF EXISTS strom_ascii; CREATE DATABASE strom_ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
query("CREATE TABLE raw (a text); INSERT INTO raw VALUES ('fine'), (E'\\\\xff\\\\xfe')".replace("\\\\", "\\"), "strom_ascii")
status, out, err = run("pg2arrow", "-d", "strom_ascii", "-t", "raw", "-o", OUT / "x.arrow")
ok(status == 1 and 'text that is not valid UTF-8 in row 2, column "a"' in err, "text that is not valid in its encoding", err)
query("DROP DATABASE strom_ascii")

# Progress.
status, out, err = dump("-t", "t", "-n", 2, "-o", OUT / "progress.arrow", "--progress=json")
events = [json.loads(line) for line in err.splitlines()]
equal((events[-1]["event"], events[-1]["rows"]), ("done", 50000), "progress as JSON")
ok(any(e.get("text", "").startswith("worker:1 SQL=[SELECT * FROM t WHERE ctid >=") for e in events), "with the workers' queries", err)
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d RecordBatch\[(\d+)\]: offset=\d+ length=\d+ \(meta=\d+, body=\d+\) nitems=(\d+) by worker:([01])")
batches = [found for found in (LINE.fullmatch(e.get("text", "")) for e in events) if found]
equal((batches[0][1], sum(int(found[2]) for found in batches), {found[3] for found in batches}), ("0", 50000, {"0", "1"}),
      "and the record batches: when, what, by whom")
status, out, err = dump("-t", "t", "-o", OUT / "progress.arrow", "-f", "--progress=text")
ok(any(LINE.fullmatch(line) for line in err.splitlines()), "as lines of text", err)
done()
