"""Files that pages for developers and comments name by a part of their path: `exec/execution.hpp`, `lower.cpp`. Paths
from the root on are those of the gate `paths`."""
import functools
import re

from pages import PLACEHOLDER, SPAN, without_code
from tree import CPP, Violation

# A code span of letters and slashes; a source file in a comment.
PART = re.compile(r"^[a-z_][a-z_0-9]*(?:/[a-z_0-9]+)*/?(?:\.(?:hpp|cpp|cuh|def))?$")
SOURCE = re.compile(r"\.(?:hpp|cpp|cuh|def)$")
COMMENT = re.compile(r"(?:^|\s)//(.*)$", re.M)
NAMED = re.compile(r"(?<![\w./*{},-])[a-z_0-9]+(?:/[a-z_0-9]+)*\.(?:hpp|cpp|cuh|def)\b")


@functools.cache
def known(tree):
    """All ends of paths of files, with and without a suffix, and all parts of paths of folders."""
    found = set()
    for path in tree.paths():
        parts = path.split("/")
        for begin in range(len(parts)):
            end = "/".join(parts[begin:])
            found |= {end, re.sub(r"\.\w+$", "", end)}
            found |= {"/".join(parts[begin:last]) for last in range(begin + 1, len(parts))}
    return found


def check_names(tree):
    found = []

    def check(path, number, name):
        if name.rstrip("/") not in known(tree):
            found.append(Violation("names", f"{path} {name}", f"{path}:{number}: there is no {name}"))

    for path in tree.paths(".md", below=("docs",)):
        if not path.startswith(("docs/dev/", "docs/format/")):
            continue
        for number, line in enumerate(without_code(tree.read(path)), 1):
            for span in SPAN.findall(line):
                if PART.match(span) and ("/" in span or SOURCE.search(span)) and not PLACEHOLDER.search(span):
                    check(path, number, span)
    for path in tree.paths(*CPP, ".def", below=("src", "tools")):
        text = tree.read(path)
        for comment in COMMENT.finditer(text):
            for name in NAMED.findall(comment.group(1)):
                check(path, text.count("\n", 0, comment.start(1)) + 1, name)
    return found
