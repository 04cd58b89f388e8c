"""The course of a differential run: clusters by instruction set, rounds of tables, queries, reports."""

import copy
import fnmatch
import math
import os
import pathlib
import pwd
import random
import shlex
import shutil
import signal
import sys
import time
from collections import Counter

from cluster import Cluster
from compare import differences, is_plan_dependent
from queries import random_query
from row_cases import RowCases
from session import ON_GPU, ConnectionLost, Session
from shrink import shrink
from tables import ddl, random_table, write_files

QUERIES_PER_ROUND = 80
ALL_LEVELS_SECONDS = 300  # from this length on, the rows of the registry are tried on each instruction set
# What is counted as taking part, where it is not any node of the engine.
DECISIVE = {"top": "Top Rows", "sets": "CpuPreAgg", "distinct aggregate": "CpuPreAgg"}
# Of the queries of a kind, the share that the engine must take part in.
FLOORS = {
    "scan": 0.6,
    "aggregate": 0.6,
    "group": 0.6,
    "top": 0.12,
    "sets": 0.15,
    "distinct aggregate": 0.04,
    "joins": 0.6,
    "semi": 0.5,
}
# Which queries are drawn is chance, and so is the share: what is fewer by this many standard deviations of as many
# independent draws is not chance.
CHANCE_DEVIATIONS = 4
SERVICE_TRIES = 1200  # each after a tenth of a second; a busy machine starts the service late
# An emulated machine has tables of a few dozen rows, where these rarely pay.
SMALL_FLOORS = {**FLOORS, "group": 0.5, "top": 0.05, "sets": 0.05, "distinct aggregate": 0}
HOST_SETTINGS = {
    "pg_strom.enabled": "off",
    "arrow_fdw.stats_hint_enabled": "off",
    "jit": "off",
    "statement_timeout": "'60s'",
    "extra_float_digits": "1",
}
# Costs that leave PostgreSQL no better plan.
ENGINE_SETTINGS = {
    "pg_strom.enabled": "on",
    "arrow_fdw.stats_hint_enabled": "on",
    "jit": "off",
    "statement_timeout": "'60s'",
    "extra_float_digits": "1",
    "pg_strom.cpu_setup_cost": "0",
    "pg_strom.cpu_tuple_cost": "0.000001",
    "pg_strom.cpu_operator_cost": "0",
}


def machine_levels():
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    return ["v2"] + (["v3"] if " avx2" in flags else []) + (["v4"] if " avx512vl" in flags else [])


def answer(session, query, statements, main):
    """What `main` gives after `statements`, at once or through a cursor."""
    for statement in statements:
        found = session.run(statement)
        if found.is_error() and statement.startswith("PREPARE"):
            return found
    if not query.fetches:
        return session.run(main)
    session.must("BEGIN")
    # FETCH 0 is a step back for PostgreSQL, which some plans take without being asked; it gives a row again, and which one
    # depends on their order.
    found = session.run(f"DECLARE c {'SCROLL ' if 0 in query.fetches else ''}CURSOR FOR {main}")
    rows = []
    for size in query.fetches:
        if found.is_error():
            break
        found = session.run(f"FETCH {size} FROM c")
        rows += found.rows or [] if size != 0 else []
    session.must("ROLLBACK")
    if not found.is_error():
        found.rows = rows
    return found


