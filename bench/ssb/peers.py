"""The engines that pg_strom is compared with, except PostgreSQL. Each runs in a process of its own, so that neither
memory nor settings mix. run.py sends the process the name of a query and gets milliseconds and rows. The time is that
of the client's call, from the query's text (or expression) to all rows as Python objects. docs/dev/benchmark.md says
which mode of each engine was chosen, and why."""
from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import tempfile
import time
import traceback
from pathlib import Path
from typing import Callable, Dict, Tuple

from workload import QUERIES, TABLES, USED_COLUMNS, DataSet, Rows, normalise


class DuckdbArrow:
    """DuckDB over pyarrow's memory maps of the same files."""

    def __init__(self, data: DataSet, threads: int):
        import duckdb
        import pyarrow

        pyarrow.set_cpu_count(threads)
        self.version = f"DuckDB {duckdb.__version__}"
        self.connection = duckdb.connect(config={"threads": threads})
        for table in TABLES:
            self.connection.register(table, data.mapped(table))

    def run(self, name: str):
        return self.connection.execute(QUERIES[name].sql).fetchall()


class DuckdbDataset:
    """DuckDB over pyarrow's datasets of the same files. Each query reads the files, but only the columns that it
    uses."""

    def __init__(self, data: DataSet, threads: int):
        import duckdb
        import pyarrow
        import pyarrow.dataset

        pyarrow.set_cpu_count(threads)
        self.version = f"DuckDB {duckdb.__version__}"
        self.connection = duckdb.connect(config={"threads": threads})
        for table in TABLES:
            self.connection.register(table, pyarrow.dataset.dataset(str(data.path(table)), format="ipc"))

    def run(self, name: str):
        return self.connection.execute(QUERIES[name].sql).fetchall()


class DuckdbParquet:
    """DuckDB over Parquet files, with its own reader."""

    def __init__(self, data: DataSet, threads: int):
        import duckdb

        self.version = f"DuckDB {duckdb.__version__}"
        self.connection = duckdb.connect(config={"threads": threads})
        for table in TABLES:
            self.connection.execute(f"create view {table} as select * from read_parquet('{data.path(table)}')")

    def run(self, name: str):
        return self.connection.execute(QUERIES[name].sql).fetchall()


class DuckdbNative(DuckdbArrow):
    """DuckDB over its own tables in memory, without columns that no query uses."""

    def __init__(self, data: DataSet, threads: int):
        super().__init__(data, threads)
        for table in TABLES:
            columns = ", ".join(name for name in data.mapped(table).column_names if name in USED_COLUMNS)
            self.connection.unregister(table)
            self.connection.register("source", data.mapped(table))
            self.connection.execute(f"create table {table} as select {columns} from source")
            self.connection.unregister("source")


class Polars:
    """Polars over pyarrow's memory maps of the same files. At the start its text columns become views."""

    TRIALS = 3

    def __init__(self, data: DataSet, threads: int):
        os.environ["POLARS_MAX_THREADS"] = str(threads)
        import polars

        self.version = f"Polars {polars.__version__}"
        self.tables = {}
        for table in TABLES:
            mapped = data.mapped(table)
            used = mapped.select([name for name in mapped.column_names if name in USED_COLUMNS])
            self.tables[table] = polars.from_arrow(used, rechunk=False).lazy()
        self.faster: Dict[str, str] = {}

    def run(self, name: str):
        return self._collect(name, self.faster[name])

    def warm_up(self, name: str):
        """Chooses the faster of Polars' two engines for this query, and measures that one."""

        def best(engine: str) -> float:
            return min(_timed(lambda: self._collect(name, engine))[0] for _ in range(self.TRIALS))

        self.faster[name] = min(("in-memory", "streaming"), key=best)

    def _collect(self, name: str, engine: str):
        import polars_queries

        return polars_queries.QUERIES[name](self.tables).collect(engine=engine).rows()


class Datafusion:
    """DataFusion over the memory-mapped record batches, divided into as many partitions as there are threads."""

    def __init__(self, data: DataSet, threads: int):
        os.environ["TOKIO_WORKER_THREADS"] = str(threads)
        import datafusion

        self.version = f"DataFusion {datafusion.__version__}"
        self.context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(threads))
        for table in TABLES:
            batches = data.mapped(table).to_batches()
            parts = [batches[first::threads] for first in range(min(threads, len(batches)))]
            self.context.register_record_batches(table, parts)

    def run(self, name: str):
        batches = self.context.sql(QUERIES[name].sql).collect()
        return [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns))]


