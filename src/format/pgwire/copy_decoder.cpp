// See copy_decoder.hpp.
#include "format/pgwire/copy_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "columnar/utf8.hpp"
#include "format/pgwire/geometry.hpp"
#include "format/pgwire/network.hpp"
#include "format/pgwire/numeric.hpp"
#include "format/value_errors.hpp"

namespace strom::format::pgwire {

namespace {

using columnar::ColumnBuilder;

constexpr int32_t kEpochDays = 10957;  // from 1970-01-01 to PostgreSQL's epoch, 2000-01-01
constexpr int64_t kMicrosPerDay = 86'400'000'000;
constexpr int64_t kEpochMicros = kEpochDays * kMicrosPerDay;
constexpr int64_t kNanosPerMicro = 1000;
constexpr int64_t kMaxField = 0x3FFFFFFF;  // bytes; no value of PostgreSQL is larger

template <class T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
  return value;
}

/// Why a value could not be appended.
enum class Problem : uint8_t {
  kNone,
  kWidth,
  kDigits,
  kNotFinite,
  kTooLarge,
  kTooPrecise,
  kRealDigits,
  kInfinity,
  kTime,
  kRange,
  kUtf8,
  kJsonb,
  kLabel,
  kLayout,
  kElementType,
  kDimensions,
  kLowerBound,
  kGeometry,
  kSrid,
  kFull,
};

Status explain(Problem problem, const std::string& place) {
  const auto corrupt = [&](const char* what) { return unexpected_bytes(place, what); };
  const auto range = [&](const char* what, const char* hint) { return out_of_range(what, place, hint); };
  const auto unsupported = [&](const char* what, const char* hint) { return unsupported_value(what, place, hint); };
  constexpr auto kNumericHint =
      "Choose another type with --numeric or cast the column in the query given by -c; --out-of-range=null writes NULL "
      "instead.";
  constexpr auto kRangeHint =
      "Cast the column to text in the query given by -c; --out-of-range=null writes NULL instead.";
  constexpr auto kCastHint = "Cast the column to text in the query given by -c.";
  switch (problem) {
    case Problem::kNone: break;
    case Problem::kWidth: return corrupt("A value has another length than its type.");
    case Problem::kDigits: return corrupt("A numeric is damaged.");
    case Problem::kNotFinite: return range("NaN or infinity, which decimals do not have,", kNumericHint);
    case Problem::kTooLarge: return range("numeric with too many digits for the column's type", kNumericHint);
    case Problem::kTooPrecise:
      return range("numeric with more decimal places than the column's decimal type", kNumericHint);
    case Problem::kRealDigits:
      return range("numeric with digits that Float64 does not have",
                   "--numeric=float64-nearest rounds, --numeric=text and --numeric=decimal(P,S) do not.");
    case Problem::kInfinity:
      return range("infinite date, timestamp or interval, which Arrow does not have,",
                   "--infinity=null writes NULL instead.");
    case Problem::kTime: return range("time 24:00:00, which Arrow does not have,", kRangeHint);
    case Problem::kRange: return range("value outside of the range of the Arrow type", kRangeHint);
    case Problem::kUtf8:
      return Status(ErrorCode::kInvalidParameter, "text that is not valid UTF-8 in " + place)
          .with_hint("Cast the column to bytea in the query given by -c.");
    case Problem::kJsonb: return corrupt("A jsonb has an unknown version.");
    case Problem::kLabel: return unsupported("enum label that was added meanwhile", "Run the command again.");
    case Problem::kLayout: return corrupt("An array or a record is damaged.");
    case Problem::kElementType: return corrupt("An array or a record has elements of another type than its column.");
    case Problem::kDimensions: return unsupported("array of several dimensions", kCastHint);
    case Problem::kLowerBound: return unsupported("array whose first index is not 1", kCastHint);
    case Problem::kGeometry: return corrupt("A geometry is damaged.");
    case Problem::kSrid:
      return unsupported("geometry with another SRID than those before",
                         "Dump each SRID by itself, with a query given by -c.");
    case Problem::kFull: return batch_too_large(place);
  }
  return Status(ErrorCode::kInternal, "no problem in " + place);
}

Problem append(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size);

Problem append_int(ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  if (size != columnar::stored_width(column.field())) return Problem::kWidth;
  switch (size) {
    case 1: column.append(bytes[0]); break;
    case 2: column.append(load<uint16_t>(bytes)); break;
    case 4: column.append(load<uint32_t>(bytes)); break;
    case 8: column.append(load<uint64_t>(bytes)); break;
    default: return Problem::kWidth;
  }
  return Problem::kNone;
}

Problem append_real(const WireColumn& wire, ColumnBuilder& column, const NumericView& number) {
  double value = 0;
  const DecimalOutcome outcome = numeric_to_real(number, &value);
  if (outcome == DecimalOutcome::kTooLarge) return Problem::kTooLarge;
  if (outcome == DecimalOutcome::kTooPrecise && !wire.may_round) return Problem::kRealDigits;
  column.append(value);
  return Problem::kNone;
}

Problem append_numeric(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  NumericView number;
  if (!read_numeric(bytes, size, number)) return Problem::kDigits;
  if (wire.wire == Wire::kNumericReal) return append_real(wire, column, number);
  if (wire.wire == Wire::kNumericText) {
    std::string text;
    numeric_to_text(number, text);
    return column.append_bytes(text.data(), static_cast<int64_t>(text.size())) ? Problem::kNone : Problem::kFull;
  }
  if (!number.is_finite()) return Problem::kNotFinite;
  const columnar::Field& field = column.field();
  uint8_t value[32];
  const auto width = columnar::stored_width(field);
  switch (numeric_to_decimal(number, field.precision, field.scale, static_cast<int32_t>(8 * width), value)) {
    case DecimalOutcome::kExact: break;
    case DecimalOutcome::kTooLarge: return Problem::kTooLarge;
    case DecimalOutcome::kTooPrecise: return Problem::kTooPrecise;
  }
  std::memcpy(column.append_fixed(), value, static_cast<size_t>(width));
  return Problem::kNone;
}

Problem append_text(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  if (wire.check_utf8 && !columnar::is_utf8({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)})) {
    return Problem::kUtf8;
  }
  return column.append_bytes(bytes, size) ? Problem::kNone : Problem::kFull;
}

