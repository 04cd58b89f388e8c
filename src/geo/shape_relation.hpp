// How polygons and lines relate to each other, as far as it can be decided exactly.
//
// If no edges meet, each ring of one geometry lies inside or outside of the other geometry. If edges cross, the
// crossing decides all that predicates ask. If polygons only touch, they are compared in the points where they do. Each
// of these points is a vertex, so the directions of the edges there are exact. This needs valid polygons that do not
// touch themselves, which is checked. GEOS finds the same for these. Single source.
#pragma once

#include <initializer_list>

#include "geo/edge_blocks.hpp"
#include "geo/intersection_matrix.hpp"
#include "geo/verdict.hpp"

namespace strom::geo {

enum class Contact : uint8_t {
  kNone,
  kCrossing,  // each edge has an end on either side of the other edge
  kTouch,     // an end of one edge lies on the other edge
  kUnclear,   // a crossing so near to an end that GEOS may find it at the end
  kUnknown
};

STROM_BASE_INLINE bool is_one_side(Side a, Side b) { return a == b && (a == Side::kLeft || a == Side::kRight); }

/// The side of an edge on which p lies. An end lies on its edge, however numbers are rounded.
STROM_BASE_INLINE Side side_of_edge(Point a, Point b, Point p) {
  return is_same(a, p) || is_same(b, p) ? Side::kOn : agreed_side(a, b, p);
}

STROM_BASE_INLINE double absolute(double value) { return value < 0 ? -value : value; }

/// True when the point is farther from the edge's line than rounding moves a crossing.
STROM_BASE_INLINE bool is_clear_of(const Edge& edge, Point p) {
  constexpr double kRounding = 1.5e-14;  // 64 steps
  const double reach =
      larger(larger(absolute(edge.a.x), absolute(edge.a.y)),
             larger(larger(absolute(edge.b.x), absolute(edge.b.y)), larger(absolute(p.x), absolute(p.y))));
  const double length = absolute(edge.b.x - edge.a.x) + absolute(edge.b.y - edge.a.y);
  return absolute(rounded_side(edge.a, edge.b, p).determinant) > kRounding * reach * length;
}

/// How two edges meet whose boxes meet.
STROM_GEO_APART Contact contact(const Edge& e, const Edge& f) {
  const Side fa = side_of_edge(e.a, e.b, f.a), fb = side_of_edge(e.a, e.b, f.b);
  if (is_one_side(fa, fb)) return Contact::kNone;
  const Side ea = side_of_edge(f.a, f.b, e.a), eb = side_of_edge(f.a, f.b, e.b);
  if (is_one_side(ea, eb)) return Contact::kNone;
  if (fa == Side::kUnknown || fb == Side::kUnknown || ea == Side::kUnknown || eb == Side::kUnknown)
    return Contact::kUnknown;
  const bool proper = fa != Side::kOn && fb != Side::kOn && ea != Side::kOn && eb != Side::kOn;
  if (!proper) return Contact::kTouch;
  const bool clear = is_clear_of(e, f.a) && is_clear_of(e, f.b) && is_clear_of(f, e.a) && is_clear_of(f, e.b);
  return clear ? Contact::kCrossing : Contact::kUnclear;
}

/// True when a point of the edge's line lies on the edge, ends included.
STROM_GEO_APART bool is_on_edge(const Edge& e, Point p) {
  return e.box().contains(p) && side_of_edge(e.a, e.b, p) == Side::kOn;
}

/// Two edges at a point of a polygon's border: to `first`, then (turning left through the interior) to `second`.
struct Corner {
  Point at, first, second;
};

enum class Direction : uint8_t { kFirst, kSecond, kInside, kOutside };

STROM_GEO_APART bool is_same_direction(Point at, Point a, Point b) {
  const auto same_sign = [](double x, double y) { return (x > 0) == (y > 0) && (x < 0) == (y < 0); };
  return side_of_edge(at, a, b) == Side::kOn && same_sign(a.x - at.x, b.x - at.x) && same_sign(a.y - at.y, b.y - at.y);
}

/// In which direction, seen from the corner, `to` lies. False: it is not certain.
STROM_GEO_APART bool direction_at(const Corner& corner, Point to, Direction* out) {
  const Side turn = side_of_edge(corner.at, corner.first, corner.second);
  const Side of_first = side_of_edge(corner.at, corner.first, to);
  const Side of_second = side_of_edge(corner.at, corner.second, to);
  if (turn == Side::kUnknown || of_first == Side::kUnknown || of_second == Side::kUnknown) return false;
  if (is_same_direction(corner.at, corner.first, to)) {
    *out = Direction::kFirst;
  } else if (is_same_direction(corner.at, corner.second, to)) {
    *out = Direction::kSecond;
  } else {
    const bool within = turn == Side::kLeft ? of_first == Side::kLeft && of_second == Side::kRight
                        : turn == Side::kOn ? of_first == Side::kLeft
                                            : !(of_second == Side::kLeft && of_first == Side::kRight);
    *out = within ? Direction::kInside : Direction::kOutside;
  }
  return true;
}

class ShapeRelation {
 public:
  /// The relation refers to both, so they must outlive it.
  STROM_BASE_INLINE ShapeRelation(const EdgeBlocks& a, const EdgeBlocks& b) : a_(a), b_(b) {}

