"""Random partitioned and inherited tables: ranges, lists and hashes, one or two levels, leaves with other columns."""

from columns import sql_literal

ORDERED = ("int2", "int4", "int8", "numeric", "date", "timestamp", "timestamptz")
TEXTS = ("text", "varchar", "bpchar")
LONGEST_BOUND = 100  # characters; bounds are rows of a catalog


def column_list(columns):
    return ", ".join(f"{c.name} {c.declared}" for c in columns)


def leaf_ddl(rng, table, name, parent, bound):
    """A leaf: made below its parent, or by itself with its columns in another order, then attached."""
    if rng.random() < 0.5:
        return [f"CREATE TABLE {name} PARTITION OF {parent} {bound}"]
    columns = rng.sample(table.columns, len(table.columns))
    parts = [f"{c.name} {c.declared}" for c in columns]
    junk = [f"j{i}" for i in range(rng.choice([0, 1, 1, 2]))]
    for column in junk:
        kind = rng.choice(["text DEFAULT 'dropped'", "int2 DEFAULT 1", "int8", "numeric DEFAULT 1.5"])
        parts.insert(rng.randint(0, len(parts)), f"{column} {kind}")
    made = [f"CREATE TABLE {name} ({', '.join(parts)})"]
    if junk and rng.random() < 0.3:  # rows that still have the columns
        made.append(f"INSERT INTO {name} DEFAULT VALUES")
        made.append(f"DELETE FROM {name}")
    made += [f"ALTER TABLE {name} DROP COLUMN {column}" for column in junk]
    return made + [f"ALTER TABLE {parent} ATTACH PARTITION {name} {bound}"]


def range_bounds(rng, column):
    values = sorted(set(rng.sample(column.pool, min(len(column.pool), rng.randint(1, 6)))))
    texts = [bound_text(column, v) for v in values]
    ends = ["MINVALUE"] + texts + ["MAXVALUE"]
    bounds = [f"FOR VALUES FROM ({low}) TO ({high})" for low, high in zip(ends, ends[1:])]
    kept = bounds if rng.random() < 0.5 else rng.sample(bounds, rng.randint(1, len(bounds)))
    return kept + ["DEFAULT"]


def list_bounds(rng, column):
    values = list(dict.fromkeys(v.rstrip(" ") if isinstance(v, str) else v for v in column.pool))
    values = [v for v in values if not isinstance(v, str) or len(v) <= LONGEST_BOUND]
    rng.shuffle(values)
    groups = [values[i : i + rng.choice([1, 2, 5])] for i in range(0, min(len(values), 30), 5)]
    bounds = [[bound_text(column, v) for v in group] for group in groups if group]
    if bounds and rng.random() < 0.5:
        bounds[0].append("NULL")
    return [f"FOR VALUES IN ({', '.join(group)})" for group in bounds] + ["DEFAULT"]


def hash_bounds(rng):
    count = rng.choice([1, 2, 3, 8])
    return [f"FOR VALUES WITH (MODULUS {count}, REMAINDER {i})" for i in range(count)]


def bound_text(column, value):
    return sql_literal(column.base, value, column.modifier)


def random_strategy(rng, table):
    """RANGE, LIST or HASH with a column and the bounds of all partitions."""
    column = rng.choice([c for c in table.columns if c.base in ORDERED + TEXTS])
    ways = ["HASH"]
    if column.pool and not column.collation:
        ways += ["LIST"] * (len(set(column.pool)) <= 30) + ["RANGE"] * (2 * (column.base in ORDERED))
    way = rng.choice(ways)
    bounds = {"HASH": hash_bounds, "LIST": list_bounds, "RANGE": range_bounds}[way]
    return way, column.name, bounds(rng) if way == "HASH" else bounds(rng, column)


def partitioned_ddl(rng, table, paths):
    """A partitioned copy of the foreign table NAME_file. Among hash partitions there may be a file: its rows are those
    of other partitions as well, which nobody minds where they are not in an order."""
    name = table.name
    way, key, bounds = random_strategy(rng, table)
    made = [f"CREATE TABLE {name} ({column_list(table.columns)}) PARTITION BY {way} ({key})"]
    leaves = []
    for i, bound in enumerate(bounds):
        leaf = f"{name}_p{i}"
        if rng.random() < 0.2:
            inner_way, inner_key, inner_bounds = random_strategy(rng, table)
            made.append(f"CREATE TABLE {leaf} PARTITION OF {name} {bound} PARTITION BY {inner_way} ({inner_key})")
            for j, inner in enumerate(inner_bounds):
                leaves.append(f"{leaf}_{j}")
                made += leaf_ddl(rng, table, leaves[-1], leaf, inner)
        else:
            leaves.append(leaf)
            made += leaf_ddl(rng, table, leaf, name, bound)
    names = ", ".join(c.name for c in table.columns)
    made += [f"SELECT setseed({rng.random():.4f})", f"INSERT INTO {name} ({names}) SELECT {names} FROM {name}_file"]
    some = rng.choice(table.columns).name
    made += rng.sample(
        [
            f"UPDATE {rng.choice(leaves)} SET {some} = {some} WHERE random() < 0.3",
            f"DELETE FROM {name} WHERE random() < 0.2",
            f"VACUUM {name}",
            f"TRUNCATE {rng.choice(leaves)}",
        ],
        rng.randint(0, 3),
    )
    if rng.random() < 0.3:
        made.append(f"ALTER TABLE {name} ADD COLUMN late int")
    elif way == "HASH" and f"{name}_p0" in leaves and rng.random() < 0.6:
        made += [
            f"DROP TABLE {name}_p0",
            f"CREATE FOREIGN TABLE {name}_p0 PARTITION OF {name} {bounds[0]} "
            f"SERVER arrow_fdw OPTIONS (file '{rng.choice(paths)}')",
        ]
    return made


def inherited_ddl(rng, table, paths):
    """A parent with a child for each file, some of them copied into heap tables with further columns; it may have rows."""
    name = table.name
    names = ", ".join(c.name for c in table.columns)
    made = [f"CREATE TABLE {name} ({column_list(table.columns)})"]
    for i, path in enumerate(paths):
        child = f"{name}_p{i}"
        file = f"SERVER arrow_fdw OPTIONS (file '{path}')"
        if rng.random() < 0.6:
            made.append(f"CREATE FOREIGN TABLE {child} () INHERITS ({name}) {file}")
            continue
        columns = rng.sample(table.columns, len(table.columns))
        made.append(f"CREATE FOREIGN TABLE {child}_file ({column_list(table.columns)}) {file}")
        made.append(f"CREATE TABLE {child} (extra text, {column_list(columns)}, more int8) INHERITS ({name})")
        made.append(f"INSERT INTO {child} ({names}) SELECT {names} FROM {child}_file")
    if rng.random() < 0.3:
        made.append(f"INSERT INTO {name} ({names}) SELECT {names} FROM {name}_p0 LIMIT 100")
    return made
