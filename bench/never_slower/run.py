#!/usr/bin/env python3
"""Statements that plain PostgreSQL answers best must not become slower with pg_strom.
Runs them with pg_strom on (default settings) and off. Prints a table and writes JSON. The exit status is 1, with the
worst statement in the last line, when a median with pg_strom is above 1.1 times the median without it plus 1 ms. Called
by `./strom bench never-slower`."""
from __future__ import annotations

import argparse
import gc
import json
import random
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Dict, List

import psycopg

sys.dont_write_bytecode = True
for folder in ("common", "ssb"):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))

import hardware  # noqa: E402
import options  # noqa: E402
import plans  # noqa: E402
import report as reporting  # noqa: E402
from options import say  # noqa: E402
from postgres import Server  # noqa: E402
from statements import NAMES, SCHEMA, TABLES, Statement, join_of_twelve, statements  # noqa: E402

FACTOR, ADDED_MS = 1.1, 1.0
PLANNING_FACTOR = 1.2
JUDGED_AGAIN = 3  # a statement counts as slower only if it is slower each time
LARGEST_N = 599_000


def make_tables(server: Server) -> None:
    """Makes the tables, unless they exist as this file defines them."""
    label = f"never-slower {hash_of(TABLES)}"
    with server.connect("public") as connection:
        found = connection.execute("select obj_description(to_regnamespace(%s), 'pg_namespace')", (SCHEMA,)).fetchone()[0]
        if found == label and connection.execute(f"select exists (select from {SCHEMA}.account)").fetchone()[0]:
            return
        say("making tables (once)")
        connection.execute("set client_min_messages = warning")
        connection.execute(f"drop schema if exists {SCHEMA} cascade; create schema {SCHEMA}; set search_path = {SCHEMA}")
        connection.execute(TABLES)
        for name in NAMES:
            connection.execute(f"vacuum (analyze) {name}")
        connection.execute(f"comment on schema {SCHEMA} is '{label}'; checkpoint")


