"""Each gate finds a violation in a small tree that has one, and nothing in the same tree without it."""
import json
import subprocess
import tempfile
import time

import commits
import exceptions
import formatting
import layers
import names
import namespaces
import pages
import regimes
import size
import tidy
from tree import Tree, Violation

BRANCHES = "\n".join(f"  if (a == {n}) return {n + 1};" for n in range(30))
LONG = "\n".join(f"  a += {n};" for n in range(120))
LAYERS = "src/base:\nsrc/top: src/base\n"
HEADER = {"src/top/x.hpp": "#pragma once\n"}
RAISING = "// One that raises.\n"
RAISE = "ereport(ERROR, (errmsg(\"x\")))"
HISTORY = {"base": "base", "say": lambda text: None}


def compile_database(root):
    path = root / "src/base/x.cpp"
    (root / "build").mkdir()
    entry = {"directory": str(root), "file": str(path), "command": f"c++ -std=c++20 -c {path}"}
    (root / "build/compile_commands.json").write_text(json.dumps([entry]))


def commit(*subjects):
    """Makes the tree a repository with one commit for each subject, behind the commit `base`."""
    def prepare(root):
        repository(root)
        for subject in subjects:
            git(root, "commit", "-q", "--allow-empty", "-m", subject)
    return prepare


def git(root, *arguments):
    subprocess.run(["git", "-C", root, "-c", "user.name=n", "-c", "user.email=e", *arguments], check=True,
                   capture_output=True)


def repository(root):
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "base")
    git(root, "tag", "base")


def compiled_repository(root):
    """All files are new since the base, and x.cpp is compiled."""
    repository(root)
    compile_database(root)


def old_repository(root):
    """All files are those of the base."""
    git(root, "init", "-q")
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "base")
    git(root, "tag", "base")
    compile_database(root)


def nothing(root):
    pass


TIDY_SETTINGS = {".clang-tidy": "Checks: '-*,modernize-use-nullptr'\nHeaderFilterRegex: '.*'\n"}

