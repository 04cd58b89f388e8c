#!/usr/bin/env python3
"""The command-line tools against other programs that do the same.
Databases into Arrow files, Arrow files into text and back, and statistics. Prints a table and writes JSON. Called by
`./strom bench tools`; docs/dev/benchmark.md explains what is measured and how."""
from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional
from urllib.parse import quote

sys.dont_write_bytecode = True
for folder in ("common", "ssb"):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))

import hardware  # noqa: E402
import options  # noqa: E402
import postgres  # noqa: E402
from mariadb import DATABASE, MariaDB  # noqa: E402
from options import say  # noqa: E402
from rounds import Memory, in_rounds  # noqa: E402
from workload import ensure_data  # noqa: E402

SSB_SCHEMA, WIDE_SCHEMA, WIDE_COLUMNS = "ssb_heap", "tools_wide", 200
TASKS = ["pg", "mysql", "csv", "tsv", "stat"]
RIVALS = Path(__file__).resolve().parent / "rivals.py"
FLOORS = RIVALS.with_name("floors.py")


@dataclass
class Contender:
    """`command` is run by itself; a rival in rivals.py reports its own time and rows. A floor (floors.py) is not a
    contender: it shows what the server alone needs."""

    name: str
    command: List[str]
    is_rival: bool = False
    is_floor: bool = False


@dataclass
class Task:
    name: str
    rows: int
    contenders: List[Contender]  # the first one is ours
    wanted: Dict[str, float]     # least ratio of a rival's time to ours
    output: Optional[Path] = None
    source_bytes: int = 0


