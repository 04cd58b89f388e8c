#!/usr/bin/env python3
"""Limits that a query must not notice: stars of many dimensions, many filters NOT IN, numeric keys out of the engine's
range, half-read cursors over temporary tables in few buffers, and cursors that go backwards."""

import re

import psycopg

from server import alive, done, engine_session, equal, fresh_database, ok, query

DB = fresh_database("strom_join_limits")
FACTS, DIMENSIONS, WIDE = 3000, 30, 70

query("; ".join(
    [f"CREATE TABLE fact AS SELECT i AS id, {', '.join(f'(i * {n * 7 + 3}) % {40 + n} AS k{n}' for n in range(WIDE))} "
     f"FROM generate_series(1, {FACTS}) i"]
    + [f"CREATE TABLE dim{n} AS SELECT i AS id, 'd' || i % 5 AS name, i AS value FROM generate_series(0, {40 + n} - n_off) i"
       .replace("n_off", "2") for n in range(WIDE)]), DB)
query("VACUUM ANALYZE", DB)


def answer(session, statement):
    try:
        return str(session.execute(statement).fetchall())  # NaN is no NaN to Python
    except psycopg.Error as error:
        return f"{error.sqlstate}: {str(error).splitlines()[0]}"


def engine_joins(session, statement):
    """How many joins the largest of the engine's nodes has in the statement's plan."""
    lines = " ".join(row[0] for row in session.execute("EXPLAIN " + statement).fetchall())
    return max(map(int, re.findall(r"inner (\d+):", lines)), default=0)


def star(count, kind="JOIN", listed=False):
    names = ", ".join(f"sum(dim{n}.value)" for n in range(count))
    if listed:
        tables = ", ".join(f"dim{n}" for n in range(count))
        return f"SELECT count(*), {names} FROM fact, {tables} WHERE " + " AND ".join(f"k{n} = dim{n}.id" for n in range(count))
    return f"SELECT count(*), {names} FROM fact " + " ".join(f"{kind} dim{n} ON k{n} = dim{n}.id" for n in range(count))


def stars():
    settings = {"default settings": {}, "one list": {"join_collapse_limit": "1"}, "no genetic search": {"geqo_threshold": "100"}}
    for name, setting in settings.items():
        session = psycopg.connect(dbname=DB, autocommit=True, prepare_threshold=None)
        session.execute("LOAD 'pg_strom'")
        ours = engine_session(DB, **setting)
        for key, value in setting.items():
            session.execute(f"SET {key} = {value}")
        host = engine_session(DB, **{"pg_strom.enabled": "off", **setting})
        for count in (16, 17, 20, 30):
            for statement in (star(count), star(count, "LEFT JOIN"), star(count, listed=True)):
                if name == "no genetic search" and ("," in statement.split(" FROM ")[1].split(" WHERE ")[0]):
                    continue  # an exhaustive search over so many tables ends nowhere
                wanted = answer(host, statement)
                equal(answer(session, statement), wanted, f"{count} joins, costs of everyday, {name}: {statement[-60:]}")
                equal(answer(ours, statement), wanted, f"{count} joins, {name}: {statement[-60:]}")
        statement = star(17)
        ok(engine_joins(ours, statement) == 17, f"17 joins run in the engine, {name}", engine_joins(ours, statement))
        for each in (session, ours, host):
            each.close()
    # More than a pipeline takes: PostgreSQL joins the rest.
    ours, host = engine_session(DB, join_collapse_limit="1"), engine_session(DB, join_collapse_limit="1", **{"pg_strom.enabled": "off"})
    for statement in (star(64, "LEFT JOIN"), star(65, "LEFT JOIN"), star(WIDE, "LEFT JOIN"), star(WIDE)):
        equal(answer(ours, statement), answer(host, statement), f"{statement.count('JOIN')} joins")
    equal(engine_joins(ours, star(WIDE, "LEFT JOIN")), 64, "a pipeline has 64 joins at most")
    wanted = f"SELECT count(*) FROM fact WHERE {' AND '.join(f'k{n} NOT IN (SELECT id - 35 FROM dim{n} WHERE id > 35)' for n in range(WIDE))}"
    equal(answer(ours, wanted), answer(host, wanted), "70 filters NOT IN")
    statement = (f"SELECT count(*) FROM fact {' '.join(f'LEFT JOIN dim{n} ON k{n} = dim{n}.id' for n in range(30))} WHERE "
                 + " AND ".join(f"k{n} NOT IN (SELECT id - 35 FROM dim{n} WHERE id > 35)" for n in range(40)))
    equal(answer(ours, statement), answer(host, statement), "30 joins and 40 filters NOT IN")
    ours.close()
    host.close()