Problem append_date(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  if (size != 4) return Problem::kWidth;
  const auto days = load<int32_t>(bytes);
  if (days == std::numeric_limits<int32_t>::max() || days == std::numeric_limits<int32_t>::min()) {
    if (!wire.infinity_is_null) return Problem::kInfinity;
    column.append_null();
    return Problem::kNone;
  }
  int32_t unix_days;
  if (__builtin_add_overflow(days, kEpochDays, &unix_days)) return Problem::kRange;
  column.append(unix_days);
  return Problem::kNone;
}

Problem append_timestamp(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  if (size != 8) return Problem::kWidth;
  const auto micros = load<int64_t>(bytes);
  if (micros == std::numeric_limits<int64_t>::max() || micros == std::numeric_limits<int64_t>::min()) {
    if (!wire.infinity_is_null) return Problem::kInfinity;
    column.append_null();
    return Problem::kNone;
  }
  int64_t unix_micros;
  if (__builtin_add_overflow(micros, kEpochMicros, &unix_micros)) return Problem::kRange;
  column.append(unix_micros);
  return Problem::kNone;
}

/// PostgreSQL has 24:00:00; Arrow's times are less than that.
Problem append_time(ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  if (size != 8) return Problem::kWidth;
  const auto micros = load<int64_t>(bytes);
  if (micros < 0 || micros > kMicrosPerDay) return Problem::kWidth;
  if (micros == kMicrosPerDay) return Problem::kTime;
  column.append(micros);
  return Problem::kNone;
}

