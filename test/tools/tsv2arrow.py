#!/usr/bin/env python3
"""tsv2arrow: text of PostgreSQL, of arrow2csv and by hand, compared with what other readers make of it; inference, errors."""
import csv
import datetime
import decimal
import gzip
import io
import math
import random

import pyarrow as pa
import pyarrow.csv as pacsv

from checks import done, equal, folder, fresh_database, leftovers, ok, query, run

OUT = folder("tsv2arrow")
DB = fresh_database("strom_tsv2arrow")


def read(path):
    return pa.ipc.open_file(str(path)).read_all()


def write(text, name="in.csv"):
    path = OUT / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def converted(text, *options, name="in.csv"):
    status, out, err = run("tsv2arrow", write(text, name), *options, "-o", OUT / "out.arrow", "-f")
    if not ok((status, err) == (0, ""), f"tsv2arrow {options} {str(text)[:60]!r}", status, err):
        return pa.table({"failed": []})
    return read(OUT / "out.arrow")


def fails(wanted_status, message, text, *options, name=None, file="in.csv"):
    status, out, err = run("tsv2arrow", write(text, file), *options, "-o", OUT / "x.arrow")
    ok(status == wanted_status and message in err and err.startswith("tsv2arrow: error: "), name or f"fails: {text!r} {options}", status, err)
    ok(not (OUT / "x.arrow").exists(), "and leaves no file")


# Quotes, delimiters, line ends.
equal(converted("a,b\n1,x\n2,\"y,\"\"z\"\"\nnext\"\n").to_pydict(), {"a": [1, 2], "b": ["x", 'y,"z"\nnext']}, "quotes")
equal(converted("a,b\r\n1,x\r\n2,\"y\"\r\n").to_pydict(), {"a": [1, 2], "b": ["x", "y"]}, "lines that end with CR and LF")
equal(converted("a,b\n1,x").to_pydict(), {"a": [1], "b": ["x"]}, "no line end at the end")
equal(converted("a\n\n\"\"\nx\n").to_pydict(), {"a": [None, "", "x"]}, "nothing is NULL, empty quotes are not")
equal(converted("\ufeffa\n1\n").to_pydict(), {"a": [1]}, "a mark of UTF-8")
equal(converted("").to_pydict(), {}, "an empty file")
equal(converted("a;b\n'x;y';1\n", "--csv", "--delimiter=;", "--quote='").to_pydict(), {"a": ["x;y"], "b": [1]}, "--delimiter, --quote")
equal(converted("a,b\nNA,1\n-,NA\n\"NA\",2\n", "--null=NA", "--null=-").to_pydict(), {"a": [None, None, "NA"], "b": [1, None, 2]}, "--null")
for text, options, column, type, message in (
        ("a,b\n1,x\n-2,y\nNA,z\n", (), "a", pa.string(), """column "a" is text because of "NA" in line 4 of "{}"; --null='' --null='NA' makes it Int64"""),
        ("a,b\nn/a,x\n1.5,y\n", ("--null=-",), "a", pa.string(),
         """column "a" is text because of "n/a" in line 2 of "{}"; --null='-' --null='n/a' makes it Decimal128(2,1)"""),
        ("a,b\nNA,x\nNA,y\n", (), "a", pa.string(), ""), ("a,b\nNA,1\nN/A,y\n", (), "a", pa.string(), ""),
        ("a,b\n1,x\n\"NA\",y\n", (), "a", pa.string(), ""), ("a,b\n1,NA\n2,y\n", (), "b", pa.string(), "")):
    status, out, err = run("tsv2arrow", write(text), *options, "-o", OUT / "out.arrow", "-f")
    wanted = f"tsv2arrow: warning: {message.format(OUT / 'in.csv')}\n" if message else ""
    equal((status, err, read(OUT / "out.arrow").schema.field(column).type), (0, wanted, type), f"a word for NULL: {text!r}")
long_text = "a\n" + "1\n" * 3_000_000 + "NA\n2\n"
status, out, err = run("tsv2arrow", write(long_text), "-o", OUT / "out.arrow", "-f")
ok(status == 0 and err.count("warning") == 1 and "line 3000002 " in err and "Int64" in err, "a word that is found late", err)
equal(converted("1,2\n3,4\n", "--no-header").to_pydict(), {"c1": [1, 3], "c2": [2, 4]}, "--no-header")
equal(converted("a\tb\n1\tx\\ty\\\\\\n\\N\n\\N\t\\x41\\101\\\tz\n", name="in.tsv").to_pydict(), {"a": [1, None], "b": ["x\ty\\\nN", "AA\tz"]}, "TSV")
equal(converted("1\t\\N\n", "--schema=a:int32,b:text", name="in.tsv").to_pydict(), {"a": [1], "b": [None]}, "TSV with --schema has no header")

