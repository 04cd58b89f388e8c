"""clang-tidy with the committed settings, on the lines that changed since the commit in base.txt.

A file is clean for as long as it, the repository's headers below it, .clang-tidy, its compile command and the base are
what they were: their hash is kept in .strom/style/tidy.json. Of the others, those that were changed last in git come
first, until the time is up. So a run from nothing checks the newest changes, and the runs after it the rest.
`--tidy-all` checks all lines of all files, and shows what it finds as it finds it. STROM_CLANG_TIDY names another program
than clang-tidy-19; later releases leave system headers alone and take half of the time.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import threading
import time

from layers import Includes
from tree import CPP, Violation

PROGRAM = os.environ.get("STROM_CLANG_TIDY", "clang-tidy-19")
DATABASE = "build/compile_commands.json"
STAMPS = ".strom/style/tidy.json"
SECONDS = 30  # for starting new files; one that runs is waited for
MOST_SECONDS = 60  # for one file, which is otherwise left to a later run
MOST_SECONDS_OF_ALL = 900  # for one file, where none is left to a later run
FOLDERS = ("src", "tools", "test", "bench")
WHOLE_FILE = [[1, 1_000_000]]
WARNING = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)$", re.M)
HUNK = re.compile(r"^(?:\+\+\+ b/(?P<path>.*)|@@ \S+ \+(?P<line>\d+)(?:,(?P<count>\d+))? @@.*)$", re.M)


def commands(tree):
    """{path: compile command} of the tree's own sources in the compilation database. What is compiled once for each
    instruction set is looked at once."""
    found = {}
    for entry in json.loads((tree.root / DATABASE).read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), tree.root)
        if path.startswith(FOLDERS) and path.endswith(".cpp"):
            found.setdefault(path, entry.get("command") or shlex.join(entry["arguments"]))
    known = set(tree.paths())
    return {path: command for path, command in found.items() if path in known}


def changed_lines(tree, base):
    """{path: [[first, last], …]} of C++ that is not as in the base; moved files have the lines that differ."""
    found = {}
    path = None  # a file that was deleted has none
    for hunk in HUNK.finditer(tree.git("diff", "-U0", "-M", base, "--", *FOLDERS)):
        if hunk["path"]:
            path = hunk["path"]
        elif path and path.endswith(CPP) and (count := int(hunk["count"] or 1)):
            found.setdefault(path, []).append([int(hunk["line"]), int(hunk["line"]) + count - 1])
    for path in tree.git("ls-files", "--others", "--exclude-standard", "--", *FOLDERS).splitlines():
        if path.endswith(CPP):
            found[path] = WHOLE_FILE
    return found


def chosen(compiled, changed, includes):
    """Sources that changed, and for each header that changed and that none of them includes, one that does."""
    paths = [path for path in compiled if path in changed]
    covered = set().union(*(includes.closure(path) for path in paths)) if paths else set()
    for path in compiled:
        if (set(changed) & includes.closure(path)) - covered:
            paths.append(path)
            covered |= includes.closure(path)
    return paths


def hashes(tree, compiled, paths, includes, base):
    """{path: hash of all that clang-tidy's answer depends on in the repository}."""
    single = {}

    def digest(path):
        if path not in single:
            single[path] = hashlib.sha256((tree.root / path).read_bytes()).hexdigest()
        return single[path]

    settings = digest(".clang-tidy")
    return {path: hashlib.sha256("\n".join([settings, base, compiled[path], *(
        below + digest(below) for below in sorted(includes.closure(path)))]).encode()).hexdigest() for path in paths}


def newest_first(tree, paths):
    """Paths in the order in which git saw them change last, uncommitted changes first."""
    order = {}
    if tree.has_git:
        names = [line[3:] for line in tree.git("status", "--porcelain").splitlines()]
        names += tree.git("log", "--format=", "--name-only", "-n", "300").splitlines()
        for path in names:
            order.setdefault(path, len(order))
    return sorted(paths, key=lambda path: (order.get(path, len(order)), path))


def tidy(tree, path, line_filter, most_seconds):
    """What clang-tidy finds in one file and the repository's headers below it; None when it takes too long."""
    command = ["timeout", "--kill-after=5", str(most_seconds), PROGRAM, "--quiet", "-p", "build"]
    done = subprocess.run([*command, *line_filter, path], cwd=tree.root, capture_output=True, text=True)
    if done.returncode in (124, 137, -9):  # timeout dies with the program that it kills
        return None
    lines = {f"{os.path.relpath(file, tree.root)}:{line}: {text}" for file, line, text in WARNING.findall(done.stdout)}
    if done.returncode != 0 and not lines:
        lines.add(f"{path}: clang-tidy ends with status {done.returncode}: {done.stderr.strip()[-300:]}")
    return sorted(lines)


def tidy_files(tree, paths, filter_of, everything, found_in):
    """{path: what clang-tidy finds} of as many of the paths as can be begun in the time; found_in(path, lines) is called
    as they come, by one thread at a time."""
    waiting, lock, results = list(paths), threading.Lock(), {}
    end = time.monotonic() + (float("inf") if everything else SECONDS)

    def work():
        while True:
            with lock:
                if not waiting or time.monotonic() > end:
                    return
                path = waiting.pop(0)
            found = tidy(tree, path, filter_of(path), MOST_SECONDS_OF_ALL if everything else MOST_SECONDS)
            if found is not None:
                with lock:
                    results[path] = found
                    found_in(path, found)

    workers = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for task in [pool.submit(work) for _ in range(workers)]:
            task.result()
    return results


def write_whole(path, text):
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def check_tidy(tree, everything=False, base=None, say=print):
    if not (tree.root / DATABASE).exists():
        return [Violation("clang-tidy", DATABASE, f"there is no {DATABASE}: ./strom build writes it")]
    base = base or tree.base()
    if not everything and not tree.has_commit(base):
        say(f"        clang-tidy: this tree's history does not reach back to {base}")
        return []
    compiled, includes = commands(tree), Includes(tree)
    changed = {} if everything else changed_lines(tree, base)
    paths = list(compiled) if everything else chosen(compiled, changed, includes)
    wanted = hashes(tree, compiled, paths, includes, "everything" if everything else base)
    stamps_file = tree.root / STAMPS
    stamps = json.loads(stamps_file.read_text()) if stamps_file.exists() else {}
    stale = newest_first(tree, [path for path in paths if stamps.get(path) != wanted[path]])

    def filter_of(path):
        """Of what the file includes only: one argument of a program has 128 kB at most."""
        names = [{"name": below, "lines": changed[below]} for below in sorted(includes.closure(path)) if below in changed]
        return [f"--line-filter={json.dumps(names, separators=(',', ':'))}"]

    stamps_file.parent.mkdir(parents=True, exist_ok=True)

    def stamp(path, lines):
        """At once, so that a run which is broken off goes on where it was."""
        if not lines:
            stamps[path] = wanted[path]
            write_whole(stamps_file, json.dumps(stamps, indent=0, sort_keys=True))
        for line in lines if everything else []:
            say(f"        {line}")

    results = tidy_files(tree, stale, (lambda path: []) if everything else filter_of, everything, stamp)
    say(f"        clang-tidy: {len(paths)} files, {len(paths) - len(stale)} clean before, {len(results)} checked now, "
        f"{len(stale) - len(results)} left to later runs")
    lines = sorted({line for found in results.values() for line in found})
    if everything:
        lines += [f"{path}: clang-tidy takes more than {MOST_SECONDS_OF_ALL} s" for path in stale if path not in results]
    return [Violation("clang-tidy", line.split(":")[0], line) for line in lines]
