#!/usr/bin/env python3
"""Plans that outlive the settings that expressions depend on: prepared statements and functions whose plans are kept
while TimeZone, DateStyle and their like are set to something else."""

from server import done, engine_session, folder, fresh_database, ok, query

DB = fresh_database("strom_plan_settings")
FILES = folder("strom_plan_settings")
FILES.chmod(0o777)  # the server writes there

# Around the nights in which clocks are set in the zones below, and plain days.
ROWS = """
    SELECT i AS id, timestamp '2024-03-10 00:00' + i * interval '30 minutes' AS ts,
           timestamptz '2024-03-10 00:00+00' + i * interval '30 minutes' AS tz,
           date '2024-03-10' + i / 48 AS d, time '00:00' + i * interval '30 minutes' AS t,
           i::float8 / 7 AS f, i * interval '1 hour' AS v, i % 5 AS k, to_char(i, 'FM000') AS s,
           (date '2024-03-10' + i / 48)::text AS ds, (timestamp '2024-03-10' + i * interval '30 minutes')::text AS tss,
           decode(lpad(to_hex(i), 4, '0'), 'hex') AS b
    FROM generate_series(0, 2400) i"""

query(f"""
    CREATE TABLE heap_a AS {ROWS};
    CREATE TABLE heap_b AS SELECT * FROM heap_a WHERE id % 10 = 0;
    CREATE INDEX ON heap_a USING brin (ts) WITH (pages_per_range = 1);
    CREATE INDEX ON heap_a USING brin (tz) WITH (pages_per_range = 1);
    CREATE TABLE part_a (LIKE heap_a) PARTITION BY RANGE (tz);
    CREATE TABLE part_a1 PARTITION OF part_a FOR VALUES FROM (MINVALUE) TO ('2024-04-01 00:00+00');
    CREATE TABLE part_a2 PARTITION OF part_a FOR VALUES FROM ('2024-04-01 00:00+00') TO (MAXVALUE);
    INSERT INTO part_a SELECT * FROM heap_a;
    SET TimeZone = 'UTC';
    SELECT pgstrom.arrow_export('SELECT * FROM heap_a ORDER BY id', '{FILES}/arrow_a.arrow', '{{"batch_rows": 50}}');
    SELECT pgstrom.arrow_export('SELECT * FROM heap_b ORDER BY id', '{FILES}/arrow_b.arrow', '{{"batch_rows": 50}}');
    IMPORT FOREIGN SCHEMA arrow_a FROM SERVER arrow_fdw INTO public OPTIONS (file '{FILES}/arrow_a.arrow');
    IMPORT FOREIGN SCHEMA arrow_b FROM SERVER arrow_fdw INTO public OPTIONS (file '{FILES}/arrow_b.arrow')""", DB)
query("VACUUM ANALYZE heap_a, heap_b, part_a; ANALYZE arrow_a; ANALYZE arrow_b", DB)

KEYS = ("a.ts = b.tz", "a.tz = b.ts", "b.tz = a.ts", "a.ts = b.tz AND a.k = b.k", "a.tz::timestamp = b.ts",
        "a.ts::timestamptz = b.tz", "a.tz::date = b.d AND a.id = b.id", "a.d = b.tz", "a.d = b.tz::date AND a.id = b.id",
        "a.tz::time = b.t AND a.id = b.id", "extract(hour FROM a.tz) = extract(hour FROM b.ts) AND a.id = b.id")
FILTERS = ("ts < tz", "ts <= timestamptz '2024-03-10 09:10+00'", "tz > timestamp '2024-03-10 02:15'",
           "ts > timestamptz '2024-03-10 10:10+00'", "ts BETWEEN timestamptz '2024-03-10 09:40+00' AND timestamptz '2024-03-10 10:40+00'",
           "d = timestamptz '2024-04-01 00:00+00'", "tz = ANY (ARRAY[timestamp '2024-03-10 02:30', timestamp '2024-04-01'])",
           "ts = ANY (ARRAY[timestamptz '2024-03-10 10:00+00', timestamptz '2024-04-01 00:00+00'])",
           "ts IN (SELECT tz FROM {b})", "ts NOT IN (SELECT tz FROM {b})", "tz NOT IN (SELECT ts FROM {b})",
           "tz <> ALL (SELECT ts FROM {b})", "extract(hour FROM tz) = 2", "date_trunc('day', tz) = tz", "tz::date = ts::date",
           "tz::time < time '03:00'", "tz + interval '1 day' = ts + interval '24 hours'", "tz < current_date + 30",
           "to_char(tz, 'YYYY-MM-DD') = ds", "ds::date = d", "tss::timestamp = ts", "ds = (tz::date)::text",
           "to_timestamp(tss, 'YYYY-MM-DD HH24:MI:SS') = tz", "concat(d, '') = ds", "f::text = '0.14285714285714285'",
           "v::text = '01:00:00'", "b::text = '\\x0001'", "age(tz, ts::timestamptz) = interval '0'",
           "(ts, ts + interval '1 hour') OVERLAPS (tz, tz + interval '1 hour')",
           "tz = (SELECT min(ts) FROM {b}) + interval '3 days'", "greatest(ts, tz) = tz", "ts::timestamptz = tz")
GROUPS = ("tz::date", "date_trunc('hour', tz)", "extract(dow FROM tz)", "to_char(tz, 'HH24')", "tz::timestamp", "ts::timestamptz",
          "tz > ts")
