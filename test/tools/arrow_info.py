#!/usr/bin/env python3
"""arrow-info: reports, SQL, --validate of files with each kind of damage, --diff of files with each kind of difference."""
import json
import os
import pathlib
import shutil
import subprocess

import pyarrow as pa

from checks import done, equal, folder, ok, program, run, write_batches

OUT = folder("arrow_info")
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def info(*arguments, **options):
    return run("arrow-info", *arguments, **options)


def write(name, batches, schema=None):
    return write_batches(OUT / name, batches, schema)


def table(**columns):
    return pa.record_batch(list(columns.values()), names=list(columns))


def check_reports():
    schema = pa.schema([pa.field("k", pa.int32(), nullable=False, metadata={"min_values": "1", "max_values": "2"}),
                        pa.field("when", pa.timestamp("ms", tz="UTC")), pa.field("s", pa.struct([("x", pa.int8())]))],
                       metadata={"sql_command": "SELECT 1", "long": "y" * 500})
    path = write("report.arrow", [pa.record_batch([pa.array([1, 2], pa.int32()), pa.array([0, None], pa.timestamp("ms", tz="UTC")),
                                                   pa.array([{"x": 1}, None], pa.struct([("x", pa.int8())]))], schema=schema)])
    size = path.stat().st_size
    equal(info(path)[1], f"{path}: {size} bytes, 1 record batches, 2 rows, 3 columns\n"
          "  k Int32 not null\n  when Timestamp(ms,UTC)\n  s Struct<x: Int8>\n", "the short report")
    out = info("-bsm", path)[1]
    ok("    [0] 1 .. 2\n" in out, "statistics", out)
    ok('  sql_command: "SELECT 1"\n' in out and '" + 380 bytes\n' in out, "metadata", out)
    ok("RecordBatch[0]: offset=" in out and "nitems=2\n" in out, "record batches", out)
    report = json.loads(info("--json", path)[1])
    equal((report["rows"], report["bytes"], report["columns"][0]["statistics"], report["columns"][2]["readable"]),
          (2, size, [{"min": "1", "max": "2"}], True), "--json")
    equal(report["metadata"][0], {"key": "sql_command", "value": "SELECT 1"}, "--json metadata")
    equal(info("--create-table=shop.t", path)[1],
          'CREATE TABLE "shop"."t" (\n  "k" integer NOT NULL,\n  "when" timestamptz,\n  "s" jsonb\n);\n',
          "--create-table")
    equal(info("--create-foreign-table=t", "--create-table=u", path)[0], 2, "one statement at a time")
    odd = OUT / "it's.arrow"
    shutil.copy(path, odd)
    ok(f"SERVER arrow_fdw OPTIONS (file '{str(odd).replace(chr(39), chr(39) * 2)}');" in info("--create-foreign-table=t", odd)[1],
       "--create-foreign-table")
    for name in ("types", "odd_names"):
        script = info("--create-table=pg_temp.made", DATA / f"{name}.arrow")[1]
        made = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "postgres"], input=script, capture_output=True, text=True)
        equal((made.returncode, made.stderr), (0, ""), f"PostgreSQL takes the table of {name}.arrow")
    twice = write("twice.arrow", [pa.RecordBatch.from_arrays([pa.array([1])] * 3, names=["a", "a", "x" * 70])])
    ok('"a" bigint,\n  "a_1" bigint OPTIONS (field \'a#2\'),\n  "' + "x" * 63 + '" bigint OPTIONS' in
       info("--create-foreign-table=t", twice)[1], "names that are too long or there already")
    for arguments, message in (([], "no file to read; see arrow-info --help"), (["--diff", path], "--diff needs two files"),
                               (["--create-table=t", path, path], "--create-table and --create-foreign-table need one file"),
                               (["--only-values", path], "--only-values needs --diff")):
        equal(info(*arguments), (2, "", f"arrow-info: error: {message}\n"), f"usage error {arguments}")
    equal(info(OUT / "missing")[0], 1, "a missing file")
    closed = subprocess.run(f"{program('arrow-info')} --json {path} {path} | head -c 1", shell=True, capture_output=True)
    equal((closed.stdout, closed.stderr), (b"{", b""), "a closed pipe is silent")


