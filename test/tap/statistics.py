#!/usr/bin/env python3
"""pgstrom.stat_progress and pgstrom.stat_queries: what they tell of running and past queries, to whom, and that nothing stays
of queries and sessions that have ended in any way. A server of its own, which preloads the extension."""

import os
import re
import sys
import threading

import psycopg

from server import TEST_DIR, done, equal, folder, ok, psql, wait_until

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

FILES = folder("statistics")
os.chmod(FILES, 0o777)
# Pairs of rows without keys: seconds of work in the engine.
SLOW = "SELECT count(*) FROM pairs a, few b WHERE a.x < b.y AND a.x * 3 > b.y"
SLOW_FILES = "SELECT count(*) FROM files a, few b WHERE a.x < b.y AND a.x * 3 > b.y"
HIDDEN = "<insufficient privilege>"


def session_at(cluster, role="postgres"):
    session = psycopg.connect(cluster.conninfo("postgres"), autocommit=True)
    session.execute("SET pg_strom.cpu_setup_cost = 0; SET pg_strom.cpu_tuple_cost = 0; SET pg_strom.cpu_operator_cost = 0; "
                    f"SET pg_strom.cpu_threads = 1; SET ROLE {role}")
    return session


def progress(session):
    """Rows of the view as dictionaries."""
    cursor = session.execute("SELECT * FROM pgstrom.stat_progress")
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor.fetchall()]


class Running:
    """A statement in a session and a thread of its own, until it is stopped."""

    def __init__(self, cluster, statement, login="postgres"):
        self.session = psycopg.connect(cluster.conninfo("postgres") + f" user={login}", autocommit=True)
        self.session.execute("SET pg_strom.cpu_setup_cost = 0; SET pg_strom.cpu_tuple_cost = 0; SET pg_strom.cpu_operator_cost = 0; "
                             "SET pg_strom.cpu_threads = 1")
        self.pid = self.session.info.backend_pid
        self.error = None
        self.thread = threading.Thread(target=self.run, args=(statement,))
        self.thread.start()

    def run(self, statement):
        try:
            if statement.startswith("COPY"):
                with self.session.cursor().copy(statement) as copy:
                    for _ in copy:
                        pass
            else:
                self.session.execute(statement)
        except psycopg.Error as error:
            self.error = error

    def end(self):
        self.thread.join(60)
        ok(not self.thread.is_alive(), "the statement has ended")
        self.session.close()


def row_of(watcher, pid):
    """The row once there is one."""
    found = []

    def look():
        found[:] = [row for row in progress(watcher) if row["pid"] == pid]
        return bool(found)

    ok(wait_until(look, 30), "a running query is told of")
    return found[0] if found else {}


def later_row(watcher, pid, before):
    found = [before]

    def look():
        found[0] = next((row for row in progress(watcher) if row["pid"] == pid), before)
        return found[0]["chunks_done"] > before["chunks_done"]

    ok(wait_until(look, 60), "which goes on", before)
    return found[0]


def gone(watcher, pid, how):
    ok(wait_until(lambda: all(row["pid"] != pid for row in progress(watcher)), 30), f"nothing is left of a query that was {how}")


def check_rows(cluster, watcher):
    relid = watcher.execute("SELECT 'pairs'::regclass::oid").fetchone()[0]
    running = Running(cluster, SLOW)
    row = row_of(watcher, running.pid)
    row = later_row(watcher, running.pid, row)
    equal((row["datname"], row["usename"], row["relid"], row["phase"], row["step"], row["steps"], row["query"]),
          ("postgres", "postgres", relid, "scanning", 2, 2, SLOW), "whose, what, where")
    pages = watcher.execute("SELECT pg_relation_size('pairs') / 8192").fetchone()[0]
    equal((row["chunks_total"], row["bytes_total"]), (pages, pages * 8192), "how much there is")
    ok(0 < row["chunks_done"] <= pages and row["bytes_done"] == row["chunks_done"] * 8192 and row["rows_done"] > 0, "how much is done", row)
    ok(row["started"] is not None and row["eta"] is not None and row["eta"].total_seconds() >= 0, "since when, and for how long", row)
    watcher.execute("SELECT pg_cancel_backend(%s)", (running.pid,))
    running.end()
    equal(getattr(running.error, "sqlstate", None), "57014", "cancelled")
    gone(watcher, running.pid, "cancelled")

    running = Running(cluster, SLOW_FILES)
    row = row_of(watcher, running.pid)
    size = os.stat(FILES / "pairs.arrow").st_size
    ok(row["chunks_total"] == 20 and row["bytes_total"] == size and row["bytes_done"] <= size, "record batches of a file", row)
    watcher.execute("SELECT pg_terminate_backend(%s)", (running.pid,))
    running.end()
    gone(watcher, running.pid, "terminated")

    running = Running(cluster, f"COPY ({SLOW}) TO STDOUT")
    row = row_of(watcher, running.pid)
    ok(row["phase"] in ("scanning", "building join table"), "below COPY", row)
    equal(watcher.execute("SELECT count(*) FROM pg_stat_progress_copy WHERE pid = %s", (running.pid,)).fetchone(), (1,), "whose own progress is told too")
    watcher.execute("SELECT pg_cancel_backend(%s)", (running.pid,))
    running.end()
    gone(watcher, running.pid, "copied")


