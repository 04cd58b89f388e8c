"""PostgreSQL as the benchmark's referee and rival, and pg_strom inside of it: tables, plans, times, memory. Called by
run.py."""
from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple

import psycopg
import pyarrow as pa
from psycopg import sql

import plans
from workload import QUERIES, TABLES, DataSet, Rows, normalise

_SQL_TYPES = {pa.int32(): "integer", pa.int64(): "bigint", pa.utf8(): "text"}
_FIXED_COST_RUNS = 51


@dataclass(frozen=True)
class Server:
    socket_dir: str
    port: int
    user: str
    database: str

    def connect(self, schema: str, **settings: object) -> psycopg.Connection:
        connection = psycopg.connect(
            host=self.socket_dir, port=self.port, user=self.user, dbname=self.database, autocommit=True
        )
        for name, value in {"search_path": schema, **settings}.items():
            connection.execute("select set_config(%s, %s, false)", (name, str(value)))
        return connection


def create_foreign_tables(server: Server, data: DataSet, schema: str) -> None:
    """Makes the Arrow files foreign tables of `schema`, which is made again."""
    with server.connect("public") as connection:
        connection.execute("set client_min_messages = warning")
        connection.execute("create extension if not exists pg_strom")
        name = sql.Identifier(schema)
        connection.execute(sql.SQL("drop schema if exists {} cascade").format(name))
        connection.execute(sql.SQL("create schema {}").format(name))
        for table in TABLES:
            path = data.path(table)
            option = sql.SQL("dir" if path.is_dir() else "file")
            statement = sql.SQL("import foreign schema {} from server arrow_fdw into {} options ({} {})")
            connection.execute(statement.format(sql.Identifier(table), name, option, sql.Literal(str(path))))
            connection.execute(sql.SQL("analyze {}.{}").format(name, sql.Identifier(table)))


def load_heap_tables(server: Server, data: DataSet, schema: str, ssbgen: Path, threads: int) -> None:
    """Makes heap tables of the same rows in `schema`, unless they exist already."""
    with server.connect("public") as connection:
        label = f"{data.label}, logged"
        if _comment(connection, schema) == label:
            return
        connection.execute("set client_min_messages = warning")
        name = sql.Identifier(schema)
        connection.execute(sql.SQL("drop schema if exists {} cascade").format(name))
        connection.execute(sql.SQL("create schema {}").format(name))
        for table in TABLES:
            _load_heap_table(connection, data, schema, table, ssbgen, threads)
        for table in TABLES:
            connection.execute(sql.SQL("vacuum (analyze) {}.{}").format(name, sql.Identifier(table)))
        connection.execute("checkpoint")
        connection.execute(sql.SQL("comment on schema {} is {}").format(name, sql.Literal(label)))


def _comment(connection: psycopg.Connection, schema: str) -> Optional[str]:
    query = "select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = %s"
    found = connection.execute(query, (schema,)).fetchone()
    return found[0] if found else None


def read_into_pool(server: Server, schema: str, names: Iterable[str] = TABLES) -> None:
    """Loads a table into shared buffers. A scan of a table larger than a quarter of them uses a ring and would leave
    nothing there."""
    with server.connect(schema) as connection:
        connection.execute("set client_min_messages = warning")
        connection.execute("create extension if not exists pg_prewarm schema public")
        for table in names:
            connection.execute("select public.pg_prewarm(%s::regclass)", (table,))


def _load_heap_table(
    connection: psycopg.Connection, data: DataSet, schema: str, table: str, ssbgen: Path, threads: int
) -> None:
    target = sql.SQL("{}.{}").format(sql.Identifier(schema), sql.Identifier(table))
    fields = pa.ipc.open_file(pa.memory_map(str(data.path(table)))).schema
    columns = sql.SQL(", ").join(
        sql.SQL("{} {} not null").format(sql.Identifier(field.name), sql.SQL(_SQL_TYPES[field.type])) for field in fields
    )
    options = ["--format", "copy", "--tables", table, "--scale", f"{data.scale:g}", "--threads", str(threads)]
    with connection.transaction(), subprocess.Popen([ssbgen, *options], stdout=subprocess.PIPE) as generator:
        connection.execute(sql.SQL("create table {} ({})").format(target, columns))
        with connection.cursor().copy(sql.SQL("copy {} from stdin (format binary)").format(target)) as copy:
            while block := generator.stdout.read(1 << 20):
                copy.write(block)
        if generator.wait() != 0:
            raise RuntimeError(f"ssbgen ended with status {generator.returncode} while loading {table}")


class PostgresEngine:
    """Runs the queries on one connection. The base of both engines inside PostgreSQL."""

    def __init__(self, name: str, connection: psycopg.Connection):
        self.name = name
        self.connection = connection
        self.version = f"PostgreSQL {connection.execute('show server_version').fetchone()[0].split()[0]}"

    def warm_up(self, query: str) -> Rows:
        return self.measure(query)[1]

    def measure(self, query: str) -> Tuple[float, Rows]:
        statement = QUERIES[query].sql
        start = time.perf_counter()
        rows = self.connection.execute(statement).fetchall()
        return (time.perf_counter() - start) * 1e3, normalise(rows)

    def plan(self, query: str, options: str = "") -> dict:
        statement = f"explain (format json{options}) {QUERIES[query].sql}"
        return self.connection.execute(statement).fetchone()[0][0]

    def answered_by(self, query: str) -> str:
        return f"{self.version} ({plans.node_names(self.plan(query)['Plan'])})"

    def close(self) -> None:
        self.connection.close()


