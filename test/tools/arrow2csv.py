#!/usr/bin/env python3
"""arrow2csv: values against PostgreSQL's own COPY and row_to_json and against Python, options, damaged files, outputs."""
import csv
import datetime
import decimal
import io
import os
import pathlib
import random
import resource
import signal
import subprocess

import pyarrow as pa
import pyarrow.ipc as ipc

from checks import done, equal, folder, leftovers, ok, program, query, run, start, wait_until, write_batches, writes_into

OUT = folder("arrow2csv")
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
rng = random.Random(20)
EPOCH = datetime.datetime(1970, 1, 1)


def arrow2csv(*arguments, **options):
    return run("arrow2csv", *arguments, **options)


def write(name, batches, schema=None):
    return write_batches(OUT / name, batches, schema)


def text():
    return rng.choice(["", "NULL", "\\N", "\\.", " ", "a,b", 'say "hi"', "tab\there", "line\nbreak", "cr\rlf\r\n", "back\\slash",
                       "äöü €", "😀" * 5, "x" * rng.randint(0, 60), "\x01\x1f\x7f", "|", "null", "'", ";", "{}", "\v\f\b"])


def micros(low, high):
    return rng.randint(low, high) if rng.random() < 0.8 else rng.choice([low, high, 0, -1, 1])


# Lowest and highest values that PostgreSQL can read back, in microseconds since 1970.
FIRST, LAST = -210866803200000000, 9223371331200000000 - 946684800000000


counter = iter(range(10**9))
TYPES = {
    "n": (pa.int32(), lambda: next(counter)),  # the order of the rows, which a table does not keep
    "b": (pa.bool_(), lambda: rng.random() < 0.5),
    "i1": (pa.int8(), lambda: rng.randint(-128, 127)),
    "i2": (pa.int16(), lambda: rng.choice([-32768, 32767, rng.randint(-999, 999)])),
    "i4": (pa.int32(), lambda: rng.choice([-2**31, 2**31 - 1, rng.randint(-10**9, 10**9), rng.randint(-99, 99)])),
    "i8": (pa.int64(), lambda: rng.choice([-2**63, 2**63 - 1, rng.randint(-10**18, 10**18), rng.randint(-9, 9)])),
    "u1": (pa.uint8(), lambda: rng.randint(0, 255)),
    "u2": (pa.uint16(), lambda: rng.randint(0, 65535)),
    "u4": (pa.uint32(), lambda: rng.randint(0, 2**32 - 1)),
    "f4": (pa.float32(), lambda: rng.choice([0.0, -0.0, 1.5, 1e30, float("inf"), float("nan"), rng.uniform(-10**6, 10**6)])),
    "f8": (pa.float64(), lambda: rng.choice([0.0, -0.0, 0.1, 1e300, -5e-324, 1e15, 123456789012345.0, float("-inf"),
                                             float("nan"), rng.uniform(-1, 1), rng.randint(0, 10**7) / 100])),
    "d9": (pa.decimal32(9, 3), lambda: decimal.Decimal(rng.choice([999999999, -999999999, 0, 7])).scaleb(-3)),
    "d18": (pa.decimal64(18, 4), lambda: decimal.Decimal(rng.choice([10**18 - 1, 1 - 10**18, 0, -50])).scaleb(-4)),
    "d2": (pa.decimal128(10, 2), lambda: decimal.Decimal(rng.randint(-10**10 + 1, 10**10 - 1)).scaleb(-2)),
    "d0": (pa.decimal128(38, 0), lambda: decimal.Decimal(rng.choice([10**38 - 1, -10**38 + 1, 0, rng.randint(0, 10**20)]))),
    "d38": (pa.decimal128(38, 38), lambda: decimal.Decimal(rng.choice([10**38 - 1, 1, 0])).scaleb(-38, decimal.Context(prec=80))),
    "date": (pa.date32(), lambda: rng.choice([-2440588, 2145042905, 0, rng.randint(-719162, 100000)])),
    "date64": (pa.date64(), lambda: 86400000 * rng.randint(-719162, 100000)),
    "ts0": (pa.timestamp("s"), lambda: micros(-62135596800, 4102444800)),
    "ts3": (pa.timestamp("ms"), lambda: micros(-62135596800000, 4102444800000)),
    "ts6": (pa.timestamp("us"), lambda: micros(FIRST, LAST)),
    "tz": (pa.timestamp("us", tz="Europe/Paris"), lambda: micros(FIRST, LAST)),
    "s": (pa.string(), text),
    "ls": (pa.large_string(), text),
    "sv": (pa.string_view(), text),
    "fb": (pa.binary(4), lambda: rng.choice([b"ab  ", b"abcd", b",\"\n ", b"    "])),
}


