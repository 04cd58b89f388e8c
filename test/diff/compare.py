"""Comparison of two answers as multisets."""

import math
import re
import unicodedata
from collections import Counter

FLOAT4, FLOAT8, NUMERIC, JSONB, BPCHAR, INTERVAL, TEXTS = 700, 701, 1700, 3802, 1042, 1186, (25, 1042, 1043)
COLLATION_ERRORS = ("42P21", "42P22", "0A000")
TOLERANCE = {FLOAT4: 1e-4, FLOAT8: 1e-9}


def close(a, b, tolerance, slack=0):
    if a == b or a is None or b is None:
        return a == b
    x, y = float(a), float(b)
    if x == y or (math.isnan(x) and math.isnan(y)):
        return True
    if not (math.isfinite(x) and math.isfinite(y)):
        return False
    return abs(x - y) <= max(tolerance * max(abs(x), abs(y)), slack)


def differences(plain, engine, query):
    """Lines that tell how `engine` differs from `plain`; empty when they agree."""
    if plain.is_error() or engine.is_error():
        return error_differences(plain, engine, query)
    if plain.types != engine.types:
        return [f"column types {plain.types} became {engine.types}"]
    left, right = plain.rows, engine.rows
    if left == right:
        return []
    lines = row_differences(left, right, plain.types, query)
    if lines and query.representative_open:
        types = plain.types
        if not row_differences(representatives(left, types), representatives(right, types), types, query):
            return []
    return lines


def row_differences(left, right, types, query):
    if query.approximate:
        return approximate_differences(left, right, types, query)
    return counter_differences(left, right)


def span(interval):
    """Microseconds of what intervals are compared by."""
    days, micros, words = 0, 0, interval.split()
    units = {"year": 360, "mon": 30, "day": 1}
    while words:
        word = words.pop(0)
        if ":" not in word:
            days += int(word) * units[words.pop(0).rstrip("s")]
            continue
        sign = -1 if word.startswith("-") else 1
        hours, minutes, seconds = word.lstrip("+-").split(":")
        whole, _, part = seconds.partition(".")
        micros = sign * ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 1000000 + sign * int(part.ljust(6, "0") or 0)
    return days * 86400000000 + micros


def representatives(rows, types):
    """Rows with one text for each of the values that PostgreSQL takes as equal: which one of them stands for a group
    or comes before a LIMIT depends on the order of the rows."""

    def one(value, oid):
        if value is None:
            return None
        if value == b"-0" and oid not in TEXTS:  # float2 has an oid of its own in each database
            return b"0"
        if oid == NUMERIC and b"." in value:
            return value.rstrip(b"0").rstrip(b".")
        if oid == INTERVAL:
            return b"%d" % span(value.decode())
        if oid == JSONB:
            return re.sub(rb"(\.[0-9]*?)0+(?![0-9])", lambda m: b"" if m[1] == b"." else m[1], value)
        if oid in TEXTS:  # the collation strom_nocase ignores case, form and control characters
            text = value.decode().rstrip(" ") if oid == BPCHAR else value.decode()
            text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
            return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Cn")).encode()
        return value

    return [tuple(one(v, oid) for v, oid in zip(row, types)) for row in rows]


def is_plan_dependent(plain, engine):
    """There are errors, and of kinds that depend on which rows and conditions are evaluated."""
    states = [answer.state for answer in (plain, engine) if answer.is_error()]
    return bool(states) and all(state[:2] == "22" or state in COLLATION_ERRORS for state in states)


def error_differences(plain, engine, query):
    if plain.is_error() and engine.is_error():
        if (plain.state, plain.message) == (engine.state, engine.message):
            return []
        # Which row or expression comes first is open.
        if is_plan_dependent(plain, engine):
            return []
    return [f"plain PostgreSQL: {plain}", f"engine: {engine}"]


def counter_differences(left, right):
    missing, extra = Counter(left), Counter(right)
    missing.subtract(right)
    extra.subtract(left)
    lines = [f"- {count}x {show(row)}" for row, count in missing.items() if count > 0][:8]
    lines += [f"+ {count}x {show(row)}" for row, count in extra.items() if count > 0][:8]
    if lines:
        lines.insert(0, f"{len(left)} rows (-) became {len(right)} rows (+)")
    return lines


def show(row):
    texts = ["NULL" if v is None else v.decode(errors="replace") for v in row]
    return "(" + ", ".join(t if len(t) <= 80 else t[:60] + f"… {len(t)} characters" for t in texts) + ")"


def approximate_differences(left, right, types, query):
    """Rows are paired by their exact columns, then by their order in the others."""
    exact = [i for i in range(len(types)) if i not in query.approximate]
    loose = sorted(query.approximate)

    def key(row):
        return (
            [(row[i] is None, row[i] or b"") for i in exact],
            [(2, 0) if row[i] is None else (1, 0) if row[i] == b"NaN" else (0, float(row[i])) for i in loose],
        )

    if len(left) != len(right):
        return [f"{len(left)} rows became {len(right)} rows"]
    for a, b in zip(sorted(left, key=key), sorted(right, key=key)):
        if any(a[i] != b[i] for i in exact) or not all(
            close(a[i], b[i], query.tolerance(types[i]), query.slack(i)) for i in loose
        ):
            return [f"- {show(a)}", f"+ {show(b)}"]
    return []
