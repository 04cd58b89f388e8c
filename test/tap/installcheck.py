#!/usr/bin/env python3
"""`make installcheck` on a server as it comes, and on one that preloads the extension: twice on the same, which it leaves as
it was. And what doctor() says of preloading, whose advice changes the server's settings."""

import os
import pathlib
import re
import subprocess
import sys

import psycopg

from server import TEST_DIR, done, equal, folder, ok, wait_until

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = folder("installcheck")
# Those that show plans with all details, write files, or know the server's settings; on one line in test/schedule or not.
NAMES = "extension arrow_fdw arrow_export arrow_alter arrow_named_types custom_scan_setup custom_scan doctor explain_support gstore_fdw column_cache"
STOCK = ("session_preload_libraries = ''", "shared_buffers = 128MB", "max_connections = 100", "autovacuum = on",
         "max_parallel_workers_per_gather = 2", "log_error_verbosity = default")


def installcheck(cluster):
    """The result, with the server named by options of pg_regress alone."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return subprocess.run(
        ["make", "-s", "installcheck", f"BUILD={OUT}", f"PG_CONFIG={os.environ['STROM_PG_CONFIG']}", f"REGRESS={NAMES}",
         f"EXTRA_REGRESS_OPTS=--host={cluster.socket} --port=55999 --user=postgres"],
        cwd=ROOT, env=environment, capture_output=True, text=True)


def files(cluster):
    return sorted(name for name in os.listdir(cluster.data) if name != "postmaster.pid")


def check_suite(cluster, server):
    before = files(cluster)
    for time in ("first", "second"):
        result = installcheck(cluster)
        differences = OUT / "regress" / "regression.diffs"
        count = len(NAMES.split())  # as pg_regress says it, or versions.py on later versions than 15
        ok(result.returncode == 0 and re.search(rf"All {count} tests passed|^{count} passed, 0 failed$", result.stdout, re.M),
           f"installcheck on {server}, {time} time",
           result.stdout[-1500:], result.stderr[-500:], differences.read_text()[:3000] if differences.exists() else "")
    equal(files(cluster), before, f"no file is left in the data folder of {server}")


def preload_finding(cluster):
    with psycopg.connect(cluster.conninfo("postgres"), autocommit=True) as session:
        return session.execute("SELECT status, fix FROM pgstrom.doctor() WHERE \"check\" = 'preload'").fetchone()


def check_preload(cluster):
    with psycopg.connect(cluster.conninfo("postgres"), autocommit=True) as session:
        session.execute("CREATE EXTENSION pg_strom")
        status, fix = preload_finding(cluster)
        equal((status, fix), ("warning", "ALTER SYSTEM SET session_preload_libraries = 'pg_strom'; SELECT pg_reload_conf();"), "not preloaded")
        for statement in fix.split(";"):
            if statement.strip():
                session.execute(statement)
        ok(wait_until(lambda: preload_finding(cluster) == ("ok", None), 30), "its advice is all that it takes")
        session.execute("ALTER SYSTEM RESET session_preload_libraries")
        session.execute("ALTER ROLE postgres SET session_preload_libraries = 'plpgsql', '$libdir/pg_strom'")
        equal(preload_finding(cluster), ("ok", None), "for a role")
        session.execute("ALTER ROLE postgres SET session_preload_libraries = 'plpgsql'")
        equal(preload_finding(cluster)[1],
              "ALTER SYSTEM SET session_preload_libraries = 'plpgsql', 'pg_strom'; SELECT pg_reload_conf();", "other libraries stay")
        session.execute("ALTER ROLE postgres RESET session_preload_libraries")
        session.execute("DROP EXTENSION pg_strom")
        session.execute("SELECT pg_reload_conf()")


def main():
    cluster = Cluster(os.environ["STROM_PG_BINDIR"], TEST_DIR / "installcheck_cluster", os.environ["STROM_SERVER_USER"], keeps_columns=True)
    try:
        cluster.create()
        cluster.configure(*STOCK)
        cluster.start({})
        check_preload(cluster)
        check_suite(cluster, "a server as it comes")
        cluster.configure("shared_preload_libraries = 'pg_strom'")
        cluster.start({})
        check_suite(cluster, "a server that preloads the extension")
    finally:
        cluster.remove()
    done()


main()