# Inference.
for values, kind, wanted in (
        (["1", "-5", "9223372036854775807"], pa.int64(), [1, -5, 2**63 - 1]),
        (["1", "9223372036854775808"], pa.decimal128(19, 0), [decimal.Decimal(1), decimal.Decimal(2**63)]),
        (["1.5", "-10", "0.25"], pa.decimal128(4, 2), [decimal.Decimal("1.50"), decimal.Decimal("-10.00"), decimal.Decimal("0.25")]),
        (["9" * 40, "0.5"], pa.decimal256(41, 1), [decimal.Decimal("9" * 40 + ".0"), decimal.Decimal("0.5")]),
        (["1.5", "2e10", "inf"], pa.float64(), [1.5, 2e10, math.inf]),
        (["007", "1"], pa.string(), ["007", "1"]),
        (["9" * 80], pa.string(), ["9" * 80]),
        (["true", "false"], pa.bool_(), [True, False]),
        (["t", "f"], pa.bool_(), [True, False]),
        (["true", "1"], pa.string(), ["true", "1"]),
        (["2024-02-29", "0001-01-01"], pa.date32(), [datetime.date(2024, 2, 29), datetime.date(1, 1, 1)]),
        (["2024-02-30"], pa.string(), ["2024-02-30"]),
        (["2024-02-29 01:02:03.5", "2024-02-29T01:02"], pa.timestamp("us"),
         [datetime.datetime(2024, 2, 29, 1, 2, 3, 500000), datetime.datetime(2024, 2, 29, 1, 2)]),
        (["2024-02-29 01:02:03+02", "2024-02-29T01:02:03Z"], pa.timestamp("us", "UTC"), None),
        (["2024-02-29 01:02:03+02", "2024-02-29 01:02:03"], pa.string(), None),
        (["2024-02-29 01:02:03.123456789", "2262-01-01 00:00:00"], pa.timestamp("ns"), None),
        (["2024-02-29 01:02:03.123456789", "9999-01-01 00:00:00"], pa.string(), None),
        (["01:02:03", "23:59:59.999999"], pa.time64("us"), [datetime.time(1, 2, 3), datetime.time(23, 59, 59, 999999)]),
        (["", ""], pa.string(), [None, None]),
        (["x", "1"], pa.string(), ["x", "1"])):
    table = converted("a,b\n" + "".join(f"{v},1\n" for v in values))
    equal((table.schema.field(0).type, table.column(0).to_pylist()), (kind, wanted if wanted is not None else table.column(0).to_pylist()), f"inferred from {values}")
equal(converted("a\n1.5\n2\n", "--numeric=float64").schema.field(0).type, pa.float64(), "--numeric=float64")
late = "a,b\n" + "1,x\n" * 6_000_000 + "1.5,y\n" + "2,z\n" * 10
table = converted(late, "-n", 4, "-s", "4m")
equal((table.schema.field(0).type, table.num_rows, table.column(0)[6_000_000].as_py()), (pa.decimal128(2, 1), 6_000_011, decimal.Decimal("1.5")), "a late value of another type")
ok(converted(late, "--infer-all").column(0).combine_chunks().equals(table.column(0).combine_chunks()), "--infer-all is the same")

# Types that are given.
SCHEMA = ("a:int8,b:int16,c:int32,d:int64,e:uint8,f:uint16,g:uint32,h:uint64,i:float4,j:float8,k:decimal(5,2),l:decimal256(60,10),m:date,n:date-ms,o:time-sec,p:time-ms,"
          "q:time-us,r:time-ns,s:timestamp-sec,t:timestamp-ms,u:timestamp-us,v:timestamp-ns,w:timestamptz,x:bool,y:utf8,z:binary")
LOW = ("-128,-32768,-2147483648,-9223372036854775808,0,0,0,0,-1.5,1e-300,-999.99,-" + "9" * 50 + ".5,0001-01-01,0001-01-01,00:00:00,00:00:00.001,00:00:00.000001,00:00:00.000000001,"
       "0001-01-01 00:00:00,0001-01-01 00:00:00.001,0001-01-01 00:00:00.000001,1700-01-01 00:00:00.000000001,0001-01-01 00:00:00-01,f,,")