  STROM_BASE_INLINE Verdict decide(PairPredicate predicate) {
    if (is_too_large()) return Verdict::kUncertain;
    if (predicate == PairPredicate::kIntersects) return intersects();
    const Meeting meeting = first_crossing();
    if (meeting == Meeting::kCrossing) return of_crossing(predicate);
    if (meeting == Meeting::kUnknown) return Verdict::kUncertain;
    if (!a_.is_area() || !b_.is_area()) {
      if (meeting == Meeting::kTouch) return Verdict::kUncertain;
      return a_.is_area() || b_.is_area() ? of_line_beside(predicate) : Verdict::kNo;
    }
    const bool apart = meeting == Meeting::kNone;
    if (apart ? !add_rings() : !is_simple(a_) || !is_simple(b_) || !add_touches() || !add_rings())
      return Verdict::kUncertain;
    return of_matrix(predicate);
  }

  /// The matrix of two polygons. False: PostGIS has to find it.
  STROM_BASE_INLINE bool matrix(IntersectionMatrix* out) {
    if (is_too_large() || !a_.is_area() || !b_.is_area() || !is_simple(a_) || !is_simple(b_) || !add_touches() ||
        !add_rings())
      return false;
    *out = matrix_;
    return true;
  }

 private:
  /// True when there are so many pairs of edges that GEOS is faster: it has an index of edges.
  STROM_BASE_INLINE bool is_too_large() const {
    constexpr int64_t kMost = 1 << 24;  // pairs of edges
    const int64_t edges = a_.edges() + b_.edges();
    return edges * (a_.edges_of_block() + b_.edges_of_block()) > kMost;
  }

  enum class Meeting : uint8_t { kNone, kTouch, kCrossing, kUnknown };
  enum Row : int { kInterior, kBoundary, kExterior };

  /// f(edge of a, edge of b, their contact) for each pair of edges that meet, until f returns false.
  template <class F>
  STROM_BASE_INLINE void for_contacts(F&& f) const {
    b_.for_edges(a_.box(), [&](const Edge& of_b) {
      return a_.for_edges(of_b.box(), [&](const Edge& of_a) {
        const Contact found = contact(of_a, of_b);
        return found == Contact::kNone || f(of_a, of_b, found);
      });
    });
  }

  STROM_BASE_INLINE Verdict intersects() {
    bool meets = false, unknown = false;
    // GEOS leaves out polygons without an area.
    const auto has_area = [](const EdgeBlocks& shape, const Edge& edge) {
      return !shape.is_area() || shape.ring(edge.ring).turns;
    };
    for_contacts([&](const Edge& of_a, const Edge& of_b, Contact found) {
      meets = found != Contact::kUnknown && has_area(a_, of_a) && has_area(b_, of_b);
      unknown = unknown || !meets;
      return !meets;
    });
    if (meets) return Verdict::kYes;
    if (unknown) return Verdict::kUncertain;
    bool uncertain = false;
    const auto lies_in = [&uncertain](const EdgeBlocks& inner, const EdgeBlocks& area) {
      for (int32_t r = 0; area.is_area() && r < inner.rings(); ++r) {
        const Answer answer = locate_in(area, inner.point(r, 0), kNoRing);
        if (answer == Answer::kOutside) continue;
        if (answer == Answer::kInside && (!inner.is_area() || inner.ring(r).turns)) return true;
        uncertain = true;
      }
      return false;
    };
    if (lies_in(a_, b_) || lies_in(b_, a_)) return Verdict::kYes;
    return uncertain ? Verdict::kUncertain : Verdict::kNo;
  }

