#!/usr/bin/env python3
"""Makes the Arrow files in all_types/ beside this script: the types of Arrow that are not those of types.arrow.

They are committed, so that the tests need no Python; run this only to change them:
    make_type_fixtures.py            (needs pyarrow)

flat.arrow has every type without parts, nested.arrow those with parts, named.arrow columns whose metadata name types
of PostgreSQL. The .stream files are in the streaming format; old.stream as it was before Arrow 0.15; replaced.stream
has dictionaries that are replaced between record batches. bad_*.arrow have values that PostgreSQL cannot hold or
offsets that lead nowhere.
"""
import decimal
import pathlib
import struct
import uuid

import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent / "all_types"
D = decimal.Decimal


def write(name, table, **options):
    with pa.OSFile(str(HERE / name), "wb") as sink:
        make = pa.ipc.new_stream if name.endswith(".stream") else pa.ipc.new_file
        with make(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table)


def flat():
    day = 24 * 3600
    return pa.table({
        "u64": pa.array([0, 2**63, 2**64 - 1, None], pa.uint64()),
        "f16": pa.array([1.5, -0.25, float("nan"), None], pa.float16()),
        "d256": pa.array([D("-1.5"), D("9" * 60 + ".99"), D("0"), None], pa.decimal256(76, 2)),
        "d128big": pa.array([D("-0." + "0" * 37 + "1"), D("0." + "9" * 38), D("0"), None], pa.decimal128(38, 38)),
        "dneg": pa.array([D("12300"), D("-100"), D("0"), None], pa.decimal128(5, -2)),
        "t32s": pa.array([0, day - 1, 3661, None], pa.time32("s")),
        "t32ms": pa.array([0, day * 1000 - 1, 3661007, None], pa.time32("ms")),
        "t64us": pa.array([0, day * 10**6 - 1, day * 10**6, None], pa.time64("us")),
        "t64ns": pa.array([0, day * 10**9 - 1, 1999, None], pa.time64("ns")),
        "dur_s": pa.array([0, -90, 10**9, None], pa.duration("s")),
        "dur_ms": pa.array([0, -1500, 10**12, None], pa.duration("ms")),
        "dur_us": pa.array([0, -1, 2**62, None], pa.duration("us")),
        "dur_ns": pa.array([0, -1, 2**62, None], pa.duration("ns")),
        "mdn": pa.array([pa.MonthDayNano([14, -3, 14706789000000]), pa.MonthDayNano([-1, 0, -1]),
                         pa.MonthDayNano([0, 2**31 - 1, 0]), None], pa.month_day_nano_interval()),
        "bin": pa.array([b"", b"\0\xff", b"x" * 40, None], pa.binary()),
        "lbin": pa.array([b"", b"\0\xff", b"x" * 40, None], pa.large_binary()),
        "vbin": pa.array([b"", b"\0\xff", b"x" * 40, None], pa.binary_view()),
        "fbin": pa.array([b"\0\1\2", b"abc", b"\xff\xff\xff", None], pa.binary(3)),
        "uid": pa.array([uuid.UUID(int=i).bytes for i in (0, 1, 2**128 - 1)] + [None], pa.uuid()),
        "nul": pa.array([None] * 4, pa.null()),
        "dict_bin": pa.array([b"a", b"\xfe", b"a", None], pa.binary()).dictionary_encode(),
        "dict_bool": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.int8()), pa.array([True, False])),
        "dict_time": pa.array([1, 2, 1, None], pa.time64("us")).dictionary_encode(),
        "ree": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 4], pa.int32()), pa.array([7, None, 9], pa.int64())),
        "ree_text": pa.RunEndEncodedArray.from_arrays(pa.array([1, 4], pa.int16()), pa.array(["one", "more"])),
    })


