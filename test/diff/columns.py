"""Random columns: SQL types, the Arrow layouts that hold them, and pools of values with their extremes.

Used by tables.py (files and DDL) and queries.py (literals). Every draw comes from the random.Random passed in.
"""

import pyarrow as pa

INT_RANGE = {"int2": (-(2**15), 2**15 - 1), "int4": (-(2**31), 2**31 - 1), "int8": (-(2**63), 2**63 - 1)}
DAY_MIN, DAY_MAX = -2440588, 2145042905  # 4713-11-24 BC and 5874897-12-31, days since 1970
STAMP_MIN, STAMP_MAX = -210866803200000000, 2**63 - 1  # microseconds since 1970 that PostgreSQL and int64 hold
COLLATIONS = ("",) * 12 + (' COLLATE "und-x-icu"', " COLLATE strom_nocase", ' COLLATE "en-x-icu"')

WORDS = [
    "",
    "a",
    "A",
    "b",
    "ab",
    "aB",
    "abc",
    "a ",
    "a  ",
    " a",
    "%",
    "_",
    "\\",
    "a%b",
    "a_b",
    "a\\b",
    "\\%",
    "ß",
    "ä",
    "äö",
    "日本",
    "日本語",
    "a日",
    "🎉",
    "🎉x",
    "a🎉b",
    "e\u0301",
    "é",
    "\u00a0",
    "zz",
    "ab ab",
    "aab",
    "aaab",
    "\n",
    "a\nb",
    "'",
    "''",
    "\x01",
    "\x7f",
    "\u0080",
    "\uffff",
    "\U0010ffff",
    "i",
    "I",
    "ı",
    "x" * 12,
    "x" * 13,
    "x" * 40,
]

