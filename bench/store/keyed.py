"""Measures gets, puts, and YCSB's mixes of both, with kvbench."""
from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List

import psycopg
from memory import when_settled
from options import say

SCHEMA = "strom_bench_store"
SQL_TABLES = {"store table, SQL": "store", "heap, SQL": "heap", "unlogged, SQL": "unlogged"}
GET_BATCHES = {"stromkv": (1, 8), "redis": (1, 16), "memcached": (1, 16), "lmdb": (1, 8)}
LARGE = 1024  # bytes of a value in YCSB
YCSB = {
    "A": ("read=50,update=50", ("zipf", "uniform")),
    "B": ("read=95,update=5", ("zipf", "uniform")),
    "C": ("read=100", ("zipf", "uniform")),
    "D": ("read=95,insert=5", ("latest",)),
    "F": ("read=50,modify=50", ("zipf", "uniform")),
}


def cpu_seconds(server: int) -> Dict[int, float]:
    """The processor time of each of a server's processes. A session's process is included while it lives."""
    if server == 0:
        return {}
    seconds = {}
    for pid in [server, *map(int, Path(f"/proc/{server}/task/{server}/children").read_text().split())]:
        try:
            # In ns, for each thread: the clock ticks of "stat" are 10 ms, which is more than an idle server uses.
            seconds[pid] = sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
        except OSError:
            continue
    return seconds


@dataclass
class Place:
    """The place where kvbench finds a store with these rows."""

    name: str
    kind: str
    address: object
    table: str
    server: int  # process id; 0: none
    rows: int
    value_bytes: int


