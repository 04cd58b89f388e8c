#!/usr/bin/env python3
"""docs/user/sql_reference.md: every function and view of the extension, as the catalog has them. Signatures, comments and
rights are the catalog's; what arguments mean, and examples, stand above COMMENT ON in sql/*.sql. Each example is run.

    sql_reference.py --write     makes the page anew, on the server that PGHOST and PGPORT name
"""
import pathlib
import re
import sys
import textwrap

import psycopg

from server import done, engine_session, equal, folder, fresh_database, ok, query

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/user/sql_reference.md"
AREAS = (("arrow_fdw", "Arrow tables"), ("arrow_export", "Results in Arrow's formats"), ("gstore_fdw", "Tables in memory"),
         ("column_cache", "The column cache"), ("explain_support", "Plans"), ("statistics", "Watching queries"), ("doctor", "The machine"),
         ("storage", "Storage"), ("info", "Versions"), ("export", "Columns for other programs"), ("gpu", "GPUs"), ("random", "Random data"),
         ("vcf", "Texts of VCF files"))
HEAD = """# Functions and views

All of them are in the schema `pgstrom`, which every role may use. `test/tap/sql_reference.py` makes this page from the
catalog and from `sql/`, and runs the examples. `\\df+ pgstrom.*` shows the same comments in psql.

The functions, operators and aggregates of the types `int1` and `float2` are in `pg_catalog`, under the names that those
of the wider types have; see [types](queries.md#types).
"""
# Not to be called by users.
INTERNAL = re.compile(r"_handler$|_validator$|^gstore_fdw_(tables|columns|rights)_")
# What examples of these need is not on every server: a GPU service, a preloaded library, a port.
NEEDS_SERVICE = re.compile(r"pgstrom\.(gpu_|stat_queries|kv_session_tcp)")


class Notes:
    """What stands above a function's COMMENT ON."""

    def __init__(self):
        self.arguments, self.results, self.rights, self.example = {}, {}, "", ""

    def add(self, line):
        found = re.match(r"-- (argument|result) (\S+): (.*)|-- (rights|example): (.*)", line)
        if not found:
            return False
        if found[1]:
            (self.arguments if found[1] == "argument" else self.results)[found[2]] = found[3]
        elif found[4] == "rights":
            self.rights = found[5]
        else:
            self.example = found[5]
        return True


def read_notes(session):
    """By area and the function's OID."""
    notes = {}
    for area, _ in AREAS:
        current, names = Notes(), []
        for line in (ROOT / f"sql/{area}.sql").read_text().splitlines():
            commented = re.match(r"COMMENT ON FUNCTION (.*?\)) IS ", line)
            if commented:
                oid = session.execute("SELECT to_regprocedure('pgstrom.' || %s)::oid", (commented[1],)).fetchone()[0]
                notes[oid] = (area, current)
                current = Notes()
            elif line.startswith("-- of "):
                names = line[6:].rstrip(":").split(", ")
            elif names and line.startswith("DO "):
                for (oid,) in session.execute("SELECT oid FROM pg_proc WHERE proname = ANY (%s) AND pronamespace = 'pgstrom'::regnamespace", (names,)):
                    notes[oid] = (area, current)
                current, names = Notes(), []
            else:
                current.add(line)
    return notes


MEMBERS = """SELECT p.oid, p.proname, p.proretset, pg_get_function_arguments(p.oid), pg_get_function_identity_arguments(p.oid),
                    pg_get_function_result(p.oid), obj_description(p.oid, 'pg_proc'), p.proargnames, p.proargmodes::text[],
                    coalesce(p.proallargtypes, p.proargtypes::oid[])::regtype[]::text[],
                    ARRAY(SELECT pg_get_function_arg_default(p.oid, i) FROM generate_series(1, p.pronargs) i),
                    ARRAY(SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
                            FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee <> p.proowner ORDER BY 1)
               FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
               JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_strom'
              WHERE p.pronamespace = 'pgstrom'::regnamespace ORDER BY p.proname, p.pronargs"""
VIEWS = """SELECT c.oid, c.relname, obj_description(c.oid, 'pg_class'),
                  ARRAY(SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END FROM aclexplode(c.relacl) a
                         WHERE a.grantee <> c.relowner ORDER BY 1)
             FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
             JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_strom' WHERE c.relkind = 'v' ORDER BY 2"""
COLUMNS = """SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum)
               FROM pg_attribute WHERE attrelid = %s AND attnum > 0 ORDER BY attnum"""


def wrapped(text):
    return "\n".join(textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)) + "\n"


def sentence(text):
    text = text[0].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def who(grantees, more):
    base = "everyone" if "PUBLIC" in grantees else "superusers" + "".join(f" and `{name}`" for name in grantees)
    return f"*Who may:* {base}" + (f"; needs {more}" if more else "") + "."


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