def validate(path):
    status, out, err = info("--validate", path)
    return status, out.replace(f"{path}: ", "")


def check_validation():
    equal(validate(DATA / "types.arrow"), (0, "sound\n"), "a sound file")
    equal(validate(DATA / "unsupported.arrow"), (0, "sound, but for 1 columns that cannot be read\n"), "columns that cannot be read")
    equal(validate(DATA / "bad_offsets.arrow")[0], 1, "bad offsets")
    equal(validate(DATA / "bad_values.arrow"),
          (1, 'record batch 0, column "t", row 1: has a text that is not UTF-8, or has a zero byte\n'), "bad text")
    status, out = validate(DATA / "truncated.arrow")
    ok(status == 1 and "does not end with ARROW1" in out, "a file that was cut off", out)

    def forged(kind, values, *buffers):
        return pa.Array.from_buffers(kind, values, list(buffers))

    days = forged(pa.date64(), 2, None, pa.array([86400000, 5]).buffers()[1])
    equal(validate(write("days.arrow", [table(d=days)])), (1, 'record batch 0, column "d", row 1: has a date that is no whole day\n'), "date64")
    wide = forged(pa.decimal128(2, 0), 2, None, pa.array([5, 100], pa.int64()).cast(pa.decimal128(19, 0)).buffers()[1])
    equal(validate(write("digits.arrow", [table(d=wide)])), (1, 'record batch 0, column "d", row 1: has a number of more than 2 digits\n'), "decimal")
    nulls = pa.Array.from_buffers(pa.int32(), 3, [pa.py_buffer(b"\x05"), pa.array([1, 2, 3], pa.int32()).buffers()[1]], null_count=2)
    equal(validate(write("nulls.arrow", [table(n=nulls)])), (1, 'record batch 0, column "n": has 1 nulls and says that it has 2\n'), "null count")
    schema = pa.schema([pa.field("k", pa.int32(), metadata={"min_values": "1,1", "max_values": "2,1"})])
    lies = [pa.record_batch([pa.array(v, pa.int32())], schema=schema) for v in ([1, 2], [3])]
    equal(validate(write("lies.arrow", lies)),
          (1, 'record batch 1, column "k": has values from 3 to 3 (as stored) where its statistics say 1 to 1\n'), "statistics")
    status, out, err = info("--validate", DATA / "types.arrow", DATA / "truncated.arrow", DATA / "polars.arrow")
    equal((status, out.count(": sound\n")), (1, 2), "one bad file does not hide the others")


def diff(left, right, *options):
    status, out, err = info("--diff", left, right, *options)
    ok((status == 1) == (out != ""), "exit status of --diff", status, out, err)
    return out.splitlines()