  /// Looks for edges that cross. Each must occur only once in its polygon.
  STROM_BASE_INLINE Meeting first_crossing() const {
    Meeting meeting = Meeting::kNone;
    for_contacts([&](const Edge& of_a, const Edge& of_b, Contact found) {
      if (found == Contact::kCrossing && is_once(a_, of_a) && is_once(b_, of_b))
        meeting = Meeting::kCrossing;
      else if (found != Contact::kTouch)
        meeting = Meeting::kUnknown;
      else if (meeting == Meeting::kNone)
        meeting = Meeting::kTouch;
      return meeting != Meeting::kCrossing;
    });
    return meeting;
  }
  /// True when no other edge of the polygon lies along this one.
  STROM_BASE_INLINE static bool is_once(const EdgeBlocks& shape, const Edge& edge) {
    if (!shape.is_area()) return true;
    return shape.for_edges(edge.box(), [&edge](const Edge& other) {
      if (other.ring == edge.ring && other.index == edge.index) return true;
      const auto may_be_along = [&edge](Point p) {
        const Side side = side_of_edge(edge.a, edge.b, p);
        return side == Side::kOn || side == Side::kUnknown;
      };
      return !may_be_along(other.a) || !may_be_along(other.b);
    });
  }

  STROM_BASE_INLINE Verdict of_crossing(PairPredicate predicate) const {
    const bool areas = a_.is_area() && b_.is_area(), lines = !a_.is_area() && !b_.is_area();
    switch (predicate) {
      case PairPredicate::kIntersects: return Verdict::kYes;
      case PairPredicate::kTouches: return Verdict::kNo;
      case PairPredicate::kCrosses: return lines ? Verdict::kUncertain : verdict(!areas);
      case PairPredicate::kOverlaps: return lines ? Verdict::kUncertain : verdict(areas);
      case PairPredicate::kContains:
      case PairPredicate::kCovers:
      case PairPredicate::kEquals: return lines ? Verdict::kUncertain : Verdict::kNo;
    }
    return Verdict::kUncertain;
  }

  /// The verdict about a polygon and lines that do not meet its border.
  STROM_BASE_INLINE Verdict of_line_beside(PairPredicate predicate) const {
    const EdgeBlocks &area = a_.is_area() ? a_ : b_, &lines = a_.is_area() ? b_ : a_;
    bool inside = false, outside = false;
    for (int32_t r = 0; r < lines.rings(); ++r) {
      const Answer answer = locate_in(area, lines.point(r, 0), kNoRing);
      if (answer != Answer::kInside && answer != Answer::kOutside) return Verdict::kUncertain;
      (answer == Answer::kInside ? inside : outside) = true;
    }
    switch (predicate) {
      case PairPredicate::kContains:
      case PairPredicate::kCovers: return verdict(a_.is_area() && inside && !outside);
      case PairPredicate::kCrosses: return verdict(inside && outside);
      default: return Verdict::kNo;
    }
  }

  STROM_BASE_INLINE Verdict of_matrix(PairPredicate predicate) {
    const auto has = [this](Row row, Row column) { return matrix_.at(row, column) != 'F'; };
    const bool meet = has(kInterior, kInterior),
               touch = has(kBoundary, kBoundary) || has(kInterior, kBoundary) || has(kBoundary, kInterior);
    const bool covers = !has(kExterior, kInterior) && !has(kExterior, kBoundary);
    switch (predicate) {
      case PairPredicate::kContains: return verdict(meet && covers);
      case PairPredicate::kCovers: return verdict((meet || touch) && covers);
      case PairPredicate::kIntersects: return verdict(meet || touch);
      case PairPredicate::kTouches: return verdict(!meet && touch);
      case PairPredicate::kCrosses: return Verdict::kNo;
      case PairPredicate::kOverlaps: return verdict(meet && has(kInterior, kExterior) && has(kExterior, kInterior));
      case PairPredicate::kEquals:
        return verdict(meet && covers && !has(kInterior, kExterior) && !has(kBoundary, kExterior));
    }
    return Verdict::kUncertain;
  }

  /// Adds a piece of a border that lies inside or outside of the other polygon. Both sides of the piece lie there, too.
  STROM_BASE_INLINE void add_piece(bool of_a, bool inside) {
    const Row where = inside ? kInterior : kExterior;
    if (of_a) {
      matrix_.at(kBoundary, where) = '1';
      matrix_.at(kInterior, where) = matrix_.at(kExterior, where) = '2';
    } else {
      matrix_.at(where, kBoundary) = '1';
      matrix_.at(where, kInterior) = matrix_.at(where, kExterior) = '2';
    }
  }

  /// Adds the rings that do not touch the other polygon.
  STROM_BASE_INLINE bool add_rings() {
    for (const bool of_a : {true, false}) {
      const EdgeBlocks &own = of_a ? a_ : b_, &other = of_a ? b_ : a_;
      for (int32_t r = 0; r < own.rings(); ++r) {
        if (((of_a ? touched_a_ : touched_b_) >> r & 1) != 0) continue;
        const Answer answer = locate_in(other, own.point(r, 0), kNoRing);
        if (!own.ring(r).turns || (answer != Answer::kInside && answer != Answer::kOutside)) return false;
        add_piece(of_a, answer == Answer::kInside);
      }
    }
    return true;
  }