def hash_of(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Side:
    """A session with pg_strom on or off; all other settings are the server's defaults."""

    def __init__(self, server: Server, enabled: bool):
        self.connection = server.connect(SCHEMA, **{"pg_strom.enabled": "on" if enabled else "off"})
        self.connection.execute("load 'pg_strom'")

    def prepare(self, statement: Statement) -> None:
        if statement.prepared:
            self.connection.execute("deallocate all")
            self.connection.execute(f"prepare it (int) as {statement.sql.replace('{n}', '$1')}")

    def run(self, statement: Statement, n: int) -> float:
        text = f"execute it ({n})" if statement.prepared else statement.sql.replace("{n}", str(n))
        if text.startswith("begin;"):
            text += "; commit"
        start = time.perf_counter()
        cursor = self.connection.execute(text)
        if cursor.description is not None:
            cursor.fetchall()
        return (time.perf_counter() - start) * 1e3

    def nodes(self, statement: Statement) -> str:
        if statement.writes:
            return ""
        text = "execute it (7)" if statement.prepared else statement.sql.replace("{n}", "7")
        plan = self.connection.execute(f"explain (format json) {text}").fetchone()[0][0]["Plan"]
        return ", ".join(re.findall(r"Cpu\w+", plans.node_names(plan)))

    def planning(self, text: str) -> float:
        return self.connection.execute(f"explain (summary, format json) {text}").fetchone()[0][0]["Planning Time"]


class Bench:
    def __init__(self, server: Server, runs: int, seed: int):
        self.on, self.off = Side(server, True), Side(server, False)
        self.runs = runs
        self.numbers = random.Random(seed)

    def alternate(self, on, off, rounds: int) -> Dict[str, float]:
        """The medians of two measurements that alternate in going first. Neither is the first to touch the pages."""
        samples: Dict[str, List[float]] = {"on_ms": [], "off_ms": []}
        gc.collect()
        gc.disable()
        for number in range(rounds + rounds % 2):
            n = self.numbers.randrange(1, LARGEST_N)
            off(n)
            turns = [("on_ms", on), ("off_ms", off)]
            for name, measure in turns if number % 2 else reversed(turns):
                samples[name].append(measure(n))
        gc.enable()
        return {name: round(statistics.median(values), 4) for name, values in samples.items()}

    def judged(self, on, off, factor: float, added: float, rounds: int) -> Dict[str, object]:
        """Measures again, longer, while the statement seems slower: another process may have disturbed the
        measurement."""
        for attempt in range(JUDGED_AGAIN):
            medians = self.alternate(on, off, rounds * (attempt + 1))
            limit = medians["off_ms"] * factor + added
            slower = medians["on_ms"] > limit
            if not slower:
                break
        return {**medians, "limit_ms": round(limit, 4), "ratio": round(medians["on_ms"] / medians["off_ms"], 3),
                "slower": slower}  # fmt: skip

    def statement(self, statement: Statement) -> Dict[str, object]:
        for side in (self.on, self.off):
            side.prepare(statement)
            for n in range(6 if statement.prepared else 2):  # generic plans are used from the sixth execution on
                side.run(statement, n + 1)
        result = self.judged(lambda n: self.on.run(statement, n), lambda n: self.off.run(statement, n), FACTOR, ADDED_MS,
                             self.runs)  # fmt: skip
        return {"statement": statement.name, "sql": statement.sql, **result, "engine": self.on.nodes(statement)}

    def planning(self, name: str, genetic: str) -> Dict[str, object]:
        text = join_of_twelve()
        for side in (self.on, self.off):
            side.connection.execute(f"set geqo = {genetic}; set from_collapse_limit = 12")
            side.planning(text)
        result = self.judged(lambda n: self.on.planning(text), lambda n: self.off.planning(text), PLANNING_FACTOR, 0.0,
                             max(5, self.runs // 2))  # fmt: skip
        for side in (self.on, self.off):
            side.connection.execute("reset geqo; reset from_collapse_limit")
        return {"statement": name, "sql": text, **result, "engine": ""}


def parse_arguments(given: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--runs", type=int, default=25, help="executions of each statement on each side (default 25)")
    add("--only", default="", help="only statements whose name begins so")
    add("--seed", type=int, default=1)
    options.add_out(parser)
    options.add_server(parser)
    return parser.parse_args(given)


def table(results: List[dict]) -> str:
    rows = [["statement", "on ms", "off ms", "ratio", "limit", "", "engine"]]
    for result in results:
        rows.append([
            result["statement"], f"{result['on_ms']:.3f}", f"{result['off_ms']:.3f}", f"{result['ratio']:.2f}",
            f"{result['limit_ms']:.2f}", "SLOWER" if result["slower"] else "", result["engine"],
        ])  # fmt: skip
    return reporting.aligned(rows)


def main(given: List[str]) -> int:
    arguments = parse_arguments(given)
    server = Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db)
    make_tables(server)
    bench = Bench(server, arguments.runs, arguments.seed)
    results = []
    for statement in statements():
        if statement.name.startswith(arguments.only):
            say(f"measuring {statement.name}")
            results.append(bench.statement(statement))
    if "planning".startswith(arguments.only):
        results.append(bench.planning("planning 12 tables, genetic", "on"))
        results.append(bench.planning("planning 12 tables, exhaustive", "off"))
    machine = hardware.describe()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    version = bench.on.connection.execute("show server_version").fetchone()[0]
    report = {"hardware": machine, "server": version, "runs": arguments.runs, "seed": arguments.seed,
              "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "results": results}  # fmt: skip
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(hardware.summary(machine))
    print(table(results))
    print(f"\nWritten: {arguments.out}")
    slower = [result for result in results if result["slower"]]
    if not slower:
        print(f"None of {len(results)} is slower with pg_strom.")
        return 0
    worst = max(slower, key=lambda result: result["on_ms"] / result["limit_ms"])
    print(f"{len(slower)} of {len(results)} slower with pg_strom; worst: {worst['statement']}, {worst['on_ms']:.2f} ms "
          f"instead of {worst['off_ms']:.2f} ms: {worst['sql']}")  # fmt: skip
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