/// All three numbers are the highest or the lowest: infinite, from PostgreSQL 17 on.
bool is_infinite_interval(int64_t micros, const int32_t (&months_days)[2]) {
  using Micros = std::numeric_limits<int64_t>;
  using Days = std::numeric_limits<int32_t>;
  const auto all = [&](int64_t most, int32_t most_days) {
    return micros == most && months_days[0] == most_days && months_days[1] == most_days;
  };
  return all(Micros::max(), Days::max()) || all(Micros::min(), Days::min());
}

Problem append_interval(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  if (size != 16) return Problem::kWidth;
  const auto micros = load<int64_t>(bytes);
  const int32_t months_days[2] = {load<int32_t>(bytes + 12), load<int32_t>(bytes + 8)};
  if (is_infinite_interval(micros, months_days)) {
    if (!wire.infinity_is_null) return Problem::kInfinity;
    column.append_null();
    return Problem::kNone;
  }
  int64_t nanos;
  if (__builtin_mul_overflow(micros, kNanosPerMicro, &nanos)) return Problem::kRange;
  uint8_t* place = column.append_fixed();
  std::memcpy(place, months_days, sizeof(months_days));
  std::memcpy(place + sizeof(months_days), &nanos, sizeof(nanos));
  return Problem::kNone;
}

/// Reads the next element of an array or field of a record: its length and its bytes.
Problem append_part(const WireColumn& wire, ColumnBuilder& column, const uint8_t*& at, const uint8_t* end) {
  if (end - at < 4) return Problem::kLayout;
  const auto size = load<int32_t>(at);
  at += 4;
  if (size == -1) {
    column.append_null();
    return Problem::kNone;
  }
  if (size < 0 || size > end - at) return Problem::kLayout;
  const Problem problem = append(wire, column, at, size);
  at += size;
  return problem;
}

Problem append_array(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  constexpr int32_t kHeader = 12, kDimension = 8;
  if (size < kHeader) return Problem::kLayout;
  const auto dimensions = load<int32_t>(bytes);
  const WireColumn& element = wire.children[0];
  if (element.oid != 0 && load<uint32_t>(bytes + 8) != element.oid) return Problem::kElementType;
  if (dimensions > 1) return Problem::kDimensions;
  if (dimensions < 0 || (dimensions == 0 && size != kHeader)) return Problem::kLayout;
  if (dimensions == 1) {
    if (size < kHeader + kDimension) return Problem::kLayout;
    const auto count = load<int32_t>(bytes + kHeader);
    if (load<int32_t>(bytes + kHeader + 4) != 1) return Problem::kLowerBound;
    const uint8_t* at = bytes + kHeader + kDimension;
    const uint8_t* const end = bytes + size;
    if (count < 0 || count > (end - at) / 4) return Problem::kLayout;
    if (count > ColumnBuilder::kMaxOffset - column.child(0).length()) return Problem::kFull;
    for (int32_t i = 0; i < count; ++i) {
      const Problem problem = append_part(element, column.child(0), at, end);
      if (problem != Problem::kNone) return problem;
    }
    if (at != end) return Problem::kLayout;
  }
  column.append_list();
  return Problem::kNone;
}

Problem append_record(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  if (size < 4 || load<int32_t>(bytes) != static_cast<int32_t>(wire.children.size())) return Problem::kLayout;
  const uint8_t* at = bytes + 4;
  const uint8_t* const end = bytes + size;
  for (size_t i = 0; i < wire.children.size(); ++i) {
    if (end - at < 4) return Problem::kLayout;
    if (wire.children[i].oid != 0 && load<uint32_t>(at) != wire.children[i].oid) return Problem::kElementType;
    at += 4;
    const Problem problem = append_part(wire.children[i], column.child(i), at, end);
    if (problem != Problem::kNone) return problem;
  }
  if (at != end) return Problem::kLayout;
  column.append_struct();
  return Problem::kNone;
}

