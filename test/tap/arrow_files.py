#!/usr/bin/env python3
"""Arrow files that are damaged, change while they are read, or are many and large: errors, never a crash."""
import os
import pathlib
import random
import shutil
import subprocess
import time

import polars
import pyarrow as pa

from server import alive, done, equal, folder, fresh_database, ok, psql, query

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
FILES = folder("arrow_files")
DB = fresh_database("strom_arrow_files")


def write(path, batches, rows, columns=("k", "v")):
    schema = pa.schema([(c, pa.int64()) for c in columns])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in range(batches):
            values = pa.array(range(batch * rows, (batch + 1) * rows), pa.int64())
            writer.write_batch(pa.record_batch([values] * len(columns), schema=schema))


def import_table(name, path):
    query(f"IMPORT FOREIGN SCHEMA {name} FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}')", DB)


# Integers of 128 bits, which polars writes and Arrow does not have: that column cannot be read, others can.
wider = FILES / "wider.arrow"
polars.DataFrame({"a": [1, 2, 3], "b": polars.Series([10**30, None, -5], dtype=polars.Int128), "c": ["x", "y", "z"],
                  "l": polars.Series([[1], [], None], dtype=polars.List(polars.Int128)), "d": [1.5, 2.5, None]}).write_ipc(wider, compression="uncompressed")
query(f"CREATE FOREIGN TABLE wider (a bigint, b numeric, c text, l numeric[], d float8) SERVER arrow_fdw OPTIONS (file '{wider}')", DB)
equal(query("SELECT a, c, d FROM wider", DB), "1|x|1.5\n2|y|2.5\n3|z|", "columns beside integers of 128 bits")
for column, kind in (("b", "type Int128"), ("l", "List of type Int128")):
    _, err = psql(f"SELECT {column} FROM wider", DB)
    ok(kind in err and "corrupt" not in err and "XX001" not in err, f"a message about the column {column}", err)
_, err = psql(f"IMPORT FOREIGN SCHEMA all_of_it FROM SERVER arrow_fdw INTO public OPTIONS (file '{wider}')", DB)
ok("0A000" in err and "type Int128 is not supported" in err, "and of the import", err)

# A file cut at any byte: an error that names it, or, where nothing is missing, its rows.
source = (DATA / "types.arrow").read_bytes()
cut = FILES / "cut.arrow"
cut.write_bytes(source)
import_table("cut", cut)
script = ""
for size in range(0, len(source), 7):
    script += f"\\! head -c {size} {DATA / 'types.arrow'} > {cut}\nSELECT count(i1), count(s), count(\"dec\") FROM cut;\n"
out, err = psql(script, DB)
errors = [line for line in err.splitlines() if "ERROR:" in line]
equal(len(errors), len(range(0, len(source), 7)), "every cut file is an error")
ok(all("XX001" in e and str(cut) in e for e in errors), "XX001 with the file's name", *errors[:5])
equal(out, "", "and gives no row")
alive("cut files")

# Flipped bits: an error or rows, but an answer in any case.
rng = random.Random(42)
flipped = FILES / "flipped.arrow"
flipped.write_bytes(source)
import_table("flipped", flipped)
variants = folder("arrow_files/variants")
script = "\\pset null ''\n"
count = 400
for i in range(count):
    damaged = bytearray(source)
    for _ in range(rng.choice((1, 1, 1, 8))):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    (variants / str(i)).write_bytes(damaged)
    script += f"\\! cp {variants / str(i)} {flipped}\nSELECT 'answer', count(*) FROM (SELECT f::text FROM flipped f) t;\n"
