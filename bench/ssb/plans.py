"""Who answers a query, from PostgreSQL's EXPLAIN (FORMAT JSON). Called by postgres.py."""
from __future__ import annotations

from typing import Iterator, List

# What may stand above the engine's node without touching a table's rows.
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
    """Every kind of node in the plan, top down."""
    return ", ".join(dict.fromkeys(_name(node) for node in _walk(plan)))


def worker_names(plan: dict) -> str:
    """The nodes that touch rows of a table: `CpuPreAgg` when the engine does it all."""
    return " + ".join(dict.fromkeys(_name(node) for node in _working_nodes(plan)))


def is_wholly_in_engine(plan: dict) -> bool:
    """One node of the engine, nothing below it, and above it nothing but finishing touches."""
    working = _working_nodes(plan)
    return len(working) == 1 and working[0]["Node Type"] == "Custom Scan" and not working[0].get("Plans")