def check_differences():
    base = table(k=pa.array([1, 2, None, 4]), t=pa.array(["a", "b", None, "d" * 100]), f=pa.array([1.0, float("nan"), 0.0, 2.0]),
                 b=pa.array([True, None, False, True]), d=pa.array([1, 2, 3, 4], pa.date32()))
    one = write("one.arrow", [base])
    cut = write("cut.arrow", [base.slice(0, 1), base.slice(1, 0), base.slice(1, 3)])
    equal(diff(one, cut), [], "record batches cut differently")
    equal(diff(DATA / "types.arrow", DATA / "types.arrow"), [], "a file and itself")
    changed = table(k=pa.array([1, 2, 3, 4]), t=pa.array(["a", "B", None, "d" * 100]), f=base.column("f"), b=pa.array([True, None, True, True]),
                    d=pa.array([1, 2, 3, 9], pa.date32()))
    equal(diff(one, write("changed.arrow", [changed])),
          ['column "k": 1 rows differ, first in row 3: null and 3', 'column "t": 1 rows differ, first in row 2: b and B',
           'column "b": 1 rows differ, first in row 3: f and t', 'column "d": 1 rows differ, first in row 4: 1970-01-05 and 1970-01-10'],
          "other values")
    equal(diff(cut, OUT / "changed.arrow")[0], 'column "k": 1 rows differ, first in row 3: null and 3', "and in cut batches")
    equal(diff(one, write("shorter.arrow", [base.slice(0, 3)])), ["rows: 4 and 3"], "other numbers of rows")
    other = table(t=base.column("t"), k=pa.array([1, 2, None, 4], pa.int32()), z=base.column("d"))
    lines = diff(one, write("other.arrow", [other]))
    for line in ('column "k": number 1 and 2', 'column "k": Int64 and Int32', 'column "f": only in the first file',
                 'column "z": only in the second file'):
        ok(line in lines, line, lines)
    described = base.replace_schema_metadata({"made": "by"})
    equal(diff(one, write("described.arrow", [described])), ['metadata of the file: key "made"'], "other metadata")
    equal(diff(one, OUT / "described.arrow", "--only-values"), [], "--only-values")
    copy = OUT / "copy.arrow"
    shutil.copy(one, copy)
    run("arrowstat", "--add", "--columns=k", copy)
    equal(diff(one, copy), ['column "k": key "max_values"', 'column "k": key "min_values"'], "statistics are metadata")
    dictionary = write("dictionary.arrow", [table(x=pa.array(["a"]).dictionary_encode())])
    equal(diff(dictionary, dictionary), [], "dictionary-encoded columns")
    plain = write("plain.arrow", [table(x=pa.array(["a"]))])
    equal(diff(dictionary, plain, "--only-values"), [], "their values beside plain ones")
    nested = write("nested.arrow", [table(x=pa.array([[1]]))])
    equal(diff(nested, nested), [], "lists")
    other = write("other_nested.arrow", [table(x=pa.array([[2]]))])
    equal(diff(nested, other), ['column "x": 1 rows differ, first in row 1: [1] and [2]'], "lists that differ")


def check_standard_input():
    """Files and streams of standard input, through a pipe and redirected."""
    base = table(k=pa.array(list(range(1000)), pa.int32()), t=pa.array([f"text {i}" for i in range(1000)]))
    path = write("input.arrow", [base.slice(0, 500), base.slice(500)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, base.schema) as writer:
        writer.write_batch(base.slice(0, 500))
        writer.write_batch(base.slice(500))
    stream = sink.getvalue().to_pybytes()
    for what, content in (("file", path.read_bytes()), ("stream", stream)):
        (OUT / "input").write_bytes(content)
        wanted = run("arrow-info", OUT / "input")
        for arguments in ((), ("--json",), ("--create-table=t",), ("--validate",), ("-b",)):
            wanted = run("arrow-info", *arguments, OUT / "input")
            found = run("arrow-info", *arguments, "-", input=content)
            equal((found[0], found[1].replace("standard input", "NAME").replace("-: sound", "NAME: sound"), found[2]),
                  (wanted[0], wanted[1].replace(str(OUT / "input"), "NAME"), wanted[2]), f"arrow-info {arguments} of a {what}")
            with open(OUT / "input", "rb") as redirected:
                equal(run("arrow-info", *arguments, "-", stdin=redirected), found, "redirected")
        equal(run("arrow-info", "--diff", path, "-", "--only-values", input=content), (0, "", ""), f"--diff with a {what}")
        equal(run("arrow2csv", "-", input=content), run("arrow2csv", path), f"arrow2csv of a {what}")
        equal(run("arrow2csv", path, "-", input=content)[1], 2 * run("arrow2csv", path)[1], f"beside a file")
    for content, message in ((b"", "standard input"), (stream[:100], "standard input"), (b"a,b\n1,2\n", "standard input")):
        status, out, err = run("arrow-info", "-", input=content)
        ok(status == 1 and message in err, f"not Arrow: {content[:10]}", status, err)
    status, out, err = run("arrow2csv", "-", "-", input=stream)
    ok(status == 1 and "can be read once only" in err, "twice", err)
    equal(run("arrow-info", "--create-foreign-table=t", "-", input=stream)[0], 2, "no foreign table over a pipe")


check_reports()
check_validation()
check_differences()
check_standard_input()
done()