  /// Adds what edges that meet tell about the matrix.
  STROM_BASE_INLINE bool add_touches() {
    bool certain = true;
    for_contacts([&](const Edge& of_a, const Edge& of_b, Contact found) {
      touched_a_ |= uint32_t{1} << of_a.ring;
      touched_b_ |= uint32_t{1} << of_b.ring;
      if (matrix_.at(kBoundary, kBoundary) == 'F') matrix_.at(kBoundary, kBoundary) = '0';
      if (found == Contact::kCrossing) {
        for (const bool of : {true, false})
          for (const bool inside : {true, false}) add_piece(of, inside);
        return true;
      }
      certain = found == Contact::kTouch;
      for (const Point at : {of_a.a, of_a.b, of_b.a, of_b.b})
        if (certain && is_on_edge(of_a, at) && is_on_edge(of_b, at))
          certain = add_corners(corner_of(a_, of_a, at), corner_of(b_, of_b, at));
      return certain;
    });
    return certain;
  }

  /// The corner at a point on an edge of a simple polygon.
  STROM_BASE_INLINE static Corner corner_of(const EdgeBlocks& area, const Edge& edge, Point at) {
    const EdgeBlocks::Ring& ring = area.ring(edge.ring);
    Point before = edge.a, behind = edge.b;
    if (is_same(at, edge.a)) before = area.before(edge.ring, edge.index);
    if (is_same(at, edge.b)) behind = area.behind(edge.ring, edge.index + 1);
    return ring.interior_left ? Corner{at, behind, before} : Corner{at, before, behind};
  }

  STROM_BASE_INLINE bool add_corners(const Corner& a, const Corner& b) {
    Direction found;
    for (const Point to : {a.first, a.second}) {
      if (!direction_at(b, to, &found)) return false;
      if (found == Direction::kInside || found == Direction::kOutside) add_piece(true, found == Direction::kInside);
    }
    for (int i = 0; i < 2; ++i) {
      if (!direction_at(a, i == 0 ? b.first : b.second, &found)) return false;
      if (found == Direction::kInside || found == Direction::kOutside) {
        add_piece(false, found == Direction::kInside);
        continue;
      }
      // The borders run along each other. The interiors are on the same side or on opposite sides.
      matrix_.at(kBoundary, kBoundary) = '1';
      if ((found == Direction::kFirst) == (i == 0))
        matrix_.at(kInterior, kInterior) = '2';
      else
        matrix_.at(kInterior, kExterior) = matrix_.at(kExterior, kInterior) = '2';
    }
    return true;
  }

  /// True when the polygon is valid and no ring touches itself or another ring.
  STROM_BASE_INLINE static bool is_simple(const EdgeBlocks& area) {
    for (int32_t r = 0; r < area.rings(); ++r) {
      if (!area.ring(r).turns || area.ring(r).repeats) return false;
      if (area.rings() == 1) break;
      const Answer wanted = area.ring(r).shell ? Answer::kOutside : Answer::kInside;
      if (locate_in(area, area.point(r, 0), r) != wanted) return false;
    }
    for (int32_t r = 0; r < area.rings(); ++r) {
      const int32_t edges = area.ring(r).count - 1;
      for (int32_t i = 0; i < edges; ++i) {
        const Edge edge = area.edge(r, i);
        const bool fits = area.for_edges(edge.box(), [&](const Edge& other) {
          if (other.ring < r || (other.ring == r && other.index <= i)) return true;  // already looked at
          const bool behind = other.ring == r && other.index == i + 1;
          const bool before = other.ring == r && i == 0 && other.index == edges - 1;
          if (behind) return !is_same_direction(edge.b, edge.a, other.b) && is_known(edge, other.b);
          if (before) return !is_same_direction(edge.a, edge.b, other.a) && is_known(edge, other.a);
          return contact(edge, other) == Contact::kNone;
        });
        if (!fits) return false;
      }
    }
    return true;
  }
  STROM_BASE_INLINE static bool is_known(const Edge& edge, Point p) {
    return agreed_side(edge.a, edge.b, p) != Side::kUnknown;
  }

  const EdgeBlocks &a_, &b_;
  IntersectionMatrix matrix_ = IntersectionMatrix::nothing();
  uint32_t touched_a_ = 0, touched_b_ = 0;  // rings
};

/// The verdict about two geometries whose boxes meet.
STROM_GEO_APART Verdict decide_shapes(PairPredicate predicate, const EdgeBlocks& a, const EdgeBlocks& b) {
  return ShapeRelation(a, b).decide(predicate);
}
/// False: PostGIS has to find the matrix.
STROM_GEO_APART bool relate_shapes(const EdgeBlocks& a, const EdgeBlocks& b, IntersectionMatrix* out) {
  return ShapeRelation(a, b).matrix(out);
}

}  // namespace strom::geo
