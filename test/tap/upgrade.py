#!/usr/bin/env python3
"""pg_dump with pg_restore, and pg_upgrade, of a database in which everything is made of what the extension has: tables of its
types with indexes, defaults and constraints, views, domains, partitions, Arrow tables, grants. pg_upgrade starts from the
PostgreSQL of STROM_OLD_PG_BINDIR, without it from the tests' own. Servers of its own."""

import os
import re
import subprocess
import sys

import psycopg

from server import TEST_DIR, done, equal, folder, ok

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../diff"))

from cluster import Cluster  # noqa: E402

NEW_BINDIR = os.environ["STROM_PG_BINDIR"]
OLD_BINDIR = os.environ.get("STROM_OLD_PG_BINDIR") or NEW_BINDIR
USER = os.environ["STROM_SERVER_USER"]
FILES = folder("upgrade_files")
os.chmod(FILES, 0o777)

OBJECTS = f"""
CREATE EXTENSION pg_strom;
CREATE TABLE small (id serial PRIMARY KEY, a int1 DEFAULT 5::int1 CHECK (a > (-100)::int1 AND a + 1::int2 < 120), h float2 DEFAULT 1.5::float2,
  list int1[], n numeric GENERATED ALWAYS AS (h::numeric) STORED, CHECK (h::float8 < 60000 OR h * 2::float2 > 0::float4));
CREATE INDEX ON small (a);
CREATE INDEX ON small USING hash (a);
CREATE INDEX ON small ((a + 1::int1)) WHERE h > 0::float2;
INSERT INTO small (a, h, list) SELECT (i % 100)::int1, (i / 8.0)::float2, ARRAY[(i % 10)::int1] FROM generate_series(1, 2000) i;
INSERT INTO small DEFAULT VALUES;
CREATE TABLE wide AS SELECT i::smallint AS s, i AS i, i::bigint AS b, i::real AS r, i::float8 AS d FROM generate_series(1, 300) i;
CREATE DOMAIN tiny AS int1 CHECK (VALUE <> int1 '77' AND VALUE < 100) DEFAULT int1 '3';
CREATE TYPE pair AS (t tiny, h float2);
CREATE TABLE paired (p pair, t tiny);
INSERT INTO paired SELECT ROW((i % 50)::int1, i::float2)::pair, (i % 9)::int1 FROM generate_series(1, 200) i;
CREATE TABLE parted (a int1, h float2) PARTITION BY HASH (a);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT (i % 100)::int1, i::float2 FROM generate_series(1, 500) i;
CREATE TABLE ranged (a int1) PARTITION BY RANGE (a);
CREATE TABLE ranged_0 PARTITION OF ranged FOR VALUES FROM ((-128)::int1) TO (10::int1);
INSERT INTO ranged VALUES (1), (9);
CREATE VIEW summed AS SELECT a, sum(h) AS sum, avg(a) AS mean, max(h) AS top, round(stddev(h::float8)::numeric, 6) AS dev FROM small GROUP BY a;
CREATE VIEW joined AS SELECT s.id, w.i FROM small s JOIN wide w ON s.a = w.i AND s.h < w.d;
CREATE MATERIALIZED VIEW cached AS SELECT a * 2::int2 AS twice, h / 2::float4 AS half, money '1' * a AS cash FROM small;
CREATE VIEW own AS SELECT component FROM pgstrom.version_info() UNION ALL SELECT device FROM pgstrom.device_info;
CREATE TABLE made (id int, r bigint DEFAULT pgstrom.random_int(0, 7, 7), span int4range DEFAULT pgstrom.random_int4range(0, 3, 3));
INSERT INTO made VALUES (1);
CREATE FUNCTION halve(int1) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1::float2 / 2::float2';
CREATE FOREIGN TABLE stored (id int, a int1, t text, m mood) SERVER arrow_fdw OPTIONS (file '{FILES}/stored.arrow', writable 'true');
INSERT INTO stored SELECT i, (i % 50)::int1, 'text ' || i % 7, 'ok' FROM generate_series(1, 1000) i;
SELECT pgstrom.arrow_export('SELECT id, t FROM stored WHERE id < 100', '{FILES}/exported.arrow');
IMPORT FOREIGN SCHEMA imported FROM SERVER arrow_fdw INTO public OPTIONS (file '{FILES}/exported.arrow');
CREATE VIEW over_files AS SELECT a, count(*) AS n, min(t) AS t FROM stored JOIN imported USING (t) GROUP BY a;
GRANT SELECT ON stored TO low;
GRANT EXECUTE ON FUNCTION pgstrom.doctor() TO low;
ANALYZE;
"""

