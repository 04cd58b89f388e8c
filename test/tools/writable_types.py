#!/usr/bin/env python3
"""Arrow tables over files of pyarrow are written to in the file's own types: numbers of all widths, bytes of a fixed size; in lists, too.
What has no place there is an error, and the file stays as it was."""
import math
import uuid

import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, psql, query, run, write_batches

OUT = folder("writable_types")
OUT.chmod(0o777)
DB = fresh_database("strom_writable_types")

# type, values that fit (SQL and pyarrow's), values that do not
CASES = [
    (pa.int8(), [("-128", -128), ("127", 127)], ["128", "-129"]), (pa.uint8(), [("0", 0), ("255", 255)], ["256", "-1"]),
    (pa.int16(), [("-32768", -32768)], []), (pa.uint16(), [("0", 0), ("65535", 65535)], ["65536", "-1"]),
    (pa.int32(), [("-2147483648", -2**31)], []), (pa.uint32(), [("0", 0), ("4294967295", 2**32 - 1)], ["4294967296", "-1"]),
    (pa.int64(), [("-9223372036854775808", -2**63)], []), (pa.uint64(), [("0", 0), ("18446744073709551615", 2**64 - 1)], ["18446744073709551616", "-1"]),
    (pa.float16(), [("1.5", 1.5), ("-65504", -65504.0), ("'Infinity'::float2", math.inf)], []), (pa.float32(), [("1.5", 1.5)], []), (pa.float64(), [("0.1", 0.1)], []),
    (pa.decimal32(9, 2), [("1.25", None)], ["10000000"]), (pa.decimal64(18, 3), [("-1.125", None)], ["1e15"]), (pa.decimal256(50, 2), [("1.5", None)], []),
    (pa.binary(3), [(r"'\x00ff5c'::bytea", b"\x00\xff\\")], [r"'\x00'::bytea", r"'\x00000000'::bytea"]), (pa.binary(16), [(f"'\\x{uuid.UUID(int=5).hex}'::bytea", uuid.UUID(int=5).bytes)], []),
    (pa.bool_(), [("true", True)], []), (pa.string(), [("'x'", "x")], []), (pa.binary(), [(r"'\x00'::bytea", b"\x00")], []),
]


def column(path, name):
    return pa.ipc.open_file(str(path)).read_all().column(name).to_pylist()


for kind, good, bad in CASES:
    name = str(kind)
    path = OUT / "w.arrow"
    first = pa.record_batch([pa.nulls(1, kind), pa.array([None], pa.list_(kind))], names=["v", "l"])
    if kind == pa.binary(3):
        first = pa.record_batch([pa.array([b"\x01\x02\x03"], kind), pa.array([None], pa.list_(kind))], names=["v", "l"])
    write_batches(path, [first])
    path.chmod(0o666)
    query(f"DROP FOREIGN TABLE IF EXISTS w; IMPORT FOREIGN SCHEMA w FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}', writable 'true')", DB)
    for sql, wanted in good:
        query(f"INSERT INTO w VALUES ({sql}, ARRAY[{sql}, NULL]); INSERT INTO w SELECT v, l FROM w WHERE v IS NOT NULL ORDER BY 1 LIMIT 0", DB)
        query(f"INSERT INTO w (v) SELECT v FROM w WHERE v = {sql}", DB) if "Infinity" not in sql else None
    schema = pa.ipc.open_file(str(path)).schema
    equal(schema.types, [kind, pa.list_(kind)], f"{name}: the file's types stay")
    for sql, wanted in good:
        if wanted is not None:
            values = column(path, "v")
            ok(wanted in values and [wanted, None] in column(path, "l"), f"{name}: {sql}", values)
        equal(query(f"SELECT count(*) > 0 FROM w WHERE v = {sql} AND l IS NOT NULL", DB), "t", f"{name}: {sql} is read back")
    before = path.read_bytes()
    rows = query("SELECT count(*) FROM w", DB)
    for sql in bad:
        for row in (f"({sql}, NULL)", f"(NULL, ARRAY[{sql}])"):
            out, err = psql(f"INSERT INTO w VALUES {row}", DB)
            ok("ERROR" in err, f"{name}: {row} is refused", out, err)
    equal(query("SELECT count(*) FROM w", DB), rows, f"{name}: nothing was written")
    equal(run("arrow-info", "--validate", path)[1], f"{path}: sound\n", f"{name}: sound")

# Columns that are declared wider than the file is, and char(n).
path = OUT / "wide.arrow"
write_batches(path, [pa.record_batch([pa.array([1], pa.int8()), pa.array([1], pa.int16()), pa.array([1.0], pa.float32()), pa.array([b"ab "])  .cast(pa.binary(3))], names=["a", "b", "c", "d"])])
path.chmod(0o666)
query(f"DROP FOREIGN TABLE IF EXISTS wide; CREATE FOREIGN TABLE wide (a bigint, b integer, c float8, d char(3)) SERVER arrow_fdw OPTIONS (file '{path}', writable 'true')", DB)
query("INSERT INTO wide VALUES (-128, 32767, 0.5, 'xy'), (127, -32768, 'NaN', 'xyz')", DB)
equal(pa.ipc.open_file(str(path)).read_all().column("d").to_pylist(), [b"ab ", b"xy ", b"xyz"], "char(n) over FixedSizeBinary")
equal(query("SELECT a, b, c, d FROM wide ORDER BY a", DB), "-128|32767|0.5|xy \n1|1|1|ab \n127|-32768|NaN|xyz", "wider columns")
for row in ("(128, 1, 1, 'a')", "(1, 32768, 1, 'a')", "(1, 1, 0.1, 'a')", "(1, 1, 1, 'äöü')"):
    out, err = psql(f"INSERT INTO wide VALUES {row}", DB)
    ok("ERROR" in err and "cannot be written to Arrow" in err, f"{row} is refused", err)
equal(query("SELECT count(*) FROM wide", DB), "3", "and nothing was written")
done()
