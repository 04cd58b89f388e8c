#!/usr/bin/env python3
"""Parquet files that are damaged, change while they are read, or cannot be read because there is no module: errors, never
a crash."""
import os
import pathlib
import random
import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq

from server import alive, done, equal, folder, fresh_database, ok, psql, query

MODULE = pathlib.Path(subprocess.run([os.path.join(os.environ["STROM_PG_BINDIR"], "pg_config"), "--pkglibdir"],
                                     capture_output=True, text=True, check=True).stdout.strip()) / "pg_strom_parquet.so"
DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "parquet"
FILES = folder("parquet_files")
DB = fresh_database("strom_parquet_files")
ENGINE = "SET pg_strom.cpu_setup_cost = 0;\n"


def import_table(name, path):
    query(f"IMPORT FOREIGN SCHEMA {name} FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}')", DB)


def answers(name, variants, statement):
    """Each variant of a file is read by `statement`; (number of answers, lines of errors)."""
    target = FILES / f"{name}.parquet"
    places = folder(f"parquet_files/{name}")
    script = ENGINE + "\\pset null ''\n"
    for i, content in enumerate(variants):
        (places / str(i)).write_bytes(content)
        script += f"\\! cp {places / str(i)} {target}\n{statement};\n"
    out, err = psql(script, DB, timeout=600)
    shutil.rmtree(places)
    return len(out.splitlines()), [line for line in err.splitlines() if "ERROR:" in line]


def without_module():
    if MODULE.exists():
        return False
    target = DATA / "types.parquet"
    _, err = psql(f"CREATE FOREIGN TABLE t (i4 int) SERVER arrow_fdw OPTIONS (file '{target}'); SELECT * FROM t;", DB)
    ok("0A000" in err and "STROM_PARQUET" in err, "without the module: an error that says how to get it", err)
    return True


if without_module():
    done()

# Cut anywhere.
source = (DATA / "types.parquet").read_bytes()
(FILES / "cut.parquet").write_bytes(source)
import_table("cut", FILES / "cut.parquet")
cuts = [source[:size] for size in range(0, len(source), 101)]
count, errors = answers("cut", cuts, "SELECT 'answer', count(t::text) FROM cut t")
equal((count, len(errors)), (0, len(cuts)), "every cut file is an error")
ok(all("XX001" in e for e in errors), "of damaged files", *errors[:5])
alive("cut files")

# Bits that are flipped, anywhere and in the metadata, in files of several encodings and codecs.
rng = random.Random(int(os.environ.get("STROM_SEED", "42")))
SEEDS = ["types", "nested", "snappy", "zstd", "gzip", "lz4", "brotli", "mixed", "duckdb", "polars", "datafusion"]
SECOND = {"types": "i4", "nested": "k"}  # columns that are read by themselves, by the engine, after the whole rows
COUNT = int(os.environ.get("STROM_PARQUET_MUTATIONS", "150"))


def metadata_start(content):
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def mutated(content):
    damaged = bytearray(content)
    begin = rng.choice((0, 0, metadata_start(content)))
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        place = rng.randrange(begin, len(damaged) - 8)
        kind = rng.randrange(4)
        if kind == 0:
            damaged[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            damaged[place] = rng.choice((0, 1, 0x7f, 0x80, 0xff))
        elif kind == 2:
            length = rng.randrange(1, 9)
            damaged[place:place + length] = bytes(rng.randrange(256) for _ in range(len(damaged[place:place + length])))
        else:
            other = rng.randrange(begin, len(damaged) - 8)
            length = rng.randrange(1, 33)
            damaged[place:place + length] = damaged[other:other + len(damaged[place:place + length])]
    return bytes(damaged[:len(content)])


states = set()
for seed in SEEDS:
    content = (DATA / f"{seed}.parquet").read_bytes()
    (FILES / f"{seed}.parquet").write_bytes(content)
    import_table(seed, FILES / f"{seed}.parquet")
    count, errors = answers(seed, [mutated(content) for _ in range(COUNT)],
                            f"SELECT 'answer', count(*) FROM (SELECT f::text FROM {seed} f) t;\n"
                            f"SELECT 'answer', count({SECOND.get(seed, 't')}), count({SECOND.get(seed, 'b')}) FROM {seed}")
    equal(count + len(errors), 2 * COUNT, f"each damaged copy of {seed} is answered or refused")
    alive(seed)
    states |= {line.split("ERROR:")[1].split(":")[0].strip() for line in errors}
FITTING = {"XX001", "0A000", "42804", "22008", "22021", "53200", "53400", "22001", "22003"}
ok(states <= FITTING, "by an error that fits", states - FITTING)

# Files that change while a cursor reads them.
big = FILES / "big.parquet"


def write_big(first=0):
    rows = pa.table({"k": pa.array(range(first, first + 200_000), pa.int64()),
                     "v": [str(i % 1000) for i in range(200_000)]})
    pq.write_table(rows, FILES / "new", row_group_size=10_000)


def cursor_test(name, change):
    write_big()
    shutil.copyfile(FILES / "new", big)
    write_big(7)
    return psql(f"""BEGIN; DECLARE c CURSOR FOR SELECT k, v FROM big; FETCH 1 FROM c;
{change}
FETCH 30000 FROM c; COMMIT; SELECT 'min', min(k) FROM big;""", DB)


write_big()
shutil.copyfile(FILES / "new", big)
import_table("big", big)
out, err = cursor_test("replaced", f"\\! mv {FILES / 'new'} {big}")
equal(err, "", "a replaced file goes on being readable")
rows = [tuple(map(int, line.split("|"))) for line in out.splitlines()[:-1]]
ok(len(set(rows)) == 30_001 and all(k % 1000 == v for k, v in rows), "as it was, in whatever order", rows[:3])
equal(out.splitlines()[-1], "min|7", "the next query sees the new one")
out, err = cursor_test("overwritten", f"\\! cat {FILES / 'new'} > {big}")
ok("XX001" in err and "changed while it was being read" in err, "an overwritten file is an error", err)
out, err = cursor_test("shrunk", f"\\! truncate -s 5000 {big}")
ok("XX001" in err, "a shrunk file is an error", err)
alive("changing files")

# Threads that libraries start (the memory allocator's) must never run the server's signal handlers; the session itself
# goes on being interruptible.
write_big()
shutil.copyfile(FILES / "new", big)
out, err = psql(ENGINE + """SELECT count(*), sum(k), min(v) FROM big;
SELECT pg_read_file('/proc/' || pg_backend_pid() || '/task/' || t || '/status')
  FROM pg_ls_dir('/proc/' || pg_backend_pid() || '/task') t WHERE t <> pg_backend_pid()::text;
SET statement_timeout = '200ms';
SELECT count(*) FROM big a, big b, big c WHERE a.k + b.k + c.k = 5;""", DB)
equal(out.splitlines()[0], "200000|19999900000|0", "the engine reads it")
HANDLED = sum(1 << (number - 1) for number in (1, 2, 3, 10, 12, 14, 15))
masks = [int(line.split()[1], 16) for line in out.splitlines() if line.startswith("SigBlk:")]
ok(all(mask & HANDLED == HANDLED for mask in masks), "threads of libraries block signals", [hex(mask) for mask in masks])
ok("57014" in err, "a timeout ends the query", err)
alive("threads")
done()
