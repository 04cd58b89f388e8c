#!/usr/bin/env python3
"""Domains over every type, over domains, in arrays and in composites: the same answers as PostgreSQL's, whichever part of
a query has them. Of numerics with values that the engine cannot hold."""

from server import alive, done, engine_session, fresh_database, ok, query

DB = fresh_database("strom_domains")

# A base type, and for row i of a table one of its values.
TYPES = {
    "numeric": "CASE i % 9 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN 1e60 + i % 4 ELSE i % 23 + 0.50 END",
    "numeric(10,2)": "CASE i % 9 WHEN 0 THEN 'NaN' ELSE (i % 23)::numeric / 4 END",
    "int2": "i % 40", "int4": "i % 40", "int8": "i % 40", "float4": "CASE i % 9 WHEN 0 THEN 'NaN' ELSE (i % 31)::float4 / 4 END",
    "float8": "CASE i % 9 WHEN 0 THEN 'NaN' ELSE (i % 31)::float8 / 4 END", "bool": "i % 2 = 0",
    "text": "'t' || i % 31", "varchar(8)": "'v' || i % 31", "char(6)": "'c' || i % 31", "name": "'n' || i % 31",
    "date": "date '2024-01-01' + i % 31", "timestamp": "timestamp '2024-01-01' + i % 31 * interval '1 hour'",
    "timestamptz": "timestamptz '2024-01-01 00:00+00' + i % 31 * interval '1 hour'", "time": "time '00:00' + i % 31 * interval '1 minute'",
    "timetz": "timetz '00:00+01' + i % 31 * interval '1 minute'", "interval": "i % 31 * interval '1 hour'",
    "uuid": "('00000000-0000-0000-0000-' || lpad((i % 31)::text, 12, '0'))::uuid", "bytea": "decode(lpad(to_hex(i % 31), 4, '0'), 'hex')",
    "inet": "('10.0.0.' || i % 31)::inet", "jsonb": "to_jsonb(i % 31)", "money": "(i % 31)::money", "oid": "(i % 31)::oid",
    "macaddr": "('08:00:2b:01:02:' || lpad(to_hex(i % 31), 2, '0'))::macaddr", "mood": "(ARRAY['sad','ok','happy','new'])[1 + i % 4]::mood",
    "int4[]": "ARRAY[i % 5, i % 3]", "numeric[]": "ARRAY[(i % 5)::numeric, 'NaN']", "text[]": "ARRAY['a' || i % 5]",
    "pgstrom.int1": "(i % 31)::int::pgstrom.int1", "pgstrom.float2": "(i % 31)::float4::pgstrom.float2",
}
ROWS, INNER_ROWS = 3000, 700


def type_name(base):
    """Of the extension's own types, wherever they are."""
    if "pgstrom." not in base:
        return base
    return query(f"SELECT oid::regtype FROM pg_type WHERE typname = '{base[8:]}' LIMIT 1", DB)


def answer(session, statement):
    try:
        return sorted(map(str, session.execute(statement).fetchall()))
    except Exception as error:  # pylint: disable=broad-except
        return f"{getattr(error, 'sqlstate', '?')}: {str(error).splitlines()[0]}"