# (gate, what it is called with, violating files, the subject it names, clean files, steps before it)
CASES = [
    ("format", formatting.check_format, {}, {"src/base/x.cpp": "int  f( );\n"}, "src/base/x.cpp",
     {"src/base/x.cpp": "int f();\n"}),
    ("layers", layers.check_layers, {}, {"src/base/x.cpp": '#include "top/x.hpp"\n', **HEADER,
                                         "test/style/layers.txt": LAYERS}, "src/base -> src/top",
     {"src/top/y.cpp": '#include "base/x.hpp"\n', "src/base/x.hpp": "", "test/style/layers.txt": LAYERS}),
    ("layers", layers.check_layers, {}, {"test/style/layers.txt": "src/base: src/top\nsrc/top: src/base\n",
                                         "src/base/x.hpp": "", **HEADER}, "src/base",
     {"src/base/x.hpp": "", **HEADER, "test/style/layers.txt": LAYERS}),
    ("layers", layers.check_layers, {}, {"src/base/x.hpp": "", **HEADER, "src/other/x.hpp": "",
                                         "test/style/layers.txt": LAYERS}, "src/other/x.hpp",
     {"src/base/x.hpp": "", **HEADER, "test/style/layers.txt": LAYERS}),
    ("file-lines", size.check_files, {}, {"src/base/x.cpp": "\n" * 601}, "src/base/x.cpp",
     {"src/base/x.cpp": "\n" * 600}),
    ("function-lines", size.check_function_lines, {}, {"src/base/x.cpp": f"void f(int a) {{\n{LONG}\n}}\n"},
     "src/base/x.cpp f", {"src/base/x.cpp": "void f(int a) {}\n"}),
    ("complexity", size.check_complexity, {}, {"src/base/x.cpp": f"int f(int a) {{\n{BRANCHES}\n  return 0;\n}}\n"},
     "src/base/x.cpp f", {"src/base/x.cpp": "int f(int a) { return a ? 1 : 0; }\n"}),
    ("regimes", regimes.check_regimes, {}, {"src/pg/x.cpp": f"{RAISING}int f() {{\n  return {RAISE}, 1;\n}}\n"},
     "src/pg/x.cpp f", {"src/pg/x.cpp": f"// May\n// ereport.\nint f() {{\n  return {RAISE}, 1;\n}}\n"}),
    ("regimes", regimes.check_regimes, {},
     {"src/pg/x.cpp": f"// May ereport.\nvoid f() {{\n  guard([] {{ g(); }});\n  {RAISE};\n}}\n"}, "src/pg/x.cpp f",
     {"src/pg/x.cpp": f"void f() {{\n  guard([] {{ {RAISE}; }});\n  throw 1;  // ereport(ERROR)\n}}\n"}),
    ("links", pages.check_links, {}, {"README.md": "[a](docs/none.md)\n"}, "README.md docs/none.md",
     {"README.md": "[a](docs/a.md) [w](https://example.org) `[a](b)`\n", "docs/a.md": ""}),
    ("links", pages.check_links, {}, {"README.md": "# One\n[a](#two)\n"}, "README.md #two",
     {"README.md": "# Two: `x`, (y)\n[a](#two-x-y)\n```\n[a](b)\n```\n"}),
    ("links", pages.check_links, {}, {"README.md": "[a\nb](docs/none.md)\n"}, "README.md docs/none.md",
     {"README.md": "[a\nb](docs/a.md) `[a](b)\nc`\n", "docs/a.md": ""}),
    ("links", pages.check_links, {}, {"src/base/x.hpp": "// See docs/dev/none.md.\n"}, "src/base/x.hpp docs/dev/none.md",
     {"src/base/x.hpp": "// See docs/dev/a.md.\n", "docs/dev/a.md": ""}),
    ("paths", pages.check_paths, {}, {"README.md": "`src/base/{x,y}.cpp`\n", "src/base/x.cpp": ""},
     "README.md src/base/y.cpp", {"README.md": "`src/base/x.cpp`, `src/base/x`, `src/base/X.cpp`\n", "src/base/x.cpp": ""}),
    ("names", names.check_names, {}, {"docs/dev/a.md": "`base/y`\n", "src/base/x.cpp": ""}, "docs/dev/a.md base/y",
     {"docs/dev/a.md": "`base/x` `x.cpp` `src/base` `/dev/null` `base/X.cpp` `y`\n", "src/base/x.cpp": ""}),
    ("names", names.check_names, {}, {"src/base/x.cpp": "int a;  // See y.hpp.\n"}, "src/base/x.cpp y.hpp",
     {"src/base/x.cpp": "// See base/x.cpp.\n#include \"y.hpp\"\n"}),
    ("namespaces", namespaces.check_namespaces, {}, {"src/pg/a/x.cpp": "namespace strom::pg::b {\nint f();\n}\n"},
     "src/pg/a strom::pg::b",
     {"src/pg/a/c/x.cpp": "namespace strom::pg::b {\nclass B;\n}\n\nnamespace strom::pg::a {\nint f();\n}\n",
      "src/base/x.hpp": "namespace strom::base {\nint f();\n}\n"}),
    ("namespaces", namespaces.check_namespaces, {}, {"src/engine/a/x.cpp": "namespace strom::engine {\nint f();\n}\n"},
     "src/engine/a strom::engine", {"src/store/a/x.cpp": "namespace strom::store {\nint f();\n}\n"}),
    ("columns", pages.check_columns, {}, {"README.md": "x" * 121}, "README.md",
     {"README.md": "x" * 120 + "\n```\n" + "x" * 200 + "\n```\n"}),
    ("columns", pages.check_columns, {}, {"README.md": "| " + "x" * 300 + " |\n"}, "README.md",
     {"README.md": "| " + "x" * 100 + " | " + "x" * 100 + " |\n"}),
    ("shellcheck", formatting.check_scripts, {}, {"scripts/x.sh": "#!/bin/bash\nrm $1\n"}, "scripts/x.sh",
     {"scripts/x.sh": "#!/bin/bash\nrm \"$1\"\n"}),
    ("clang-tidy", tidy.check_tidy, HISTORY, {"src/base/x.cpp": "int* p = 0;\n", **TIDY_SETTINGS}, "src/base/x.cpp",
     {"src/base/x.cpp": "int* p = nullptr;\n", **TIDY_SETTINGS}, compiled_repository, compiled_repository),
    ("clang-tidy", tidy.check_tidy, HISTORY, {"src/base/x.cpp": "int* p = nullptr;\n", **TIDY_SETTINGS}, tidy.DATABASE,
     {"src/base/x.cpp": "int* p = 0;\n", **TIDY_SETTINGS}, repository, old_repository),
    ("clang-tidy", tidy.check_tidy, {**HISTORY, "everything": True},
     {"src/base/x.cpp": "int* p = 0;\n", **TIDY_SETTINGS}, "src/base/x.cpp",
     {"src/base/x.cpp": "int* p = nullptr;\n", **TIDY_SETTINGS}, old_repository, old_repository),
    ("commits", commits.check_commits, HISTORY, {}, None, {}, commit("Fixed a bug"),
     commit("Fix a bug", "Pass what is read")),
    ("commits", commits.check_commits, HISTORY, {}, None, {}, commit("Say " + "x" * 69),
     commit("Say " + "x" * 68)),
]


