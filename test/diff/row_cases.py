"""One case or more for every row of functions.def, aggregates.def and types.def, over the extremes of its types.

The table `pairs` has two columns for each type, x_TYPE and y_TYPE, whose rows are all pairs of the type's values, a
third one z_TYPE with values as they come, and the row number `id`. PostgreSQL itself tells which rows raise an error: the others are compared all at once, and some of
the raising ones one by one. A row whose function or aggregate did not run in the engine fails.
"""

import itertools
import random

import pyarrow as pa

import registry_rows
from columns import (
    DAY_MAX,
    DAY_MIN,
    HEAP_TYPES,
    MAKE_MOOD,
    SQL_NAMES,
    STAMP_MAX,
    STAMP_MIN,
    WORDS,
    Column,
    arrow_type,
    fit_width,
    float_pool,
    int_pool,
    pool_array,
    quote,
)
from query import VARIANCES, Query
from regexes import random_regex

VALUES = 25  # of each type; a null besides
FEW_VALUES = 10  # where a row takes long
RAISING_IDS = 2  # rows of a function that are tried alone
# Arguments whose extremes would make texts of hundreds of megabytes.
SMALL_ARGUMENTS = {"repeat": 1, "lpad": 1, "rpad": 1}
# A type of the engine, with the layouts of its two columns.
TYPES = {
    "bool": ("plain", "plain"),
    "int2": ("int16", "int16"),
    "int4": ("int32", "int32"),
    "int8": ("int64", "int64"),
    "float4": ("plain", "plain"),
    "float8": ("plain", "plain"),
    "numeric": ("plain", "plain"),
    "date": ("date32", "date64"),
    "timestamp": ("us", "us"),
    "timestamptz": ("us", "us"),
    "text": ("utf8", "large_utf8"),
    "varchar": ("utf8_view", "utf8"),
    "bpchar": ("fixed", "fixed"),
}
DATE_FORMATS = ["YYYY-MM-DD", "YYYYMMDD", "YYYY", "DD/MM/YYYY HH24:MI:SS", "HH24MISS", "Mon YYYY", "DD-Mon-YYYY", "MM, DD.SS"]
DATE_FORMATS += ["yyyy-mm-dd hh24:mi:ss", "Day, DD Month YYYY", "DY MON YY", "dy mon q", "HH12:MI AM", "HH:MI:SS.MS pm", "IYYY-IW-ID", "DDD D WW W Q"]
DATE_FORMATS += ["YYYY\"T\"US", "MONTH day", "YYYY\"-Q\"Q"]
# Literals that stay with PostgreSQL.
UNHELD_DECIMALS = ["NaN", "Infinity", "-Infinity", "1e40", "1e-63", "1e-70", "99999999999999999999.99999999999999999999"]
PARSED_FORMATS = {
    "to_date": ["YYYY-MM-DD", "YYYYMMDD", "DD/MM/YYYY", "MM/DD/YYYY", "yyyy.mm.dd", "YYYY", "YYYYMM", "DD.MM.YYYY"],
    "to_timestamp": ["YYYY-MM-DD", "YYYY-MM-DD HH24:MI:SS", "YYYYMMDDHH24MISS", "YYYY-MM-DD HH24:MI", "DD.MM.YYYY HH24:MI:SS"],
}
# Texts for the functions that read them, in columns x_spelling and so on.
SPELLINGS = [
    "0", "-0", "-12", " 42 ", "+7", "32768", "-32768", "2147483647", "2147483648", "-9223372036854775808", "9223372036854775808",
    "1.50", "-0.001", "5.", ".5", "1e3", "123456789012345", "0.1234567890123456", "NaN", "", " ", "x", "1 2", "0x10", "1_000",
    "2024-02-29", "2023-02-29", "0001-01-01", "0000-01-01", "9999-12-31", "2024-2-9", " 2024-02-09", "20240229", "20241301",
    "2024-02-29 23:59:59", "2024-02-29 23:59:59.123456", "2024-02-29 23:59:59.1234567", "2024-02-29 24:00:00",
    "2024-02-29T01:02:03", "2024-02-29 01:02", "12:34:56", "12:34:56.7", "24:00:00", "23:59:60", "2024-02-29 BC", "infinity", "29/02/2024", "02/29/2024", "2024.02.29", "29.02.2024", "31.02.2024", "2024", "202402",
    "20240229235959", "2024-02-29 23:59", "29.02.2024 23:59:59", "2024-02-29 24:00", "29 02 2024", " 29/02/2024", "2024.2.9", "0000",
]
# Texts of VCF files for the functions that take them apart, and keys; in columns x_attributes and so on.
ATTRIBUTES = [
    "DP", "AF", "DB", "", "a", "GT", "DP=5;AF=0.5;DB", "AF=0.1,0.2", "AF=", "DB;AF=a=b", ".", ";;AF=1;", "=", "=x;a=", "DP=5;DP=6",
    "GT=0/1:DP=5", "DP=:GT=./.", "GT:AD:DP", "0/1:1,2:7", "0/1", ":", "::x", "GT:DP:GT", "\u00e4=\u65e5;AF=\u00e4", "AFF=1;AF", "DP;=;AF=;",
]
# Types of elements that the engine reads in arrays.
ELEMENTS = ["bool", "int2", "int4", "int8", "float4", "float8", "decimal", "date", "timestamp", "timestamptz", "text", "bpchar"]
ELEMENTS += ["time", "uuid", "oid", "enum"]
# Types that no operator class hashes, hence no aggregation of the engine by them.
UNHASHED = ("money",)
FLOATS = ("float2", "float4", "float8")
NEAR_TIMES = [0, -1, 1, 59, 60, 365, 10957, 10956, 11016, 11322, 19000, -719162, -719163, -719529]


