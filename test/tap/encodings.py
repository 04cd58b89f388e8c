#!/usr/bin/env python3
"""Text in databases of other encodings than UTF-8: the engine computes it where a character is one byte, and leaves it to
PostgreSQL where characters have several. The case of letters beyond ASCII."""
import pathlib
import random

import psycopg
import pyarrow as pa
import pyarrow.ipc as ipc

from server import done, engine_session, equal, folder, ok, query, with_and_without_engine

FILES = folder("encodings")
FILES.chmod(0o777)
ROWS = 3000
QUERIES = (
    "SELECT id FROM t WHERE s = 'caf{e}'",
    "SELECT id FROM t WHERE s < 'm' AND s >= '{e}'",
    "SELECT length(s), count(*) FROM t GROUP BY 1",
    "SELECT s, count(*), min(id) FROM t GROUP BY 1",
    "SELECT c, octet_length(c), length(c), count(*) FROM t GROUP BY c",
    "SELECT id, upper(s), lower(s), initcap(s) FROM t",
    "SELECT id, left(s, 2), right(s, 2), substr(s, 2, 3), reverse(s) FROM t",
    "SELECT id, position('{e}' IN s), strpos(s, 'a'), ascii(s), lpad(s, 7, '{e}'), replace(s, '{e}', 'x') FROM t WHERE s <> ''",
    "SELECT id, translate(s, '{e}a', 'a{e}'), btrim(s, '{e}a'), split_part(s, '{e}', 2) FROM t",
    "SELECT count(*) FROM t WHERE s LIKE '_a%'",
    "SELECT count(*) FROM t WHERE s LIKE '%{e}_'",
    "SELECT count(*) FROM t WHERE c LIKE '%{e}_'",
    "SELECT count(*) FROM t WHERE s ILIKE '%{e}A%'",
    "SELECT count(*) FROM t WHERE s ILIKE '%ca%'",
    "SELECT count(*) FROM t WHERE s ~ '^.a'",
    "SELECT count(*) FROM t WHERE s ~* '{e}.$'",
    "SELECT count(*) FROM t WHERE s ~ 'ca'",
    "SELECT id, s || '{e}' || c FROM t",
    "SELECT id, ascii(chr(id % 255 + 1)) FROM t",
    "SELECT j ->> 'k', count(*) FROM t GROUP BY 1",
    "SELECT count(*) FROM t WHERE j ? '{e}'",
    "SELECT count(*) FROM t WHERE a @> ARRAY['caf{e}']",
    "SELECT count(*), min(t.s), max(u.s) FROM t JOIN u ON t.s = u.s",
    "SELECT t.id FROM t WHERE NOT EXISTS (SELECT FROM u WHERE u.s = t.s)",
    "SELECT id, s FROM t ORDER BY s, id LIMIT 20",
    "SELECT min(s), max(s), count(DISTINCT s) FROM t",
)


def answer(session, statement):
    try:
        return sorted(session.execute(statement).fetchall(), key=repr)
    except psycopg.Error as error:
        return error.sqlstate


def runs_in_engine(session, statement):
    plan = "\n".join(line for (line,) in session.execute("EXPLAIN (COSTS OFF) " + statement).fetchall())
    return "Custom Scan (Cpu" in plan


def make_tables(session, letters):
    rng = random.Random(5)
    session.execute("CREATE EXTENSION pg_strom")
    session.execute("CREATE TABLE t (id int, s text, c char(6), j jsonb, a text[])")
    session.execute("CREATE TABLE u (s text)")
    words = ["", "caf" + letters[0], "ca"] + ["".join(rng.choices(letters + "abcAB ", k=rng.randrange(1, 7))) for _ in range(400)]
    with session.cursor().copy("COPY t (id, s, c, j, a) FROM STDIN") as copy:
        for i in range(ROWS):
            word = rng.choice(words)
            pair = '{"k": "%s", "%s": 1}' % (word, rng.choice(letters))
            copy.write_row((i, None if i % 17 == 0 else word, word[:6], pair, [word, rng.choice(words)]))
    with session.cursor().copy("COPY u FROM STDIN") as copy:
        for word in words[::3]:
            copy.write_row((word,))
    session.execute("VACUUM ANALYZE t, u")