def found_in(gate, check, options, files, prepare):
    """Subjects that the gate finds in a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder)
        for path, text in files.items():
            (tree.root / path).parent.mkdir(parents=True, exist_ok=True)
            (tree.root / path).write_text(text)
        prepare(tree.root)
        return [violation.subject for violation in check(Tree(folder), **options) if violation.gate == gate]


def case_problems(gate, check, options, files, subject, clean, prepare=nothing, prepare_clean=nothing):
    problems = []
    found = found_in(gate, check, options, files, prepare)
    if not found or subject not in (None, *found):
        problems.append(f"a violation of {gate} is not found: {subject or 'any'} expected, {found} found")
    if found := found_in(gate, check, options, clean, prepare_clean):
        problems.append(f"{gate} finds what is none: {found}")
    return problems


def stamp_problems():
    """A file that is clean is not looked at again until it, or a header below it, changes."""
    said = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder)
        for path, text in {"src/base/x.cpp": '#include "x.hpp"\n', "src/base/x.hpp": "", **TIDY_SETTINGS}.items():
            (tree.root / path).parent.mkdir(parents=True, exist_ok=True)
            (tree.root / path).write_text(text)
        compiled_repository(tree.root)
        for change in (None, None, "inline int* p = 0;\n"):
            if change:
                (tree.root / "src/base/x.hpp").write_text(change)
            said.append((bool(tidy.check_tidy(Tree(folder), base="base", say=said.append)), said.pop().split(", ")[2]))
    wanted = [(False, "1 checked now"), (False, "0 checked now"), (True, "1 checked now")]
    return [] if said == wanted else [f"clang-tidy's stamps: {said}"]


def exception_problems():
    """An exception allows up to its limit, and is named when nothing needs it."""
    allowed = exceptions.parse("# head\ncomplexity | 30 | x f | why\ncolumns | 1 | y | why\n")
    used = set()
    far, near = (Violation("complexity", "x f", "", value) for value in (31, 30))
    left = exceptions.apply([far, near], allowed, used)
    unneeded = [violation.subject for violation in exceptions.unneeded(allowed, used, ["complexity", "columns"])]
    return [] if (left, unneeded) == ([far], ["y"]) else [f"exceptions: {left}, {unneeded}"]


def results(gates):
    """(name, violations, seconds) of the gates' self tests, and of the exceptions'."""
    for gate in gates:
        begin = time.monotonic()
        problems = [problem for case in CASES if case[0] == gate for problem in case_problems(*case)]
        if not any(case[0] == gate for case in CASES):
            problems.append(f"{gate} has no case in self_test.py")
        if gate == "clang-tidy":
            problems += stamp_problems()
        yield f"{gate} finds violations", [Violation(gate, gate, text) for text in problems], time.monotonic() - begin
    if gates:
        yield "exceptions have limits", [Violation("exceptions", "", text) for text in exception_problems()], 0
