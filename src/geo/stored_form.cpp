// See stored_form.hpp. PostGIS's rules decide which geometries have a box, and of which of their points
// (lwgeom_needs_bbox(), lwgeom_calculate_gbox_cartesian()). Numbers are compared as in PostGIS, too, so that NaN has
// the same result.
#include "geo/stored_form.hpp"

#include <cmath>
#include <cstring>

#include "geo/float_box.hpp"

namespace strom::geo {

namespace {

constexpr uint8_t kHasZ = 1, kHasM = 2, kHasBox = 4, kVersion2 = 64;

double lower(double a, double b) { return a < b ? a : b; }
double higher(double a, double b) { return a > b ? a : b; }

float beside(double value, bool below) {
  return value != value ? static_cast<float>(value) : float_beside(value, below);
}

template <class T>
void put(Bytes* out, T value) {
  const size_t at = out->size();
  out->resize(at + sizeof value);
  std::memcpy(out->data() + at, &value, sizeof value);
}

}  // namespace

void StoredForm::begin(bool has_z, bool has_m) {
  body_.clear();
  path_.is_empty = whole_.is_empty = true;
  has_z_ = has_z;
  has_m_ = has_m;
  dimensions_ = 2 + has_z + has_m;
  left_ = points_ = 0;
  is_first_ = true;
}

void StoredForm::put_word(uint32_t word) { put(&body_, word); }

void StoredForm::begin_part(GeometryType type, uint32_t count) {
  put_word(static_cast<uint32_t>(type));
  put_word(count);
  if (!is_first_) return;
  is_first_ = false;
  type_ = type;
  members_ = count;
}

void StoredForm::begin_path(GeometryType type, uint32_t points) {
  begin_part(type, points);
  left_ = points;
}

void StoredForm::begin_polygon(const uint32_t* ring_points, uint32_t rings) {
  begin_part(GeometryType::kPolygon, rings);
  for (uint32_t i = 0; i < rings; ++i) put_word(ring_points[i]);
  if (rings % 2 != 0) put_word(0);
  left_ = rings > 0 ? ring_points[0] : 0;
}

void StoredForm::begin_collection(GeometryType type, uint32_t members) { begin_part(type, members); }

void StoredForm::add_point(const double* numbers) {
  const size_t at = body_.size(), bytes = sizeof(double) * static_cast<size_t>(dimensions_);
  body_.resize(at + bytes);
  std::memcpy(body_.data() + at, numbers, bytes);
  ++points_;
  if (left_ == 0) return;  // of a hole
  for (int i = 0; i < dimensions_; ++i) {
    path_.low[i] = path_.is_empty ? numbers[i] : lower(path_.low[i], numbers[i]);
    path_.high[i] = path_.is_empty ? numbers[i] : higher(path_.high[i], numbers[i]);
  }
  path_.is_empty = false;
  if (--left_ == 0) close_path();
}

void StoredForm::close_path() {
  for (int i = 0; i < dimensions_; ++i) {
    whole_.low[i] = whole_.is_empty ? path_.low[i] : lower(whole_.low[i], path_.low[i]);
    whole_.high[i] = whole_.is_empty ? path_.high[i] : higher(whole_.high[i], path_.high[i]);
  }
  whole_.is_empty = false;
  path_.is_empty = true;
}

bool StoredForm::has_box() const {
  if (whole_.is_empty) return false;
  switch (type_) {
    case GeometryType::kPoint: return false;
    case GeometryType::kLine: return points_ > 2;
    case GeometryType::kMultiPoint: return members_ != 1;
    case GeometryType::kMultiLine: return members_ != 1 || points_ > 2;
    default: return true;
  }
}

void StoredForm::finish(int32_t srid, Bytes* out) {
  for (const int shift : {16, 8, 0}) out->push_back(static_cast<char>((srid & 0x1FFFFF) >> shift));
  const bool box = has_box();
  out->push_back(static_cast<char>((has_z_ ? kHasZ : 0) | (has_m_ ? kHasM : 0) | (box ? kHasBox : 0) | kVersion2));
  for (int i = 0; box && i < dimensions_; ++i) {
    put(out, beside(whole_.low[i], true));
    put(out, beside(whole_.high[i], false));
  }
  out->insert(out->end(), body_.begin(), body_.end());
}

namespace {

constexpr const char* kShort = "it ends too early";

/// Reads WKB and writes the stored form part by part.
class Reader {
 public:
  Reader(const char* bytes, int64_t size, const Expected& expected, StoredForm* form)
      : bytes_(bytes), size_(size), expected_(expected), form_(form) {}