/// True for the problems that --out-of-range handles: valid values that the column's type does not have.
bool is_out_of_range(Problem problem) {
  switch (problem) {
    case Problem::kNotFinite:
    case Problem::kTooLarge:
    case Problem::kTooPrecise:
    case Problem::kRealDigits:
    case Problem::kInfinity:
    case Problem::kTime:
    case Problem::kRange: return true;
    default: return false;
  }
}

Problem append_value(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  switch (wire.wire) {
    case Wire::kBool:
      if (size != 1) return Problem::kWidth;
      column.append_bool(bytes[0] != 0);
      return Problem::kNone;
    case Wire::kInt: return append_int(column, bytes, size);
    case Wire::kDecimal:
    case Wire::kNumericText:
    case Wire::kNumericReal: return append_numeric(wire, column, bytes, size);
    case Wire::kText: return append_text(wire, column, bytes, size);
    case Wire::kJsonb:
      if (size < 1 || bytes[0] != 1) return Problem::kJsonb;
      return append_text(wire, column, bytes + 1, size - 1);
    case Wire::kBytes: return column.append_bytes(bytes, size) ? Problem::kNone : Problem::kFull;
    case Wire::kFixed:
      if (size != column.field().byte_width) return Problem::kWidth;
      std::memcpy(column.append_fixed(), bytes, static_cast<size_t>(size));
      return Problem::kNone;
    case Wire::kDate: return append_date(wire, column, bytes, size);
    case Wire::kTimestamp: return append_timestamp(wire, column, bytes, size);
    case Wire::kTime: return append_time(column, bytes, size);
    case Wire::kInterval: return append_interval(wire, column, bytes, size);
    case Wire::kNetwork: {
      std::string text;
      if (!network_to_text(bytes, size, text)) return Problem::kWidth;
      return column.append_bytes(text.data(), static_cast<int64_t>(text.size())) ? Problem::kNone : Problem::kFull;
    }
    case Wire::kGeometry: {
      uint32_t srid;
      std::string wkb;
      if (!geometry_to_wkb(bytes, size, srid, wkb)) return Problem::kGeometry;
      if (srid != wire.srid) return Problem::kSrid;
      return column.append_bytes(wkb.data(), static_cast<int64_t>(wkb.size())) ? Problem::kNone : Problem::kFull;
    }
    case Wire::kEnum: {
      const std::string_view text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
      if (wire.check_utf8 && !columnar::is_utf8(text)) return Problem::kUtf8;
      const int32_t index = wire.lookup->find(text);
      if (index < 0) return Problem::kLabel;
      column.append(index);
      return Problem::kNone;
    }
    case Wire::kArray: return append_array(wire, column, bytes, size);
    case Wire::kRecord: return append_record(wire, column, bytes, size);
  }
  return Problem::kLayout;
}

Problem append(const WireColumn& wire, ColumnBuilder& column, const uint8_t* bytes, int32_t size) {
  const Problem problem = append_value(wire, column, bytes, size);
  if (problem == Problem::kNone || !wire.out_of_range_is_null || !is_out_of_range(problem)) return problem;
  column.append_null();  // nothing was appended
  return Problem::kNone;
}

/// Each decoder has its own, since decoders run in separate threads.
void make_lookups(WireColumn& wire) {
  if (wire.labels != nullptr) wire.lookup = std::make_shared<columnar::LabelLookup>(wire.labels);
  for (WireColumn& child : wire.children) make_lookups(child);
}

}  // namespace

CopyDecoder::CopyDecoder(std::vector<WireColumn> wires, std::vector<ColumnBuilder>* columns)
    : wires_(std::move(wires)), columns_(columns) {
  for (size_t i = 0; i < wires_.size(); ++i) {
    make_lookups(wires_[i]);
    const int64_t width = wires_[i].wire == Wire::kInt ? columnar::stored_width((*columns)[i].field()) : 0;
    words_.push_back(width == 4 || width == 8 ? static_cast<uint8_t>(width) : 0);
  }
}

Status CopyDecoder::corrupt(const std::string& what) const {
  return Status(ErrorCode::kCorruptFile, "unexpected bytes from the server after row " + std::to_string(rows_))
      .with_detail(what);
}

