#!/usr/bin/env python3
"""Checks everything about the GPU in one run, on a machine with one.
Runs unit tests on the device, compute-sanitizer over the kernels, the differential test, the Star Schema Benchmark
inside PostgreSQL on GPU and CPU, a text filter, and many sessions. Writes one JSON file and one page. The exit status
is 1 when something failed or an answer differs. Called by `./strom gpu-check`; docs/dev/gpu-check.md explains what is
done and how."""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pwd
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, List, Optional

import psycopg

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "bench/ssb"), str(SOURCE / "test/diff")]

import hardware  # noqa: E402
import page  # noqa: E402
import postgres  # noqa: E402
from cluster import Cluster  # noqa: E402
from workload import QUERIES, difference, ensure_data  # noqa: E402

PARTS = ("device", "unit", "sanitizer", "diff", "ssb", "filter", "sessions")
SCHEMA, CHECKED_SCHEMA, CHECKED_SCALE = "ssb_arrow", "ssb_checked", 0.1
FILTER_ROWS = 8_000_000
NEW_FILE_SECONDS = 3  # the device does not cache columns of files that were just written
# The tests that run under compute-sanitizer, which is slow: joins, aggregates and outputs of every kind once.
SANITIZED = "Pipeline*:Aggregate*:Join*"


def parse_arguments(given: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--parts", default=",".join(PARTS), help=f"which, separated by commas: {', '.join(PARTS)} (default all)")
    add("--scale", type=float, default=10, help="scale factor of the benchmark (default 10)")
    add("--runs", type=int, default=5, help="measured runs of each query (default 5)")
    add("--seconds", type=float, default=60, help="time for the differential test (default 60)")
    add("--sessions", type=int, default=64, help="sessions at the same time (default 64)")
    add("--module", type=Path, required=True, help="device module")
    add("--build-dir", type=Path, required=True, help="where test programs and ssbgen are")
    add("--pg-bindir", type=Path, required=True, help="PostgreSQL's programs, with pg_strom installed beside them")
    add("--server-user", required=True, help="who runs servers when root calls")
    add("--data-dir", type=Path, required=True, help="where generated files are kept")
    add("--out", type=Path, required=True, help="JSON file; the page goes beside it, with .md as its ending")
    arguments = parser.parse_args(given)
    arguments.parts = [part for part in arguments.parts.split(",") if part]
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))} (known: {', '.join(PARTS)})")
    if arguments.runs < 1 or arguments.sessions < 1:
        parser.error("--runs and --sessions must be at least 1")
    return arguments


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def median_ms(runs: int, action: Callable[[], object]) -> float:
    """The times of `runs` runs."""
    samples = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        samples.append((time.perf_counter() - start) * 1e3)
    return round(statistics.median(samples), 3)


