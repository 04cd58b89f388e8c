"""Makes polygons like municipalities, and points; the result is always the same.
The polygons are a planar partition with shared, ragged borders, with separate islands and with lakes. They have 10 to
20,000 points. Called by run.py."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List

import numpy as np
import shapely

PREFECTURES = 47
ORIGIN, EXTENT = np.array([123.0, 25.0]), 20.0  # degrees, about the location of Japan
RAGGED = 0.12  # fraction of an edge's length


@dataclass(frozen=True)
class Size:
    """A grid of `columns` by `rows` municipalities. Each border is halved `levels` times; a few are halved more
    often."""

    name: str
    columns: int
    rows: int
    levels: int


SIZES = {
    "6000": Size("6000", 78, 77, 6),  # usually 257 points each
    "120000": Size("120000", 346, 347, 4),  # usually 65 points each
    "small": Size("small", 20, 20, 4),  # for quick tries
}


def _borders(rng: np.random.Generator, start: np.ndarray, end: np.ndarray, levels: int) -> np.ndarray:
    """Moves midpoints of edges aside, repeatedly. Arrays of shape (…, 2) become (…, points, 2)."""
    points = np.stack([start, end], -2)
    for _ in range(levels):
        step = points[..., 1:, :] - points[..., :-1, :]
        aside = np.stack([-step[..., 1], step[..., 0]], -1)
        middle = (points[..., 1:, :] + points[..., :-1, :]) / 2
        middle = middle + aside * rng.uniform(-RAGGED, RAGGED, middle.shape[:-1] + (1,))
        wider = np.empty(points.shape[:-2] + (points.shape[-2] * 2 - 1, 2))
        wider[..., ::2, :], wider[..., 1::2, :] = points, middle
        points = wider
    return points


def _round_shape(rng: np.random.Generator, center: np.ndarray, radius: float, count: int) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    sizes = radius * (1 + 0.2 * np.sin(angles * 3 + rng.uniform(0, 6)) + rng.uniform(-0.02, 0.02, count))
    ring = center + np.stack([np.cos(angles), np.sin(angles)], -1) * sizes[:, None]
    return np.concatenate([ring, ring[:1]])


def polygons(size: Size, seed: int = 7) -> List[shapely.Geometry]:
    rng = np.random.default_rng(seed)
    nx, ny = size.columns, size.rows
    corners = np.stack(np.meshgrid(np.arange(nx + 1.0), np.arange(ny + 1.0), indexing="ij"), -1)
    corners = corners + rng.uniform(-0.25, 0.25, corners.shape)
    level = _borders(rng, corners[:-1], corners[1:], size.levels)
    upright = _borders(rng, corners[:, :-1], corners[:, 1:], size.levels)
    scale = EXTENT / max(nx, ny)
    made = []
    for i in range(nx):
        for j in range(ny):
            parts = [level[i, j], upright[i + 1, j][1:], level[i, j + 1][::-1][1:], upright[i, j][::-1][1:]]
            shell = np.concatenate(parts)
            holes, center = [], corners[i : i + 2, j : j + 2].mean((0, 1))
            number = i * ny + j
            if number % 50 == 7:  # a lake, with an island of the same municipality
                holes.append(_round_shape(rng, center, 0.08, 40))
            shapes = [shapely.Polygon(shell, holes)]
            if holes:
                shapes.append(shapely.Polygon(_round_shape(rng, center, 0.02, 10)))
            if number % 1500 == 11:  # a fjord coast with very many points
                shapes = [shapely.Polygon(_round_shape(rng, center, 0.2, 20_000))]
            geometry = shapes[0] if len(shapes) == 1 else shapely.MultiPolygon(shapes)
            made.append(shapely.transform(geometry, lambda xy: xy * scale + ORIGIN))
    return made


def prefecture(number: int, size: Size) -> str:
    return "p%02d" % (number // size.rows * PREFECTURES // size.columns)


def points(count: int, size: Size, seed: int = 11) -> np.ndarray:
    rng = np.random.default_rng(seed)
    extent = np.array([size.columns, size.rows]) * EXTENT / max(size.columns, size.rows)
    return ORIGIN + rng.uniform(0, 1, (count, 2)) * extent
