"""Smaller queries that still fail: without some of the conditions, the columns or the settings."""

import copy

TRIES = 60


def split(text, separator):
    """`text` at each `separator` outside of brackets and quotes."""
    parts, depth, quoted, begin, i = [], 0, False, 0, 0
    while i < len(text):
        c = text[i]
        if c == "'":
            quoted = not quoted
        elif not quoted and c in "([":
            depth += 1
        elif not quoted and c in ")]":
            depth -= 1
        elif not quoted and depth == 0 and text.startswith(separator, i):
            parts.append(text[begin:i])
            begin = i = i + len(separator)
            continue
        i += 1
    return parts + [text[begin:]]


def candidates(query):
    """Copies of the query with one thing less."""
    head, *rest = split(query.sql, " WHERE ")
    if len(rest) == 1:
        where, tail = rest[0], ""
        for word in (" GROUP BY ", " ORDER BY ", " HAVING "):
            found = split(where, word)
            if len(found) > 1:
                where, tail = found[0], word + word.join(found[1:]) + tail
        conditions = split(where, " AND ")
        for i in range(len(conditions)):
            left = conditions[:i] + conditions[i + 1 :]
            yield changed(query, head + (" WHERE " + " AND ".join(left) if left else "") + tail)
    sources = split(query.sql, " FROM ")
    items = split(sources[0][len("SELECT ") :], ", ")
    if len(items) > 1 and " GROUP BY " not in query.sql and " ORDER BY " not in query.sql:
        for i in range(len(items)):
            smaller = changed(
                query, "SELECT " + ", ".join(items[:i] + items[i + 1 :]) + " FROM " + " FROM ".join(sources[1:])
            )
            smaller.approximate = {n - (n > i) for n in query.approximate if n != i}
            smaller.spread = {n - (n > i) for n in query.spread if n != i}
            yield smaller
    for name in query.engine_settings:
        smaller = copy.copy(query)
        smaller.engine_settings = {k: v for k, v in query.engine_settings.items() if k != name}
        yield smaller


def changed(query, sql):
    smaller = copy.copy(query)
    smaller.sql = sql
    return smaller


def shrink(query, check):
    """The smallest failing query found. `check` gives the lines of a failure."""
    tries = 0
    while True:
        for smaller in candidates(query):
            tries += 1
            if tries > TRIES:
                return query
            lines = check(smaller)
            # A query that no longer makes sense fails otherwise: an error that has come up is no smaller failure.
            if lines and not any("42601" in line or "42P" in line or "42703" in line for line in lines):
                query = smaller
                break
        else:
            return query
