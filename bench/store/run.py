#!/usr/bin/env python3
"""Rows by key and as a whole: a store table against Redis, memcached, LMDB and PostgreSQL's own tables.
Prints a table, and writes JSON and a chart. Called by `./strom bench store`; docs/dev/benchmark.md explains what is measured."""
from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Dict

sys.dont_write_bytecode = True
for folder in ("common", "ssb"):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import options  # noqa: E402
import picture  # noqa: E402
from keyed import Keyed  # noqa: E402
from options import say  # noqa: E402
from points import Points  # noqa: E402
from wanted import wanted_figures  # noqa: E402

KEYED = ("gets", "puts", "mix", "ycsb", "ranges")
POINTS = ("load", "pgbench", "analytic", "recovery")


def kept(out: Path) -> Dict[str, object]:
    """The measurements of earlier calls, so that tasks may be run one by one."""
    try:
        found = json.loads(out.read_text())
    except (OSError, ValueError):
        return {}
    return {part: found[part] for part in (*KEYED, *POINTS, "memory", "points_memory") if part in found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="keys of gets, puts, mix, ycsb")
    parser.add_argument("--bytes", type=int, default=64, help="of a value")
    parser.add_argument("--large-rows", type=int, default=1_000_000, help="keys of ycsb with values of 1 KB; 0: leave it out")
    parser.add_argument("--seconds", type=float, default=5, help="for each line of gets, puts and mix")
    parser.add_argument("--ycsb-seconds", type=float, default=2, help="for each line of ycsb and ranges")
    parser.add_argument("--clients", type=int, default=8, help="of puts and ycsb")
    parser.add_argument("--mix-clients", type=int, default=32, help="of the mix of nine gets and a put")
    parser.add_argument("--points", type=int, default=12_000_000, help="rows of load, pgbench, analytic and recovery")
    parser.add_argument("--pgbench-clients", type=int, default=48)
    parser.add_argument("--pgbench-seconds", type=int, default=6, help="for each of the rounds of a line of pgbench")
    parser.add_argument("--runs", type=int, default=5, help="of each analytic query; fewer where they take long, more where they take less than a second together")
    options.add_tasks(parser, (*KEYED, *POINTS))
    options.add_out(parser)
    options.add_folders(parser)
    options.add_server(parser)
    arguments = parser.parse_args()
    measured = kept(arguments.out)
    try:
        if any(task in arguments.tasks for task in KEYED):
            Keyed(arguments, measured).run()
        if any(task in arguments.tasks for task in POINTS):
            Points(arguments, measured).run()
    finally:
        # Written after each task, so that a failure of a later task loses nothing.
        result = {"benchmark": "store", "machine": hardware.describe(), "rows": arguments.rows, "value_bytes": arguments.bytes,
                  "large_rows": arguments.large_rows, "points": arguments.points, "seconds": arguments.seconds,
                  "load_average": os.getloadavg()[0], **measured}
        wanted = wanted_figures(measured)
        result["figures"] = figures.as_json(wanted)
        figures.show(wanted)
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")
        drawn = picture.draw(measured, arguments.rows, hardware.summary(result["machine"]))
        if drawn:
            arguments.out.with_suffix(".svg").write_text(drawn)
        say(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
