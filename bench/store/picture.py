"""The chart of the memory store's benchmark: the time of an operation in each store."""
from __future__ import annotations

from typing import Dict, Optional

import chart
from wanted import Lines

_MICRO = 1e6
# What kvbench calls a store, and how the chart does.
_BY_KEY = {"stromkv": "pg_strom", "redis": "redis", "memcached": "memcached", "lmdb": "lmdb"}
_BY_SQL = {"store table, SQL": "pg_strom", "heap, SQL": "postgres", "unlogged, SQL": "unlogged"}
_TABLES = {"store table": "pg_strom", "heap": "postgres", "unlogged": "unlogged"}


def _group(lines: Lines, stores: Dict[str, str], **wanted: object) -> Dict[str, float]:
    rates = {name: lines.rate(store=store, **wanted) for store, name in stores.items()}
    return {name: _MICRO / rate for name, rate in rates.items() if rate}


def _many(gets: Lines) -> Dict[str, float]:
    found = {name: gets.rate(store=store, keys="uniform", batch=8) or gets.rate(store=store, keys="uniform", batch=16) for store, name in _BY_KEY.items()}
    return {name: _MICRO / rate for name, rate in found.items() if rate}


def _insert(load: Lines) -> Dict[str, float]:
    found = {name: load.find(store=store) for store, name in _TABLES.items()}
    return {name: _MICRO * line["seconds"] / line["rows"] for name, line in found.items() if line}


def groups_of(measured: Dict[str, object]) -> Dict[str, Dict[str, float]]:
    """Microseconds for an operation, by what was done and in which store."""
    gets, puts, mix, ycsb, load, pgbench = (Lines(measured.get(task)) for task in ("gets", "puts", "mix", "ycsb", "load", "pgbench"))
    groups = {
        "get": _group(gets, _BY_KEY, keys="uniform", batch=1),
        "8, 16 a call": _many(gets),
        "put": _group(puts, _BY_KEY, batch=1, durability=None),
        "9 gets, 1 put": _group(mix, _BY_KEY, keys="uniform"),
        **{f"YCSB {workload}": _group(ycsb, _BY_KEY, workload=workload, value_bytes=64) for workload in "ABCDF"},
        "SELECT by key": _group(gets, _BY_SQL, keys="uniform", clients=gets.most_clients()),
        "UPDATE by key": _group(pgbench, _TABLES, protocol="prepared"),
        "INSERT": _insert(load),
    }
    return {name: times for name, times in groups.items() if times}


def draw(measured: Dict[str, object], rows: int, machine: str) -> Optional[str]:
    """The text of the SVG; None: nothing of it was measured."""
    groups = groups_of(measured)
    if not groups:
        return None
    title = f"Time of an operation by key, {rows:,} rows with values of 64 bytes"
    note = "Of all clients together: one gets, 8 put, run YCSB and SELECT, 32 do nine gets and a put, 48 UPDATE. Logarithmic: shorter is faster"
    return chart.draw_groups(groups, title, note, machine, "us")
