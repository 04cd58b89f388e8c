"""What the TAP tests of this folder share: psql sessions on the tests' server, and TAP output.

The server is found by PGHOST, PGPORT and PGUSER; STROM_TEST_DIR is a folder that both the test and the server can read.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

import psycopg

TEST_DIR = pathlib.Path(os.environ["STROM_TEST_DIR"])
BUILD_DIR = pathlib.Path(os.environ["STROM_BUILD_DIR"])
_count = 0
_failed = 0
_started = None


def ok(condition, name, *remarks):
    """One TAP line; when the test fails, its name and the remarks go to standard error, which prove shows."""
    global _count, _failed
    _count += 1
    print(f"{'ok' if condition else 'not ok'} {_count} - {name}", flush=True)
    if not condition:
        _failed += 1
        for line in "\n".join(["not ok " + name, *(str(r) for r in remarks)]).splitlines():
            print(f"#   {line}", file=sys.stderr, flush=True)


def equal(found, wanted, name):
    ok(found == wanted, name, f"found:  {found!r}", f"wanted: {wanted!r}")


def set_timeout(session, milliseconds):
    """statement_timeout of the session. The one before may be so short that it ends this statement on a busy machine."""
    while True:
        try:
            session.execute(f"SET statement_timeout = {milliseconds}")
            return
        except psycopg.errors.QueryCanceled:
            pass


def done():
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failed else 0)


def folder(name):
    """An empty folder of that name that the server can read."""
    path = TEST_DIR / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    os.chmod(path, 0o755)
    return path


def psql(script, database="postgres", timeout=120):
    """Runs a script in one session; (stdout, stderr). Errors do not end the script and are printed verbosely."""
    run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=verbose", "-d", database], input=script,
                         capture_output=True, text=True, timeout=timeout)
    return run.stdout.strip(), run.stderr.strip()


def query(statement, database="postgres"):
    """The output of a script that must not fail."""
    out, err = psql(statement, database)
    if "ERROR" in err or "FATAL" in err:
        raise RuntimeError(f"{statement}\n{err}")
    return out


def fresh_database(name):
    global _started
    query(f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}")
    query("CREATE EXTENSION pg_strom", name)
    _started = incarnation()
    return name


def wait_until(condition, seconds=120):
    """Whether `condition()` comes true in time. A test that waits for a thing never guesses how long it takes."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def state_of(action):
    """The SQLSTATE of what `action` raises; None: nothing."""
    try:
        action()
        return None
    except psycopg.Error as error:
        return error.sqlstate or "connection lost"


def with_and_without_engine(session, statement, answer):
    """The answers of the engine, wherever it runs, and of PostgreSQL alone under one snapshot, each by answer(session,
    statement)."""
    answers = []
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    for enabled in ("on", "off"):
        session.execute("SAVEPOINT before")
        session.execute(f"SET LOCAL pg_strom.enabled = {enabled}")
        answers.append(answer(session, statement))
        session.execute("ROLLBACK TO before")
    session.execute("ROLLBACK")
    return answers


def incarnation():
    """What the crash of any process changes: all others are started anew then, the checkpointer among them. The start of
    the server itself stays the same."""
    return query("SELECT pg_postmaster_start_time(), backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'")


def alive(name):
    """No process of the server has crashed since the test has made its database."""
    equal(incarnation(), _started, f"the server stays up: {name}")


def wait_for_restart(before):
    """Until the server lets sessions in again after a crash; `before`: its incarnation until then."""

    def is_back():
        try:
            return incarnation() not in ("", before)
        except RuntimeError:  # it is going down, or recovers
            return False

    if not wait_until(is_back):
        raise RuntimeError("the server does not come back")


def wait_for_query(pid):
    """Until that backend executes a statement."""
    if not wait_until(lambda: query(f"SELECT state FROM pg_stat_activity WHERE pid = {pid}") == "active"):
        raise RuntimeError(f"the backend {pid} does nothing")


def simultaneous_threads(pids):
    """Engine threads of these backends that lived at one moment: those that were there before it, and go on after it."""
    before = {(pid, thread) for pid in pids for thread in _threads(pid)}
    return sum(_goes_on(pid, thread) for pid, thread in before)


def _threads(pid):
    try:
        return set(os.listdir(f"/proc/{pid}/task")) - {str(pid)}
    except OSError:  # it has ended meanwhile
        return set()


def _goes_on(pid, thread):
    """A thread that has been joined may be listed a little longer."""
    exiting = 0x4  # PF_EXITING
    try:
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8") as stat:
            return not int(stat.read().rsplit(")", 1)[1].split()[6]) & exiting
    except OSError:
        return False


# The engine scans, whatever that costs, where PostgreSQL could use an index, too.
ENGINE_SETTINGS = {
    "pg_strom.cpu_setup_cost": "0",
    "pg_strom.cpu_tuple_cost": "0.000001",
    "pg_strom.cpu_operator_cost": "0",
    "pg_strom.cpu_threads": "2",
    "enable_indexscan": "off",
    "enable_bitmapscan": "off",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}


def engine_session(database, **settings):
    """A session of psycopg whose scans are the engine's; `settings` on top of ENGINE_SETTINGS."""
    # Prepared statements would keep the plans of other settings.
    session = psycopg.connect(dbname=database, autocommit=True, prepare_threshold=None)
    session.execute("LOAD 'pg_strom'")
    for name, value in {**ENGINE_SETTINGS, **settings}.items():
        session.execute(f"SET {name} = '{value}'")
    return session