class Clickhouse:
    """ClickHouse inside the process (chdb), with MergeTree tables ordered as in ClickHouse's own SSB guide."""

    ORDER = {"lineorder": "lo_orderdate, lo_orderkey", "date1": "d_datekey", "customer": "c_custkey",
             "supplier": "s_suppkey", "part": "p_partkey"}  # fmt: skip

    def __init__(self, data: DataSet, threads: int):
        from chdb import session

        self.folder = tempfile.mkdtemp(prefix="ssb-clickhouse-", dir=data.folder.parent)
        self.session = session.Session(self.folder)
        self.version = f"ClickHouse {self.session.query('select version()').bytes().decode().strip().strip(chr(34))} (chdb)"
        self.session.query("create database ssb")
        self.session.query("use ssb")
        for table in TABLES:
            self.session.query(
                f"create table {table} engine = MergeTree order by ({self.ORDER[table]}) "
                f"as select * from file('{data.path(table)}', 'Arrow')"
            )
            self.session.query(f"optimize table {table} final")
        self.settings = f" settings max_threads = {threads}, aggregate_functions_null_for_empty = 1"

    def run(self, name: str):
        table = self.session.query(QUERIES[name].sql + self.settings, "ArrowTable")
        return list(zip(*(column.to_pylist() for column in table.columns)))

    def close(self):
        self.session.close()
        shutil.rmtree(self.folder, ignore_errors=True)


ENGINES: Dict[str, Callable] = {
    "duckdb_arrow": DuckdbArrow,
    "duckdb_dataset": DuckdbDataset,
    "duckdb_native": DuckdbNative,
    "duckdb_parquet": DuckdbParquet,
    "polars": Polars,
    "datafusion": Datafusion,
    "clickhouse": Clickhouse,
}

# The engines for each name of --peers.
ENGINES_OF_PEER = {
    "duckdb": ("duckdb_arrow", "duckdb_native"),
    "polars": ("polars",),
    "datafusion": ("datafusion",),
    "clickhouse": ("clickhouse",),
}


def _timed(call: Callable) -> Tuple[float, object]:
    start = time.perf_counter()
    rows = call()
    return (time.perf_counter() - start) * 1e3, rows


def _serve(pipe, name: str, data: DataSet, threads: int) -> None:
    """The child process: builds the engine, then answers queries until the pipe closes."""
    try:
        engine = ENGINES[name](data, threads)
        pipe.send(("ready", engine.version))
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))
        return
    gc.disable()
    while True:
        try:
            kind, query = pipe.recv()
        except EOFError:
            break
        try:
            if kind == "warm_up" and hasattr(engine, "warm_up"):
                engine.warm_up(query)
            elapsed, rows = _timed(lambda: engine.run(query))
            pipe.send(("done", elapsed, normalise(rows)))
        except BaseException:
            pipe.send(("failed", traceback.format_exc()))
        gc.collect()
    if hasattr(engine, "close"):
        engine.close()


class EngineError(Exception):
    """An engine could not start or could not answer."""


class PeerProcess:
    """One of ENGINES in a process of its own."""

    def __init__(self, name: str, data: DataSet, threads: int):
        self.name = name
        context = multiprocessing.get_context("spawn")
        self.pipe, child = context.Pipe()
        self.process = context.Process(target=_serve, args=(child, name, data, threads), daemon=True)
        self.process.start()
        child.close()
        self.version = self._receive("ready")[0]

    def warm_up(self, query: str) -> Rows:
        return self._ask("warm_up", query)[1]

    def measure(self, query: str) -> Tuple[float, Rows]:
        """Milliseconds and rows of one run."""
        elapsed, rows = self._ask("run", query)
        return elapsed, rows

    def answered_by(self, query: str) -> str:
        return self.version

    def close(self) -> None:
        self.pipe.close()
        self.process.join(timeout=60)

    def _ask(self, kind: str, query: str):
        self.pipe.send((kind, query))
        return self._receive("done")

    def _receive(self, wanted: str):
        try:
            kind, *content = self.pipe.recv()
        except EOFError:
            self.process.join()
            raise EngineError(f"{self.name}: its process ended with status {self.process.exitcode}") from None
        if kind != wanted:
            raise EngineError(f"{self.name}: {content[0]}")
        return content