class Check:
    """One run. Each part is a method whose result goes into the report under the method's name."""

    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.folder = Path(tempfile.mkdtemp(prefix="strom-gpu-check-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.problems: List[str] = []
        # The server's user may be unable to enter the folder where the module was built.
        self.module = Path(shutil.copy(arguments.module, self.folder))
        self.module.chmod(0o755)
        self.cluster: Optional[Cluster] = None

    def run(self) -> dict:
        arguments = self.arguments
        report: dict = {
            "hardware": hardware.describe(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "scale": arguments.scale,
            "runs": arguments.runs,
            "parts": {},
        }
        try:
            for part in PARTS:
                if part not in arguments.parts:
                    continue
                say(f"== {part}")
                begin = time.monotonic()
                try:
                    outcome = getattr(self, part)()
                except (psycopg.Error, OSError, RuntimeError, subprocess.SubprocessError) as error:
                    outcome = {"error": str(error).strip()}
                    self.problems.append(f"{part}: {outcome['error']}")
                outcome["seconds"] = round(time.monotonic() - begin, 1)
                report["parts"][part] = outcome
                say(json.dumps(outcome)[:2000])
        finally:
            if self.cluster is not None:
                self.cluster.remove()
            shutil.rmtree(self.folder, ignore_errors=True)
        report["problems"] = self.problems
        return report

    # ---- parts ----

    def device(self) -> dict:
        """The device's facts, as the machine reports them."""
        found: dict = {"module": self.arguments.module.name}
        query = "name,driver_version,memory.total,pcie.link.gen.max,pcie.link.width.max,compute_cap"
        try:
            command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"]
            lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
            found["gpus"] = [dict(zip(query.split(","), map(str.strip, line.split(",")))) for line in lines]
        except (OSError, subprocess.SubprocessError) as error:
            found["nvidia_smi"] = str(error)
        with self.connect("auto") as session:
            rows = session.execute("select \"check\", status, detail from pgstrom.doctor()").fetchall()
            storage = "pgstrom.storage_check(current_setting('data_directory'))"
            rows += session.execute(f"select 'storage: ' || \"check\", status, detail from {storage}").fetchall()
        found["doctor"] = [{"check": name, "status": status, "detail": detail} for name, status, detail in rows]
        return found

    def unit(self) -> dict:
        """Runs the unit tests that need a device."""
        filters = {"device/device_test": "CudaDevice.*", "service/service_test": "DeviceService.*:*StorageWays.*/real",
                   "engine/engine_test": "*", "engine/pages_test": "*/module"}
        return {program: self.unit_tests(program, wanted) for program, wanted in filters.items()}

    def unit_tests(self, program: str, wanted: str, *before: str) -> dict:
        path = self.arguments.build_dir / "test/unit" / program
        log, listing = self.folder / "unit.log", self.folder / "unit.json"
        listing.unlink(missing_ok=True)
        environment = {
            **os.environ,
            "STROM_TEST_DEVICE_MODULE": str(self.module),
            "STROM_TEST_SERVICE_PROGRAM": str(self.service_program()),
        }
        command = [*before, str(path), f"--gtest_filter={wanted}", f"--gtest_output=json:{listing}", "--gtest_brief=1"]
        with open(log, "w", encoding="utf-8") as output:
            try:
                status = subprocess.run(command, stdout=output, stderr=output, env=environment, timeout=400).returncode
            except subprocess.TimeoutExpired:
                status = "took longer than 400 s"
        outcome: dict = {"status": status}
        if listing.exists():
            told = json.loads(listing.read_text())
            outcome.update(tests=told["tests"], failures=told["failures"], ms=told["time"])
        if status != 0 or not outcome.get("tests"):
            outcome["log"] = log.read_text(errors="replace")[-4000:]
            self.problems.append(f"{program}: status {status}")
        return outcome

    def sanitizer(self) -> dict:
        """Runs compute-sanitizer over the engine's tests."""
        program = shutil.which("compute-sanitizer")
        if program is None:
            return {"compute-sanitizer": "is not on this machine"}
        outcome = {}
        for tool in ("memcheck", "racecheck"):
            before = (program, "--tool", tool, "--error-exitcode", "9", "--kernel-name", "kernel_substring=run_morsels")
            outcome[tool] = self.unit_tests("engine/engine_test", SANITIZED, *before)
        return outcome

    def diff(self) -> dict:
        """Runs random queries through the service on this device, against PostgreSQL."""
        environment = {
            **os.environ,
            "STROM_PG_BINDIR": str(self.arguments.pg_bindir),
            "STROM_BUILD_DIR": str(self.arguments.build_dir),
            "STROM_SERVER_USER": self.arguments.server_user,
            "STROM_TEST_DIR": str(self.folder),
        }
        command = [sys.executable, str(SOURCE / "test/diff/run"), "--seconds", str(self.arguments.seconds), "--seed", "1"]
        command += ["--no-rows", "--device-module", str(self.module)]
        if not (self.service_program().parent / "pg_strom_parquet.so").exists():  # as in a bundle
            command.append("--no-parquet")
        limit = self.arguments.seconds + 120
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit)
        found = re.search(r"(\d+) passed, (\d+) failed\s*$", ran.stdout)
        if ran.returncode != 0 or found is None:
            self.problems.append(f"diff: status {ran.returncode}")
            return {"status": ran.returncode, "log": (ran.stdout + ran.stderr)[-4000:]}
        return {"passed": int(found.group(1)), "failed": int(found.group(2))}

    def ssb(self) -> dict:
        """Runs the 13 queries on GPU and CPU in turn. The service counts the device time."""
        server = self.server()
        self.check_answers(server)
        data = self.import_data(server, self.arguments.scale, SCHEMA)
        results = []
        with self.connect("gpu", SCHEMA) as gpu, self.connect("cpu", SCHEMA) as cpu:
            for name, query in QUERIES.items():
                first = median_ms(1, lambda: gpu.execute(query.sql).fetchall())
                equal = difference(query, cpu.execute(query.sql).fetchall(), gpu.execute(query.sql).fetchall())
                if equal:
                    self.problems.append(f"{name}: GPU and CPU differ: {equal}")
                entry: dict = {"query": name, "first_ms": first, "equal": not equal}
                busy = self.busy_ms(gpu)
                entry["gpu_ms"] = median_ms(self.arguments.runs, lambda: gpu.execute(query.sql).fetchall())
                entry["device_ms"] = round((self.busy_ms(gpu) - busy) / self.arguments.runs, 3)
                entry["cpu_ms"] = median_ms(self.arguments.runs, lambda: cpu.execute(query.sql).fetchall())
                lines = [line for (line,) in gpu.execute("explain (analyze, costs off, timing off) " + query.sql)]
                entry["device"] = next((line.split(": ", 1)[1] for line in lines if " Device: " in line), "")
                results.append(entry)
                say(f"   {entry}")
        total = {kind: round(sum(entry[kind] for entry in results), 3) for kind in ("gpu_ms", "device_ms", "cpu_ms")}
        return {"lineorder_rows": data.rows("lineorder"), "queries": results, "total": total}

    def check_answers(self, server: postgres.Server) -> None:
        """Compares the GPU with PostgreSQL alone, at a small scale because PostgreSQL is slow."""
        self.import_data(server, CHECKED_SCALE, CHECKED_SCHEMA)
        alone = postgres.referee(server, CHECKED_SCHEMA)
        with self.connect("gpu", CHECKED_SCHEMA) as gpu:
            for name, query in QUERIES.items():
                wrong = difference(query, alone.connection.execute(query.sql).fetchall(), gpu.execute(query.sql).fetchall())
                if wrong:
                    self.problems.append(f"{name}: GPU differs from PostgreSQL: {wrong}")
        alone.close()

    def filter(self) -> dict:
        """Runs count(*) with a text filter over a heap table, as from psql: the first query of a new service, and later
        ones."""
        query = "select count(*) from texts where t like '%77%'"
        with self.connect("gpu") as session:
            session.execute(
                "create table if not exists texts as select 'text number ' || i as t "
                f"from generate_series(1, {self.scaled(FILTER_ROWS)}) i"
            )
            session.execute("vacuum analyze texts")
            expected = self.alone(query)
            for _ in range(3):  # fills the column cache
                session.execute(query).fetchall()
            warm = median_ms(self.arguments.runs, lambda: session.execute(query).fetchall())
        subprocess.run(["pkill", "-KILL", "-f", f"pg_strom_gpu_service.*{self.module}"], check=True)
        time.sleep(1)
        self.wait_for_service()
        with self.connect("gpu") as session:
            session.execute("select count(*) from texts where false").fetchall()
            first = median_ms(1, lambda: session.execute(query).fetchall())
            if session.execute(query).fetchall() != expected:
                self.problems.append("filter: the answer differs from PostgreSQL's")
        with self.connect("cpu") as session:
            session.execute(query).fetchall()
            cpu = median_ms(self.arguments.runs, lambda: session.execute(query).fetchall())
        return {"rows": self.scaled(FILTER_ROWS), "warm_ms": warm, "first_of_a_new_service_ms": first, "cpu_ms": cpu}

    def sessions(self) -> dict:
        """Runs the same queries in more and more sessions; counts queries per second and failures."""
        server = self.server()
        self.import_data(server, self.arguments.scale, SCHEMA)
        names = ("Q1_1", "Q2_1", "Q3_2", "Q4_1")
        counts = [count for count in (1, 4, 16) if count < self.arguments.sessions] + [self.arguments.sessions]
        outcome: Dict[str, object] = {}
        for count in counts:
            deadline = time.monotonic() + 8

            def work(number: int) -> List[object]:
                done, failed = 0, []
                with self.connect("gpu", SCHEMA) as session:
                    while time.monotonic() < deadline:
                        try:
                            session.execute(QUERIES[names[(number + done) % len(names)]].sql).fetchall()
                            done += 1
                        except psycopg.Error as error:
                            failed.append(f"{error.sqlstate} {error}")
                            break
                return [done, failed]

            with concurrent.futures.ThreadPoolExecutor(count) as pool:
                ended = list(pool.map(work, range(count)))
            failures = [text for _, failed in ended for text in failed]
            self.problems += [f"{count} sessions: {text}" for text in failures[:3]]
            outcome[str(count)] = {"queries_per_s": round(sum(done for done, _ in ended) / 8, 2), "failures": len(failures)}
        return outcome

    # ---- the server ----

    def scaled(self, rows: int) -> int:
        """Scales a number of rows down if the benchmark is smaller than the one it was chosen for."""
        return int(rows * min(1.0, self.arguments.scale))

    def service_program(self) -> Path:
        """The program's path: beside the extension, or where it was built."""
        pkglibdir = subprocess.run(
            [self.arguments.pg_bindir / "pg_config", "--pkglibdir"], check=True, capture_output=True, text=True
        ).stdout.strip()
        return Path(pkglibdir) / "pg_strom_gpu_service"

    def server(self) -> postgres.Server:
        if self.cluster is None:
            cluster = Cluster(self.arguments.pg_bindir, self.folder / "cluster", self.arguments.server_user, True)
            cluster.create()
            gigabytes = max(1, int(hardware.describe()["memory_gb"] or 4) // 8)
            cluster.configure(
                "shared_preload_libraries = 'pg_strom'", f"shared_buffers = {min(gigabytes, 8)}GB", "max_connections = 200"
            )
            cluster.start({"STROM_DEVICE_MODULE": str(self.module)})
            self.cluster = cluster
            with psycopg.connect(cluster.conninfo("postgres"), autocommit=True) as session:
                session.execute("create extension if not exists pg_strom")
            self.wait_for_service()
        return postgres.Server(str(self.cluster.socket), 55999, "postgres", "postgres")

    def wait_for_service(self) -> None:
        for _ in range(150):
            with self.connect("auto") as session:
                rows = session.execute("select status, detail from pgstrom.doctor() where \"check\" = 'GPU service'")
                status, detail = rows.fetchone()
            if status == "ok":
                return
            time.sleep(0.2)
        raise RuntimeError(f"the GPU service does not come up: {detail}")

    def connect(self, device: str, schema: str = "public") -> psycopg.Connection:
        session = self.server().connect(schema, **{"pg_strom.device": device, "max_parallel_workers_per_gather": 0})
        session.execute("load 'pg_strom'")
        session.execute(f"set pg_strom.cpu_threads = {min(16, len(os.sched_getaffinity(0)))}")
        return session

    def alone(self, query: str) -> list:
        with self.server().connect("public", **{"pg_strom.enabled": "off"}) as session:
            return session.execute(query).fetchall()

    def import_data(self, server: postgres.Server, scale: float, schema: str):
        threads = len(os.sched_getaffinity(0))
        self.arguments.data_dir.mkdir(parents=True, exist_ok=True)
        data = ensure_data(scale, self.arguments.data_dir, self.arguments.build_dir / "bench/ssb/ssbgen", threads)
        postgres.create_foreign_tables(server, data, schema)
        time.sleep(NEW_FILE_SECONDS)
        return data

    @staticmethod
    def busy_ms(session: psycopg.Connection) -> float:
        """The time on the device so far."""
        query = "select coalesce(sum(busy_ms), 0) from pgstrom.gpu_sessions where pid = pg_backend_pid()"
        return session.execute(query).fetchone()[0]


def main(given: List[str]) -> int:
    arguments = parse_arguments(given)
    if os.geteuid() == 0:
        pwd.getpwnam(arguments.server_user)
    report = Check(arguments).run()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    text = page.render(report)
    arguments.out.with_suffix(".md").write_text(text)
    print(text)
    print(f"Written: {arguments.out} and {arguments.out.with_suffix('.md')}")
    for problem in report["problems"]:
        print(problem, file=sys.stderr)
    return 1 if report["problems"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