def heap_engine(server: Server, schema: str, threads: int) -> PostgresEngine:
    """PostgreSQL alone on heap tables, with as many processes as pg_strom has threads. Without JIT, which makes these
    queries slower."""
    parallel = {"max_parallel_workers_per_gather": threads, "max_parallel_workers": max(threads, 8)}
    settings = {"pg_strom.enabled": "off", "work_mem": "256MB", "jit": "off", **parallel}
    return PostgresEngine("postgres", server.connect(schema, **settings))


def referee(server: Server, schema: str) -> PostgresEngine:
    """PostgreSQL alone on the foreign tables: gives the right answers when there are no heap tables."""
    settings = {"pg_strom.enabled": "off", "work_mem": "256MB", "jit": "off"}
    return PostgresEngine("postgres on the Arrow tables", server.connect(schema, **settings))


class StromEngine(PostgresEngine):
    """pg_strom on the foreign tables."""

    def __init__(self, server: Server, schema: str, threads: int):
        super().__init__("pg_strom", server.connect(schema, **{"pg_strom.cpu_threads": threads}))
        self.connection.execute("load 'pg_strom'")  # a query of heap tables alone would not load it
        query = "select extversion from pg_extension where extname = 'pg_strom'"
        self.version = f"pg_strom {self.connection.execute(query).fetchone()[0]} in {self.version}"

    def answered_by(self, query: str) -> str:
        """The engine's node, such as CpuPreAgg, and any other nodes that touch rows of a table."""
        return plans.worker_names(self.plan(query)["Plan"])

    def is_wholly_in_engine(self, query: str) -> bool:
        return plans.is_wholly_in_engine(self.plan(query)["Plan"])

    def anonymous_peak_mb(self, query: str) -> Optional[float]:
        """The peak of the backend's anonymous memory during one run; None when it cannot be read."""
        with _AnonymousPeak(self.connection.info.backend_pid) as peak:
            self.measure(query)
        return peak.megabytes


def measure_scans(engines: list, rows: int, runs: int, threads: int) -> List[dict]:
    """The cost of a scan by itself: `count(*)` of lineorder with a filter on its first and on its 15th column, by each
    engine inside PostgreSQL in turn. Half of the rows pass."""
    inside = [engine for engine in engines if isinstance(engine, PostgresEngine)]
    results = []
    for position in (1, 15):
        name, middle = _column_with_middle(inside[0].connection, position)
        statement = f"select count(*) from lineorder where {name} > {middle}"
        samples: Dict[str, List[float]] = {engine.name: [] for engine in inside}
        for number in range(runs + 1):
            for engine in inside:
                start = time.perf_counter()
                engine.connection.execute(statement).fetchall()
                if number > 0:  # the first one is a warming run
                    samples[engine.name].append((time.perf_counter() - start) * 1e3)
        for engine in inside:
            plan = engine.connection.execute(f"explain (format json) {statement}").fetchone()[0][0]["Plan"]
            median = statistics.median(samples[engine.name])
            # PostgreSQL's leader works in addition to its parallel workers.
            cores = threads + (0 if isinstance(engine, StromEngine) else 1)
            cores = min(cores, len(os.sched_getaffinity(0)))
            results.append({"column": position, "statement": statement, "engine": engine.name,
                            "median_ms": round(median, 4), "answered_by": plans.worker_names(plan),
                            "rows_per_s_per_core": round(rows / median * 1e3 / cores)})  # fmt: skip
    return results


def _column_with_middle(connection: psycopg.Connection, position: int) -> Tuple[str, int]:
    name = connection.execute(
        "select attname from pg_attribute where attrelid = 'lineorder'::regclass and attnum = %s", (position,)
    ).fetchone()[0]
    statement = f"select percentile_disc(0.5) within group (order by {name}) from lineorder tablesample system (5)"
    return name, connection.execute(statement).fetchone()[0]


class _AnonymousPeak:
    """Samples RssAnon of a process while a with-block runs."""

    def __init__(self, pid: int):
        self.status = Path(f"/proc/{pid}/status")
        self.samples: List[int] = []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._sample_until_done)

    def __enter__(self) -> "_AnonymousPeak":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    @property
    def megabytes(self) -> Optional[float]:
        return max(self.samples) / 1024 if self.samples else None

    def _sample_until_done(self) -> None:
        finished = False
        while not finished:
            finished = self.done.wait(0.0005)  # one more sample after the end
            try:
                for line in self.status.read_text().splitlines():
                    if line.startswith("RssAnon:"):
                        self.samples.append(int(line.split()[1]))
            except OSError:
                return


def fixed_cost(server: Server, schema: str, threads: int) -> Dict[str, object]:
    """The cost of a query before its first row, measured on data so small that scanning it takes almost no time:
    pg_strom's planning and execution against PostgreSQL's planning of the same statement. Medians in milliseconds."""
    strom, plain = StromEngine(server, schema, threads), referee(server, schema)
    samples: Dict[str, List[float]] = {"pg_strom_planning": [], "pg_strom_execution": [], "postgres_planning": []}
    for number in range(_FIXED_COST_RUNS + 3):
        ours = strom.plan("Q1_1", ", analyze, timing off, summary")
        theirs = plain.plan("Q1_1", ", summary")
        if number >= 3:  # the first ones fill caches
            samples["pg_strom_planning"].append(ours["Planning Time"])
            samples["pg_strom_execution"].append(ours["Execution Time"])
            samples["postgres_planning"].append(theirs["Planning Time"])
    answered_by = strom.answered_by("Q1_1")
    strom.close()
    plain.close()
    medians = {f"{name}_ms": round(statistics.median(values), 4) for name, values in samples.items()}
    ours = medians["pg_strom_planning_ms"] + medians["pg_strom_execution_ms"]
    return {**medians, "fixed_cost_ms": round(ours - medians["postgres_planning_ms"], 4), "answered_by": answered_by}