QUERIES = [
    "SELECT a, count(*), sum(h), min(h), max(n) FROM small WHERE a < 40::int1 GROUP BY a ORDER BY a",
    "SELECT DISTINCT a FROM small ORDER BY a DESC LIMIT 7",
    "SELECT * FROM summed ORDER BY a LIMIT 20",
    "SELECT count(*), sum(i) FROM joined",
    "SELECT count(*) FROM small s JOIN small t ON s.a = t.a AND s.h = t.h",
    "SELECT count(*) FROM small s JOIN wide w ON w.r = s.h",
    "SELECT count(*) FROM small s FULL JOIN wide w ON w.b = s.a",
    "SELECT count(*), sum(twice), max(half), sum(cash) FROM cached",
    "SELECT p, t FROM paired ORDER BY (p).h, t LIMIT 10",
    "SELECT tableoid::regclass, count(*), sum(a) FROM parted GROUP BY 1 ORDER BY 1",
    "SELECT count(*) FROM parted WHERE a = 7::int1",
    "SELECT sum(a) FROM ranged WHERE a < 5::int1",
    "SELECT * FROM over_files ORDER BY a LIMIT 10",
    "SELECT count(*), sum(a), min(m), max(t) FROM stored",
    "SELECT halve(7::int1), 100::int1 + 27::int1, 1.5::float2 * 2::int4, 7::int4::float2::int1::numeric, -3::int1 % 2::int1",
    "SELECT id, r, span FROM made",
    "SELECT count(*) > 1 FROM own",
]
PLANS = ("enable_hashjoin", "enable_mergejoin", "enable_nestloop", "enable_hashagg", "enable_seqscan")

# Arrays and row types, which depend on others, are members of their own since PostgreSQL 18.
MEMBERS = """SELECT pg_describe_object(classid, objid, 0) FROM pg_depend
  WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND NOT (classid = 'pg_type'::regclass AND EXISTS (
    SELECT FROM pg_type t WHERE t.oid = objid AND (t.typrelid <> 0 OR t.typcategory = 'A'))) ORDER BY 1"""
FAMILIES = """SELECT a.amname, f.opfname, count(DISTINCT o.oid), count(DISTINCT p.oid) FROM pg_opfamily f JOIN pg_am a ON a.oid = f.opfmethod
  LEFT JOIN pg_amop o ON o.amopfamily = f.oid LEFT JOIN pg_amproc p ON p.amprocfamily = f.oid
  WHERE f.opfname IN ('int1_ops', 'float2_ops') GROUP BY 1, 2 ORDER BY 1, 2"""
RIGHTS = """SELECT p.oid::regprocedure::text, r, has_function_privilege(r, p.oid, 'execute')
  FROM pg_proc p, unnest('{low,pg_monitor}'::text[]) r WHERE pronamespace = 'pgstrom'::regnamespace
  UNION ALL SELECT c.oid::regclass::text, r, has_table_privilege(r, c.oid, 'select')
  FROM pg_class c, unnest('{low,pg_monitor}'::text[]) r WHERE relnamespace = 'pgstrom'::regnamespace
  UNION ALL SELECT 'pgstrom', 'low', has_schema_privilege('low', 'pgstrom', 'usage') ORDER BY 1, 2"""


def answers(conninfo):
    """Of all queries: with the engine and without it, and with each kind of PostgreSQL's plans switched off."""
    found = {}
    with psycopg.connect(conninfo, autocommit=True) as session:
        session.execute("SET pg_strom.cpu_setup_cost = 0; SET pg_strom.cpu_tuple_cost = 0.000001")
        for query in QUERIES:
            found[query] = session.execute(query).fetchall()
            session.execute("SET pg_strom.enabled = off")
            equal(session.execute(query).fetchall(), found[query], f"engine and PostgreSQL agree: {query[:60]}")
            for plan in PLANS:
                session.execute(f"SET {plan} = off")
                if session.execute(query).fetchall() != found[query]:
                    ok(False, f"without {plan}: {query}")
                session.execute(f"RESET {plan}")
            session.execute("RESET pg_strom.enabled")
        found["members"] = session.execute(MEMBERS).fetchall()
        found["families"] = session.execute(FAMILIES).fetchall()
        found["rights"] = session.execute(RIGHTS).fetchall()
    return found


def same_answers(conninfo, before, what):
    after = answers(conninfo)
    for name in before:
        equal(after[name], before[name], f"{what}: {name[:70]}")


