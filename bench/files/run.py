#!/usr/bin/env python3
"""Arrow files in all forms, read and written.
Runs the Star Schema Benchmark over compressed, dictionary-encoded, many and sorted files, against plain files and
DuckDB. Measures what pruning saves, what planning over thousands of files costs, the bytes read of a wide file, and
INSERT. Prints tables and writes JSON and an SVG chart. Every answer is compared with PostgreSQL's; the exit status is 1
when one differs. Called by `./strom bench files`; docs/dev/benchmark.md explains it."""
from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Callable, Dict, List, Optional

import psycopg
import pyarrow as pa
from pyarrow import ipc

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
for folder in ("common", "ssb"):
    sys.path.insert(0, str(HERE.parent / folder))
sys.path.insert(0, str(HERE))

import chart  # noqa: E402
import hardware  # noqa: E402
import peers  # noqa: E402
import postgres  # noqa: E402
import report as reporting  # noqa: E402
from rounds import turns  # noqa: E402
from variants import BIG, FormDataSet, variants  # noqa: E402
from workload import QUERIES, Rows, difference, ensure_data  # noqa: E402

PRUNED = ("Q1_1", "Q1_2", "Q1_3")
WIDE_COLUMNS, WIDE_ROWS, WIDE_BATCHES = 2000, 100_000, 4
INSERTED_ROWS = 10_000_000


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parse_arguments(given: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--scale", type=float, default=1, help="scale factor (default 1)")
    add("--runs", type=int, default=5, help="measured runs of each (default 5)")
    add("--forms", default="", help="only these forms of files, separated by commas (default: all)")
    add("--queries", default="", help="only these queries, separated by commas")
    add("--parts", default="forms,pruning,planning,wide,insert", help="only these parts, separated by commas")
    add("--threads", type=int, default=2, help="threads of every engine (default 2)")
    add("--out", type=Path, required=True, help="JSON file; the chart goes beside it, with .svg as its ending")
    add("--data-dir", type=Path, required=True, help="where generated files are kept; the server must be able to read it")
    add("--build-dir", type=Path, default=Path("build"))
    add("--pg-socket-dir", required=True)
    add("--pg-port", type=int, default=5432)
    add("--pg-user", default="postgres")
    add("--pg-db", default="postgres")
    arguments = parser.parse_args(given)
    arguments.queries = [name for name in arguments.queries.split(",") if name] or list(QUERIES)
    arguments.parts = arguments.parts.split(",")
    return arguments


def median_ms(call: Callable[[], object], runs: int) -> float:
    """The first call is a warming run."""
    samples = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1e3)
    return statistics.median(samples[1:])


