#!/usr/bin/env python3
"""Gets by key: a store table's published region against Redis, memcached, LMDB and PostgreSQL's own tables, one client
thread. Prints a table and writes JSON. Called by `./strom bench store`; docs/dev/benchmark.md explains what is measured."""
from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Optional

import psycopg

sys.dont_write_bytecode = True
for folder in ("common", "ssb"):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import options  # noqa: E402
from options import say  # noqa: E402

BATCHES = {"stromkv": (1, 8), "redis": (1, 16), "memcached": (1, 16), "lmdb": (1, 8), "store table, SQL": (1,), "heap, SQL": (1,), "unlogged, SQL": (1,)}
KEYS = ("uniform", "zipf")
SCHEMA = "strom_bench_store"


def cpu_seconds(server: int) -> Dict[int, float]:
    """Processor time of a server's processes, each. A session's process is among them while it lives."""
    if server == 0:
        return {}
    seconds = {}
    for pid in [server, *map(int, Path(f"/proc/{server}/task/{server}/children").read_text().split())]:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        seconds[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


class Bench:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.program = arguments.build_dir / "bench/store/kvbench"
        self.folder = arguments.data_dir.resolve() / "store"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.started: List[subprocess.Popen] = []
        self.rows: List[Dict[str, object]] = []
        self.conninfo = f"host={arguments.pg_socket_dir} port={arguments.pg_port} user={arguments.pg_user} dbname={arguments.pg_db}"

    def start(self, *command: object) -> int:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process.pid

    def stop(self) -> None:
        for process in self.started:
            process.send_signal(signal.SIGTERM)
            process.wait()

    def load(self, kind: str, address: object) -> None:
        for _ in range(100):
            if kind == "lmdb" or Path(str(address)).exists():
                break
            time.sleep(0.1)
        subprocess.run([self.program, "load", kind, str(address), str(self.arguments.rows), str(self.arguments.bytes)], check=True)

    def measure(self, name: str, kind: str, address: object, token, server: int) -> None:
        for keys in KEYS:
            for batch in BATCHES[name]:
                before = cpu_seconds(server)
                command = [self.program, "get", kind, str(address), token(), str(self.arguments.rows), keys, str(batch), str(self.arguments.seconds)]
                process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
                time.sleep(self.arguments.seconds * 0.9)
                used = sum(seconds - before.get(pid, 0) for pid, seconds in cpu_seconds(server).items())
                out, _ = process.communicate()
                if process.returncode != 0:
                    raise RuntimeError(f"{name}: kvbench ended with {process.returncode}")
                row = {"store": name, "keys": keys, "batch": batch, **json.loads(out)}
                # The last tenth took what the others took, each.
                row["server_cpu_s_per_million"] = used / 0.9 / max(row["gets"], 1) * 1e6
                self.rows.append(row)
                say(f"{name:18} {keys:8} {batch:3} {row['per_second']:12,.0f}/s  p50 {row['p50_us']:8.2f} us  p99 {row['p99_us']:8.2f} us  "
                    f"server {row['server_cpu_s_per_million']:6.2f} s per million")
                if row["wrong"]:
                    raise RuntimeError(f"{name} gave {row['wrong']} wrong values")

    def postgres(self) -> None:
        rows, size = self.arguments.rows, self.arguments.bytes
        with psycopg.connect(self.conninfo, autocommit=True) as session:
            session.execute("SET client_min_messages = warning")
            session.execute("CREATE EXTENSION IF NOT EXISTS pg_strom")
            session.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}; SET search_path = {SCHEMA}, public")
            data = session.execute("SHOW data_directory").fetchone()[0]
            session.execute(f"CREATE FOREIGN TABLE store (id bigint, v bytea) SERVER gstore_fdw OPTIONS (base_file '{data}/strom_bench.base', "
                            f"redo_log_file '{data}/strom_bench.redo', max_num_rows '{rows}', primary_key 'id', durability 'async', kv_access 'true')")
            session.execute("CREATE TABLE heap (id bigint PRIMARY KEY, v bytea); CREATE UNLOGGED TABLE unlogged (id bigint PRIMARY KEY, v bytea)")
            # As value_of() in stores.cpp: the number, least significant byte first.
            number = " || ".join(f"set_byte('\\x00', 0, ((i::bigint >> {8 * byte}) & 255)::int)" for byte in range(8))
            for table in ("store", "heap", "unlogged"):
                session.execute(f"INSERT INTO {table} SELECT i, {number} || convert_to(repeat('v', {size - 8}), 'UTF8') FROM generate_series(0, {rows - 1}) i")
            for table in ("heap", "unlogged"):
                session.execute(f"VACUUM ANALYZE {table}")
            postmaster = int(Path(data, "postmaster.pid").read_text().splitlines()[0])
            socket = session.execute("SELECT socket FROM pgstrom.kv_attach('store')").fetchone()[0]
            self.measure("stromkv", "stromkv", socket, lambda: session.execute("SELECT token FROM pgstrom.kv_attach('store')").fetchone()[0], postmaster)
            for name, table in (("store table, SQL", "store"), ("heap, SQL", "heap"), ("unlogged, SQL", "unlogged")):
                self.measure(name, "postgres", self.conninfo, lambda table=table: f"{SCHEMA}.{table}", postmaster)
            session.execute(f"DROP SCHEMA {SCHEMA} CASCADE")

    def run(self) -> None:
        none = lambda: "-"  # noqa: E731
        try:
            self.postgres()
            path = self.folder / "redis.sock"
            server = self.start("redis-server", "--port", 0, "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", self.folder)
            self.load("redis", path)
            self.measure("redis", "redis", path, none, server)
            path = self.folder / "memcached.sock"
            server = self.start("memcached", "-u", "root", "-s", path, "-m", 8192, "-t", 1)
            self.load("memcached", path)
            self.measure("memcached", "memcached", path, none, server)
            path = self.folder / "lmdb"
            path.mkdir()
            self.load("lmdb", path)
            self.measure("lmdb", "lmdb", path, none, 0)
        finally:
            self.stop()
            shutil.rmtree(self.folder, ignore_errors=True)
        result = {"benchmark": "store", "machine": hardware.describe(), "rows": self.arguments.rows, "value_bytes": self.arguments.bytes,
                  "seconds": self.arguments.seconds, "load_average": os.getloadavg()[0], "gets": self.rows}
        wanted = wanted_figures(self.rows)
        result["figures"] = figures.as_json(wanted)
        figures.show(wanted)
        self.arguments.out.write_text(json.dumps(result, indent=1) + "\n")


