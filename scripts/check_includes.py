#!/usr/bin/env python3
"""Whether includes inside src/engine follow the order of its rooms; prints those that do not, and exits with 1.

    platform <- block <- expr, agg <- kernels of op <- inst      single source, for the CPU and for CUDA
    plan <- host halves of op <- device <- exec                  host only, may include all of the above but inst

Single-source code never includes what is for the host only. Only exec includes inst.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "src" / "engine"
SINGLE_SOURCE = ["platform", "block", "expr", "agg", "kernel", "inst"]

# What each room may include, besides itself.
ALLOWED = {
    "platform": [],
    "block": ["platform"],
    "expr": ["platform", "block"],
    "agg": ["platform", "block", "expr"],
    "kernel": ["platform", "block", "expr", "agg"],
    "inst": SINGLE_SOURCE,
    "plan": ["platform", "block", "expr"],
    "op": ["platform", "block", "expr", "agg", "kernel", "plan"],
    "device": ["platform", "block", "expr", "agg", "kernel", "plan", "op"],
    "exec": ["platform", "block", "expr", "agg", "kernel", "plan", "op", "device", "inst"],
}


def room_of(path: str) -> str:
    """The room of a file, by its path below src/engine."""
    folder, _, rest = path.partition("/")
    if folder != "op":
        return folder
    is_kernel = rest.endswith("/kernel.hpp") or (rest.startswith("call/") and "regex_match" not in rest)
    return "kernel" if is_kernel else "op"


def wrong_includes():
    for path in sorted(ROOT.rglob("*")):
        if path.suffix not in (".hpp", ".cpp", ".cuh", ".cu"):
            continue
        name = str(path.relative_to(ROOT))
        room = room_of(name)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'#include "engine/([^"]+)"', line)
            if not found:
                continue
            included = room_of(found[1])
            if included != room and included not in ALLOWED[room]:
                yield f"src/engine/{name}:{number}: {room} includes {found[1]}, of {included}"


def main() -> int:
    wrong = list(wrong_includes())
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
