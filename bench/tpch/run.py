#!/usr/bin/env python3
"""TPC-H: pg_strom over PostgreSQL's heap tables against PostgreSQL without it and DuckDB.
Prints a table with the nodes that ran, and writes JSON and an SVG chart. The exit status is 1 when an answer differs
from PostgreSQL's. Called by `./strom bench tpch`; docs/dev/benchmark.md explains it."""
from __future__ import annotations

import argparse
import datetime
import decimal
import json
import math
import statistics
import sys
import time
from pathlib import Path
from typing import Dict, List

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
for folder in ("common", "ssb"):
    sys.path.insert(0, str(HERE.parent / folder))

import chart  # noqa: E402
import hardware  # noqa: E402
import plans  # noqa: E402
import report as reporting  # noqa: E402
from postgres import Server, read_into_pool  # noqa: E402
from rounds import turns  # noqa: E402
from tables import COLUMNS, SCHEMA, declaration, generate, label_of, load, statements  # noqa: E402

TIMEOUT_S = 300
PUBLISHED = json.loads((HERE / "answers.json").read_text())  # the specification's, at scale 1, as far as they are compared


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Postgres:
    def __init__(self, server: Server, name: str, enabled: bool, threads: int):
        self.name = name
        settings = {"pg_strom.enabled": "on" if enabled else "off", "pg_strom.cpu_threads": threads, "jit": "off",
                    "work_mem": "256MB", "max_parallel_workers_per_gather": threads,
                    "statement_timeout": f"{TIMEOUT_S}s"}  # fmt: skip
        self.connection = server.connect(SCHEMA, **settings)
        self.connection.execute("load 'pg_strom'")
        self.version = f"PostgreSQL {self.connection.execute('show server_version').fetchone()[0].split()[0]}"

    def run(self, statement: str) -> list:
        return self.connection.execute(statement).fetchall()

    def nodes(self, statement: str) -> str:
        plan = self.connection.execute(f"explain (format json) {statement}").fetchone()[0][0]["Plan"]
        return plans.worker_names(plan)


class Duckdb:
    name = "duckdb"

    def __init__(self, files: Dict[str, Path], threads: int):
        import duckdb

        self.version = f"DuckDB {duckdb.__version__}"
        self.connection = duckdb.connect(config={"threads": threads})
        for name, file in files.items():
            self.connection.execute(f"create table {name} ({declaration(name)})")
            self.connection.execute(f"copy {name} from '{file}' (format csv, header)")

    def run(self, statement: str) -> list:
        return self.connection.execute(statement).fetchall()

    def nodes(self, statement: str) -> str:
        return self.version


def exact(rows: list) -> list:
    """Compares two runs of PostgreSQL: the display scale counts."""
    return [tuple(map(str, row)) for row in rows]


def alike(one: object, two: object) -> bool:
    """Compares with another engine, whose averages and quotients are floating-point numbers."""
    numbers = (int, float, decimal.Decimal)
    if isinstance(one, numbers) and isinstance(two, numbers):
        return math.isclose(float(one), float(two), rel_tol=1e-9)
    if isinstance(one, datetime.date) or isinstance(two, datetime.date):
        return str(one)[:10] == str(two)[:10]
    return str(one).rstrip() == str(two).rstrip()  # only PostgreSQL pads char(n)


def difference(expected: list, found: list, engine) -> str:
    if len(expected) != len(found):
        return f"{len(found)} rows instead of {len(expected)}"
    if isinstance(engine, Postgres):
        pairs = [(a, b) for a, b in zip(exact(expected), exact(found)) if a != b]
    else:
        pairs = [(a, b) for a, b in zip(expected, found) if not all(map(alike, a, b))]
    return f"{pairs[0][1]} instead of {pairs[0][0]}" if pairs else ""


def published(name: str, rows: list) -> str:
    """The difference from the specification's answer at scale 1, which has two digits behind the decimal point."""
    if name not in PUBLISHED:
        return ""
    wanted = PUBLISHED[name]
    if len(rows) != wanted["rows"]:
        return f"{len(rows)} rows, {wanted['rows']} are published"
    for row, line in zip(rows, wanted["first"]):
        for value, text in zip(row, line.split("|"), strict=True):
            number = isinstance(value, (float, decimal.Decimal))
            if abs(float(value) - float(text)) > 0.0051 if number else str(value).rstrip() != text:
                return f"{value} where {text} is published"
    return ""