Status CopyDecoder::feed(const uint8_t* bytes, int64_t size) {
  const bool joined = !pending_.empty();
  if (joined) {
    pending_.insert(pending_.end(), bytes, bytes + size);
    bytes = pending_.data();
    size = static_cast<int64_t>(pending_.size());
  }
  int64_t used = 0;
  while (used < size) {
    STROM_ASSIGN(const int64_t taken, take(bytes + used, size - used));
    if (taken == 0) break;
    used += taken;
  }
  if (joined) {
    pending_.erase(pending_.begin(), pending_.begin() + used);
  } else if (used < size) {
    pending_.assign(bytes + used, bytes + size);
  }
  return Status::ok();
}

std::optional<std::span<const uint8_t>> CopyDecoder::take_value(const uint8_t* bytes, int64_t size) {
  constexpr int64_t kCount = 2, kHeader = kCount + 4;
  if (stage_ != Stage::kRows || !pending_.empty() || size < kHeader || load<int16_t>(bytes) != 1 ||
      load<int32_t>(bytes + kCount) != size - kHeader)
    return std::nullopt;
  ++rows_;
  return std::span(bytes + kHeader, static_cast<size_t>(size - kHeader));
}

Status CopyDecoder::finish() const {
  if (stage_ == Stage::kEnd && pending_.empty()) return Status::ok();
  return corrupt("The data end in the middle of a row or lack their end.");
}

/// Returns the bytes of the header, of a row, or of the end; 0 when they are incomplete.
Result<int64_t> CopyDecoder::take(const uint8_t* bytes, int64_t size) {
  switch (stage_) {
    case Stage::kHeader: return take_header(bytes, size);
    case Stage::kRows: return take_row(bytes, size);
    case Stage::kEnd: break;
  }
  return corrupt("There is something behind the end of the data.");
}

Result<int64_t> CopyDecoder::take_header(const uint8_t* bytes, int64_t size) {
  constexpr int64_t kSignature = 11, kFixed = kSignature + 8;
  constexpr uint32_t kCritical = 0xFFFF0000;
  if (std::memcmp(bytes, "PGCOPY\n\377\r\n\0", static_cast<size_t>(std::min(size, kSignature))) != 0) {
    return corrupt("The signature of COPY's binary format is missing.");
  }
  if (size < kFixed) return int64_t{0};
  if ((load<uint32_t>(bytes + kSignature) & kCritical) != 0) return corrupt("COPY's binary format has unknown flags.");
  const int64_t extension = load<uint32_t>(bytes + kSignature + 4);
  if (extension > kMaxField) return corrupt("The header of COPY's binary format is too long.");
  if (size - kFixed < extension) return int64_t{0};
  stage_ = Stage::kRows;
  return kFixed + extension;
}

Result<int64_t> CopyDecoder::take_row(const uint8_t* bytes, int64_t size) {
  if (size < 2) return int64_t{0};
  const auto count = load<int16_t>(bytes);
  if (count == -1) {
    stage_ = Stage::kEnd;
    return int64_t{2};
  }
  const auto stored = static_cast<int16_t>(records_.empty() ? wires_.size() : records_.size());
  if (count != stored + key_count_) {
    return corrupt("A row has " + std::to_string(count) + " columns instead of " + std::to_string(stored + key_count_) +
                   ".");
  }
  if (records_.empty() && key_count_ == 0 && pending_.empty()) return take_plain_row(bytes, size);
  // Checks first that the whole row is there, so that nothing has to be undone.
  int64_t end = 2, key_begin = 2;
  for (int16_t i = 0; i < count; ++i) {
    if (size - end < 4) return int64_t{0};
    const auto length = load<int32_t>(bytes + end);
    if (length < -1 || length > kMaxField) return corrupt("A value has an impossible length.");
    end += 4 + (length == -1 ? 0 : length);
    if (end > size) return int64_t{0};
    if (i < stored) key_begin = end;
  }
  if (key_count_ > 0) STROM_TRY(check_key(bytes + key_begin, bytes + end));
  const uint8_t* at = bytes + 2;
  STROM_TRY(records_.empty() ? append_columns(at, bytes + end) : append_records(at));
  ++rows_;
  return end;
}

