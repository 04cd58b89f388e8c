"""Finds out what answers a query, from PostgreSQL's EXPLAIN (FORMAT JSON). Called by postgres.py."""
from __future__ import annotations

from typing import Iterator, List

# Nodes that may be above the engine's node, because they do not touch a table's rows.
_FINISHING_NODES = {"Sort", "Incremental Sort", "Aggregate", "Result", "Limit", "Gather", "Gather Merge"}


def _walk(node: dict) -> Iterator[dict]:
    yield node
    for child in node.get("Plans", ()):
        yield from _walk(child)


def _name(node: dict) -> str:
    if node["Node Type"] == "Custom Scan":
        return node["Custom Plan Provider"]
    partial = f"{node['Partial Mode']} " if node.get("Partial Mode", "Simple") != "Simple" else ""
    parallel = "Parallel " if node.get("Parallel Aware") else ""
    return partial + parallel + node["Node Type"]


def _working_nodes(plan: dict) -> List[dict]:
    return [node for node in _walk(plan) if node["Node Type"] not in _FINISHING_NODES and _name(node) != "CpuAgg"]


def node_names(plan: dict) -> str:
    """The kinds of nodes in the plan, from the top down."""
    return ", ".join(dict.fromkeys(_name(node) for node in _walk(plan)))


def worker_names(plan: dict) -> str:
    """The nodes that touch rows of a table; just `CpuPreAgg` when the engine does everything."""
    return " + ".join(dict.fromkeys(_name(node) for node in _working_nodes(plan)))


def is_wholly_in_engine(plan: dict) -> bool:
    """True if the plan has one node of the engine, nothing below it, and only finishing nodes above it."""
    working = _working_nodes(plan)
    return len(working) == 1 and working[0]["Node Type"] == "Custom Scan" and not working[0].get("Plans")
