"""Who may include whom: layers.txt against the includes of the sources."""
import collections
import posixpath
import re

from tree import CPP, Violation

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
# Where "a/b.hpp" is looked for, besides the folder of the file that includes it.
INCLUDE_PATHS = ("src", "tools", "test/unit", "test", "bench", ".")


def parse(text):
    """{folder: folders that it may include directly} of lines `folder: folder folder …`."""
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, colon, below = line.partition(":")
        if not colon or folder in allowed:
            raise ValueError(f"layers.txt:{number}: not `folder: folder …`, or a second line of the folder")
        allowed[folder] = below.split()
    return allowed


def closure(allowed):
    """The folders that each folder may include, those below its own included ones too; and the folders of a cycle."""
    whole, cyclic = {}, set()

    def visit(folder, above):
        if folder in above:
            cyclic.add(folder)
            return set()
        if folder not in whole:
            reached = set()
            for below in allowed.get(folder, ()):
                reached |= {below} | visit(below, above | {folder})
            whole[folder] = reached
        return whole[folder]

    for folder in allowed:
        visit(folder, frozenset())
    return whole, cyclic


class Includes:
    """The includes of a tree, resolved to its own files."""

    def __init__(self, tree):
        self._tree = tree
        self._paths = set(tree.paths())
        self._direct = {}

    def of(self, path):
        """Paths of the tree that a file includes."""
        if path not in self._direct:
            self._direct[path] = [found for name in INCLUDE.findall(self._tree.read(path))
                                  if (found := self._resolve(path, name))]
        return self._direct[path]

    def _resolve(self, path, name):
        tools = [posixpath.join(*path.split("/")[:2])] if path.startswith("tools/") else []
        for folder in (posixpath.dirname(path), *INCLUDE_PATHS, *tools):
            candidate = posixpath.normpath(posixpath.join(folder, name))
            if candidate in self._paths:
                return candidate
        return None

    def closure(self, path):
        """The file and all that it includes, directly or not."""
        seen, waiting = {path}, [path]
        while waiting:
            for found in self.of(waiting.pop()):
                if found not in seen:
                    seen.add(found)
                    waiting.append(found)
        return seen


def folder_of(path, allowed):
    """The longest line of layers.txt that the path lies below; a path itself may have a line."""
    while path:
        if path in allowed:
            return path
        path = posixpath.dirname(path)
    return None


def check_layers(tree):
    file = tree.root / "test/style/layers.txt"
    allowed = parse(file.read_text())
    whole, cyclic = closure(allowed)
    found = [Violation("layers", folder, f"layers.txt: {folder} stands below itself") for folder in sorted(cyclic)]
    for folder in sorted({below for folders in allowed.values() for below in folders} - set(allowed)):
        found.append(Violation("layers", folder, f"layers.txt: {folder} has no line"))
    for folder in allowed:
        if not (tree.root / folder).exists():
            found.append(Violation("layers", folder, f"layers.txt: {folder} is not in the tree"))
    includes, wrong = Includes(tree), collections.defaultdict(list)
    for path in tree.paths(*CPP, ".def", below=("src", "tools")):
        folder = folder_of(path, allowed)
        if folder is None:
            found.append(Violation("layers", path, f"{path}: layers.txt has no line for its folder"))
            continue
        for target in includes.of(path):
            below = folder_of(target, allowed)
            if below is not None and below != folder and below not in whole[folder]:
                wrong[f"{folder} -> {below}"].append(f"{path} includes {target}")
    for edge, lines in sorted(wrong.items()):
        found.append(Violation("layers", edge, f"{edge}: {len(lines)}: " + "; ".join(lines[:3]), len(lines)))
    return found