class Campaign:
    def __init__(self, options):
        self.options = options
        self.seed = options.seed if options.seed is not None else int(time.time()) % 1_000_000_000
        self.root = pathlib.Path(os.environ.get("STROM_TEST_DIR", "/tmp")) / f"diff-{os.getpid()}"
        user = os.environ.get("STROM_SERVER_USER") or (
            "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        )
        self.cluster = Cluster(self.bindir(), self.root / "cluster", user, keeps_columns=True)
        self.passed = self.failed = 0
        self.too_slow = 0  # answers that an emulated machine did not reach in time
        self.nodes, self.kinds, self.engine_kinds = Counter(), Counter(), Counter()
        self.refusals, self.errors = Counter(), Counter()
        self.open_errors = self.answers = self.with_rows = 0
        self.isa = ""

    @staticmethod
    def bindir():
        found = os.environ.get("STROM_PG_BINDIR")
        if not found:
            sys.exit(
                "STROM_PG_BINDIR, the folder of the private PostgreSQL's programs, is not set: see docs/dev/testing.md"
            )
        return found

    def run(self):
        print(f"# seed {self.seed}", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through `finally`, which stops the server
        self.root.mkdir(parents=True)
        os.chmod(self.root, 0o755)
        try:
            self.cluster.create()
            if self.options.device_module:
                self.cluster.configure("shared_preload_libraries = 'pg_strom'", "pg_strom.device = gpu")
            self.rounds()
        finally:
            if self.options.keep:
                print(f"# kept: {self.root}")
                self.cluster.stop()
            else:
                self.cluster.remove()
                shutil.rmtree(self.root, ignore_errors=True)
        self.summary()
        if not self.options.only:
            self.check_floors()
        if self.too_slow:
            print(f"# {self.too_slow} answers were not reached in time")
            self.failed += self.too_slow > 3 + self.passed // 50
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0

    # Rounds

    def rounds(self):
        levels = [self.options.isa] if self.options.isa else machine_levels()[::-1]
        if self.options.only and self.options.only.startswith("rows"):
            self.start_server(levels[0])
            self.row_cases(levels[0], self.options.only.partition(".")[2])
            return
        only = [int(n) for n in self.options.only.split(".")] if self.options.only else None
        begin, number = time.monotonic(), only[0] if only else 0
        if self.options.device_module:
            levels = levels[:1]
        # A level's share of the time; each gets at least one round.
        for index, level in enumerate(levels if not only or self.options.isa else levels[:1]):
            end = begin + self.options.seconds * (index + 1) / len(levels)
            self.start_server(level)
            if not only and (index == 0 or self.options.seconds >= ALL_LEVELS_SECONDS):
                self.row_cases(level)
            while True:
                self.round(number, end, only[1] if only and len(only) > 1 else None)
                if only or self.failed >= self.options.failures:
                    return
                number += 1
                if time.monotonic() >= end:
                    break

    def start_server(self, level):
        # Few rows in a morsel let several threads run over small tables.
        environment = {"STROM_ISA": level, "STROM_MORSEL_ROWS": {"v2": "60", "v3": "1000"}.get(level, "131072")}
        if self.options.device_module:
            environment["STROM_DEVICE_MODULE"] = os.path.abspath(self.options.device_module)
        self.isa = level
        self.cluster.start(environment)
        session = Session(self.cluster.conninfo("postgres"), {})
        session.must("CREATE EXTENSION IF NOT EXISTS pg_strom")
        if self.options.device_module:
            self.await_service(session)
        session.must(
            "CREATE COLLATION IF NOT EXISTS strom_nocase "
            "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        session.close()

    @staticmethod
    def await_service(session):
        for _ in range(SERVICE_TRIES):
            if session.must("SELECT 1 FROM pgstrom.doctor() WHERE \"check\" = 'GPU service' AND status = 'ok'").rows:
                return
            time.sleep(0.1)
        raise RuntimeError("the GPU service does not answer")

    def round(self, number, end, only_query):
        rng = random.Random(f"{self.seed}/{number}")
        small = self.options.small
        tables = [random_table(rng, "f0", "fact", small), random_table(rng, "f1", "fact", small)]
        tables += [random_table(rng, f"d{i}", "dimension", small) for i in range(rng.choice([2, 3, 4]))]
        folder = self.root / f"round{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.chmod(folder, 0o755)
        self.make_tables(rng, tables, folder, number)
        self.open_sessions(self.schema(number))
        for index in range(QUERIES_PER_ROUND) if only_query is None else [only_query]:
            if only_query is None and time.monotonic() >= end and index > 0:
                break
            query = random_query(random.Random(f"{self.seed}/{number}/{index}"), tables)
            self.try_query(query, tables, number, index)
            if self.failed >= self.options.failures:
                break
        self.plain.close()
        self.engine.close()
        if not self.options.keep:
            session = Session(self.cluster.conninfo("postgres"), {"client_min_messages": "error"})
            session.must(f"DROP SCHEMA r{number} CASCADE")
            session.close()
            shutil.rmtree(folder)

    def row_cases(self, level, only=""):
        """Every row of the registry, or the one called `only`."""
        if self.options.no_rows:
            return
        rng = random.Random(f"{self.seed}/rows/{level}")
        folder = self.root / "rows"
        folder.mkdir(exist_ok=True)
        os.chmod(folder, 0o755)
        session = Session(self.cluster.conninfo("postgres"), {"client_min_messages": "error"})
        session.must("DROP SCHEMA IF EXISTS rows CASCADE")
        session.must("CREATE SCHEMA rows")
        session.must("SET search_path = rows, public")
        session.must("SET pg_strom.enabled = off")
        cases = RowCases(rng, session, folder, rng.choice([100, 300, 1024]), self.options.small)
        cases.make_table()
        self.open_sessions("rows")
        count = 0
        for name, queries in cases.all_cases():
            if only and not fnmatch.fnmatchcase(name, only):
                continue
            before = count
            try:
                for query in queries:
                    count += 1
                    self.try_query(query, [], "rows", name)
                    if query.computes:
                        fallback, rows = self.engine.fallback_rows(query.sql)
                        if rows > 0 and fallback >= rows:
                            self.fail(f"row {name}: the engine computes no value of the pairs", [query.sql])
                    if query.falls_back and self.engine.fallback_rows(query.sql)[0] == 0:
                        self.fail(f"row {name}: PostgreSQL evaluates no row", [query.sql])
            except LookupError as error:
                self.fail(f"row {name}: {error}", [])
            if count == before:
                self.fail(f"row {name} has no case", [])
            if self.failed >= self.options.failures:
                break
        print(f"# {count} cases of rows of the registry on {level}", flush=True)
        session.close()

    def fail(self, name, lines):
        self.failed += 1
        print(f"not ok - {name}")
        for line in lines:
            print(f"#   {line}", flush=True)

    def make_tables(self, rng, tables, folder, number):
        session = Session(self.cluster.conninfo("postgres"), {"client_min_messages": "error"})
        session.must(f"DROP SCHEMA IF EXISTS r{number} CASCADE")
        session.must(f"CREATE SCHEMA r{number}")
        session.must(f"SET search_path = r{number}, public")
        for table in tables:
            for statement in ddl(rng, table, write_files(rng, table, folder, not self.options.no_parquet)):
                session.must(statement)
            if rng.random() < 0.5:
                session.must(f"ANALYZE {table.name}")
        session.close()

    def open_sessions(self, schema):
        path = {"search_path": f"{schema}, public"}
        self.plain = Session(self.cluster.conninfo("postgres"), {**HOST_SETTINGS, **path})
        self.engine = Session(self.cluster.conninfo("postgres"), {**ENGINE_SETTINGS, **path})

    @staticmethod
    def schema(number):
        return number if number == "rows" else f"r{number}"

    # One query

    def try_query(self, query, tables, number, index):
        try:
            lines = self.check(query)
        except ConnectionLost as lost:
            time.sleep(2)
            lines = [f"the connection was lost: {lost}"] + self.cluster.last_signals()
            self.start_server(self.isa)
            self.open_sessions(self.schema(number))
        else:
            if lines and not query.parameters and number != "rows":
                query, lines = self.smaller(query, lines)
        if lines and self.options.small and any("57014" in line for line in lines):
            self.too_slow += 1
        elif lines:
            self.failed += 1
            self.report(query, tables, number, index, lines)
        else:
            self.passed += 1

    def smaller(self, query, lines):
        """The failing query, or a part of it that fails as well, with its differences."""
        counts = copy.deepcopy(
            (self.nodes, self.kinds, self.engine_kinds, self.refusals, self.errors, self.open_errors)
        )
        try:
            found = shrink(query, self.check)
            lines = lines if found is query else self.check(found) or lines
        except ConnectionLost:
            self.start_server(self.isa)
            found = query
        self.nodes, self.kinds, self.engine_kinds, self.refusals, self.errors, self.open_errors = counts
        return found, lines

    def check(self, query):
        for session, settings in ((self.plain, {}), (self.engine, query.engine_settings)):
            for name, value in {**query.settings, **settings}.items():
                session.must(f"SET {name} = '{value}'")
        lines = self.compare(query)
        for session, settings in ((self.plain, {}), (self.engine, query.engine_settings)):
            for name in {**query.settings, **settings}:
                session.must(f"RESET {name}")
        return lines

    def compare(self, query):
        runs = list(self.runs(query))
        for statements, main in runs:
            plain = answer(self.plain, query, statements, main)
            for _ in range(2 if self.options.device_module else 1):  # again with what the first has left on the device
                engine = answer(self.engine, query, statements, main)
                self.engine.must("DEALLOCATE ALL")
                lines = differences(plain, engine, query)
                if lines and is_plan_dependent(plain, engine) and self.may_order_evaluation(query, main, engine):
                    self.open_errors += 1
                    lines = []
                if lines:
                    break
            self.with_rows += bool(plain.rows)
            self.answers += 1
            if plain.is_error():
                self.errors[f"{plain.state} {plain.message[:60]}"] += 1
            else:
                lines = lines or self.count_nodes(query, main)
            for session in (self.plain, self.engine):
                session.must("DEALLOCATE ALL")
            if lines:
                return lines
        return []

    def may_order_evaluation(self, query, main, engine):
        """Whether the two plans may evaluate different expressions or different rows: joins in another order,
        conditions that stay with PostgreSQL while others run in the engine, and conditions that cannot fail, which
        the engine evaluates before the others."""
        return (
            query.raising_order_open
            or " AND " in query.sql
            and not engine.is_error()
            or bool(self.engine.engine_nodes(main)[1])
        )

    @staticmethod
    def runs(query):
        """(statements before, the one that answers) for each time that the query is run."""
        if query.parameters:
            types = ", ".join(base for base, _ in query.parameters[0])
            prepare = [f"PREPARE q({types}) AS {query.sql}"]
            for values in query.parameters:
                prepare = prepare + [f"EXECUTE q({', '.join(text for _, text in values)})"]
                yield prepare[:-1], prepare[-1]
        else:
            yield [], query.sql

    def count_nodes(self, query, main):
        nodes, refused = self.engine.engine_nodes(main)
        self.nodes.update(nodes)
        self.kinds[query.kind] += 1
        self.engine_kinds[query.kind] += DECISIVE[query.kind] in nodes if query.kind in DECISIVE else bool(nodes)
        for line in refused:
            self.refusals[line[line.rfind("(") :] if "(" in line else line] += 1
        if query.must_offload and (not nodes or refused):
            return ["not in the engine"] + refused
        return []

    # Reports

    def report(self, query, tables, number, index, lines):
        print(f"not ok - round {number} query {index}, {self.isa}, {query.kind}")
        print(f"#   {query.sql}")
        for values in query.parameters:
            print(f"#   parameters: {', '.join(text for _, text in values)}")
        for name, value in {**query.settings, **query.engine_settings}.items():
            print(f"#   SET {name} = '{value}'")
        for line in lines:
            print(f"#   {line}")
        for table in tables:
            if f"{table.name} " in query.sql:
                for line in table.describe():
                    print(f"#   {line}")
        again = [sys.argv[0], "--seed", str(self.seed), "--only", f"{number}.{index}", "--isa", self.isa]
        if self.options.device_module:
            again += ["--device-module", self.options.device_module] + ["--small"] * self.options.small
        again += ["--no-parquet"] * self.options.no_parquet
        print(f"#   again: {shlex.join(again)}", flush=True)

    def check_floors(self):
        """The comparison is worth something only if the engine answers a good share of the queries, on its device."""
        on_device = self.nodes[ON_GPU]
        if self.options.device_module and not on_device:
            self.fail("no plan is for the device", [])
        for kind, floor in (SMALL_FLOORS if self.options.small else FLOORS).items():
            drawn = self.kinds[kind]
            chance = CHANCE_DEVIATIONS * math.sqrt(drawn * floor * (1 - floor))
            if drawn >= 50 and self.engine_kinds[kind] < floor * drawn - chance:
                self.fail(f"only {self.engine_kinds[kind]} of {drawn} queries of the kind {kind} in the engine", [])

    def summary(self):
        print(f"# engine nodes: {dict(self.nodes)}")
        for kind in sorted(self.kinds):
            print(f"# {kind}: {self.engine_kinds[kind]} of {self.kinds[kind]} in the engine")
        print(f"# {self.answers} answers, {self.with_rows} of them with rows")
        print(f"# accepted: {self.open_errors} errors whose raising depends on the plan")
        print("# errors alike: " + "; ".join(f"{n}x {e}" for e, n in self.errors.most_common(12)))
        print("# not offloaded: " + "; ".join(f"{n}x {e}" for e, n in self.refusals.most_common(15)))
