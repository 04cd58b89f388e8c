#!/usr/bin/env python3
"""INSERT into tables over files of pyarrow with columns of every Arrow type: the file keeps its types, what was there stays, and what is
new is read back equal by Arrow_Fdw, pyarrow and polars. Values that a type does not have are errors that name the column."""
import datetime as dt
import decimal
import uuid

import polars
import pyarrow as pa

from checks import done, equal, folder, fresh_database, ok, psql, query, run, write_batches

OUT = folder("writable_foreign_types")
OUT.chmod(0o777)
DB = fresh_database("strom_writable_foreign")
UTC = dt.timezone.utc
D = decimal.Decimal
LONG = "a text that is longer than a view"
MDN = pa.MonthDayNano


def dictionary(index, values, items=None):
    return pa.DictionaryArray.from_arrays(pa.array([0, None], index), values if items is None else pa.array(items, values))


def run_ends(kind, index=None):
    return pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], index or pa.int32()), pa.array([5, None], kind))


POINT = pa.struct([("x", pa.int16()), ("s", pa.large_string())])
NEST = pa.list_(pa.struct([("k", pa.dictionary(pa.int16(), pa.string())), ("l", pa.large_list(pa.float32()))]))
# name: (rows that the file has, [(SQL, what pyarrow reads)], [(SQL that is refused, SQLSTATE)])
CASES = {
    "int8": (pa.array([1, None], pa.int8()), [("-128", -128)], [("128", "22003"), ("-129", "22003")]),
    "int16": (pa.array([1, None], pa.int16()), [("-32768", -32768)], [("32768", "22003")]),
    "int32": (pa.array([1, None], pa.int32()), [("7", 7)], [("2147483648", "22003")]),
    "int64": (pa.array([1, None], pa.int64()), [("9223372036854775807", 2**63 - 1)], []),
    "uint8": (pa.array([1, None], pa.uint8()), [("255", 255)], [("256", "22003"), ("-1", "22003")]),
    "uint16": (pa.array([1, None], pa.uint16()), [("65535", 65535)], [("65536", "22003")]),
    "uint32": (pa.array([1, None], pa.uint32()), [("4294967295", 2**32 - 1)], [("4294967296", "22003")]),
    "uint64": (pa.array([1, None], pa.uint64()), [("18446744073709551615", 2**64 - 1)], [("18446744073709551616", "22003")]),
    "float16": (pa.array([1, None], pa.float16()), [("-65504", -65504.0)], []),
    "float32": (pa.array([1, None], pa.float32()), [("0.5", 0.5)], []),
    "float64": (pa.array([1, None], pa.float64()), [("0.1", 0.1)], []),
    "decimal32": (pa.array([D("1.25"), None], pa.decimal32(9, 2)), [("-9999999.99", D("-9999999.99"))], [("10000000", "22003")]),
    "decimal64": (pa.array([D("1.250"), None], pa.decimal64(18, 3)), [("1e14", D("100000000000000.000"))], [("1e15", "22003")]),
    "decimal128": (pa.array([D("1.2"), None], pa.decimal128(38, 1)), [("-1.5", D("-1.5"))], []),
    "decimal256": (pa.array([D("1.2"), None], pa.decimal256(76, 1)), [("1e60", D(10**60))], []),
    "bool": (pa.array([True, None]), [("false", False)], []),
    "string": (pa.array(["a", None]), [("'ä'", "ä"), (f"'{LONG}'", LONG)], []),
    "large_string": (pa.array(["a", None], pa.large_string()), [("'ä'", "ä"), ("''", ""), (f"'{LONG}'", LONG)], []),
    "string_view": (pa.array([LONG, None], pa.string_view()), [("'ä'", "ä"), ("''", ""), (f"'{LONG}!'", LONG + "!")], []),
    "binary": (pa.array([b"a", None]), [(r"'\x00'", b"\0")], []),
    "large_binary": (pa.array([b"a", None], pa.large_binary()), [(r"'\x00ff'", b"\0\xff")], []),
    "binary_view": (pa.array([b"a" * 20, None], pa.binary_view()), [(r"'\x00ff'", b"\0\xff"), (r"repeat('x', 20)::bytea", b"x" * 20)], []),
    "fixed_binary": (pa.array([b"\1\2\3", None], pa.binary(3)), [(r"'\x00ff01'", b"\0\xff\1")], [(r"'\x00'", "22001")]),
    "date32": (pa.array([dt.date(2020, 1, 2), None], pa.date32()), [("'1969-12-31'", dt.date(1969, 12, 31))], [("'infinity'", "22008")]),
    "date64": (pa.array([dt.date(2020, 1, 2), None], pa.date64()), [("'1969-12-31'", dt.date(1969, 12, 31))], [("'infinity'", "22008")]),
    "time32_s": (pa.array([dt.time(1), None], pa.time32("s")), [("'23:59:59'", dt.time(23, 59, 59))], [("'00:00:00.5'", "22008"), ("'24:00:00'", "22008")]),
    "time32_ms": (pa.array([dt.time(1), None], pa.time32("ms")), [("'00:00:00.5'", dt.time(0, 0, 0, 500000))], [("'00:00:00.0005'", "22008")]),
    "time64_us": (pa.array([dt.time(1), None], pa.time64("us")), [("'00:00:00.000005'", dt.time(0, 0, 0, 5))], []),
    "time64_ns": (pa.array([dt.time(1), None], pa.time64("ns")), [("'00:00:00.000005'", dt.time(0, 0, 0, 5))], []),
    "timestamp_s": (pa.array([0, None], pa.timestamp("s")), [("'2020-01-02 03:04:05'", dt.datetime(2020, 1, 2, 3, 4, 5))], [("'2020-01-01 00:00:00.5'", "22008")]),
    "timestamp_ms": (pa.array([0, None], pa.timestamp("ms")), [("'2020-01-02 03:04:05.5'", dt.datetime(2020, 1, 2, 3, 4, 5, 500000))], []),
    "timestamp_us": (pa.array([0, None], pa.timestamp("us")), [("'1960-01-02 03:04:05.000005'", dt.datetime(1960, 1, 2, 3, 4, 5, 5))], []),
    "timestamp_ns": (pa.array([0, None], pa.timestamp("ns")), [("'2020-01-02 03:04:05'", dt.datetime(2020, 1, 2, 3, 4, 5))], [("'2300-01-01'", "22008")]),
    "timestamptz_s": (pa.array([0, None], pa.timestamp("s", "UTC")), [("'2020-01-02 03:04:05+00'", dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC))], []),
    "timestamptz_ns": (pa.array([0, None], pa.timestamp("ns", "UTC")), [("'2020-01-02 03:04:05+00'", dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC))], []),
    "duration_s": (pa.array([1, None], pa.duration("s")), [("'1 day 00:00:02'", dt.timedelta(1, 2))], [("'0.5 s'", "22015"), ("'1 month'", "22015")]),
    "duration_ms": (pa.array([1, None], pa.duration("ms")), [("'-0.5 s'", dt.timedelta(seconds=-0.5))], []),
    "duration_us": (pa.array([1, None], pa.duration("us")), [("'1 us'", dt.timedelta(microseconds=1))], []),
    "duration_ns": (pa.array([1, None], pa.duration("ns")), [("'1 us'", dt.timedelta(microseconds=1))], [("'1000000 days'", "22015")]),
    "interval": (pa.array([MDN([1, 2, 3000]), None]), [("'1 year 2 days 0.000004 s'", MDN([12, 2, 4000]))], []),
    "list": (pa.array([[1, None], None], pa.list_(pa.int8())), [("'{2,NULL}'", [2, None]), ("'{}'", [])], [("'{128}'", "22003")]),
    "large_list": (pa.array([["a"], None], pa.large_list(pa.string_view())), [(f"ARRAY['{LONG}',NULL]", [LONG, None])], []),
    "fixed_list": (pa.array([[1, 2], None], pa.list_(pa.int32(), 2)), [("'{3,NULL}'", [3, None])], [("'{1}'", "2202E"), ("'{1,2,3}'", "2202E")]),
    "list_view": (pa.array([[1], None], pa.list_view(pa.int32())), [("'{3,NULL}'", [3, None]), ("'{}'", [])], []),
    "list_of_list": (pa.array([[[1], []], None], pa.list_(pa.list_(pa.int32()))), [("'[[1,null],[],null]'", [[1, None], [], None])], [("'[1]'", "22P02")]),
    "struct": (pa.array([{"x": 1, "s": "a"}, None], POINT), [("""'{"x": 2, "s": "b"}'""", {"x": 2, "s": "b"}), ("""'{"s": null}'""", {"x": None, "s": None})],
               [("""'{"x": 40000}'""", "22003"), ("""'{"z": 1}'""", "22P02"), ("'[]'", "22P02")]),
    "nest": (pa.array([[{"k": "a", "l": [1.5]}], None], NEST), [("""'[{"k": "b", "l": [0.5, null]}, {"k": "a", "l": null}, null]'""",
             [{"k": "b", "l": [0.5, None]}, {"k": "a", "l": None}, None])], []),
    "map": (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int32())), [("""'{"b": 2, "c": null}'""", [("b", 2), ("c", None)]), ("'{}'", [])], [("'3'", "22P02")]),
    "map_of_numbers": (pa.array([[(1, "a")], None], pa.map_(pa.int64(), pa.string())), [("""'[{"key": 2, "value": "b"}]'""", [(2, "b")])], []),
    "dictionary": (dictionary(pa.int32(), pa.string(), ["a", "b", None]), [("'b'", "b"), (f"'{LONG}'", LONG), ("'b'", "b")], []),
    "dictionary8": (dictionary(pa.int8(), pa.large_string(), [str(i) for i in range(126)]), [("'125'", "125"), ("'new'", "new"), ("'newer'", "newer")], [("'one too many'", "54000")]),
    "dictionary_u8": (dictionary(pa.uint8(), pa.string(), ["a"]), [("'c'", "c")], []),
    "dictionary_of_numbers": (dictionary(pa.int16(), pa.int64(), [5, 6]), [("6", 6), ("77", 77)], []),
    "dictionary_of_decimals": (dictionary(pa.int16(), pa.decimal128(10, 2), [D("1.25")]), [("7.5", D("7.50"))], []),
    "dictionary_of_dates": (dictionary(pa.int32(), pa.date32(), [dt.date(2020, 1, 1)]), [("'2020-01-02'", dt.date(2020, 1, 2))], []),
    "list_of_dictionary": (pa.ListArray.from_arrays(pa.array([0, 2, 2]), dictionary(pa.int32(), pa.string(), ["a", "b"])), [("'{b,NULL,c}'", ["b", None, "c"])], []),
    "null": (pa.nulls(2), [("NULL", None)], [("'x'", "0A000")]),
    "run_ends": (run_ends(pa.int32()), [("5", 5), ("5", 5), ("NULL", None), ("6", 6)], []),
    "run_ends16": (run_ends(pa.int64(), pa.int16()), [("5", 5)], []),
    "uuid": (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([uuid.UUID(int=1).bytes, None], pa.binary(16))), [(f"'{uuid.UUID(int=7)}'", uuid.UUID(int=7))], []),
    "json": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}', None])), [("""'{"b": 2}'""", '{"b": 2}')], []),
}


