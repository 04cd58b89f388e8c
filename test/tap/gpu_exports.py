#!/usr/bin/env python3
"""Exports in a GPU's memory: what they have, who keeps it and for how long, and what goes wrong. On devices of
test/modules/host_device.cpp, whose handles are paths of memory files; tap/cupy_double.py opens them where CuPy would call
CUDA."""
import gc
import os
import pathlib
import signal
import sys

import numpy as np
import psycopg

import cupy_double
from gpu_server import Cluster, readable_module, service_answers, service_processes
from server import TEST_DIR, done, equal, ok, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import cupy_strom  # noqa: E402
import strom  # noqa: E402

DEVICE_MB = 64
EXPORT = "SELECT pgstrom.arrow_fdw_export_cupy('t', '{x,y}'"

module = readable_module("strom_host_device.so", "strom_exports_device.so")
server = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "gpu_exports_cluster", os.environ["STROM_SERVER_USER"],
                 keeps_columns=True)
server.create()
server.configure("shared_preload_libraries = 'pg_strom'")


def session():
    return psycopg.connect(server.conninfo("postgres"), autocommit=True)


def scalar(at, statement):
    return at.execute(statement).fetchone()[0]


def error_of(at, statement):
    try:
        at.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary, error.diag.message_hint or ""
    return None, "no error", ""


def raises(kind, action, text):
    """`action` raises an error of that kind, which says `text`."""
    try:
        action()
    except kind as error:
        ok(text in str(error), f"{kind.__name__}: {text}", error)
    else:
        ok(False, f"{kind.__name__}: {text}", "no error")


def exists(export):
    return os.path.exists(bytes.fromhex(export.device["handle"]).rstrip(b"\0"))