def still_works(conninfo, what):
    """What was brought along can be changed, and the extension dropped and made again."""
    with psycopg.connect(conninfo, autocommit=True) as session:
        session.execute("INSERT INTO small DEFAULT VALUES; INSERT INTO stored VALUES (0, 1, 'new', 'sad')")
        equal(session.execute("SELECT a = 5::int1 AND h = 1.5::float2 FROM small ORDER BY id DESC LIMIT 1").fetchone(), (True,), f"{what}: defaults")
        try:
            session.execute("INSERT INTO small (a) VALUES (119)")
            ok(False, f"{what}: constraints")
        except psycopg.errors.CheckViolation:
            ok(True, f"{what}: constraints")
        session.execute("DROP EXTENSION pg_strom CASCADE; CREATE EXTENSION pg_strom")
        equal(session.execute("SELECT count(*) FROM (VALUES (1::int1), (2)) v(a) WHERE a = 1::int2").fetchall(), [(1,)], f"{what}: made again")


def dump_and_restore(cluster):
    def run(program, *arguments):
        return cluster.as_user(cluster.bindir / program, "-h", cluster.socket, "-p", "55999", "-U", "postgres", *arguments)

    dump = cluster.folder / "db.dump"
    run("pg_dump", "-Fc", "-f", dump, "postgres")
    run("createdb", "restored")
    run("pg_restore", "--exit-on-error", "-d", "restored", dump)
    run("createdb", "plain")
    run("pg_dump", "-f", cluster.folder / "db.sql", "postgres")
    run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-d", "plain", "-f", cluster.folder / "db.sql")


def upgraded(old, new):
    """The old cluster's databases in the new one; what pg_upgrade says when it fails."""
    run = subprocess.run(
        [str(c) for c in (("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups") if os.geteuid() == 0 else ())
         + ("env", "-C", new.folder, new.bindir / "pg_upgrade", "-b", old.bindir, "-B", new.bindir, "-d", old.data, "-D", new.data,
            "-s", new.socket, "-U", "postgres", "-p", "55997", "-P", "55998")],
        cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout[-2000:] + run.stderr[-2000:] + "".join(
        log.read_text(errors="replace")[-4000:] for log in sorted((new.data / "pg_upgrade_output.d").glob("*/log/pg_upgrade_dump*.log")))


def major(bindir):
    return int(re.search(r"\) (\d+)", subprocess.check_output([f"{bindir}/postgres", "--version"], text=True))[1])


def forget_column_versions(old, new):
    """PostgreSQL 15.20 keeps an option of each column that older minor versions of its successors refuse in any table."""
    if b"pg_attver" in (new.bindir / "postgres").read_bytes():
        return
    for database in ("postgres", "restored", "plain"):
        with psycopg.connect(old.conninfo(database), autocommit=True) as session:
            session.execute("SET allow_system_table_mods = on; UPDATE pg_attribute a SET attoptions = NULL "
                            "FROM pg_class c WHERE c.oid = attrelid AND relkind <> 'c' AND attoptions::text LIKE '{pg_attver=%}'")


def main():
    print(f"# pg_upgrade from {major(OLD_BINDIR)} to {major(NEW_BINDIR)}", flush=True)
    old, new = (Cluster(bindir, TEST_DIR / name, USER) for bindir, name in ((OLD_BINDIR, "up_old"), (NEW_BINDIR, "up_new")))
    try:
        old.create()
        old.start({})
        with psycopg.connect(old.conninfo("postgres"), autocommit=True) as session:
            session.execute("CREATE ROLE low; CREATE TYPE mood AS ENUM ('sad', 'ok')")
            session.execute(OBJECTS)
        before = answers(old.conninfo("postgres"))
        equal([row[:3] for row in before["families"]], [("btree", "float2_ops", 45), ("btree", "int1_ops", 80), ("hash", "float2_ops", 9),
                                                        ("hash", "int1_ops", 16)], "operator families have members")
        ok(("pgstrom", "low", True) in before["rights"], "everybody may look into the schema")
        dump_and_restore(old)
        same_answers(old.conninfo("restored"), before, "pg_restore")
        same_answers(old.conninfo("plain"), before, "pg_dump")
        forget_column_versions(old, new)
        old.as_user(*old._pg_ctl, "-m", "fast", "stop")
        old.running = False
        new.create(("--no-data-checksums",) if major(NEW_BINDIR) >= 18 else ())
        status, output = upgraded(old, new)
        ok(status == 0, "pg_upgrade", output)
        if status == 0:
            new.start({})
            for name in ("postgres", "restored"):
                same_answers(new.conninfo(name), before, f"pg_upgrade, {name}")
            still_works(new.conninfo("postgres"), "after pg_upgrade")
    finally:
        old.remove()
        new.remove()
    done()


main()