def compare(encoding, letters, computes):
    name = f"strom_{encoding.lower()}"
    query(f"DROP DATABASE IF EXISTS {name}")
    query(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    session = engine_session(name)
    # Of SQL_ASCII the server knows no characters, so that the client's bytes go through as they are.
    session.execute("SET client_encoding = " + ("latin1" if encoding == "SQL_ASCII" else encoding))
    make_tables(session, letters)
    statements = [statement.replace("{e}", letters[0]) for statement in QUERIES]
    different, in_engine = [], 0
    for statement in statements:
        ours, theirs = with_and_without_engine(session, statement, answer)
        in_engine += runs_in_engine(session, statement)
        if ours != theirs:
            different.append((statement, str(ours)[:500], str(theirs)[:500]))
    ok(not different, f"{encoding}: answers", *different)
    print(f"# {encoding}: {in_engine} of {len(statements)} statements have a node of the engine")
    equal(runs_in_engine(session, statements[0]), computes, f"{encoding}: the engine compares text")
    equal(runs_in_engine(session, "SELECT sum(id) FROM t WHERE id % 3 = 1"), True, f"{encoding}: numbers go through the engine")
    if encoding != "SQL_ASCII":  # whose bytes are not known to be text
        written_as_utf8(session, encoding)
    session.close()
    query(f"DROP DATABASE {name}")


def written_as_utf8(session, encoding):
    """Text goes to Arrow files from the engine, and comes back from there."""
    path = FILES / f"{encoding}.arrow"
    session.execute(f"CREATE FOREIGN TABLE f (id int, s text, c char(6)) SERVER arrow_fdw OPTIONS (file '{path}', writable 'true')")
    session.execute("INSERT INTO f SELECT id, s, c FROM t WHERE id % 2 = 0")
    with pa.memory_map(str(path)) as source:
        table = ipc.open_file(source).read_all()
    wanted = session.execute("SELECT id, s, c FROM t WHERE id % 2 = 0 ORDER BY id").fetchall()
    found = sorted(zip(*(table.column(name).to_pylist() for name in ("id", "s", "c"))))
    equal([(i, s) for i, s, _ in found], [(i, s) for i, s, _ in wanted], f"{encoding}: texts in the file are UTF-8")
    for statement in ("SELECT s, count(*) FROM f GROUP BY 1", "SELECT id FROM f WHERE s LIKE '_a%'", "SELECT c, count(*) FROM f GROUP BY 1",
                      "SELECT count(*) FROM f JOIN t USING (s)", "SELECT upper(s), min(id) FROM f WHERE c > 'b' GROUP BY 1"):
        equal(*with_and_without_engine(session, statement, answer), f"{encoding}: {statement}")


def compare_letters():
    """upper() and lower() of every character, alone, among others and in no character's company but its own."""
    name = "strom_letters"
    query(f"DROP DATABASE IF EXISTS {name}")
    query(f"CREATE DATABASE {name} ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0")
    session = engine_session(name)
    session.execute("CREATE EXTENSION pg_strom")
    # Without surrogates; beyond U+FFFF the letters of Deseret, Adlam and others, symbols and rare ideographs.
    session.execute("CREATE TABLE letters AS SELECT i, chr(i) AS c, 'aZ' || chr(i) || '\u00e9i\u0130' AS among FROM "
                    "(SELECT generate_series(1, 55295) UNION ALL SELECT generate_series(57344, 132000)) x (i)")
    session.execute("VACUUM ANALYZE letters")
    collations = [('"default"', True), ('"C"', True), ('"C.utf8"', True), ('"ucs_basic"', True)]
    with_icu = session.execute("SELECT count(*) > 0 FROM pg_collation WHERE collname = 'en-x-icu'").fetchone()[0]
    # Servers of other versions that are fetched for tests may be built without ICU.
    ok(with_icu or session.info.server_version >= 160000, "the server has ICU")
    collations += [('"en-x-icu"', False), ('"tr-x-icu"', False)] * with_icu
    for collation, computes in collations:
        statement = ("SELECT i, upper(c COLLATE {0}), lower(c COLLATE {0}), upper(among COLLATE {0}), lower(among COLLATE {0}) "
                     "FROM letters").format(collation)
        ours, theirs = with_and_without_engine(session, statement, answer)
        different = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]] if ours != theirs else []
        ok(ours == theirs and len(ours) > 100000, f"case of all letters, COLLATE {collation}", len(ours), *different[:3])
        if not computes:
            continue
        counted = f"SELECT count(*) FROM letters WHERE upper(among COLLATE {collation}) <> lower(c COLLATE {collation})"
        plan, = session.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + counted).fetchone()[0][0]["Plan"]["Plans"]
        ok(plan["Custom Plan Provider"] == "CpuPreAgg", f"counted in the engine, COLLATE {collation}", plan)
        # But some blocks above U+FFFF, and ideographs from U+20000 on.
        ok(plan["Rechecked"] < 5000, f"which knows the letters, COLLATE {collation}", plan)
    equal(*with_and_without_engine(session, "SELECT i FROM letters WHERE among ILIKE '%Z\u00c9I%' OR c ILIKE '\u0436'", answer), "ILIKE")
    session.close()
    query(f"DROP DATABASE {name}")


compare_letters()
for script in (pathlib.Path(__file__).resolve().parents[2] / "sql").glob("*"):
    ok(script.read_bytes().isascii(), f"{script.name} can be read in databases of any encoding")
compare("LATIN1", "\u00e9\u00c9\u00df\u00ff\u00e4", True)
compare("WIN1251", "\u0436\u0416\u044f\u0430", True)
compare("SQL_ASCII", "\u00e9\u00c9\u00df\u00ff", True)
compare("EUC_JP", "\u3042\u6f22\u30ab\u8a9e", False)
done()