try:
    server.start({"STROM_DEVICE_MODULE": str(module), "STROM_HOST_DEVICES": "2", "STROM_HOST_DEVICE_MB": str(DEVICE_MB)})
    main = session()
    main.execute("""CREATE EXTENSION pg_strom;
        CREATE TABLE t AS SELECT i::float8 AS x, -i::float8 AS y, i AS k, CASE WHEN i % 7 > 0 THEN i END AS n
          FROM generate_series(1, 300000) i""")
    wait_until(lambda: service_answers(main))
    main.execute("SET pg_strom.device = auto")

    # By default the columns are on a GPU, and none is named with -1.
    rows = np.array([list(row) for row in main.execute("SELECT x, y FROM t ORDER BY x").fetchall()]).T
    identifier = scalar(main, EXPORT + ")")
    export = strom.open_export(identifier)
    equal((export.device["number"] in (0, 1), export.device["bytes"], export.form, export.rows), (True, 6 << 20, "matrix", 300000),
          "an export in a GPU's memory")
    equal(main.execute("SELECT device = 'gpu' || %s, bytes, rows, columns FROM pgstrom.export_info", (export.device["number"],)).fetchall(),
          [(True, 4800000, 300000, 2)], "export_info tells of it")
    raises(strom.ExportError, export.matrix, "GPU -1")
    raises(strom.ExportError, export.arrow, "GPU -1")
    raises(strom.ExportError, lambda: export.column("x").numpy(), "GPU -1")
    here = strom.open_export(scalar(main, EXPORT + ", -1)"))
    equal((here.device, here.matrix().shape), (None, (2, 300000)), "an export in the server's memory by -1")
    raises(strom.ExportError, here.column("x").cupy, "server's memory")
    for number in (0, 1):
        equal(strom.open_export(scalar(main, EXPORT + f", {number})")).device["number"], number, "the GPU that was named")
    main.execute("SET pg_strom.device = cpu")
    equal(strom.open_export(scalar(main, EXPORT + ")")).device, None, "no GPU where pg_strom.device is cpu")
    main.execute("RESET pg_strom.device")

    # Without CuPy, and with it.
    if "cupy" not in sys.modules:
        raises(ImportError, lambda: cupy_strom.ipc_import(identifier), "CuPy")
    cupy_double.install()
    array = cupy_strom.ipc_import(identifier)
    ok((np.sort(array.numpy(), axis=1) == np.sort(rows, axis=1)).all(), "the values are the table's")
    interface = strom.open_export(identifier).__cuda_array_interface__
    equal((interface["shape"], interface["typestr"]), ((2, 300000), "<f8"), "CUDA's interface")
    ok(not hasattr(strom.open_export(identifier), "__array_interface__"), "and not NumPy's")
    columns = strom.open_export(scalar(main, "SELECT pgstrom.export_query('SELECT k, x, n FROM t ORDER BY k', '{\"device\": 0}')"))
    ok((columns.column("k").cupy().numpy() == np.arange(1, 300001)).all(), "a column by itself")
    ok((columns.column("x").cupy().numpy() == np.arange(1, 300001)).all(), "behind another one")
    raises(strom.ExportError, columns.column("n").cupy, "NULLs")
    raises(strom.ExportError, columns.cupy, "no matrix")
    raises(strom.ExportError, lambda: columns.column("x").null_mask() or columns.column("n").null_mask(), "GPU -1")
    filled = strom.open_export(scalar(main, "SELECT pgstrom.export_query('SELECT n FROM t ORDER BY k', '{\"device\": 1, \"form\": \"matrix\", \"nulls\": \"fill\", \"fill\": -5}')"))
    equal(filled.cupy().numpy()[0, :7].tolist(), [1, 2, 3, 4, 5, 6, -5], "NULLs that were filled")
    cupy_double.hide_devices()
    raises(strom.ExportError, lambda: cupy_strom.ipc_import(identifier), "CUDA_VISIBLE_DEVICES")
    cupy_double.show_devices()
    equal(strom.open_export(scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('t', '{x}') FROM (SELECT 1 WHERE false) q RIGHT JOIN (SELECT 2) r ON true")).rows,
          300000, "in a query")
    main.execute("CREATE TABLE empty (x float8)")
    equal(strom.open_export(scalar(main, "SELECT pgstrom.arrow_fdw_export_cupy('empty')")).device, None, "a table without rows")

    # Lifetimes: the export's session, dropping, and whoever has mapped it.
    del columns, filled, here
    gc.collect()
    other = session()
    gone = scalar(other, EXPORT + ", 0)")
    kept = strom.open_export(gone)
    raises(strom.ExportError, lambda: strom.open_export("strom1-x"), "not the identifier")
    other.close()
    raises(strom.ExportGone, lambda: wait_until(lambda: strom.open_export(gone) is None), "has been dropped")
    ok(exists(kept), "who has opened it keeps the memory")
    values = kept.cupy()
    path = bytes.fromhex(kept.device["handle"]).rstrip(b"\0")
    del kept
    gc.collect()
    ok(os.path.exists(path), "and so does an array of it")
    del values
    gc.collect()
    wait_until(lambda: not os.path.exists(path))
    equal(cupy_double.opened(), 1, "the array that is left is the only opened memory")
    del array, export
    gc.collect()
    equal(cupy_double.opened(), 0, "closed when the last array goes")
    pinning = session()
    pinned = scalar(pinning, "SELECT pgstrom.arrow_fdw_export_cupy_pinned('t', '{x,y}', 1)")
    pinning.close()
    equal(strom.open_export(pinned).device["number"], 1, "a pinned export outlives its session")
    equal(scalar(main, f"SELECT pgstrom.arrow_fdw_unpin_gpu_buffer('{pinned}')"), True, "until it is unpinned")

    # Too little memory; wrong numbers; rights are those of exports in the server's memory.
    hungry = session()
    taken = []
    while len(taken) < 2 * DEVICE_MB:
        try:
            taken.append(scalar(hungry, EXPORT + ", 0)"))
        except psycopg.Error as error:
            equal((error.sqlstate, "no memory" in error.diag.message_primary, "GPU -1" in error.diag.message_hint), ("53400", True, True),
                  "a GPU that is full")
            break
    ok(4 < len(taken) < 2 * DEVICE_MB // 6, "exports fill the GPU's memory", len(taken))
    equal(len(set(taken)), len(taken), "each has its own identifier")
    hungry.close()
    wait_until(lambda: error_of(main, EXPORT + ", 0)")[0] is None)
    equal(error_of(main, EXPORT + ", 2)")[:2], ("22023", "there is no GPU 2 to export to"), "a GPU that is not there")
    equal(error_of(main, EXPORT + ", -2)")[:2], ("22023", "a GPU's number must not be -2"), "a negative number")
    state, message, hint = error_of(main, "SELECT pgstrom.export_query('SELECT 1', '{\"form\": \"stream\", \"device\": 0}')")
    ok(state == "22023" and "matrix and columns" in message, "no stream on a GPU", message)

    # The service dies: exports of its memory are gone, the server goes on.
    def is_all_visible():
        main.execute("VACUUM t")
        return scalar(main, "SELECT relallvisible = relpages FROM pg_class WHERE oid = 't'::regclass")

    wait_until(is_all_visible)  # which it is not while another session, such as autovacuum's, has an older snapshot
    lost, same = (strom.open_export(scalar(main, EXPORT + ", 1)")) for _ in range(2))
    equal(lost.device["handle"], same.device["handle"], "exports of columns that are on the GPU already share them")
    ok(strom.open_export(scalar(main, EXPORT + ", 0)")).device["number"] == 0, "but not with another GPU")
    for process in service_processes(module):
        os.kill(process, signal.SIGKILL)
    wait_until(lambda: not exists(lost))

    def are_copied_anew():
        try:
            return exists(strom.open_export(scalar(main, EXPORT + ", 1)")))
        except psycopg.Error:  # no service answers yet
            return False

    ok(wait_until(are_copied_anew), "the same columns are copied anew")
    equal(scalar(main, "SELECT count(*) FROM t"), 300000, "and the session goes on")
    server.stop()
    server.start({})
    late = session()
    equal(strom.open_export(scalar(late, EXPORT + ")")).device, None, "without a service exports are in the server's memory")
    equal(error_of(late, EXPORT + ", 0)")[:2], ("22023", "there is no GPU 0 to export to"), "and a GPU cannot be named")
finally:
    server.remove()

done()