def nested():
    inner = pa.struct([("a", pa.int32()), ("b", pa.string())])
    people = [[{"a": 1, "b": "x"}, None], [], None, [{"a": None, "b": "größer"}]]
    union = pa.UnionArray.from_dense(pa.array([0, 1, 0, 1], pa.int8()), pa.array([0, 0, 1, 1], pa.int32()),
                                     [pa.array([5, None], pa.int32()), pa.array(["u", "v"])], ["i", "s"])
    sparse = pa.UnionArray.from_sparse(pa.array([1, 0, 1, 0], pa.int8()),
                                       [pa.array([1, 2, 3, None], pa.int32()),
                                        pa.array([[1], [2], None, [4]], pa.list_(pa.int8()))], ["i", "l"])
    words = pa.array([["p", "q"], ["p"], ["p", "q"]], pa.list_(pa.string()))
    view = pa.ListViewArray.from_arrays(pa.array([2, 0, 1, 0], pa.int32()), pa.array([1, 2, 1, 0], pa.int32()),
                                        pa.array([10, 20, None], pa.int32()))
    large_view = pa.LargeListViewArray.from_arrays(pa.array([2, 0, 1, 0], pa.int64()), pa.array([1, 2, 1, 0], pa.int64()),
                                                   pa.array(["ten", "twenty", None]))
    return pa.table({
        "li": pa.array([[1, 2, None], [], None, [3]], pa.list_(pa.int32())),
        "ls": pa.array([["a", None], [""], None, ["größer", "x, y"]], pa.large_list(pa.string())),
        "fl": pa.array([[1.5, 2.5], [None, 0.0], None, [3.0, 4.0]], pa.list_(pa.float64(), 2)),
        "lv": view,
        "llv": large_view,
        "ll": pa.array([[[1, 2], [3, 4]], [], None, [[5], [6]]], pa.list_(pa.list_(pa.int32()))),
        "ragged": pa.array([[[1, 2], [3]], [[]], None, [None, [4]]], pa.list_(pa.list_(pa.int64()))),
        "st": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": None}, None, {"a": 4, "b": "y"}], inner),
        "lst": pa.array(people, pa.list_(inner)),
        "deep": pa.array([{"x": {"y": [{"z": 1}, {"z": None}]}}, {"x": {"y": None}}, {"x": None}, None],
                         pa.struct([("x", pa.struct([("y", pa.list_(pa.struct([("z", pa.int64())])))]))])),
        "map": pa.array([[("k", 1), ("l", None)], [], None, [("k", 1), ("k", 2)]], pa.map_(pa.string(), pa.int32())),
        "imap": pa.array([[(1, "one")], [], None, [(2, None)]], pa.map_(pa.int32(), pa.string())),
        "du": union,
        "su": sparse,
        "dict_list": pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 0], pa.int8()), words),
        "list_dict": pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 4], pa.int32()),
                                              pa.array(["u", "v", "u", None]).dictionary_encode()),
        "list_ree": pa.ListArray.from_arrays(pa.array([0, 2, 3, 3, 4], pa.int32()), pa.RunEndEncodedArray.from_arrays(
            pa.array([3, 4], pa.int32()), pa.array([8, None], pa.int32()))),
        "leaves": pa.array([{"n": D("1.50"), "t": 0, "d": 0, "z": 0, "y": b"\0\xff", "f": float("nan"), "g": 0.1,
                             "b": True, "i": pa.MonthDayNano([1, 2, 3000]), "u": 2**64 - 1},
                            None, {"n": D("-0.01"), "t": -1, "d": -1, "z": 10**15, "y": b"", "f": 1.5, "g": 1e300,
                                   "b": False, "i": None, "u": 0}, None],
                           pa.struct([("n", pa.decimal128(10, 2)), ("t", pa.timestamp("us")), ("d", pa.date32()),
                                      ("z", pa.timestamp("us", "UTC")), ("y", pa.binary()), ("f", pa.float32()),
                                      ("g", pa.float64()), ("b", pa.bool_()), ("i", pa.month_day_nano_interval()),
                                      ("u", pa.uint64())])),
    })