# Types that Arrow files do not have, with values: columns of heap tables.
HEAP_TYPES = {
    "time": ["00:00", "24:00", "12:34:56.789012", "23:59:59.999999", "00:00:00.000001", "06:30"],
    "interval": [
        "0", "1 mon", "30 days", "-1 mon", "29 days 24:00", "1 year 2 mons -3 days 04:05:06.789", "-00:00:00.000001",
        "1200000 mons", "-100000 days", "1 day", "23:59:59.999999", "13 mons", "2147483647 mons", "-2147483648 days",
    ],
    "uuid": [
        "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "00000000-0000-0000-0000-000000000001", "01000000-0000-0000-0000-000000000000",
        "7fffffff-ffff-ffff-8000-000000000000", "80000000-0000-0000-7fff-ffffffffffff",
    ],
    "decimal": [
        "0", "0.00", "1", "1.0", "1.000", "-1.00", "12.345", "-0.001", "100.0", "0.1", "2.5", "-2.5", "0.5000", "1e20", "1e-20",
        "9223372036854775807.5", "-9223372036854775808.4", "2.6584559915698317458e36", "1e-38", "1e-63", "1e-70", "1e40",
        "NaN", "Infinity", "-Infinity", "32767.5", "26584559915698317.45", "99999999999999999999.99999999999999999999",
    ],
    "jsonb": [
        "null", "true", "false", "0", "1.0", "1.00", "-12.5", "32768", "1e40", "1e-50", "9223372036854775807.5", '""', '"a"', '"ab"',
        "[]", "{}", '[1, "a", null, [2], {"a": 1}]', '["a", "b", "ab"]', '{"a": 1, "b": "x", "ab": null, "": true}',
        '{"a": {"b": [1, 2]}, "b": false}', '{"a": "日本", "b": 12.50, "ä": "z"}', '{"a": 1.0}', "[1.00, true]",
        str(list(range(70))),
        "{" + ", ".join(f'"k{i}": {i}' for i in range(80)) + ', "a": "last"}',
    ],
    "array": [
        "{}", "{1,2,3}", "{NULL}", "{1,NULL,3}", "[0:2]={1,2,3}", "[-1:0]={7,NULL}", "{{1,2},{3,4}}", "[2:3][-1:0]={{1,2},{3,NULL}}",
        "{2147483647,-2147483648}", "{0}", "{-1,-2,-3,-4,-5,-6,-7,-8,-9,NULL}",
    ],
    "bytea": ["\\x", "\\x00", "\\x0000", "\\xff", "\\x00ff", "\\x6162", "\\x616263"],
    "int1": ["0", "1", "-1", "127", "-128", "64", "-7", "2"],
    "float2": ["0", "-0", "1", "-1.5", "65504", "-65504", "0.1", "6e-8", "6.1e-5", "NaN", "Infinity", "-Infinity", "2.5", "3"],
    "timetz": [
        "00:00+00", "24:00+00", "12:34:56.789012+05:30", "12:34:56.789012-08", "23:59:59.999999+15:59", "00:00-15:59",
        "07:04:56.789012+00", "06:30+00:00:01",
    ],
    "oid": ["0", "1", "4294967295", "2147483647", "2147483648", "16384"],
    "char": ["a", "A", " ", "", "\\177", "~", "0"],
    "money": ["0", "0.01", "-0.01", "1", "92233720368547758.07", "-92233720368547758.08", "46116860184273879.04", "12.34", "-3"],
    "pglsn": ["0/0", "0/1", "FFFFFFFF/FFFFFFFF", "7FFFFFFF/FFFFFFFF", "80000000/0", "16/B374D848", "16/B374D849"],
    "xid8": ["0", "1", "18446744073709551615", "9223372036854775807", "9223372036854775808", "4294967296", "700"],
    "enum": ["red", "green", "blue", "", "a b"],
    "tid": ["(0,1)", "(0,0)", "(4294967295,65535)", "(1,1)", "(2147483648,1)", "(0,32768)", "(65536,2)", "(65535,65535)"],
    "macaddr": ["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "08:00:2b:01:02:03", "7f:ff:ff:ff:ff:ff", "80:00:00:00:00:00"],
    "macaddr8": [
        "00:00:00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff:ff:ff", "08:00:2b:ff:fe:01:02:03", "7f:ff:ff:ff:ff:ff:ff:ff",
        "80:00:00:00:00:00:00:00", "08:00:2b:01:02:03:04:05",
    ],
    "inet": [
        "0.0.0.0", "255.255.255.255", "10.1.2.3/8", "10.0.0.0/8", "10.1.2.3", "10.1.2.0/24", "192.168.1.5/30", "0.0.0.0/0",
        "10.1.2.3/25", "::", "::1/64", "2001:db8::ff00:42:8329", "2001:db8::/32", "::ffff:10.1.2.3/100", "128.0.0.0/1",
    ],
    "cidr": ["10.0.0.0/8", "10.1.2.0/24", "10.1.2.3/32", "0.0.0.0/0", "2001:db8::/32", "::/0", "128.0.0.0/1"],
}
# How a type is written in SQL, where that is not its name here. The type mood is made with the tables.
SQL_NAMES = {"char": '"char"', "pglsn": "pg_lsn", "enum": "mood", "array": "int4[]"}
MAKE_MOOD = (
    "DO $$ BEGIN CREATE TYPE mood AS ENUM ('red', 'green', 'blue', '', 'a b'); "
    "EXCEPTION WHEN duplicate_object THEN NULL; END $$"
)


class Column:
    """One column of a table. domain: key (few values, for joins and groups), tame (moderate) or wild (extremes)."""

    def __init__(self, name, base, domain, nulls, modifier=(), collation="", declared=None):
        self.name, self.base, self.domain, self.nulls = name, base, domain, nulls
        self.modifier, self.collation = modifier, collation
        self.declared = declared or self.sql_type()
        self.pool = []
        self.negative = False
        self.brin = False  # a BRIN index has it
        self.keys = []  # that objects of jsonb have

    def sql_type(self):
        if not self.modifier:
            return self.base
        return f"{self.base}({','.join(str(m) for m in self.modifier)})"

    def literal(self, rng):
        """A value of the pool as SQL, or another one near it."""
        if not self.pool:
            return f"NULL::{SQL_NAMES.get(self.base, self.base)}"
        return sql_literal(self.base, rng.choice(self.pool), self.modifier)


def quote(text):
    text = text.replace("'", "''")
    return "E'" + text.replace("\\", "\\\\") + "'" if "\\" in text else f"'{text}'"


def sql_literal(base, value, modifier=()):
    """`value` as it is in a pool: Python number, text, or count of days or microseconds since 1970."""
    if value is None:
        return f"NULL::{SQL_NAMES.get(base, base)}"
    if base == "bool":
        return "true" if value else "false"
    if base in ("float4", "float8"):
        return f"'{value!r}'::{base}"
    if base in INT_RANGE:
        return f"'{value}'::{base}"
    if base == "numeric":
        scale = modifier[1] if len(modifier) > 1 else 0
        digits = str(abs(value)).rjust(scale + 1, "0")
        text = digits[:-scale] + "." + digits[-scale:] if scale else digits
        return f"'{'-' if value < 0 else ''}{text}'::numeric"
    if base == "date":
        return f"(date '1970-01-01' + '{value}'::int4)"
    if base in ("timestamp", "timestamptz"):
        zone = "+00" if base == "timestamptz" else ""
        days, rest = divmod(value, 86400000000)
        return f"({base} '1970-01-01 00:00{zone}' + interval '{days} days' + interval '{rest} microseconds')"
    return f"{quote(value)}::{SQL_NAMES.get(base, base)}"


def heap_column(rng, name):
    """A column of a type that only heap tables have."""
    base = rng.choice([b for b in HEAP_TYPES if b not in ("decimal", "jsonb", "array")])  # which come otherwise
    column = Column(name, base, "tame", 0.1, declared=SQL_NAMES.get(base, base))
    values = HEAP_TYPES[base]
    if base == "float2":  # of one sign, so that sums do not cancel
        column.negative = rng.random() < 0.3
        values = [v for v in values if v.startswith("-") == column.negative]
    column.pool = rng.sample(values, min(len(values), rng.choice([1, 3, 20])))
    return column


def random_modifier(rng, base):
    if base == "numeric":
        precision = rng.choice([1, 2, 4, 5, 9, 10, 12, 15, 18, 19, 20, 28, 37, 38])
        return (precision, rng.choice([0, 0, min(2, precision), min(4, precision), rng.randint(0, precision)]))
    if base == "bpchar":
        return (rng.choice([1, 2, 3, 8, 10, 33]),)
    return ()


def random_column(rng, name, base=None, domain=None):
    base = base or rng.choice(
        [
            "bool",
            "int2",
            "int4",
            "int4",
            "int8",
            "int8",
            "float4",
            "float8",
            "numeric",
            "numeric",
            "date",
            "timestamp",
            "timestamptz",
            "text",
            "text",
            "varchar",
            "bpchar",
        ]
    )
    domain = domain or rng.choice(["key", "tame", "tame", "wild"])
    nulls = rng.choice([0, 0, 0, 0.01, 0.1, 0.5, 0.95, 1.0] if domain != "key" else [0, 0, 0.05, 0.3])
    collation = rng.choice(COLLATIONS) if base in ("text", "varchar", "bpchar") else ""
    column = Column(name, base, domain, nulls, random_modifier(rng, base), collation)
    if base == "bpchar":
        column.declared = f"char({column.modifier[0]})"
    elif base == "varchar" and rng.random() < 0.5:
        column.declared = "varchar(200)"
    column.declared += collation
    fill_pool(rng, column)
    return column


def fill_pool(rng, column):
    base, domain = column.base, column.domain
    size = rng.choice([1, 2, 5, 20]) if domain == "key" else rng.choice([3, 50, 400])
    column.negative = rng.random() < 0.3
    if base == "bool":
        column.pool = [True, False]
    elif base in INT_RANGE:
        column.pool = int_pool(rng, INT_RANGE[base], domain, size)
    elif base in ("float4", "float8"):
        column.pool = float_pool(rng, base, domain, size, column.negative)
    elif base == "numeric":
        limit = 10 ** column.modifier[0] - 1
        column.pool = int_pool(rng, (-limit, limit), domain, size)
    elif base == "date":
        column.pool = time_pool(rng, domain, size, 9000, (DAY_MIN, DAY_MAX))
    elif base in ("timestamp", "timestamptz"):
        column.pool = time_pool(rng, domain, size, 9000 * 86400000000, (STAMP_MIN, STAMP_MAX))
    else:
        column.pool = text_pool(rng, column, domain, size)


def int_pool(rng, limits, domain, size):
    low, high = limits
    if domain == "key":
        pool = [i for i in range(size)]
    elif domain == "tame":
        pool = [rng.randint(-1000, 1000) for _ in range(size)]
    else:
        pool = [
            rng.choice(
                [
                    0,
                    1,
                    -1,
                    2,
                    low,
                    low + 1,
                    high,
                    high - 1,
                    high // 2,
                    low // 2,
                    rng.randint(low, high),
                    rng.randint(-99, 99),
                    1 << rng.randint(0, high.bit_length() - 1),
                ]
            )
            for _ in range(size)
        ]
    return [min(max(v, low), high) for v in pool]


def float_pool(rng, base, domain, size, negative):
    if domain == "key":
        return [float(i) / 2 for i in range(size)]
    sign = -1.0 if negative else 1.0
    pool = [sign * round(rng.uniform(0.01, 1e4), rng.randint(0, 6)) for _ in range(size)]
    pool += [0.0, -0.0] if rng.random() < 0.5 else []
    if rng.random() < 0.3:
        pool += [float("inf") * sign] * rng.randint(0, 2) + [float("nan")] * rng.randint(0, 2)
    if domain == "wild":
        big, small, least = (
            (3.4028234663852886e38, 1.1754943508222875e-38, 1.401298464324817e-45)
            if base == "float4"
            else (1.7976931348623157e308, 2.2250738585072014e-308, 5e-324)
        )
        pool += [
            float("nan"),
            float("inf"),
            float("-inf"),
            -0.0,
            0.0,
            big,
            -big,
            small,
            -small,
            least,
            -least,
            0.1,
            32767.5,
            -32768.5,
            2147483647.5,
            -2147483648.0,
            2147483648.0,
            9.223372036854775e18,
            9223372036854775808.0,
            -9223372036854775808.0,
            0.5,
            1.5,
            2.5,
            -0.5,
            -1.5,
        ]
    if base == "float4":
        pool = pa.array(pool, pa.float64()).cast(pa.float32()).to_pylist()
    return pool


def time_pool(rng, domain, size, spread, limits):
    """Days or microseconds; `spread` is about 25 years in the unit."""
    unit = spread // 9000
    if domain == "key":
        return [10000 * unit + i * unit for i in range(size)]
    pool = [rng.randint(-spread, 2 * spread) for _ in range(size)]
    if domain == "wild":
        low, high = limits
        pool += [
            low,
            low + 1,
            high,
            high - 1,
            0,
            -1,
            1,
            10957 * unit,
            10956 * unit,
            11016 * unit,
            -719162 * unit,
            -719163 * unit,
            -719529 * unit,
            59 * unit,
            10957 * unit - 1,
            rng.randint(low, high),
        ]
    return pool


def text_pool(rng, column, domain, size):
    width = column.modifier[0] if column.base == "bpchar" else None
    pool = rng.sample(WORDS, min(size, len(WORDS)))
    if domain != "key":
        pool += ["".join(rng.choice("ab%_\\ äß日🎉") for _ in range(rng.randint(0, 12))) for _ in range(size // 2)]
    if domain == "wild" and width is None and rng.random() < 0.1:
        pool = pool[:20] + ["x" * 100_001, "日" * 40_000, "x" * 100_000 + "y"]
        column.long = True
    if width is not None:
        pool = [fit_width(w, width) for w in pool]
    return [w for w in pool if "\x00" not in w] or ["a"]


def fit_width(text, width):
    """The longest beginning of `text` of at most `width` bytes."""
    raw = text.encode()[:width]
    return raw.decode(errors="ignore")


# Layouts. Each gives Arrow values for a list of pool values; None where the pool does not fit into it.


def layouts(column):
    """Names of the layouts that can hold the column's pool."""
    base, low, high = column.base, None, None
    if base in INT_RANGE or base in ("date", "timestamp", "timestamptz"):
        low, high = min(column.pool), max(column.pool)
    if base == "int2":
        return (
            ["int16"]
            + (["int8"] if -128 <= low and high < 128 else [])
            + (["uint8"] if 0 <= low and high < 256 else [])
        )
    if base == "int4":
        return ["int32"] + (["uint16"] if 0 <= low and high < 65536 else [])
    if base == "int8":
        return ["int64"] + (["uint32"] if 0 <= low and high < 2**32 else [])
    if base == "date":
        return ["date32", "date64"]
    if base in ("timestamp", "timestamptz"):
        return ["us", "s", "ms"] + (["ns"] if -(2**63) // 1000 < low and high < 2**63 // 1000 else [])
    if base in ("text", "varchar"):
        return ["utf8", "large_utf8", "utf8_view"]
    if base == "bpchar":
        # A text layout under char(n) is converted by PostgreSQL's side alone.
        return ["fixed"] * 9 + ["utf8"]
    return ["plain"]


def arrow_type(column, layout):
    base = column.base
    if base in INT_RANGE:
        return getattr(pa, layout)()
    if base == "numeric":
        return pa.decimal128(*column.modifier)
    if base in ("timestamp", "timestamptz"):
        return pa.timestamp(layout, tz="UTC" if base == "timestamptz" else None)
    if layout == "fixed":
        return pa.binary(column.modifier[0])
    return {
        "bool": pa.bool_(),
        "float4": pa.float32(),
        "float8": pa.float64(),
        "date32": pa.date32(),
        "date64": pa.date64(),
        "utf8": pa.string(),
        "large_utf8": pa.large_string(),
        "utf8_view": pa.string_view(),
    }[layout if layout != "plain" else base]


def pool_array(column, layout):
    """The pool as an Arrow array without nulls, in the layout."""
    pool, kind = column.pool, arrow_type(column, layout)
    if layout == "date32":
        return pa.array(pool, pa.int32()).view(kind)
    if layout == "date64":
        return pa.array([day * 86400000 for day in pool], pa.int64()).view(kind)
    if layout in ("s", "ms", "us", "ns"):
        divisor, factor = {"s": (1000000, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}[layout]
        return pa.array([value // divisor * factor for value in pool], pa.int64()).view(kind)
    if column.base == "numeric":
        raw = b"".join(value.to_bytes(16, "little", signed=True) for value in pool)
        return pa.Array.from_buffers(kind, len(pool), [None, pa.py_buffer(raw)])
    if layout == "fixed":
        width = column.modifier[0]
        return pa.array([text.encode().ljust(width) for text in pool], kind)
    return pa.array(pool, pa.string() if layout == "utf8_view" else kind)


def random_array(rng, column, layout, rows):
    """`rows` values drawn from the pool. What lies under a null is a value like any other."""
    values = pool_array(column, layout)
    if rows == 0:
        return pa.array([], arrow_type(column, layout))
    picks = pa.array(rng.choices(range(len(values)), k=rows), pa.int64())
    taken = values.take(picks)
    if layout == "utf8_view":  # for which pyarrow has no take
        taken = taken.cast(pa.string_view())
    if column.nulls == 0:
        return taken
    valid = pa.array([rng.random() >= column.nulls for _ in range(rows)], pa.bool_())
    return pa.Array.from_buffers(taken.type, rows, [valid.buffers()[1]] + taken.buffers()[1:])