NOT_OF_POLARS = ("decimal256", "interval", "list_view", "run_ends", "run_ends16")  # which end with a panic there


def read(path):
    return pa.ipc.open_file(str(path)).read_all()


def polars_rows(path):
    return polars.read_ipc(str(path))["v"].to_list()


for name, (there, good, bad) in CASES.items():
    path = OUT / f"{name}.arrow"
    write_batches(path, [pa.record_batch([pa.array([1, 2]), there], names=["id", "v"])])
    path.chmod(0o666)
    old = read(path).column("v").to_pylist()
    query(f"DROP FOREIGN TABLE IF EXISTS w; IMPORT FOREIGN SCHEMA w FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}', writable 'true')", DB)
    wanted = list(old)
    for i, (sql, value) in enumerate(good):
        out, err = psql(f"INSERT INTO w VALUES ({10 + i}, {sql})", DB)
        ok("ERROR" not in err, f"{name}: {sql}", err)
        wanted.append(value)
    # In one transaction: a savepoint that is taken back, and rows that it sees itself.
    sql, value = good[-1]
    out, err = psql(f"BEGIN; INSERT INTO w VALUES (20, {sql}); SAVEPOINT s; INSERT INTO w VALUES (21, {good[0][0]}), (22, NULL); "
                    f"SELECT count(*) FROM w WHERE id >= 20; ROLLBACK TO s; INSERT INTO w VALUES (23, NULL); SELECT count(*) FROM w WHERE id >= 20; COMMIT", DB)
    equal((out, err), ("3\n2", ""), f"{name}: a transaction with a savepoint")
    wanted += [value, None]
    # Small batches are joined.
    for i in range(8):
        psql(f"INSERT INTO w VALUES ({30 + i}, {good[0][0]})", DB)
        wanted.append(good[0][1])
    before = query("SELECT count(*) FROM w", DB)
    for sql, state in bad:
        out, err = psql(f"INSERT INTO w VALUES (99, {sql})", DB)
        ok(state in err and ('column "v"' in err or "Arrow" not in err), f"{name}: {sql} is refused", err)
    equal(query("SELECT count(*) FROM w", DB), before, f"{name}: what is refused is not written")
    table = read(path)
    equal(table.schema.field("v").type, there.type, f"{name}: the file's type stays")
    equal(table.column("v").to_pylist(), wanted, f"{name}: pyarrow reads it")
    table.validate(full=True)
    ok(pa.ipc.open_file(str(path)).num_record_batches < 8, f"{name}: small batches were joined")
    if name not in NOT_OF_POLARS:
        fresh = OUT / "fresh.arrow"  # what polars makes of the same rows
        write_batches(fresh, table.combine_chunks().to_batches())
        equal(polars_rows(path), polars_rows(fresh), f"{name}: polars reads it")
    if name not in ("null", "json", "uuid") and good[0][0] != "NULL":
        kind = query("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'w'::regclass AND attname = 'v'", DB)
        equal(query(f"SELECT count(*) FROM w WHERE id >= 30 AND v = ({good[0][0]})::{kind}", DB), "8", f"{name}: Arrow_Fdw reads it")
    equal(run("arrow-info", "--validate", path)[1], f"{path}: sound\n", f"{name}: sound")