def named():
    """Types of PostgreSQL by the key pg_type, as pg2arrow writes it."""
    columns = [
        ("j", pa.string(), ['{"a": [1, 2.50, null]}', "[]", None], "pg_catalog.json", None),
        ("jb", pa.string(), ['{"b": 1, "a": 2}', "3", None], "pg_catalog.jsonb", None),
        ("ip", pa.string(), ["10.1.2.3/8", "::1", None], "pg_catalog.inet", None),
        ("ip4", pa.binary(4), [b"\x0a\1\2\3", b"\xff\xff\xff\xff", None], "pg_catalog.inet", None),
        ("ip16", pa.binary(16), [b"\0" * 15 + b"\1", b"\xff" * 16, None], "pg_catalog.inet", None),
        ("mac", pa.binary(6), [b"\x08\0\x2b\1\2\3", b"\xff" * 6, None], "pg_catalog.macaddr", None),
        ("mac8", pa.binary(8), [b"\x08\0\x2b\1\2\3\4\5", b"\xff" * 8, None], "pg_catalog.macaddr8", None),
        ("uid", pa.binary(16), [bytes(range(16)), b"\xff" * 16, None], "pg_catalog.uuid", None),
        ("ch", pa.binary(3), [b"a  ", b"abc", None], "pg_catalog.bpchar", None),
        ("vc", pa.string(), ["a", "abc", None], "pg_catalog.varchar", 14),
        ("bp", pa.string(), ["a", "abc  ", None], "pg_catalog.bpchar", 9),
        ("o", pa.uint32(), [0, 2**32 - 1, None], "pg_catalog.oid", None),
        ("x8", pa.uint64(), [0, 2**64 - 1, None], "pg_catalog.xid8", None),
        ("r", pa.string(), ["[1,5)", "empty", None], "pg_catalog.int4range", None),
        ("bits", pa.string(), ["0101", "1111", None], "pg_catalog.bit", 4),
        ("cash", pa.string(), ["$1.00", "-$2.50", None], "pg_catalog.money", None),
        ("c1", pa.string(), ["a", "", None], "pg_catalog.char", None),
        ("nm", pa.string(), ["one", "", None], "pg_catalog.name", None),
        ("num", pa.string(), ["1.50", "NaN", None], "pg_catalog.numeric", None),
        ("num2", pa.decimal128(8, 3), [D("1.5"), D("-2"), None], "pg_catalog.numeric", 8 * 65536 + 3 + 4),
        ("ia", pa.list_(pa.int32()), [[1, 2], [], None], "pg_catalog._int4", None),
        ("ia2", pa.list_(pa.list_(pa.int32())), [[[1, 2], [3, 4]], [], None], "pg_catalog._int4", None),
        ("gone", pa.string(), ["x", "y", None], "nowhere.unknown@missing", None),
        ("wrong", pa.int32(), [1, 2, None], "pg_catalog.text", None),
        ("mood", pa.dictionary(pa.int32(), pa.string()), ["sad", "ok", None], "arrow_types_all.mood", None),
        ("pair", pa.struct([("a", pa.int32()), ("b", pa.string())]), [{"a": 1, "b": "x"}, {"a": None, "b": None}, None],
         "arrow_types_all.pair", None),
        ("pairs", pa.list_(pa.struct([("a", pa.int32()), ("b", pa.string())])), [[{"a": 1, "b": "x"}, None], [], None],
         "arrow_types_all._pair", None),
        ("small", pa.int32(), [1, 99, None], "arrow_types_all.small", None),
    ]
    fields = []
    for name, kind, _, pg_type, modifier in columns:
        metadata = {"pg_type": pg_type}
        if modifier is not None:
            metadata["pg_typmod"] = str(modifier)
        fields.append(pa.field(name, kind, metadata=metadata))
    arrays = [pa.array(values).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(values, kind)
              for _, kind, values, _, _ in columns]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def bad_values():
    """One bad value in each column."""
    small = pa.field("domain", pa.int32(), metadata={"pg_type": "arrow_types_all.small"})
    schema = pa.schema([("ok", pa.int32()), ("late", pa.time64("us")), ("negative", pa.time32("s")),
                        ("long", pa.duration("s")), ("big", pa.uint64()), ("ragged", pa.list_(pa.list_(pa.int32()))),
                        ("missing", pa.list_(pa.list_(pa.int32()))), ("json", pa.string()), small])
    return pa.table([pa.array([1, 2], pa.int32()), pa.array([0, 86400000001], pa.time64("us")),
                     pa.array([0, -1], pa.time32("s")), pa.array([0, 2**62], pa.duration("s")),
                     pa.array([0, 2**63], pa.uint64()),
                     pa.array([[[1]], [[1, 2], [3]]], pa.list_(pa.list_(pa.int32()))),
                     pa.array([[[1]], [[1], None]], pa.list_(pa.list_(pa.int32()))),
                     pa.array(["{}", "{broken"]), pa.array([99, 100], pa.int32())], schema=schema)