AGGREGATES = "count(*), sum({x}id), min({x}tz), max({x}ts)"


def statements(a, b):
    for key in KEYS:
        yield f"SELECT {AGGREGATES.format(x='a.')} FROM {a} a JOIN {b} b ON {key}"
        yield f"SELECT {AGGREGATES.format(x='a.')} FROM {a} a WHERE EXISTS (SELECT FROM {b} b WHERE {key})"
        yield f"SELECT {AGGREGATES.format(x='a.')} FROM {a} a WHERE NOT EXISTS (SELECT FROM {b} b WHERE {key})"
        for kind in ("LEFT", "RIGHT"):
            yield f"SELECT {AGGREGATES.format(x='a.')}, count(b.id) FROM {a} a {kind} JOIN {b} b ON {key}"
        if key != "a.d = b.tz":  # PostgreSQL has no FULL JOIN with it
            yield f"SELECT {AGGREGATES.format(x='a.')}, count(b.id) FROM {a} a FULL JOIN {b} b ON {key}"
    for filter_ in FILTERS:
        yield f"SELECT {AGGREGATES.format(x='')} FROM {a} WHERE {filter_.format(b=b)}"
        yield f"SELECT id FROM {a} WHERE {filter_.format(b=b)} ORDER BY id LIMIT 20"
    for group in GROUPS:
        yield f"SELECT ({group})::text AS g, count(*), sum(id) FROM {a} GROUP BY {group} ORDER BY 1, 2, 3 LIMIT 50"
        yield f"SELECT count(DISTINCT {group}) FROM {a}"
        yield f"SELECT {group} AS g FROM {a} WHERE id < 300 ORDER BY id"


# Settings between the executions; the first one is in force when planning.
SETTINGS = (
    ("SET TimeZone = 'UTC'", "SET TimeZone = 'Asia/Tokyo'", "SET TimeZone = 'America/New_York'", "RESET TimeZone"),
    ("SET TimeZone = 'America/New_York'", "SET TimeZone = 'UTC'", "SET TimeZone = 'Europe/Berlin'", "SET TIME ZONE INTERVAL '-03:30'"),
)
OTHERS = ("SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'sql_standard'; SET extra_float_digits = 0; SET bytea_output = 'escape'",
          "SET DateStyle = 'German'; SET IntervalStyle = 'iso_8601'; SET search_path = pg_catalog, public; SET lc_monetary = 'C'",
          "RESET DateStyle; RESET IntervalStyle; RESET extra_float_digits; RESET bytea_output; RESET search_path; RESET lc_monetary")


def answer(session, statement):
    """Its rows, or the error; those without an order of their own are small."""
    try:
        return session.execute(statement).fetchall()
    except Exception as error:  # pylint: disable=broad-except
        return f"{error.sqlstate}: {str(error).splitlines()[0]}"


def texts(statement):
    """psycopg reads dates in one style only."""
    return f"SELECT array_agg(x::text) FROM ({statement}) x"


def compare(a, b, settings, mode):
    """Prepared statements, and functions, whose plans were made under the first of `settings`."""
    ours, host = engine_session(DB, plan_cache_mode=mode), engine_session(DB, **{"pg_strom.enabled": "off"})
    ours.execute(settings[0])
    wrong, offloaded = [], 0
    all_statements = [texts(statement) for statement in statements(a, b)]
    for number, statement in enumerate(all_statements):
        ours.execute(f"PREPARE p{number} AS {statement}")
        ours.execute(f"CREATE FUNCTION pg_temp.f{number}() RETURNS text[] LANGUAGE plpgsql AS $$ DECLARE r text[]; BEGIN "
                     f"{statement.replace('array_agg(x::text)', 'array_agg(x::text) INTO r', 1)}; RETURN r; END $$")
        answer(ours, f"EXECUTE p{number}")
        answer(ours, f"SELECT pg_temp.f{number}()")
        offloaded += "Custom Scan (Cpu" in str(ours.execute(f"EXPLAIN EXECUTE p{number}").fetchall())
    for setting in settings:
        ours.execute(setting)
        host.execute(setting)
        for number, statement in enumerate(all_statements):
            wanted = answer(host, statement)
            for how in (f"EXECUTE p{number}", f"SELECT pg_temp.f{number}()"):
                found = answer(ours, how)
                if found != wanted:
                    wrong.append(f"{setting}; {statement}\n  {str(found)[:200]}\n  {str(wanted)[:200]}")
    ours.close()
    host.close()
    ok(not wrong, f"{a}, {b}, {mode}: plans made under {settings[0]}", len(wrong), *wrong[:10])
    ok(offloaded * 2 > len(all_statements), f"{a}, {b}: most of the statements run in the engine", offloaded, len(all_statements))


compare("heap_a", "heap_b", SETTINGS[0], "force_generic_plan")
compare("heap_a", "heap_b", SETTINGS[1], "auto")
compare("arrow_a", "arrow_b", SETTINGS[0], "force_generic_plan")
compare("arrow_a", "heap_b", SETTINGS[1], "force_generic_plan")
compare("part_a", "heap_b", SETTINGS[0], "force_generic_plan")
compare("heap_a", "arrow_b", ("SET TimeZone = 'UTC'", *OTHERS), "auto")
done()
