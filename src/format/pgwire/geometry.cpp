// See geometry.hpp.
#include "format/pgwire/geometry.hpp"

#include <cstring>

namespace strom::format::pgwire {

namespace {

constexpr uint32_t kHasZ = 0x80000000, kHasM = 0x40000000, kHasSrid = 0x20000000;
constexpr int kMostDepth = 64;

class Walk {
 public:
  Walk(const uint8_t* bytes, int64_t size, std::string& out) : at_(bytes), end_(bytes + size), out_(out) {}

  bool geometry(uint32_t& srid, int depth) {
    if (depth > kMostDepth || end_ - at_ < 5 || at_[0] != 1) return false;  // servers send little-endian geometries
    const uint32_t flags = load(at_ + 1);
    const uint32_t type = flags & ~(kHasZ | kHasM | kHasSrid);
    at_ += 5;
    if (flags & kHasSrid) {
      if (end_ - at_ < 4) return false;
      srid = load(at_);
      at_ += 4;
    }
    const bool z = (flags & kHasZ) != 0, m = (flags & kHasM) != 0;
    const uint32_t iso = type + (z ? 1000 : 0) + (m ? 2000 : 0);
    out_ += '\1';
    out_.append(reinterpret_cast<const char*>(&iso), sizeof(iso));
    const int64_t point = 8 * (2 + z + m);
    switch (type) {
      case 1: return copy(point);
      case 2:
      case 8: return points(point);  // line, circular line
      case 3:
      case 17: return rings(point);  // polygon, triangle
      case 4:
      case 5:
      case 6:
      case 7:
      case 9:
      case 10:
      case 11:
      case 12:
      case 15:
      case 16: return parts(srid, depth);
      default: return false;
    }
  }
  bool is_done() const { return at_ == end_; }

 private:
  static uint32_t load(const uint8_t* bytes) {
    uint32_t value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  bool copy(int64_t size) {
    if (size > end_ - at_) return false;
    out_.append(reinterpret_cast<const char*>(at_), static_cast<size_t>(size));
    at_ += size;
    return true;
  }
  bool count(uint32_t& value) {
    if (end_ - at_ < 4) return false;
    value = load(at_);
    return copy(4);
  }
  bool points(int64_t point) {
    uint32_t number;
    return count(number) && copy(number * point);
  }
  bool rings(int64_t point) {
    uint32_t number;
    if (!count(number)) return false;
    for (uint32_t i = 0; i < number; ++i) {
      if (!points(point)) return false;
    }
    return true;
  }
  bool parts(uint32_t& srid, int depth) {
    uint32_t number;
    if (!count(number)) return false;
    for (uint32_t i = 0; i < number; ++i) {
      uint32_t own = srid;
      if (!geometry(own, depth + 1) || own != srid) return false;
    }
    return true;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  std::string& out_;
};

}  // namespace

bool geometry_to_wkb(const uint8_t* bytes, int64_t size, uint32_t& srid, std::string& out) {
  srid = 0;
  Walk walk(bytes, size, out);
  return walk.geometry(srid, 0) && walk.is_done();
}

}  // namespace strom::format::pgwire
