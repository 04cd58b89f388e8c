"""The two ways in which functions of src/pg fail: PostgreSQL's errors, which jump, and C++ exceptions and values of
Status. A function has one of them. Whoever raises PostgreSQL's errors by itself says so, by `May ereport` above it or
in the comment that its file or header begins with; what is inside of guard() is on PostgreSQL's side of the border,
what is inside of entry() on that of C++."""
import re

import size
from tree import Violation

TEXTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
RAISES = re.compile(r"\b(?:ereport|elog)\s*\(\s*ERROR")
THROWS = re.compile(r"\b(?:guard\s*\(|throw\b|STROM_TRY\b|STROM_ASSIGN\b|throw_if_failed\b|value_or_throw\b)")
TAG = re.compile(r"\bmay ereport\b", re.I)


def without_texts(code):
    """Comments and literals as blanks."""
    return TEXTS.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), code)


def without_arguments(code, name):
    """The arguments of calls of the function as blanks."""
    left = list(code)
    for call in re.finditer(rf"\b{name}\s*\(", code):
        depth, at = 1, call.end()
        while at < len(code) and depth > 0:
            depth += (code[at] == "(") - (code[at] == ")")
            if depth > 0 and code[at] != "\n":
                left[at] = " "
            at += 1
    return "".join(left)


def first_comment(text):
    lines = text.splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return " ".join(line.removeprefix("//") for line in lines[:end])


def comment_above(lines, first):
    """That of the function in line `first`, counted from 1."""
    begin = first - 1
    while begin > 0 and lines[begin - 1].lstrip().startswith(("//", "template", "static", "[[")):
        begin -= 1
    return " ".join(line.strip().removeprefix("//") for line in lines[begin:first])


def is_tagged(tree, path, lines, first):
    header = path.removesuffix(".cpp") + ".hpp"
    heads = [path] + ([header] if header != path and (tree.root / header).is_file() else [])
    return (TAG.search(re.sub(r"\s+", " ", comment_above(lines, first))) or
            any(TAG.search(re.sub(r"\s+", " ", first_comment(tree.read(head)))) for head in heads))


def check_regimes(tree):
    found = []
    for path, first, name, length, _complexity in size.functions(tree):
        if not path.startswith("src/pg/"):
            continue
        text = tree.read(path)
        body = "\n".join(without_texts(text).splitlines()[first - 1:first - 1 + length])
        if not RAISES.search(without_arguments(without_arguments(body, "guard"), "entry")):
            continue
        subject, place = f"{path} {name}", f"{path}:{first}: {name}"
        if THROWS.search(without_arguments(body, "entry")):
            found.append(Violation("regimes", subject, f"{place}: raises PostgreSQL's errors, and throws or returns its own"))
        if not is_tagged(tree, path, text.splitlines(), first):
            found.append(Violation("regimes", subject, f"{place}: raises PostgreSQL's errors and does not say `May ereport`"))
    return found
