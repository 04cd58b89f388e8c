#!/usr/bin/env python3
"""Who may map published regions, and what stands in the way of finding that out: crowds of silent clients, files that
are gone, tables that are named by their OID."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

import psycopg

from server import alive, done, equal, ok, query, state_of, wait_until
from store_tables import StoreTables

TABLES = StoreTables("store_readers")
DB, FILES = TABLES.database, pathlib.Path(TABLES.folder)
LOG = pathlib.Path(query("SHOW data_directory")) / "server.log"
NOT_PERMITTED = "42501"


def lines_with(text):
    return LOG.read_text(errors="replace").count(text)


def as_role(role, statement):
    with psycopg.connect(dbname=DB, autocommit=True) as session:
        session.execute(f"SET ROLE {role}")
        return state_of(lambda: session.execute(statement))


def silent_crowd():
    """More clients than the worker has descriptors for, none of which says anything."""
    TABLES.make("crowded", "id int", kv_access="true")
    path = query("SELECT socket FROM pgstrom.kv_attach('crowded')", DB)
    pid = query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_strom memory store'")
    owner = os.stat(f"/proc/{pid}")

    def limit(number):
        subprocess.run(["prlimit", f"--nofile={number}:", "--pid", pid], check=True, user=owner.st_uid, group=owner.st_gid, extra_groups=[])

    before = next(line.split()[3] for line in open(f"/proc/{pid}/limits") if line.startswith("Max open files"))
    text = "Too many open files"
    errors = lines_with(text)
    limit(len(os.listdir(f"/proc/{pid}/fd")) + 60)
    clients = []
    try:
        for _ in range(200):
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            clients.append(client)
        time.sleep(2)
        equal(lines_with(text), errors, "the worker keeps descriptors for itself")
    finally:
        limit(before)
        for client in clients:
            client.close()
    query("DROP FOREIGN TABLE crowded", DB)


def table_by_its_oid():
    """Whoever may not use a schema reaches none of its tables, however they are named."""
    query("CREATE ROLE strom_far LOGIN; GRANT USAGE ON SCHEMA pgstrom TO strom_far; CREATE SCHEMA closed", DB)
    TABLES.make("closed.hidden", "id int", kv_access="true")
    relid = query("GRANT SELECT ON closed.hidden TO strom_far; SELECT 'closed.hidden'::regclass::oid", DB)
    for call in ("kv_attach", "kv_session", "kv_session_tcp"):
        equal(as_role("strom_far", f"SELECT pgstrom.{call}({relid}::regclass)"), NOT_PERMITTED, f"{call}() without USAGE of the schema")
    query("GRANT USAGE ON SCHEMA closed TO strom_far", DB)
    equal(as_role("strom_far", f"SELECT pgstrom.kv_attach({relid}::regclass)"), None, "kv_attach() with it")
    query("DROP FOREIGN TABLE closed.hidden; DROP OWNED BY strom_far; DROP ROLE strom_far", DB)


def files_that_are_gone():
    """The rights of a table's readers cannot be looked at. That is tried again, but not by more and more processes."""
    query("CREATE ROLE strom_group; CREATE ROLE strom_member; GRANT strom_group TO strom_member; GRANT USAGE ON SCHEMA pgstrom TO strom_member", DB)
    TABLES.make("lost", "id int", kv_access="true")
    query("GRANT SELECT ON lost TO strom_group", DB)
    equal(as_role("strom_member", "SELECT pgstrom.kv_attach('lost')"), None, "a member of a group attaches")
    relid = query("SELECT 'lost'::regclass::oid", DB)
    region = sorted(pathlib.Path("/dev/shm").glob(f"pg_strom.*.{relid}.kv.*"))
    text = f"could not look at the readers of the store table with OID {relid}"
    away = FILES / "away"
    away.mkdir()
    time.sleep(3)  # until nobody looks at the readers for other reasons
    for name in ("lost.base", "lost.redo"):
        shutil.move(FILES / name, away / name)
    query("REVOKE strom_group FROM strom_member", DB)
    ok(wait_until(lambda: lines_with(text) > 0, 10), "a table whose files are gone is named in the log")
    for number in range(4):
        query(f"CREATE ROLE strom_more_{number}", DB)
        time.sleep(1.5)
    before = lines_with(text)
    time.sleep(12)
    ok(lines_with(text) - before <= 3, "few processes look again", f"{lines_with(text) - before} in 12 seconds")
    for name in ("lost.base", "lost.redo"):
        shutil.move(away / name, FILES / name)
    query("ALTER ROLE strom_more_0 CREATEDB", DB)
    ok(wait_until(lambda: sorted(pathlib.Path("/dev/shm").glob(f"pg_strom.*.{relid}.kv.*")) not in (region, []), 60), "when the files are back, the region is taken")
    query("DROP FOREIGN TABLE lost; DROP OWNED BY strom_member; DROP ROLE strom_group, strom_member, " + ", ".join(f"strom_more_{i}" for i in range(4)), DB)


silent_crowd()
table_by_its_oid()
files_that_are_gone()
alive("the server runs")
done()