out, err = psql(script, DB, timeout=300)
errors = [line for line in err.splitlines() if "ERROR:" in line]
equal(len(out.splitlines()) + len(errors), count, "each damaged file is answered or refused")
states = {line.split("ERROR:")[1].split(":")[0].strip() for line in errors}
ok(states <= {"XX001", "0A000", "42804", "22008", "22021", "53200", "22001"}, "by an error that fits", states)
ok(len(errors) > count // 10, "damage is noticed", len(errors))
alive("flipped bits")

# A file that is shrunk, overwritten, replaced or deleted in the middle of a cursor. PostgreSQL's own scan has the order of
# the file; the engine's, which engine_queries.py and stress.py look at, has not.
big = FILES / "big.arrow"


def cursor_test(name, change, then="FETCH 1 FROM c; SELECT 'sum', sum(k) FROM big", before=1):
    write(big, 20, 100_000)
    return psql(f"""SET pg_strom.enabled = off; BEGIN; DECLARE c CURSOR FOR SELECT k, v FROM big; FETCH {before} FROM c;
{change}
MOVE 199999 IN c; {then}; ROLLBACK;""", DB)


write(big, 20, 100_000)
import_table("big", big)
_, err = cursor_test("shrunk", f"\\! truncate -s 4096 {big}")
ok("XX001" in err and str(big) in err, "a file that is shrunk under a cursor", err)
_, err = cursor_test("shrunk to nothing", f"\\! truncate -s 0 {big}")
ok("XX001" in err and str(big) in err, "a file that is emptied under a cursor", err)
write(big, 20, 100_000)
out, err = psql(f"""BEGIN; DECLARE c CURSOR FOR SELECT k, v FROM big; FETCH 1 FROM c;
\\! truncate -s 4096 {big}
FETCH 1 FROM c; ROLLBACK;""", DB)
first = out.split("|")  # of any record batch: the engine's threads decide which one is done first
ok("XX001" in err and len(out.splitlines()) == 1 and first[0] == first[1], "a row of which a part is gone is not handed out", out, err)
_, err = cursor_test("overwritten", f"\\! printf x | dd of={big} bs=1 seek=100000 conv=notrunc status=none")
ok("XX001" in err and str(big) in err, "a file that is written to under a cursor", err)
out, err = cursor_test("deleted", f"\\! rm {big}", then="FETCH 1 FROM c")
ok(err == "" and out.endswith("200000|200000"), "a file that is deleted under a cursor stays readable", out, err)
_, err = psql("TABLE big LIMIT 1", DB)
ok("58P01" in err, "but not for the next query", err)
write(FILES / "new.arrow", 1, 10)
out, err = cursor_test("replaced", f"\\! mv {FILES / 'new.arrow'} {big}", then="FETCH 1 FROM c; SELECT 'sum', sum(k) FROM big")
ok(err == "" and out.endswith("200000|200000\nsum|45"),
   "a file that is replaced: the cursor reads the old one, the next query the new one", out, err)
_, err = psql(f"""BEGIN; DECLARE c CURSOR FOR SELECT k FROM big; FETCH 1 FROM c;
\\! truncate -s 100 {big}
CLOSE c; COMMIT;""", DB)
ok("XX001" in err, "rows that were handed out are vouched for at the end", err)
alive("changed files")

# The same while a query runs in one go.
write(big, 20, 100_000)
running = subprocess.Popen(["psql", "-X", "-d", DB, "-v", "VERBOSITY=verbose", "-c",
                            "SET pg_strom.enabled = off; SELECT count(*) FROM big a, generate_series(1, 50) WHERE a.k >= 0"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
time.sleep(0.5)
os.truncate(big, 1_000_000)
_, err = running.communicate(timeout=120)
ok("XX001" in err, "a file that is shrunk under a query", err)
alive("shrunk under a query")

# Many record batches, and many columns.
many = FILES / "many.arrow"
write(many, 10_000, 3)
import_table("many", many)
equal(query("SELECT count(*), sum(k), max(v) FROM many", DB), "30000|449985000|29999", "10 000 record batches")
query("ANALYZE many", DB)
equal(query("SELECT reltuples FROM pg_class WHERE relname = 'many'", DB), "30000", "ANALYZE of 10 000 record batches")
begin = time.monotonic()
query("EXPLAIN SELECT k FROM many", DB)
ok(time.monotonic() - begin < 10, "planning over 10 000 record batches", time.monotonic() - begin)
wide = FILES / "wide.arrow"
write(wide, 2, 5, [f"c{i}" for i in range(1600)])
import_table("wide", wide)
equal(query("SELECT sum(c0), sum(c1599), count(*) FROM wide", DB), "45|45|10", "1600 columns")
write(wide, 1, 1, [f"c{i}" for i in range(1601)])
_, err = psql(f"IMPORT FOREIGN SCHEMA wider FROM SERVER arrow_fdw INTO public OPTIONS (file '{wide}')", DB)
ok("54011" in err, "1601 columns are too many for a table", err)

# A file that the server may not read.
os.chmod(many, 0)
_, err = psql("SELECT count(*) FROM many", DB)
ok("42501" in err and str(many) in err, "a file without permission", err)
locked = folder("arrow_files/locked")
query(f"CREATE FOREIGN TABLE locked (k int8) SERVER arrow_fdw OPTIONS (dir '{locked}')", DB)
equal(query("SELECT count(*) FROM locked", DB), "0", "an empty directory has no rows")
os.chmod(locked, 0)
_, err = psql("SELECT count(*) FROM locked", DB)
ok("42501" in err and str(locked) in err, "a directory without permission", err)
os.chmod(locked, 0o755)

# Cancel and timeout.
write(big, 40, 100_000)
begin = time.monotonic()
_, err = psql("SET pg_strom.enabled = off; SET statement_timeout = '300ms'; SELECT count(*) FROM big a, big b WHERE a.k <> b.k", DB)
ok("57014" in err and time.monotonic() - begin < 10, "statement_timeout stops a scan", err, time.monotonic() - begin)

shutil.rmtree(FILES, ignore_errors=True)
query(f"DROP DATABASE {DB}")
done()