class Function:
    def __init__(self, row, area, notes):
        (self.oid, self.name, self.is_set, self.arguments, _, self.result, self.comment, names, modes, types, defaults, self.grantees) = row
        self.area, self.notes = area, notes
        modes = modes or ["i"] * len(types)
        names = names or [""] * len(types)
        places = list(zip(names, modes, types))
        self.inputs = [(name or f"${i + 1}", kind, defaults[i]) for i, (name, mode, kind) in enumerate(p for p in places if p[1] in "iv")]
        self.outputs = [(name, kind) for name, mode, kind in places if mode in "ot"]

    def signature(self):
        inputs = ", ".join((f"{name} " if not name.startswith("$") else "") + kind + (f" DEFAULT {default}" if default else "")
                           for name, kind, default in self.inputs)
        result = "rows" if self.outputs and self.is_set else "a row" if self.outputs else self.result.replace("SETOF ", "rows of ")
        return f"{self.name}({inputs}) → {result}"

    def text(self, view):
        parts = [f"### {self.name}\n", f"```\n{self.signature()}\n```\n", wrapped(sentence(self.comment))]
        if self.inputs:
            parts.append(table(("argument", ""), [(f"`{name}`", self.notes.arguments[name]) for name, _, _ in self.inputs]))
        if view is not None:
            parts.append(wrapped(f"The view `{view.name}` has its rows: {view.comment}."))
            parts.append(table(("column", "type", ""), [(f"`{name}`", f"`{kind}`", comment) for name, kind, comment in view.columns]))
        elif self.outputs:
            parts.append(table(("column", "type", ""), [(f"`{name}`", f"`{kind}`", self.notes.results[name]) for name, kind in self.outputs]))
        rights = who(self.grantees, self.notes.rights)
        if view is not None and ("PUBLIC" in view.grantees) != ("PUBLIC" in self.grantees):
            rights += " The view: " + who(view.grantees, "")[len("*Who may:* "):]
        parts.append(wrapped(rights))
        parts.append(f"```sql\n{self.notes.example}\n```\n")
        return "\n".join(parts)


class View:
    def __init__(self, session, row):
        self.oid, self.name, self.comment, self.grantees = row
        self.columns = session.execute(COLUMNS, (self.oid,)).fetchall()


def read_catalog(session):
    notes = read_notes(session)
    functions = [Function(row, *notes.get(row[0], ("", Notes()))) for row in session.execute(MEMBERS).fetchall()]
    return functions, {row[1]: View(session, row) for row in session.execute(VIEWS).fetchall()}


def public(functions):
    return [one for one in functions if not INTERNAL.search(one.name)]


def page(functions, views):
    text = HEAD
    for area, title in AREAS:
        text += f"\n## {title}\n"
        for function in public(functions):
            if function.area == area:
                text += "\n" + function.text(views.get(function.name))
    return text


def check_comments(session, functions, views):
    equal([one.name for one in functions if not one.comment], [], "each function has a comment")
    rest = session.execute("""SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
        AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_strom' WHERE obj_description(p.oid, 'pg_proc') IS NULL""").fetchall()
    equal(rest, [], "also those of the types int1 and float2")
    equal([view.name for view in views.values() if not view.comment], [], "each view has a comment")
    equal([f"{view.name}.{name}" for view in views.values() for name, _, comment in view.columns if not comment], [], "each column of a view has one")
    for one in public(functions):
        missing = [name for name, _, _ in one.inputs if name not in one.notes.arguments]
        unknown = [name for name in one.notes.arguments if name not in [name for name, _, _ in one.inputs]]
        if one.name not in views:
            missing += [name for name, _ in one.outputs if name not in one.notes.results]
            unknown += [name for name in one.notes.results if name not in [name for name, _ in one.outputs]]
        equal((missing, unknown, bool(one.notes.example)), ([], [], True), f"{one.signature()}: what its arguments and results are, and an example")


def make_tables(database, files):
    session = engine_session(database)
    session.execute(f"""
        CREATE TABLE orders AS SELECT i AS k, i / 2.0 AS v FROM generate_series(1, 2000) i;
        CREATE TABLE measures AS SELECT i / 2.0::float8 AS x, i / 3.0::float8 AS y FROM generate_series(1, 100) i;
        SELECT pgstrom.arrow_export('SELECT * FROM orders', '{files}/lineorder.arrow');
        SELECT pgstrom.arrow_export('SELECT * FROM orders', '{files}/written.arrow');
        IMPORT FOREIGN SCHEMA lineorder FROM SERVER arrow_fdw INTO public OPTIONS (file '{files}/lineorder.arrow');
        CREATE FOREIGN TABLE written (k int, v numeric) SERVER arrow_fdw OPTIONS (file '{files}/written.arrow', writable 'true');
        CREATE FOREIGN TABLE positions (id bigint NOT NULL, price float8, volume int) SERVER gstore_fdw
          OPTIONS (base_file '{files}/positions.base', redo_log_file '{files}/positions.redo', primary_key 'id', max_num_rows '1000', kv_access 'true');
        INSERT INTO positions VALUES (1, 2, 3)""")
    session.close()


def check_examples(database, functions, files):
    for one in public(functions):
        session = engine_session(database)
        error = None
        try:
            session.execute(one.notes.example.replace("/data/", f"{files}/")).fetchall()
        except psycopg.errors.ObjectNotInPrerequisiteState as found:
            error = None if NEEDS_SERVICE.search(one.notes.example) else found
        except psycopg.Error as found:
            error = found
        equal(error, None, f"the example runs: {one.notes.example}")
        session.close()


def main():
    if sys.argv[1:] == ["--write"]:
        with psycopg.connect(autocommit=True) as session:
            PAGE.write_text(page(*read_catalog(session)))
        return
    database, files = fresh_database("strom_sql_reference"), folder("sql_reference")
    files.chmod(0o777)
    session = psycopg.connect(dbname=database, autocommit=True)
    functions, views = read_catalog(session)
    check_comments(session, functions, views)
    made = page(functions, views)
    ok(PAGE.exists() and PAGE.read_text() == made, "docs/user/sql_reference.md is what the catalog has; sql_reference.py --write makes it anew")
    session.close()
    make_tables(database, files)
    check_examples(database, functions, files)
    query("DROP FOREIGN TABLE positions", database)
    done()


main()