class Benchmark:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.build = arguments.build_dir.resolve()
        self.out = arguments.data_dir.resolve() / "tools"
        self.out.mkdir(parents=True, exist_ok=True)
        self.server = postgres.Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db)
        self.mariadb: Optional[MariaDB] = None

    def tool(self, name: str, *options: object) -> List[str]:
        return [str(self.build / "tools" / name / name), *map(str, options)]

    def rival(self, contender: str, source: str, what: str, key: str, output: Path) -> Contender:
        command = [sys.executable, str(RIVALS), contender, str(self.arguments.threads), source, what, key, str(output)]
        return Contender(contender.split("_")[0], command, True)

    def floor(self, name: str, source: str, table: str, key: str) -> Contender:
        command = [sys.executable, str(FLOORS), name, str(self.arguments.threads), source, table, key]
        return Contender("server alone", command, True, True)

    # Data.

    def prepare(self) -> None:
        arguments = self.arguments
        ssbgen = self.build / "bench" / "ssb" / "ssbgen"
        self.data = ensure_data(arguments.scale, arguments.data_dir.resolve(), ssbgen, arguments.threads)
        self.lineorder = self.data.path("lineorder")
        self.wide = self.out / f"wide-{arguments.wide_rows}.arrow"
        say("loading PostgreSQL")
        postgres.load_heap_tables(self.server, self.data, SSB_SCHEMA, ssbgen, arguments.threads)
        self.make_wide_table()
        if not self.wide.exists():
            subprocess.run(self.tool("pg2arrow", *self.pg_options(), "-c", f"SELECT * FROM {WIDE_SCHEMA}.wide", "-o", self.wide), check=True)
        self.row_counts = {"lineorder": self.data.rows("lineorder"), "wide": arguments.wide_rows}
        if "mysql" in arguments.tasks:
            self.load_mariadb()

    def make_wide_table(self) -> None:
        """200 columns: numbers of several types, dates and short texts, in turn."""
        kinds = ["(g * {n}) % 100000", "(g * {n}) % 100000 / 8.0::float8", "((g * {n}) % 1000000 / 100.0)::numeric(12,2)",
                 "'value ' || (g * {n}) % 1000", "date '2000-01-01' + ((g * {n}) % 8000)::int"]
        columns = ", ".join(f"{kinds[i % len(kinds)].format(n=i + 7)} AS c{i}" for i in range(1, WIDE_COLUMNS))
        rows = self.arguments.wide_rows
        with self.server.connect("public") as connection:
            connection.execute("set client_min_messages = warning")
            if postgres._comment(connection, WIDE_SCHEMA) == str(rows):
                return
            connection.execute(f"drop schema if exists {WIDE_SCHEMA} cascade; create schema {WIDE_SCHEMA}")
            connection.execute(f"create table {WIDE_SCHEMA}.wide as select g as id, {columns} from generate_series(1::bigint, {rows}) g")
            connection.execute(f"vacuum (analyze) {WIDE_SCHEMA}.wide")
            connection.execute(f"comment on schema {WIDE_SCHEMA} is '{rows}'")

    def load_mariadb(self) -> None:
        say("loading MariaDB")
        self.mariadb = MariaDB(self.out / "mariadb", self.arguments.mariadb_port)
        for table, path in (("lineorder", self.lineorder), ("wide", self.wide)):
            label = f"{path.name} {self.arguments.scale:g} {self.row_counts[table]}"
            found = self.mariadb.run("select table_comment from information_schema.tables where table_schema = database() and"
                                     f" table_name = '{table}'").strip()
            if found == label:
                continue
            import pyarrow as pa

            types = {pa.int32(): "int", pa.int64(): "bigint", pa.float64(): "double", pa.string(): "varchar(20)", pa.date32(): "date"}
            schema = pa.ipc.open_file(pa.memory_map(str(path))).schema
            key = "id" if table == "wide" else "lo_orderkey, lo_linenumber"
            columns = ", ".join(f"{f.name} {types.get(f.type) or f'decimal({f.type.precision},{f.type.scale})'} not null" for f in schema)
            text = self.out / f"{table}.tsv"
            subprocess.run(self.tool("arrow2csv", "--tsv", path, "-o", text, "-f"), check=True)
            self.mariadb.run(f"drop table if exists {table}; create table {table} ({columns}, primary key ({key})) character set utf8mb4;"
                             f"load data local infile '{text}' into table {table} character set utf8mb4;"
                             f"alter table {table} comment '{label}'; analyze table {table}")
            text.unlink()

    # Tasks.

    def pg_options(self) -> List[str]:
        arguments = self.arguments
        return ["-h", arguments.pg_socket_dir, "-p", str(arguments.pg_port), "-u", arguments.pg_user, "-d", arguments.pg_db]

    def pg_tasks(self) -> List[Task]:
        arguments = self.arguments
        folder = quote(arguments.pg_socket_dir, safe="")
        uri = f"postgresql://{arguments.pg_user}@{folder}:{arguments.pg_port}/{arguments.pg_db}"
        tasks = []
        for table, schema, key in (("lineorder", SSB_SCHEMA, "lo_orderkey"), ("wide", WIDE_SCHEMA, "id")):
            query, output = f"SELECT * FROM {schema}.{table}", self.out / "pg.arrow"
            ours = self.tool("pg2arrow", *self.pg_options(), "-t", f"{schema}.{table}", "-n", arguments.threads, "-o", output, "-f")
            plain = Contender("pg2arrow COPY", [*ours, "--no-server-side"])
            rivals = [self.rival("adbc", uri, query, key, output), self.rival("connectorx", uri, query, key, output)]
            rows, name = self.row_counts[table], f"{schema}.{table}"
            tasks.append(Task(f"PostgreSQL to Arrow, {table}", rows, [plain, *rivals, self.floor("postgres_copy", uri, name, key)],
                              {"adbc": 2, "connectorx": 2}, output))
            # The rivals are the same. A server with pg_strom makes the record batches.
            if self.has_server_side():
                tasks.append(Task(f"PostgreSQL with pg_strom to Arrow, {table}", rows,
                                  [Contender("pg2arrow", ours), plain, *rivals, self.floor("postgres_stream", uri, name, key)],
                                  {"adbc": 5}, output))
        return tasks

    def has_server_side(self) -> bool:
        with self.server.connect("public") as connection:
            if connection.execute("select count(*) from pg_available_extensions where name = 'pg_strom'").fetchone()[0]:
                connection.execute("create extension if not exists pg_strom")
            return connection.execute("select to_regproc('pgstrom.arrow_ipc_stream') is not null").fetchone()[0]

    def mysql_tasks(self) -> List[Task]:
        tasks = []
        for table, key in (("lineorder", "lo_orderkey"), ("wide", "id")):
            output = self.out / "mysql.arrow"
            ours = self.tool("mysql2arrow", "--socket", self.mariadb.socket, "-u", "root", "-d", DATABASE, "-t", table, "-n",
                             self.arguments.threads, "-o", output, "-f")
            contenders = [Contender("mysql2arrow", ours), self.rival("connectorx", self.mariadb.url, f"SELECT * FROM {table}", key, output),
                          self.floor("mariadb_rows", f"{self.mariadb.socket},root,{DATABASE}", table, key)]
            tasks.append(Task(f"MariaDB to Arrow, {table}", self.row_counts[table], contenders, {"connectorx": 2}, output))
        return tasks

    def csv_tasks(self) -> List[Task]:
        tasks = []
        threads = str(self.arguments.threads)
        for table, path in (("lineorder", self.lineorder), ("wide", self.wide)):
            output = self.out / "out.csv"
            contenders = [Contender("arrow2csv", self.tool("arrow2csv", "--header", "-n", threads, path, "-o", output, "-f")),
                          self.rival("duckdb_csv", "", str(path), "", output), self.rival("pyarrow_csv", "", str(path), "", output)]
            tasks.append(Task(f"Arrow to CSV, {table}", self.row_counts[table], contenders, {"duckdb": 1.2, "pyarrow": 3}, output,
                              path.stat().st_size))
        return tasks

    def tsv_tasks(self) -> List[Task]:
        tasks = []
        threads = str(self.arguments.threads)
        for table, path in (("lineorder", self.lineorder), ("wide", self.wide)):
            text, output = self.out / f"{table}.csv", self.out / "csv.arrow"
            subprocess.run(self.tool("arrow2csv", "--header", path, "-o", text, "-f"), check=True)
            contenders = [Contender("tsv2arrow", self.tool("tsv2arrow", "-n", threads, text, "-o", output, "-f")),
                          self.rival("duckdb_read", "", str(text), "", output), self.rival("pyarrow_read", "", str(text), "", output)]
            tasks.append(Task(f"CSV to Arrow, {table}", self.row_counts[table], contenders, {}, output, text.stat().st_size))
        return tasks

    def stat_tasks(self) -> List[Task]:
        """Computes statistics of all columns that can have them, against a plain sum over four columns."""
        copy = self.out / "stat.arrow"
        subprocess.run(["cp", "--reflink=auto", str(self.lineorder), str(copy)], check=True)
        import pyarrow as pa

        table = pa.ipc.open_file(pa.memory_map(str(copy))).read_all()
        size = sum(column.nbytes for column in table.columns)
        threads = str(self.arguments.threads)
        return [Task("statistics, lineorder", self.row_counts["lineorder"], [Contender("arrowstat", self.tool("arrowstat", "--add", "-n", threads, copy))],
                     {}, None, size)]

    # Measurement.

    def once(self, contender: Contender, task: Task) -> dict:
        if task.output is not None:
            task.output.unlink(missing_ok=True)
        begin = time.perf_counter()
        process = subprocess.Popen(contender.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        memory = Memory(process.pid)
        out, err = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, sync_seconds = time.perf_counter() - begin, None  # our sync is part of the tools' work
        if process.returncode != 0:
            raise RuntimeError(err.strip().splitlines()[-1] if err.strip() else f"status {process.returncode}")
        if contender.is_rival:
            told = json.loads(out.strip().splitlines()[-1])
            seconds, sync_seconds = told["seconds"], told.get("sync_seconds", 0)
            if not contender.is_floor and told["rows"] != task.rows:
                raise RuntimeError(f"{told['rows']} rows instead of {task.rows}")
        return {"seconds": seconds, "sync_s": sync_seconds, "peak_mb": memory.peak_mb(), "cpu_s": usage.ru_utime + usage.ru_stime}

    def measure(self, task: Task) -> dict:
        say(f"measuring {task.name}")
        contenders = {contender.name: functools.partial(self.once, contender, task) for contender in task.contenders}
        runs, failures = in_rounds(contenders, self.arguments.runs)
        results, floor = [], None
        for name, measured in runs.items():
            seconds = [run["seconds"] for run in measured]
            median = statistics.median(seconds)
            results.append({"contender": name, "median_s": round(median, 3), "min_s": round(min(seconds), 3), "max_s": round(max(seconds), 3),
                            "rows_per_s": round(task.rows / median), "cpu_s": round(statistics.median(run["cpu_s"] for run in measured), 3),
                            "peak_mb": round(max(run["peak_mb"] for run in measured), 1)})
            sync = [run["sync_s"] for run in measured if run["sync_s"] is not None]
            if sync:
                results[-1]["sync_s"] = round(statistics.median(sync), 3)
            if task.source_bytes:
                results[-1]["gb_per_s"] = round(task.source_bytes / median / 1e9, 3)
            if any(contender.is_floor for contender in task.contenders if contender.name == name):
                floor = results.pop()
        report = {"task": task.name, "rows": task.rows, "results": results}
        if failures:
            report["failures"] = failures
        if results and results[0]["contender"] == task.contenders[0].name:
            ratios = {r["contender"]: round(r["median_s"] / results[0]["median_s"], 2) for r in results[1:]}
            report["ratios"] = ratios
            # The ratios if the rivals did not wait for their files to be on disk, as our tools do.
            report["ratios_unsynced"] = {r["contender"]: round((r["median_s"] - r.get("sync_s", 0)) / results[0]["median_s"], 2)
                                         for r in results[1:]}
            if floor is not None:
                report["server_alone_s"] = floor["median_s"]
                report["share_of_server_alone"] = round(floor["median_s"] / results[0]["median_s"], 2)
            report["wanted"] = task.wanted
        return report

    def run(self) -> dict:
        arguments = self.arguments
        load = [round(os.getloadavg()[0], 1)]  # what else the machine did, before and (with the tools themselves) at the end
        self.prepare()
        makers: Dict[str, Callable[[], List[Task]]] = {"pg": self.pg_tasks, "mysql": self.mysql_tasks, "csv": self.csv_tasks,
                                                       "tsv": self.tsv_tasks, "stat": self.stat_tasks}
        try:
            tasks = [self.measure(task) for name in arguments.tasks for task in makers[name]()]
        finally:
            if self.mariadb is not None:
                self.mariadb.close()
        load.append(round(os.getloadavg()[1], 1))
        report = {"benchmark": "tools", "scale": arguments.scale, "load_average": load, "wide_rows": arguments.wide_rows, "wide_columns": WIDE_COLUMNS,
                  "threads": arguments.threads, "runs": arguments.runs, "hardware": hardware.describe(), "tasks": tasks}
        if "stat" in arguments.tasks:
            command = [self.build / "bench" / "ssb" / "bandwidth", self.lineorder, "--threads", str(arguments.threads)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["gb_per_s"]
            report["read_bandwidth_gb_s"] = found
        return report


def show(report: dict) -> None:
    for task in report["tasks"]:
        print(f"\n{task['task']}: {task['rows']:,} rows")
        for result in task["results"]:
            ratio = task.get("ratios", {}).get(result["contender"])
            wanted = task.get("wanted", {}).get(result["contender"])
            compared = "" if ratio is None else f"  {ratio:5.2f}x" + ("" if wanted is None else f" ({wanted}x wanted)")
            print(f"  {result['contender']:13} {result['median_s']:8.3f} s  {result['rows_per_s'] / 1e6:6.2f} M rows/s"
                  f"  {result['peak_mb']:7.0f} MB{compared}")
        if "server_alone_s" in task:
            print(f"  {'server alone':13} {task['server_alone_s']:8.3f} s: {task['share_of_server_alone']:.0%} of its rate are reached")
        for name, failure in task.get("failures", {}).items():
            print(f"  {name:13} failed: {failure}")
    if "read_bandwidth_gb_s" in report:
        print(f"\nplain sum: {report['read_bandwidth_gb_s']} GB/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--scale", type=float, default=1, help="scale factor of lineorder (default 1)")
    add("--wide-rows", type=int, default=200_000, help="rows of the table with 200 columns (default 200000)")
    add("--runs", type=int, default=5, help="measured runs of each contender (default 5)")
    add("--threads", type=int, default=2, help="workers, partitions or threads of each contender (default 2)")
    options.add_tasks(parser, TASKS)
    options.add_out(parser)
    options.add_folders(parser)
    options.add_server(parser)
    add("--mariadb-port", type=int, default=33061)
    arguments = parser.parse_args()
    report = Benchmark(arguments).run()
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    show(report)
    say(f"\nwrote {arguments.out}")


if __name__ == "__main__":
    main()
