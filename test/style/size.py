"""Sizes: lines of a file, lines and cyclomatic complexity of a function. The numbers are those of lizard."""
import collections
import functools
import os

import lizard

from tree import Violation

MOST_LINES_OF_FILE = 600
MOST_LINES_OF_FUNCTION = 100
MOST_COMPLEXITY = 25
MEASURED = (".cpp", ".hpp", ".h", ".cu", ".cuh", ".py")
WRITTEN = (*MEASURED, ".def", ".sh", ".sql", ".cmake", "CMakeLists.txt")
FOLDERS = ("src", "tools", "test", "bench", "scripts", "cmake", "sql")


def is_python(tree, path):
    """Programs of tests have no suffix."""
    return "." not in path.rsplit("/", 1)[-1] and tree.read(path)[:40].startswith("#!/usr/bin/env python3")


def check_files(tree):
    found = []
    for path in tree.paths(below=FOLDERS):
        if "test/data/" in path or "test/expected/" in path or not (path.endswith(WRITTEN) or is_python(tree, path)):
            continue
        lines = tree.read(path).count("\n")
        if lines > MOST_LINES_OF_FILE:
            found.append(Violation("file-lines", path, f"{path}: {lines} lines, {MOST_LINES_OF_FILE} at most", lines))
    return found


@functools.cache
def functions(tree):
    """[(path, first line, name, lines, complexity)] of all functions."""
    found = []
    paths = [path for path in tree.paths(*MEASURED, below=FOLDERS) if "test/data/" not in path]
    full = [str(tree.root / path) for path in paths]
    for file in lizard.analyze_files(full, threads=os.cpu_count() or 1):
        path = os.path.relpath(file.filename, tree.root)
        for function in file.function_list:
            # Lizard reads CUDA and `TEST(a, b)` as C++; the name of a test is in the long name.
            name = function.name if not function.name.endswith("TEST") else function.long_name.replace(" ", "")
            found.append((path, function.start_line, name, function.length, function.cyclomatic_complexity))
    return found


def check_functions(tree):
    found = {}
    names = collections.Counter()
    for path, line, name, length, complexity in functions(tree):
        subject = f"{path} {name}"
        place = f"{path}:{line}: {name}"
        for gate, value, limit, unit in (("function-lines", length, MOST_LINES_OF_FUNCTION, "lines"),
                                         ("complexity", complexity, MOST_COMPLEXITY, "of cyclomatic complexity")):
            if value <= limit:
                continue
            names[gate, subject] += 1
            nth = names[gate, subject]
            key = subject if nth == 1 else f"{subject} {nth}"  # overloads
            found[gate, key] = Violation(gate, key, f"{place}: {value} {unit}, {limit} at most", value)
    return list(found.values())


def check_complexity(tree):
    return [violation for violation in check_functions(tree) if violation.gate == "complexity"]


def check_function_lines(tree):
    return [violation for violation in check_functions(tree) if violation.gate == "function-lines"]
