"""Random FROM clauses: a table, or several that are joined by equal keys."""

from columns import INT_RANGE
from expressions import Expressions

ROW_LIMIT = 200_000  # of a join, estimated
SMALL_ROW_LIMIT = 2_000  # where all tables are small, because the engine is slow


class Source:
    """A FROM clause: relations with aliases, their join conditions, and the columns in sight."""

    def __init__(self, text, scope, rows, joined):
        self.text, self.scope, self.rows, self.joined = text, scope, rows, joined


def scope_of(table, alias):
    return [(alias, c) for c in table.columns]


def key_class(column):
    if column.base in INT_RANGE:
        return "int"
    return "text" if column.base == "varchar" else column.base


def join_source(rng, tables, count):
    """`count` tables joined by equal keys; the first is the largest."""
    facts = [t for t in tables if t.rows <= (4000 if count > 2 else 60000)]
    first = rng.choice(facts or tables)
    scope, rows = scope_of(first, "t0"), max(first.rows, 1)
    limit = ROW_LIMIT if any(t.rows > 400 for t in tables) else SMALL_ROW_LIMIT
    text, conditions = f"{first.name} t0", []
    for i in range(1, count):
        small = [t for t in tables if t.rows <= 2500]
        if not small:
            break
        table, alias = rng.choice(small), f"t{i}"
        keys = join_keys(rng, scope, table, alias)
        if not keys:
            continue
        fan = max(table.rows / max(keys[0][1], 1), 0.5)
        if rows * fan > limit:
            continue
        rows *= fan
        clause = " AND ".join(k[0] for k in keys)
        if rng.random() < 0.12:
            extra = Expressions(rng, scope + scope_of(table, alias))
            clause += f" AND {extra.comparison(1)}"
        if rng.random() < 0.6:
            text += f" JOIN {table.name} {alias} ON {clause}"
        else:
            text = (
                f"{table.name} {alias} CROSS JOIN {text}"
                if rng.random() < 0.3
                else f"{text} CROSS JOIN {table.name} {alias}"
            )
            conditions.append(clause)
        scope = scope + scope_of(table, alias)
    return Source(text, scope, rows, conditions)


def join_keys(rng, scope, table, alias):
    """Equalities between a column in sight and one of `table`, each with the number of its values."""
    pairs = [
        (a, c, d)
        for a, c in scope
        for d in table.columns
        if key_class(c) == key_class(d) and (c.domain == d.domain == "key" or rng.random() < 0.03)
    ]
    if not pairs:
        return []
    # Many values first: the fan-out is bounded by them.
    found = []
    for a, c, d in rng.sample(pairs, min(len(pairs), rng.choice([1, 1, 1, 2, 3]))):
        left, right = f"{a}.{c.name}", f"{alias}.{d.name}"
        if key_class(c) == "int" and rng.random() < 0.1:
            left = f"({left}::int8 + 1::int8)"
        found.append((f"{left} = {right}" if rng.random() < 0.5 else f"{right} = {left}", len(set(d.pool))))
    return sorted(found, key=lambda k: -k[1])


def choose_source(rng, tables):
    count = rng.choice([1, 1, 1, 2, 2, 3, 4, 5, 6])
    if count > 1:
        return join_source(rng, tables, count), count
    table = rng.choice(tables)
    text = f"{table.name} t0"
    if table.heap and rng.random() < 0.15:
        text += f" TABLESAMPLE {rng.choice(['system', 'bernoulli'])} ({rng.choice([0, 10, 50, 99.5, 100])}) REPEATABLE ({rng.randint(0, 99)})"
    return Source(text, scope_of(table, "t0"), table.rows, []), 1
