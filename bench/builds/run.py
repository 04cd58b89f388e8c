#!/usr/bin/env python3
"""Compares two builds of pg_strom, each in a server of its own.
"before" is the build of another checkout, "after" that of this one. Runs the Star Schema Benchmark over Arrow files and
over heap tables, and TPC-H; both builds run each query in turn. Servers are restarted between passes, since the memory
that a server happens to get makes single queries faster or slower for as long as it runs. The exit status is 1 when
answers differ. Called by `./strom bench builds`; docs/dev/benchmark.md explains it."""
from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
for folder in ("common", "ssb", "tpch"):
    sys.path.insert(0, str(HERE.parent / folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import options  # noqa: E402
import postgres  # noqa: E402
import tables  # noqa: E402
from options import say  # noqa: E402
from rounds import in_rounds  # noqa: E402
from workload import QUERIES, TABLES, ensure_data  # noqa: E402

WORKLOADS = ("arrow", "heap", "tpch")
MOST_OF_BEFORE = 1.03  # times the time of the build before
STATISTICS_TARGET = 1000
OWN_VARIABLES = ("STROM_STATE", "STROM_SERVER", "PG_CONFIG")  # of this checkout's ./strom


def parse_arguments(given: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    options.add_server(parser)
    options.add_out(parser)
    options.add_folders(parser)
    options.add_tasks(parser, WORKLOADS)
    add("--before-socket-dir", required=True, help="folder of the other build's server's UNIX socket")
    add("--before-port", type=int, required=True)
    add("--before-checkout", type=Path, required=True)
    add("--scale", type=float, default=5, help="of the Star Schema Benchmark (default 5)")
    add("--tpch-scale", type=float, default=1, help="of TPC-H (default 1)")
    add("--passes", type=int, default=3, help="both servers are restarted for each (default 3)")
    add("--runs", type=int, default=5, help="measured runs of each query on each build in a pass (default 5)")
    add("--threads", type=int, default=2)
    add("--prepare", action="store_true", help="load the tables and measure nothing")
    return parser.parse_args(given)


def statements(workload: str, scale: float) -> Dict[str, str]:
    return tables.statements(scale) if workload == "tpch" else {name: query.sql for name, query in QUERIES.items()}


class Builds:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.servers = {
            "before": postgres.Server(arguments.before_socket_dir, arguments.before_port, arguments.pg_user, arguments.pg_db),
            "after": postgres.Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db),
        }
        self.problems: List[str] = []

    def prepare(self, workload: str) -> str:
        """Makes the workload's tables in both servers; returns their schema."""
        arguments = self.arguments
        if workload == "tpch":
            files = tables.generate(arguments.data_dir / "tpch", arguments.tpch_scale)
            for server in self.servers.values():
                tables.load(server, files, tables.label_of(arguments.tpch_scale))
            self.analyze(tables.SCHEMA, tables.COLUMNS)
            return tables.SCHEMA
        ssbgen = arguments.build_dir.resolve() / "bench" / "ssb" / "ssbgen"
        data = ensure_data(arguments.scale, arguments.data_dir / "ssb", ssbgen, arguments.threads)
        schema = f"ssb_{workload}"
        for server in self.servers.values():
            if workload == "arrow":
                postgres.create_foreign_tables(server, data, schema)
            else:
                postgres.load_heap_tables(server, data, schema, ssbgen, arguments.threads)
        self.analyze(schema, TABLES)
        return schema

    def analyze(self, schema: str, names: Iterable[str]) -> None:
        """With samples so large that both servers see the same, and choose the same plans."""
        for server in self.servers.values():
            with server.connect(schema, default_statistics_target=STATISTICS_TARGET) as connection:
                for name in names:
                    connection.execute(f"analyze {name}")

    def connections(self, workload: str, schema: str) -> dict:
        settings = {"pg_strom.cpu_threads": self.arguments.threads, "jit": "off", "work_mem": "256MB",
                    "max_parallel_workers_per_gather": self.arguments.threads}  # fmt: skip
        opened = {}
        for name, server in self.servers.items():
            if workload != "arrow":
                postgres.read_into_pool(server, schema, TABLES if workload == "heap" else tables.COLUMNS)
            opened[name] = server.connect(schema, **settings)
            opened[name].execute("load 'pg_strom'")
        return opened

    def restart(self) -> None:
        others = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
        for checkout, variables in ((self.arguments.before_checkout, others), (HERE.parent.parent, dict(os.environ))):
            for command in ("stop", "start"):
                subprocess.run([checkout / "strom", command], env=variables, stdout=sys.stderr, check=True)

    def measure(self, name: str, statement: str, connections: dict) -> Dict[str, float]:
        """The median times of both in milliseconds."""
        answers = {build: sorted(map(repr, connection.execute(statement).fetchall()))
                   for build, connection in connections.items()}  # fmt: skip
        if answers["before"] != answers["after"]:
            self.problems.append(f"{name}: the answers of the two builds differ")

        def once(connection) -> dict:
            start = time.perf_counter()
            connection.execute(statement).fetchall()
            return {"ms": (time.perf_counter() - start) * 1e3}

        # The answers came from the first run that warms. The second one finds its columns in the cache.
        contenders = {build: functools.partial(once, connection) for build, connection in connections.items()}
        measured, failures = in_rounds(contenders, self.arguments.runs)
        if failures:
            raise RuntimeError(f"{name}: {failures}")
        return {build: statistics.median(run["ms"] for run in runs) for build, runs in measured.items()}

    def passes(self, workload: str, schema: str) -> Dict[str, List[Dict[str, float]]]:
        """The medians of each query in each pass."""
        found: Dict[str, List[Dict[str, float]]] = {}
        for number in range(1, self.arguments.passes + 1):
            self.restart()
            connections = self.connections(workload, schema)
            for query, statement in statements(workload, self.arguments.tpch_scale).items():
                say(f"{workload}: {query}, pass {number}")
                found.setdefault(query, []).append(self.measure(f"{workload} {query}", statement, connections))
            for connection in connections.values():
                connection.close()
        return found

    def run(self) -> Tuple[List[dict], List[figures.Figure]]:
        results, wanted = [], []
        for workload in self.arguments.tasks:
            say(f"{workload}: tables")
            schema = self.prepare(workload)
            if self.arguments.prepare:
                continue
            own = [result_of(workload, query, passes) for query, passes in self.passes(workload, schema).items()]
            results += own
            mean = round(statistics.geometric_mean(result["of_before"] for result in own), 4)
            name = f"{workload}: time of the build before, geometric mean"
            wanted.append(figures.Figure(name, mean, MOST_OF_BEFORE, at_most=True))
        return results, wanted


def result_of(workload: str, query: str, passes: List[Dict[str, float]]) -> dict:
    """The geometric means of the passes, and each pass's quotient."""
    quotients = [round(times["after"] / times["before"], 4) for times in passes]
    means = {f"{build}_ms": round(statistics.geometric_mean(times[build] for times in passes), 4)
             for build in ("before", "after")}  # fmt: skip
    return {"workload": workload, "query": query, **means, "of_before": round(statistics.geometric_mean(quotients), 4),
            "passes": quotients}  # fmt: skip


def main(given: List[str]) -> int:
    arguments = parse_arguments(given)
    builds = Builds(arguments)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    results, wanted = builds.run()
    if arguments.prepare:
        return 0
    machine = hardware.describe()
    report = {
        "benchmark": "two builds", "hardware": machine, "started": started, "scale": arguments.scale,
        "tpch_scale": arguments.tpch_scale, "passes": arguments.passes, "runs": arguments.runs, "threads": arguments.threads,
        "figures": figures.as_json(wanted), "results": results,
    }  # fmt: skip
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"Two builds, {arguments.passes} passes, medians of {arguments.runs} runs in turn, {arguments.threads} threads; "
          f"{hardware.summary(machine)}\n")
    for result in results:
        print(f"  {result['workload']:6} {result['query']:6} {result['before_ms']:10.1f} ms {result['after_ms']:10.1f} ms "
              f"{result['of_before']:7.3f}  ({', '.join(f'{quotient:.3f}' for quotient in result['passes'])})")
    figures.show(wanted)
    print("\n".join(builds.problems) or "\nAll answers of both are equal.")
    return 1 if builds.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