class Bench:
    def __init__(self, engines: list, runs: int, scale: float):
        self.engines, self.runs, self.scale = engines, runs, scale
        self.problems: List[str] = []

    def query(self, name: str, statement: str) -> List[dict]:
        answers, failures = {}, {}
        for engine in self.engines:
            try:
                answers[engine.name] = engine.run(statement)
            except Exception as error:
                failures[engine.name] = str(error).splitlines()[0]
        times: Dict[str, List[float]] = {engine.name: [] for engine in self.engines}
        for number in range(self.runs):
            for engine in turns(self.engines, number):
                if engine.name in failures:
                    continue
                start = time.perf_counter()
                engine.run(statement)
                times[engine.name].append((time.perf_counter() - start) * 1e3)
        if self.scale == 1 and "postgres" in answers:
            wrong = published(name, answers["postgres"])
            self.problems += [f"{name}: PostgreSQL: {wrong}"] if wrong else []
        results = []
        for engine in self.engines:
            entry = {"query": name, "engine": engine.name, "answered_by": engine.nodes(statement)}
            if engine.name in failures:
                entry.update(equal=False, error=failures[engine.name])
            else:
                wrong = difference(answers["postgres"], answers[engine.name], engine) if "postgres" in answers else ""
                entry.update(median_ms=round(statistics.median(times[engine.name]), 4), equal=not wrong)
                entry.update({"difference": wrong} if wrong else {})
            if not entry["equal"]:
                self.problems.append(f"{name}: {engine.name}: {entry.get('error') or entry['difference']}")
            results.append(entry)
        return results


def node_table(results: List[dict]) -> str:
    rows = [["query", "pg_strom's nodes that touch rows"]]
    rows += [[r["query"], r["answered_by"]] for r in results if r["engine"] == "pg_strom"]
    width = max(len(row[0]) for row in rows)
    return "\n".join(f"{row[0]:{width}}  {row[1]}" for row in rows)


def main(given: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--scale", type=float, default=1)
    add("--runs", type=int, default=3)
    add("--threads", type=int, default=2)
    add("--queries", default="", help="only these, separated by commas, such as Q01,Q18")
    add("--without-duckdb", action="store_true")
    add("--out", type=Path, required=True, help="JSON file; the chart goes beside it")
    add("--data-dir", type=Path, required=True, help="folder for the tables' rows as CSV files")
    add("--pg-socket-dir", required=True)
    add("--pg-port", type=int, default=5432)
    add("--pg-user", default="postgres")
    add("--pg-db", default="postgres")
    arguments = parser.parse_args(given)
    server = Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db)
    say("generating")
    label = label_of(arguments.scale)
    files = generate(arguments.data_dir, arguments.scale)
    say("preparing heap tables (loaded once per scale)")
    load(server, files, label)
    engines: list = [Postgres(server, "pg_strom", True, arguments.threads),
                     Postgres(server, "postgres", False, arguments.threads)]  # fmt: skip
    read_into_pool(server, SCHEMA, COLUMNS)
    if not arguments.without_duckdb:
        engines.append(Duckdb(files, arguments.threads))
    bench = Bench(engines, arguments.runs, arguments.scale)
    queries = statements(arguments.scale)
    wanted = arguments.queries.split(",") if arguments.queries else list(queries)
    results = []
    for name in wanted:
        say(f"measuring {name}")
        results += bench.query(name, queries[name])
    machine = hardware.describe()
    report = {
        "benchmark": "TPC-H", "hardware": machine, "versions": {engine.name: engine.version for engine in engines}, "scale": arguments.scale,
        "data": label, "lineorder_rows": engines[1].run("select count(*) from lineitem")[0][0], "runs": arguments.runs,
        "threads": arguments.threads, "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "figures": reporting.figures(results), "results": results,
    }  # fmt: skip
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    chart_path = arguments.out.with_suffix(".svg")
    chart_path.write_text(chart.draw(report, hardware.summary(machine)))
    print(f"{label}; median of {arguments.runs} runs, {arguments.threads} threads each; beside it, times pg_strom's")
    print(hardware.summary(machine), "\n")
    print(reporting.time_table(report), "\n")
    print(node_table(results), "\n")
    for name, entry in report["figures"].items():
        print(f"pg_strom against {name}: {entry['geometric_mean']:.2f}x in geometric mean of {entry['queries']} queries, "
              f"at least {entry['lowest']:.2f}x ({entry['lowest_query']})")  # fmt: skip
    print(f"Written: {arguments.out} and {chart_path}")
    for problem in bench.problems:
        print(problem)
    if not bench.problems:
        print("All answers are equal to PostgreSQL's." + (" Those that were compared are the published ones." if arguments.scale == 1 else ""))
    return 1 if bench.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