def column(kind, make, rows, nulls):
    values = [None if make is not TYPES["n"][1] and rng.random() < nulls else make() for _ in range(rows)]
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).view(kind)
    if pa.types.is_date64(kind) or pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).view(kind)
    return pa.array(values, kind)


def batch(rows, nulls):
    fields = [pa.field(name, kind, metadata={"pg_type": "pg_catalog.bpchar"} if name == "fb" else None)
              for name, (kind, _) in TYPES.items()]
    return pa.record_batch([column(kind, make, rows, nulls) for kind, make in TYPES.values()], schema=pa.schema(fields))


SAMPLE = write("sample.arrow", [batch(700, 0.3), batch(0, 0), batch(1, 0), batch(1300, 0), batch(50, 1)])


def python_text(kind, value):
    """What a value must look like, as far as Python can tell without imitating PostgreSQL."""
    if pa.types.is_boolean(kind):
        return "t" if value else "f"
    if pa.types.is_decimal(kind):
        return format(value, "f")
    if pa.types.is_date(kind):
        return value.isoformat()
    if pa.types.is_timestamp(kind):
        zone = "" if value.tzinfo is None else "+00"
        shown = value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        shown = shown.isoformat(sep=" ")
        return (shown.rstrip("0") if "." in shown else shown) + zone
    if pa.types.is_fixed_size_binary(kind):
        return value.decode()
    return str(value)


def check_against_python():
    out = arrow2csv(SAMPLE, "--null=<null>", binary=True)[1].decode()
    rows = list(csv.reader(io.StringIO(out, newline="")))
    wrong = []
    with ipc.open_file(SAMPLE) as reader:
        table = reader.read_all()
    equal(len(rows), table.num_rows, "every row is there")
    for i, name in enumerate(TYPES):
        kind = table.schema.field(name).type
        for row, scalar in enumerate(table.column(name)):
            found = rows[row][i]
            if not scalar.is_valid:
                good = found == "<null>"
            elif pa.types.is_floating(kind):
                value = scalar.as_py()
                read = float(found)
                if pa.types.is_float32(kind):
                    read = pa.scalar(read, pa.float32()).as_py()
                good = found == "NaN" if value != value else read == value
            else:
                try:
                    good = found == python_text(kind, scalar.as_py())
                except (ValueError, OverflowError):  # beyond Python's calendar
                    good = True
            if not good:
                wrong.append((name, row, str(scalar), found))
    equal(wrong[:5], [], "values as Python has them")


def psql(script, *options):
    result = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *options, "-d", "postgres"], input=script,
                            capture_output=True, env={**os.environ, "PGTZ": "UTC", "PGCLIENTENCODING": "UTF8",
                                                      "PGDATESTYLE": "ISO"})
    return result.stdout.decode(), result.stderr.decode()


