"""The figures that a benchmark has to reach: the table at its end, and their rows in its JSON."""
from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import List, Optional


@dataclass
class Figure:
    """`value` is None where it could not be measured: then the figure does not hold."""

    name: str
    value: Optional[float]
    wanted: float
    unit: str = "x"
    at_most: bool = False  # rather than at least

    def holds(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.wanted if self.at_most else self.value >= self.wanted


def ratio(name: str, rival_seconds: Optional[float], our_seconds: Optional[float], wanted: float) -> Figure:
    """How many times as long as we a rival took. Either time is None where it could not be measured."""
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