# Structs as composite types, nested lists as arrays of two dimensions, addresses as bytes.
path = OUT / "declared.arrow"
write_batches(path, [pa.record_batch([pa.array([{"x": 1, "s": "a"}], POINT), pa.array([[[1, 2]]], pa.list_(pa.list_(pa.int32(), 2))), pa.array([b"\x7f\0\0\1"], pa.binary(4))],
                                     names=["p", "a", "ip"])])
path.chmod(0o666)
query(f"CREATE TYPE point_type AS (s text, x int2); CREATE FOREIGN TABLE declared (p point_type, a int[], ip inet) SERVER arrow_fdw OPTIONS (file '{path}', writable 'true')", DB)
query("INSERT INTO declared VALUES (('b', 2), '{{3,4},{5,NULL}}', '10.0.0.1'), (NULL, '{}', NULL)", DB)
equal(read(path).to_pylist()[1:], [{"p": {"x": 2, "s": "b"}, "a": [[3, 4], [5, None]], "ip": b"\n\0\0\1"}, {"p": None, "a": [], "ip": None}], "declared types")
equal(query("SELECT * FROM declared", DB), '(a,1)|{{1,2}}|127.0.0.1\n(b,2)|{{3,4},{5,NULL}}|10.0.0.1\n|{}|', "and they are read back")
for row in ("(NULL, '{1,2}', NULL)", "(NULL, '{{1},{2}}', NULL)", "(NULL, NULL, '10.0.0.0/8')", "(NULL, NULL, '::1')"):
    out, err = psql(f"INSERT INTO declared VALUES {row}", DB)
    ok("ERROR" in err and "cannot be written to Arrow" in err, f"{row} is refused", err)

