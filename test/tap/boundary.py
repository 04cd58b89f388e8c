#!/usr/bin/env python3
"""The border between PostgreSQL and C++: errors keep all they say, destructors run, nothing is left behind."""
import shutil
import subprocess
import time

from server import BUILD_DIR, alive, done, equal, folder, fresh_database, ok, psql, query, wait_until

module = folder("boundary") / "strom_boundary_test.so"
shutil.copy(BUILD_DIR / "test/modules/strom_boundary_test.so", module)
module.chmod(0o755)
DB = fresh_database("strom_boundary")

FUNCTIONS = {
    "throw_as(kind text) RETURNS void": "strom_test_throw",
    "run(statement text) RETURNS void": "strom_test_run",
    "rethrow(statement text) RETURNS void": "strom_test_rethrow",
    "live() RETURNS int": "strom_test_live",
    "owned(fail bool) RETURNS int": "strom_test_owned",
    "owned_reset() RETURNS int": "strom_test_owned_reset",
    "wait() RETURNS void": "strom_test_wait",
    "fixed_point(value numeric, scale int) RETURNS numeric": "strom_test_fixed_point",
    "roundtrip(value anyelement, as_register bool) RETURNS anyelement": "strom_test_roundtrip",
}
query("".join(f"CREATE FUNCTION {head} AS '{module}', '{name}' LANGUAGE C STRICT;" for head, name in FUNCTIONS.items()), DB)
query("""CREATE FUNCTION fail() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'the message' USING ERRCODE = 'AB123', DETAIL = 'The detail.', HINT = 'The hint.',
    COLUMN = 'c', CONSTRAINT = 'k', DATATYPE = 'd', TABLE = 't', SCHEMA = 's'; END $$""", DB)


def error_of(statement):
    """The error's text, after a check that the session goes on and that no object is left."""
    out, err = psql(f"{statement};\nSELECT 'live', live();", DB)
    equal(out, "live|0", f"all destructors ran: {statement[:60]}")
    return err


# Exceptions become errors.
err = error_of("SELECT throw_as('status')")
ok('ERROR:  42804: message with % and "quotes"' in err and "DETAIL:  A detail." in err and "HINT:  A hint." in err,
   "a status keeps SQLSTATE, message, detail and hint", err)
ok("ERROR:  53200: out of memory" in error_of("SELECT throw_as('bad_alloc')"), "bad_alloc is out of memory")
ok("ERROR:  XX000: plain exception" in error_of("SELECT throw_as('exception')"), "an exception keeps its text")
ok("ERROR:  XX000: unknown C++ exception" in error_of("SELECT throw_as('int')"), "anything else is an error as well")
ok("ERROR:  XX000: " + "x" * 65536 in error_of("SELECT throw_as('long')"), "an overlong text is cut")
ok("ERROR:  53200: out of memory" in error_of("SELECT throw_as('palloc')"), "memory that PostgreSQL does not get")
ok("ERROR:  XX000: thrown inside of guard" in error_of("SELECT throw_as('inside_guard')"),
   "a C++ exception passes through a guard")
ok("ERROR:  XX000: a thread of the engine has called PostgreSQL" in error_of("SELECT throw_as('thread')"),
   "a thread that calls PostgreSQL is told so, and the session goes on")

# PostgreSQL's errors come back whole, through any number of layers.
for call in ("run('SELECT fail()')", "rethrow('SELECT fail()')", "run($$SELECT run('SELECT fail()')$$)",
             "run($$SELECT rethrow($x$SELECT run('SELECT fail()')$x$)$$)"):
    err = error_of(f"SELECT {call}")
    wanted = ["ERROR:  AB123: the message", "DETAIL:  The detail.", "HINT:  The hint.", "SCHEMA NAME:  s", "TABLE NAME:  t",
              "COLUMN NAME:  c", "DATATYPE NAME:  d", "CONSTRAINT NAME:  k", "PL/pgSQL function fail() line 2 at RAISE"]
    ok(all(w in err for w in wanted), f"every field survives: {call}", err)
    equal(err.count("PL/pgSQL function fail()"), 1, f"its context is told once: {call}")
err = error_of("SELECT run('SELECT 1 FROM nowhere')")
ok("42P01" in err and "QUERY:  SELECT 1 FROM nowhere" in err and "^" in err, "a position in the inner statement survives", err)
ok("22012" in error_of("SELECT run('SELECT 1/0')"), "an error of an executor node")

# A session goes on after many errors, in subtransactions too.
out, _ = psql("""DO $$ BEGIN FOR i IN 1..2000 LOOP BEGIN PERFORM run('SELECT fail()'); EXCEPTION WHEN SQLSTATE 'AB123' THEN
  NULL; END; END LOOP; END $$; SELECT live(), (SELECT sum(total_bytes) < 100000000 FROM pg_backend_memory_contexts)""", DB)
