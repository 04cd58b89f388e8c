#!/usr/bin/env python3
"""mysql2arrow: types with their extremes, workers and their snapshot, output, failures; on a real server."""
import datetime
import decimal
import math
import os
import random
import signal
import struct
import subprocess
import threading
import time
import uuid

import pyarrow as pa

from checks import done, equal, folder, fresh_database, leftovers, ok, query, run, start, wait_until
from mysql_server import Server

OUT = folder("mysql2arrow")
SERVER = Server("mysql2arrow_server")
SERVER.sql("DROP DATABASE IF EXISTS strom; CREATE DATABASE strom CHARACTER SET utf8mb4")
HOST = ["--socket", SERVER.socket, "-u", "root", "-d", "strom"]


def sql(text):
    return SERVER.sql(text, "strom")


def dump(*arguments, **options):
    return run("mysql2arrow", *HOST, *arguments, **options)


def read(path):
    return pa.ipc.open_file(str(path)).read_all()


def dumped(*arguments, **options):
    status, out, err = dump(*arguments, "-o", OUT / "out.arrow", "-f", **options)
    if not ok((status, err) == (0, ""), f"mysql2arrow {arguments}", status, err):
        return pa.table({"failed": []})
    return read(OUT / "out.arrow")


def fails(wanted_status, message, *arguments, name=None, **options):
    status, out, err = dump(*arguments, **options)
    ok(status == wanted_status and message in err and err.startswith("mysql2arrow: error: "), name or f"fails: {arguments}", status, err)


# Types: what pyarrow reads is what the server prints.
def plain(value):
    return str(value)


def fixed(value):
    return format(value, "f")


def stamp(digits):
    def shown(value):
        text = value.replace(tzinfo=None).isoformat(" ", "microseconds")
        return text[:len(text) - 6 + digits] if digits else text[:-7]
    return shown


CASES = []
for kind, bits in (("TINYINT", 8), ("SMALLINT", 16), ("MEDIUMINT", 24), ("INT", 32), ("BIGINT", 64)):
    arrow = {24: 32}.get(bits, bits)
    CASES.append((kind, [-2**(bits - 1), -1, 0, 1, 2**(bits - 1) - 1], getattr(pa, f"int{arrow}")(), plain))
    CASES.append((kind + " UNSIGNED", [0, 1, 2**bits - 1], getattr(pa, f"uint{arrow}")(), plain))
