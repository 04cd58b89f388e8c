"""The benchmarks' chart: grouped bars, one group for each query and one for the geometric mean, on a logarithmic axis.
It is an SVG without external references, readable on light and dark pages. Called by their run.py."""
from __future__ import annotations

import math
import statistics
from typing import Dict, List
from xml.sax.saxutils import escape

from report import medians_of

_LABELS = {"pg_strom": "pg_strom", "postgres": "PostgreSQL (heap)", "duckdb_arrow": "DuckDB (Arrow)",
           "duckdb_native": "DuckDB (own tables)", "polars": "Polars", "datafusion": "DataFusion",
           "clickhouse": "ClickHouse", "plain": "pg_strom (plain files)", "duckdb": "DuckDB (same files)",
           "unlogged": "PostgreSQL (unlogged)", "redis": "Redis", "memcached": "memcached", "lmdb": "LMDB"}  # fmt: skip
_COLOURS = {"pg_strom": "#d1495b", "postgres": "#31688e", "duckdb_arrow": "#e9a820", "duckdb_native": "#b8860b",
            "polars": "#5b8c5a", "datafusion": "#8a6fb3", "clickhouse": "#8c8c8c",
            "plain": "#e39aa5", "duckdb": "#e9a820",
            "unlogged": "#6fa8c9", "redis": "#e9a820", "memcached": "#5b8c5a", "lmdb": "#8a6fb3"}  # fmt: skip
_STYLE = """
  text { font-family: system-ui, 'DejaVu Sans', sans-serif; fill: #24292f; }
  .title { font-size: 20px; font-weight: 600; }
  .note, .tick, .legend { font-size: 13px; }
  .note, .tick { fill: #57606a; }
  .group { font-size: 13px; font-weight: 600; }
  .value { font-size: 11px; fill: #b02a3c; font-weight: 600; }
  .page { fill: #ffffff; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .minor { stroke: #eaeef2; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note, .tick { fill: #9da7b1; }
    .value { fill: #ff8a99; }
    .page { fill: #0d1117; }
    .grid { stroke: #3d444d; }
    .minor { stroke: #21262d; }
  }
"""

_WIDTH, _LEFT, _RIGHT = 1400, 70, 20
_TOP, _PLOT_HEIGHT, _BOTTOM = 140, 380, 50
_GROUP_GAP = 0.22  # fraction of a group's width
_MEAN = "geo. mean"


class _Axis:
    """Maps times to pixels. Both ends of the axis are of the form 1, 2, 5, 10, ..., with some room for the
    shortest bar."""

    def __init__(self, values: List[float], unit: str):
        self.unit = unit
        self.steps = [(digit, digit * 10.0**decade) for decade in range(-6, 9) for digit in range(1, 10)]
        ends = [value for digit, value in self.steps if digit in (1, 2, 5)]
        self.low = max(end for end in ends if end <= 0.75 * min(values))
        self.high = min(end for end in ends if end >= max(values))

    def y(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return _TOP + _PLOT_HEIGHT * (1 - share)

    def lines(self) -> List[str]:
        lines = []
        for digit, value in self.steps:
            if not self.low <= value <= self.high:
                continue
            y = self.y(value)
            kind = "grid" if digit == 1 or value == self.low else "minor"
            lines.append(f'<line class="{kind}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            if digit in (1, 2, 5):
                lines.append(f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(value, self.unit)}</text>')
        return lines


def _short(time: float, unit: str) -> str:
    larger = {"us": "ms", "ms": "s"}
    return f"{time / 1000:g} {larger[unit]}" if time >= 1000 else f"{time:g} {unit}"


def _label(time: float) -> str:
    digits = 2 if time < 1 else 1 if time < 100 else 0
    return f"{time:.{digits}f}"


def _legend(engines: List[str]) -> List[str]:
    parts, x = [], _LEFT
    for engine in engines:
        name = _LABELS.get(engine, engine)
        parts.append(f'<rect x="{x}" y="108" width="14" height="14" rx="2" fill="{_COLOURS[engine]}"/>')
        parts.append(f'<text class="legend" x="{x + 20}" y="120">{escape(name)}</text>')
        x += 44 + round(7.6 * len(name))
    return parts


def _bars(groups: Dict[str, Dict[str, float]], engines: List[str], axis: _Axis) -> List[str]:
    parts = []
    slot = (_WIDTH - _LEFT - _RIGHT) / len(groups)
    bar = slot * (1 - _GROUP_GAP) / len(engines)
    floor = _TOP + _PLOT_HEIGHT
    for number, (group, times) in enumerate(groups.items()):
        start = _LEFT + slot * (number + _GROUP_GAP / 2)
        for place, engine in enumerate(engines):
            if engine not in times:
                continue
            x, y = start + place * bar, axis.y(times[engine])
            tip = f"{group} {_LABELS.get(engine, engine)}: {times[engine]:.2f} {axis.unit}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(bar - 1, 0.5):.1f}" height="{floor - y:.1f}" '
                f'fill="{_COLOURS[engine]}"><title>{escape(tip)}</title></rect>'
            )
            if engine == "pg_strom":
                # Aligned with the bar's right side, since the next bar may be taller and the gap is on the left.
                parts.append(f'<text class="value" x="{x + bar:.1f}" y="{y - 4:.1f}" text-anchor="end">'
                             f"{_label(times[engine])}</text>")  # fmt: skip
        parts.append(f'<text class="group" x="{start + slot * (1 - _GROUP_GAP) / 2:.1f}" y="{floor + 22}" '
                     f'text-anchor="middle">{escape(group.replace("_", "."))}</text>')  # fmt: skip
    return parts


def draw(report: dict, machine: str) -> str:
    """The text of the SVG."""
    groups = medians_of(report["results"])
    engines = [engine for engine in _LABELS if any(engine in times for times in groups.values())]
    queries = list(groups)
    groups[_MEAN] = {
        engine: statistics.geometric_mean([groups[query][engine] for query in queries if engine in groups[query]])
        for engine in engines
    }
    title = f"{report.get('benchmark', 'Star Schema Benchmark')}, scale {report['scale']:g} ({report['lineorder_rows']:,} rows)"
    note = f"Median of {report['runs']} runs, {report['threads']} threads, logarithmic: shorter is faster"
    return draw_groups(groups, title, note, machine)


def draw_groups(groups: Dict[str, Dict[str, float]], title: str, note: str, machine: str, unit: str = "ms") -> str:
    """The text of an SVG for times by group and engine. `unit`: ms or us."""
    engines = [engine for engine in _LABELS if any(engine in times for times in groups.values())]
    axis = _Axis([time for times in groups.values() for time in times.values()], unit)
    height = _TOP + _PLOT_HEIGHT + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{height}"/>',
        f'<text class="title" x="{_LEFT}" y="36">{escape(title)}</text>',
        f'<text class="note" x="{_LEFT}" y="60">{escape(note)}</text>',
        f'<text class="note" x="{_LEFT}" y="82">{escape(machine)}</text>',
        *_legend(engines),
        *axis.lines(),
        *_bars(groups, engines, axis),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