def values(rng, base, modifier):
    """VALUES values, extremes first."""
    if base == "bool":
        return [True, False] * (VALUES // 2) + [True]
    if base in ("int2", "int4", "int8"):
        high = 2 ** {"int2": 15, "int4": 31, "int8": 63}[base] - 1
        special = [
            0,
            1,
            -1,
            2,
            10,
            -10,
            high,
            -high - 1,
            high - 1,
            -high,
            high // 2 + 1,
            -(high // 2),
            46341,
            -46341,
            32768,
            -32769,
        ]
        special = [v for v in special if -high - 1 <= v <= high]
        return (special + int_pool(rng, (-high - 1, high), "wild", VALUES))[:VALUES]
    if base in ("float4", "float8"):
        pool = float_pool(rng, base, "wild", 0, False)
        return (pool[-25:] + float_pool(rng, base, "tame", VALUES, True))[:VALUES]
    if base == "numeric":
        limit = 10 ** modifier[0] - 1
        special = [0, 1, -1, 5, 10, 99, limit, -limit, limit - 1, limit // 10, -(limit // 7)]
        return (special + int_pool(rng, (-limit, limit), "wild", VALUES))[:VALUES]
    if base == "date":
        return ([DAY_MIN, DAY_MAX, DAY_MAX - 1] + NEAR_TIMES + [rng.randint(-9000, 20000) for _ in range(VALUES)])[
            :VALUES
        ]
    if base in ("timestamp", "timestamptz"):
        day = 86400000000
        special = [STAMP_MIN, STAMP_MAX, STAMP_MIN + 1, -1, 1, day - 1, -day - 1] + [d * day for d in NEAR_TIMES[5:]]
        return (special + [rng.randint(-9000 * day, 20000 * day) for _ in range(VALUES)])[:VALUES]
    if base == "bpchar":
        return [fit_width(w, modifier[0]) for w in rng.sample(WORDS, VALUES)]
    return rng.sample(WORDS, VALUES)


class RowCases:
    """Makes the table and gives the cases; `session` is a session without the engine."""

    def __init__(self, rng, session, folder, batch_rows, small):
        self.rng, self.session, self.folder, self.batch_rows = rng, session, folder, batch_rows
        self.modifiers = {"numeric": [(38, 4), (12, 2)], "bpchar": [(10,), (10,)]}
        self.pools = {}
        self.values = FEW_VALUES if small else VALUES
        self.small = small

    def make_table(self):
        side = self.values + 1
        arrays, fields, declared = [pa.array(range(side * side), pa.int32())], [("id", pa.int32())], ["id int4"]
        groups = pa.array([i % 7 for i in range(side * side)], pa.int32())
        for base, layouts in TYPES.items():
            for n, (letter, layout) in enumerate(zip("xyz", layouts + layouts[:1])):
                modifier = (self.modifiers.get(base, [(), ()]) * 2)[n]
                column = Column(f"{letter}_{base}", base, "wild", 0, modifier)
                column.pool = self.pools[column.name] = values(self.rng, base, modifier)[: self.values]
                places = [
                    {"x": i // side, "y": i % side, "z": self.rng.randrange(side)}[letter] for i in range(side * side)
                ]
                picks = pa.array([p if p < self.values else None for p in places], pa.int64())
                array = pool_array(column, layout).take(picks).cast(arrow_type(column, layout))
                arrays.append(array)
                fields.append((column.name, array.type))
                declared.append(f"{column.name} {column.declared if base != 'bpchar' else 'char(10)'}")
        arrays.append(groups)
        fields.append(("g", pa.int32()))
        declared.append("g int4")
        schema = pa.schema(fields)
        path = self.folder / "pairs.arrow"
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for batch in pa.Table.from_arrays(arrays, schema=schema).to_batches(max_chunksize=self.batch_rows):
                writer.write_batch(batch)
        path.chmod(0o644)
        self.session.must(
            f"CREATE FOREIGN TABLE pairs ({', '.join(declared)}) SERVER arrow_fdw OPTIONS (file '{path}')"
        )
        self.session.must("CREATE TABLE calm (id int4)")
        self.make_heap_pairs(side)
        self.make_patterns()

    def make_heap_pairs(self, side):
        columns = []
        self.session.must(MAKE_MOOD)
        for base, values in HEAP_TYPES.items():
            declared = SQL_NAMES.get(base, base)
            array = f"(ARRAY[{', '.join(quote(v) for v in values)}]::{declared if base != 'array' else 'text'}[])"
            for letter, place in zip("xyz", (f"id / {side}", f"id % {side}", f"(id * 7919) % {side}")):
                columns.append(f"{array}[1 + ({place}) % {len(values) + 1}]::{declared} AS {letter}_{base}")
        for name, texts in (("spelling", SPELLINGS), ("attributes", ATTRIBUTES)):
            listed = f"(ARRAY[{', '.join(quote(v) for v in texts)}])"
            for letter, place in zip("xyz", ("id", "id * 7919", "id / 7")):
                columns.append(f"{listed}[1 + ({place}) % {len(texts) + 1}] AS {letter}_{name}")
        self.session.must(f"CREATE TABLE heap_pairs AS SELECT *, {', '.join(columns)} FROM pairs")
        self.session.must("ANALYZE heap_pairs")

    def make_patterns(self):
        """The table `patterns`: all pairs of a short text and a short LIKE pattern."""
        words = ["".join(w) for n in range(4) for w in itertools.product("aä", repeat=n)]
        patterns = ["".join(w) for n in range(5) for w in itertools.product("aä%_\\", repeat=n)]
        patterns = patterns[:156] + self.rng.sample(patterns[156:], 200)
        pairs = list(itertools.product(words, patterns))
        if self.small:
            pairs = self.rng.sample(pairs, 300)
        columns = [
            pa.array(range(len(pairs)), pa.int32()),
            pa.array([w for w, _ in pairs]),
            pa.array([p for _, p in pairs]),
        ]
        path = self.folder / "patterns.arrow"
        table = pa.Table.from_arrays(columns, ["id", "word", "pattern"])
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        path.chmod(0o644)
        self.session.must(
            f"CREATE FOREIGN TABLE patterns (id int4, word text, pattern text) SERVER arrow_fdw OPTIONS (file '{path}')"
        )
        self.session.must(
            "CREATE FUNCTION raises(a text, b text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN "
            "PERFORM a LIKE b; RETURN false; EXCEPTION WHEN data_exception OR program_limit_exceeded THEN RETURN true; END $$"
        )

    def pattern_cases(self):
        calm = "SELECT id AS number FROM patterns WHERE NOT raises(word, pattern)"
        self.session.must(f"CREATE TABLE calm_patterns AS {calm}")
        source = "patterns JOIN calm_patterns ON id = number"
        yield self.case(f"SELECT id, word LIKE pattern, word NOT LIKE pattern FROM {source}")
        for row in self.session.must(
            "SELECT id FROM patterns WHERE raises(word, pattern) ORDER BY id % 97, id LIMIT 5"
        ).rows:
            yield self.case(f"SELECT word LIKE pattern FROM patterns WHERE id = {int(row[0])}")
        patterns = self.session.must(
            "SELECT DISTINCT pattern FROM patterns WHERE right(pattern, 1) <> '\\' OR "
            "right(pattern, 2) = '\\\\' AND length(pattern) % 2 = 0"
        ).rows
        for (pattern,) in self.rng.sample(patterns, 40):
            yield self.case(
                f"SELECT word, count(*) FROM patterns WHERE word LIKE {quote(pattern.decode())} GROUP BY word"
            )

    def call(self, row, arguments):
        field = [f"'{row.field}'"] if row.field else []
        schema = "pgstrom" if self.takes_attributes(row) else "pg_catalog"
        return f'{schema}."{row.pg_name}"({", ".join(field + arguments)})'

    @staticmethod
    def takes_attributes(row):
        """Rows of this extension's own functions."""
        return row.pg_name.startswith("vcf_")

    @staticmethod
    def reads_text(row):
        return row.name.startswith("kTextTo") and row.result != "text"

    @staticmethod
    def table_of(row):
        is_heap = RowCases.reads_text(row) or RowCases.takes_attributes(row)
        return "heap_pairs" if is_heap or any(base in HEAP_TYPES for base in row.arguments + [row.result]) else "pairs"

    def split_rows(self, row, arguments):
        """Fills `calm` with the rows for which the function does not raise; ids of some others."""
        declared = ", ".join(f"{letter} {SQL_NAMES.get(base, base)}" for letter, base in zip("abc", row.arguments))
        self.session.must("TRUNCATE calm")
        self.session.must(
            f"CREATE OR REPLACE FUNCTION pg_temp.raises({declared}) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN "
            f"PERFORM {self.call(row, list('abc')[: len(row.arguments)])}; RETURN false; "
            f"EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported THEN RETURN true; END $$"
        )
        table = self.table_of(row)
        raising = self.session.must(f"SELECT id FROM {table} p WHERE pg_temp.raises({', '.join(arguments)})").rows
        self.session.must(f"INSERT INTO calm SELECT id FROM {table} p WHERE NOT pg_temp.raises({', '.join(arguments)})")
        self.session.must(f"DROP FUNCTION pg_temp.raises({', '.join(SQL_NAMES.get(base, base) for base in row.arguments)})")
        ids = [int(r[0]) for r in raising]
        return self.rng.sample(ids, min(RAISING_IDS, len(ids)))

    def function_cases(self, row):
        unknown = [a for a in row.arguments if a not in TYPES and a not in HEAP_TYPES]
        if unknown:
            raise LookupError(f"{row.name} takes {unknown[0]}, for which row_cases.py has no values")
        columns = [f"p.{letter}_{base}" for letter, base in zip("xyz", row.arguments)]
        if self.reads_text(row):
            columns[0] = "p.x_spelling"
        if self.takes_attributes(row):
            columns = [f"p.{letter}_attributes" for letter in "xyz"[: len(columns)]]
        if row.pg_name == "to_char":  # of constant formats
            columns[1] = quote(self.rng.choice(DATE_FORMATS))
        if row.pg_name in PARSED_FORMATS and len(columns) == 2:
            columns[1] = quote(self.rng.choice(PARSED_FORMATS[row.pg_name]))
        if (small := SMALL_ARGUMENTS.get(row.pg_name)) is not None:
            columns[small] = f"({columns[small]} % 40)"
        raising = "kRaises" in row.traits
        ids = self.split_rows(row, columns) if raising else []
        table = self.table_of(row)
        source = f"{table} p JOIN calm c ON p.id = c.id" if raising else f"{table} p"
        call = self.call(row, columns)
        pairs = self.case(f"SELECT p.id, {call} FROM {source}")
        pairs.computes = True
        yield pairs
        condition = call if row.result == "bool" else f"{call} IS NOT NULL"
        yield self.case(f"SELECT count(*), sum(p.id) FROM {source} WHERE {condition}")
        if row.result in ("int2", "int4", "int8", "numeric", "decimal", "date", "timestamp"):
            yield self.case(f"SELECT p.g, min({call}), max({call}) FROM {source} GROUP BY p.g")
        if row.result == "text":
            yield self.case(f"SELECT {call}, count(*), min(p.id) FROM {source} GROUP BY 1")
        for number in ids:
            yield self.case(f"SELECT {call} FROM {table} p WHERE p.id = {number}")
        if len(columns) >= 2:
            yield from self.constant_cases(row, columns)

    def constant_cases(self, row, columns):
        """With a literal on the right, which has a path of its own in the engine."""
        for _ in range(2):
            arguments = columns[:-1] + [self.literal(row.arguments[-1])]
            if self.takes_attributes(row):
                arguments[-1] = quote(self.rng.choice(ATTRIBUTES))
            if row.pg_name == "to_char":
                arguments[1] = quote(self.rng.choice(DATE_FORMATS))
            if row.pg_name in PARSED_FORMATS:
                arguments[1] = quote(self.rng.choice(PARSED_FORMATS[row.pg_name]))
            if len(arguments) == 2 and row.pg_name in SMALL_ARGUMENTS:
                arguments[1] = str(self.rng.randrange(-2, 40))
            raising = "kRaises" in row.traits
            if raising:
                self.split_rows(row, arguments)
            table = self.table_of(row)
            source = f"{table} p JOIN calm c ON p.id = c.id" if raising else f"{table} p"
            call = self.call(row, arguments)
            if row.result != "bool":
                yield self.case(f"SELECT p.id, {call} FROM {source}")
            else:
                yield self.case(f"SELECT count(*), sum(p.id) FROM {source} WHERE {call}")

    def literal(self, base):
        if base in HEAP_TYPES:
            held = [v for v in HEAP_TYPES[base] if base != "decimal" or v not in UNHELD_DECIMALS]
            return f"{quote(self.rng.choice(held))}::{SQL_NAMES.get(base, base)}"
        found = Column("", base, "wild", 0, self.modifiers.get(base, [(), ()])[1])
        found.pool = [v for v in self.pools[f"y_{base}"]]
        return found.literal(self.rng)

    def pair_cases(self, row):
        """Of two floats; of whole ones, whose sums do not depend on the order of the rows."""
        call = f"{row.pg_name}((y_int4 % 1000)::float8, (x_int8 % 777)::float8)"
        yield self.case(f"SELECT {call} FROM pairs", {0}, True)
        yield self.case(f"SELECT g, {call}, {call} FILTER (WHERE id % 3 = 0) FROM pairs GROUP BY g", {1, 2}, True)
        yield self.case(f"SELECT x_int4, y_text, {call} FROM pairs GROUP BY x_int4, y_text", {2}, True)
        odd = "x_float8 IN ('NaN', 'Infinity') OR x_float8 IS NULL OR abs(x_float8) BETWEEN 1 AND 1000"
        yield self.case(f"SELECT {row.pg_name}(g, x_float8) FROM pairs WHERE {odd}", {0}, True)

    def aggregate_cases(self, row):
        if row.pair:
            yield from self.pair_cases(row)
            yield from self.fallback_cases(row, "(y_int4 % 1000)::float8, (x_int8 % 777)::float8", "", True, True)
            return
        if row.argument is None:
            arguments = ["*"]
        elif row.argument == "any":
            arguments = [f"x_{base}" for base in TYPES]
        elif row.argument not in TYPES and row.argument not in HEAP_TYPES:
            raise LookupError(f"{row.name} takes {row.argument}, for which row_cases.py has no values")
        else:
            arguments = [f"x_{row.argument}", f"y_{row.argument}"]
        where = ""
        table = "heap_pairs" if row.argument in HEAP_TYPES else "pairs"
        spread = row.argument in FLOATS and row.pg_name in VARIANCES
        approximate = spread or row.argument in FLOATS and row.pg_name in ("sum", "avg")
        if approximate:  # what overflows or cancels depends on the order of the rows
            tame = f"abs({arguments[0]}) < 100000 AND {arguments[0]} >= 0"
            where = f" WHERE {tame} OR {arguments[0]} = 'NaN' AND g = 3 OR {arguments[0]} = 'Infinity' AND g = 2"
            arguments = arguments[:1]
        for argument in arguments:
            call = f"{row.pg_name}({argument})"
            yield self.case(f"SELECT {call} FROM {table}{where}", approximate and {0}, spread)
            yield self.case(
                f"SELECT {call} FILTER (WHERE id < 0), {call} FILTER (WHERE id % 3 = 0) FROM {table}{where}",
                approximate and {0, 1},
                spread,
            )
            yield self.case(f"SELECT g, {call} FROM {table}{where} GROUP BY g", approximate and {1}, spread)
            yield self.case(
                f"SELECT x_int4, y_text, {call} FROM {table}{where} GROUP BY x_int4, y_text", approximate and {2}, spread
            )
        for argument in arguments[:1] if row.argument != "any" else [f"x_{base}" for base in [*TYPES, *HEAP_TYPES]]:
            yield from self.fallback_cases(row, argument, where.removeprefix(" WHERE "), approximate, spread)

    def fallback_cases(self, row, argument, where, approximate, spread):
        """The aggregate over rows of which PostgreSQL evaluates some, in all places that hand their values on: numerics
        without limits that the engine does not hold, and in files products that it does not."""
        odd = {"heap_pairs": "z_decimal + 1 > -3", "pairs": "z_numeric * z_numeric * z_numeric IS DISTINCT FROM 0.5"}
        tables = ["heap_pairs"] if argument.removeprefix("x_") in HEAP_TYPES else ["pairs", "heap_pairs"]
        call = f"{row.pg_name}({argument})"
        for table in tables:
            source = f"{table} WHERE {odd[table]}" + (f" AND ({where})" if where else "")
            forms = [
                f"SELECT {call} FROM {source}",
                f"SELECT {call} FILTER (WHERE id % 3 < 2), g FROM {source} GROUP BY g",
                f"SELECT {call}, g, x_bool, GROUPING(g, x_bool) FROM {source} GROUP BY GROUPING SETS ((g), (x_bool), ())",
            ]
            if argument != "*" and not row.pair:
                forms.append(f"SELECT {row.pg_name}(DISTINCT {argument}), g, count(DISTINCT x_int4) FROM {source} GROUP BY g")
            for sql in forms:
                query = self.case(sql, approximate and {0}, spread)
                # The sum of reals in grouping sets is PostgreSQL's.
                query.must_offload = query.falls_back = not (
                    "SETS" in sql and row.pg_name == "sum" and row.argument in ("float2", "float4")
                )
                yield query

    def type_cases(self, base):
        if base not in TYPES and base not in HEAP_TYPES:
            raise LookupError(f"row_cases.py has no values of the type {base}")
        pairs = "heap_pairs" if base in HEAP_TYPES else "pairs"
        yield self.case(f"SELECT id, x_{base}, y_{base} FROM {pairs} WHERE id >= 0")
        if base not in UNHASHED:
            yield self.case(f"SELECT x_{base}, count(*), count(y_{base}) FROM {pairs} GROUP BY x_{base}")
        for order in (f"x_{base}, id", f"y_{base} DESC NULLS LAST, id"):
            yield self.case(f"SELECT id, x_{base}, y_{base} FROM {pairs} ORDER BY {order} LIMIT 40")
        if base not in ("bool", "interval", "decimal", "jsonb", "array") + UNHASHED:  # which are no keys of a join
            yield self.case(
                f"SELECT a.id, b.id FROM {pairs} a JOIN {pairs} b ON a.x_{base} = b.y_{base} "
                "WHERE a.id % 29 = 0 AND b.id % 31 = 0"
            )

    def make_lists(self):
        """The table `lists` with an array a_TYPE and a value v_TYPE of each type of elements, and the table `sayings` of texts."""
        columns = []
        for base in ELEMENTS:
            values = ", ".join(f"{letter}_{base}" for letter in "xyz")
            columns.append(
                f"CASE WHEN id % 13 = 0 THEN NULL WHEN id % 7 = 0 THEN '{{}}' WHEN id % 5 = 0 THEN ARRAY[x_{base}] "
                f"ELSE (ARRAY[{values}, NULL])[1:2 + id % 3] END AS a_{base}, z_{base} AS v_{base}"
            )
        self.session.must(f"CREATE TABLE lists AS SELECT id, {', '.join(columns)} FROM heap_pairs")
        self.session.must("ANALYZE lists")
        texts = WORDS + ["".join(self.rng.choice("aAbB1 .-_ä\n\t\x1fk") for _ in range(self.rng.randrange(1, 7))) for _ in range(300)]
        rows = ", ".join(f"({i}, {quote(text)})" for i, text in enumerate(texts))
        self.session.must(f"CREATE TABLE sayings AS SELECT * FROM (VALUES {rows}) v (id, said)")

    def array_cases(self, base):
        """Elements, comparison with all elements and with literals: of functions that SQL writes as operators."""
        array, value = f"a_{base}", f"v_{base}"
        index = "id % 6 - 1"
        yield self.case(f"SELECT id, {array}[1], {array}[2], {array}[{index}] FROM lists")
        yield self.case(f"SELECT id, cardinality({array}), array_length({array}, 1), {array} FROM lists WHERE {array}[1] IS NULL")
        operators = ["=", "<>"] if base == "enum" else ["=", "<>", "<", "<=", ">", ">="]
        for operator in operators:
            for word in ("ANY", "ALL"):
                test = f"{value} {operator} {word} ({array})"
                yield self.case(f"SELECT id, {test} FROM lists")
                yield self.case(f"SELECT count(*), sum(id) FROM lists WHERE {test}")
        found = self.literal(base)
        for test in (f"{array} @> ARRAY[{found}]", f"{array} && ARRAY[{found}, NULL, {self.literal(base)}]", f"{array} <@ ARRAY[{found}]"):
            if "<@" not in test:
                yield self.case(f"SELECT id, {test} FROM lists")
        yield self.case(f"SELECT id FROM lists WHERE {found} = ANY ({array})")

    def regex_cases(self, patterns):
        for pattern in patterns:
            tests = ", ".join(f"said {operator} {quote(pattern)}" for operator in ("~", "!~") + ("~*", "!~*") * pattern.isascii())
            yield self.case(f"SELECT id, {tests} FROM sayings")

    @staticmethod
    def case(sql, approximate=None, spread=False):
        query = Query(sql, 700)
        query.approximate = approximate or set()
        query.spread = query.approximate if spread else set()
        query.representative_open = "GROUP BY" in sql or "min(" in sql
        query.must_offload = True
        query.kind = "row"
        return query

    def all_cases(self):
        """(name of the row, cases) for every row of the tables. What is random about a row's cases depends on its name
        alone, so that they can be repeated without the others."""
        seed = self.rng.random()

        def repeatable(name, cases):
            self.rng = random.Random(f"{seed}/{name}")
            yield from cases

        for row in registry_rows.functions():
            yield row.name, repeatable(row.name, self.function_cases(row))
        for row in registry_rows.aggregates():
            yield row.name, repeatable(row.name, self.aggregate_cases(row))
        yield "LIKE", repeatable("LIKE", self.pattern_cases())
        self.make_lists()
        for base in ELEMENTS:
            yield f"elements {base}", repeatable(f"elements {base}", self.array_cases(base))
        patterns = random.Random(f"{seed}/regex")
        for number in range(4 if self.small else 12):
            yield f"regex {number}", repeatable(f"regex {number}", self.regex_cases([random_regex(patterns) for _ in range(12)]))
        for base in registry_rows.types():
            yield f"type {base}", repeatable(base, self.type_cases(base))
