#!/usr/bin/env python3
"""Star Schema Benchmark: pg_strom over Arrow files against PostgreSQL and other engines.
All run on one machine. Prints a table, and writes JSON and an SVG chart. Every answer of every engine is compared with
PostgreSQL's; the exit status is 1 when one differs or an engine fails. Called by `./strom bench ssb` and `./strom
demo`; docs/dev/benchmark.md explains what is measured and how."""
from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import chart  # noqa: E402
import hardware  # noqa: E402
import peers  # noqa: E402
import postgres  # noqa: E402
import report as reporting  # noqa: E402
from rounds import turns  # noqa: E402
from workload import QUERIES, DataSet, Rows, difference, ensure_data  # noqa: E402

ARROW_SCHEMA, HEAP_SCHEMA, FIXED_COST_SCHEMA = "ssb_arrow", "ssb_heap", "ssb_fixed_cost"
FIXED_COST_SCALE = 0.01


def parse_arguments(given: List[str]) -> argparse.Namespace:
    known = ["postgres", *peers.ENGINES_OF_PEER]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--scale", type=float, default=1, help="scale factor; lineorder has about 6,000,000 rows at 1 (default 1)")
    add("--runs", type=int, default=5, help="measured runs of each query on each engine (default 5)")
    add("--peers", default="", help=f"engines to compare with, separated by commas: {', '.join(known)}")
    add("--source", choices=("arrow", "heap"), default="arrow",
        help="pg_strom reads the Arrow files, or PostgreSQL's own tables (default arrow)")
    add("--queries", default="", help="only these queries, separated by commas, such as Q1_1,Q4_3")
    add("--threads", type=int, default=2, help="threads of every engine (default 2)")
    add("--out", type=Path, required=True, help="JSON file; the chart goes beside it, with .svg as its ending")
    add("--data-dir", type=Path, required=True, help="where generated files are kept; the server must be able to read it")
    add("--build-dir", type=Path, default=Path("build"), help="where ssbgen and bandwidth were built (default build)")
    add("--pg-socket-dir", required=True, help="folder of the server's UNIX socket")
    add("--pg-port", type=int, default=5432, help="port of the server (default 5432)")
    add("--pg-user", default="postgres", help="role, which must be a superuser (default postgres)")
    add("--pg-db", default="postgres", help="database (default postgres)")
    add("--without-pg-strom", action="store_true", help="measure the peers alone; needs --peers postgres as referee")
    arguments = parser.parse_args(given)
    arguments.peers = [peer for peer in arguments.peers.split(",") if peer]
    arguments.queries = [query for query in arguments.queries.split(",") if query] or list(QUERIES)
    if unknown := set(arguments.peers) - set(known):
        parser.error(f"unknown peers: {', '.join(sorted(unknown))} (known: {', '.join(known)})")
    if unknown := set(arguments.queries) - set(QUERIES):
        parser.error(f"unknown queries: {', '.join(sorted(unknown))} (known: {', '.join(QUERIES)})")
    if arguments.runs < 1 or arguments.threads < 1:
        parser.error("--runs and --threads must be at least 1")
    if arguments.without_pg_strom and "postgres" not in arguments.peers:
        parser.error("--without-pg-strom needs --peers postgres, whose answers are the reference")
    return arguments


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Benchmark:
    """One run: data, engines, measurements."""

    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.server = postgres.Server(
            arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db
        )
        programs = arguments.build_dir.resolve() / "bench" / "ssb"
        self.ssbgen, self.bandwidth = programs / "ssbgen", programs / "bandwidth"
        self.engines: list = []
        self.problems: List[str] = []

    def run(self) -> dict:
        arguments = self.arguments
        arguments.data_dir.mkdir(parents=True, exist_ok=True)
        self.data = ensure_data(arguments.scale, arguments.data_dir, self.ssbgen, arguments.threads)
        try:
            self.start_engines()
            results = self.measure_all()
            report = self.describe(results)
            if arguments.source == "heap":
                report["scans"] = postgres.measure_scans(self.engines, self.rows, arguments.runs, arguments.threads)
            elif not arguments.without_pg_strom:
                self.add_fixed_cost(report)
        finally:
            for engine in self.engines:
                engine.close()
        return report

    def start_engines(self) -> None:
        arguments = self.arguments
        if "postgres" in arguments.peers or arguments.source == "heap":
            say("preparing heap tables (loaded once per scale)")
            postgres.load_heap_tables(self.server, self.data, HEAP_SCHEMA, self.ssbgen, arguments.threads)
            if arguments.source == "heap":
                postgres.read_into_pool(self.server, HEAP_SCHEMA)
        if not arguments.without_pg_strom:
            self.start_pg_strom()
        if "postgres" in arguments.peers:
            self.engines.append(postgres.heap_engine(self.server, HEAP_SCHEMA, arguments.threads))
        for peer in arguments.peers:
            for name in peers.ENGINES_OF_PEER.get(peer, ()):
                say(f"starting {name}")
                self.engines.append(peers.PeerProcess(name, self.data, arguments.threads))

    def start_pg_strom(self) -> None:
        schema = HEAP_SCHEMA
        if self.arguments.source == "arrow":
            say("creating foreign tables")
            schema = ARROW_SCHEMA
            postgres.create_foreign_tables(self.server, self.data, schema)
        self.engines.append(postgres.StromEngine(self.server, schema, self.arguments.threads))

    def measure_all(self) -> List[dict]:
        self.bytes = self.data.column_bytes()
        self.rows = self.data.rows("lineorder")
        self.read_bandwidth = [self.measure_bandwidth()]
        results: List[dict] = []
        for query in self.arguments.queries:
            say(f"measuring {query}")
            results += self.measure_query(query)
        self.read_bandwidth.append(self.measure_bandwidth())
        return results

    def measure_bandwidth(self) -> float:
        """The speed of a plain sum over Q1_1's columns in GB/s."""
        command = [self.bandwidth, self.data.path("lineorder"), "--threads", str(self.arguments.threads)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return json.loads(output)["gb_per_s"]

    def measure_query(self, query: str) -> List[dict]:
        """Runs each engine once to warm it. In the following rounds each engine has a turn."""
        answers: Dict[str, Rows] = {}
        failures: Dict[str, str] = {}
        for engine in self.engines:
            try:
                answers[engine.name] = engine.warm_up(query)
            except Exception as error:
                failures[engine.name] = str(error)
        expected = self.expected_answer(query, answers)
        times: Dict[str, List[float]] = {name: [] for name in answers}
        wrong: Dict[str, str] = {name: difference(QUERIES[query], expected, rows) for name, rows in answers.items()}
        able = [engine for engine in self.engines if engine.name in answers]
        gc.disable()
        for number in range(self.arguments.runs):
            for engine in turns(able, number):
                if engine.name in failures:
                    continue
                try:
                    elapsed, rows = engine.measure(query)
                except Exception as error:
                    failures[engine.name] = str(error)
                    continue
                times[engine.name].append(elapsed)
                wrong[engine.name] = wrong[engine.name] or difference(QUERIES[query], expected, rows)
            gc.collect()
        gc.enable()
        return [self.result(query, engine, times, wrong, failures) for engine in self.engines]

    def expected_answer(self, query: str, answers: Dict[str, Rows]) -> Rows:
        if "postgres" in answers:
            return answers["postgres"]
        engine = postgres.referee(self.server, HEAP_SCHEMA if self.arguments.source == "heap" else ARROW_SCHEMA)
        try:
            return engine.measure(query)[1]
        finally:
            engine.close()

    def result(self, query: str, engine, times: dict, wrong: dict, failures: dict) -> dict:
        entry: dict = {"query": query, "engine": engine.name}
        if engine.name in failures:
            self.problems.append(f"{query}: {engine.name} failed: {failures[engine.name]}")
            return {**entry, "equal": False, "error": failures[engine.name]}
        if wrong[engine.name]:
            self.problems.append(f"{query}: {engine.name} differs from PostgreSQL: {wrong[engine.name]}")
        samples = times[engine.name]
        median = statistics.median(samples)
        size = sum(self.bytes[column] for column in QUERIES[query].columns)
        entry.update(
            median_ms=round(median, 4),
            min_ms=round(min(samples), 4),
            max_ms=round(max(samples), 4),
            rows_per_s=round(self.rows / median * 1e3),
            gb_per_s=round(size / median / 1e6, 4),
            answered_by=engine.answered_by(query),
            equal=not wrong[engine.name],
        )
        if isinstance(engine, postgres.StromEngine):
            entry["wholly_in_engine"] = engine.is_wholly_in_engine(query)
            entry["anon_peak_mb"] = engine.anonymous_peak_mb(query)
        return entry

    def describe(self, results: List[dict]) -> dict:
        arguments = self.arguments
        report = {
            "hardware": hardware.describe(),
            "versions": {engine.name: engine.version for engine in self.engines},
            "scale": arguments.scale,
            "lineorder_rows": self.rows,
            "data": self.data.label,
            "source": arguments.source,
            "runs": arguments.runs,
            "threads": arguments.threads,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "read_bandwidth_gb_s": max(self.read_bandwidth),
            "figures": reporting.figures(results),
            "results": results,
        }
        for result in results:
            if (result["query"], result["engine"]) == ("Q1_1", "pg_strom") and "gb_per_s" in result:
                report["q1_1_share_of_read_bandwidth"] = round(result["gb_per_s"] / report["read_bandwidth_gb_s"], 4)
        return report

    def add_fixed_cost(self, report: dict) -> None:
        arguments = self.arguments
        data = ensure_data(FIXED_COST_SCALE, arguments.data_dir, self.ssbgen, arguments.threads)
        postgres.create_foreign_tables(self.server, data, FIXED_COST_SCHEMA)
        cost = postgres.fixed_cost(self.server, FIXED_COST_SCHEMA, arguments.threads)
        report["fixed_cost_ms"] = cost.pop("fixed_cost_ms")
        report["fixed_cost"] = cost


def print_report(report: dict, machine: str) -> None:
    print(f"Star Schema Benchmark, scale {report['scale']:g}: {report['lineorder_rows']:,} rows in lineorder")
    print(machine)
    print(", ".join(dict.fromkeys(report["versions"].values())))
    print(f"Median of {report['runs']} runs, {report['threads']} threads each; beside it, times pg_strom's\n")
    print(reporting.time_table(report))
    print()
    if "pg_strom" in report["versions"]:
        print(reporting.engine_table(report, "pg_strom"))
        print()
    for line in reporting.summary_lines(report):
        print(line)


def main(given: List[str]) -> int:
    arguments = parse_arguments(given)
    benchmark = Benchmark(arguments)
    try:
        report = benchmark.run()
    except (psycopg.Error, peers.EngineError, RuntimeError, OSError, subprocess.CalledProcessError) as error:
        say(f"the benchmark could not go on: {error}")
        return 1
    machine = hardware.summary(report["hardware"])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    chart_path = arguments.out.with_suffix(".svg")
    chart_path.write_text(chart.draw(report, machine))
    print_report(report, machine)
    print(f"\nWritten: {arguments.out} and {chart_path}")
    for problem in benchmark.problems:
        print(problem, file=sys.stderr)
    if not benchmark.problems:
        print("All answers are equal to PostgreSQL's.")
    return 1 if benchmark.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