class Benchmark:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.server = postgres.Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db)
        build = arguments.build_dir.resolve()
        self.forms = variants(build / "tools")
        self.wanted = [name for name in arguments.forms.split(",") if name] or list(self.forms)
        if unknown := set(self.wanted) - set(self.forms):
            raise SystemExit(f"unknown forms: {', '.join(sorted(unknown))} (known: {', '.join(self.forms)})")
        arguments.data_dir.mkdir(parents=True, exist_ok=True)
        self.data = ensure_data(arguments.scale, arguments.data_dir, build / "bench" / "ssb" / "ssbgen", arguments.threads)
        self.problems: List[str] = []
        self.expected: Dict[str, Rows] = {}

    def run(self) -> dict:
        arguments = self.arguments
        report = {
            "hardware": hardware.describe(), "scale": arguments.scale, "lineorder_rows": self.data.rows(BIG), "runs": arguments.runs,
            "threads": arguments.threads, "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }  # fmt: skip
        parts = {"forms": self.measure_forms, "pruning": self.measure_pruning, "planning": self.measure_planning,
                 "wide": self.measure_wide_file, "insert": self.measure_insert}  # fmt: skip
        for name in arguments.parts:
            say(f"part: {name}")
            report[name] = parts[name]()
        report["problems"] = self.problems
        return report

    def form(self, name: str) -> FormDataSet:
        self.forms[name].ensure(self.data)
        return FormDataSet(self.data.scale, self.data.folder, self.data.data_version, name)

    def schema(self, name: str) -> str:
        schema = f"files_{name}"
        postgres.create_foreign_tables(self.server, self.form(name), schema)
        return schema

    # ---- Forms of files ----

    def measure_forms(self) -> List[dict]:
        plain = postgres.StromEngine(self.server, self.schema("plain"), self.arguments.threads)
        plain.name = "plain"
        referee = postgres.referee(self.server, "files_plain")
        results = []
        for name in self.wanted:
            if name == "plain":
                continue
            say(f"preparing {name}")
            engines: list = [plain, postgres.StromEngine(self.server, self.schema(name), self.arguments.threads)]
            rival = "duckdb_parquet" if self.forms[name].is_parquet else "duckdb_dataset"
            engines.append(peers.PeerProcess(rival, self.form(name), self.arguments.threads))
            if self.forms[name].can_be_mapped:
                engines.append(peers.PeerProcess("duckdb_arrow", self.form(name), self.arguments.threads))
            for query in self.arguments.queries:
                say(f"measuring {query} over {name}")
                results.append({"form": name, "query": query, **self.measure_query(query, engines, referee)})
            for engine in engines[1:]:
                engine.close()
        plain.close()
        referee.close()
        return results

    def measure_query(self, query: str, engines: list, referee) -> dict:
        if query not in self.expected:
            self.expected[query] = referee.measure(query)[1]
        samples: Dict[str, List[float]] = {engine.name: [] for engine in engines}
        failures: Dict[str, str] = {}
        for number in range(self.arguments.runs + 2):  # two warming runs; the second one fills the column cache
            for engine in turns(engines, number):
                if engine.name in failures:
                    continue
                try:
                    elapsed, rows = engine.measure(query)
                except Exception as error:
                    failures[engine.name] = str(error).strip().splitlines()[-1]
                    continue
                if wrong := difference(QUERIES[query], self.expected[query], rows):
                    self.problems.append(f"{query}: {engine.name}: {wrong}")
                if number > 1:
                    samples[engine.name].append(elapsed)
        ours = [name for name in samples if name == "pg_strom" or name == "plain"]
        self.problems += [f"{query}: {name} failed: {failures[name]}" for name in ours if name in failures]
        entry = {name: round(statistics.median(times), 4) for name, times in samples.items() if name not in failures}
        return {"ms": entry, "failed": failures} if failures else {"ms": entry}

    # ---- Pruning ----

    def measure_pruning(self) -> List[dict]:
        """Runs each query with and without statistics over the same file. The ideal time is the time when nothing is
        read, plus the rest of the full time multiplied by the share of record batches that are read."""
        schema = self.schema("sorted")
        engine = postgres.StromEngine(self.server, schema, self.arguments.threads)
        results = []
        for query in PRUNED:
            statement = QUERIES[query].sql
            nothing = statement.replace("where", "where lo_orderdate < 0 and", 1)
            batches = self.pruned(engine.connection, statement)
            fixed = median_ms(lambda: engine.connection.execute(nothing).fetchall(), 21)
            with_statistics = median_ms(lambda: engine.connection.execute(statement).fetchall(), 21)
            engine.connection.execute("set arrow_fdw.stats_hint_enabled = off")
            without = median_ms(lambda: engine.connection.execute(statement).fetchall(), 11)
            engine.connection.execute("set arrow_fdw.stats_hint_enabled = on")
            share = batches["loaded"] / (batches["loaded"] + batches["skipped"])
            ideal = fixed + max(without - fixed, 0) * share
            results.append({"query": query, **batches, "pruned_ms": round(with_statistics, 4), "full_ms": round(without, 4),
                            "fixed_ms": round(fixed, 4), "ideal_ms": round(ideal, 4),
                            "times_ideal": round(with_statistics / ideal, 3)})  # fmt: skip
        engine.close()
        return results

    def pruned(self, connection: psycopg.Connection, statement: str) -> dict:
        plan = connection.execute(f"explain (analyze, format json) {statement}").fetchone()[0][0]["Plan"]
        found: dict = {}

        def visit(node: object) -> None:
            if isinstance(node, list):
                for item in node:
                    visit(item)
            elif isinstance(node, dict):
                for key, value in node.items():
                    if key.startswith("Stats-Hint") and isinstance(value, int):
                        found[key.rsplit(" ", 1)[1].lower()] = found.get(key.rsplit(" ", 1)[1].lower(), 0) + value
                    visit(value)

        visit(plan)
        return {"loaded": found.get("loaded", 0), "skipped": found.get("skipped", 0)}

    # ---- Planning ----

    def measure_planning(self) -> dict:
        """Planning time over thousands of files in milliseconds: in the first session that uses them, which also runs
        the query; in new sessions; and again in one of them."""

        def plan(connection: psycopg.Connection) -> float:
            query = f"explain (summary, format json) {QUERIES['Q1_1'].sql}"
            return connection.execute(query).fetchone()[0][0]["Planning Time"]

        result = {}
        for name in ("many", "small"):
            schema = self.schema(name)
            time.sleep(2.5)  # files with younger timestamps would be read again
            with self.server.connect(schema) as connection:
                connection.execute("load 'pg_strom'")
                first = plan(connection)
                connection.execute(QUERIES["Q1_1"].sql).fetchall()
            samples = []
            for _ in range(self.arguments.runs):
                with self.server.connect(schema) as connection:
                    connection.execute("load 'pg_strom'")
                    samples.append(plan(connection))
                    again = statistics.median(plan(connection) for _ in range(5))
            result[name] = {"first_session_ms": first, "new_session_ms": statistics.median(samples), "again_ms": again}
        return result

    # ---- Wide files ----

    def measure_wide_file(self) -> dict:
        """The bytes that a query over two of many columns reads from storage, as the kernel counts them for the
        process."""
        path = self.data.folder / "forms" / "wide.arrow"
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            rows = WIDE_ROWS // WIDE_BATCHES
            schema = pa.schema([pa.field(f"c{i}", pa.float64()) for i in range(WIDE_COLUMNS)])
            unfinished = path.with_suffix(".part")
            with ipc.new_file(str(unfinished), schema) as writer:
                for batch in range(WIDE_BATCHES):
                    columns = [pa.array([float(batch * rows + i)] * rows) for i in range(WIDE_COLUMNS)]
                    writer.write_batch(pa.record_batch(columns, schema=schema))
            unfinished.rename(path)
        with self.server.connect("public") as connection:
            connection.execute("set client_min_messages = warning")
            connection.execute("drop schema if exists files_wide cascade; create schema files_wide")
            columns = ", ".join(f"c{i} float8" for i in range(0, WIDE_COLUMNS, WIDE_COLUMNS // 100))
            connection.execute(f"create foreign table files_wide.t ({columns}) server arrow_fdw options (file '{path}')")
            result = {"columns": WIDE_COLUMNS, "file_bytes": path.stat().st_size, "columns_read": 2,
                      "bytes_of_columns": 2 * 8 * WIDE_ROWS}  # fmt: skip
            result["bytes_read"] = self.bytes_read(connection, path, "select sum(c20), max(c1980) from files_wide.t")
        return result

    def bytes_read(self, connection: psycopg.Connection, path: Path, statement: str) -> Optional[int]:
        connection.execute("load 'pg_strom'")
        connection.execute(f"explain {statement}")
        counters = Path(f"/proc/{connection.info.backend_pid}/io")

        def read() -> int:
            return int(dict(line.split(": ") for line in counters.read_text().splitlines())["read_bytes"])

        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
        try:
            before = read()
            connection.execute(statement).fetchall()
            return read() - before
        except PermissionError:
            return None

    # ---- Writing ----

    def measure_insert(self) -> List[dict]:
        """Runs INSERT … SELECT of the same rows into an Arrow table and into an unlogged heap table, in turn."""
        self.schema("plain")
        folder = self.data.folder / "forms"
        rows = min(INSERTED_ROWS, self.data.rows(BIG))
        results = []
        with self.server.connect("files_plain") as connection:
            socket_owner = Path(self.arguments.pg_socket_dir).stat()
            target = folder / "inserted"
            target.mkdir(parents=True, exist_ok=True)
            os.chown(target, socket_owner.st_uid, socket_owner.st_gid)
            for kind, columns in (("narrow", "lo_orderkey, lo_orderdate, lo_revenue, lo_discount"), ("whole rows", "*")):
                times: Dict[str, List[float]] = {"arrow": [], "heap": []}
                for _ in range(min(self.arguments.runs, 3)):
                    for name in times:
                        self.make_target(connection, name, columns, target / "t.arrow")
                        statement = f"insert into target select {columns} from {BIG} limit {rows}"
                        start = time.perf_counter()
                        connection.execute(statement)
                        times[name].append((time.perf_counter() - start) * 1e3)
                        if connection.execute("select count(*) from target").fetchone()[0] != rows:
                            self.problems.append(f"INSERT of {kind} into {name}: another number of rows")
                entry = {name: round(statistics.median(samples), 1) for name, samples in times.items()}
                results.append({"rows": rows, "kind": kind, "ms": entry, "times_faster": round(entry["heap"] / entry["arrow"], 3)})
            self.drop_target(connection)
        return results

    def drop_target(self, connection: psycopg.Connection) -> None:
        kind = connection.execute("select relkind from pg_class where oid = to_regclass('target')").fetchone()
        if kind:
            connection.execute(f"drop {'foreign table' if kind[0] in ('f', b'f') else 'table'} target")

    def make_target(self, connection: psycopg.Connection, name: str, columns: str, path: Path) -> None:
        self.drop_target(connection)
        if name == "heap":
            connection.execute(f"create unlogged table target as select {columns} from {BIG} limit 0")
            connection.execute("checkpoint")
            return
        path.unlink(missing_ok=True)
        definition = connection.execute(
            "select string_agg(format('%%I %%s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum) from pg_attribute "
            "where attrelid = %s::regclass and attnum > 0 and (%s = '*' or position(attname in %s) > 0)", (BIG, columns, columns)
        ).fetchone()[0]  # fmt: skip
        connection.execute(f"create foreign table target ({definition}) server arrow_fdw options (file '{path}', writable 'true')")


def print_report(report: dict) -> None:
    print(f"Arrow files in all forms, SSB scale {report['scale']:g}: {report['lineorder_rows']:,} rows in lineorder")
    print(hardware.summary(report["hardware"]))
    if report.get("forms"):
        print(f"\nMedian milliseconds of {report['runs']} runs, {report['threads']} threads each\n")
        print(reporting.aligned(form_rows(report["forms"])))
        print()
        for line in form_lines(report["forms"]):
            print(line)
    for entry in report.get("pruning", ()):
        print(f"{entry['query']} over the sorted file: {entry['loaded']} batches read, {entry['skipped']} skipped; "
              f"{entry['pruned_ms']:.2f} ms, {entry['full_ms']:.2f} without statistics: {entry['times_ideal']:.2f} times the ideal")
    for name, entry in report.get("planning", {}).items():
        print(f"Planning of Q1_1 over {name} files: {entry['first_session_ms']:.0f} ms in the first session, "
              f"{entry['new_session_ms']:.0f} ms in a new one, {entry['again_ms']:.0f} ms again")
    if wide := report.get("wide"):
        read = "unknown" if wide["bytes_read"] is None else f"{wide['bytes_read'] / 1e6:.1f} MB"
        print(f"2 of {wide['columns']} columns of a file of {wide['file_bytes'] / 1e6:.0f} MB: {wide['bytes_of_columns'] / 1e6:.1f} MB, "
              f"read from storage: {read}")
    for entry in report.get("insert", ()):
        print(f"INSERT of {entry['rows']:,} {entry['kind']}: Arrow table {entry['ms']['arrow']:.0f} ms, unlogged heap table "
              f"{entry['ms']['heap']:.0f} ms: {entry['times_faster']:.2f} times faster")


def best_duckdb(times: Dict[str, float]) -> Optional[float]:
    found = [times[name] for name in ("duckdb_dataset", "duckdb_arrow", "duckdb_parquet") if name in times]
    return min(found) if found else None


def form_rows(results: List[dict]) -> List[List[str]]:
    rows = [["form", "query", "pg_strom", "plain files", "DuckDB", "of plain", "DuckDB's"]]
    for result in results:
        times, duckdb = result["ms"], best_duckdb(result["ms"])
        rows.append([result["form"], result["query"], f"{times['pg_strom']:.1f}", f"{times['plain']:.1f}",
                     f"{duckdb:.1f}" if duckdb else "failed", f"{times['plain'] / times['pg_strom']:.2f}",
                     f"{duckdb / times['pg_strom']:.1f}x" if duckdb else ""])  # fmt: skip
    return rows


def form_lines(results: List[dict]) -> List[str]:
    lines = []
    for form in dict.fromkeys(result["form"] for result in results):
        mine = [result["ms"] for result in results if result["form"] == form]
        speed = [times["plain"] / times["pg_strom"] for times in mine]
        line = f"{form}: {statistics.geometric_mean(speed):.2f} of the speed over plain files (lowest {min(speed):.2f})"
        against = [best_duckdb(times) / times["pg_strom"] for times in mine if best_duckdb(times)]
        if against:
            line += f"; {statistics.geometric_mean(against):.1f} times DuckDB (lowest {min(against):.1f})"
        lines.append(line)
    return lines


def chart_groups(report: dict) -> Dict[str, Dict[str, float]]:
    """Milliseconds for each form of files (the geometric mean over the queries), and for INSERT."""
    groups: Dict[str, Dict[str, float]] = {}
    results = report.get("forms") or []
    for form in dict.fromkeys(result["form"] for result in results):
        mine = [dict(result["ms"], duckdb=best_duckdb(result["ms"])) for result in results if result["form"] == form]
        groups[form] = {name: statistics.geometric_mean([times[name] for times in mine])
                        for name in ("pg_strom", "plain", "duckdb") if all(times.get(name) for times in mine)}  # fmt: skip
    for entry in report.get("insert") or []:
        groups[f"INSERT, {entry['kind']}"] = {"pg_strom": entry["ms"]["arrow"], "postgres": entry["ms"]["heap"]}
    return groups


def draw_chart(report: dict) -> str:
    note = (f"Geometric means of the queries' medians of {report['runs']} runs, {report['threads']} threads; INSERT of 10 million rows; "
            "logarithmic: shorter is faster")  # fmt: skip
    title = f"Arrow and Parquet files, Star Schema Benchmark, scale {report['scale']:g} ({report['lineorder_rows']:,} rows)"
    return chart.draw_groups(chart_groups(report), title, note, hardware.summary(report["hardware"]))


def main(given: List[str]) -> int:
    arguments = parse_arguments(given)
    benchmark = Benchmark(arguments)
    report = benchmark.run()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print_report(report)
    print(f"\nWritten: {arguments.out}")
    if chart_groups(report):
        chart_path = arguments.out.with_suffix(".svg")
        chart_path.write_text(draw_chart(report))
        print(f"Written: {chart_path}")
    for problem in benchmark.problems:
        print(problem, file=sys.stderr)
    if not benchmark.problems:
        print("All answers are equal to PostgreSQL's.")
    return 1 if benchmark.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
