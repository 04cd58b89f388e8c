"""Files of the seeds' statements, each with what is asked of it in comment lines before it:

    -- engine: T        the engine reads the table T, and joins it if there is a join
    -- scan: T          the engine reads the table T, and PostgreSQL may join what is left of it
    -- no engine        PostgreSQL does
    -- plan: REGEX      in the text of the plan; `not plan:` not there
    -- answer: TEXT     what the only value of the answer is
    -- close            floats may differ in their last digits

Every query's rows are compared with those that PostgreSQL gives with the engine off.
"""
import re

from checks import ok

JOINS = ("Hash Join", "Nested Loop", "Merge Join")


class Statement:
    def __init__(self, sql, wishes):
        self.sql = sql
        self.wishes = wishes
        self.is_explain = re.match(r"explain\b", sql, re.I) is not None
        self.is_query = re.match(r"(explain\b.*?)?select\b", sql, re.I | re.S) is not None
        self.query = re.sub(r"^explain\s*(\([^)]*\)|analyze|verbose|\s)*", "", sql, flags=re.I) if self.is_explain else sql

    def wish(self, name):
        return [value for key, value in self.wishes if key == name]


def read_statements(path):
    statements, lines, wishes = [], [], []
    for line in path.read_text().splitlines():
        if line.startswith("--"):
            found = re.match(r"-- (engine|scan|not plan|plan|answer): (.*)|-- (no engine|close)$", line)
            if found:
                wishes.append((found.group(1) or found.group(3), found.group(2)))
            continue
        if line.strip() or lines:
            lines.append(line)
        if line.rstrip().endswith(";"):
            statements.append(Statement("\n".join(lines).strip().rstrip(";"), wishes))
            lines, wishes = [], []
    assert not lines, f"{path} ends within a statement"
    return statements


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def plan_of(session, query):
    return session.execute(f"EXPLAIN (FORMAT JSON, VERBOSE) {query}").fetchone()[0][0]["Plan"]


def is_read_by_engine(plan, table):
    """Nobody else does."""
    readers = [n for n in nodes(plan) if n.get("Relation Name") == table]
    by_engine = [n for n in readers if n["Node Type"] == "Custom Scan" and n["Custom Plan Provider"].startswith(("Cpu", "Gpu"))]
    return len(readers) == len(by_engine) > 0


def is_by_engine(plan, table):
    """The engine reads `table`, and PostgreSQL joins nothing."""
    return is_read_by_engine(plan, table) and not any(n["Node Type"] in JOINS for n in nodes(plan))


def rounded(row):
    return tuple(f"{value:.9g}" if isinstance(value, float) else value for value in row)


def same_rows(found, wanted, close):
    change = rounded if close else (lambda row: row)
    return sorted(map(repr, map(change, found))) == sorted(map(repr, map(change, wanted)))


def without_engine(session, query):
    before = session.execute("SHOW pg_strom.enabled").fetchone()[0]
    session.execute("SET pg_strom.enabled = off")
    rows = session.execute(query).fetchall()
    session.execute(f"SET pg_strom.enabled = {before}")
    return rows


def check_query(session, statement, name):
    close = bool(statement.wish("close"))
    text = "\n".join(row[0] for row in session.execute(statement.sql).fetchall()) if statement.is_explain else ""
    for pattern in statement.wish("plan"):
        ok(re.search(pattern, text) is not None, f"{name}: plan has {pattern}", text)
    for pattern in statement.wish("not plan"):
        ok(re.search(pattern, text) is None, f"{name}: plan has no {pattern}", text)
    plan = plan_of(session, statement.query)
    for table in statement.wish("engine"):
        ok(is_by_engine(plan, table), f"{name}: the engine reads {table}", plan)
    for table in statement.wish("scan"):
        ok(is_read_by_engine(plan, table), f"{name}: the engine reads {table}", plan)
    if statement.wish("no engine"):
        ok(not any(n["Node Type"] == "Custom Scan" for n in nodes(plan)), f"{name}: without the engine", plan)
    found = session.execute(statement.query).fetchall()
    for answer in statement.wish("answer"):
        ok(str(found[0][0]) == answer, f"{name}: answer", f"found {found}, wanted {answer}")
    wanted = without_engine(session, statement.query)
    ok(same_rows(found, wanted, close), f"{name}: rows are PostgreSQL's", f"found {found[:5]}", f"wanted {wanted[:5]}")
    return found


def run_file(session, path, places):
    """Runs the statements of a file, one after the other, in one session."""
    for number, statement in enumerate(read_statements(path), 1):
        name = f"{path.name} {number}, {' '.join(statement.sql.split())[:70]}"
        statement.sql, statement.query = places.path(statement.sql), places.path(statement.query)
        try:
            if statement.is_query:
                check_query(session, statement, name)
            else:
                session.execute(statement.sql)
                ok(True, name)
        except Exception as error:  # the next statements may tell more
            ok(False, name, error)
