"""The namespace of a source is that of its folder: `strom`, then the folders of its path below src/. It may be shorter,
as rooms of a folder share its namespace, but in src/engine, src/format and src/pg it has the folder below these.
Mere declarations of classes are not looked at: they name what other folders have."""
import posixpath
import re

from tree import CPP, Violation

NAMESPACE = re.compile(r"^namespace (strom(?:::\w+)*) \{\n((?:(?:class|struct|enum)\b[^\n{]*;(?: *//[^\n]*)?\n)*)(\})?", re.M)
DIVIDED = ("engine", "format", "pg")  # layers whose folders have namespaces


def expected(path):
    """The longest namespace of a path, in parts, and the least number of parts."""
    parts = path.split("/")[1:-1]
    return ["strom", *parts], min(len(parts), 2 if parts and parts[0] in DIVIDED else 1) + 1


def check_namespaces(tree):
    found = []
    for path in tree.paths(*CPP, below=("src",)):
        longest, least = expected(path)
        for match in NAMESPACE.finditer(tree.read(path)):
            parts = match[1].split("::")
            if match[2] and match[3]:
                continue
            if len(parts) < least or parts != longest[:len(parts)]:
                found.append(Violation("namespaces", f"{posixpath.dirname(path)} {match[1]}",
                                       f"{path}: {match[1]}, where {'::'.join(longest)} is its folder"))
    return found
