#!/usr/bin/env python3
"""The Star Schema Benchmark's queries over heap tables, with default settings.
Compares pg_strom's first runs, while the column cache fills, with PostgreSQL's. Adds its measurements to the JSON of
`./strom bench ssb --source heap`, which has loaded the tables and calls this program. The exit status is 1 when an
answer differs."""
from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import List

from postgres import PostgresEngine, Server
from report import aligned
from run import HEAP_SCHEMA
from workload import QUERIES, difference

LATER = 3  # number of later runs; their median is what users see from then on


def measure(server: Server, runs: int) -> List[dict]:
    """Runs each engine in a session of its own, which sets only whether pg_strom works. Times are in milliseconds."""
    strom = PostgresEngine("pg_strom", server.connect(HEAP_SCHEMA))
    plain = PostgresEngine("postgres", server.connect(HEAP_SCHEMA, **{"pg_strom.enabled": "off"}))
    results = []
    for name, query in QUERIES.items():
        plain.warm_up(name)
        theirs, ours, wrong = [], [], ""
        for _ in range(runs + LATER):
            time, expected = plain.measure(name)
            theirs.append(time)
            time, rows = strom.measure(name)
            ours.append(time)
            wrong = wrong or difference(query, expected, rows)
        results.append({"query": name, "postgres_ms": round(statistics.median(theirs), 2),
                        "pg_strom_runs_ms": [round(time, 2) for time in ours[:runs]],
                        "pg_strom_later_ms": round(statistics.median(ours[runs:]), 2),
                        "answered_by": strom.answered_by(name), "equal": not wrong})  # fmt: skip
    strom.close()
    plain.close()
    return results


def main(given: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--out", type=Path, required=True, help="JSON file of the run before, which is added to")
    add("--first-runs", type=int, default=3, help="runs that are shown one by one (default 3)")
    add("--pg-socket-dir", required=True)
    add("--pg-port", type=int, default=5432)
    add("--pg-user", default="postgres")
    arguments = parser.parse_args(given)
    server = Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, "postgres")
    names = ("shared_buffers", "work_mem", "jit", "max_parallel_workers_per_gather", "shared_preload_libraries",
             "pg_strom.column_cache_memory")  # fmt: skip
    with server.connect("public") as connection:
        connection.execute("load 'pg_strom'")
        settings = {name: connection.execute(f"show {name}").fetchone()[0] for name in names}
    results = measure(server, arguments.first_runs)
    report = json.loads(arguments.out.read_text())
    report["untouched_server"] = {"settings": settings, "results": results}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print("\nA server with default settings: " + ", ".join(f"{name} = {value or 'none'}" for name, value in settings.items()))
    head = ["ms", "postgres", *(f"run {number + 1}" for number in range(arguments.first_runs)), "later", ""]
    print(aligned([head] + [
        [r["query"], f"{r['postgres_ms']:.1f}", *(f"{time:.1f}" for time in r["pg_strom_runs_ms"]),
         f"{r['pg_strom_later_ms']:.1f}", f"{r['postgres_ms'] / r['pg_strom_later_ms']:.1f}x"] for r in results]))  # fmt: skip
    first = statistics.geometric_mean(r["postgres_ms"] / r["pg_strom_runs_ms"][0] for r in results)
    later = statistics.geometric_mean(r["postgres_ms"] / r["pg_strom_later_ms"] for r in results)
    print(f"pg_strom against postgres, no setting changed: {first:.1f}x in the first runs, {later:.1f}x later (geometric means)")
    return 0 if all(r["equal"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
