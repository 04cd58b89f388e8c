"""What the TAP tests of the GPU service share: modules of tests, sessions whose queries go to the device, and the service's
processes."""
import os
import pathlib
import shutil
import sys

import psycopg

from server import BUILD_DIR, TEST_DIR

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402,F401


def readable_module(name, copy=None):
    """A module of tests where the server's user can read it, under the name `copy`."""
    path = TEST_DIR / (copy or name)
    shutil.copy(BUILD_DIR / "test/modules" / name, path)
    path.chmod(0o755)
    return path


def device_session(server, device, prepare_threshold=5, **settings):
    """A session in which the engine takes every query that it can; further settings of pg_strom."""
    session = psycopg.connect(server.conninfo("postgres"), autocommit=True, prepare_threshold=prepare_threshold)
    defaults = {"cpu_setup_cost": "0", "cpu_tuple_cost": "0.000001", "cpu_operator_cost": "0", "cpu_threads": "2", "device": device}
    for name, value in {**defaults, **settings}.items():
        session.execute(f"SET pg_strom.{name} = '{value}'")
    session.execute("SET max_parallel_workers_per_gather = 0; SET jit = off")
    return session


def service_answers(session):
    return bool(session.execute("SELECT FROM pgstrom.doctor() WHERE \"check\" = 'GPU service' AND status = 'ok'").fetchall())


def service_processes(module):
    """Of servers with that module."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"pg_strom_gpu_service") and str(module).encode() in words:
            found.append(int(entry.name))
    return found


def plan_sums(session, statement, *names):
    """Of these properties, over all nodes of the plan of the statement, which is run."""
    nodes = [session.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}").fetchone()[0][0]["Plan"]]
    for node in nodes:
        nodes += node.get("Plans", [])
    return [sum(node.get(name, 0) for node in nodes) for name in names]
