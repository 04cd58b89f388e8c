"""Random SQL expressions over columns, by result type."""

from columns import HEAP_TYPES, INT_RANGE, SQL_NAMES, quote, sql_literal
from regexes import REGEXES, random_regex

COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]
PATTERNS = [
    "%",
    "_",
    "",
    "a%",
    "%a",
    "%a%",
    "a_",
    "_b",
    "__",
    "%_%",
    "a\\%b",
    "a\\_b",
    "\\\\",
    "%\\\\%",
    "ä%",
    "%日%",
    "_本_",
    "日__",
    "%🎉%",
    "🎉_",
    "a%b%",
    "%%a",
    "%a_b%",
    "_%_",
    "x%y",
    "%x",
    "a ",
    "% ",
    "%a%b%",
    "\\a",
    "e_",
]
CALENDAR_FIELDS = ["year", "month", "day", "quarter", "dow", "isodow", "doy", "week", "isoyear", "decade", "century"]
CALENDAR_FIELDS += ["millennium"]
DATE_FIELDS = CALENDAR_FIELDS + ["epoch", "julian"]
STAMP_FIELDS = CALENDAR_FIELDS + ["hour", "minute", "second", "milliseconds", "microseconds", "epoch"]
TIME_FIELDS = ["hour", "minute", "second", "milliseconds", "microseconds", "epoch"]
TRUNCATED = ["year", "month", "quarter", "week", "decade", "century", "millennium", "day", "hour", "minute", "second"]
TEXTS = ("text", "varchar", "bpchar")
BASES = [
    "bool",
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "numeric",
    "date",
    "timestamp",
    "timestamptz",
    "text",
    "bpchar",
]


def json_key(name):
    return f'"{name}"'


