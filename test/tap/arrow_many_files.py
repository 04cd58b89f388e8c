#!/usr/bin/env python3
"""Arrow tables of many files, of very many columns, with odd names, and what is remembered of files that change."""
import json
import os
import pathlib
import shutil
import time

import pyarrow as pa

from server import alive, done, equal, folder, fresh_database, ok, psql, query

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
FILES = folder("arrow_many_files")
DB = fresh_database("strom_arrow_many_files")
SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.string())])


def write(path, values, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_batch(pa.record_batch([pa.array(values, pa.int64()), pa.array([text] * len(values))], schema=SCHEMA))


def overwrite(path, values, text="x"):
    """In place: the file stays the same one, as long as it was, and its times go back to what they were."""
    times = os.stat(path)
    other = path.with_suffix(".new")
    write(other, values, text)
    data = other.read_bytes()
    other.unlink()
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


# 300 files: more than are mapped from the beginning. One session asks before and after each change.
many = FILES / "many"
for i in range(300):
    write(many / f"f{i:05}_{i % 3}.arrow", [i])
query(f"CREATE FOREIGN TABLE many (k int8, t text, m int OPTIONS (virtual 'm')) SERVER arrow_fdw OPTIONS (dir '{many}', pattern 'f*_@{{m}}.arrow')", DB)
total = sum(range(300))
ASK = "SELECT count(*), sum(k) FROM many;\n"


def changed(name, changes, wanted, wait=0):
    """Asks in one session, before and after `changes`, which run in a script between; and once more in a new one."""
    script = FILES / "change.py"
    script.write_text(f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n" + changes)
    for plan in ("on", "off"):
        for path in many.glob("*"):
            path.unlink()
        for i in range(300):
            write(many / f"f{i:05}_{i % 3}.arrow", [i])
        time.sleep(wait)
        before = f"SET pg_strom.enabled = {plan}; PREPARE p AS {ASK} SET plan_cache_mode = force_generic_plan; EXECUTE p;\n"
        out, err = psql(before + ASK + f"\\! python3 {script}\n" + ASK + "EXECUTE p;", DB)
        equal(out.splitlines()[2:], [wanted] * 2, f"{name}, pg_strom.enabled = {plan}")
        ok(err == "", f"{name}: no error", err)
        equal(query(ASK, DB), wanted, f"{name}, in another session")


HELP = f"""
import os, pathlib
many = pathlib.Path({str(many)!r})
def swap(path, data):
    times = os.stat(path)
    with open(path, "r+b") as file: file.write(data); file.truncate()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
"""
write(FILES / "spare.arrow", [1_000_000])
write(FILES / "longer.arrow", [1, 2, 3, 4, 5])
SPARE = f"data = pathlib.Path({str(FILES / 'spare.arrow')!r}).read_bytes()\n"
LONGER = f"data = pathlib.Path({str(FILES / 'longer.arrow')!r}).read_bytes()\n"
for wait in (0, 2.2):
    changed(f"a file overwritten in place with its old times, {wait} s after it was made",
            HELP + SPARE + "swap(many / 'f00007_1.arrow', data)", f"300|{total - 7 + 1_000_000}", wait)
changed("a file replaced", HELP + SPARE + "(many / 'n').write_bytes(data); os.rename(many / 'n', many / 'f00007_1.arrow')",
        f"300|{total - 7 + 1_000_000}", 2.2)
changed("a file that grows", HELP + LONGER + "swap(many / 'f00007_1.arrow', data)", f"304|{total - 7 + 15}", 2.2)
changed("a new file", HELP + SPARE + "(many / 'f99999_1.arrow').write_bytes(data)", f"301|{total + 1_000_000}")
changed("a file less", HELP + "os.unlink(many / 'f00007_1.arrow')", f"299|{total - 7}")
changed("a file's times set into the future and the past",
        HELP + "os.utime(many / 'f00008_2.arrow', (4e9, 4e9)); os.utime(many / 'f00009_0.arrow', (1, 1))", f"300|{total}")
changed("a clock that was set back: new bytes, older times",
        HELP + SPARE + "swap(many / 'f00007_1.arrow', data); os.utime(many / 'f00007_1.arrow', (1, 1))",
        f"300|{total - 7 + 1_000_000}")

# Changed under a cursor: an error or the old rows, never a mixture.
for i in range(300):
    write(many / f"f{i:05}_{i % 3}.arrow", [i])
out, err = psql(f"""SET pg_strom.enabled = off; BEGIN; DECLARE c CURSOR FOR SELECT k FROM many; FETCH 1 FROM c;
\\! cp {FILES / 'longer.arrow'} {many}/f00299_2.arrow
MOVE 290 IN c; FETCH ALL FROM c; ROLLBACK;""", DB)
ok("XX001" in err, "a file that is overwritten before a cursor comes to it", out[-100:], err)
write(many / "f00299_2.arrow", [299])
out, err = psql(f"""SET pg_strom.enabled = off; BEGIN; DECLARE c CURSOR FOR SELECT k FROM many; FETCH 1 FROM c;
\\! rm -r {many}
FETCH ALL FROM c; ROLLBACK; {ASK}""", DB)
ok("58P01" in err or "XX001" in err, "a folder that is removed under a cursor, and before a query", out[-100:], err)
ok("58P01" in psql(ASK, DB)[1], "a folder that is not there")
alive("changes")

# 12 000 files: plans of less than a second, and few descriptors and mappings.
plenty = FILES / "plenty"
write(plenty / "f0.arrow", list(range(10)))
for i in range(1, 12000):
    os.link(plenty / "f0.arrow", plenty / f"f{i}.arrow") if i % 100 else shutil.copy(plenty / "f0.arrow", plenty / f"f{i}.arrow")
time.sleep(2.2)
query(f"CREATE FOREIGN TABLE plenty (k int8, t text, n int8 OPTIONS (virtual 'n')) SERVER arrow_fdw OPTIONS (dir '{plenty}', pattern 'f@{{n}}.arrow')", DB)
out, err = psql("""EXPLAIN SELECT k FROM plenty WHERE n = 77;
\\o /dev/null
\\timing on
""" + "EXPLAIN SELECT k FROM plenty WHERE n = 77;\n" * 5 + """\\timing off
\\o
SELECT sum(k) FROM plenty WHERE n = 77; SELECT count(*), sum(k), count(DISTINCT n) FROM plenty;
SET pg_strom.enabled = off; SELECT sum(k) FROM plenty WHERE n = 77; SELECT count(*), sum(k), count(DISTINCT n) FROM plenty;""", DB, timeout=300)
milliseconds = [float(line.split()[1]) for line in out.splitlines() if line.startswith("Time:")]
print(f"# 12 000 files planned in {milliseconds} ms", flush=True)
ok(milliseconds and min(milliseconds) < 2000, "12 000 files are planned quickly", milliseconds)
equal([line for line in out.splitlines() if "|" in line and "file" not in line], ["120000|540000|12000"] * 2, "and read")
ok(err == "", "without an error", err)
lines = query("EXPLAIN SELECT k FROM plenty", DB).splitlines()
ok(len(lines) < 12, "EXPLAIN of 12 000 files is short", len(lines))
stats = json.loads(query("EXPLAIN SELECT k FROM plenty \\g /dev/null\nSELECT pgstrom.arrow_fdw_metadata_stats()", DB))
ok(stats["num_file_entries"] == 12000 and 0 < stats["total_cache_usage"] < stats["total_cache_sz"] and stats["cache_hits"] >= 12000,
   "what is remembered", stats)
ok(stats["cache_misses"] == 0 and stats["shared_cache_usage"] > 0, "a new session has it from those before", stats)


def asked(what, expected, most_misses):
    """In a new session: what it finds, and how many files it read for that."""
    rows, stats = query(f"{what};\nSELECT pgstrom.arrow_fdw_metadata_stats()", DB).splitlines()
    equal(rows, expected, what)
    ok(json.loads(stats)["cache_misses"] <= most_misses, f"{what}: files that were read", stats)


write(plenty / "f100.arrow", [1_000_000])
overwrite(plenty / "f200.arrow", [2_000_000 + i for i in range(10)])
before = query("SET arrow_fdw.metadata_cache_size = 0; SELECT count(*), sum(k) FROM plenty", DB)
asked("SELECT count(*), sum(k) FROM plenty", before, 50)
(plenty / "f300.arrow").unlink()
before = query("SET arrow_fdw.metadata_cache_size = 0; SELECT count(*), sum(k) FROM plenty", DB)
asked("SELECT count(*), sum(k) FROM plenty", before, 50)
query("SELECT pgstrom.column_cache_reset()", DB)
equal(json.loads(query("LOAD 'pg_strom'; SELECT pgstrom.arrow_fdw_metadata_stats()", DB))["shared_cache_usage"], 0, "pgstrom.column_cache_reset() forgets it")
query("SELECT count(*) FROM plenty", DB)
asked("SELECT count(*), sum(k) FROM plenty", before, 50)
out, err = psql("SET arrow_fdw.metadata_cache_size = 0; SELECT sum(k) FROM plenty WHERE n < 100", DB, timeout=300)
equal(out, str(45 * 100), "without anything remembered")
shutil.rmtree(plenty)

# Links: up the tree, to nowhere, out of the folder.
links = FILES / "links"
write(links / "a=1/x.arrow", [1])
write(FILES / "outside/y.arrow", [2])
os.symlink(links, links / "a=1/up")
os.symlink(links / "a=1", links / "a=2")
os.symlink("/nowhere", links / "broken.arrow")
os.symlink(FILES / "outside/y.arrow", links / "out.arrow")
os.mkfifo(links / "pipe.arrow")
(links / "folder.arrow").mkdir()
query(f"CREATE FOREIGN TABLE links (k int8, a int OPTIONS (virtual 'a'), p text OPTIONS (virtual '@filename')) SERVER arrow_fdw OPTIONS (dir '{links}', pattern '**/*.arrow')", DB)
equal(query("SELECT k, a, p FROM links ORDER BY 1, 2", DB), "1|1|x.arrow\n1|2|x.arrow\n2||out.arrow", "links in a tree")

# Names with every character that a file system takes.
odd = FILES / "odd"
names = [chr(c) for c in range(1, 128) if chr(c) not in "/."] + ["ä", "日本", "a'b\"c\\d", "%41", "a=b", "..."]
for i, name in enumerate(names):
    write(odd / f"v_{name}_.arrow", [i])
query(f"CREATE FOREIGN TABLE odd (k int8, v text OPTIONS (virtual 'v')) SERVER arrow_fdw OPTIONS (dir '{odd}', pattern 'v_${{v}}_.arrow')", DB)
equal(query("SELECT string_agg(encode(convert_to(v, 'UTF8'), 'hex'), ',' ORDER BY k) FROM odd", DB),
      ",".join(name.encode().hex() for name in names), "names of files with every character")
write(FILES / "spare.arrow", [1])
os.rename(bytes(FILES / "spare.arrow"), bytes(odd) + b"/v_\xff\xfe_.arrow")
_, err = psql("SELECT v FROM odd", DB)
ok("22021" in err and "virtual column" in err, "a name that is no text in the database's encoding", err)
equal(query("SELECT count(*) FROM odd", DB), str(len(names) + 1), "which matters only where the name is asked for")
os.unlink(bytes(odd) + b"/v_\xff\xfe_.arrow")
secret = FILES / "v_1_.arrow"
write(secret, [1])
query("DROP ROLE IF EXISTS strom_stranger; CREATE ROLE strom_stranger; GRANT ALL ON SCHEMA public TO strom_stranger; "
      "GRANT USAGE ON FOREIGN SERVER arrow_fdw TO strom_stranger; GRANT USAGE ON SCHEMA pgstrom TO strom_stranger", DB)
for statement in (f"CREATE FOREIGN TABLE s (k int8) SERVER arrow_fdw OPTIONS (file '{odd}/../v_1_.arrow')",
                  f"CREATE FOREIGN TABLE s (k int8) SERVER arrow_fdw OPTIONS (dir '{FILES}', pattern '**/*')",
                  f"IMPORT FOREIGN SCHEMA s FROM SERVER arrow_fdw INTO public OPTIONS (dir '{FILES}', pattern '*.arrow')",
                  f"SELECT pgstrom.arrow_fdw_import_file('s', '{secret}')",
                  "ALTER FOREIGN TABLE odd OPTIONS (SET dir '/etc')", "SELECT * FROM odd",
                  "SELECT * FROM pgstrom.arrow_fdw_metadata_info('odd')"):
    _, err = psql(f"SET ROLE strom_stranger; {statement}", DB)
    ok("42501" in err, f"not for everybody: {statement[:60]}", err)
for path in ("v_1_.arrow", "../v_1_.arrow", ""):
    _, err = psql(f"CREATE FOREIGN TABLE s (k int8) SERVER arrow_fdw OPTIONS (file '{path}')", DB)
    ok("HV00D" in err, f"a path that is not absolute: {path!r}", err)
query("DROP OWNED BY strom_stranger; DROP ROLE strom_stranger", DB)
alive("names and links")

# 30 000 columns.
wide = FILES / "wide.arrow"
kinds = [pa.int32(), pa.string(), pa.float64()]
schema = pa.schema([pa.field(f"c{i}", kinds[i % 3]) for i in range(29998)] + [pa.field("twice", pa.int32())] * 2)
with pa.OSFile(str(wide), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
    arrays = [pa.array([i, None] if f.type != pa.string() else [str(i), None], f.type) for i, f in enumerate(schema)]
    writer.write_batch(pa.record_batch(arrays, schema=schema))
_, err = psql(f"IMPORT FOREIGN SCHEMA x FROM SERVER arrow_fdw INTO public OPTIONS (file '{wide}')", DB)
ok("54011" in err and "30000 columns" in err and "arrow_fdw_import_file" in err, "IMPORT FOREIGN SCHEMA names what takes as many", err)
query(f"SELECT pgstrom.arrow_fdw_import_file('wide', '{wide}')", DB)
equal(query("SELECT c0, c29997, c14999, twice, twice_1 FROM wide", DB), "0|29997|14999|29998|29999\n||||", "30 000 columns")
equal(query("SELECT c29997, count(*), sum(c0) FROM wide GROUP BY 1 ORDER BY 1", DB), "29997|1|0\n|1|", "in groups")
equal(query("SELECT count(*) FROM wide", DB), "2", "in none")
equal(query("SELECT count(*) FROM wide a, wide b WHERE a.c29997 = b.c29997", DB), "1", "in joins")
ok("read: " in query("EXPLAIN SELECT c29997 FROM wide", DB), "with EXPLAIN")
_, err = psql("ANALYZE wide", DB)
ok("cannot analyze" in err, "ANALYZE is a warning", err)
for statement, state in (("SELECT * FROM wide", "54011"), ("SELECT w FROM wide w", "42809"), ("SELECT w.*::text FROM wide w", ""),
                         ("SELECT c0 FROM wide FOR UPDATE", ""), ("CREATE TABLE heir () INHERITS (wide)", "54011"),
                         ("DO $$ DECLARE r wide; BEGIN r.c0 := 1; END $$", ""), ("SELECT NULL::wide", "42704"),
                         ("ALTER FOREIGN TABLE wide ADD COLUMN z int", "54011"), ("SELECT row_to_json(w) FROM wide w", "42809")):
    _, err = psql(statement, DB)
    ok("ERROR" in err and state in err, f"an error and no more: {statement}", err)
alive("30 000 columns")
query("ALTER FOREIGN TABLE wide RENAME TO wider; ALTER FOREIGN TABLE wider DROP COLUMN c29997; CREATE VIEW of_wide AS SELECT c0 FROM wider; "
      "CREATE ROLE strom_owner; ALTER FOREIGN TABLE wider OWNER TO strom_owner; CREATE SCHEMA s; ALTER FOREIGN TABLE wider SET SCHEMA s; "
      "DROP FOREIGN TABLE s.wider CASCADE; DROP SCHEMA s; DROP OWNED BY strom_owner; DROP ROLE strom_owner", DB)
equal(query("SELECT count(*) FROM pg_attribute WHERE attrelid NOT IN (SELECT oid FROM pg_class)", DB), "0", "and goes as it came")
schema = pa.schema([pa.field(f"c{i}", pa.int8()) for i in range(32001)])
with pa.OSFile(str(wide), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
    pass
_, err = psql(f"SELECT pgstrom.arrow_fdw_import_file('wide', '{wide}')", DB)
ok("54011" in err and "32001" in err, "32 001 columns are too many", err)
alive("the end")
done()