  const char* read(int32_t* srid) {
    if (const char* problem = geometry(0)) return problem;
    if (srid_ != 0) *srid = srid_;
    return nullptr;
  }

 private:
  struct Header {
    GeometryType type = GeometryType::kPoint;
    bool has_z = false, has_m = false;
  };

  bool word(uint32_t* value) {
    if (size_ - at_ < 4) return false;
    *value = base::load_unaligned<uint32_t>(bytes_ + at_);
    if (swapped_) *value = __builtin_bswap32(*value);
    at_ += 4;
    return true;
  }

  const char* header(Header* to, int depth) {
    constexpr uint32_t kZ = 0x80000000, kM = 0x40000000, kSrid = 0x20000000, kFlags = kZ | kM | kSrid;
    if (at_ >= size_) return kShort;
    if (static_cast<uint8_t>(bytes_[at_]) > 1) return "its byte order is neither 0 nor 1";
    swapped_ = bytes_[at_++] == 0;
    uint32_t type = 0, srid = 0;
    if (!word(&type) || ((type & kSrid) != 0 && !word(&srid))) return kShort;
    const uint32_t number = type & ~kFlags, dimensions = number / 1000;
    if (dimensions > 3) return "its type is unknown";
    to->has_z = (type & kZ) != 0 || dimensions % 2 == 1;
    to->has_m = (type & kM) != 0 || dimensions >= 2;
    if (number % 1000 < 1 || number % 1000 > 17) return "its type is unknown";
    to->type = static_cast<GeometryType>(number % 1000);
    if (!is_simple_type(to->type)) return "curves and surfaces in space are not supported";
    if (depth == 0) srid_ = static_cast<int32_t>(srid);
    return nullptr;
  }

  const char* begin(const Header& header, int depth) {
    if (depth > 0) {
      const bool same = header.has_z == has_z_ && header.has_m == has_m_;
      return same ? nullptr : "its members have other dimensions";
    }
    has_z_ = header.has_z;
    has_m_ = header.has_m;
    form_->begin(has_z_, has_m_);
    if (expected_.any) return nullptr;
    if (header.type != expected_.type) return "it has another type than the column";
    if (has_z_ != expected_.has_z || has_m_ != expected_.has_m) return "it has other dimensions than the column";
    return nullptr;
  }

  const char* geometry(int depth) {
    constexpr int kMostDepth = 200;  // PostGIS's limit
    if (depth >= kMostDepth) return "its members are nested too deeply";
    Header header;
    if (const char* problem = this->header(&header, depth)) return problem;
    if (const char* problem = begin(header, depth)) return problem;
    if (header.type == GeometryType::kPoint) return point();
    uint32_t count = 0;
    if (!word(&count)) return kShort;
    if (header.type == GeometryType::kLine) return line(count);
    if (header.type == GeometryType::kPolygon) return polygon(count);
    return members(header.type, count, depth);
  }

  bool has_points(uint64_t count) const {
    return count * sizeof(double) * static_cast<uint64_t>(form_->dimensions()) <= static_cast<uint64_t>(size_ - at_);
  }

  const double* take_point() {
    for (int i = 0; i < form_->dimensions(); ++i) {
      auto bits = base::load_unaligned<uint64_t>(bytes_ + at_);
      if (swapped_) bits = __builtin_bswap64(bits);
      std::memcpy(&numbers_[i], &bits, sizeof bits);
      at_ += static_cast<int64_t>(sizeof bits);
    }
    return numbers_;
  }

  // A point whose numbers are NaN is an empty point.
  const char* point() {
    if (!has_points(1)) return kShort;
    const double* numbers = take_point();
    const bool is_empty = std::isnan(numbers[0]) && std::isnan(numbers[1]);
    form_->begin_path(GeometryType::kPoint, is_empty ? 0 : 1);
    if (!is_empty) form_->add_point(numbers);
    return nullptr;
  }

  const char* line(uint32_t count) {
    if (!has_points(count)) return kShort;
    if (count == 1) return "a line has one point";
    form_->begin_path(GeometryType::kLine, count);
    for (uint32_t i = 0; i < count; ++i) form_->add_point(take_point());
    return nullptr;
  }