def wanted_figures(gets: List[dict]) -> List[figures.Figure]:
    """What reads of a published region have to reach, alone and beside the others."""

    def line(store: str, keys: str, batch: int) -> Optional[dict]:
        return next((row for row in gets if (row["store"], row["keys"], row["batch"]) == (store, keys, batch)), None)

    def rate(store: str, keys: str, batch: int = 1) -> Optional[float]:
        found = line(store, keys, batch)
        return found and found["per_second"]

    def times(name: str, ours: Optional[float], theirs: Optional[float], wanted: float) -> figures.Figure:
        return figures.Figure(name, round(ours / theirs, 2) if ours and theirs else None, wanted)

    single = line("stromkv", "uniform", 1) or {}
    return [
        figures.Figure("gets, uniform", rate("stromkv", "uniform"), 2e6, "/s"),
        figures.Figure("gets, zipf", rate("stromkv", "zipf"), 3.5e6, "/s"),
        figures.Figure("gets, 8 at once, uniform", rate("stromkv", "uniform", 8), 4e6, "/s"),
        figures.Figure("gets: 99 % take", single.get("p99_us"), 5, "us", True),
        figures.Figure("gets: server's processor time for a million", single.get("server_cpu_s_per_million"), 0.001, "s", True),
        *(times(f"gets, {keys}: times {store}{', 16 at once' if batch > 1 else ''}", rate("stromkv", keys), rate(store, keys, batch), wanted)
          for keys in KEYS
          for store, batch, wanted in (("redis", 1, 25), ("memcached", 1, 25), ("redis", 16, 4), ("memcached", 16, 4), ("lmdb", 1, 1.5))),
        *(times(f"key by SQL, {keys}: times a heap table's index", rate("store table, SQL", keys), rate("heap, SQL", keys), 1) for keys in KEYS),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--bytes", type=int, default=64, help="of a value")
    parser.add_argument("--seconds", type=int, default=5, help="for each line")
    options.add_out(parser)
    options.add_folders(parser)
    options.add_server(parser)
    Bench(parser.parse_args()).run()


if __name__ == "__main__":
    main()
