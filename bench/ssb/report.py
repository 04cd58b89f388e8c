"""Reports the benchmark's measurements: the figures, the table on the terminal, the JSON. Called by run.py."""
from __future__ import annotations

import statistics
from typing import Dict, List, Optional

DUCKDB = ("duckdb_arrow", "duckdb_native")
RIVALS = DUCKDB + ("polars",)

Medians = Dict[str, Dict[str, float]]  # query -> engine -> ms


def medians_of(results: List[dict]) -> Medians:
    medians: Medians = {}
    for result in results:
        if "median_ms" in result:
            medians.setdefault(result["query"], {})[result["engine"]] = result["median_ms"]
    return medians


def _ratios(medians: Medians, rivals) -> Dict[str, float]:
    """For each query, the best rival's time divided by pg_strom's; only for queries that both answered."""
    ratios = {}
    for query, times in medians.items():
        measured = [times[name] for name in rivals if name in times]
        if measured and "pg_strom" in times:
            ratios[query] = min(measured) / times["pg_strom"]
    return ratios


def _compared(medians: Medians, rivals) -> Optional[dict]:
    ratios = _ratios(medians, rivals)
    if not ratios:
        return None
    lowest = min(ratios, key=ratios.get)
    return {
        "geometric_mean": statistics.geometric_mean(ratios.values()),
        "lowest": ratios[lowest],
        "lowest_query": lowest,
        "queries": len(ratios),
    }


def figures(results: List[dict]) -> Dict[str, dict]:
    """How many times faster pg_strom was than each engine, than the better DuckDB, and than the best of DuckDB and
    Polars."""
    medians = medians_of(results)
    engines = list(dict.fromkeys(result["engine"] for result in results))
    groups = {engine: (engine,) for engine in engines if engine != "pg_strom"}
    present = [engine for engine in RIVALS if engine in engines]
    if len([engine for engine in DUCKDB if engine in engines]) > 1:
        groups["best of DuckDB"] = DUCKDB
    if "polars" in present and len(present) > 1:
        groups["best of DuckDB and Polars"] = tuple(present)
    compared = {name: _compared(medians, members) for name, members in groups.items()}
    return {name: entry for name, entry in compared.items() if entry}


def aligned(rows: List[List[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
             for row in rows]  # fmt: skip
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(line.rstrip() for line in lines)


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.2f}" if milliseconds < 10 else f"{milliseconds:.1f}" if milliseconds < 1000 else f"{milliseconds:.0f}"


def _times(number: float) -> str:
    return f"{number:.0f}x" if number >= 100 else f"{number:.1f}x" if number >= 10 else f"{number:.2f}x"


def _cell(result: Optional[dict], base: Optional[float]) -> List[str]:
    """A time, and its ratio to pg_strom's time."""
    if result is None or "median_ms" not in result:
        return ["failed", ""]
    wrong = "" if result["equal"] else " WRONG"
    ratio = _times(result["median_ms"] / base) if base and result["engine"] != "pg_strom" else ""
    return [_time(result["median_ms"]) + wrong, ratio]


def time_table(report: dict) -> str:
    """The median times of all engines for each query, with their ratios to pg_strom's time."""
    results = {(result["query"], result["engine"]): result for result in report["results"]}
    queries = list(dict.fromkeys(query for query, _ in results))
    engines = list(dict.fromkeys(engine for _, engine in results))
    medians = medians_of(report["results"])
    rows = [["ms"] + [text for engine in engines for text in (engine, "")]]
    for query in queries:
        base = medians.get(query, {}).get("pg_strom")
        rows.append([query] + [text for engine in engines for text in _cell(results[query, engine], base)])
    means = {
        engine: statistics.geometric_mean([times[engine] for times in medians.values() if engine in times])
        for engine in engines
        if any(engine in times for times in medians.values())
    }
    ratios = figures(report["results"])
    rows.append(["geo. mean"] + [
        text for engine in engines
        for text in (_time(means[engine]) if engine in means else "",
                     _times(ratios[engine]["geometric_mean"]) if engine in ratios else "")
    ])  # fmt: skip
    return aligned(_without_empty_columns(rows))


def _without_empty_columns(rows: List[List[str]]) -> List[List[str]]:
    kept = [i for i in range(len(rows[0])) if any(row[i] for row in rows)]
    return [[row[i] for i in kept] for row in rows]


def engine_table(report: dict, engine: str) -> str:
    """One engine's figures for each query."""
    rows = [["query", "ms", "min", "max", "Mrows/s", "GB/s", "memory MB", "equal", "answered by"]]
    for result in report["results"]:
        if result["engine"] != engine or "median_ms" not in result:
            continue
        peak = result.get("anon_peak_mb")
        rows.append([
            result["query"], _time(result["median_ms"]), _time(result["min_ms"]), _time(result["max_ms"]),
            f"{result['rows_per_s'] / 1e6:.0f}", f"{result['gb_per_s']:.2f}", f"{peak:.0f}" if peak else "",
            "yes" if result["equal"] else "NO", result["answered_by"],
        ])  # fmt: skip
    return aligned(_without_empty_columns(rows))


def summary_lines(report: dict) -> List[str]:
    lines = []
    for name, entry in report["figures"].items():
        lines.append(
            f"pg_strom against {name}: {_times(entry['geometric_mean'])} faster in geometric mean of "
            f"{entry['queries']} queries, at least {_times(entry['lowest'])} ({entry['lowest_query']})"
        )
    bandwidth = report["read_bandwidth_gb_s"]
    share = report.get("q1_1_share_of_read_bandwidth")
    lines.append(
        f"Read bandwidth of this machine over Q1_1's columns: {bandwidth:.1f} GB/s"
        + (f"; pg_strom's Q1_1 reached {100 * share:.0f} %" if share else "")
    )
    if "fixed_cost_ms" in report:
        detail = report["fixed_cost"]
        lines.append(
            f"Fixed cost of a query: {report['fixed_cost_ms']:.2f} ms (planning {detail['pg_strom_planning_ms']:.2f} and "
            f"execution {detail['pg_strom_execution_ms']:.2f}, less PostgreSQL's planning "
            f"{detail['postgres_planning_ms']:.2f})"
        )
    proofs = [result["wholly_in_engine"] for result in report["results"] if "wholly_in_engine" in result]
    if proofs:
        lines.append(f"Queries that ran wholly in the engine, by their plans: {sum(proofs)} of {len(proofs)}")
    for scan in report.get("scans", ()):
        lines.append(
            f"count(*) with a filter on column {scan['column']}, {scan['engine']}: {scan['rows_per_s_per_core'] / 1e6:.1f} million "
            f"rows/s per core ({_time(scan['median_ms'])} ms, {scan['answered_by']})"
        )
    peaks = [result["anon_peak_mb"] for result in report["results"] if result.get("anon_peak_mb")]
    if peaks:
        lines.append(f"Memory over the mapped files: at most {max(peaks):.0f} MB")
    return lines
