"""The figures that the memory store has to reach, alone and against other stores."""
from __future__ import annotations

from typing import Dict, List, Optional

import figures
from figures import Figure


def _times(name: str, ours: Optional[float], theirs: Optional[float], wanted: float) -> Figure:
    return Figure(name, round(ours / theirs, 2) if ours and theirs else None, wanted)


class Lines:
    """The rows of one task's results."""

    def __init__(self, lines: object):
        self._lines: List[dict] = lines if isinstance(lines, list) else []

    def find(self, **wanted: object) -> dict:
        return next((line for line in self._lines if all(line.get(name) == value for name, value in wanted.items())), {})

    def most_clients(self) -> int:
        return max((int(line["clients"]) for line in self._lines), default=1)

    def rate(self, **wanted: object) -> Optional[float]:
        return self.find(**wanted).get("per_second")


def _gets(gets: Lines) -> List[Figure]:
    single = gets.find(store="stromkv", keys="uniform", batch=1)
    pairs = (("redis", 1, 25), ("memcached", 1, 25), ("redis", 16, 4), ("memcached", 16, 4), ("lmdb", 1, 1.5))
    return [
        Figure("gets, uniform", single.get("per_second"), 2e6, "/s"),
        Figure("gets, zipf", gets.rate(store="stromkv", keys="zipf", batch=1), 3.5e6, "/s"),
        Figure("gets, 8 at once, uniform", gets.rate(store="stromkv", keys="uniform", batch=8), 4e6, "/s"),
        Figure("gets: 99 % take", single.get("p99_us"), 5, "us", True),
        Figure("gets: server's processor time for a million", single.get("server_cpu_s_per_million"), 0.001, "s", True),
        *(_times(f"gets, {keys}: times {store}{', 16 at once' if batch > 1 else ''}", gets.rate(store="stromkv", keys=keys, batch=1),
                 gets.rate(store=store, keys=keys, batch=batch), wanted)
          for keys in ("uniform", "zipf") for store, batch, wanted in pairs),
        *(_times(f"key by SQL, {keys}: times a heap table's index", gets.rate(store="store table, SQL", keys=keys, clients=gets.most_clients()),
                 gets.rate(store="heap, SQL", keys=keys, clients=gets.most_clients()), 1) for keys in ("uniform", "zipf")),
    ]


def _changes(puts: Lines, mix: Lines) -> List[Figure]:
    return [
        Figure("puts by message, async", puts.rate(store="stromkv", batch=1, durability=None), 1e5, "/s"),
        *(_times(f"9 gets and a put, {keys}: times {store}", mix.rate(store="stromkv", keys=keys), mix.rate(store=store, keys=keys), 20)
          for keys in ("uniform", "zipf") for store in ("redis", "memcached")),
    ]


def _tables(load: Lines, pgbench: Lines, analytic: Lines) -> List[Figure]:
    def updates(protocol: str, other: str, wanted: float) -> Figure:
        return _times(f"updates by key, {protocol}: times {other}", pgbench.rate(store="store table", protocol=protocol),
                      pgbench.rate(store=other, protocol=protocol), wanted)

    def query(name: str, state: str, store: str) -> Optional[float]:
        return analytic.find(store=store, state=state, query=name).get("seconds")

    found = [
        updates("prepared", "heap", 1.5),
        updates("prepared", "unlogged", 1.2),
        updates("simple", "heap", 1.2),
        figures.ratio("INSERT ... SELECT: times heap", load.find(store="heap").get("seconds"), load.find(store="store table").get("seconds"), 3),
    ]
    for name in ("filter", "sums", "st_contains"):
        ours = query(name, "updated", "store table")
        found.append(figures.ratio(f"query {name} beside updates: times heap", query(name, "updated", "heap"), ours, 50))
        arrow = query(name, "updated", "Arrow file")
        found.append(Figure(f"query {name} beside updates: times as long as over the Arrow file", round(ours / arrow, 2) if ours and arrow else None,
                            1.3, "x", True))
    return found


def _memory(memory: Dict[str, float], name: str, part: str) -> Figure:
    return Figure(f"memory of {name} for a byte of the rows", round(memory[part] / memory["own_bytes"], 2) if memory.get(part) else None, 1.4, "bytes", True)


def wanted_figures(measured: Dict[str, object]) -> List[Figure]:
    """The figures of the tasks that have run."""
    lines = {name: Lines(measured.get(name)) for name in ("gets", "puts", "mix", "load", "pgbench", "analytic")}
    found: List[Figure] = []
    if "gets" in measured:
        memory = measured.get("memory") or {}
        found += _gets(lines["gets"]) + [_memory(memory, "the region", "region_bytes"), _memory(memory, "the table", "table_bytes")]
    if "puts" in measured or "mix" in measured:
        found += _changes(lines["puts"], lines["mix"])
    if "load" in measured or "pgbench" in measured or "analytic" in measured:
        found += _tables(lines["load"], lines["pgbench"], lines["analytic"])
    if "points_memory" in measured:
        found.append(_memory(measured["points_memory"], "the points", "table_bytes"))
    if "recovery" in measured:
        found.append(Figure("recovery of the points", round(measured["recovery"]["seconds"], 2), 10, "s", True))
    return found
