"""What psql printed for a regression test, compared by statement: is a difference a plan, an order of rows, or a defect?"""

import difflib
import re

RULER = re.compile(r"-[-+]*$")
FOOTER = re.compile(r"\(\d+ rows?\)$")
# Plans, and what tests of hash joins and sorts read from plans.
PLAN_COLUMNS = re.compile(
    r"QUERY PLAN$|explain_\w+$|initially_multibatch, increased_batches$|(initially_)?multibatch$|original, final$"
)
# What functions tell of how values are stored: those that went through the engine are compressed again.
STORED_COLUMNS = re.compile(r"pg_column_(compression|size)$")


class Table:
    """A result in psql's aligned format, and the statement before it."""

    def __init__(self, statement, header, rows):
        self.statement = statement
        self.columns = tuple(name.strip() for name in header.split("|"))
        self.rows = rows

    def is_plan(self):
        return bool(PLAN_COLUMNS.match(", ".join(self.columns)))

    def is_ordered(self):
        """ORDER BY outside of all parentheses."""
        text = re.sub(r"--[^\n]*", "", self.statement)
        while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
            text = shorter
        return bool(re.search(r"\border\s+by\b", text, re.IGNORECASE))

    def cells(self):
        return [tuple(cell.strip() for cell in row.split("|")) for row in self.rows]


def parse(text):
    """The output as plain lines (statements, messages) and Tables, in order."""
    lines, items, at = text.splitlines(), [], 0
    while at < len(lines):
        starts = lines[at].startswith(" ") and is_ruler(lines[at], lines[at + 1] if at + 1 < len(lines) else "")
        # \d prints frames without a footer; they end with an empty line.
        end = next((i for i in range(at + 2, len(lines)) if FOOTER.match(lines[i]) or not lines[i]), None) if starts else None
        if end is None or not lines[end]:
            items.append(lines[at])
            at += 1
            continue
        items.append(Table(last_statement(items), lines[at], lines[at + 2 : end]))
        at = end + 1
    return items


def is_ruler(header, line):
    return bool(RULER.match(line)) and abs(len(line) - len(header)) <= 1


def last_statement(items):
    lines = []
    for item in reversed(items):
        if isinstance(item, Table) or (lines and item.rstrip().endswith(";")):
            break
        lines.append(item)
    return "\n".join(reversed(lines))


def key(item):
    return ("table", item.columns) if isinstance(item, Table) else ("line", item)


class Difference:
    """kind: plan, order, calls (a function that tells by a NOTICE was called for fewer rows), stored (how values are) or
    answer; `text` shows it."""

    def __init__(self, kind, text):
        self.kind, self.text = kind, text


def compare(wanted_text, found_text):
    """The differences of two outputs of one test."""
    if wanted_text == found_text:
        return []
    wanted, found = parse(wanted_text), parse(found_text)
    differences = []
    matcher = difflib.SequenceMatcher(None, [key(i) for i in wanted], [key(i) for i in found], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(wanted[a:b], found[c:d])
            differences += [compare_tables(x, y) for x, y in pairs if isinstance(x, Table) and x.cells() != y.cells()]
        else:
            before = last_statement(wanted[:a]) if a else ""
            text = [before] + shown("-", wanted[a:b]) + shown("+", found[c:d])
            # In psql's tuples-only mode a plan has no header.
            last = next((str(i) for i in reversed(wanted[:a]) if isinstance(i, Table) or not i.startswith(" ")), "")
            indented = all(not isinstance(i, Table) and i.startswith(" ") for i in wanted[a:b] + found[c:d])
            if indented and last.lower().startswith("explain"):
                differences.append(Difference("plan", "\n".join(text)))
                continue
            calls = tag == "delete" and all(str(item).startswith("NOTICE:") for item in wanted[a:b])
            differences.append(Difference("calls" if calls else "answer", "\n".join(text)))
    return differences


def compare_tables(wanted, found):
    text = "\n".join([wanted.statement, *difflib.unified_diff(wanted.rows, found.rows, lineterm="", n=1)])
    if wanted.is_plan():
        return Difference("plan", text)
    if sorted(wanted.cells()) == sorted(found.cells()) and not wanted.is_ordered():
        return Difference("order", text)
    if STORED_COLUMNS.match(", ".join(wanted.columns)):
        return Difference("stored", text)
    return Difference("answer", text)


def shown(mark, items):
    lines = []
    for item in items:
        lines += [f"{mark}{' | '.join(item.columns)}"] if isinstance(item, Table) else [mark + item]
        lines += [mark + row for row in item.rows] if isinstance(item, Table) else []
    return lines