def check_rights(cluster, watcher):
    running = Running(cluster, SLOW, "strom_worker")
    full = row_of(watcher, running.pid)
    for role, sees in (("strom_worker", True), ("strom_reader", True), ("strom_other", False)):
        other = session_at(cluster, role)
        row = row_of(other, running.pid)
        if sees:
            equal((row["query"], row["relid"]), (full["query"], full["relid"]), f"{role} sees all of it")
        else:
            hidden = [name for name in row if row[name] is None]
            equal((row["usename"], row["query"], len(hidden)), ("strom_worker", HIDDEN, 11), f"{role} sees whose it is and no more")
        other.close()
    watcher.execute("SELECT pg_cancel_backend(%s)", (running.pid,))
    running.end()
    gone(watcher, running.pid, "another role's")


def check_quiet(cluster, watcher):
    session = session_at(cluster)
    session.execute("SELECT count(*) FROM few")
    session.execute("SET track_activities = off")
    session.close()
    equal(progress(watcher), [], "nothing runs")
    # A session that was closed goes when its process has ended.
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    ok(wait_until(lambda: watcher.execute(sessions).fetchone() == (1,), 30), "no session is left")


def works(session, pattern):
    return session.execute("SELECT usename, query, executions, rows_read, rows_rechecked, total_time >= 0, last_execution >= stats_reset "
                           "FROM pgstrom.stat_queries WHERE query LIKE %s ORDER BY usename", (pattern,)).fetchall()


def check_texts(session, watcher):
    """Constants are shown by $n, as pg_stat_statements does: whatever they are, and however the statement came."""
    squashed = "$1, $2, $3" if session.info.server_version < 180000 else "$1 /*, ... */"
    for statement, shown in (
            ("SELECT max(y) FROM few WHERE y <> -12 AND y::text <> 'it''s' AND y < 7e3 /* one */",
             "SELECT max(y) FROM few WHERE y <> $1 AND y::text <> $2 AND y < $3 /* one */"),
            ("SELECT min(y) FROM few WHERE y IN (1, 2, 3) /* two */", f"SELECT min(y) FROM few WHERE y IN ({squashed}) /* two */"),
            ("SELECT 5 AS x; SELECT sum(y) FROM few WHERE y > 21 /* three */", "SELECT sum(y) FROM few WHERE y > $1 /* three */"),
            ("SELECT sum(y::numeric(12,3)) FROM few /* four */", "SELECT sum(y::numeric(12,3)) FROM few /* four */"),
            ("DO $$ BEGIN PERFORM count(*) FROM few WHERE y < 77; END $$", "SELECT count(*) FROM few WHERE y < $1"),
            ("EXPLAIN (ANALYZE) SELECT bool_and(y > 3) FROM few", "EXPLAIN (ANALYZE) SELECT bool_and(y > $1) FROM few"),
            ("SELECT avg(y) FROM few WHERE y::text < E'a\\nb' AND y > 2 /* E */", "SELECT avg(y) FROM few WHERE y::text < $1 AND y > $2 /* E */")):
        session.execute(statement)
        texts = [row[0] for row in watcher.execute("SELECT query FROM pgstrom.stat_queries").fetchall()]
        ok(shown in texts, f"{statement} is shown by its shape", texts)
    session.execute("PREPARE p (int, int) AS SELECT count(*) FROM few WHERE y BETWEEN $1 AND $2 AND y % 5 = 3")
    session.execute("EXECUTE p (4, 400)")
    session.execute("EXECUTE p (5, 500)")
    found = watcher.execute("SELECT query, executions FROM pgstrom.stat_queries WHERE query LIKE '%BETWEEN%'").fetchall()
    equal([(text[-58:], count) for text, count in found], [("SELECT count(*) FROM few WHERE y BETWEEN $1 AND $2 AND y % $3 = $4"[-58:], 2)], "constants beside parameters")