def numeric_keys():
    """x * x leaves the engine's range, and the other side has NaN and numbers of many digits."""
    query("""
        CREATE TABLE big AS SELECT i AS id, CASE i % 5 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN 1e25 + i % 7 ELSE i % 50 END AS x
        FROM generate_series(1, 2000) i;
        CREATE TABLE small AS SELECT i AS id, CASE i % 6 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN (1e25 + i % 7) * (1e25 + i % 7)
        ELSE (i % 50) * (i % 50) END AS y FROM generate_series(1, 300) i;
        INSERT INTO small VALUES (0, NULL); ANALYZE big, small""", DB)
    ours, host = engine_session(DB), engine_session(DB, **{"pg_strom.enabled": "off"})
    inner = ("(SELECT DISTINCT y FROM small)", "(SELECT y FROM small OFFSET 0)", "(SELECT y, max(id) AS id FROM small GROUP BY y)", "small")
    for side in inner:
        for body in ("FROM big JOIN {} s ON x * x = y", "FROM big LEFT JOIN {} s ON x * x = y", "FROM big RIGHT JOIN {} s ON x * x = y",
                     "FROM big FULL JOIN {} s ON x * x = y", "FROM big WHERE EXISTS (SELECT FROM {} s WHERE x * x = y)",
                     "FROM big WHERE NOT EXISTS (SELECT FROM {} s WHERE x * x = y)", "FROM big WHERE x * x IN (SELECT y FROM {} s)",
                     "FROM big WHERE x * x NOT IN (SELECT y FROM {} s WHERE y IS NOT NULL)"):
            for memory in ("1GB", "64kB"):
                ours.execute(f"SET pg_strom.work_memory = '{memory}'")
                statement = f"SELECT count(*), sum(big.id) {body.format(side)}"
                equal(answer(ours, statement), answer(host, statement), f"{statement}, {memory}")
                statement = f"SELECT count(*), sum(x), sum(y) {body.format(side)}"
                if "WHERE" not in body:
                    equal(answer(ours, statement), answer(host, statement), f"{statement}, {memory}")
    # Many of them find each other by more than looking at all.
    query("""CREATE TABLE nans AS SELECT i AS id, 1e50 + i AS x FROM generate_series(1, 20000) i; ANALYZE nans""", DB)
    for session in (ours, host):
        session.execute("SET statement_timeout = '60s'")
    statement = "SELECT count(*), sum(a.id) FROM nans a JOIN (SELECT x, id FROM nans OFFSET 0) b ON a.x = b.x"
    equal(answer(ours, statement), answer(host, statement), "20000 keys on both sides that the engine cannot hold")
    ours.close()
    host.close()


