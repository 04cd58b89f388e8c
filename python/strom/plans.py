"""Draws plans of statements: each node is a box with its rows, its time and the device, with its inputs below."""
from __future__ import annotations

from html import escape
from typing import Any, Iterator

_WIDTH, _LINE, _GAP_X, _GAP_Y, _PAD = 270, 15, 24, 34, 8
_SHADES = ("#f6f8fa", "#fff3d6", "#ffd9b3", "#ffb3a1")  # by the share of the statement's time


def _count(number: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.1f} {unit}"
    return f"{number:.0f}"


class _Box:
    def __init__(self, node: dict[str, Any], whole_ms: float) -> None:
        self.children = [_Box(child, whole_ms) for child in node.get("Plans", ())]
        name = node.get("Custom Plan Provider") or node["Node Type"]
        target = node.get("Alias") or node.get("Relation Name")
        self.title = f"{name} on {target}" if target else name
        self.lines = list(self._facts(node))
        self.inclusive: float = node.get("Actual Total Time", 0.0) * node.get("Actual Loops", 1)
        own = self.inclusive - sum(child.inclusive for child in self.children)
        self.share = max(own, 0.0) / whole_ms if whole_ms > 0 else 0.0
        if whole_ms > 0:
            self.lines.append(f"{max(own, 0.0):.1f} ms of its own ({self.share:.0%})")
        self.x = self.y = 0

    @staticmethod
    def _facts(node: dict[str, Any]) -> Iterator[str]:
        if "Actual Rows" in node:
            yield f"{_count(node['Actual Rows'] * node.get('Actual Loops', 1))} rows ({_count(node['Plan Rows'])} expected)"
        else:
            yield f"{_count(node['Plan Rows'])} rows expected"
        for key, value in node.items():
            if key in ("Device", "Rechecked", "Stats-Hint", "Hash Cond", "Filter", "Index Cond") or "Scan Quals" in key or "Group Key" in key:
                text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                if "OpCode" not in key:
                    yield f"{key}: {text}"

    @property
    def height(self) -> int:
        return _LINE * (len(self.lines) + 1) + 2 * _PAD

    def place(self, left: int, top: int) -> int:
        """Places the box and everything below it; returns the width."""
        self.y = top
        right = left
        for child in self.children:
            right += child.place(right, top + self.height + _GAP_Y) + _GAP_X
        width = max(right - left - _GAP_X, _WIDTH)
        self.x = left + (width - _WIDTH) // 2
        return width

    def walk(self) -> Iterator[_Box]:
        yield self
        for child in self.children:
            yield from child.walk()

    def svg(self) -> str:
        shade = _SHADES[min(int(self.share * len(_SHADES)), len(_SHADES) - 1)]
        parts = [f'<rect x="{self.x}" y="{self.y}" width="{_WIDTH}" height="{self.height}" rx="4" fill="{shade}" stroke="#57606a"/>']
        for number, line in enumerate([self.title, *self.lines]):
            y = self.y + _PAD + _LINE * (number + 1) - 4
            shown = line if len(line) <= 44 else line[:43] + "…"
            weight = ' font-weight="bold"' if number == 0 else ""
            parts.append(f'<text x="{self.x + _PAD}" y="{y}"{weight}>{escape(shown)}<title>{escape(line)}</title></text>')
        for child in self.children:
            parts.append(f'<line x1="{self.x + _WIDTH // 2}" y1="{self.y + self.height}" x2="{child.x + _WIDTH // 2}" y2="{child.y}" stroke="#57606a"/>')
        return "".join(parts)


class Plan:
    """A plan from EXPLAIN's JSON. A notebook shows it as a picture.

    Attributes: root, the topmost node as a dictionary; execution_ms and planning_ms, None without ANALYZE."""

    def __init__(self, explained: dict[str, Any]) -> None:
        self.root: dict[str, Any] = explained["Plan"]
        self.execution_ms = explained.get("Execution Time")
        self.planning_ms = explained.get("Planning Time")

    def svg(self) -> str:
        """The picture. The redder a box, the more of the time it takes."""
        top = _Box(self.root, self.execution_ms or 0.0)
        width = top.place(_PAD, _PAD) + 2 * _PAD
        height = max(box.y + box.height for box in top.walk()) + _PAD
        body = "".join(box.svg() for box in top.walk())
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                f'font-family="sans-serif" font-size="11">{body}</svg>')

    _repr_svg_ = svg

    def __repr__(self) -> str:
        time = "" if self.execution_ms is None else f", {self.execution_ms:.1f} ms"
        return f"<strom.Plan: {self.root.get('Custom Plan Provider') or self.root['Node Type']}{time}>"