CASES += [
    ("TINYINT(1)", [0, 1, -128], pa.int8(), plain),
    ("INT(8) ZEROFILL", [], pa.uint32(), plain),
    ("YEAR", ["'1901'", "'2155'", "'2024'", "0"], pa.int16(), lambda v: f"{v:04}"),
    ("DECIMAL(10,2)", ["99999999.99", "-99999999.99", "0.01", "-0.01", "0", "5"], pa.decimal128(10, 2), fixed),
    ("DECIMAL(5,0)", ["99999", "-99999", "0"], pa.decimal128(5, 0), fixed),
    ("DECIMAL(10,2) UNSIGNED", ["99999999.99", "0"], pa.decimal128(10, 2), fixed),
    ("DECIMAL(18,18)", ["0." + "9" * 18, "-0." + "0" * 17 + "1"], pa.decimal128(18, 18), fixed),
    ("DECIMAL(19,1)", ["9" * 18 + ".9", "-" + "9" * 18 + ".9", "0.1"], pa.decimal128(19, 1), fixed),
    ("DECIMAL(38,0)", ["9" * 38, "-" + "9" * 38, "0"], pa.decimal128(38, 0), fixed),
    ("DECIMAL(38,30)", ["9" * 8 + "." + "9" * 30, "-0." + "9" * 30], pa.decimal128(38, 30), fixed),
    ("DECIMAL(39,3)", ["9" * 36 + ".999", "-" + "9" * 36 + ".999", "0"], pa.decimal256(39, 3), fixed),
    ("DECIMAL(65,30)", ["9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30, "-1.5", "0"], pa.decimal256(65, 30), fixed),
    ("CHAR(10)", ["''", "'abc'", "'äöü'"], pa.string(), plain),
    ("VARCHAR(100)", ["''", "'a b '", "'häß'", "'日本語'", "'😀'", "'it''s'"], pa.string(), plain),
    ("VARCHAR(100) CHARACTER SET latin1", ["'häß'", "'€'"], pa.string(), plain),
    ("VARCHAR(100) CHARACTER SET utf16", ["'häß😀'"], pa.string(), plain),
    ("VARCHAR(100) CHARACTER SET sjis", ["'日本語'"], pa.string(), plain),
    ("TEXT", ["''", "REPEAT('x', 65535)"], pa.string(), plain),
    ("LONGTEXT", ["REPEAT('ä', 9000000)"], pa.string(), plain),
    ("BINARY(4)", ["X'00FF'", "X'01020304'"], pa.binary(), None),
    ("VARBINARY(10)", ["''", "X'00FF80'"], pa.binary(), None),
    ("BLOB", ["''", "X'00'", "REPEAT(X'AB', 300)", "REPEAT(X'CD', 65535)"], pa.binary(), None),
    ("LONGBLOB", ["REPEAT(X'AB', 17000000)"], pa.binary(), None),
    ("BIT(1)", ["b'0'", "b'1'"], pa.bool_(), None),
    ("BIT(9)", ["b'0'", "b'101010101'"], pa.uint64(), None),
    ("BIT(64)", ["b'0'", "b'" + "1" * 64 + "'"], pa.uint64(), None),
    ("ENUM('a','b''c','','ä,')", ["'a'", "'b''c'", "''", "'ä,'"], pa.dictionary(pa.int32(), pa.string(), True), plain),
    ("SET('a','b','c')", ["''", "'a'", "'a,c'", "'a,b,c'"], pa.string(), plain),
    ("DATE", ["'1000-01-01'", "'9999-12-31'", "'1969-12-31'", "'2024-02-29'", "'0001-01-01'"], pa.date32(), plain),
    ("DATETIME", ["'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'", "'1969-12-31 23:59:59'"], pa.timestamp("s"), stamp(0)),
    ("DATETIME(3)", ["'1969-12-31 23:59:59.999'", "'2024-02-29 00:00:00.001'"], pa.timestamp("ms"), stamp(3)),
    ("DATETIME(4)", ["'1969-12-31 23:59:59.9999'"], pa.timestamp("us"), stamp(4)),
    ("DATETIME(6)", ["'1000-01-01 00:00:00.000001'", "'9999-12-31 23:59:59.999999'", "'2000-01-01'"], pa.timestamp("us"), stamp(6)),
    ("TIMESTAMP", ["'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"], pa.timestamp("s", "UTC"), stamp(0)),
    ("TIMESTAMP(6)", ["'1970-01-01 00:00:01.000001'", "'2038-01-19 03:14:07.999999'"], pa.timestamp("us", "UTC"), stamp(6)),
    ("TIME", ["'00:00:00'", "'23:59:59'", "'12:34:56'"], pa.time32("s"), lambda v: v.isoformat("seconds")),
    ("TIME(2)", ["'23:59:59.99'"], pa.time32("ms"), lambda v: v.isoformat("milliseconds")[:-1]),
    ("TIME(6)", ["'23:59:59.999999'", "'00:00:00.000001'"], pa.time64("us"), lambda v: v.isoformat("microseconds")),
    ("JSON", ["'{\"a\": [1, 2.5, null]}'", "'[]'", "'\"ä\"'"], pa.string(), plain),
]
if SERVER.is_mysql:
    CASES = [case for case in CASES if "ZEROFILL" not in case[0]]
else:
    CASES += [
        ("UUID", ["'00000000-0000-0000-0000-000000000000'", "'123e4567-e89b-12d3-a456-426614174000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
         pa.binary(16), lambda v: str(uuid.UUID(bytes=v))),
        ("INET6", ["'::'", "'2001:db8::ff00:42:8329'", "'::ffff:192.0.2.1'"], pa.string(), plain),
    ]
for kind, values, arrow, shown in CASES:
    rows = ", ".join(f"({i}, {v})" for i, v in enumerate(values))
    sql("DROP TABLE IF EXISTS cases; SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00';"
        f"CREATE TABLE cases (i INT PRIMARY KEY, v {kind} NULL); INSERT INTO cases VALUES {rows + ',' if rows else ''} ({len(values)}, NULL)")
    table = dumped("-c", "SELECT v FROM cases ORDER BY i", "--verify")
    equal(table.schema.field(0).type, arrow, f"{kind} becomes {arrow}")
    if shown is None:  # bytes and bits
        number = "HEX(v)" if arrow == pa.binary() else "v + 0"
        shown = (lambda v: v.hex().upper()) if arrow == pa.binary() else (lambda v: str(int(v)))
    else:
        number = "v"
    wanted = sql(f"SET SESSION time_zone = '+00:00'; SELECT {number} FROM cases ORDER BY i").split("\n")[:-1]
    found = ["NULL" if v is None else shown(v) for v in table.column(0).to_pylist()]
    if kind.startswith("YEAR"):
        wanted = [w.zfill(4) if w != "NULL" else w for w in wanted]
    ok(found == wanted, f"{kind}: the values", str(found)[:300], str(wanted)[:300])
    table.validate(full=True)

# Floating point, by its bits.
sql("CREATE TABLE floats (i INT, f FLOAT, d DOUBLE); INSERT INTO floats VALUES (1, 16777215, 0.1), (2, -3.4028234e38, -1.7976931348623157e308),"
    " (3, 1.17549435e-38, 2.2250738585072014e-308), (4, 0.1, 5e-324), (6, NULL, NULL)")
table = dumped("-c", "SELECT f, d FROM floats ORDER BY i")
equal((table.schema.field(0).type, table.schema.field(1).type), (pa.float32(), pa.float64()), "floating point: the types")
equal([v if v is None else struct.pack("f", v) for v in table.column(0).to_pylist()],
      [struct.pack("f", v) for v in (16777215, -3.4028234e38, 1.17549435e-38, 0.1)] + [None], "FLOAT: the bits")
equal([v if v is None else struct.pack("d", v) for v in table.column(1).to_pylist()][:3],
      [struct.pack("d", v) for v in (0.1, -1.7976931348623157e308, 2.2250738585072014e-308)], "DOUBLE: the bits")

# Choices.
sql("CREATE TABLE choices (i INT PRIMARY KEY, b TINYINT(1), d DATE, s DATETIME(3), t TIME(2));"
    "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'; INSERT INTO choices VALUES (1, 1, '2024-01-02', '2024-01-02 03:04:05.678', '01:02:03.45'),"
    " (2, 0, '0000-00-00', '0000-00-00 00:00:00', '-838:59:59'), (3, NULL, '2024-02-31', '2024-00-10 01:02:03.5', '838:59:59'), (4, 1, NULL, NULL, NULL)")
table = dumped("-c", "SELECT b FROM choices ORDER BY i", "--tinyint1=bool")
equal((table.schema.field(0).type, table.column(0).to_pylist()), (pa.bool_(), [True, False, None, True]), "--tinyint1=bool")
for column in "ds":
    fails(1, f'date that is in no calendar in row 2, column "{column}"', "-c", f"SELECT {column} FROM choices ORDER BY i", "-o", OUT / "x.arrow")
    table = dumped("-c", f"SELECT {column} FROM choices ORDER BY i", "--zero-dates=null")
    equal([v is None for v in table.column(0).to_pylist()], [False, True, True, True], "--zero-dates=null")
    table = dumped("-c", f"SELECT {column} FROM choices ORDER BY i", "--zero-dates=text")
    equal(["NULL" if v is None else v for v in table.column(0).to_pylist()], sql(f"SELECT {column} FROM choices ORDER BY i").split("\n")[:-1], "--zero-dates=text")
fails(1, 'time that is negative or not below 24 hours in row 2, column "t"', "-c", "SELECT t FROM choices ORDER BY i", "-o", OUT / "x.arrow")
found = [None if v is None else (v.months, v.days, v.nanoseconds) for v in dumped("-c", "SELECT t FROM choices ORDER BY i", "--time=interval").column(0).to_pylist()]
equal(found, [(0, 0, 3723450000000), (0, 0, -3020399 * 10**9), (0, 0, 3020399 * 10**9), None], "--time=interval")
equal(["NULL" if v is None else v for v in dumped("-c", "SELECT t FROM choices ORDER BY i", "--time=text").column(0).to_pylist()],
      sql("SELECT t FROM choices ORDER BY i").split("\n")[:-1], "--time=text")
sql("UPDATE choices SET b = 2 WHERE i = 1")
fails(1, "number other than 0 and 1 in a boolean column in row 1", "-c", "SELECT b FROM choices ORDER BY i", "--tinyint1=bool", "-o", OUT / "x.arrow")

# Geometry.
wkt = ["POINT(1 2)", "LINESTRING(0 0,1 1)", "POLYGON((0 0,4 0,4 4,0 0))", "GEOMETRYCOLLECTION(POINT(1 2))"]
sql("CREATE TABLE shapes (i INT, g GEOMETRY); INSERT INTO shapes VALUES " + ", ".join(f"({i}, ST_GeomFromText('{t}', 0))" for i, t in enumerate(wkt)) + ", (9, NULL);"
    "CREATE TABLE shapes2 (i INT, g GEOMETRY); INSERT INTO shapes2 VALUES (1, ST_GeomFromText('POINT(1 2)', 4326))")
table = dumped("-c", "SELECT g FROM shapes ORDER BY i")
equal([None if v is None else v.hex().upper() for v in table.column(0).to_pylist()],
      [w if w != "NULL" else None for w in sql("SELECT HEX(ST_AsWKB(g)) FROM shapes ORDER BY i").split("\n")[:-1]], "geometry as WKB")
equal(table.schema.field(0).metadata, {b"ARROW:extension:name": b"geoarrow.wkb", b"ARROW:extension:metadata": b"{}"}, "with GeoArrow's metadata")
table = dumped("-t", "shapes2")
equal(table.schema.field(1).metadata[b"ARROW:extension:metadata"], b'{"crs":"EPSG:4326"}', "and the SRID")
fails(1, "geometry with another SRID", "-c", "SELECT g FROM (SELECT * FROM shapes UNION ALL SELECT * FROM shapes2) u ORDER BY i", "-o", OUT / "x.arrow")

# Sources.
sql("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), x DECIMAL(10,2), d DATE, e ENUM('odd','even'));"
    "INSERT INTO t WITH RECURSIVE g AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM g WHERE n < 1000) SELECT a.n * 100 + b.n - 100, CONCAT('v', a.n), a.n / 7,"
    " DATE '2020-01-01' + INTERVAL b.n DAY, IF(b.n % 2 = 0, 'even', 'odd') FROM g a, g b WHERE a.n <= 200 AND b.n <= 100;"
    "CREATE VIEW w AS SELECT id, e FROM t; CREATE TABLE `odd ``Näme` (a INT); INSERT INTO `odd ``Näme` VALUES (7); CREATE TABLE nothing (a INT PRIMARY KEY);"
    "CREATE TABLE big (k BIGINT UNSIGNED PRIMARY KEY); INSERT INTO big VALUES (0), (18446744073709551615), (9223372036854775808);"
    "CREATE TABLE small (k BIGINT PRIMARY KEY); INSERT INTO small VALUES (-9223372036854775808), (-1), (9223372036854775807);"
    "CREATE TABLE textkey (k VARCHAR(5) PRIMARY KEY); INSERT INTO textkey VALUES ('a'), ('b'); CREATE TABLE old (k INT PRIMARY KEY, v INT) ENGINE = MyISAM;"
    "INSERT INTO old SELECT id, id FROM t WHERE id <= 1000")
everything = list(range(1, 20001))
table = dumped("-t", "t", "--stats")
equal(sorted(table.column("id").to_pylist()), everything, "-t")
equal((table.schema.field("id").metadata[b"min_values"], table.schema.field("d").metadata[b"max_values"]), (b"1", b"18362"), "--stats")
equal(table.schema.metadata[b"sql_command"], b"SELECT * FROM `t`", "sql_command")
equal(table.column("e").chunk(0).dictionary.to_pylist(), ["odd", "even"], "an enum's dictionary has its labels in order")
equal(dumped("-t", "strom.t").num_rows, 20000, "-t with a database")
equal(dumped("-t", "odd `Näme").to_pydict(), {"a": [7]}, "-t with an odd name")
equal(dumped("-c", "SELECT 1 AS a;\n; ").to_pydict(), {"a": [1]}, "-c with semicolons")
equal(dumped("-c", "SELECT @(x) AS a", "--param=x:5").to_pydict(), {"a": [5]}, "--param")
equal(dumped("-c", "SELECT NULL AS n, 'x' AS s, 1.50 AS d, 1e0 AS f, NOW() > '2000-01-01' AS b").to_pylist(),
      [{"n": None, "s": "x", "d": decimal.Decimal("1.50"), "f": 1.0, "b": 1}], "expressions")
equal(dumped("-c", "SELECT @@group_concat_max_len AS a", "--set=group_concat_max_len:12345").to_pydict(), {"a": [12345]}, "--set")
equal(dumped("-c", "SELECT 1 AS a, 2 AS a").schema.names, ["a", "a"], "a name twice")
equal(dumped("-t", "w").num_rows, 20000, "a view")
equal(dumped("-t", "nothing").num_rows, 0, "no rows")
equal(dumped("-t", "nothing", "-n", 4).num_rows, 0, "no rows with workers")
status, out, err = run("mysql2arrow", "--socket", SERVER.socket, "strom", "root", "-t", "t", "-o", OUT / "pos.arrow", "-v")
equal((status, out, err), (0, f"mysql2arrow: wrote on '{OUT}/pos.arrow' total 1 record-batches, 20000 items\n", ""), "database and user as arguments")

# Workers.
for workers in (2, 3, 16):
    equal(sorted(dumped("-t", "t", "-n", workers, "-s", "64k").column("id").to_pylist()), everything, f"-n {workers}: every row once")
equal(sorted(dumped("-t", "big", "-n", 5).column(0).to_pylist()), [0, 2**63, 2**64 - 1], "-n over all of BIGINT UNSIGNED")
equal(sorted(dumped("-t", "small", "-n", 5).column(0).to_pylist()), [-2**63, -1, 2**63 - 1], "-n over all of BIGINT")
for name in ("textkey", "w"):
    status, out, err = dump("-t", name, "-n", 2, "-o", OUT / "x.arrow", "-f")
    ok(status == 0 and "no primary key that begins with a whole number" in err, f"-n over {name}", err)
(OUT / "x.arrow").unlink()
equal(sorted(dumped("-c", "SELECT id FROM t WHERE id % $(N_WORKERS) = $(WORKER_ID)", "-n", 3).column("id").to_pylist()), everything, "$(WORKER_ID)")
equal(sorted(dumped("-c", "SELECT $(PARALLEL_KEY) AS k", "-k", "5,6,7").column("k").to_pylist()), [5, 6, 7], "-k")
equal(sorted(dumped("-t", "old", "-n", 3).column("k").to_pylist()), list(range(1, 1001)), "-n over MyISAM")
status, out, err = dump("-t", "old", "-n", 3, "-o", OUT / "out.arrow", "-f", "--progress=text")
ok("locked until the end" in err, "which stays locked", err)
sql("CREATE USER IF NOT EXISTS poor@localhost; GRANT SELECT, LOCK TABLES ON strom.* TO poor@localhost")
POOR = ["--socket", SERVER.socket, "-u", "poor", "-d", "strom", "--progress=text", "-f", "-o", OUT / "poor.arrow"]
status, out, err = run("mysql2arrow", *POOR, "-t", "t", "-n", 2)
ok(status == 0 and "LOCK TABLES `t` READ" in err and read(OUT / "poor.arrow").num_rows == 20000, "without RELOAD the table is locked", err)
COMMAND = ["-c", "SELECT id FROM t WHERE id % $(N_WORKERS) = $(WORKER_ID)", "-n", 2]
status, out, err = run("mysql2arrow", *POOR, *COMMAND)
ok(status == 1 and "cannot be given the same rows" in err, "a query cannot have its tables locked", err)
equal(run("mysql2arrow", *POOR, *COMMAND, "--no-snapshot")[0], 0, "--no-snapshot")

# One snapshot for all workers, while every transaction moves an amount from one row to another.
sql("CREATE TABLE accounts (id INT PRIMARY KEY, amount BIGINT); INSERT INTO accounts SELECT id, 1000 FROM t WHERE id <= 2000")
moving = threading.Event()


def move(seed):
    rng = random.Random(seed)
    while not moving.is_set():
        SERVER.run("".join(f"BEGIN; UPDATE accounts SET amount = amount - 1 WHERE id = {rng.randrange(1, 1000)};"
                           f" UPDATE accounts SET amount = amount + 1 WHERE id = {rng.randrange(1000, 2001)}; COMMIT;" for _ in range(50)), "strom")


writers = [threading.Thread(target=move, args=(i,)) for i in range(2)]
for writer in writers:
    writer.start()
for _ in range(8):
    equal(sum(dumped("-t", "accounts", "-n", 4).column("amount").to_pylist()), 2000 * 1000, "one snapshot while rows change")
moving.set()
for writer in writers:
    writer.join()

# Output.
plain_table = dumped("-t", "t")
for codec in ("lz4", "zstd:3"):
    ok(dumped("-t", "t", "-C", codec).equals(plain_table), f"-C {codec}")
status, out, err = dump("-t", "t", "-o", "-", "-s", "64k", binary=True)
ok(pa.ipc.open_stream(out).read_all().num_rows == 20000, "-o - is a stream", err)
equal(dump("-c", "SELECT id FROM t ORDER BY id", "--rows-per-file=15000", "-o", OUT / "part.arrow")[0], 0, "--rows-per-file")
equal([read(OUT / f"part-0000{i}.arrow").num_rows for i in (1, 2)], [15000, 5000], "has files of so many rows")
equal(dump("-c", "SELECT id, e FROM t WHERE id <= 10", "-o", OUT / "base.arrow", "--stat=id")[0], 0, "a file to append to")
equal(dump("-c", "SELECT id, e FROM t WHERE id BETWEEN 11 AND 30", "--append", OUT / "base.arrow")[::2], (0, ""), "--append")
base = read(OUT / "base.arrow")
equal((sorted(base.column("id").to_pylist()), base.schema.field("id").metadata[b"max_values"]), (list(range(1, 31)), b"10,30"), "has both")
equal(set(base.column("e").to_pylist()), {"odd", "even"}, "with the dictionary")
fails(1, "does not fit to file", "-c", "SELECT id FROM t", "--append", OUT / "base.arrow")
equal(run("mysql2arrow", "--schema", OUT / "base.arrow")[1], 'CREATE TABLE "base" (\n  "id" integer,\n  "e" text\n);\n', "--schema")
ok(run("mysql2arrow", "--dump", OUT / "base.arrow")[1].startswith("[Footer]\n"), "--dump")
whole = folder("mysql2arrow/whole")
status, out, err = dump("--all-tables", "-o", whole, "--zero-dates=null", "--time=interval", "-n", 2)
ok(status == 0 and (whole / "t.arrow").exists() and (whole / "create_tables.sql").exists() and not (whole / "w.arrow").exists(), "--all-tables", status, err)
(whole / "t.arrow").unlink()
before = (whole / "nothing.arrow").stat().st_ino
equal(dump("--all-tables", "-o", whole, "--zero-dates=null", "--time=interval", "--resume")[0], 0, "--resume")
equal((read(whole / "t.arrow").num_rows, (whole / "nothing.arrow").stat().st_ino), (20000, before), "goes on where it stopped")

# Arrow_Fdw reads it back equal.
DB = fresh_database("strom_mysql2arrow")
sql("CREATE TABLE back (id INT PRIMARY KEY, i1 TINYINT, u4 INT UNSIGNED, f FLOAT, g DOUBLE, n DECIMAL(20,5), v VARCHAR(20), d DATE, s DATETIME(6), z TIMESTAMP(6) NULL,"
    " b BIT(1), m ENUM('x','y'));"
    "INSERT INTO back VALUES (1, -128, 4294967295, 0.5, 0.1, -123456789012345.12345, 'ä😀', '9999-12-31', '1000-01-01 00:00:00.000001', '2038-01-19 03:14:07', b'1', 'y'),"
    " (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
if ok(dump("-t", "back", "-o", OUT / "back.arrow")[0] == 0, "a file for Arrow_Fdw"):
    (OUT / "back.arrow").chmod(0o644)
    query(f"IMPORT FOREIGN SCHEMA back FROM SERVER arrow_fdw INTO public OPTIONS (file '{OUT}/back.arrow')", DB)
    equal(query("SET timezone = 'UTC'; SELECT * FROM back ORDER BY id", DB),
          "1|-128|4294967295|0.5|0.1|-123456789012345.12345|ä😀|9999-12-31|1000-01-01 00:00:00.000001|2038-01-19 03:14:07+00|t|y\n"
          "2|||||||||||", "Arrow_Fdw: the values")

# Connections.
TCP = ["-h", "127.0.0.1", "-p", SERVER.port, "-d", "strom", "-t", "nothing", "-f", "-o", OUT / "tcp.arrow"]
sql("DROP USER IF EXISTS 'pw'@'%'; CREATE USER 'pw'@'%' IDENTIFIED BY 's3cret'; GRANT SELECT ON strom.* TO 'pw'@'%'")
equal(run("mysql2arrow", *TCP, "-u", "pw", env={"MYSQL_PWD": "s3cret"})[::2], (0, ""), "MYSQL_PWD")
equal(run("mysql2arrow", *TCP, "-u", "pw", "-P", "s3cret")[::2], (0, ""), "-P")
(OUT / "my.cnf").write_text("[client]\nuser=pw\npassword=s3cret\n")
equal(run("mysql2arrow", *TCP, "--defaults-file", OUT / "my.cnf")[::2], (0, ""), "an option file")
status, out, err = run("mysql2arrow", *TCP, "-u", "pw", "-P", "wrong")
ok(status == 1 and "could not connect: Access denied" in err and "wrong" not in err, "a wrong password", err)
status, out, err = run("mysql2arrow", *TCP, "-u", "pw", "-w", start_new_session=True)
ok(status == 1 and "Access denied" in err, "no password", err)
fails(1, "could not connect", "--socket", OUT / "none.sock", "-t", "t", "-o", OUT / "x.arrow")
if not SERVER.is_mysql:
    status, out, err = run("mysql2arrow", *TCP, "-u", "pw", "-P", "s3cret", "--ssl-mode=required")
    ok(status == 1 and "could not connect" in err, "--ssl-mode=required and a server without TLS", err)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", OUT / "key.pem", "-out", OUT / "cert.pem"], check=True, capture_output=True)
    (OUT / "key.pem").chmod(0o644)
    SERVER.stop()
    SERVER.start(f"--ssl-cert={OUT}/cert.pem", f"--ssl-key={OUT}/key.pem")
    CIPHER = ["-h", "127.0.0.1", "-p", SERVER.port, "-u", "pw", "-P", "s3cret", "-c", "SELECT VARIABLE_VALUE <> '' AS v FROM information_schema.SESSION_STATUS"
              " WHERE VARIABLE_NAME = 'Ssl_cipher'", "-f", "-o", OUT / "tls.arrow"]
    for options, encrypted in ((["--ssl-mode=disabled"], 0), ([], 1), (["--ssl-mode=required"], 1),
                               (["--ssl-mode=verify-ca", "--ssl-ca", OUT / "cert.pem"], 1)):
        status, out, err = run("mysql2arrow", *CIPHER, *options)
        ok(status == 0 and read(OUT / "tls.arrow").column(0).to_pylist() == [encrypted], f"TLS with {options}", err)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other", "-days", "2", "-keyout", OUT / "key2.pem",
                    "-out", OUT / "cert2.pem"], check=True, capture_output=True)
    status, out, err = run("mysql2arrow", *CIPHER, "--ssl-mode=verify-ca", "--ssl-ca", OUT / "cert2.pem")
    ok(status == 1 and "could not connect" in err, "a certificate that is not trusted", err)

# Failures.
fails(2, "one of -c, -t and --all-tables", "-o", OUT / "x.arrow")
fails(2, "--command and --table exclude each other", "-c", "SELECT 1", "-t", "t")
fails(2, "did you mean --num-workers?", "-t", "t", "--num-worker=1")
fails(1, "-n needs $(WORKER_ID)", "-c", "SELECT 1", "-n", 2, "-o", OUT / "x.arrow")
fails(1, 'there is no table "nope"', "-t", "nope", "-o", OUT / "x.arrow")
fails(1, "error in your SQL syntax", "-c", "SELEC 1", "-o", OUT / "x.arrow")
fails(1, "returns no rows", "-c", "DO 1", "-o", OUT / "x.arrow")
if not SERVER.is_mysql:
    fails(1, "READ ONLY transaction", "-c", "DELETE FROM t WHERE id = 1 RETURNING id", "-o", OUT / "x.arrow")
fails(1, "worker 2: the query failed", "-c", "SELECT IF($(WORKER_ID) = 2 AND id > 5000, (SELECT id FROM t LIMIT 2), id) AS a FROM t WHERE id % $(N_WORKERS) = 0 OR 1",
      "-n", 4, "-o", OUT / "x.arrow", name="an error in one worker")
fails(1, 'there is no column "nope"', "-t", "t", "--stat=nope", "-o", OUT / "x.arrow")
fails(1, "exists", "-t", "t", "-o", OUT / "out.arrow")
equal(sql("SELECT COUNT(*) FROM t"), "20000\n", "nothing was deleted")
if not SERVER.is_mysql:
    # Bytes that are not of the column's character set, put there behind the server's back.
    sql("CREATE TABLE bad (id INT, v VARBINARY(20)); INSERT INTO bad VALUES (1, 'ok'), (2, X'FF41')")
    status, out, err = dump("-c", "SELECT id, CONVERT(v, CHAR CHARACTER SET utf8mb4) AS v FROM bad", "-o", OUT / "x.arrow", "-f")
    ok(status in (0, 1), "a conversion of the server's own", err)
    sql("CREATE TABLE raw (id INT, v VARCHAR(20) CHARACTER SET utf8mb4) ENGINE = MyISAM ROW_FORMAT = FIXED; INSERT INTO raw VALUES (1, 'AAAA'), (2, 'BBBB'); FLUSH TABLES")
    path = SERVER.data / "strom" / "raw.MYD"
    path.write_bytes(path.read_bytes().replace(b"BBBB", b"B\xffBB"))
    SERVER.sql("FLUSH TABLES")
    fails(1, 'text that is not valid in its character set in row 2, column "v"', "-t", "raw", "-o", OUT / "x.arrow", "-f")
(OUT / "x.arrow").unlink(missing_ok=True)

# SIGINT stops the query on the server, too.
process = start("mysql2arrow", *HOST, "-c", "SELECT COUNT(*) FROM t a, t b, t c", "-o", OUT / "x.arrow")
BUSY = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT COUNT(*) FROM t a%'"
wait_until(lambda: sql(BUSY) == "1\n")
process.send_signal(signal.SIGINT)
err = process.communicate(timeout=60)[1]
equal((process.returncode, err), (130, "mysql2arrow: interrupted\n"), "SIGINT while the server computes")
ok(wait_until(lambda: sql(BUSY) == "0\n"), "and the server has stopped")

# The server dies in the middle.
if not SERVER.is_mysql:
    for workers in (1, 2):
        process = start("mysql2arrow", *HOST, "-c", "SELECT a.id, SLEEP(0.001) AS s FROM t a WHERE a.id % $(N_WORKERS) = $(WORKER_ID)", "-n", workers, "-o", OUT / "x.arrow")
        wait_until(lambda: sql("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT a.id, SLEEP%'") == f"{workers}\n")
        time.sleep(0.5)
        SERVER.kill()
        err = process.communicate(timeout=60)[1]
        ok(process.returncode == 1 and "the connection broke" in err, f"the server is killed, {workers} workers", process.returncode, err)
        SERVER.start()
ok(not (OUT / "x.arrow").exists() and not leftovers(OUT), "failures leave nothing behind", leftovers(OUT))
SERVER.stop()
query(f"DROP DATABASE {DB}")
done()
