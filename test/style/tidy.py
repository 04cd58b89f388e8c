"""clang-tidy with the committed settings, on what has changed since it was last found clean.

A file is clean for as long as it, the repository's headers below it, .clang-tidy and its compile command are what they
were: their hash is kept in .strom/style/tidy.json. Of the others, those that were changed last in git come first, until
the time is up. So a run from nothing checks the newest changes, and the runs after it the rest; `--tidy-all` checks all.
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
from tree import Violation

DATABASE = "build/compile_commands.json"
STAMPS = ".strom/style/tidy.json"
SECONDS = 45  # for starting new files; one that runs is waited for
FOLDERS = ("src/", "tools/", "test/", "bench/")
WARNING = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)$", re.M)


def commands(tree):
    """{path: compile command} of the tree's own sources in the compilation database. What is compiled once for each
    instruction set is looked at once."""
    found = {}
    for entry in json.loads((tree.root / DATABASE).read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), tree.root)
        if path.startswith(FOLDERS) and path.endswith(".cpp"):
            found.setdefault(path, entry.get("command") or shlex.join(entry["arguments"]))
    return found


def hashes(tree, compiled):
    """{path: hash of all that clang-tidy's answer depends on in the repository}."""
    includes, single = Includes(tree), {}

    def digest(path):
        if path not in single:
            single[path] = hashlib.sha256((tree.root / path).read_bytes()).hexdigest()
        return single[path]

    settings = digest(".clang-tidy")
    known = set(tree.paths())
    return {path: hashlib.sha256("\n".join([settings, command, *(below + digest(below) for below in
                                                                sorted(includes.closure(path)))]).encode()).hexdigest()
            for path, command in compiled.items() if path in known}


def newest_first(tree, paths):
    """Paths in the order in which git saw them change last, uncommitted changes first."""
    order = {}
    if tree.has_git:
        changed = [line[3:] for line in tree.git("status", "--porcelain").splitlines()]
        changed += tree.git("log", "--format=", "--name-only", "-n", "300").splitlines()
        for path in changed:
            order.setdefault(path, len(order))
    return sorted(paths, key=lambda path: (order.get(path, len(order)), path))


def tidy(tree, path):
    """(path, its violations) of one file and the repository's headers below it."""
    done = subprocess.run(["clang-tidy-19", "--quiet", "-p", "build", path], cwd=tree.root, capture_output=True, text=True)
    lines = {f"{os.path.relpath(file, tree.root)}:{line}: {text}" for file, line, text in WARNING.findall(done.stdout)}
    if done.returncode != 0 and not lines:
        lines.add(f"{path}: clang-tidy ends with status {done.returncode}: {done.stderr.strip()[-300:]}")
    return path, sorted(lines)


def check_tidy(tree, everything=False, say=print):
    if not (tree.root / DATABASE).exists():
        return [Violation("clang-tidy", DATABASE, f"there is no {DATABASE}: ./strom build writes it")]
    stamps_file = tree.root / STAMPS
    stamps = json.loads(stamps_file.read_text()) if stamps_file.exists() else {}
    wanted = hashes(tree, commands(tree))
    stale = newest_first(tree, [path for path, value in wanted.items() if stamps.get(path) != value])
    waiting, lock, results = list(stale), threading.Lock(), {}
    end = time.monotonic() + (float("inf") if everything else SECONDS)

    def work():
        while True:
            with lock:
                if not waiting or time.monotonic() > end:
                    return
                path = waiting.pop(0)
            _, results[path] = tidy(tree, path)

    workers = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for task in [pool.submit(work) for _ in range(workers)]:
            task.result()
    stamps = {path: value for path, value in stamps.items() if path in wanted}
    stamps.update({path: wanted[path] for path, lines in results.items() if not lines})
    stamps_file.parent.mkdir(parents=True, exist_ok=True)
    stamps_file.write_text(json.dumps(stamps, indent=0, sort_keys=True))
    say(f"        clang-tidy: {len(wanted)} files, {len(wanted) - len(stale)} clean before, {len(results)} checked now, "
        f"{len(waiting)} left to later runs")
    lines = sorted({line for found in results.values() for line in found})
    return [Violation("clang-tidy", line.split(":")[0], line) for line in lines]
