"""Draws polygons as an SVG map, coloured by the number of points in each.
Called by run.py for the picture of docs/user/geometry.md."""
from __future__ import annotations

from pathlib import Path
from typing import Dict, List

import numpy as np
import shapely

WIDTH, MARGIN, LEGEND = 720, 10, 40  # pixels
FINEST = 1.5  # pixels between points of a border
SHADES = ("#edf8e9", "#c7e9c0", "#a1d99b", "#74c476", "#41ab5d", "#238b45", "#005a32")


def _path(geometry: shapely.Geometry) -> str:
    rings = [ring for part in shapely.get_parts(geometry) for ring in shapely.get_rings(part)]
    return "".join("M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in shapely.get_coordinates(ring)[:-1]) + "Z" for ring in rings)


def write(path: Path, polygons: List[shapely.Geometry], counts: Dict[int, int]) -> None:
    """Draws the map with north up. Each shade covers the same number of polygons."""
    shapes = np.array(polygons)
    left, bottom, right, top = shapely.total_bounds(shapes)
    scale = (WIDTH - 2 * MARGIN) / (right - left)
    height = (top - bottom) * scale + 2 * MARGIN
    flipped = shapely.transform(shapes, lambda xy: (xy - [left, top]) * [scale, -scale] + MARGIN)
    # Simplifies borders that two polygons share in the same way for both.
    drawn = shapely.coverage_simplify(flipped, FINEST) if hasattr(shapely, "coverage_simplify") else flipped
    values = np.array([counts.get(number, 0) for number in range(len(polygons))])
    limits = np.quantile(values, np.linspace(0, 1, len(SHADES) + 1)[1:-1])
    shades = np.searchsorted(limits, values, side="right")
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + LEGEND:.0f}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{WIDTH}" height="{height + LEGEND:.0f}" fill="#fff"/>',
             '<g stroke="#444" stroke-width="0.4" stroke-linejoin="round" fill-rule="evenodd">']
    for shade, colour in enumerate(SHADES):
        paths = "".join(_path(shape) for shape in drawn[shades == shade])
        if paths:
            lines.append(f'<path fill="{colour}" d="{paths}"/>')
    lines.append("</g>")
    for shade, colour in enumerate(SHADES):
        x = MARGIN + shade * (WIDTH - 2 * MARGIN) / len(SHADES)
        text = f"from {int(np.ceil(limits[shade - 1])):,}" if shade else f"from {int(values.min()):,}"
        lines.append(f'<rect x="{x:.0f}" y="{height + 8:.0f}" width="14" height="14" fill="{colour}" stroke="#444"/>'
                     f'<text x="{x + 20:.0f}" y="{height + 19:.0f}">{text}</text>')
    path.write_text("\n".join(lines) + "\n</svg>\n")