def temporary_tables():
    """Eight half-read cursors, each over a join of temporary tables, in the fewest buffers that there can be."""
    for threads in (1, 4):
        session = engine_session(DB, temp_buffers="100", **{"pg_strom.cpu_threads": str(threads)})
        session.execute("CREATE TEMP TABLE t AS SELECT i AS id, i % 10 AS k, repeat('x', 200) AS filler FROM generate_series(1, 60000) i")
        session.execute("CREATE TEMP TABLE d AS SELECT i AS id, 'd' || i AS name FROM generate_series(0, 9) i")
        session.execute("ANALYZE t; ANALYZE d")
        body = "SELECT t.id, d.name FROM t JOIN d ON t.k = d.id"
        ok("Custom Scan (CpuJoin)" in str(session.execute("EXPLAIN " + body).fetchall()), "the engine joins temporary tables")
        session.execute("BEGIN")
        sums, count = [0] * 8, 0
        for n in range(8):
            session.execute(f"DECLARE c{n} CURSOR FOR {body}")
        for n in range(8):
            sums[n] += sum(row[0] for row in session.execute(f"FETCH 100 FROM c{n}").fetchall())
        equal(session.execute("SELECT count(*), sum(id) FROM t").fetchone(), (60000, 60000 * 60001 // 2),
              f"a scan beside eight cursors, {threads} threads")
        session.execute("CREATE TEMP TABLE more AS SELECT * FROM t")
        for n in range(8):
            sums[n] += sum(row[0] for row in session.execute(f"FETCH ALL FROM c{n}").fetchall())
        equal(sums, [60000 * 60001 // 2] * 8, f"eight cursors over temporary tables, {threads} threads")
        session.execute("COMMIT")
        equal(session.execute("SELECT count(*), count(DISTINCT k) FROM more").fetchone(), (60000, 10), "what was copied beside them")
        session.close()


def backwards():
    """What PostgreSQL's own plan can, a cursor without SCROLL can."""
    query("""
        CREATE TABLE walk AS SELECT i AS id, i % 10 AS k, repeat('x', 100) AS filler FROM generate_series(1, 20000) i;
        CREATE VIEW walk_view AS SELECT id, k FROM walk WHERE id % 4 = 0;
        CREATE VIEW walk_view2 AS SELECT * FROM walk_view WHERE k < 9;
        CREATE TABLE walk_dim (id int PRIMARY KEY, name text); INSERT INTO walk_dim SELECT i, 'n' || i FROM generate_series(0, 9) i;
        CREATE TABLE walk_parts (id int, k int) PARTITION BY RANGE (id);
        CREATE TABLE walk_part1 PARTITION OF walk_parts FOR VALUES FROM (0) TO (10000);
        CREATE TABLE walk_part2 PARTITION OF walk_parts FOR VALUES FROM (10000) TO (30000);
        INSERT INTO walk_parts SELECT id, k FROM walk; ANALYZE""", DB)
    queries = ("SELECT id FROM walk WHERE id % 4 = 0", "SELECT id FROM walk_view", "SELECT id FROM walk_view2",
               "SELECT id FROM (SELECT id, k FROM walk WHERE id % 4 = 0 OFFSET 0) s WHERE k < 9",
               "SELECT id FROM walk WHERE id % 4 = 0 UNION ALL SELECT id FROM walk WHERE id % 4 = 1",
               "SELECT w.id FROM walk w LEFT JOIN walk_dim d ON d.id = w.k WHERE w.id % 4 = 0",
               "SELECT id FROM walk_parts WHERE id % 4 = 0", "SELECT id FROM walk WHERE id % 4 = 0 LIMIT 100",
               "SELECT id FROM walk WHERE id % 4 = 0 ORDER BY id", "SELECT id FROM walk WHERE id % 4 = 0 ORDER BY k, id LIMIT 100",
               "SELECT w.id FROM walk w JOIN walk_dim d ON d.id = w.k ORDER BY w.id",
               "SELECT k, count(*) FROM walk GROUP BY k ORDER BY k", "SELECT id FROM walk WHERE k IN (SELECT id FROM walk_dim)",
               "SELECT k, count(*) FROM walk GROUP BY k", "SELECT DISTINCT k FROM walk",
               "WITH w AS MATERIALIZED (SELECT id FROM walk WHERE id % 4 = 0) SELECT * FROM w")
    moves = ("FETCH 5 FROM c", "MOVE BACKWARD 3 FROM c", "FETCH 2 FROM c", "FETCH PRIOR FROM c", "FETCH ABSOLUTE 4 FROM c",
             "FETCH RELATIVE -1 FROM c", "FETCH FIRST FROM c", "MOVE BACKWARD ALL FROM c", "FETCH 3 FROM c", "FETCH LAST FROM c",
             "FETCH BACKWARD 2 FROM c")

    def walk(session, declare):
        session.execute("BEGIN")
        session.execute(declare)
        result = []
        for move in moves:
            try:
                session.execute("SAVEPOINT s")
                cursor = session.execute(move)
                result.append([len(row) for row in cursor.fetchall()] if cursor.description else cursor.statusmessage)
            except psycopg.Error as error:
                result.append(error.sqlstate)
                session.execute("ROLLBACK TO s")
        session.execute("ROLLBACK")
        return result

    for fraction in ("0.1", "1"):
        ours = engine_session(DB, cursor_tuple_fraction=fraction)
        host = engine_session(DB, cursor_tuple_fraction=fraction, **{"pg_strom.enabled": "off"})
        for body in queries:
            for scroll in ("", "SCROLL"):
                wanted = walk(host, f"DECLARE c {scroll} CURSOR FOR {body}")
                found = walk(ours, f"DECLARE c {scroll} CURSOR FOR {body}")
                can = [one for one, other in zip(found, wanted) if one == "55000" and other != "55000"]
                ok(not can, f"{scroll} cursor over {body}, {fraction}", found, wanted)
        ours.close()
        host.close()
    session = engine_session(DB)
    session.execute("BEGIN; DECLARE c CURSOR FOR SELECT * FROM walk_view; MOVE 3 FROM c")
    session.execute("UPDATE walk SET k = -1 WHERE CURRENT OF c")
    equal(session.execute("SELECT count(*) FROM walk WHERE k = -1").fetchone()[0], 1, "WHERE CURRENT OF a cursor over a view")
    session.execute("ROLLBACK")
    session.execute("""CREATE FUNCTION pg_temp.back() RETURNS int LANGUAGE plpgsql AS $$
        DECLARE c CURSOR FOR SELECT id FROM walk_view; r int; s int; BEGIN
        OPEN c; FETCH c INTO r; FETCH c INTO s; FETCH PRIOR FROM c INTO s; RETURN (r = s)::int; END $$""")
    equal(session.execute("SELECT pg_temp.back()").fetchone()[0], 1, "FETCH PRIOR in a function")
    session.close()


stars()
numeric_keys()
temporary_tables()
backwards()
alive("limits of joins")
done()
