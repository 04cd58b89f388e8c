"""The table of points in two partitions: filled, changed by pgbench, queried meanwhile, and checked after a crash."""
from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Dict, List

import psycopg
from memory import when_settled
from options import say
from rounds import turns

SCHEMA = "strom_bench_points"
TABLES = {"store table": "store", "heap": "heap", "unlogged": "unlogged"}
COLUMNS = "(dev_id int, ts timestamp, x float, y float)"
PARTITIONS = 2
FILL = 0.85  # of the tables, for which the memory is demanded
PGBENCH_ROUNDS = 3  # in which the tables take turns
ENOUGH_SECONDS = 10  # for one query; slow queries run less often than requested
LEAST_SECONDS = 1  # for one query; fast queries run more often
# As the seeds have it; keys are as many as there are rows.
UPDATE = """UPDATE {schema}.{table} SET ts = now(), x = random() * 100.0, y = random() * 100.0
 WHERE dev_id = (select (random() * {steps})::int * {clients} + :client_id)
"""
# The seeds' query needs PostGIS. The other queries are its parts.
QUERIES = {
    "filter": "SELECT count(*) FROM {schema}.{table} WHERE x BETWEEN 10 AND 90 AND y BETWEEN 10 AND 12",
    "sums": "SELECT count(*), sum(x), max(y), min(ts) FROM {schema}.{table} WHERE y > 50",
    "st_contains": "SELECT count(*) FROM {schema}.{table} WHERE st_contains("
                   "'polygon ((10 10,90 10,90 12,12 12,12 88,90 88,90 90,10 90,10 10))', st_makepoint(x, y))",
}