class Expressions:
    """scope: list of (alias, Column). risky: expressions may overflow, divide by zero or be out of range.

    With `parameters` a list, some literals become $n and their texts are appended to it as (type, text).
    """

    def __init__(self, rng, scope, risky=False, parameters=None):
        self.rng, self.scope, self.risky, self.parameters = rng, scope, risky, parameters

    def columns(self, *bases, domain=None):
        return [(alias, c) for alias, c in self.scope if c.base in bases and (domain is None or c.domain == domain)]

    def any_column(self):
        alias, column = self.rng.choice(self.scope)
        return f"{alias}.{column.name}", column

    def column(self, base):
        bases = ("text", "varchar") if base == "text" else (base,)
        found = self.columns(*bases)
        if not found:
            return None
        alias, column = self.rng.choice(found)
        return f"{alias}.{column.name}"

    def literal(self, base):
        rng = self.rng
        bases = ("text", "varchar") if base == "text" else (base,)
        found = self.columns(*bases)
        if found and rng.random() < 0.8:
            column = rng.choice(found)[1]
            value = rng.choice(column.pool) if column.pool else None
            if isinstance(value, str) and len(value) > 300:
                value = value[: rng.choice([1, 300])]
            text = sql_literal(base, value, column.modifier)
        else:
            text = self.free_literal(base)
        if rng.random() < 0.02:
            text = f"NULL::{SQL_NAMES.get(base, base)}"
        if self.parameters is not None and rng.random() < 0.6:
            self.parameters.append((SQL_NAMES.get(base, base), text))
            return f"${len(self.parameters)}"
        return text

    def free_literal(self, base):
        rng = self.rng
        if base == "bool":
            return rng.choice(["true", "false"])
        if base in INT_RANGE:
            low, high = INT_RANGE[base]
            return sql_literal(base, rng.choice([0, 1, 2, 3, 7, 10, 100, -1, -2, low, high, rng.randint(-50, 50)]))
        if base == "numeric":
            return rng.choice(
                [
                    "0",
                    "1",
                    "1.0",
                    "1.00",
                    "-1.5",
                    "0.001",
                    "100",
                    "12.34",
                    "99999999999999999999",
                    "'0.1'::numeric(5,3)",
                    "1e10",
                    "'NaN'::numeric",
                    "'Infinity'::numeric",
                    "0.00000000000000000001",
                ]
            )
        if base in ("float4", "float8"):
            text = rng.choice(["0", "-0", "1", "0.5", "100", "1e10", "-3.25", "NaN", "Infinity", "-Infinity"])
            return f"'{text}'::{base}"
        if base == "jsonb":
            return rng.choice(["'1'", "'1.0'", "'{}'", "'null'", "'[1, 2]'", "'\"x\"'"]) + "::jsonb"
        if base in ("date", "timestamp", "timestamptz"):
            zone = "+00" if base == "timestamptz" else ""
            return rng.choice(
                [
                    f"{base} 'infinity'",
                    f"{base} '-infinity'",
                    f"{base} '2000-01-01{zone}'",
                    f"{base} '1970-01-01{zone}'",
                    f"{base} '1999-12-31{zone}'",
                    f"{base} '2024-02-29{zone}'",
                ]
            )
        if base in HEAP_TYPES:
            return sql_literal(base, rng.choice(HEAP_TYPES[base]))
        return quote(rng.choice(["", "a", "b ", "ab", "ä", "日本", "zz", "x" * 12, "A"])) + f"::{base}"

    # jsonb

    def json(self):
        """(expression, keys that some of its values have), or None."""
        found = self.columns("jsonb")
        if not found:
            return None
        alias, column = self.rng.choice(found)
        return f"{alias}.{column.name}", column.keys + ["list", "o", "nothing"]

    def json_value(self, base):
        """Of text or numeric, out of a jsonb column; None when there is none. Casts may raise."""
        found = self.json()
        if found is None:
            return None
        rng, (json, keys) = self.rng, found
        key = quote(rng.choice(keys))
        if base == "text":
            return rng.choice(
                [f"({json} ->> {key})", f"({json} ->> {key})", f"jsonb_typeof({json} -> {key})", f"jsonb_typeof({json})",
                 f"({json} -> 'list' ->> {rng.choice([0, 1, 2, -1, 5])})", f"({json} #>> '{{o,p}}')", f"({json} #>> '{{list,{rng.choice([0, 1, 2, -1, 5])}}}')"]
            )
        kind = f"jsonb_typeof({json} -> {key})"
        return f"CASE WHEN {kind} = 'number' THEN ({json} ->> {key})::numeric END" if rng.random() < 0.5 else (
            f"CASE WHEN {kind} = 'number' THEN ({json} -> {key})::numeric END")

    def make_jsonb(self, _base, _depth):
        found = self.json()
        if found is None:
            return None
        json, keys = found
        return self.rng.choice([f"({json} -> {quote(self.rng.choice(keys))})", f"({json} -> 'list' -> 1)", f"({json} #> '{{o}}')"])

    def json_condition(self):
        found = self.json()
        if found is None:
            return None
        rng, (json, keys) = self.rng, found
        key = quote(rng.choice(keys))
        literal = quote(rng.choice(["1", '"x"', "true", "null", "[1, 2]", '{"p": 1}', "0", "1.0"]))
        return rng.choice(
            [f"({json} ? {key})", f"({json} -> {key}) = {literal}::jsonb", f"({json} -> {key}) <> {literal}::jsonb",
             f"({json} @> {quote('{%s: 1}' % json_key(rng.choice(keys)))}::jsonb)", f"({json} ?| ARRAY[{key}, 'list'])",
             f"({json} ?& ARRAY[{key}, 'o'])", f"({json} -> 'list') @> '[\"x\"]'::jsonb", f"({json} -> {key}) IS NULL",
             f"({json} ->> {key}) = {self.literal('text')}", f"({json} ->> {key}) LIKE '%1%'"]
        )

    # Values

    def value(self, base, depth=2):
        rng = self.rng
        column = self.column(base)
        if depth <= 0 or rng.random() < 0.3:
            return column if column and rng.random() < 0.85 else self.literal(base)
        if rng.random() < 0.3:
            return self.control(base, depth)
        if base in ("text", "numeric") and rng.random() < 0.25 and (made := self.json_value(base)) is not None:
            return made
        made = getattr(
            self,
            "make_"
            + {
                "int2": "int",
                "int4": "int",
                "int8": "int",
                "float4": "float",
                "float8": "float",
                "varchar": "text",
            }.get(base, base),
            self.make_other,
        )(base, depth)
        return made or column or self.literal(base)

    def control(self, base, depth):
        rng, value = self.rng, lambda: self.value(base, depth - 1)
        kind = rng.randrange(6)
        if kind == 5:
            values = ", ".join(value() for _ in range(rng.choice([1, 2, 2, 3, 5])))
            return f"{rng.choice(['GREATEST', 'LEAST'])}({values})"
        if kind == 0:
            return f"CASE WHEN {self.boolean(depth - 1)} THEN {value()} ELSE {value()} END"
        if kind == 1:
            return (
                f"CASE WHEN {self.boolean(depth - 1)} THEN {value()} WHEN {self.boolean(depth - 1)} THEN {value()} END"
            )
        if kind == 2:
            other = rng.choice(["int4", "int8", "text", "date"])
            return (
                f"CASE {self.value(other, 1)} WHEN {self.literal(other)} THEN {value()} "
                f"WHEN {self.value(other, 0)} THEN {value()} ELSE {value()} END"
            )
        if kind == 3:
            return f"COALESCE({value()}, {value()}" + (f", {value()})" if rng.random() < 0.3 else ")")
        return f"NULLIF({value()}, {value()})"

    def make_other(self, base, depth):
        """Of types that only heap tables have."""
        rng, v = self.rng, lambda b=base: self.value(b, depth - 1)
        kinds = {
            "time": [lambda: f"({v()} {rng.choice('+-')} {self.interval()})", lambda: f"({v('timestamp')})::time"],
            "timetz": [lambda: f"({v()} {rng.choice('+-')} {self.interval()})"],
            "interval": [
                lambda: f"justify_{rng.choice(['hours', 'days'])}({v()})",
                lambda: f"({v('time')} - {v('time')})",
                lambda: f"age({rng.choice(['date', 'timestamp'])} '2024-03-31', timestamp '{rng.choice(['2023', '2024'])}-02-28 12:00')",
            ],
            "inet": [
                lambda: f"{rng.choice(['broadcast', 'netmask', 'hostmask', '~'])}({v()})",
                lambda: f"set_masklen({v()}, 8)",
                lambda: f"({v('cidr')})::inet",
            ],
            "cidr": [lambda: f"network({v('inet')})"],
            "macaddr": [lambda: f"trunc({v()})", lambda: f"({v()} {rng.choice('&|')} {v()})", lambda: f"(~ {v()})"],
            "macaddr8": [lambda: f"({v('macaddr')})::macaddr8", lambda: f"({v()} {rng.choice('&|')} {v()})"],
        }
        if self.risky:
            kinds["money"] = [lambda: f"({v()} {rng.choice('+-')} {v()})", lambda: f"({v()} * {v('int4')})"]
            kinds["interval"] += [
                lambda: f"({v()} {rng.choice('+-')} {v()})",
                lambda: f"age({v('timestamp')}, {v('timestamp')})",
                lambda: f"({v()} * {v('int4')})",
                lambda: f"({v()} {rng.choice('*/')} {rng.choice(['0.5', '1.5', '3', '-0.1', '1e-3', '7.25'])}::float8)",
                lambda: f"make_interval({rng.choice([0, 1, -2])}, {v('int2')}, 1, {v('int2')}, {v('int2')}, 0, {rng.choice(['0', '1.5', '-0.000001'])})",
            ]
            kinds["inet"] += [
                lambda: f"({v()} {rng.choice('+-')} {rng.choice([1, 255, 70000])})",
                lambda: f"({v()} {rng.choice('&|')} {v()})",
            ]
        return rng.choice(kinds[base])() if base in kinds else None

    def make_bool(self, _base, depth):
        return "(" + self.boolean(depth) + ")"

    def make_int(self, base, depth):
        rng, v = self.rng, lambda b=base: self.value(b, depth - 1)
        kinds = []
        if base == "int4":
            kinds += [
                lambda: f"length({v('text')})",
                lambda: f"octet_length({v('text')})",
                lambda: f"({v('int2')})::int4",
                lambda: f"char_length({v('text')})",
                lambda: f"length({v('bpchar')})",
                lambda: f"octet_length({v('bpchar')})",
                lambda: f"strpos({v('text')}, {v('text')})",
                lambda: f"ascii({v('text')})",
                lambda: f"({v('bool')})::int4",
                lambda: f"{rng.choice(['family', 'masklen'])}({v('inet')})",
                lambda: f"{rng.choice(['num_nulls', 'num_nonnulls'])}({v()}, {v('text')}, {v('date')})",
                lambda: f"({v('char')})::int4",
                lambda: f"width_bucket(({v('int4')})::float8, -10, 1000, {rng.choice([1, 7, 100])})",
                lambda: f"width_bucket(({v('int4')})::numeric / {rng.choice(['1', '3', '100'])}, -1.5, {rng.choice(['10', '99.99', '333'])}, {rng.choice([1, 7, 100])})",
            ]
        if base == "int8":
            # Operands of half the width cannot overflow a single operation.
            kinds += [
                lambda: f"({v('int4')}::int8 {rng.choice('+-*')} {v('int4')}::int8)",
                lambda: f"({v('int2')}::int8 {rng.choice('+-*')} {v('int2')}::int8)",
                lambda: f"({v('int4')})::int8",
                lambda: f"({v('int2')})::int8",
                lambda: f"({v('oid')})::int8",
                lambda: f"gcd({v('int4')}::int8, {v('int4')}::int8)",
            ]
        kinds += [
            lambda: f"({v()} / {rng.choice([2, 3, 7, 10])}::{base})",
            lambda: f"mod({v()}, {rng.choice([2, 3, 7])}::{base})",
            lambda: f"({v()} % '{rng.choice([2, 5, -3])}'::{base})",
            lambda: f"({v()} {rng.choice('&|#')} {v()})",
            lambda: f"(~ {v()})",
            lambda: f"({v()} {rng.choice(['<<', '>>'])} {rng.choice([0, 1, 3, 15])})",
        ]
        if self.risky:
            wide = {
                "int2": [("int2", "int2")],
                "int4": [("int4", "int4"), ("int2", "int4"), ("int4", "int2")],
                "int8": [("int8", "int8"), ("int2", "int8"), ("int8", "int4"), ("int4", "int8"), ("int8", "int2")],
            }[base]
            a, b = rng.choice(wide)
            kinds += [lambda: f"({v(a)} {rng.choice('+-*/')} {v(b)})"] * 4
            kinds += [
                lambda: f"({v()} % {v()})",
                lambda: f"abs({v()})",
                lambda: f"(- {v()})",
                lambda: f"(@ {v()})",
                lambda: f"({v(rng.choice(['int2', 'int4', 'int8', 'float4', 'float8']))})::{base}",
            ]
            if base == "int4":
                kinds += [lambda: f"({v('date')} - {v('date')})"]
        return rng.choice(kinds)()

    def make_float(self, base, depth):
        rng, v = self.rng, lambda b=base: self.value(b, depth - 1)
        kinds = [
            lambda: f"(- {v()})",
            lambda: f"abs({v()})",
            lambda: f"({v('int4')})::{base}",
            lambda: f"({v('int8')})::{base}",
            lambda: f"({v('int2')})::{base}",
        ]
        if base == "float8":
            kinds += [
                lambda: f"({v('float4')})::float8",
                lambda: f"date_part('{rng.choice(STAMP_FIELDS)}', {v('timestamp')})",
                lambda: f"{rng.choice(['round', 'trunc', 'ceil', 'floor', 'sign'])}({v()})",
                lambda: f"sqrt(abs({v()}))",
                lambda: f"{rng.choice(['cbrt', 'atan', 'asinh', 'radians'])}({v()})",
                lambda: f"{rng.choice(['exp', 'sinh', 'cosh', 'tanh'])}(({v('int2')})::float8 / 100)",
                lambda: f"{rng.choice(['ln', 'log'])}(abs(({v('int4')})::float8) + 1)",
                lambda: f"{rng.choice(['sin', 'cos', 'tan'])}(({v('int8')})::float8)",
                lambda: f"power(abs(({v('int2')})::float8) + 1, {rng.choice(['0.5', '2', '-1.25'])})",
                lambda: f"date_part('{rng.choice(['epoch', 'hour', 'second'])}', {v(rng.choice(['time', 'interval']))})",
            ]
        tame = [f"{a}.{c.name}" for a, c in self.columns(base) if c.domain != "wild"]
        if tame:
            kinds += [lambda: f"({rng.choice(tame)} {rng.choice('+-*')} {rng.choice(tame)})"] * 2
        if self.risky:
            other = rng.choice(["float4", "float8"]) if base == "float8" else "float4"
            kinds += [lambda: f"({v()} {rng.choice('+-*/')} {v(other)})", lambda: f"({v('float8')})::{base}"] * 2
        return rng.choice(kinds)()

    def make_numeric(self, _base, depth):
        rng, v = self.rng, lambda b="numeric": self.value(b, depth - 1)
        kinds = [lambda: f"({v()} {rng.choice('+-*')} {v()})"] * 3
        kinds += [
            lambda: f"(- {v()})",
            lambda: f"abs({v()})",
            lambda: f"{rng.choice(['round', 'trunc'])}({v()}, {rng.choice([0, 0, 1, 2, 5])})",
            lambda: f"{rng.choice(['round', 'trunc', 'ceil', 'floor', 'sign'])}({v()})",
            lambda: f"({v()} % {rng.choice(['7', '0.3', '1.25', '1000'])})",
            lambda: f"({v(rng.choice(['int2', 'int4', 'int8']))})::numeric",
            lambda: f"extract({rng.choice(STAMP_FIELDS)} FROM {v(rng.choice(['timestamp', 'timestamptz']))})",
            lambda: f"extract({rng.choice(DATE_FIELDS)} FROM {v('date')})",
            lambda: f"extract({rng.choice(TIME_FIELDS)} FROM {v(rng.choice(['time', 'timetz', 'interval']))})",
        ]
        if self.risky:
            kinds += [
                lambda: f"({v()})::numeric({rng.choice(['38,2', '20,4', '10,0', '38,10'])})",
                lambda: f"({v()} / {v()})",
            ]
        return rng.choice(kinds)()

    def make_date(self, _base, depth):
        rng = self.rng
        kinds = [lambda: f"({self.value('timestamp', depth - 1)})::date"]
        kinds += [lambda: f"make_date({rng.choice([1999, 2024, -44, 1])}, {rng.choice([1, 2, 12])}, {rng.choice([1, 28])})"]
        keys = [f"{a}.{c.name}" for a, c in self.columns("date") if c.domain != "wild"]
        if keys:
            kinds += [lambda: f"({rng.choice(keys)} {rng.choice('+-')} {rng.choice([0, 1, 30, 365, 10000])})"] * 2
        if self.risky:
            kinds += [lambda: f"({self.value('date', depth - 1)} {rng.choice('+-')} {self.value('int4', depth - 1)})"]
        return rng.choice(kinds)()

    def make_timestamp(self, _base, depth):
        # The largest dates are no timestamps.
        tame = [f"{a}.{c.name}" for a, c in self.columns("date") if c.domain != "wild"]
        if self.risky and self.rng.random() < 0.4:
            other = self.value(self.rng.choice(["date", "timestamp"]), depth - 1)
            return f"({other} {self.rng.choice('+-')} {self.interval()})"
        if self.risky or self.rng.random() < 0.5:
            return f"date_trunc('{self.rng.choice(TRUNCATED)}', {self.value('timestamp', depth - 1)})"
        if tame:
            return f"({self.rng.choice(tame)})::timestamp"
        return f"({self.value('date', depth - 1)})::timestamp" if self.risky else None

    def make_timestamptz(self, _base, depth):
        truncated = self.rng.choice(TRUNCATED)
        kinds = [lambda: f"date_trunc('{truncated}', {self.value('timestamptz', depth - 1)})"]
        tame = [f"{a}.{c.name}" for a, c in self.columns("date") if c.domain != "wild"]
        if tame:
            kinds += [lambda: f"date_trunc('{truncated}', {self.rng.choice(tame)})"]
        if self.risky:
            kinds += [lambda: f"({self.value('timestamp', depth - 1)})::timestamptz"]
            kinds += [lambda: f"({self.value('timestamptz', depth - 1)} + {self.interval()})"]
        return self.rng.choice(kinds)()

    def interval(self):
        return "interval " + quote(
            self.rng.choice(["1 day", "1 month", "-1 month", "1 year 3 days", "01:30", "-5 days 00:00:01", "100 years"])
        )

    def make_text(self, _base, depth):
        rng = self.rng
        text, few = lambda: self.value("text", depth - 1), lambda: rng.choice([-3, -1, 0, 1, 2, 3, 5, 12])
        literal = lambda: quote(rng.choice(["", "a", "ab", " ", "b", "ä", "日", "a ", "xyz", "\\"])) + "::text"
        kinds = [lambda: f"({self.value('bpchar', depth - 1)})::text"] * 3
        kinds += [
            lambda: f"{rng.choice(['upper', 'lower', 'initcap', 'reverse'])}({text()})",
            lambda: f"{rng.choice(['substr', 'left', 'right'])}({text()}, {few()})",
            lambda: f"substring({text()} FROM {few()} FOR {rng.choice([0, 1, 2, 5])})",
            lambda: f"({text()} || {rng.choice([literal, text])()})",
            lambda: f"concat({text()}, {literal()}, {text()})",
            lambda: f"{rng.choice(['btrim', 'ltrim', 'rtrim'])}({text()})",
            lambda: f"{rng.choice(['btrim', 'ltrim', 'rtrim'])}({text()}, {literal()})",
            lambda: f"replace({text()}, {literal()}, {rng.choice([literal, text])()})",
            lambda: f"split_part({text()}, {literal()}, {rng.choice([1, 1, 2, 3, -1, -2])})",
            lambda: f"pgstrom.vcf_info_getattr('x=;a=' || {text()}, {literal()})",
            lambda: f"pgstrom.vcf_variant_getattr('a:' || {text()}, {text()} || ':b', {literal()})",
            lambda: f"{rng.choice(['lpad', 'rpad'])}({text()}, {few()}, {literal()})",
            lambda: f"repeat({text()}, {rng.choice([-1, 0, 1, 2, 7])})",
            lambda: f"to_char({self.value(rng.choice(['date', 'timestamp', 'timestamptz']), depth - 1)}, "
            + quote(rng.choice(["YYYY-MM-DD", "YYYYMM", "Mon", "HH24:MI:SS", "DD", "Month", "DDD", "YYYY\"T\"", "Q", "dd.mm.yyyy", "Dy DD Mon", "HH12:MI PM", "IYYY-IW", "FMMonth", "DDth", "J"]))
            + ")",
            lambda: f"({self.value(rng.choice(['int2', 'int4', 'int8', 'numeric', 'bool']), depth - 1)})::text",
            lambda: f"concat({text()}, {self.value(rng.choice(['int4', 'text', 'numeric']), depth - 1)})",
            lambda: f"concat_ws({literal()}, {text()}, {self.value('int4', depth - 1)}, {text()})",
            lambda: f"translate({text()}, {literal()}, {literal()})",
            lambda: f"to_hex({self.value(rng.choice(['int4', 'int8']), depth - 1)})",
            lambda: f"{rng.choice(['host', 'text'])}({self.value('inet', depth - 1)})",
            lambda: f"({self.value('char', depth - 1)})::text",
        ]
        return rng.choice(kinds)()

    def make_bpchar(self, _base, _depth):
        return None

    # Conditions

    def boolean(self, depth=2):
        rng = self.rng
        if depth > 0 and rng.random() < 0.45:
            kind = rng.randrange(6)
            if kind < 2:
                return f"({self.boolean(depth - 1)} AND {self.boolean(depth - 1)})"
            if kind < 4:
                return f"({self.boolean(depth - 1)} OR {self.boolean(depth - 1)})"
            if kind == 4:
                return f"(NOT {self.boolean(depth - 1)})"
            return (
                f"(({self.boolean(depth - 1)}) IS {rng.choice(['', 'NOT '])}{rng.choice(['TRUE', 'FALSE', 'UNKNOWN'])})"
            )
        return rng.choice(
            [self.comparison] * 6
            + [
                self.null_test,
                self.in_list,
                self.in_list,
                self.between,
                self.like,
                self.like,
                self.distinct,
                self.plain_bool,
                self.network,
                self.overlap,
            ]
            + [self.json_test] * 3 * bool(self.columns("jsonb"))
            + [self.array_test] * 3 * bool(self.columns("array"))
        )(depth)

    def array_test(self, depth):
        rng = self.rng
        alias, column = rng.choice(self.columns("array"))
        array, base = f"{alias}.{column.name}", column.element
        value, literal = self.value(base, depth - 1), self.literal(base)
        return rng.choice(
            [f"({value} {rng.choice(COMPARISONS)} {rng.choice(['ANY', 'ALL'])} ({array}))", f"({literal} = ANY ({array}))",
             f"({array}[{rng.choice([0, 1, 2, 3])}] {rng.choice(COMPARISONS)} {literal})", f"(cardinality({array}) > 1)",
             f"({array} @> ARRAY[{literal}])", f"({array} && ARRAY[{literal}, {self.literal(base)}])",
             f"(array_length({array}, 1) IS NULL)", f"({array} IS NULL)"]
        )

    def json_test(self, _depth):
        return self.json_condition()

    def some_base(self):
        """A type, preferably of one of the columns."""
        if self.rng.random() < 0.9:
            base = self.rng.choice(self.scope)[1].base
            return {"varchar": "text", "array": "int4"}.get(base, base)
        return self.rng.choice(BASES)

    def comparison(self, depth):
        rng, base, op = self.rng, self.some_base(), self.rng.choice(COMPARISONS)
        if base in INT_RANGE and rng.random() < 0.4:
            return f"({self.value(base, depth - 1)} {op} {self.value(rng.choice(list(INT_RANGE)), depth - 1)})"
        if base in ("date", "timestamp", "timestamptz") and rng.random() < 0.3:
            other = rng.choice(["date", "timestamp", "timestamptz"])
            return f"({self.value(base, depth - 1)} {op} {self.value(other, depth - 1)})"
        if base in ("float4", "float8") and rng.random() < 0.3:
            return f"({self.value(base, depth - 1)} {op} {self.value(rng.choice(['float4', 'float8']), depth - 1)})"
        right = self.literal(base) if rng.random() < 0.6 else self.value(base, depth - 1)
        return f"({self.value(base, depth - 1)} {op} {right})"

    def null_test(self, depth):
        return f"({self.value(self.some_base(), depth - 1)} IS {self.rng.choice(['', 'NOT '])}NULL)"

    def in_list(self, depth):
        base = self.some_base()
        count = self.rng.choice([1, 2, 3, 5, 12])
        items = [self.literal(base) for _ in range(count)]
        if self.rng.random() < 0.15:
            items.append("NULL")
        if self.rng.random() < 0.1:
            items.append(self.value(base, 0))
        return f"({self.value(base, depth - 1)} {self.rng.choice(['', 'NOT '])}IN ({', '.join(items)}))"

    def between(self, depth):
        base = self.some_base()
        kind = self.rng.choice(["", "", "NOT ", "SYMMETRIC"])
        words = f"{'NOT ' if kind == 'NOT ' else ''}BETWEEN {'SYMMETRIC ' if kind == 'SYMMETRIC' else ''}"
        return f"({self.value(base, depth - 1)} {words}{self.literal(base)} AND {self.literal(base)})"

    def like(self, depth):
        base = "bpchar" if self.columns("bpchar") and self.rng.random() < 0.3 else "text"
        pattern = quote(self.rng.choice(PATTERNS)) + "::text"
        column = self.column(base) or self.value(base, depth - 1)
        if self.rng.random() < 0.05:
            pattern = self.value("text", 0)
        if base == "text" and self.rng.random() < 0.15:
            return f"starts_with({column}, {self.value('text', 0)})"
        if base == "text" and self.rng.random() < 0.2:
            regex = random_regex(self.rng) if self.rng.random() < 0.5 else self.rng.choice(REGEXES)
            return f"({column} {self.rng.choice(['~', '~', '!~', '~*', '!~*'])} {quote(regex)})"
        operator = "ILIKE" if base == "text" and self.rng.random() < 0.2 else "LIKE"
        return f"({column} {self.rng.choice(['', 'NOT '])}{operator} {pattern})"

    def distinct(self, depth):
        base = self.some_base()
        word = self.rng.choice(["", "NOT "])
        return f"({self.value(base, depth - 1)} IS {word}DISTINCT FROM {self.value(base, depth - 1)})"

    def network(self, depth):
        left, right = self.value("inet", depth - 1), self.literal("inet")
        return f"({left} {self.rng.choice(['<<', '<<=', '>>', '>>=', '&&'])} {right})"

    def overlap(self, depth):
        base = self.rng.choice(["timestamp", "timestamp", "timestamptz", "time"])
        a, b = (f"({self.value(base, depth - 1)}, {self.value(base, 0)})" for _ in "ab")
        return f"({a} OVERLAPS {b})"

    def plain_bool(self, depth):
        return self.column("bool") or self.comparison(depth)