HIGH = ("127,32767,2147483647,9223372036854775807,255,65535,4294967295,18446744073709551615,inf,NaN,999.99,1,9999-12-31,9999-12-31,23:59:59,23:59:59.999,23:59:59.999999,"
        "23:59:59.999999999,9999-12-31 23:59:59,9999-12-31 23:59:59.999,9999-12-31 23:59:59.999999,2200-01-01 00:00:00.999999999,9999-12-31 22:59:59Z,yes,ä😀,x")
table = converted(f"{LOW}\n{HIGH}\n", "--schema", SCHEMA, "--stats")
types = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(5, 2),
         pa.decimal256(60, 10), pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ms"),
         pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.bool_(), pa.string(), pa.binary()]
equal(table.schema.types, types, "every type")
equal([table.column(i).to_pylist() for i in range(8)], [[-2**7, 2**7 - 1], [-2**15, 2**15 - 1], [-2**31, 2**31 - 1], [-2**63, 2**63 - 1], [0, 2**8 - 1], [0, 2**16 - 1],
                                                         [0, 2**32 - 1], [0, 2**64 - 1]], "integers")
equal(table.column("l").to_pylist(), [decimal.Decimal("-" + "9" * 50 + ".5000000000"), decimal.Decimal("1.0000000000")], "a wide decimal")
equal(table.column("r").cast(pa.int64()).to_pylist(), [1, 86399999999999], "nanoseconds")
equal([v.cast(pa.int64()).to_pylist() for v in (table.column("s"), table.column("v"))],
      [[-62135596800, 253402300799], [-8520336000000000000 + 1, 7258118400999999999]], "timestamps")
equal(table.column("z").to_pylist(), [None, b"x"], "binary")
equal((table.schema.field("a").metadata[b"min_values"], table.schema.field("j").metadata[b"min_values"]), (b"-128", b"null"), "--stats; none with NaN")
schema = converted("1\n", '--schema="a ""b,:c":int32:not_null;k=v', "-m", "x=y").schema
equal((schema.field(0), schema.field(0).metadata, schema.metadata), (pa.field('a "b,:c', pa.int32(), False), {b"k": b"v"}, {b"x": b"y"}), "names, not_null, metadata")
equal(converted("a\n1\n", "--schema=x:int32", "--skip-header").to_pydict(), {"x": [1]}, "--skip-header")

# Errors name line and column.
fails(1, '"x" is no Int32 in line 3 of', "1\n2\nx\n", "--schema=a:int32")
fails(1, 'column "a"', "1\n2\nx\n", "--schema=a:int32")
fails(1, '"300" is outside of the range of UInt8 in line 2', "1\n300\n", "--schema=a:uint8")
fails(1, '"-1" is outside of the range of UInt8', "-1\n", "--schema=a:uint8")
fails(1, '"1.234" has more decimal places than Decimal128(5,2)', "1.234\n", "--schema=a:decimal(5,2)")
fails(1, '"1234" is outside of the range of Decimal128(5,2)', "1234\n", "--schema=a:decimal(5,2)")
fails(1, '"00:00:00.5" has more decimal places', "00:00:00.5\n", "--schema=a:time-sec")
fails(1, '"2023-02-29" is outside of the range', "2023-02-29\n", "--schema=a:date")
fails(1, '"24:00" is outside of the range', "24:00\n", "--schema=a:time")
fails(1, "line 4 of", 'a,b\n"1\n2",3\n4\n', name="lines within quotes count")
fails(1, "has 1 values instead of 2", "a,b\n1\n")
fails(1, "has 3 values instead of 2", "a,b\n1,2,3\n")
fails(1, "do not end", 'a\n"1\n')
fails(1, "NULL in line 1", "\n", "--schema=a:int32:not_null")
fails(1, "not valid UTF-8 in line 2", b"a\n\xff\n")
fails(2, "is no type", "1\n", "--schema=a:foo")
fails(2, "is not NAME:TYPE", "1\n", "--schema=a")
fails(2, "no possible precision", "1\n", "--schema=a:decimal(50,60)")
fails(2, "--skip-header goes with --schema", "1\n", "--skip-header")
equal(run("tsv2arrow", OUT / "none.csv", "-o", OUT / "x.arrow")[0], 1, "no such file")
equal(run("tsv2arrow", "-o", OUT / "x.arrow")[0], 2, "no file")