# {d}: the domain's column; i, j: integers. Answers of text, so that all types are compared alike.
STATEMENTS = (
    "SELECT o.i, o.d::text FROM o WHERE o.i % 7 = 1",
    "SELECT count(*), count(d), count(DISTINCT d::text) FROM o",
    "SELECT d::text, count(*) FROM o GROUP BY d",
    "SELECT DISTINCT d::text FROM o",
    "SELECT count(*) FROM o WHERE d IS NOT NULL AND i > 5",
    "SELECT count(*) FROM o WHERE d IS DISTINCT FROM NULL",
    "SELECT count(*) FROM o WHERE d::text > 't' OR d IS NULL",
    "SELECT count(*), sum(o.i), sum(n.j) FROM o JOIN n ON o.d = n.d",
    "SELECT count(*), sum(o.i) FROM o JOIN n ON o.d = n.d AND o.k = n.k WHERE o.i < 500",
    "SELECT count(*), sum(o.i) FROM o WHERE EXISTS (SELECT FROM n WHERE n.d = o.d)",
    "SELECT count(*), sum(o.i) FROM o WHERE NOT EXISTS (SELECT FROM n WHERE n.d = o.d)",
    "SELECT count(*), sum(o.i) FROM o WHERE o.d IN (SELECT d FROM n)",
    "SELECT count(*), sum(o.i) FROM o WHERE o.d NOT IN (SELECT d FROM n WHERE d IS NOT NULL)",
    "SELECT count(*), sum(o.i), count(n.j), sum(n.j) FROM o LEFT JOIN n ON o.d = n.d",
    "SELECT count(*), sum(o.i), count(n.j), sum(n.j) FROM o RIGHT JOIN n ON o.d = n.d",
    "SELECT count(*), sum(o.i), count(n.j), sum(n.j) FROM o FULL JOIN n ON o.d = n.d",
    "SELECT o.i, n.d::text FROM o JOIN n ON o.i = n.j",
    "SELECT o.i, n.d::text FROM o LEFT JOIN n ON o.i = n.j AND n.k > 1 WHERE o.i < 900",
    "SELECT n.j, n.d::text, o.d::text FROM o RIGHT JOIN n ON o.i = n.j * 5",
    "SELECT n.j, n.d::text, o.d::text FROM o FULL JOIN n ON o.i = n.j * 5",
    "SELECT n.d::text, count(*), sum(o.i) FROM o JOIN n ON o.i = n.j GROUP BY n.d",
    "SELECT o.i, s.d::text FROM o JOIN (SELECT j, d FROM n OFFSET 0) s ON o.i = s.j",
    "SELECT count(*), sum(o.i) FROM o JOIN (SELECT d, max(j) AS j FROM n GROUP BY d) s ON o.d = s.d",
    "SELECT o.i, s.d::text FROM o LEFT JOIN (SELECT d, max(j) AS j FROM n GROUP BY d) s ON o.i = s.j WHERE o.i < 800",
    "SELECT o.i FROM o WHERE EXISTS (SELECT FROM n WHERE n.k = o.k AND n.d {gt} o.d) AND o.i < 300",
    "SELECT o.i FROM o WHERE NOT EXISTS (SELECT FROM n WHERE n.k = o.k AND n.d {gt} o.d) AND o.i < 300",
    "SELECT o.i, n.j FROM o LEFT JOIN n ON n.k = o.k AND n.d {gt} o.d AND n.j < 30 WHERE o.i < 100",
    "SELECT o.i, n.j FROM o FULL JOIN n ON n.j = o.i AND n.d {gt} o.d",
    "SELECT o.i, n.j FROM o FULL JOIN (SELECT d, j FROM n OFFSET 0) n ON n.j = o.i AND n.d {gt} o.d",
    "SELECT o.i FROM o WHERE o.d {gt} ALL (SELECT d FROM n WHERE j < 5)",
    "SELECT d::text FROM o WHERE i < 500 ORDER BY d, i LIMIT 30",
    "SELECT max(d)::text, min(d)::text FROM o",
    "SELECT k, count(DISTINCT d), count(*) FROM o GROUP BY k",
    "SELECT k, d::text, count(*) FROM o GROUP BY ROLLUP (k, d)",
    "SELECT count(*) FROM o WHERE d = (SELECT d FROM n WHERE j = 5)",
    "SELECT count(*) FROM o WHERE COALESCE(d, (SELECT d FROM n WHERE j = 5)) = d",
    "SELECT count(*) FROM o WHERE CASE WHEN i % 2 = 0 THEN d END IS NULL",
    "SELECT count(*) FROM o WHERE d = ANY (SELECT d FROM n WHERE j < 4)",
    "SELECT count(*) FROM o WHERE d IN ((SELECT d FROM n WHERE j = 7), (SELECT d FROM n WHERE j = 5))",
    "SELECT i, (r).f::text, (r).g FROM c WHERE (r).g > 2990",
    "SELECT count(*), max(i) FROM c WHERE (r).f = (SELECT d FROM n WHERE j = 5)",
    "SELECT count(*) FROM c JOIN n ON (c.r).f = n.d WHERE c.i < 300",
    "SELECT i, a[1]::text, cardinality(a) FROM c WHERE i % 11 = 3",
    "SELECT count(*) FROM c WHERE (SELECT d FROM n WHERE j = 5) = ANY (a)",
    "SELECT count(*) FROM c JOIN n ON c.a[1] = n.d WHERE c.i < 300",
)
NUMERIC_STATEMENTS = (
    "SELECT k, sum(d), avg(d), max(d), min(d) FROM o GROUP BY k",
    "SELECT sum(n.d), avg(n.d), count(*) FROM o JOIN n ON o.i = n.j",
    "SELECT sum(n.d), sum(o.d), count(*) FROM o LEFT JOIN n ON o.i = n.j",
    "SELECT count(*) FROM o JOIN n ON o.d * o.d = n.d",
    "SELECT count(*) FROM o JOIN (SELECT DISTINCT d FROM n) s ON o.d * o.d = s.d",
    "SELECT count(*) FROM o LEFT JOIN (SELECT DISTINCT d * d AS d FROM n) s ON o.d * o.d = s.d",
    "SELECT count(*) FROM o FULL JOIN (SELECT DISTINCT d FROM n) s ON o.d = s.d",
    "SELECT count(*) FROM o WHERE o.d * o.d NOT IN (SELECT d FROM n WHERE d IS NOT NULL)",
    "SELECT o.i, m.j FROM o JOIN n ON o.i = n.j LEFT JOIN n m ON m.k = o.k AND m.j < 20 AND n.d > o.d WHERE o.i < 200",
    "SELECT o.i FROM o JOIN n ON o.i = n.j WHERE EXISTS (SELECT FROM n m WHERE m.k = o.k AND n.d > m.d)",
    "SELECT o.i FROM o JOIN n ON o.i = n.j WHERE NOT EXISTS (SELECT FROM n m WHERE m.d = n.d AND m.j <> n.j)",
    "SELECT count(*) FROM o WHERE d > 3 AND d + 1 < 1e61",
    "SELECT count(*) FROM o WHERE d = 4.5",
    "SELECT count(*) FROM o WHERE d = 4.5::dom",
    "SELECT o.i, n.d + o.d FROM o JOIN n ON o.i = n.j WHERE n.d + o.d > 3",
    "SELECT o.i, round(n.d, 1) FROM o RIGHT JOIN n ON o.i = n.j AND o.i % 2 = 0",
)


