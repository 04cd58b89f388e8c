"""The figures that a benchmark has to reach: prints them in a table at its end, and adds rows to its JSON."""
from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import List, Optional


@dataclass
class Figure:
    """`value` is None if it could not be measured; the figure does not hold then."""

    name: str
    value: Optional[float]
    wanted: float
    unit: str = "x"
    at_most: bool = False  # false: at least

    def holds(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.wanted if self.at_most else self.value >= self.wanted


def ratio(name: str, rival_seconds: Optional[float], our_seconds: Optional[float], wanted: float) -> Figure:
    """A rival's time divided by ours. Either time is None if it could not be measured."""
    known = rival_seconds is not None and our_seconds is not None
    return Figure(name, round(rival_seconds / our_seconds, 2) if known else None, wanted)


def as_json(figures: List[Figure]) -> List[dict]:
    return [{**asdict(figure), "holds": figure.holds()} for figure in figures]


def show(figures: List[Figure]) -> None:
    width = max((len(figure.name) for figure in figures), default=0)
    print()
    for figure in figures:
        value = "not measured" if figure.value is None else f"{figure.value:g} {figure.unit}"
        bound = "at most" if figure.at_most else "at least"
        print(f"  {figure.name:{width}}  {value:>14}  {bound} {figure.wanted:g} {figure.unit}"
              f"  {'holds' if figure.holds() else 'FALLS SHORT'}")