# Several files, standard input, parts, appending.
write("a,b\n1,x\n2,y\n", "one.csv")
write("a,b\n3,z\n", "two.csv")
equal(run("tsv2arrow", OUT / "one.csv", OUT / "two.csv", "-o", OUT / "out.arrow", "-f")[0], 0, "two files")
equal(read(OUT / "out.arrow").to_pydict(), {"a": [1, 2, 3], "b": ["x", "y", "z"]}, "one after the other")
write("b,a\n3,z\n", "two.csv")
ok("has other columns than the first one" in run("tsv2arrow", OUT / "one.csv", OUT / "two.csv", "-o", OUT / "out.arrow", "-f")[2], "files that differ")
equal(run("tsv2arrow", "--csv", "-", "-o", OUT / "out.arrow", "-f", input=b"a\n5\n")[0], 0, "standard input")
equal(read(OUT / "out.arrow").to_pydict(), {"a": [5]}, "has its rows")
many = "a,b\n" + "".join(f"{i},\"r\n{i}\"\n" for i in range(100000))
for options in (["-n", 1], ["-n", 3, "-s", "64k"], ["-n", 8, "-s", "10k", "-C", "zstd"]):
    table = converted(many, *options)
    ok(table.column("a").to_pylist() == list(range(100000)) and table.column("b")[99999].as_py() == "r\n99999", f"rows in order with {options}")
ok(pa.ipc.open_file(str(OUT / "out.arrow")).num_record_batches > 20, "in many record batches")
equal(converted(many, "--offset=10", "--limit=5", "-s", "1k").column("a").to_pylist(), [10, 11, 12, 13, 14], "--offset, --limit")
equal(converted(many, "--limit=0").num_rows, 0, "--limit=0")
equal(run("tsv2arrow", OUT / "one.csv", "-o", OUT / "base.arrow", "--stats")[0], 0, "a file to append to")
write("a,b\n7,8\n", "more.csv")
equal(run("tsv2arrow", OUT / "more.csv", "--append", OUT / "base.arrow")[::2], (0, ""), "--append takes the file's types")
equal((read(OUT / "base.arrow").to_pydict(), read(OUT / "base.arrow").schema.field("a").metadata[b"max_values"]), ({"a": [1, 2, 7], "b": ["x", "y", "8"]}, b"2,7"), "and goes on with it")

rng = random.Random(11)