def check_queries(cluster, watcher):
    watcher.execute("SELECT pgstrom.stat_queries_reset()")
    equal(watcher.execute("SELECT count(*) FROM pgstrom.stat_queries").fetchone(), (0,), "reset")
    session = session_at(cluster, "strom_worker")
    for bound in (7, 8, 9):
        session.execute(f"SELECT count(*), sum(100 / (y - {bound})) FROM few WHERE y > {bound} /* counted */")
    session.execute("SELECT count(*) FROM few")
    session.execute("EXPLAIN SELECT max(y) FROM few /* not run */")
    try:
        session.execute("SELECT sum(1 / (y - 5)) FROM few /* fails */")
        ok(False, "division by zero")
    except psycopg.errors.DivisionByZero:
        pass
    equal(works(watcher, "%counted%"), [("strom_worker", "SELECT count(*), sum($1 / (y - $2)) FROM few WHERE y > $3 /* counted */", 3, 60000, 0, True, True)],
          "executions of a query, whatever its literals are")
    equal(works(watcher, "%not run%") + works(watcher, "%fails%"), [], "and of none that has not run to its end")
    times = watcher.execute("SELECT min_time, mean_time, max_time, total_time, executions FROM pgstrom.stat_queries WHERE query LIKE '%counted%'").fetchone()
    ok(0 <= times[0] <= times[1] <= times[2] <= times[3] and abs(times[1] * times[4] - times[3]) < 1e-6, "least, mean, most, all", times)
    check_texts(session, watcher)
    other = session_at(cluster, "strom_other")
    rows = other.execute("SELECT usename, queryid, query FROM pgstrom.stat_queries WHERE usename = 'strom_worker'").fetchall()
    ok(len(rows) >= 2 and all(row[1:] == (None, HIDDEN) for row in rows), "texts are hidden from other roles", rows)
    try:
        other.execute("SELECT pgstrom.stat_queries_reset()")
        ok(False, "resetting is the superuser's")
    except psycopg.errors.InsufficientPrivilege:
        ok(True, "resetting is the superuser's")
    # More queries than there is room for; text that is cut in the middle of a character.
    long = "SELECT count(*), min(y) FROM few /* " + "ä" * 2000 + " */"
    session.execute("DO $$ BEGIN FOR i IN 1..1100 LOOP EXECUTE format('SELECT count(*) AS c%s FROM few WHERE y < 0', i) || repeat(' + 0', 0); END LOOP; END $$")
    session.execute(long)
    equal(watcher.execute("SELECT count(*) <= 1000 FROM pgstrom.stat_queries").fetchone(), (True,), "room is bounded")
    texts = [row[0] for row in watcher.execute("SELECT query FROM pgstrom.stat_queries WHERE query LIKE 'SELECT count(*), min(y)%'").fetchall()]
    ok(len(texts) == 1 and long.startswith(texts[0]) and 1020 <= len(texts[0].encode()) <= 1023, "long texts are cut between characters", texts)
    session.close()
    other.close()


def main():
    cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "statistics_cluster", os.environ["STROM_SERVER_USER"])
    try:
        cluster.create()
        cluster.configure("shared_preload_libraries = 'pg_strom'")
        cluster.start({})
        lines = [line for line in (cluster.data / "server.log").read_text().splitlines() if "pg_strom runs on" in line]
        ok(len(lines) == 1 and re.search(r'pg_strom runs on CPU ".+" \(\S+, \d+ threads?\), (no GPU|GPU0 ".+")', lines[0]),
           "the server's log names the devices once, when it starts", lines)
        watcher = session_at(cluster)
        watcher.execute(f"""CREATE EXTENSION pg_strom;
          CREATE TABLE pairs AS SELECT i % 1000 AS x FROM generate_series(1, 400000) i; CREATE TABLE few AS SELECT i AS y FROM generate_series(1, 20000) i;
          SELECT pgstrom.arrow_export('SELECT x FROM pairs', '{FILES}/pairs.arrow', '{{"batch_rows": 20000}}');
          IMPORT FOREIGN SCHEMA files FROM SERVER arrow_fdw INTO public OPTIONS (file '{FILES}/pairs.arrow');
          CREATE ROLE strom_worker LOGIN; CREATE ROLE strom_other; CREATE ROLE strom_reader IN ROLE pg_read_all_stats;
          GRANT SELECT ON pairs, few, files TO strom_worker; ANALYZE""")
        check_rows(cluster, watcher)
        check_rights(cluster, watcher)
        check_quiet(cluster, watcher)
        check_queries(cluster, watcher)
        watcher.close()
    finally:
        cluster.remove()
    out, err = psql("SELECT * FROM pgstrom.stat_queries; SELECT count(*) FROM pgstrom.stat_progress")
    ok("55000" in err and "ALTER SYSTEM SET shared_preload_libraries" in err, "statistics of queries need preloading, and the message says how", err)
    equal(out, "0", "progress does not")
    done()


main()