def patched(name, source, good, bad):
    whole = (HERE / source).read_bytes()
    assert whole.count(good) == 1, (name, whole.count(good))
    (HERE / name).write_bytes(whole.replace(good, bad))


def ints(*values):
    return struct.pack(f"<{len(values)}i", *values)


def damaged():
    lists = pa.table({"i": pa.array([70001, 70002, 70003], pa.int32()),
                      "l": pa.array([[71, 72], [73], [74, 75, 76, 77, 78]], pa.list_(pa.int32()))})
    write("sound_list.arrow", lists)
    patched("bad_list.arrow", "sound_list.arrow", ints(0, 2, 3, 8), ints(0, 2, 3, 9))
    patched("bad_list_order.arrow", "sound_list.arrow", ints(0, 2, 3, 8), ints(0, 3, 2, 8))
    union = pa.UnionArray.from_dense(pa.array([0, 1, 0, 1, 0], pa.int8()), pa.array([0, 0, 1, 1, 2], pa.int32()),
                                     [pa.array([501, 502, 503], pa.int32()), pa.array(["u", "v"])], ["i", "s"])
    write("sound_union.arrow", pa.table({"u": union}))
    patched("bad_union.arrow", "sound_union.arrow", ints(0, 0, 1, 1, 2), ints(0, 0, 1, 1, 3))
    patched("bad_union_type.arrow", "sound_union.arrow", bytes([0, 1, 0, 1, 0, 0, 0, 0]), bytes([0, 1, 0, 1, 9, 0, 0, 0]))
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 4], pa.int32()), pa.array([71, 72, 73], pa.int32()))
    write("sound_runs.arrow", pa.table({"r": runs}))
    patched("bad_runs.arrow", "sound_runs.arrow", ints(2, 3, 4), ints(2, 3, 3))
    for name in ("sound_list", "sound_union", "sound_runs"):
        (HERE / f"{name}.arrow").unlink()


def replaced(name):
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("id", pa.int32()), ("t", kind)])
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_stream(sink, schema) as writer:
            for part in range(3):
                known = pa.array([f"{part}-{i}" for i in range(4)])
                values = pa.DictionaryArray.from_arrays(pa.array([3, 2, 1, 0], pa.int32()), known)
                writer.write_batch(pa.record_batch([pa.array(range(4 * part, 4 * part + 4), pa.int32()), values],
                                                   schema=schema))


def delta(name):
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("id", pa.int32()), ("t", kind)])
    with pa.OSFile(str(HERE / name), "wb") as sink:
        with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
            for part in range(3):
                known = pa.array([f"word {i}" for i in range(2 * part + 2)])
                values = pa.DictionaryArray.from_arrays(pa.array([0, 2 * part + 1], pa.int32()), known)
                writer.write_batch(pa.record_batch([pa.array([2 * part, 2 * part + 1], pa.int32()), values],
                                                   schema=schema))


def main():
    HERE.mkdir(exist_ok=True)
    write("flat.arrow", flat())
    write("flat_zstd.arrow", flat(), compression="zstd")
    write("flat.stream", flat())
    write("nested.arrow", nested())
    write("nested_lz4.stream", nested(), compression="lz4")
    write("named.arrow", named())
    old = nested().drop(["lv", "llv", "list_ree", "du", "su"])
    write("old.stream", old, use_legacy_format=True, metadata_version=pa.ipc.MetadataVersion.V4)
    write("unions_v4.arrow", nested().select(["du", "su"]), metadata_version=pa.ipc.MetadataVersion.V4)
    whole = (HERE / "flat.stream").read_bytes()
    (HERE / "cut.stream").write_bytes(whole[: len(whole) * 3 // 4])
    replaced("replaced.stream")
    delta("delta.stream")
    write("bad_values.arrow", bad_values())
    damaged()


if __name__ == "__main__":
    main()
