#!/usr/bin/env python3
"""Rows of PostgreSQL in Python: our sessions against other drivers, our exports against a plain copy.
Prints a table and writes JSON. Called by `./strom bench python`; docs/dev/benchmark.md explains what is measured and
how."""
from __future__ import annotations

import argparse
import functools
import json
import mmap
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Dict, List, Optional
from urllib.parse import quote

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("bench/common", "bench/ssb", "python"):
    sys.path.insert(0, str(ROOT / folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import options  # noqa: E402
import postgres  # noqa: E402
from options import say  # noqa: E402
from rounds import in_rounds  # noqa: E402
from workload import ensure_data  # noqa: E402

HEAP, ARROW, EXPORT = "ssb_heap", "ssb_arrow", "python_export"
TASKS = ["heap", "arrow", "arrow filtered", "export"]
CONTENDERS = Path(__file__).resolve().parent / "contenders.py"
FEW = ["lo_quantity", "lo_orderkey", "lo_extendedprice"]
WHERE = "lo_discount BETWEEN 1 AND 3 AND lo_quantity BETWEEN 1 AND 24"
BATCH_ROWS = 1 << 20
SLOW_S = 5  # psycopg takes a minute for 17 columns of 10 million rows
# For each task the least ratio of a rival's time to ours.
WANTED = {
    "heap": {"adbc": 8, "psycopg": 15},
    "arrow": {"pyarrow": 0.8},
    "arrow filtered": {"pyarrow": 1, "polars": 1, "adbc": 1, "connectorx": 1},
}


def median(measured: List[dict], name: str) -> float:
    return statistics.median(run[name] for run in measured)


class Benchmark:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.server = postgres.Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db)
        place = quote(arguments.pg_socket_dir, safe="")
        self.uri = f"postgresql://{arguments.pg_user}@{place}:{arguments.pg_port}/{arguments.pg_db}"
        self.figures: List[figures.Figure] = []

    def prepare(self) -> None:
        arguments = self.arguments
        ssbgen = arguments.build_dir.resolve() / "bench" / "ssb" / "ssbgen"
        self.data = ensure_data(arguments.scale, arguments.data_dir.resolve(), ssbgen, arguments.threads)
        say("loading PostgreSQL")
        postgres.load_heap_tables(self.server, self.data, HEAP, ssbgen, arguments.threads)
        postgres.create_foreign_tables(self.server, self.data, ARROW)
        import pyarrow as pa

        self.file = self.data.path("lineorder")
        self.columns = pa.ipc.open_file(pa.memory_map(str(self.file))).schema.names

    # Queries.

    def once(self, contender: str, form: str, source: str, what: str, columns: List[str]) -> dict:
        command = [sys.executable, str(CONTENDERS), contender, str(self.arguments.threads), form, source, what, ",".join(columns)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "POLARS_MAX_THREADS": str(self.arguments.threads)}
        process = subprocess.run(command, capture_output=True, text=True, env=environment)
        if process.returncode != 0:
            raise RuntimeError(process.stderr.strip().splitlines()[-1] if process.stderr.strip() else f"status {process.returncode}")
        return json.loads(process.stdout.strip().splitlines()[-1])

    def task(self, kind: str, form: str, columns: List[str]) -> dict:
        name = f"{kind}, {len(columns)} columns, {form}"
        say(f"measuring {name}")
        schema = HEAP if kind == "heap" else ARROW
        query = f"SELECT {', '.join(columns)} FROM {schema}.lineorder" + (f" WHERE {WHERE}" if "filtered" in kind else "")
        drivers = ["strom", "adbc", "connectorx", "psycopg", "duckdb"] if kind == "heap" else ["strom", "adbc", "connectorx"]
        contenders = {driver: functools.partial(self.once, driver, form, self.uri, query, columns) for driver in drivers}
        if kind != "heap":
            for reader in ("pyarrow", "polars"):
                contenders[reader] = functools.partial(self.once, reader, form, str(self.file),
                                                       "filtered" if "filtered" in kind else "", columns)
        measured, failures = in_rounds(contenders, self.arguments.runs, SLOW_S)
        answers = {(run["rows"], run["checksum"]) for runs in measured.values() for run in runs}
        if len(answers) != 1:
            raise RuntimeError(f"{name}: the contenders do not agree: {answers}")
        results = [{"contender": contender, "runs": len(runs), "median_s": round(median(runs, "seconds"), 4),
                    "rows_per_s": round(runs[0]["rows"] / median(runs, "seconds")),
                    "before_mb": round(median(runs, "before_mb")), "peak_mb": round(max(run["peak_mb"] for run in runs)),
                    "result_mb": round(runs[0]["result_bytes"] / 2**20)} for contender, runs in measured.items()]
        times: Dict[str, float] = {result["contender"]: result["median_s"] for result in results}
        for rival, wanted in WANTED[kind].items():
            self.figures.append(figures.ratio(f"{name}: {rival}'s time / ours", times.get(rival), times.get("strom"), wanted))
        ours = next(result for result in results if result["contender"] == "strom")
        if form == "arrow":
            copies = (ours["peak_mb"] - ours["before_mb"]) / max(1, ours["result_mb"])
            self.figures.append(figures.Figure(f"{name}: peak memory / the result's", round(copies, 2), 1.5, "x", True))
        return {"task": name, "rows": next(iter(answers))[0], "results": results, "failures": failures}

    # Exports.

    def export_file(self) -> Path:
        """Three float4 columns."""
        import numpy
        import pyarrow as pa

        rows = self.arguments.export_rows
        path = self.arguments.data_dir.resolve() / f"export-{rows}.arrow"
        if path.exists():
            return path
        say(f"writing {path.name}")
        random = numpy.random.default_rng(1)
        schema = pa.schema([(name, pa.float32()) for name in "xyz"])
        unfinished = path.with_suffix(".part")
        with pa.ipc.new_file(str(unfinished), schema) as writer:
            for begin in range(0, rows, BATCH_ROWS):
                count = min(BATCH_ROWS, rows - begin)
                writer.write_batch(pa.record_batch([random.random(count, dtype="f4") for _ in schema], schema=schema))
        unfinished.rename(path)
        return path

    def copy_seconds(self, path: Path, size: int) -> float:
        """Copies the file's bytes once into new shared memory, with all threads: the least that an export has to do."""
        import numpy

        source = numpy.memmap(path, dtype="u1", mode="r")
        descriptor = os.memfd_create("copy")
        os.ftruncate(descriptor, size)
        target = numpy.frombuffer(mmap.mmap(descriptor, size), dtype="u1")
        os.close(descriptor)
        cuts = [size * number // self.arguments.threads for number in range(self.arguments.threads + 1)]
        copies = [threading.Thread(target=numpy.copyto, args=(target[low:high], source[low:high]))
                  for low, high in zip(cuts, cuts[1:])]
        begin = time.perf_counter()
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.join()
        return time.perf_counter() - begin

    def exports(self) -> dict:
        import strom

        path, rows = self.export_file(), self.arguments.export_rows
        size = rows * 12
        say(f"measuring exports of {rows:,} rows")
        with self.server.connect("public") as connection:
            connection.execute("set client_min_messages = warning")
            connection.execute(f"drop schema if exists {EXPORT} cascade; create schema {EXPORT}")
            connection.execute(f"create foreign table {EXPORT}.t (x real, y real, z real) server arrow_fdw options (file '{path}')")
            connection.execute(f"analyze {EXPORT}.t")
            connection.execute(f"create table {EXPORT}.heap as select x, y, z from {EXPORT}.t limit 10000000")
            connection.execute(f"vacuum analyze {EXPORT}.heap")

            def export(table: str) -> dict:
                begin = time.perf_counter()
                identifier = connection.execute("select pgstrom.arrow_fdw_export_cupy(%s, '{x,y,z}')", (f"{EXPORT}.{table}",)).fetchone()[0]
                exported = time.perf_counter()
                matrix = strom.open_export(identifier).matrix()
                imported = time.perf_counter()
                if matrix.shape[0] != 3:
                    raise RuntimeError(f"an export of the shape {matrix.shape}")
                connection.execute("select pgstrom.arrow_fdw_put_gpu_buffer(%s)", (identifier,))
                return {"seconds": exported - begin, "import_seconds": imported - exported}

            def export_again() -> dict:
                first = connection.execute("select pgstrom.arrow_fdw_export_cupy(%s, '{x,y,z}')", (f"{EXPORT}.t",)).fetchone()[0]
                again = export("t")
                connection.execute("select pgstrom.arrow_fdw_put_gpu_buffer(%s)", (first,))
                return again

            measured, failures = in_rounds({"export": lambda: export("t"), "copy": lambda: {"seconds": self.copy_seconds(path, size)},
                                            "export of columns that are exported already": export_again,
                                            "export of a heap table": lambda: export("heap")}, self.arguments.runs)
        if failures:
            raise RuntimeError(str(failures))
        seconds, copy = median(measured["export"], "seconds"), median(measured["copy"], "seconds")
        again = median(measured["export of columns that are exported already"], "seconds")
        self.figures += [
            figures.Figure("export of columns that are exported already: share of a copy's time", round(100 * again / copy, 1), 5, "%", True),
            figures.Figure("export: share of the copy's bandwidth", round(100 * copy / seconds, 1), 60, "%"),
            figures.Figure("import", round(1000 * median(measured["export"], "import_seconds"), 3), 1, "ms", True),
        ]
        return {"task": f"export of 3 columns of {rows:,} rows", "bytes": size,
                "results": [{"contender": name, "median_s": round(median(runs, "seconds"), 4)} for name, runs in measured.items()]}

    def run(self) -> dict:
        arguments = self.arguments
        load: List[float] = [round(os.getloadavg()[0], 1)]
        self.prepare()
        tasks: List[dict] = []
        for kind in arguments.tasks:
            if kind == "export":
                tasks.append(self.exports())
                continue
            for columns in (FEW, self.columns):
                for form in ("arrow", "pandas") if kind == "heap" else ("arrow",):
                    # The first column of both tables is the same, so that the sums can be compared.
                    tasks.append(self.task(kind, form, FEW + [name for name in columns if name not in FEW]))
        load.append(round(os.getloadavg()[1], 1))
        return {"benchmark": "python", "scale": arguments.scale, "threads": arguments.threads, "runs": arguments.runs,
                "load_average": load, "hardware": hardware.describe(), "tasks": tasks, "figures": figures.as_json(self.figures)}


def show(report: dict) -> None:
    for task in report["tasks"]:
        print(f"\n{task['task']}")
        ours: Optional[float] = task["results"][0]["median_s"]
        for result in task["results"]:
            memory = f"  {result['peak_mb']:6} MB" if "peak_mb" in result else ""
            print(f"  {result['contender']:30} {result['median_s']:9.3f} s{memory}  {result['median_s'] / ours:6.2f}x")
        for name, failure in task.get("failures", {}).items():
            print(f"  {name:30} failed: {failure}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--scale", type=float, default=1.7, help="scale factor of lineorder (default 1.7: 10 million rows)")
    add("--export-rows", type=int, default=100_000_000, help="rows of the exported table (default 100 million)")
    add("--runs", type=int, default=3, help="measured runs of each contender (default 3)")
    add("--threads", type=int, default=2, help="workers, partitions or threads of each contender (default 2)")
    options.add_tasks(parser, TASKS)
    options.add_out(parser)
    options.add_folders(parser)
    options.add_server(parser)
    arguments = parser.parse_args()
    benchmark = Benchmark(arguments)
    report = benchmark.run()
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    show(report)
    figures.show(benchmark.figures)
    say(f"\nwrote {arguments.out}")


if __name__ == "__main__":
    main()