def check_against_postgres():
    """What COPY reads of our text, it writes as the same text."""
    for form, options, copy in (
            ("csv", [], "(FORMAT csv)"),
            ("csv", ["--quote-all", "--delimiter=;", "--null=~"], "(FORMAT csv, DELIMITER ';', FORCE_QUOTE *, NULL '~')"),
            ("csv", ["--null=0", "--quote='"], "(FORMAT csv, NULL '0', QUOTE '''')"),
            ("tsv", [], "(FORMAT text)"),
            ("tsv", ["--delimiter=|", "--null="], "(FORMAT text, DELIMITER '|', NULL '')")):
        name = f"{form} {' '.join(options)}"
        wanted = arrow2csv(f"--{form}", *options, SAMPLE, binary=True)[1]
        (OUT / "rows.txt").write_bytes(wanted)
        create = run("arrow-info", "--create-table=pg_temp.sample", SAMPLE, binary=True)[1]
        out, err = psql(create + f"\\copy pg_temp.sample from '{OUT}/rows.txt' WITH {copy.replace('FORCE_QUOTE *, ', '')}\n".encode() +
                        f"COPY (SELECT * FROM pg_temp.sample ORDER BY n) TO STDOUT WITH {copy};\n".encode())
        equal(err, "", f"{name}: PostgreSQL reads it")
        equal(out == wanted.decode(), True, f"{name}: and writes the same")
    script = arrow2csv("--create-table=pg_temp.sample", SAMPLE, binary=True)[1]
    out, err = psql(script + b"SELECT row_to_json(whole) FROM pg_temp.sample whole ORDER BY n;\n")
    equal(err, "", "ndjson: PostgreSQL makes its own")
    found = arrow2csv("--ndjson", SAMPLE, binary=True)[1].decode()
    if not equal(found == out, True, "ndjson: as row_to_json has it"):
        print(next((f"{a}\n{b}" for a, b in zip(found.split("\n"), out.split("\n")) if a != b), ""))


def check_many_floats():
    values = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-320, 308) for _ in range(20000)]
    values += [float(rng.randint(0, 2**63)) for _ in range(5000)] + [2.0 ** e for e in range(-1074, 1024)]
    narrow = [v if abs(v) < 3e38 else 0 for v in values]
    path = write("floats.arrow", [pa.record_batch([pa.array(values, pa.float64()), pa.array(narrow, pa.float32()),
                                                   pa.array(range(len(values)))], names=["f8", "f4", "n"])])
    script = arrow2csv("--create-table=pg_temp.floats", path, binary=True)[1]
    out, err = psql(script + b"COPY (SELECT * FROM pg_temp.floats ORDER BY n) TO STDOUT WITH (FORMAT csv);\n")
    equal((out == arrow2csv(path)[1], err), (True, ""), "floats as PostgreSQL prints them")


