"""Formatting of C++ by clang-format, and of scripts by shellcheck."""
import re
import subprocess

from tree import Violation


def run_on(command, tree, paths):
    """Standard output and error of a program over many files."""
    done = subprocess.run([*command, *paths], cwd=tree.root, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check_format(tree):
    paths = tree.sources()
    if not paths:
        return []
    status, output = run_on(["clang-format-19", "--dry-run", "-Werror"], tree, paths)
    lines = re.findall(r"^(\S+?):(\d+):\d+: error: .*clang-format-violations", output, re.M)
    first = {}
    for path, line in lines:
        first.setdefault(path, line)
    if status != 0 and not first:
        first["clang-format-19"] = output.strip()[-300:] or f"status {status}"
    return [Violation("format", path, f"{path}:{line}: ./strom fmt changes it") for path, line in sorted(first.items())]


def check_scripts(tree):
    paths = tree.scripts()
    if not paths:
        return []
    status, output = run_on(["shellcheck", "-x", "-f", "gcc"], tree, paths)
    found = [Violation("shellcheck", line.split(":")[0], line) for line in output.splitlines() if line.strip()]
    if status != 0 and not found:
        found.append(Violation("shellcheck", "shellcheck", f"status {status}"))
    return found
