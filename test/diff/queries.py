"""Random queries over random tables."""

from expressions import Expressions
from query import PAIRS, VARIANCES, Query, random_settings
from sources import ROW_LIMIT, SMALL_ROW_LIMIT, Source, choose_source, join_keys, key_class, scope_of

TIMES_AND_CODES = ["time", "timetz", "interval", "oid", "money", "enum", "inet", "pglsn", "xid8", "tid"]
FALLBACK_ROW_LIMIT = 20000  # PostgreSQL evaluates most of them
SMALL_NUMBERS = ["int1", "float2"]
FLOATS = ("float2", "float4", "float8")
AGGREGATED = {
    "sum": ["int2", "int4", "int8", "numeric", "float4", "float8"] + SMALL_NUMBERS,
    "avg": ["int2", "int4", "int8", "numeric", "float4", "float8"] + SMALL_NUMBERS,
    "min": ["int2", "int4", "int8", "numeric", "float4", "float8", "date", "timestamp", "timestamptz", "text"] + TIMES_AND_CODES + SMALL_NUMBERS,
    "max": ["int2", "int4", "int8", "numeric", "float4", "float8", "date", "timestamp", "timestamptz", "text"] + TIMES_AND_CODES + SMALL_NUMBERS,
}


class Writer:
    """Writes one query."""

    def __init__(self, rng, tables, parameters=None):
        self.rng, self.tables, self.parameters = rng, tables, parameters
        self.risky = rng.random() < 0.15
        self.source, count = choose_source(rng, tables)
        self.joins = count > 1
        self.e = Expressions(rng, self.source.scope, self.risky, parameters)
        self.query = Query("", self.source.rows)

    def where(self):
        conditions = list(self.source.joined)
        for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2])):
            conditions.append(self.e.boolean(self.rng.choice([0, 1, 2, 3])))
        indexed = [(alias, column) for alias, column in self.source.scope if column.brin]
        if indexed and self.rng.random() < 0.4:
            conditions.append(self.index_condition(indexed))
            self.query.by_index = True
        if self.source.rows <= FALLBACK_ROW_LIMIT and self.rng.random() < 0.15:
            conditions += self.fallback_condition()
        return " WHERE " + " AND ".join(conditions) if conditions else ""

    def fallback_condition(self):
        """True for all rows, and too wide for the engine where a column is no multiple of a small number."""
        numbers = [f"{a}.{c.name}" for a, c in self.e.columns("int2", "int4", "int8", "numeric")]
        if not numbers:
            return []
        number = f"({self.rng.choice(numbers)} % {self.rng.choice([2, 3, 10])})::numeric"
        return [f"{number} * {'9' * 20} * {'9' * 20} IS DISTINCT FROM 0.5"]

    def index_condition(self, indexed):
        """Something that BRIN indexes may answer."""
        arms = []
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            alias, column = self.rng.choice(indexed)
            name, one, other = f"{alias}.{column.name}", self.e.literal(column.base), self.e.literal(column.base)
            arms.append(
                self.rng.choice(
                    [
                        f"{name} {self.rng.choice(['<', '<=', '=', '>=', '>'])} {one}",
                        f"{one} {self.rng.choice(['<', '='])} {name}",
                        f"{name} BETWEEN {one} AND {other}",
                        f"{name} IN ({one}, {other})",
                        f"{name} IS NULL",
                        f"({name} > {one} AND {alias}.{self.rng.choice(indexed)[1].name} IS NOT NULL)"
                        if len({a for a, _ in indexed}) == 1
                        else f"{name} = {one}",
                    ]
                )
            )
        return f"({' OR '.join(arms)})"

    def item(self):
        """A column or an expression."""
        if self.rng.random() < 0.55:
            return self.e.any_column()[0]
        return self.e.value(self.e.some_base(), self.rng.choice([1, 1, 2, 3]))

    def float_argument(self, base):
        """Adds up without cancelling and without overflow, so that the order of rows hardly matters."""
        found = [f"{a}.{c.name}" for a, c in self.e.columns(base) if c.domain != "wild"]
        if not found:
            return None
        column = self.rng.choice(found)
        return self.rng.choice([column, column, f"({column} * {column})", f"({column} + {column})"])

    def aggregate(self, position):
        rng = self.rng
        name = rng.choice(["count", "sum", "sum", "avg", "min", "max", "bool", "bits", "variance"])
        if name == "bool":
            text = f"{rng.choice(['bool_and', 'bool_or', 'every'])}({self.e.boolean(rng.choice([0, 1, 2]))})"
        elif name == "bits":
            argument = self.e.value(rng.choice(["int2", "int4", "int8"]), rng.choice([0, 1]))
            text = f"{rng.choice(['bit_and', 'bit_or', 'bit_xor'])}({argument})"
        elif name == "variance":
            text = self.variance(position)
        elif name == "count":
            text = rng.choice(
                [
                    "count(*)",
                    f"count({self.item()})",
                    f"count({self.e.any_column()[0]})",
                    f"count(DISTINCT {self.e.any_column()[0]})" if rng.random() < 0.2 else "count(*)",
                ]
            )
        else:
            base = rng.choice(AGGREGATED[name])
            have = [b for b in AGGREGATED[name] if self.e.columns(b)]
            base = rng.choice(have) if have and rng.random() < 0.9 else base
            argument = self.e.value(base, rng.choice([0, 1, 1, 2]))
            if name in ("sum", "avg") and base in FLOATS:
                argument = self.float_argument(base)
                if argument is None:
                    return "count(*)"
                self.query.approximate.add(position)
            if base in FLOATS + ("numeric", "text", "varchar", "bpchar", "interval"):
                self.query.representative_open = True
            if rng.random() < 0.03 and base not in FLOATS:
                argument = f"DISTINCT {argument}"
            text = f"{name}({argument})"
        if rng.random() < 0.03:
            argument = self.e.value("int4", 0)
            text = rng.choice([f"array_agg({argument} ORDER BY {argument})", f"mode() WITHIN GROUP (ORDER BY {argument})"])
            self.query.approximate.discard(position)
            self.query.spread.discard(position)
        if rng.random() < 0.2:
            text += f" FILTER (WHERE {self.e.boolean(1)})"
        return text

    def variance(self, position):
        rng = self.rng
        if rng.random() < 0.25:
            self.query.approximate.add(position)
            self.query.spread.add(position)
            y, x = (f"({self.e.value('int2', 0)} % {rng.choice([5, 100])})" for _ in range(2))
            return f"{rng.choice(PAIRS)}({y}, {x})"
        base = rng.choice(["int2", "int4", "int8", "numeric", "float4", "float8"] + SMALL_NUMBERS)
        if base in FLOATS:
            found = [f"{a}.{c.name}" for a, c in self.e.columns(base) if c.domain != "wild"]
            if not found:
                return "count(*)"
            self.query.approximate.add(position)
            self.query.spread.add(position)
            argument = rng.choice(found)
            if rng.random() < 0.5:  # one state for several
                argument = self.moments = getattr(self, "moments", argument)
                return f"{rng.choice(VARIANCES + ['avg', 'avg'])}({argument})"
        else:
            argument = self.e.value(base, rng.choice([0, 0, 1]))
        return f"{rng.choice(VARIANCES)}({argument})"

    def projection(self):
        items = [self.item() for _ in range(self.rng.randint(1, 5))]
        sql = f"SELECT {', '.join(items)} FROM {self.source.text}{self.where()}"
        limit = None
        if self.source.rows > 30000:
            limit = self.rng.choice([10, 1000])
        if limit or self.rng.random() < 0.2:
            places = ", ".join(f"{i + 1}{self.rng.choice(['', ' DESC', ' NULLS FIRST'])}" for i in range(len(items)))
            sql += f" ORDER BY {places} LIMIT {limit or self.rng.choice([0, 1, 5, 100, 1500])}"
            if self.rng.random() < 0.3:
                sql += f" OFFSET {self.rng.choice([0, 1, 3, 1000])}"
            self.query.representative_open = True
        self.query.kind = "scan"
        return sql

    def top(self):
        """The first rows of an order: columns, and expressions that rarely fail."""
        rng = self.rng
        items = []
        for _ in range(rng.randint(1, 5)):
            items.append(self.e.any_column()[0] if rng.random() < 0.85 else self.e.boolean(1))
        places = [
            f"{i + 1}{rng.choice(['', ' DESC', ' ASC'])}{rng.choice(['', '', ' NULLS FIRST', ' NULLS LAST'])}"
            for i in range(len(items))
        ]
        rng.shuffle(places)
        sql = f"SELECT {', '.join(items)} FROM {self.source.text}{self.where()} ORDER BY {', '.join(places)}"
        sql += f" LIMIT {rng.choice([1, 3, 10, 10, 100, 3000])}"
        if rng.random() < 0.3:
            sql += f" OFFSET {rng.choice([0, 1, 7, 50])}"
        self.query.representative_open = True
        self.query.kind = "top"
        return sql

    def sorted(self):
        """All rows in order, with their numbers; the order is by all that is shown, so that equal rows are alike."""
        rng = self.rng
        items = [self.e.any_column()[0] for _ in range(rng.randint(1, 4))]
        order = [
            f"{item}{rng.choice(['', ' DESC', ' ASC'])}{rng.choice(['', '', ' NULLS FIRST', ' NULLS LAST'])}" for item in items
        ]
        shown = ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))
        inner = f"SELECT {shown} FROM {self.source.text}{self.where()} ORDER BY {', '.join(order)}"
        self.query.representative_open = True
        self.query.kind = "sorted"
        return f"SELECT row_number() OVER () AS n, q.* FROM ({inner}) q"

    def window_top(self):
        """The first rows of each partition; the order is by all that is shown, so that equal rows are alike."""
        rng = self.rng
        items = [self.e.any_column()[0] for _ in range(rng.randint(1, 3))]
        partition = [rng.choice([self.group_key(), self.e.any_column()[0]]) for _ in range(rng.choice([0, 1, 1, 1, 2]))]
        order = [
            f"{item}{rng.choice(['', ' DESC', ' ASC'])}{rng.choice(['', '', ' NULLS FIRST', ' NULLS LAST'])}" for item in items
        ]
        window = (f"PARTITION BY {', '.join(partition)} " if partition else "") + f"ORDER BY {', '.join(order)}"
        shown = [f"{item} AS c{i}" for i, item in enumerate(items)]
        function = rng.choice(["row_number", "rank", "rank", "dense_rank"])
        inner = f"SELECT {', '.join(shown)}, {function}() OVER ({window}) AS n FROM {self.source.text}{self.where()}"
        limit = rng.choice([1, 1, 2, 3, 10, 100])
        condition = rng.choice([f"n <= {limit}", f"n <= {limit}", f"n < {limit + 1}", f"{limit} >= n", f"n = {limit}"])
        self.query.representative_open = True
        self.query.kind = "window"
        return f"SELECT * FROM ({inner}) q WHERE {condition}"

    def distinct(self):
        items = [self.item() for _ in range(self.rng.randint(1, 3))]
        self.query.representative_open = True
        self.query.kind = "distinct"
        return f"SELECT DISTINCT {', '.join(items)} FROM {self.source.text}{self.where()}"

    def aggregation(self):
        aggregates = [self.aggregate(i) for i in range(self.rng.randint(1, 5))]
        self.query.kind = "aggregate"
        return f"SELECT {', '.join(aggregates)} FROM {self.source.text}{self.where()}{self.having(0.05)}"

    def having(self, share):
        if self.rng.random() >= share:
            return ""
        return " HAVING " + self.rng.choice(
            [
                "count(*) > 1",
                "count(*) % 2 = 0",
                f"max({self.e.value('int4', 0)}) > {self.e.literal('int4')}",
                f"min({self.e.value('date', 0)}) IS NOT NULL",
                f"sum({self.e.value('int4', 0)}) BETWEEN 0 AND 10000",
            ]
        )

    def group_key(self):
        rng = self.rng
        keys = [f"{a}.{c.name}" for a, c in self.e.scope if c.domain == "key"]
        if keys and rng.random() < 0.6:
            return rng.choice(keys)
        if rng.random() < 0.5:
            return self.e.any_column()[0]
        return self.e.value(self.e.some_base(), rng.choice([1, 2]))

    def grouping(self):
        keys = [self.group_key() for _ in range(self.rng.choice([1, 1, 2, 2, 3, 4]))]
        shown = self.rng.random() < 0.95
        aggregates = [self.aggregate(i + (len(keys) if shown else 0)) for i in range(self.rng.randint(0, 5))]
        items = (keys if shown else []) + aggregates
        if not items:
            items = ["1"]
        self.query.representative_open = True
        self.query.kind = "group"
        # Positions, since a parameter or literal alone is no grouping expression.
        names = ", ".join(str(i + 1) for i in range(len(keys))) if shown else ", ".join(f"({k})" for k in keys)
        sql = f"SELECT {', '.join(items)} FROM {self.source.text}{self.where()} GROUP BY {names}{self.having(0.2)}"
        if shown and not self.query.approximate and self.rng.random() < 0.2:
            sql += f" ORDER BY {', '.join(str(i + 1) for i in range(len(items)))} LIMIT {self.rng.choice([1, 5, 100])}"
        return sql

    def grouping_sets(self):
        rng = self.rng
        keys = []
        for _ in range(rng.choice([1, 2, 2, 3])):
            key = self.group_key()
            keys.append(key if "." in key else self.e.any_column()[0])
        keys = list(dict.fromkeys(keys))

        def some():
            return "(" + ", ".join(rng.sample(keys, rng.randint(0, len(keys)))) + ")"

        names = ", ".join(f"({k})" for k in keys)
        clause = rng.choice([f"ROLLUP ({names})", f"CUBE ({names})", f"({keys[0]}), ROLLUP ({names})", ""])
        if not clause:
            clause = f"GROUPING SETS ({', '.join([some() for _ in range(rng.randint(1, 4))] + [names])})"
        items = keys + [f"GROUPING({', '.join(rng.sample(keys, rng.randint(1, len(keys))))})"]
        items += [self.aggregate(len(items) + i) for i in range(rng.randint(0, 3))]
        distinct = rng.random() < 0.3
        if distinct:
            for _ in range(rng.choice([1, 1, 2])):
                column, number = self.group_key(), self.e.value(rng.choice(["int4", "numeric"]), 0)
                text = rng.choice([f"count(DISTINCT {column})", f"{rng.choice(['sum', 'avg', 'count'])}(DISTINCT {number})"])
                items.append(text + (f" FILTER (WHERE {self.e.boolean(0)})" if rng.random() < 0.2 else ""))
        self.query.representative_open = True
        self.query.kind = "distinct sets" if distinct else "sets"
        return f"SELECT {', '.join(items)} FROM {self.source.text}{self.where()} GROUP BY {clause}{self.having(0.2)}"

    def distinct_aggregates(self):
        rng = self.rng
        keys = [self.group_key() for _ in range(rng.choice([0, 0, 1, 1, 2]))]
        keys = [k if "." in k else self.e.any_column()[0] for k in keys]
        items = list(keys)
        for _ in range(rng.choice([1, 1, 2, 3])):
            column, base = self.group_key(), rng.choice(["int2", "int4", "int8", "numeric"])
            number = self.e.value(base, rng.choice([0, 0, 1]))
            text = rng.choice(
                [
                    f"count(DISTINCT {column})",
                    f"count(DISTINCT {column})",
                    f"{rng.choice(['sum', 'avg', 'count', 'var_pop'])}(DISTINCT {number})",
                    f"array_agg(DISTINCT {self.e.value('int4', 0)})",
                    f"{rng.choice(['min', 'max'])}({self.e.value('int4', 0)})",
                    f"bool_or({self.e.boolean(0)})",
                ]
            )
            items.append(text + (f" FILTER (WHERE {self.e.boolean(0)})" if rng.random() < 0.2 else ""))
        if rng.random() < 0.6:  # beside aggregates that count copies
            items += [self.aggregate(len(items) + i) for i in range(rng.randint(1, 2))]
        items.append(f"count(DISTINCT {rng.choice([self.group_key(), self.e.any_column()[0]])})")
        self.query.representative_open = True
        self.query.kind = "distinct aggregate"
        names = ", ".join(f"({k})" for k in keys)
        group = f" GROUP BY {names}" if keys else ""
        return f"SELECT {', '.join(items)} FROM {self.source.text}{self.where()}{group}{self.having(0.1)}"

    # Constructs around or beside the engine's nodes.

    def semi_join(self):
        """EXISTS and the like, over fewer rows than the query has itself or over more."""
        rng = self.rng
        small = [t for t in self.tables if t.rows <= 400]
        if small and rng.random() < 0.5:
            return self.small_semi_join(rng.choice(small))
        other = rng.choice([t for t in self.tables if t.rows <= 3000] or self.tables)
        keys = join_keys(rng, self.source.scope, other, "s")
        if not keys:
            return self.aggregation()
        inside = Expressions(rng, scope_of(other, "s"))
        extra = f" AND {inside.boolean(1)}" if rng.random() < 0.6 else ""
        word = rng.choice(["EXISTS", "EXISTS", "NOT EXISTS"])
        where = self.where()
        link = " AND " if where else " WHERE "
        self.query.kind = "semi"
        return (
            f"SELECT count(*), {self.aggregate(1)} FROM {self.source.text}{where}{link}"
            f"{word} (SELECT 1 FROM {other.name} s WHERE {keys[0][0]}{extra})"
        )

    def small_semi_join(self, table):
        """Rows of a small table, perhaps joined with another one, that have partners in larger ones or have none."""
        rng = self.rng
        text, scope, conditions = f"{table.name} t0", scope_of(table, "t0"), []
        rows = table.rows
        second = rng.choice([t for t in self.tables if t.rows <= 400])
        clauses, fan = self.join_clauses(scope, second, "t1")
        if rng.random() < 0.4 and rows * fan < SMALL_ROW_LIMIT:
            text += f" {rng.choice(['JOIN', 'LEFT JOIN'])} {second.name} t1 ON {' AND '.join(clauses)}"
            scope, rows = scope + scope_of(second, "t1"), max(rows * fan, 1)
        for i in range(rng.choice([1, 1, 2])):
            others = [t for t in self.tables if t.rows > table.rows and t.rows * rows <= 4_000_000] or [table]
            other, alias = rng.choice(others), f"s{i}"
            clauses, _ = self.join_clauses(scope, other, alias)
            conditions.append(
                self.in_condition(scope, other, alias, clauses)
                if rng.random() < 0.25
                else f"{rng.choice(['EXISTS', 'NOT EXISTS'])} (SELECT 1 FROM {other.name} {alias} WHERE {' AND '.join(clauses)})"
            )
        self.source = Source(text, scope, rows, conditions)
        self.e = Expressions(rng, scope, self.risky, self.parameters)
        self.joins = True
        self.query.rows = rows
        sql = rng.choice([self.aggregation, self.grouping, self.projection, self.distinct])()
        self.query.kind = "semi"
        return sql

    def in_subquery(self):
        rng = self.rng
        other = rng.choice([t for t in self.tables if t.rows <= 3000] or self.tables)
        where = self.where()
        link = " AND " if where else " WHERE "
        self.query.kind = "in"
        conditions = [self.membership(other, f"s{i}") for i in range(rng.choice([1, 1, 1, 2]))]
        items = [self.item()] if rng.random() < 0.6 else ["count(*)", self.aggregate(1)]
        return f"SELECT {', '.join(items)} FROM {self.source.text}{where}{link}{' AND '.join(conditions)}"

    def membership(self, other, alias):
        """A value in the rows of a sub-query, or not: mostly of rows without NULL, which leaves no row to NOT IN."""
        rng = self.rng
        inside = Expressions(rng, scope_of(other, alias))
        pairs = [
            (f"{a}.{c.name}", f"{alias}.{d.name}")
            for a, c in self.source.scope
            for d in other.columns
            if c.domain == d.domain == "key" and key_class(c) == key_class(d)
        ]
        if pairs and rng.random() < 0.6:
            left, right = rng.choice(pairs)
        else:
            base = rng.choice(["int2", "int4", "int8", "numeric", "text", "date"])
            left, right = self.e.value(base, 1), inside.value(base, 1)
        filters = [f"{inside.boolean(1)}"] if rng.random() < 0.5 else []
        if rng.random() < 0.7:
            filters.append(f"{right} IS NOT NULL")
        text = f"SELECT {right} FROM {other.name} {alias}" + (f" WHERE {' AND '.join(filters)}" if filters else "")
        if rng.random() < 0.1:
            text += f" ORDER BY 1 LIMIT {rng.choice([0, 1, 50])}"
        word = rng.choice(["NOT IN", "NOT IN", "NOT IN", "IN", "<> ALL"])
        return f"{left} {word} ({text})"

    def outer_join(self):
        other = self.rng.choice([t for t in self.tables if t.rows <= 150] or self.tables)
        keys = join_keys(self.rng, self.source.scope, other, "o")
        if not keys or self.source.rows * other.rows > 500000:
            return self.aggregation()
        scope = self.source.scope + scope_of(other, "o")
        kind = self.rng.choice(["LEFT", "LEFT", "RIGHT", "FULL"])
        self.source = Source(
            f"{self.source.text} {kind} JOIN {other.name} o ON {keys[0][0]}",
            scope,
            self.source.rows * 2,
            self.source.joined,
        )
        self.e = Expressions(self.rng, scope, self.risky, self.parameters)
        sql = self.aggregation() if self.rng.random() < 0.5 else self.projection()
        self.query.kind = "outer"
        return sql

    def join_chain(self):
        """Outer, semi and anti joins beside inner ones: several rows for a key, nulls, conditions that decide what
        matches, no keys."""
        rng = self.rng
        first = rng.choice([t for t in self.tables if t.rows <= 4000] or self.tables)
        small = [t for t in self.tables if t.rows <= 2500]
        text, scope, rows, conditions = f"{first.name} t0", scope_of(first, "t0"), max(first.rows, 1), []
        limit = ROW_LIMIT if any(t.rows > 400 for t in self.tables) else SMALL_ROW_LIMIT
        for i in range(1, rng.choice([2, 2, 3, 3, 4, 5])):
            if not small:
                break
            table, alias = rng.choice(small), f"t{i}"
            kind = rng.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "EXISTS", "NOT EXISTS", "IN"])
            clauses, fan = self.join_clauses(scope, table, alias)
            if rows * fan > limit:
                continue
            if kind == "IN":
                conditions.append(self.in_condition(scope, table, alias, clauses))
            elif kind.endswith("JOIN"):
                text += f" {kind} {table.name} {alias} ON {' AND '.join(clauses)}"
                scope = scope + scope_of(table, alias)
                rows = rows * max(fan, 1) + (table.rows if kind in ("RIGHT JOIN", "FULL JOIN") else 0)
            else:
                conditions.append(f"{kind} (SELECT 1 FROM {table.name} {alias} WHERE {' AND '.join(clauses)})")
        self.source = Source(text, scope, rows, conditions)
        self.e = Expressions(rng, scope, self.risky, self.parameters)
        self.joins = True
        sql = rng.choice([self.aggregation, self.grouping, self.projection])()
        self.query.rows = rows
        self.query.kind = "joins"
        return sql

    def join_clauses(self, scope, table, alias):
        """Conditions that join `table`, and about how many of its rows there are for a row in sight."""
        rng = self.rng
        keys = join_keys(rng, scope, table, alias)
        if not keys or rng.random() < 0.1:
            pairs = [
                (f"{a}.{c.name}", f"{alias}.{d.name}")
                for a, c in scope
                for d in table.columns
                if key_class(c) == key_class(d) == "int"
            ]
            compared = [f"{a} {rng.choice(['<', '>=', '<>'])} {b}" for a, b in rng.sample(pairs, min(len(pairs), 2))]
            return compared or ["true"], max(table.rows, 1)
        clauses = [k[0] for k in keys]
        both = Expressions(rng, scope + scope_of(table, alias))
        if rng.random() < 0.3:
            clauses.append(both.comparison(rng.choice([0, 0, 1])))
        if rng.random() < 0.3:
            clauses.append(Expressions(rng, scope_of(table, alias)).boolean(1))
        if rng.random() < 0.15:
            clauses.append(both.null_test(0))
        return clauses, max(table.rows / max(keys[0][1], 1), 0.5)

    def in_condition(self, scope, table, alias, clauses):
        pairs = [
            (f"{a}.{c.name}", f"{alias}.{d.name}")
            for a, c in scope
            for d in table.columns
            if c.domain == d.domain == "key" and key_class(c) == key_class(d)
        ]
        if not pairs:
            return f"EXISTS (SELECT 1 FROM {table.name} {alias} WHERE {' AND '.join(clauses)})"
        chosen = self.rng.sample(pairs, min(len(pairs), self.rng.choice([1, 1, 2])))
        inside = Expressions(self.rng, scope_of(table, alias)).boolean(1)
        left, right = (", ".join(p[i] for p in chosen) for i in (0, 1))
        return f"({left}) IN (SELECT {right} FROM {table.name} {alias} WHERE {inside})"

    def sub_select(self):
        inner = self.grouping() if self.rng.random() < 0.6 else self.projection()
        self.query.kind = "subselect"
        if self.rng.random() < 0.5:
            self.query.approximate = set()
            self.query.spread = set()
            return f"SELECT count(*) FROM ({inner}) q"
        return f"SELECT * FROM ({inner}) q"

    def set_operation(self):
        base = self.e.some_base()
        other = Writer(self.rng, self.tables, self.parameters)
        self.query.kind = "set"
        self.query.representative_open = True
        word = self.rng.choice(["UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT"])
        return (
            f"SELECT {self.e.value(base, 1)} FROM {self.source.text}{self.where()} {word} "
            f"SELECT {other.e.value(base, 1)} FROM {other.source.text}{other.where()}"
        )

    def lateral(self):
        """An inner query that is run again for each row outside."""
        other = self.rng.choice([t for t in self.tables if t.rows <= 3000] or self.tables)
        outer = self.rng.choice([t for t in self.tables if t.rows <= 60] or [min(self.tables, key=lambda t: t.rows)])
        if outer.rows > 200:
            return self.aggregation()
        scope = scope_of(outer, "x")
        keys = join_keys(self.rng, scope, other, "s")
        if not keys:
            return self.aggregation()
        self.source = Source(f"{other.name} s", scope_of(other, "s"), other.rows, [keys[0][0]])
        self.e = Expressions(self.rng, self.source.scope, self.risky, self.parameters)
        self.query.rows = other.rows
        inner = self.aggregation()
        self.query.approximate = {i + 1 for i in self.query.approximate}
        self.query.spread = {i + 1 for i in self.query.spread}
        self.query.kind = "lateral"
        shown = self.rng.choice(outer.columns)
        return f"SELECT x.{shown.name}, q.* FROM {outer.name} x, LATERAL ({inner}) q"

    def scalar_subquery(self):
        other = self.rng.choice([t for t in self.tables if t.rows <= 3000] or self.tables)
        inside = Expressions(self.rng, scope_of(other, "s"))
        base = self.rng.choice(["int4", "int8", "date"])
        where = self.where()
        link = " AND " if where else " WHERE "
        self.query.kind = "scalar"
        return (
            f"SELECT count(*), {self.aggregate(1)} FROM {self.source.text}{where}{link}"
            f"{self.e.value(base, 0)} {self.rng.choice(['<=', '>', '=', '<>'])} "
            f"(SELECT {self.rng.choice(['min', 'max'])}({inside.value(base, 1)}) FROM {other.name} s)"
        )

    def write(self):
        kinds = (
            [self.projection] * 5
            + [self.top] * 3
            + [self.sorted, self.window_top] * 2
            + [self.grouping_sets] * 2
            + [self.distinct_aggregates] * 2
            + [self.aggregation] * 5
            + [self.grouping] * 8
            + [self.join_chain] * 5
            + [self.distinct, self.sub_select]
            + [self.semi_join] * 3
            + [
                self.in_subquery,
                self.outer_join,
                self.set_operation,
                self.lateral,
                self.scalar_subquery,
            ]
        )
        self.query.sql = self.rng.choice(kinds)()
        self.query.raising_order_open = self.joins or self.query.kind not in ("scan", "group", "aggregate")
        return self.query


def random_query(rng, tables):
    mode = rng.choice(["plain"] * 6 + ["prepared", "cursor"])
    parameters = [] if mode == "prepared" else None
    query = Writer(rng, tables, parameters).write()
    if mode == "prepared" and parameters:
        sets = [parameters]
        for _ in range(rng.choice([0, 1, 2])):
            sets.append(
                [
                    (
                        base,
                        text if rng.random() < 0.5 else "NULL" if rng.random() < 0.2 else other_value(rng, base, text),
                    )
                    for base, text in parameters
                ]
            )
        query.parameters = sets
    if mode == "cursor":
        query.fetches = [rng.choice([0, 1, 2, 7, 100, 1024, 5000]) for _ in range(rng.randint(1, 6))] + ["ALL"]
    query.settings, query.engine_settings = random_settings(rng, query)
    return query


def other_value(rng, base, text):
    return Expressions(rng, [("", _NoColumn(base))]).free_literal(base) if rng.random() < 0.9 else text


class _NoColumn:
    def __init__(self, base):
        self.base, self.domain, self.pool, self.modifier, self.name = base, "tame", [], (), "?"