def check_options():
    small = write("small.arrow", [pa.record_batch([pa.array([1, 2, 3]), pa.array(["a", None, "c,d"])], names=["k", 'v "x"']),
                                  pa.record_batch([pa.array([4]), pa.array([""])], names=["k", 'v "x"'])])
    equal(arrow2csv(small), (0, '1,a\n2,\n3,"c,d"\n4,""\n', ""), "plain")
    equal(arrow2csv("--header", small)[1], 'k,"v ""x"""\n1,a\n2,\n3,"c,d"\n4,""\n', "--header")
    equal(arrow2csv("--tsv", "--header", small)[1], 'k\tv "x"\n1\ta\n2\t\\N\n3\tc,d\n4\t\n', "--tsv")
    equal(arrow2csv("--markdown", small)[1],
          '| k | v "x" |\n|---:|---|\n| 1 | a |\n| 2 |  |\n| 3 | c,d |\n| 4 |  |\n', "--markdown")
    equal(arrow2csv("--format=ndjson", "--limit=1", small)[1], '{"k":1,"v \\"x\\"":"a"}\n', "--format=ndjson")
    equal(arrow2csv("--offset=2", "--limit=1", small)[1], '3,"c,d"\n', "--offset and --limit")
    equal(arrow2csv("--offset=3", small, small, "--limit=2")[1], '4,""\n1,a\n', "rows of two files")
    equal(arrow2csv("--offset=99", small), (0, "", ""), "no rows are left")
    equal(arrow2csv("--limit=0", "--header", "--columns=k", small)[1], "k\n", "no rows are wanted")
    equal(arrow2csv('--columns="v ""x""",k', "--limit=1", small)[1], "a,1\n", "--columns")
    equal(arrow2csv("-d", "\\t", "--limit=1", small)[1], "1\ta\n", "--delimiter")
    equal(arrow2csv("--create-table=s.t", "--columns=k", "--limit=1", "--tablespace=fast", small)[1],
          'CREATE TABLE "s"."t" (\n  "k" bigint\n) TABLESPACE "fast";\nCOPY "s"."t" ("k") FROM stdin '
          "WITH (ENCODING 'UTF8');\n1\n\\.\n", "--create-table")
    ok('PARTITION OF "p" FOR VALUES IN (1);' in
       arrow2csv("--create-table=t", "--partition-of=p FOR VALUES IN (1)", small)[1], "--partition-of")
    equal(arrow2csv("--meta", small)[1], run("arrow-info", "-bsm", small)[1], "--meta")
    for arguments, message in (
            ([], "no file to read; see arrow2csv --help"),
            (["--tablespace=x", small], "--tablespace and --partition-of need --create-table"),
            (["--create-table=x", "--ndjson", small], "--ndjson and --create-table exclude each other"),
            (["--create-table=x", "--header", small], "--header and --create-table exclude each other"),
            (["--csv", "--tsv", small], "--csv and --tsv exclude each other"),
            (["--tsv", "--quote-all", small], "--quote and --quote-all need CSV"),
            (["--markdown", "-d;", small], "--delimiter needs CSV or TSV"),
            (["--delimiter=ab", small], "--delimiter takes one character of ASCII"),
            (["--delimiter=5", small], "this character cannot separate values"),
            (["--null=a,b", small], "the text for null cannot have line ends, nor the characters that separate and quote values"),
            (["--limit=-1", small], "--limit: -1 is not between 0 and 9223372036854775807")):
        status, out, err = arrow2csv(*arguments)
        equal((status, out, err.split("\n")[0]), (2, "", "arrow2csv: error: " + message), f"usage error {arguments}")
    status, out, err = arrow2csv("--columns=kk", small)
    ok(status == 1 and 'has no column "kk"' in err and 'There is a column "k".' in err, "an unknown column", err)
    other = write("other.arrow", [pa.record_batch([pa.array([1])], names=["z"])])
    status, out, err = arrow2csv(small, other)
    ok(status == 1 and out == "" and "has other columns than" in err, "files of other columns", err)
    nothing = write("nothing.arrow", [], pa.schema([]))
    equal(arrow2csv(nothing), (0, "", ""), "a file without columns")
    empty = write("empty.arrow", [], pa.schema([("a", pa.int32())]))
    equal(arrow2csv("--header", empty), (0, "a\n", ""), "a file without batches")
    binary = write("binary.arrow", [pa.record_batch([pa.array([b"\x00\xff"], pa.binary(2))], names=["x"])])
    status, out, err = arrow2csv(binary)
    ok(status == 1 and "holds bytes that are no text" in err and "--binary=hex" in err, "bytes that are no text", err)
    equal(arrow2csv("--binary=hex", binary)[1], "\\x00ff\n", "--binary=hex")


def check_sizes():
    wide = write("wide.arrow", [pa.record_batch([pa.array([i, None, -i]) for i in range(400)],
                                                names=[f"c{i}" for i in range(400)])])
    equal(arrow2csv(wide)[1], ",".join(map(str, range(400))) + "\n" + "," * 399 + "\n" +
          ",".join(str(-i) for i in range(400)) + "\n", "400 columns")
    long = "ab\"c" * 5_000_000
    path = write("long.arrow", [pa.record_batch([pa.array([long, "x", long])], names=["t"])])
    equal(arrow2csv(path)[1] == f'"{long.replace(chr(34), chr(34) * 2)}"\nx\n' + f'"{long.replace(chr(34), chr(34) * 2)}"\n',
          True, "texts of 20 MB")
    many = write("many.arrow", [pa.record_batch([pa.array(range(b * 100000, (b + 1) * 100000)), pa.array(["abc"] * 100000)],
                                                names=["k", "t"]) for b in range(8)])
    wanted = "".join(f"{i},abc\n" for i in range(800000))
    for threads in (1, 2, 7):
        equal(arrow2csv("-n", threads, many)[1] == wanted, True, f"rows are in order with {threads} threads")
    return many