# Compressed, by its first bytes: files of any name, standard input, several parts one after the other.
PLAIN = "a,b\n" + "".join(f"{i},text {i * 7919 % 1000}\n" for i in range(200000))
WANTED = {"a": list(range(200000)), "b": [f"text {i * 7919 % 1000}" for i in range(200000)]}
CODECS = {"gz": gzip.compress, "zst": pa.Codec("zstd").compress, "lz4": pa.Codec("lz4").compress}
for ending, compress in CODECS.items():
    packed = bytes(compress(PLAIN.encode()))
    (OUT / f"packed.csv.{ending}").write_bytes(packed)
    (OUT / "packed").write_bytes(packed)
    for arguments, stdin in (([OUT / f"packed.csv.{ending}"], None), (["--csv", OUT / "packed"], None), (["--csv", "-"], packed)):
        status, out, err = run("tsv2arrow", *arguments, "-o", OUT / "out.arrow", "-f", "-s", "64k", input=stdin)
        ok((status, err) == (0, "") and read(OUT / "out.arrow").to_pydict() == WANTED, f"{arguments} of {ending}", status, err)
    half = len(PLAIN) // 2
    parts = b"".join(bytes(compress(part.encode())) for part in (PLAIN[:half], PLAIN[half:], ""))
    status, out, err = run("tsv2arrow", "--csv", "-", "-o", OUT / "out.arrow", "-f", input=parts)
    ok((status, err) == (0, "") and read(OUT / "out.arrow").to_pydict() == WANTED, f"parts of {ending}", status, err)
    for cut in (len(packed) - 1, len(packed) - 6, len(packed) // 2, 12):
        status, out, err = run("tsv2arrow", "--csv", "-", "-o", OUT / "x.arrow", input=packed[:cut])
        ok(status == 1 and "could not decompress standard input" in err and not (OUT / "x.arrow").exists(), f"{ending} cut off at {cut}", status, err)
    for _ in range(30):
        damaged = bytearray(packed)
        damaged[rng.randrange(4, len(damaged))] ^= 1 << rng.randrange(8)
        status, out, err = run("tsv2arrow", "--csv", "-", "-o", OUT / "out.arrow", "-f", input=bytes(damaged))
        if not ok(status in (0, 1) and err.count("\n") <= 3, f"damaged {ending} does no harm", status, err):
            break
many_packed = OUT / "one.csv.gz"
many_packed.write_bytes(gzip.compress(b"a,b\n1,x\n"))
write("a,b\n2,y\n", "two.csv")
equal(run("tsv2arrow", many_packed, OUT / "two.csv", "-o", OUT / "out.arrow", "-f")[0], 0, "a compressed and a plain file")
equal(read(OUT / "out.arrow").to_pydict(), {"a": [1, 2], "b": ["x", "y"]}, "one after the other")

# Booleans, escapes, no quotes, comments, blank lines.
table = converted("a,b,c,d,e,f\nTRUE,True,T,F,yes,t\nfalse,FALSE,F,F,No,\n")
equal([table.schema.field(c).type for c in "abcdef"], [pa.bool_(), pa.bool_(), pa.bool_(), pa.string(), pa.string(), pa.bool_()], "words of booleans")
equal(table.column("a").to_pylist() + table.column("c").to_pylist() + table.column("f").to_pylist(), [True, False, True, False, True, None], "and their values")
table = converted("a,b,c,d\nyes,Y,on,maybe\nNO,n,OFF,no\n", "--yes-no")
equal([table.schema.field(c).type for c in "abcd"], [pa.bool_(), pa.bool_(), pa.bool_(), pa.string()], "--yes-no")
equal(table.column("b").to_pylist(), [True, False], "and its values")
text = 'a,b\n"x\\"y","1\\\\"\n"l\\n","p""q"\n'
equal(converted(text, "--escape=\\").to_pydict(), {"a": ['x"y', "l\\n"], "b": ["1\\", "pq"]}, "--escape, as COPY has it")
query("CREATE TABLE escaped (a text, b text)", DB)
(OUT / "escapes").mkdir()
(OUT / "escapes").chmod(0o755)
for turn in range(15):
    rows = [["".join(rng.choice('ab,"\\\n#') for _ in range(rng.randrange(7))) for _ in range(2)] for _ in range(rng.randrange(1, 200))]
    packed = "".join(",".join('"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"' for v in row) + "\n" for row in rows)
    table = converted(packed, "--escape=\\", "--schema=a:text,b:text", "-s", "1k", "-n", 3)
    equal([list(r.values()) for r in table.to_pylist()], rows, f"random rows with escapes {turn}")
    (OUT / "escapes" / "in.csv").write_text(packed, newline="")
    query(f"TRUNCATE escaped; COPY escaped FROM '{OUT}/escapes/in.csv' WITH (FORMAT csv, ESCAPE '\\')", DB)
    equal(query("SELECT string_agg(encode(convert_to(a || '|' || b, 'UTF8'), 'hex'), ' ' ORDER BY ctid) FROM escaped", DB),
          " ".join(f"{a}|{b}".encode().hex() for a, b in rows), "as COPY reads them")
    commented = "".join(rng.choice(["", '# it\'s "odd\n', "#\n"]) + line for line in
                        (",".join('"' + v.replace('"', '""') + '"' for v in row) + "\n" for row in rows))
    table = converted(commented + "#end", "--comment=#", "--schema=a:text,b:text", "-s", "1k", "-n", 3)
    equal([list(r.values()) for r in table.to_pylist()], rows, f"random rows with comments {turn}")
equal(converted('a,b\n"x,1\n\\N,"y"\n', "--no-quotes").to_pydict(), {"a": ['"x', "\\N"], "b": ["1", '"y"']}, "--no-quotes")
equal(converted("a\tb\nx\\\ty\\n\n", "--tsv", "--no-quotes").to_pydict(), {"a": ["x\\"], "b": ["y\\n"]}, "--no-quotes of TSV")
equal(converted("# first\n\na,b\n#1,2\n3,4\n", "--comment=#").to_pydict(), {"a": [3], "b": [4]}, "--comment, before the names too")
equal(converted("\n\na,b\n\n1,2\n\r\n3,4\n\n").to_pydict(), {"a": [1, 3], "b": [2, 4]}, "blank lines are no rows")
equal(converted("a,b\n\n1,2\n\n3,4\n\n5,6\n", "--offset=1", "--limit=1").to_pydict(), {"a": [3], "b": [4]}, "and are not counted")
equal(converted("\n1,2\n\n", "--no-header").to_pydict(), {"c1": [1], "c2": [2]}, "without a header")
equal(converted("a\n1\n\n2\n").to_pydict(), {"a": [1, None, 2]}, "of one column they are")
equal(converted("a\n1\n\n2\n", "--skip-blank").to_pydict(), {"a": [1, 2]}, "--skip-blank")
equal(converted('a\n""\n', "--skip-blank").to_pydict(), {"a": [""]}, "an empty text in quotes is a row")
fails(2, "--delimiter and --comment are the same", "a\n", "--comment=,")
fails(2, "--no-quotes and --quote exclude each other", "a\n", "--no-quotes", "--quote='")

# What PostgreSQL's COPY and arrow2csv write.
query("""CREATE TABLE t AS SELECT g AS id, CASE WHEN g % 7 > 0 THEN repeat(chr(32 + g % 90), g % 5) || E'"\\n,\\t\\\\' || g END AS v, (g * 1.25)::numeric(12,3) AS n,
  g / 3.0::float8 AS f, date '2000-01-01' + g AS d, timestamp '1999-12-31 23:59:59.999999' + g * interval '1 hour' AS s, g % 2 = 0 AS b FROM generate_series(-500, 5000) g""", DB)
(OUT / "copy").mkdir()
(OUT / "copy").chmod(0o777)
wanted = [row.split("\x1f") for row in query("SELECT concat_ws(E'\\x1f', id, coalesce(encode(convert_to(v, 'UTF8'), 'hex'), 'NULL'), n, d, to_char(s, 'YYYY-MM-DD HH24:MI:SS.US'), b) FROM t ORDER BY id", DB).split("\n")]
for name, form in (("t.csv", "FORMAT csv, HEADER"), ("all.csv", "FORMAT csv, HEADER, FORCE_QUOTE *"), ("t.tsv", "HEADER")):
    query(f"COPY (SELECT * FROM t ORDER BY id) TO '{OUT}/copy/{name}' WITH ({form})", DB)
    equal(run("tsv2arrow", OUT / "copy" / name, "-o", OUT / "out.arrow", "-f", "-s", "16k", "-n", 3)[::2], (0, ""), f"{name} of COPY")
    table = read(OUT / "out.arrow")
    found = [[str(r["id"]), "NULL" if r["v"] is None else r["v"].encode().hex(), str(r["n"]), str(r["d"]), r["s"].isoformat(" ", "microseconds"), "t" if r["b"] else "f"]
             for r in table.to_pylist()]
    ok(found == wanted, f"{name} has the same rows", *[p for p in zip(found, wanted) if p[0] != p[1]][:3])
    for form in ("csv", "tsv"):
        equal(run("arrow2csv", OUT / "out.arrow", "--header", f"--format={form}", "-o", OUT / f"back.{form}", "-f")[0], 0, f"arrow2csv {form}")
        equal(run("tsv2arrow", OUT / f"back.{form}", "-o", OUT / "back.arrow", "-f")[::2], (0, ""), "and back")
        back = read(OUT / "back.arrow")
        ok(back.combine_chunks().cast(table.schema).equals(table.combine_chunks()), f"{form} is the same", str(back.schema), str(table.schema))

# Random rows, as Python's csv writes them, against Python's csv and pyarrow.
for turn in range(60):
    rows = [["".join(rng.choice('ab,"\n\r ä1') for _ in range(rng.randrange(6))) for _ in range(3)] for _ in range(rng.randrange(1, 300))]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerow(["x", "y", "z"])
    writer.writerows(rows)
    table = converted(text.getvalue(), "-s", rng.choice(["1k", "2k", "1m"]), "-n", rng.randrange(1, 5), "--schema=x:text,y:text,z:text", "--skip-header")
    if not ok([list(r.values()) for r in table.to_pylist()] == rows, f"random rows {turn}"):
        break
numbers = "a,b,c\n" + "".join(f"{rng.randrange(-10**9, 10**9)},{rng.random()!r},{rng.choice(['x', 'yy', ''])}\n" for _ in range(20000))
ours = converted(numbers, "--numeric=float64", "--null=NULL")
theirs = pacsv.read_csv(OUT / "in.csv")
ok(ours.combine_chunks().equals(theirs.combine_chunks()), "as pyarrow reads it", str(ours.schema), str(theirs.schema))
ok(not leftovers(OUT), "nothing is left behind", leftovers(OUT))
query(f"DROP DATABASE {DB}")
done()