class Keyed:
    def __init__(self, arguments: argparse.Namespace, measured: Dict[str, object]):
        self.arguments, self.measured = arguments, measured
        self.tasks = arguments.tasks
        self.program = arguments.build_dir / "bench/store/kvbench"
        self.folder = arguments.data_dir.resolve() / "store"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.started: List[subprocess.Popen] = []
        self.conninfo = f"host={arguments.pg_socket_dir} port={arguments.pg_port} user={arguments.pg_user} dbname={arguments.pg_db}"
        for task in ("gets", "puts", "mix", "ycsb", "ranges"):
            if task in self.tasks:
                self.measured[task] = []

    # ---- One line

    def measure(self, task: str, place: Place, keys: str, operations: str, clients: int, batch: int, seconds: float, **labels: object) -> None:
        before = cpu_seconds(place.server)
        command = [self.program, "run", place.kind, place.address, place.table, place.rows, place.value_bytes, keys, operations, clients, batch, seconds]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        time.sleep(seconds * 0.9)
        used = sum(took - before.get(pid, 0) for pid, took in cpu_seconds(place.server).items())
        out, _ = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{place.name}: kvbench ended with {process.returncode}")
        row = {"store": place.name, **labels, "value_bytes": place.value_bytes, "keys": keys, "clients": clients, "batch": batch, **json.loads(out)}
        # Measured over nine tenths of the time; the last tenth is assumed to use as much.
        row["server_cpu_s_per_million"] = used / 0.9 / max(row["operations"], 1) * 1e6
        self.measured[task].append(row)
        say(f"{task:6} {' '.join(map(str, labels.values())):10} {place.name:17} {place.value_bytes:5} {keys:8} {clients:3} x {batch:3} {row['per_second']:12,.0f}/s  "
            f"p50 {row['p50_us']:9.2f} us  p99 {row['p99_us']:9.2f} us  server {row['server_cpu_s_per_million']:6.2f} s per million")
        # A row that another client is changing may be busy.
        if row["wrong"] > (0 if "read=100" in operations else 0.01 * row["operations"]):
            raise RuntimeError(f"{place.name} gave {row['wrong']} wrong values")

    def all_lines(self, place: Place) -> None:
        """The measurements of each store."""
        arguments = self.arguments
        is_small = place.value_bytes == arguments.bytes
        is_sql = place.name in SQL_TABLES
        if "gets" in self.tasks and is_small:
            for keys in ("uniform", "zipf"):
                for batch in GET_BATCHES.get(place.name, (1,)):
                    self.measure("gets", place, keys, "read=100", 1, batch, arguments.seconds)
                if is_sql:  # what one session waits for is mostly the system, which wakes the other side
                    self.measure("gets", place, keys, "read=100", arguments.clients, 1, arguments.seconds)
        if "puts" in self.tasks and is_small:
            for batch in (1,) if is_sql else (1, 16):
                self.measure("puts", place, "uniform", "update=100", arguments.clients, batch, arguments.seconds)
        if "mix" in self.tasks and is_small and not is_sql:
            for keys in ("uniform", "zipf"):
                self.measure("mix", place, keys, "read=90,update=10", arguments.mix_clients, 1, arguments.seconds)
        if "ranges" in self.tasks and is_small and is_sql:
            self.measure("ranges", place, "zipf", "scan=95,update=5", arguments.clients, 1, arguments.ycsb_seconds, workload="E")
        if "ycsb" in self.tasks:
            for workload, (operations, distributions) in YCSB.items():
                for keys in distributions:
                    self.measure("ycsb", place, keys, operations, arguments.clients, 1, arguments.ycsb_seconds, workload=workload)

    # ---- Stores

    def start(self, *command: object) -> int:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process.pid

    def stop(self) -> None:
        for process in self.started:
            process.send_signal(signal.SIGTERM)
            process.wait()
        self.started.clear()

    def load(self, place: Place) -> None:
        for _ in range(100):
            if place.kind == "lmdb" or Path(str(place.address)).exists():
                break
            time.sleep(0.1)
        subprocess.run([str(word) for word in (self.program, "load", place.kind, place.address, "-", place.rows, place.value_bytes)], check=True)

    def others(self, rows: int, value_bytes: int) -> None:
        def in_folder(name: str) -> Path:
            path = self.folder / f"{name}.{value_bytes}"
            path.mkdir()
            return path

        def redis() -> Place:
            folder = in_folder("redis")
            path = folder / "socket"
            server = self.start("redis-server", "--port", 0, "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", folder)
            return Place("redis", "redis", path, "-", server, rows, value_bytes)

        def memcached() -> Place:
            path = in_folder("memcached") / "socket"
            return Place("memcached", "memcached", path, "-", self.start("memcached", "-u", "root", "-s", path, "-m", 8192, "-t", 1), rows, value_bytes)

        makers: List[Callable[[], Place]] = [redis, memcached, lambda: Place("lmdb", "lmdb", in_folder("lmdb"), "-", 0, rows, value_bytes)]
        for make in makers:
            try:
                place = make()
                self.load(place)
                self.all_lines(place)
            finally:
                self.stop()
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir(parents=True)

    def make_tables(self, session: psycopg.Connection, rows: int, value_bytes: int) -> None:
        session.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}; SET search_path = {SCHEMA}, public")
        make_store(session, "store", rows * 3 // 2)
        session.execute("CREATE TABLE heap (id bigint PRIMARY KEY, v bytea); CREATE UNLOGGED TABLE unlogged (id bigint PRIMARY KEY, v bytea)")
        for table in SQL_TABLES.values():
            fill(session, table, rows, value_bytes)
            session.execute(f"{'ANALYZE' if table == 'store' else 'VACUUM ANALYZE'} {table}")
        # For all tables, commits do not wait for a device.
        session.execute(f"ALTER ROLE CURRENT_USER IN DATABASE {self.arguments.pg_db} SET synchronous_commit = off")

    def postgres(self, rows: int, value_bytes: int) -> None:
        with psycopg.connect(self.conninfo, autocommit=True) as session:
            session.execute("SET client_min_messages = warning")
            session.execute("CREATE EXTENSION IF NOT EXISTS pg_strom")
            try:
                self.make_tables(session, rows, value_bytes)
                server = int(Path(session.execute("SHOW data_directory").fetchone()[0], "postmaster.pid").read_text().splitlines()[0])
                store = Place("stromkv", "stromkv", self.conninfo, f"{SCHEMA}.store", server, rows, value_bytes)
                self.all_lines(store)
                self.durable_puts(session, store)
                session.execute(f"DELETE FROM store WHERE id >= {rows}")  # rows that workload D has inserted
                for name, table in SQL_TABLES.items():
                    self.all_lines(Place(name, "postgres", self.conninfo, f"{SCHEMA}.{table}", server, rows, value_bytes))
                if "gets" in self.tasks and value_bytes == self.arguments.bytes:
                    self.measured["memory"] = memory_of(session, rows, value_bytes)
            finally:
                session.execute(f"ALTER ROLE CURRENT_USER IN DATABASE {self.arguments.pg_db} RESET synchronous_commit")
                session.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")

    def durable_puts(self, session: psycopg.Connection, place: Place) -> None:
        if "puts" not in self.tasks or place.value_bytes != self.arguments.bytes:
            return
        # The message server uses the client's role; its commits wait for the table's own log.
        session.execute(f"ALTER ROLE CURRENT_USER IN DATABASE {self.arguments.pg_db} RESET synchronous_commit")
        session.execute("ALTER FOREIGN TABLE store OPTIONS (SET durability 'sync')")
        for batch in (1, 16):
            self.measure("puts", place, "uniform", "update=100", self.arguments.clients, batch, self.arguments.seconds, durability="sync")
        session.execute("ALTER FOREIGN TABLE store OPTIONS (SET durability 'async')")
        session.execute(f"ALTER ROLE CURRENT_USER IN DATABASE {self.arguments.pg_db} SET synchronous_commit = off")

    def run(self) -> None:
        sizes = [(self.arguments.rows, self.arguments.bytes)]
        if "ycsb" in self.tasks and self.arguments.large_rows and self.arguments.bytes != LARGE:
            sizes.append((self.arguments.large_rows, LARGE))
        try:
            for rows, value_bytes in sizes:
                self.postgres(rows, value_bytes)
                self.others(rows, value_bytes)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def make_store(session: psycopg.Connection, name: str, limit: int) -> None:
    data = session.execute("SHOW data_directory").fetchone()[0]
    session.execute(f"CREATE FOREIGN TABLE {name} (id bigint, v bytea) SERVER gstore_fdw OPTIONS (base_file '{data}/strom_bench_{name}.base', "
                    f"redo_log_file '{data}/strom_bench_{name}.redo', max_num_rows '{limit}', primary_key 'id', durability 'async', kv_access 'true')")


def fill(session: psycopg.Connection, table: str, rows: int, value_bytes: int) -> None:
    # The same value as value_of() in stores.cpp: the number, least significant byte first.
    number = " || ".join(f"set_byte('\\x00', 0, ((i::bigint >> {8 * byte}) & 255)::int)" for byte in range(8))
    session.execute(f"INSERT INTO {table} SELECT i, {number} || convert_to(repeat('v', {value_bytes - 8}), 'UTF8') FROM generate_series(0, {rows - 1}) i")


def memory_of(session: psycopg.Connection, rows: int, value_bytes: int) -> Dict[str, float]:
    """Bytes of memory of a table at its limit, where the region's index has a fill of 0.85: of the region that clients
    read, and of the table."""
    make_store(session, "filled", rows)
    fill(session, "filled", rows, value_bytes)
    relid = session.execute("SELECT 'filled'::regclass::oid").fetchone()[0]
    info = f"SELECT memory_bytes FROM pgstrom.store_info() WHERE relation = {relid}"
    table = when_settled(lambda: int(session.execute(info).fetchone()[0]))
    region = sum(path.stat().st_blocks * 512 for path in Path("/dev/shm").glob(f"pg_strom.*.{relid}.kv.*"))
    session.execute("DROP FOREIGN TABLE filled")
    return {"rows": rows, "own_bytes": rows * (8 + value_bytes), "table_bytes": table, "region_bytes": region}