# A union has no SQL type whose values say which member is meant: NULL only.
path = OUT / "union.arrow"
union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([5, 6]), pa.array(["a", "b"])], ["n", "t"])
write_batches(path, [pa.record_batch([pa.array([1, 2]), union], names=["id", "v"])])
path.chmod(0o666)
query(f"CREATE FOREIGN TABLE u (id bigint, v jsonb) SERVER arrow_fdw OPTIONS (file '{path}', writable 'true')", DB)
out, err = psql("INSERT INTO u VALUES (3, '1')", DB)
ok("0A000" in err and 'a value of type SparseUnion<n: Int64, t: Utf8> in column "v"' in err, "unions are refused by name", err)
query("INSERT INTO u VALUES (3, NULL)", DB)
equal(query("SELECT * FROM u ORDER BY 1", DB), '1|5\n2|"b"\n3|', "but for NULL")

# Dictionaries grow once for many rows, and are shared by the columns that share them in the file.
path = OUT / "grows.arrow"
write_batches(path, [pa.record_batch([pa.array(["a", "b"]).dictionary_encode(), pa.array(["x", "x"]).dictionary_encode()], names=["v", "w"])])
path.chmod(0o666)
query(f"IMPORT FOREIGN SCHEMA grows FROM SERVER arrow_fdw INTO public OPTIONS (file '{path}', writable 'true')", DB)
query("INSERT INTO grows SELECT 'v' || i % 1000, CASE WHEN i % 2 = 0 THEN 'x' ELSE 'y' END FROM generate_series(1, 100000) i", DB)
query("INSERT INTO grows SELECT 'v' || i % 1001, NULL FROM generate_series(1, 1001) i", DB)
with pa.ipc.open_file(str(path)) as reader:
    table = reader.read_all()
    equal(reader.stats.num_dictionary_deltas, 0, "no reader needs to know of deltas")
equal((len(table), table.column("v").combine_chunks().dictionary.to_pylist()[:3], len(set(table.column("v").to_pylist()))), (101003, ["a", "b", "v1"], 1003), "pyarrow reads the dictionaries")
equal(query("SELECT count(*), count(DISTINCT v), count(w), count(DISTINCT w) FROM grows", DB), "101003|1003|100002|2", "and so does Arrow_Fdw")
equal(polars.read_ipc(str(path))["v"].cast(polars.String).to_list(), table.column("v").to_pylist(), "and polars")
out, err = psql("BEGIN; INSERT INTO grows VALUES ('lost', 'lost'); ROLLBACK", DB)
equal(read(path).column("v").to_pylist(), table.column("v").to_pylist(), "what is taken back leaves the file")
done()