/// Most pieces are exactly one row. Checking its lengths first would take as long as reading its values.
Result<int64_t> CopyDecoder::take_plain_row(const uint8_t* bytes, int64_t size) {
  const int64_t before = columns_->empty() ? 0 : columns_->front().length();
  const uint8_t* at = bytes + 2;
  STROM_TRY(append_columns(at, bytes + size));
  if (at == nullptr) {
    for (ColumnBuilder& column : *columns_) column.truncate(before);
    return int64_t{0};
  }
  ++rows_;
  return at - bytes;
}

std::string CopyDecoder::place_of(size_t column) const {
  return "row " + std::to_string(rows_ + 1) + ", column \"" + (*columns_)[column].field().name + "\"";
}

/// Appends the values of a row, and leaves `at` behind it; nullptr when the row goes on beyond `end`. Some columns then
/// have one value more than others.
Status CopyDecoder::append_columns(const uint8_t*& at, const uint8_t* end) {
  const size_t count = wires_.size();
  for (size_t i = 0; i < count; ++i) {
    ColumnBuilder& column = (*columns_)[i];
    if (end - at < 4) return at = nullptr, Status::ok();
    const auto length = load<int32_t>(at);
    at += 4;
    if (length == -1) {
      column.append_null();
      continue;
    }
    if (length < 0 || length > kMaxField) return corrupt("A value has an impossible length.");
    if (length > end - at) return at = nullptr, Status::ok();
    if (words_[i] != 0 && length == words_[i]) {
      if (length == sizeof(uint32_t)) {
        column.append(load<uint32_t>(at));
      } else {
        column.append(load<uint64_t>(at));
      }
    } else if (const Problem problem = append(wires_[i], column, at, length); problem != Problem::kNone) {
      return explain(problem, place_of(i));
    }
    at += length;
  }
  return Status::ok();
}

/// The same for rows made of records.
Status CopyDecoder::append_records(const uint8_t* at) {
  size_t first = 0;
  for (const size_t count : records_) {
    const auto length = load<int32_t>(at);
    at += 4;
    if (length == -1) {
      for (size_t i = first; i < first + count; ++i) (*columns_)[i].append_null();
    } else {
      STROM_TRY(append_record(at, at + length, first, count));
      at += length;
    }
    first += count;
  }
  return Status::ok();
}

Status CopyDecoder::append_record(const uint8_t* at, const uint8_t* end, size_t first, size_t count) {
  if (end - at < 4 || load<int32_t>(at) != static_cast<int64_t>(count)) return corrupt("A record is damaged.");
  at += 4;
  for (size_t i = first; i < first + count; ++i) {
    if (end - at < 4) return corrupt("A record is damaged.");
    at += 4;  // the type, which the query determines
    const Problem problem = append_part(wires_[i], (*columns_)[i], at, end);
    if (problem != Problem::kNone) return explain(problem, place_of(i));
  }
  return at == end ? Status::ok() : corrupt("A record is damaged.");
}

void CopyDecoder::set_key(int count, KeyChange changed) {
  key_count_ = count;
  key_changed_ = std::move(changed);
}

Status CopyDecoder::check_key(const uint8_t* bytes, const uint8_t* end) {
  if (!key_.empty() && std::equal(bytes, end, key_.begin(), key_.end())) return Status::ok();
  key_.assign(bytes, end);
  std::vector<std::optional<std::string>> values;
  while (bytes < end) {
    const auto length = load<int32_t>(bytes);
    bytes += 4;
    auto& value = values.emplace_back();
    if (length < 0) continue;
    value.emplace(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
    bytes += length;
  }
  return key_changed_(values);
}

}  // namespace strom::format::pgwire
