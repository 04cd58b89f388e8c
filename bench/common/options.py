"""Options and messages that the benchmarks' programs have in common."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import List, Sequence


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def add_server(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--pg-socket-dir", required=True, help="folder of the server's UNIX socket")
    add("--pg-port", type=int, default=5432, help="port of the server (default 5432)")
    add("--pg-user", default="postgres", help="role, which must be a superuser (default postgres)")
    add("--pg-db", default="postgres", help="database (default postgres)")


def add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, help="JSON file")


def add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", type=Path, required=True, help="where generated files are kept")
    parser.add_argument("--build-dir", type=Path, required=True, help="where the programs were built")


def add_tasks(parser: argparse.ArgumentParser, known: Sequence[str]) -> None:
    """--tasks: a list of some of the known tasks; all by default."""

    def chosen(text: str) -> List[str]:
        names = [name for name in text.split(",") if name]
        if unknown := set(names) - set(known):
            raise argparse.ArgumentTypeError(f"unknown tasks: {', '.join(sorted(unknown))}")
        return names

    parser.add_argument("--tasks", type=chosen, default=list(known), help=f"only these: {', '.join(known)}")
