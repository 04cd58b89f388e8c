#!/usr/bin/env python3
"""tsv2arrow: inputs that are no text in UTF-8 are refused, whatever their names; none of them becomes a file without rows."""
import bz2
import gzip
import lzma
import zipfile

import pyarrow as pa

from checks import done, equal, folder, ok, program, run
import subprocess

OUT = folder("tsv2arrow_inputs")
TEXT = "id,name\n1,eins\n2,zwei\n"


def refused(data, message, name="in.csv", *options):
    path = OUT / name
    path.write_bytes(data)
    for source, given in ((path, None), ("-", data)):
        result = subprocess.run([program("tsv2arrow"), *options, *(["--csv"] if given is not None and "--tsv" not in options else []), str(source), "-o", str(OUT / "x.arrow")],
                                input=given, capture_output=True)
        err = result.stderr.decode("utf-8", "replace")
        ok(result.returncode == 1 and message in err, f"{name} {data[:20]!r} {source}: refused", result.returncode, err)
        ok(not (OUT / "x.arrow").exists(), "and leaves no file")


def read(data, *options, name="in.csv"):
    (OUT / name).write_bytes(data)
    status, out, err = run("tsv2arrow", OUT / name, *options, "-o", OUT / "out.arrow", "-f")
    ok(status == 0, f"{data[:30]!r} {options}", err)
    return pa.ipc.open_file(str(OUT / "out.arrow")).read_all().to_pydict() if status == 0 else None


archive = OUT / "in.zip"
with zipfile.ZipFile(archive, "w") as zipped:
    zipped.writestr("in.csv", TEXT)
for data in (gzip.compress(TEXT.encode()), pa.compress(TEXT.encode(), "zstd", asbytes=True), pa.compress(TEXT.encode(), "lz4", asbytes=True)):
    for name in ("in.csv.gz", "in.csv", "in"):
        equal(read(data, "--csv", name=name), {"id": [1, 2], "name": ["eins", "zwei"]}, f"{name}: decompressed")
    refused(gzip.compress("größe,b\n1,2\n".encode("utf-16")), "no text in UTF-8", "in.csv.gz")
for data, what in ((bz2.compress(TEXT.encode()), "bzip2"), (lzma.compress(TEXT.encode()), "xz"),
                   (lzma.compress(TEXT.encode(), lzma.FORMAT_ALONE), "lzma"), (archive.read_bytes(), "zip")):
    for name in ("in.csv.gz", "in.csv", "in.tsv", "in"):
        refused(data, what, name)
for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"):
    refused(TEXT.encode(encoding), "no text in UTF-8", f"{encoding}.csv")
table = pa.table({"a": [1]})
with pa.ipc.new_file(str(OUT / "a.arrow"), table.schema) as writer:
    writer.write_table(table)
refused((OUT / "a.arrow").read_bytes(), "Arrow file already")

# Names and values that are not UTF-8.
refused("größe,b\n1,2\n".encode("latin-1"), "column's name that is not valid UTF-8 in line 1")
refused("größe\tb\n1\t2\n".encode("latin-1"), "column's name that is not valid UTF-8 in line 1", "in.tsv", "--tsv")
refused("a,b\n1,größe\n".encode("latin-1"), "text that is not valid UTF-8 in line 2")

# Line ends.
refused(b"a,b\r1,2\r3,4\r", "carriage return")
refused(b"a,b\r1,2\r3,4", "carriage return")
refused(b"a\r1\r2\r", "carriage return")
refused(b"a\r1\r2\n3\n", "carriage return")
refused(b"a,b\n1,2\r3,4\n", "in line 2")
refused(b"a\tb\r1\t2\r", "carriage return", "in.tsv", "--tsv")
refused(b"a\n" + b"1\n" * 500000 + b"2\r3\n", "in line 500002")
equal(read(b'a,b\n1,"x\ry"\n2,"\r"\n'), {"a": [1, 2], "b": ["x\ry", "\r"]}, "carriage returns in quotes are part of values")
equal(read(b"a\tb\n1\tx\\ry\n2\tx\\\ry\n", name="in.tsv"), {"a": [1, 2], "b": ["x\ry", "x\ry"]}, "so are those behind a backslash")
equal(read(b"a,b\r\n1,2\r\n3,4\r"), {"a": [1, 3], "b": [2, 4]}, "a line end that was cut")
equal(read(b'a,b\n"x\\"\ry",1\n', "--escape=\\"), {"a": ['x"\ry'], "b": [1]}, "after an escaped quote")
equal(read(b'# "\ra\na,b\n1,2\n', "--comment=#"), {"a": [1], "b": [2]}, "in comments")
equal(read(b"a,b\r\n1,2\r\n3,4"), {"a": [1, 3], "b": [2, 4]}, "no line end at the end")
equal(read(b"ORC,PAR1\n1,2\n"), {"ORC": [1], "PAR1": [2]}, "names that begin other formats")
equal(read(b"BZh,PK\n1,2\n"), {"BZh": [1], "PK": [2]}, "names that begin other formats")

# A header alone gives a warning.
(OUT / "header.csv").write_text("a,b\n")
status, out, err = run("tsv2arrow", OUT / "header.csv", "-o", OUT / "out.arrow", "-f")
ok(status == 0 and "a row of names and no other row" in err, "a header alone", status, err)

# Dates beyond those of Arrow.
for text, kind in (("9999999-01-01", pa.string()), ("5881580-07-11", pa.date32())):
    (OUT / "d.csv").write_text(f"d\n{text}\n")
    run("tsv2arrow", OUT / "d.csv", "-o", OUT / "out.arrow", "-f")
    equal(pa.ipc.open_file(str(OUT / "out.arrow")).schema.field(0).type, kind, f"{text}: type")
(OUT / "d.csv").write_text("9999999-01-01\n")
status, out, err = run("tsv2arrow", "--schema=d:date", OUT / "d.csv", "-o", OUT / "x.arrow")
ok(status == 1 and "outside of the range of Date32 in line 1" in err, "a date beyond those of Arrow", status, err)
done()
