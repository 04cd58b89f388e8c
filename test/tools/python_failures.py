#!/usr/bin/env python3
"""What goes wrong around exports: readers that want to write, programs that die, very many exports, other servers, a server
that restarts while its memory is mapped, packages that are missing."""
import contextlib
import errno
import mmap
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys

import psycopg

from checks import done, equal, fresh_database, ok, raises, wait_until
from server import incarnation, wait_for_restart

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

import strom  # noqa: E402
from strom import exports  # noqa: E402

DB = fresh_database("strom_python_failures")
MANY = 10000


def session():
    return psycopg.connect(dbname=DB, autocommit=True)


def scalar(at, statement, *parameters):
    return at.execute(statement, parameters or None).fetchone()[0]


def export(at, statement):
    return scalar(at, "SELECT pgstrom.export_query(%s)", statement)


def is_gone(identifier):
    try:
        strom.open_export(identifier)
    except strom.ExportGone:
        return True
    return False


def python(code, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, **options)


main = session()
main.execute("CREATE TABLE h AS SELECT g AS x FROM generate_series(1, 100000) g")
identifier = export(main, "SELECT x FROM h")

# ---- Readers that want to write ----
descriptor, = exports._receive(*exports._IDENTIFIER.fullmatch(identifier).groups())
size = os.fstat(descriptor).st_size


def refused(action, name):
    try:
        action()
    except OSError as error:
        ok(error.errno in (errno.EPERM, errno.EACCES, errno.EBUSY, errno.EINVAL), name, error)
    else:
        ok(False, name, "it is allowed")


def writes_through_another_descriptor():
    other = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
    try:
        os.pwrite(other, b"x", 0)
    finally:
        os.close(other)


refused(lambda: os.pwrite(descriptor, b"x", 0), "the bytes cannot be written")
refused(lambda: mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE), "nor mapped for writing")
refused(lambda: os.ftruncate(descriptor, 0), "nor cut")
refused(lambda: os.ftruncate(descriptor, size + 1), "nor lengthened")
refused(writes_through_another_descriptor, "nor written through a descriptor that is opened anew")
os.close(descriptor)
equal(int(strom.open_export(identifier).column("x").numpy().sum()), 100000 * 100001 // 2, "all is as it was")

# ---- Programs that die ----
reader = python("import strom, sys; e = strom.open_export(sys.argv[1]).arrow(); print(e.num_rows, flush=True); sys.stdin.read()", identifier)
equal(reader.stdout.readline().strip(), "100000", "a program has mapped the export")
reader.kill()
reader.wait()
equal(int(strom.open_export(identifier).column("x").numpy()[-1]) > 0, True, "the export outlives it")
writer = python("import psycopg, sys; c = psycopg.connect(sys.argv[1]); print(c.execute(\"SELECT pgstrom.export_query('SELECT 1 AS x')\").fetchone()[0], flush=True);"
                " sys.stdin.read()", f"dbname={DB}")
lost = writer.stdout.readline().strip()
ok(not is_gone(lost), "a program has made an export", writer.stderr.read() if not lost else "")
writer.send_signal(signal.SIGKILL)
writer.wait()
ok(wait_until(lambda: is_gone(lost)), "which ends when the program is killed")
address = b"\0pg_strom-exports-" + identifier.split("-")[1].encode()
address += b"\0" * (exports._ADDRESS_BYTES - len(address))
for packet in (b"", b"\xff" * 100, b"G", b"G" + b"0" * 31, b"P" + b"\0" * 200, b"S" + b"\0" * 144, b"L" + struct.pack("<Q", 2**63), b"D"):
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as client:
        client.connect(address)
        client.send(packet)
ok(not is_gone(identifier), "packets without sense, from programs that leave at once")

# ---- Very many ----
many = session()
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
identifiers, refusal = [], None
with many.cursor() as cursor:
    for i in range(MANY):
        try:
            identifiers.append(cursor.execute(f"SELECT pgstrom.export_query('SELECT {i} AS x')").fetchone()[0])
        except psycopg.Error as error:
            refusal = error
            break
# The keeper has one descriptor for each, of which the system may allow fewer.
if refusal is None:
    equal(len(set(identifiers)), MANY, "ten thousand exports of a session")
else:
    ok(refusal.sqlstate == "53400" and "open files" in refusal.diag.message_hint and 0 < hard < 2 * MANY, "as many exports as the system allows", refusal, hard)
places = (0, len(identifiers) // 2, len(identifiers) - 1)
equal([int(strom.open_export(identifiers[i]).column("x").numpy()[0]) for i in places], list(places), "each has its own rows")
equal(scalar(main, "SELECT count(*) FROM pgstrom.export_info"), len(identifiers) + 1, "all are listed")
many.close()
ok(wait_until(lambda: scalar(main, "SELECT count(*) FROM pgstrom.export_info") == 1), "and all end with their session")

# ---- Another server ----
parts = identifier.split("-")
raises(lambda: strom.open_export("-".join((parts[0], parts[1][::-1], parts[2]))), strom.ExportGone, "no server of this machine", "the identifier of another server")
equal(scalar(main, "SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", "-".join((parts[0], parts[1][::-1], parts[2]))), False, "which cannot be dropped here")

# ---- A server that restarts while its memory is mapped ----
mapped = strom.open_export(identifier).column("x").numpy()
wanted = mapped.copy()
before = incarnation()
# The death of any process restarts the server, the keeper's among them.
os.kill(scalar(main, "SELECT pg_backend_pid()"), signal.SIGKILL)
wait_for_restart(before)
ok((mapped == wanted).all(), "who has mapped an export keeps it when the server restarts")
raises(lambda: strom.open_export(identifier), strom.ExportGone, "no server of this machine", "nobody else gets it")
raises(lambda: main.execute("SELECT 1"), psycopg.OperationalError, "", "the session is gone")
main = session()
equal(scalar(main, "SELECT pgstrom.arrow_fdw_put_gpu_buffer(%s)", identifier), False, "the new server does not know it")
again = export(main, "SELECT x FROM h")
ok(again.split("-")[1] != parts[1] and len(strom.open_export(again).column("x").numpy()) == 100000, "a new keeper has new exports")

# ---- Packages that are missing ----
for missing, action, text in (
        ("numpy", "strom.open_export(sys.argv[1]).column('x').numpy()", "exports as arrays need NumPy"),
        ("numpy", "cupy_strom.ipc_import(sys.argv[2])", "exports as arrays need NumPy"),
        ("pyarrow", "strom.open_export(sys.argv[1]).arrow()", "exports as Arrow data need pyarrow"),
        ("pyarrow", "strom.connect(sys.argv[3]).query('SELECT 1')", "need pyarrow"),
        ("psycopg", "strom.connect(sys.argv[3])", "sessions need psycopg")):
    code = f"import sys; sys.modules[{missing!r}] = None\nimport strom, cupy_strom\n{action}"
    matrix = scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('h')")
    process = python(code, again, matrix, f"dbname={DB}")
    told = process.communicate()[1]
    ok(process.returncode == 1 and "ImportError" in told.replace("ModuleNotFoundError", "ImportError") and text in told, f"without {missing}: {action}", told)
code = "import sys; sys.modules['cupy'] = None\nimport cupy_strom\nprint(type(cupy_strom.ipc_import(sys.argv[1])).__module__)"
equal(python(code, scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('h')")).communicate()[0].strip(), "numpy", "without CuPy the array is NumPy's")
done()
