// The cells of a grid that an edge touches, or could touch: rounded coordinates leave no cell out. Host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "geo/point.hpp"

namespace strom::geo {

/// Cells of unit size: columns from 0 on, and some rows. At most 2^15 of each.
struct GridRows {
  int32_t columns, first_row, last_row;
};

/// f(row, first column, last column). `a` and `b` are in units of cells, each with an error below 1e-9.
template <class F>
void for_cells_of_edge(GridRows grid, Point a, Point b, F&& f) {
  constexpr double kMargin = 1e-6;   // more than the errors of points and of the edge's ends
  constexpr double kUnsure = 1e-10;  // error of a height
  const auto column = [&](double value) {
    return std::clamp(static_cast<int32_t>(std::floor(value)), 0, grid.columns - 1);
  };
  const auto row_of = [&](double value) {
    return std::clamp(static_cast<int32_t>(std::floor(value)), grid.first_row, grid.last_row);
  };
  if (a.y > b.y) std::swap(a, b);
  const double left = std::min(a.x, b.x), right = std::max(a.x, b.x);
  const int32_t first_row = row_of(a.y - kMargin), last_row = row_of(b.y + kMargin);
  if (first_row == last_row && a.y >= first_row && b.y <= first_row + 1) {
    f(first_row, column(left - kMargin), column(right + kMargin));
    return;
  }
  const double dx = b.x - a.x, dy = b.y - a.y;
  // Where the edge is almost level, a small error of the height moves the crossing far.
  const double moved = kMargin + std::abs(dx) * (dy > kUnsure ? std::min(1.0, kUnsure / dy) : 1.0);
  const double slope = dy > kUnsure ? 1 / dy : 0;
  for (int32_t row = first_row; row <= last_row; ++row) {
    double x0 = a.x, x1 = b.x;
    if (dy > kUnsure) {
      x0 = a.x + dx * std::clamp((row - kMargin - a.y) * slope, 0.0, 1.0);
      x1 = a.x + dx * std::clamp((row + 1 + kMargin - a.y) * slope, 0.0, 1.0);
    }
    f(row, column(std::max(left, std::min(x0, x1) - moved) - kMargin),
      column(std::min(right, std::max(x0, x1) + moved) + kMargin));
  }
}

/// True for an edge that touches one cell only, far from its border, as most short edges do.
inline bool is_in_one_cell(Point a, Point b, int32_t* column, int32_t* row) {
  constexpr double kMargin = 1e-5;  // more than the margin of for_cells_of_edge()
  *column = static_cast<int32_t>(a.x);
  *row = static_cast<int32_t>(a.y);
  const auto is_within = [](double value, int32_t cell) {
    return value - cell > kMargin && value - cell < 1 - kMargin;
  };
  return is_within(a.x, *column) && is_within(b.x, *column) && is_within(a.y, *row) && is_within(b.y, *row);
}

}  // namespace strom::geo