class Points:
    def __init__(self, arguments: argparse.Namespace, measured: Dict[str, object]):
        self.arguments, self.measured, self.tasks = arguments, measured, arguments.tasks
        self.conninfo = f"host={arguments.pg_socket_dir} port={arguments.pg_port} user={arguments.pg_user} dbname={arguments.pg_db}"
        self.queries = dict(QUERIES)

    def connect(self) -> psycopg.Connection:
        session = psycopg.connect(self.conninfo, autocommit=True)
        session.execute(f"SET client_min_messages = warning; SET synchronous_commit = off; SET search_path = {SCHEMA}, public")
        return session

    def make(self, session: psycopg.Connection) -> None:
        session.execute("CREATE EXTENSION IF NOT EXISTS pg_strom")
        session.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}")
        try:
            session.execute("CREATE EXTENSION IF NOT EXISTS postgis")
        except psycopg.Error:
            say("PostGIS is not there: the query with st_contains is left out")
            del self.queries["st_contains"]
        data = session.execute("SHOW data_directory").fetchone()[0]
        for table in TABLES.values():
            session.execute(f"CREATE TABLE {table} {COLUMNS} PARTITION BY HASH (dev_id)")
            for part in range(PARTITIONS):
                bounds = f"{table}_p{part} PARTITION OF {table} %s FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
                if table == "store":
                    session.execute(f"CREATE FOREIGN TABLE {bounds % ''} SERVER gstore_fdw OPTIONS (base_file '{data}/strom_points_{part}.base', "
                                    f"redo_log_file '{data}/strom_points_{part}.redo', max_num_rows '{round(self.arguments.points / PARTITIONS / FILL)}', "
                                    f"primary_key 'dev_id', durability 'async')")
                else:
                    session.execute(f"CREATE {'UNLOGGED' if table == 'unlogged' else ''} TABLE {bounds % '(PRIMARY KEY (dev_id))'}")

    def load(self, session: psycopg.Connection) -> None:
        lines: List[dict] = []
        for name, table in TABLES.items():
            begin = time.monotonic()
            session.execute(f"INSERT INTO {table} SELECT i, now(), 100 * random(), 100 * random() FROM generate_series(0, {self.arguments.points - 1}) i")
            lines.append({"store": name, "rows": self.arguments.points, "seconds": time.monotonic() - begin})
            say(f"load   {name:12} {lines[-1]['seconds']:8.2f} s")
            session.execute("CHECKPOINT")
        for table in TABLES.values():
            session.execute(f"{'ANALYZE' if table == 'store' else 'VACUUM ANALYZE'} {table}")
        info = "SELECT sum(%s) FROM pgstrom.store_info() WHERE relation::text LIKE '%%store_p%%'"
        rows, memory = session.execute(info % "rows").fetchone()[0], when_settled(lambda: int(session.execute(info % "memory_bytes").fetchone()[0]))
        own = 28 * int(rows)
        say(f"memory {int(memory) / own:.2f} bytes for a byte of the rows")
        if "load" in self.tasks:
            self.measured["load"] = lines
            self.measured["points_memory"] = {"rows": int(rows), "own_bytes": own, "table_bytes": int(memory)}

    # ---- Updates by key

    def pgbench(self, table: str, protocol: str, seconds: int) -> subprocess.Popen:
        clients = self.arguments.pgbench_clients
        script = tempfile.NamedTemporaryFile("w", suffix=".sql", delete=False)
        script.write(UPDATE.format(schema=SCHEMA, table=table, steps=self.arguments.points // clients, clients=clients))
        script.close()
        return subprocess.Popen(["pgbench", "-n", "-f", script.name, "-c", str(clients), "-j", "2", "-T", str(seconds), "-M", protocol,
                                 "-h", self.arguments.pg_socket_dir, "-p", str(self.arguments.pg_port), "-U", self.arguments.pg_user,
                                 self.arguments.pg_db], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, "PGOPTIONS": "-c synchronous_commit=off"})

    @staticmethod
    def rates(process: subprocess.Popen) -> Dict[str, float]:
        text = process.communicate()[0]
        found = re.search(r"tps = ([\d.]+)", text)
        if process.returncode != 0 or not found:
            raise RuntimeError(f"pgbench failed: {text}")
        return {"per_second": float(found[1]), "latency_ms": float(re.search(r"latency average = ([\d.]+)", text)[1])}

    def updates(self) -> None:
        lines: List[dict] = []
        self.measured["pgbench"] = lines
        for protocol in ("prepared", "simple"):
            rates: Dict[str, List[Dict[str, float]]] = {name: [] for name in TABLES}
            for number in range(PGBENCH_ROUNDS):
                for name in turns(list(TABLES), number):
                    rates[name].append(self.rates(self.pgbench(TABLES[name], protocol, self.arguments.pgbench_seconds)))
            for name, found in rates.items():
                middle = sorted(found, key=lambda rate: rate["per_second"])[len(found) // 2]
                lines.append({"store": name, "protocol": protocol, "clients": self.arguments.pgbench_clients, **middle,
                              "rounds": [rate["per_second"] for rate in found]})
                say(f"pgbench {name:12} {protocol:9} {middle['per_second']:10,.0f} tps")

    # ---- The analytic query

    def times_of(self, session: psycopg.Connection, query: str) -> float:
        session.execute(query)
        took: List[float] = []
        while sum(took) < LEAST_SECONDS or (len(took) < self.arguments.runs and sum(took) < ENOUGH_SECONDS):
            begin = time.monotonic()
            session.execute(query).fetchall()
            took.append(time.monotonic() - begin)
        return statistics.median(took)

    def analytic(self, session: psycopg.Connection) -> None:
        lines: List[dict] = []
        self.measured["analytic"] = lines
        data = session.execute("SHOW data_directory").fetchone()[0]
        arrow = Path(data, "strom_points.arrow")
        session.execute("SELECT pgstrom.arrow_export(%s, %s)", (f"SELECT * FROM {SCHEMA}.store", str(arrow)))
        session.execute(f"CREATE FOREIGN TABLE arrow {COLUMNS} SERVER arrow_fdw OPTIONS (file '{arrow}')")
        for state in ("still", "updated"):
            for name, table in (*TABLES.items(), ("Arrow file", "arrow")):
                if name == "unlogged":
                    continue
                # An Arrow file does not change, so updates of a table have to keep the processors busy.
                process = None
                if state == "updated":
                    process = self.pgbench("store" if name == "Arrow file" else table, "prepared", 3600)
                    time.sleep(3)
                try:
                    # PostgreSQL answers for its own table.
                    session.execute(f"SET pg_strom.enabled = {'off' if table == 'heap' else 'on'}")
                    for query, text in self.queries.items():
                        seconds = self.times_of(session, text.format(schema=SCHEMA, table=table))
                        lines.append({"store": name, "state": state, "query": query, "seconds": seconds})
                        say(f"analytic {name:12} {state:8} {query:12} {seconds * 1000:10.1f} ms")
                finally:
                    session.execute("SET pg_strom.enabled = on")
                    if process is not None:
                        process.send_signal(signal.SIGTERM)
                        process.communicate()
        self.compare_answers(session)
        session.execute("DROP FOREIGN TABLE arrow")
        arrow.unlink()

    def compare_answers(self, session: psycopg.Connection) -> None:
        """Checks that the engine's answers equal PostgreSQL's for the same snapshot, while rows change."""
        process = self.pgbench("store", "prepared", 3600)
        try:
            time.sleep(1)
            for text in self.queries.values():
                query = text.format(schema=SCHEMA, table="store").replace("sum(x)", "round(sum(x::numeric))")
                with session.transaction():
                    session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    answers = []
                    for setting in ("on", "off"):
                        session.execute(f"SET LOCAL pg_strom.enabled = {setting}")
                        answers.append(session.execute(query).fetchall())
                if answers[0] != answers[1]:
                    raise RuntimeError(f"{query}: {answers[0]} by the engine, {answers[1]} by PostgreSQL")
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()

    # ---- After a crash

    def recovery(self, session: psycopg.Connection) -> None:
        rows = session.execute("SELECT count(*) FROM store").fetchone()
        started = self.started()
        os.kill(session.info.backend_pid, signal.SIGKILL)
        while True:
            time.sleep(0.2)
            try:
                with self.connect() as again:
                    # The server still accepts connections for a moment after one of its processes has died.
                    if again.execute("SELECT backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'").fetchone() != started:
                        begin = time.monotonic()
                        found = again.execute(f"SELECT count(*) FROM {SCHEMA}.store").fetchone()
                        break
            except psycopg.OperationalError:
                continue
        seconds = time.monotonic() - begin
        if found != rows:
            raise RuntimeError(f"{found} rows after the crash, {rows} before")
        self.measured["recovery"] = {"rows": rows[0], "seconds": seconds}
        say(f"recovery {rows[0]:,} rows in {seconds:.2f} s")

    def started(self) -> object:
        with self.connect() as session:
            return session.execute("SELECT backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'").fetchone()

    def run(self) -> None:
        try:
            with self.connect() as session:
                self.make(session)
                self.load(session)
                if "pgbench" in self.tasks:
                    self.updates()
                if "analytic" in self.tasks:
                    self.analytic(session)
            if "recovery" in self.tasks:
                victim = self.connect()
                self.recovery(victim)
        finally:
            with self.connect() as session:
                session.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