def declare(base, layers):
    """Domain `dom` of `layers` layers over the type, with and without constraints."""
    lines, below = [], base
    for layer in range(layers):
        name = "dom" if layer == layers - 1 else f"dom{layer}"
        check = "" if layer % 2 == 0 else " CHECK (VALUE IS NULL OR VALUE::text <> 'never')"
        lines.append(f"CREATE DOMAIN {name} AS {below}{check}")
        below = name
    return lines


def try_type(base, values, layers):
    name = type_name(base)
    values = values.replace("pgstrom.int1", name).replace("pgstrom.float2", name)
    query("DROP TABLE IF EXISTS o, n, c; DROP TYPE IF EXISTS comp; DROP DOMAIN IF EXISTS dom; DROP DOMAIN IF EXISTS dom1; "
          "DROP DOMAIN IF EXISTS dom0", DB)
    query(";".join(declare(name, layers)), DB)
    value = f"CASE WHEN i % 13 = 0 THEN NULL ELSE ({values}) END::{name}::dom"
    query(f"""
        CREATE TABLE o AS SELECT i, i % 10 AS k, {value} AS d FROM generate_series(1, {ROWS}) i;
        CREATE TABLE n AS SELECT i AS j, i % 10 AS k, {value} AS d FROM generate_series(3, {INNER_ROWS}) i;
        CREATE TYPE comp AS (f dom, g int);
        CREATE TABLE c AS SELECT i, ROW(d, i)::comp AS r, ARRAY[d] AS a FROM o""", DB)
    query("VACUUM ANALYZE o, n, c", DB)
    ours, host = engine_session(DB), engine_session(DB, **{"pg_strom.enabled": "off"})
    wrong, statements = [], STATEMENTS + (NUMERIC_STATEMENTS if base.startswith("numeric") and "[" not in base else ())
    for statement in (s.format(gt=">") for s in statements):
        for hashes in ("on", "off"):
            if hashes == "off" and not base.startswith("numeric"):
                continue
            ours.execute(f"SET enable_hashjoin = {hashes}; SET enable_mergejoin = {hashes}; SET enable_nestloop = {hashes}")
            found, wanted = answer(ours, statement), answer(host, statement)
            if found != wanted:
                wrong.append(f"{statement}\n  {str(found)[:300]}\n  {str(wanted)[:300]}")
    ours.close()
    host.close()
    ok(not wrong, f"domain over {base}, {layers} layers", len(wrong), *wrong[:6])


query("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); ALTER TYPE mood ADD VALUE 'new' BEFORE 'ok'", DB)
for number, (base_type, row_values) in enumerate(TYPES.items()):
    try_type(base_type, row_values, 2 if number % 2 else 1)
    if base_type.startswith("numeric"):
        try_type(base_type, row_values, 3)
alive("domains")
done()
