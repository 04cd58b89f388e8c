#!/usr/bin/env python3
"""arrow-info: dictionaries, codecs, streams, metadata that are no UTF-8, other formats; and files of other formats in the server."""
import json
import subprocess
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

from checks import done, equal, folder, fresh_database, ok, program, psql, query, run

OUT = folder("arrow_info_storage")
DB = fresh_database("strom_arrow_info_storage")


def write(name, table, stream=False, **options):
    opened = (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(OUT / name), table.schema, options=pa.ipc.IpcWriteOptions(**options))
    with opened as writer:
        writer.write_table(table)
    (OUT / name).chmod(0o644)
    return OUT / name


def info(*arguments):
    status, out, err = run("arrow-info", *arguments)
    ok((status, err) == (0, ""), f"arrow-info {arguments}", status, err)
    return out


# Every type is sound.
TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string(), pa.string_view()]
table = pa.table({str(t): pa.array([b"\xff" if "binary" in str(t) else "x", None, b"" if "binary" in str(t) else "", (b"y" if "binary" in str(t) else "y") * 50], t) for t in TYPES}
                 | {"d": pa.array([1, None, 2, 3], pa.decimal256(5, 2)), "t": pa.array([0, 86399, None, 1], pa.int32()).view(pa.time32("s")), "l": pa.array([[b"x"], None, [], [b"y", None]], pa.list_(pa.large_binary()))})
for stream in (False, True):
    for codec in (None, "lz4", "zstd"):
        path = write("all", table, stream, compression=codec)
        equal(info("--validate", path), f"{path}: sound\n", f"--validate, stream {stream}, {codec}")
        for options in (["-s"], ["-b"], ["-m"], ["-bsm"]):
            out = info(*options, path)
            equal(f" codec={codec}" in out, codec is not None and "-b" in options[0], f"{options}: the codec, stream {stream}, {codec}")
        report = json.loads(info("--json", path))
        piped = subprocess.run([program("arrow-info"), "-bsm", "-"], input=path.read_bytes(), capture_output=True)
        ok(piped.returncode == 0 and (codec is None or f" codec={codec}" in piped.stdout.decode()), f"standard input, stream {stream}, {codec}", piped)
        equal((report["format"], report["batches"][0]["codec"]), ("stream" if stream else "file", codec or "none"), "--json: format and codec")
status, out, err = run("arrowstat", OUT / "all")
ok(status == 0, "arrowstat shows a stream", err)

# Dictionaries.
table = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
                  "b": pa.array([["x"], [], ["z"]], pa.list_(pa.dictionary(pa.uint16(), pa.string()))), "c": pa.array([1, 2, 3])})
for stream in (False, True):
    path = write("dictionaries", table, stream)
    out = info(path)
    ok("a Utf8 dictionary 0 of 2 values, Int8 indexes" in out and "of 2 values, UInt16 indexes" in out and "c Int64\n" in out, "dictionaries", out)
    columns = json.loads(info("--json", path))["columns"]
    equal([[(d["values"], d["index"]) for d in c["dictionaries"]] for c in columns], [[(2, "Int8")], [(2, "UInt16")], []], "--json: dictionaries")

# Metadata that are no UTF-8.
field = pa.field("v", pa.int64(), metadata={b"k": b"\xff\xfe" + "é€😀".encode() + b"\x00\"\\", b"long": "é".encode() * 100})
path = write("odd", pa.table([pa.array([1])], pa.schema([field], metadata={b"\xff": b"\xc3"})))
out = run("arrow-info", "--json", path, binary=True)[1]
metadata = {m["key"]: m["value"] for m in json.loads(out.decode("utf-8", "strict"))["columns"][0]["metadata"]}
equal(metadata["k"], "\ufffd\ufffdé€😀\x00\"\\", "--json: bytes that are no UTF-8")
run("arrow-info", "-m", path, binary=True)[1].decode("utf-8", "strict")
ok(True, "-m prints UTF-8")

# Other formats.
pq.write_table(pa.table({"a": [1]}), OUT / "p.parquet")
(OUT / "text.csv").write_text("a,b\n1,2\n")
(OUT / "empty").write_text("")
for name, what in (("p.parquet", "It is a Parquet file"), ("text.csv", "It is text, perhaps CSV"), ("empty", "It is empty")):
    for tool in (["arrow-info"], ["arrow2csv"], ["arrowstat"], ["pg2arrow", "--dump"]):
        status, out, err = run(*tool, OUT / name)
        ok(status == 1 and "is not an Arrow file" in err and what in err, f"{tool} {name}", err)
(OUT / "text.csv").chmod(0o644)
out, err = psql(f"IMPORT FOREIGN SCHEMA c FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/text.csv')", DB)
ok("is not an Arrow file" in err and "perhaps CSV" in err, "CSV in the server", err)

# UUID and JSON, of Parquet and of Arrow.
ids = [uuid.UUID(int=i).bytes for i in (0, 1, 2**128 - 1)]
texts = ['{"a": 1}', "[1, null]", '"x"']
table = pa.table({"u": pa.ExtensionArray.from_storage(pa.uuid(), pa.array(ids, pa.binary(16))), "j": pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts)),
                  "l": pa.array([[1], [], None])})
write("ext.arrow", table)
pq.write_table(table, OUT / "ext.parquet", store_schema=False)
pq.write_table(table, OUT / "ext2.parquet")
for name in ("ext.arrow", "ext.parquet", "ext2.parquet"):
    (OUT / name).chmod(0o644)
    query(f"DROP FOREIGN TABLE IF EXISTS ext; IMPORT FOREIGN SCHEMA ext FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/{name}')", DB)
    equal(query("SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = 'ext'::regclass AND attnum IN (1, 2) ORDER BY attnum", DB), "uuid\njsonb", f"{name}: types")
    equal(query("SELECT u, j FROM ext", DB), "\n".join(f"{uuid.UUID(bytes=i)}|{t}" for i, t in zip(ids, texts)), f"{name}: values")
    equal(query(f"SELECT count(*) FROM ext WHERE u = '{uuid.UUID(int=1)}' AND j @> '[1]'", DB), "1", f"{name}: conditions")
out = info("--create-table=t", OUT / "ext.arrow")
ok('"u" uuid' in out and '"j" jsonb' in out, "--create-table of Arrow's extension types", out)


# Encrypted columns, and encrypted footers.
class Client(pe.KmsClient):
    def __init__(self, config):
        pe.KmsClient.__init__(self)

    def wrap_key(self, key, master):
        import base64
        return base64.b64encode(key)

    def unwrap_key(self, key, master):
        import base64
        return base64.b64decode(key)


for plain_footer in (True, False):
    factory = pe.CryptoFactory(lambda config: Client(config))
    config = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["secret"]}, plaintext_footer=plain_footer)
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
    with pq.ParquetWriter(OUT / "e.parquet", pa.schema([("open", pa.int64()), ("secret", pa.int64())]), encryption_properties=properties) as writer:
        writer.write_table(pa.table({"open": [1, 2], "secret": [3, 4]}))
    (OUT / "e.parquet").chmod(0o644)
    out, err = psql(f"DROP FOREIGN TABLE IF EXISTS e; IMPORT FOREIGN SCHEMA e FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/e.parquet'); SELECT sum(open) FROM e; SELECT sum(secret) FROM e", DB)
    ok("is encrypted" in err and "not a correct" not in err and (out == "3" or not plain_footer), f"encrypted, plain footer {plain_footer}", out, err)
done()