equal(out, "0|t", "2000 caught errors leave nothing")
out, err = psql("BEGIN; SAVEPOINT a; SELECT throw_as('status'); ROLLBACK TO a; SELECT 7; COMMIT", DB)
ok(out == "7", "a transaction goes on behind a savepoint", out, err)

# Objects owned by a memory context.
equal(query("SELECT owned(false); SELECT live()", DB), "1\n0", "a context destroys what it owns at its end")
ok("owner fails" in error_of("SELECT owned(true)"), "and after an error")
equal(query("SELECT owned_reset(); SELECT live()", DB), "0\n0", "an object destroyed early is not destroyed twice")

# Cancel, timeout, termination.
begin = time.monotonic()
err = error_of("SET statement_timeout = '200ms'; SELECT wait(); RESET statement_timeout")
ok("57014" in err and time.monotonic() - begin < 20, "statement_timeout stops C++ code", err)
waiting = subprocess.Popen(["psql", "-X", "-d", DB, "-c", "SELECT wait()"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
find = "FROM pg_stat_activity WHERE query = 'SELECT wait()' AND state = 'active'"
wait_until(lambda: query(f"SELECT count(*) {find}", DB) == "1")
equal(query(f"SELECT pg_terminate_backend(pid) {find}", DB), "t", "a backend in C++ code is terminated")
_, err = waiting.communicate(timeout=30)
ok("terminating connection due to administrator command" in err, "its client is told", err)
alive("a terminated backend")

# numeric and fixed point.
cases = ["0", "0.0000", "1", "-1", "9999", "10000", "-10001.5", "0.0001", "12345678901234567890.1234", "100000000",
         "-" + "9" * 34 + ".9999", "0.1000"]
values = ", ".join(f"({c})" for c in cases)
equal(query(f"""SELECT string_agg(v::text, ' ') FROM (VALUES {values}) t(v) WHERE
  numeric_send(fixed_point(v, 4)) IS DISTINCT FROM numeric_send(v::numeric(38,4))""", DB), "", "numeric fits into 4 digits exactly")
equal(query("""SELECT count(*) FROM (SELECT round(((random() - 0.5) * 10 ^ (random() * 30))::numeric, s) AS v, s
  FROM generate_series(0, 20) s, generate_series(1, 500)) t
  WHERE abs(v) < 10 ^ (38 - s)::numeric AND numeric_send(fixed_point(v, s)) IS DISTINCT FROM numeric_send(v)""", DB), "0",
      "random values of all scales")
equal(query("""SELECT fixed_point(1.00001, 4) IS NULL, fixed_point('NaN', 4) IS NULL, fixed_point('Infinity', 4) IS NULL,
  fixed_point(10 ^ 34::numeric, 4) IS NULL, fixed_point(10 ^ 60::numeric, 4) IS NULL, fixed_point('1e-300', 4) IS NULL,
  fixed_point(1.000010000, 5) = 1.00001, fixed_point(10 ^ 1000::numeric, 0) IS NULL, fixed_point(0e-500, 4) = 0""", DB),
      "t|t|t|t|t|t|t|t|t", "what does not fit is not held")

# Values through columns and registers.
values = ["true", "(-32768)::int2", "2147483647", "(-9223372036854775808)::int8", "'NaN'::float4", "(-0.0)::float8",
          "-12.3400", "'4713-01-01 BC'::date", "'5874897-12-31'::date", "'294246-12-31 23:59:59.999999'::timestamp",
          "'4713-11-24 BC'::timestamp", "'2024-07-01 12:00+02'::timestamptz", "''::text", "repeat('größer', 5000)",
          "'a'::varchar", "'b '::char(5)", "'0/0'::pg_lsn", "'FFFFFFFF/FFFFFFFF'::pg_lsn", "'9223372036854775808'::xid8",
          "4294967295::oid", "'\\x7f'::bytea::text::\"char\"", "'ff:ff:ff:ff:ff:ff:ff:ff'::macaddr8", "'08:00:2b:01:02:03'::macaddr",
          "'-1 mon 3 days'::interval", "'24:00+15:59'::timetz", "'10.0.0.0/8'::inet", "'-0.01'::money", "'24:00'::time"]
for value in values:
    for as_register in ("true", "false"):
        same = query(f"SELECT roundtrip({value}, {as_register})::text IS NOT DISTINCT FROM ({value})::text", DB)
        equal(same, "t", f"{value} {'as a register' if as_register == 'true' else 'in a column'}")
for value in ("'infinity'::date", "'-infinity'::timestamp", "'infinity'::timestamptz", "'294276-12-31'::timestamp"):
    equal(query(f"SELECT roundtrip({value}, true) = {value}, roundtrip({value}, false) IS NULL", DB), "t|t",
          f"{value} is a register's value, not a column's")
equal(query("SELECT roundtrip('NaN'::numeric, true) IS NULL, roundtrip(1.23456, false) IS NULL", DB), "t|t",
      "numerics beyond the scale are not held")

query(f"DROP DATABASE {DB}")
done()