  // In WKB each ring's count precedes its points; in the stored form all counts come first.
  const char* polygon(uint32_t rings) {
    constexpr int64_t kLeastRing = 4;
    if (rings > static_cast<uint64_t>(size_ - at_) / kLeastRing) return kShort;
    const int64_t first = at_;
    counts_.resize(rings);
    for (uint32_t& count : counts_) {
      if (!word(&count) || !has_points(count)) return kShort;
      if (const char* problem = check_ring(count)) return problem;
      at_ += static_cast<int64_t>(count) * form_->dimensions() * static_cast<int64_t>(sizeof(double));
    }
    form_->begin_polygon(counts_.data(), rings);
    at_ = first;
    for (const uint32_t count : counts_) {
      at_ += static_cast<int64_t>(sizeof count);
      for (uint32_t i = 0; i < count; ++i) form_->add_point(take_point());
    }
    return nullptr;
  }

  const char* check_ring(uint32_t count) const {
    constexpr uint32_t kLeastPoints = 4;
    if (count < kLeastPoints) return "a ring has less than four points";
    const int64_t last = at_ + static_cast<int64_t>(sizeof(double)) * form_->dimensions() * (count - 1);
    return std::memcmp(bytes_ + at_, bytes_ + last, sizeof(Point)) == 0 ? nullptr : "a ring is not closed";
  }

  const char* members(GeometryType type, uint32_t count, int depth) {
    constexpr int64_t kLeastMember = 9;
    if (count > static_cast<uint64_t>(size_ - at_) / kLeastMember) return kShort;
    form_->begin_collection(type, count);
    for (uint32_t i = 0; i < count; ++i) {
      if (!may_have(type)) return "it has members of another type";
      if (const char* problem = geometry(depth + 1)) return problem;
    }
    return nullptr;
  }

  // Checks the type of the next member before it is read. Damage is reported when the member is read.
  bool may_have(GeometryType type) {
    if (type == GeometryType::kCollection) return true;
    const int64_t at = at_;
    Header header;
    const bool known = this->header(&header, 1) == nullptr;
    at_ = at;
    return !known || static_cast<uint32_t>(header.type) + 3 == static_cast<uint32_t>(type);
  }

  const char* bytes_;
  const int64_t size_;
  const Expected& expected_;
  StoredForm* form_;
  int64_t at_ = 0;
  int32_t srid_ = 0;
  bool swapped_ = false, has_z_ = false, has_m_ = false;
  double numbers_[StoredForm::kMostDimensions] = {};
  std::vector<uint32_t> counts_;
};

// A fast way for points, the most frequent geometries.
bool store_point(const char* bytes, int64_t size, int32_t srid, const Expected& expected, Bytes* out) {
  constexpr int64_t kPointBytes = 21;
  constexpr uint32_t kPoint = 1;
  if (size < kPointBytes || bytes[0] != 1 || base::load_unaligned<uint32_t>(bytes + 1) != kPoint) return false;
  if (!expected.any && (expected.type != GeometryType::kPoint || expected.has_z || expected.has_m)) return false;
  double numbers[2];
  std::memcpy(numbers, bytes + 5, sizeof numbers);
  if (std::isnan(numbers[0]) && std::isnan(numbers[1])) return false;
  constexpr size_t kStored = 28;
  const char header[12] = {static_cast<char>((srid & 0x1FFFFF) >> 16),
                           static_cast<char>(srid >> 8),
                           static_cast<char>(srid),
                           static_cast<char>(kVersion2),
                           1,
                           0,
                           0,
                           0,
                           1,
                           0,
                           0,
                           0};
  const size_t at = out->size();
  out->resize(at + kStored);
  std::memcpy(out->data() + at, header, sizeof header);
  std::memcpy(out->data() + at + sizeof header, numbers, sizeof numbers);
  return true;
}

}  // namespace

const char* store_wkb(const char* bytes, int64_t size, int32_t srid, const Expected& expected, StoredForm* form,
                      Bytes* out) {
  if (store_point(bytes, size, srid, expected, out)) return nullptr;
  if (const char* problem = Reader(bytes, size, expected, form).read(&srid)) return problem;
  form->finish(srid, out);
  return nullptr;
}

}  // namespace strom::geo