def check_bad_files():
    for name in ("empty_file", "truncated", "wrong_magic"):
        status, out, err = arrow2csv(DATA / f"{name}.arrow", "-o", OUT / "bad.csv")
        ok(status == 1 and out == "" and err.startswith("arrow2csv: error: "), f"{name}.arrow is refused", err)
        ok(not (OUT / "bad.csv").exists(), f"{name}.arrow makes no file")
    status, out, err = arrow2csv(DATA / "bad_offsets.arrow", "-o", OUT / "bad.csv")
    ok(status == 1 and "record batch 0" in err and "outside of its column's buffer" in err, "bad offsets", err)
    ok(not (OUT / "bad.csv").exists() and leftovers(OUT) == [], "bad offsets make no file")
    status, out, err = arrow2csv(DATA / "unsupported.arrow")
    ok(status == 1 and "type FixedSizeBinary(0)" in err and "--columns" in err, "a column that cannot be read", err)
    equal(arrow2csv("--columns=k", DATA / "unsupported.arrow")[0], 0, "beside others that can")
    status, out, err = arrow2csv(OUT / "missing.arrow")
    ok(status == 1 and "No such file or directory" in err, "a missing file", err)
    status, out, err = arrow2csv(OUT)
    ok(status == 1 and "not a regular file" in err, "a folder", err)
    status, out, err = arrow2csv("/dev/stdin", stdin=subprocess.PIPE)
    ok(status == 1 and "not a regular file" in err, "a pipe as input", err)
    content = (OUT / "small.arrow").read_bytes()
    for i in range(300):  # any byte changed: an answer or an error, no crash
        damaged = bytearray(content)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        (OUT / "damaged.arrow").write_bytes(damaged)
        status = arrow2csv("--ndjson", OUT / "damaged.arrow")[0]
        if status not in (0, 1):
            ok(False, f"damaged file {i} ends with {status}")


def check_outputs(many):
    target = OUT / "out.csv"
    equal(arrow2csv(many, "-o", target)[0], 0, "a file is written")
    equal(target.read_text() == "".join(f"{i},abc\n" for i in range(800000)), True, "with every row")
    status, out, err = arrow2csv(many, "-o", target)
    ok(status == 1 and "exists" in err, "an existing file stays", err)
    equal(arrow2csv("--limit=1", many, "-o", target, "-f")[0], 0, "-f replaces it")
    equal(target.read_text(), "0,abc\n", "with the new rows")
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))}
    status, out, err = arrow2csv(many, "-o", target, "-f", **limited)
    ok(status == 1 and "File too large" in err, "no room", err)
    equal((target.read_text(), leftovers(OUT)), ("0,abc\n", []), "leaves the old file")
    with open("/dev/full", "w") as full:
        result = subprocess.run([program("arrow2csv"), many], stdout=full, stderr=subprocess.PIPE)
    ok(result.returncode == 1 and b"No space left" in result.stderr, "a full disk", result.stderr)
    head = subprocess.run(f"{program('arrow2csv')} {many} | head -n 2", shell=True, capture_output=True)
    equal((head.stdout, head.stderr), (b"0,abc\n1,abc\n", b""), "a closed pipe is silent")
    for number in (signal.SIGTERM, signal.SIGINT):
        process = start("arrow2csv", *[many] * 200, "-o", target, "-f")
        wait_until(lambda: writes_into(process, OUT))
        process.send_signal(number)
        process.communicate()
        equal((process.returncode, target.read_text(), leftovers(OUT)), (128 + number, "0,abc\n", []),
              f"{number.name} leaves the old file")
    status, out, err = arrow2csv(many, "-o", OUT / "progress.csv", "--progress=json")
    ok('"event": "done", "rows": 800000' in err, "--progress=json", err)


check_against_python()
check_against_postgres()
check_many_floats()
check_options()
check_bad_files()
check_outputs(check_sizes())
done()
