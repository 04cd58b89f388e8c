// See row_decoder.hpp.
#include "format/mysqlwire/row_decoder.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "columnar/utf8.hpp"
#include "format/csv/parse_value.hpp"
#include "format/value_errors.hpp"

namespace strom::format::mysqlwire {

namespace {

using columnar::ColumnBuilder;

template <class T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Why a value could not be appended.
enum class Problem : uint8_t {
  kNone,
  kShort,
  kWidth,
  kDigits,
  kTooLarge,
  kTooPrecise,
  kZeroDate,
  kTimeRange,
  kRange,
  kUtf8,
  kUuid,
  kBool,
  kSrid,
  kGeometry,
  kVector,
  kLabel,
  kFull,
};

Status explain(Problem problem, const std::string& place) {
  const auto corrupt = [&](const char* what) { return unexpected_bytes(place, what); };
  const auto range = [&](const char* what, const char* hint) { return out_of_range(what, place, hint); };
  constexpr auto kCastHint = "Cast the column to CHAR in the query given by -c.";
  switch (problem) {
    case Problem::kNone: break;
    case Problem::kShort: return corrupt("A row ends in the middle of a value.");
    case Problem::kWidth: return corrupt("A value has another length than its type.");
    case Problem::kDigits: return corrupt("A decimal is damaged.");
    case Problem::kTooLarge: return range("decimal with too many digits for the column's type", kCastHint);
    case Problem::kTooPrecise: return range("decimal with more decimal places than the column's type", kCastHint);
    case Problem::kZeroDate:
      return range("date that is in no calendar",
                   "--zero-dates=null writes NULL instead, --zero-dates=text all such columns as text.");
    case Problem::kTimeRange:
      return range("time that is negative or not below 24 hours",
                   "--time=interval writes all such columns as intervals, --time=text as text.");
    case Problem::kRange: return range("value outside of the range of the Arrow type", kCastHint);
    case Problem::kUtf8:
      return Status(ErrorCode::kInvalidParameter, "text that is not valid in its character set in " + place)
          .with_hint("Cast the column to BINARY in the query given by -c.");
    case Problem::kUuid: return corrupt("A UUID is damaged.");
    case Problem::kBool: return range("number other than 0 and 1 in a boolean column", "Leave out --tinyint1=bool.");
    case Problem::kSrid:
      return unsupported_value("geometry with another SRID than those before", place,
                               "Dump each SRID by itself, with a query given by -c.");
    case Problem::kGeometry: return corrupt("A geometry is damaged.");
    case Problem::kVector: return corrupt("A vector is damaged.");
    case Problem::kLabel: return corrupt("An enum has an unknown label.");
    case Problem::kFull: return batch_too_large(place);
  }
  return Status(ErrorCode::kInternal, "no problem in " + place);
}

struct Slice {
  const uint8_t* bytes = nullptr;
  int64_t size = 0;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)}; }
};

Problem append_bytes(ColumnBuilder& column, const void* bytes, int64_t size) {
  return column.append_bytes(bytes, size) ? Problem::kNone : Problem::kFull;
}

Problem append_fixed(ColumnBuilder& column, const Slice& value) {
  switch (value.size) {
    case 1: column.append(value.bytes[0]); break;
    case 2: column.append(load<uint16_t>(value.bytes)); break;
    case 4: column.append(load<uint32_t>(value.bytes)); break;
    default: column.append(load<uint64_t>(value.bytes)); break;
  }
  return Problem::kNone;
}

Problem append_bit(ColumnBuilder& column, const Slice& value) {
  if (value.size < 1 || value.size > 8) return Problem::kWidth;
  uint64_t bits = 0;
  for (int64_t i = 0; i < value.size; ++i) bits = bits << 8 | value.bytes[i];
  column.append(bits);
  return Problem::kNone;
}

Problem append_decimal(ColumnBuilder& column, const Slice& value) {
  const columnar::Field& field = column.field();
  const auto bits = static_cast<int32_t>(8 * columnar::stored_width(field));
  switch (csv::parse_decimal(value.text(), field.precision, field.scale, bits, column.append_fixed())) {
    case csv::Parsed::kExact: return Problem::kNone;
    case csv::Parsed::kMalformed: return Problem::kDigits;
    case csv::Parsed::kTooLarge: return Problem::kTooLarge;
    case csv::Parsed::kTooPrecise: return Problem::kTooPrecise;
  }
  return Problem::kDigits;
}

Problem append_text(ColumnBuilder& column, const Slice& value) {
  if (!columnar::is_utf8(value.text())) return Problem::kUtf8;
  return append_bytes(column, value.bytes, value.size);
}

Problem append_uuid(ColumnBuilder& column, const Slice& value) {
  constexpr int kBytes = 16;
  uint8_t* out = column.append_fixed();
  int digits = 0;
  for (const char c : value.text()) {
    if (c == '-') continue;
    const int lower = c | 0x20;
    const int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    if (digit < 0 || digits == 2 * kBytes) return Problem::kUuid;
    const int high = digits & 1 ? out[digits / 2] : 0;
    out[digits / 2] = static_cast<uint8_t>(high << 4 | digit);
    ++digits;
  }
  return digits == 2 * kBytes ? Problem::kNone : Problem::kUuid;
}

struct DateTime {
  uint32_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, micros = 0;
};

/// 0, 4, 7 or 11 bytes: zeros at the end are omitted.
bool read_date(const Slice& value, DateTime& out) {
  if (value.size != 0 && value.size != 4 && value.size != 7 && value.size != 11) return false;
  const uint8_t* at = value.bytes;
  if (value.size >= 4) {
    out.year = load<uint16_t>(at);
    out.month = at[2];
    out.day = at[3];
  }
  if (value.size >= 7) {
    out.hour = at[4];
    out.minute = at[5];
    out.second = at[6];
  }
  if (value.size == 11) out.micros = load<uint32_t>(at + 7);
  return out.hour < 24 && out.minute < 60 && out.second < 60 && out.micros < 1'000'000;
}

Problem append_date(const WireColumn& wire, ColumnBuilder& column, const Slice& value) {
  DateTime date;
  if (!read_date(value, date)) return Problem::kWidth;
  int64_t days;
  if (!csv::days_of(date.year, date.month, date.day, days)) {
    if (wire.zero_dates == ZeroDates::kError) return Problem::kZeroDate;
    column.append_null();
    return Problem::kNone;
  }
  if (wire.wire == Wire::kDate) {
    column.append(static_cast<int32_t>(days));
    return Problem::kNone;
  }
  const int64_t seconds = ((days * 24 + date.hour) * 60 + date.minute) * 60 + date.second;
  const int64_t per_second = csv::units_per_second(column.field().unit);
  const int64_t micros_per_unit = 1'000'000 / per_second;
  if (date.micros % micros_per_unit != 0) return Problem::kRange;
  column.append(seconds * per_second + date.micros / micros_per_unit);
  return Problem::kNone;
}

Problem append_printed(ColumnBuilder& column, char* text, int size, int decimals, uint32_t micros) {
  if (decimals > 0 && decimals <= 6) {
    size += std::snprintf(text + size, 16, ".%06u", micros);
    size -= 6 - decimals;
  }
  return append_bytes(column, text, size);
}

Problem append_date_text(const WireColumn& wire, ColumnBuilder& column, const Slice& value) {
  DateTime date;
  if (!read_date(value, date)) return Problem::kWidth;
  char text[64];
  int size = std::snprintf(text, sizeof(text), "%04u-%02u-%02u", date.year, date.month, date.day);
  if (!wire.has_time) return append_bytes(column, text, size);
  size += std::snprintf(text + size, sizeof(text) - static_cast<size_t>(size), " %02u:%02u:%02u", date.hour,
                        date.minute, date.second);
  return append_printed(column, text, size, wire.decimals, date.micros);
}

struct Time {
  bool negative = false;
  int64_t hours = 0;
  uint32_t minutes = 0, seconds = 0, micros = 0;
  int64_t all_micros() const {
    const int64_t value = ((hours * 60 + minutes) * 60 + seconds) * 1'000'000 + micros;
    return negative ? -value : value;
  }
};

/// 0, 8 or 12 bytes.
bool read_time(const Slice& value, Time& out) {
  if (value.size != 0 && value.size != 8 && value.size != 12) return false;
  if (value.size == 0) return true;
  constexpr uint32_t kMostDays = 1'000'000;
  const auto days = load<uint32_t>(value.bytes + 1);
  if (days > kMostDays) return false;
  out.negative = value.bytes[0] != 0;
  out.hours = int64_t{days} * 24 + value.bytes[5];
  out.minutes = value.bytes[6];
  out.seconds = value.bytes[7];
  if (value.size == 12) out.micros = load<uint32_t>(value.bytes + 8);
  return value.bytes[5] < 24 && out.minutes < 60 && out.seconds < 60 && out.micros < 1'000'000;
}

Problem append_time(const WireColumn& wire, ColumnBuilder& column, const Slice& value) {
  Time time;
  if (!read_time(value, time)) return Problem::kWidth;
  const int64_t micros = time.all_micros();
  if (wire.wire == Wire::kTimeText) {
    char text[64];
    const int size = std::snprintf(text, sizeof(text), "%s%02lld:%02u:%02u", time.negative ? "-" : "",
                                   static_cast<long long>(time.hours), time.minutes, time.seconds);
    return append_printed(column, text, size, wire.decimals, time.micros);
  }
  if (wire.wire == Wire::kDuration) {
    constexpr int64_t kNanosPerMicro = 1000;
    const int64_t nanos = micros * kNanosPerMicro;
    uint8_t* place = column.append_fixed();
    std::memset(place, 0, 8);  // months and days
    std::memcpy(place + 8, &nanos, sizeof(nanos));
    return Problem::kNone;
  }
  if (micros < 0 || time.hours >= 24) return Problem::kTimeRange;
  const int64_t micros_per_unit = 1'000'000 / csv::units_per_second(column.field().unit);
  if (micros % micros_per_unit != 0) return Problem::kRange;
  if (column.field().layout == columnar::Layout::kTime32) {
    column.append(static_cast<int32_t>(micros / micros_per_unit));
  } else {
    column.append(micros / micros_per_unit);
  }
  return Problem::kNone;
}

Problem append_geometry(const WireColumn& wire, ColumnBuilder& column, const Slice& value) {
  constexpr int64_t kSrid = 4, kLeast = kSrid + 5;  // and the WKB's byte order and type
  if (value.size < kLeast) return Problem::kGeometry;
  if (load<uint32_t>(value.bytes) != wire.srid) return Problem::kSrid;
  return append_bytes(column, value.bytes + kSrid, value.size - kSrid);
}

Problem append_vector(ColumnBuilder& column, const Slice& value) {
  if (value.size % 4 != 0) return Problem::kVector;
  ColumnBuilder& elements = column.child(0);
  if (value.size / 4 > ColumnBuilder::kMaxOffset - elements.length()) return Problem::kFull;
  for (int64_t at = 0; at < value.size; at += 4) elements.append(load<uint32_t>(value.bytes + at));
  column.append_list();
  return Problem::kNone;
}

Problem append_value(const WireColumn& wire, ColumnBuilder& column, const Slice& value) {
  switch (wire.wire) {
    case Wire::kFixed: return append_fixed(column, value);
    case Wire::kTinyBool:
      if (value.bytes[0] > 1) return Problem::kBool;
      column.append_bool(value.bytes[0] != 0);
      return Problem::kNone;
    case Wire::kBit: return append_bit(column, value);
    case Wire::kBitBool:
      if (value.size != 1) return Problem::kWidth;
      column.append_bool(value.bytes[0] != 0);
      return Problem::kNone;
    case Wire::kDecimal: return append_decimal(column, value);
    case Wire::kText: return append_text(column, value);
    case Wire::kBytes: return append_bytes(column, value.bytes, value.size);
    case Wire::kUuid: return append_uuid(column, value);
    case Wire::kDate:
    case Wire::kDateTime: return append_date(wire, column, value);
    case Wire::kDateText: return append_date_text(wire, column, value);
    case Wire::kTime:
    case Wire::kDuration:
    case Wire::kTimeText: return append_time(wire, column, value);
    case Wire::kLabel: {
      if (!columnar::is_utf8(value.text())) return Problem::kUtf8;
      const int32_t index = wire.lookup->find(value.text());
      if (index < 0) return Problem::kLabel;
      column.append(index);
      return Problem::kNone;
    }
    case Wire::kGeometry: return append_geometry(wire, column, value);
    case Wire::kVector: return append_vector(column, value);
  }
  return Problem::kWidth;
}

/// Reads the length before a value, of 1, 3, 4 or 9 bytes. False when it is incomplete.
bool read_length(const uint8_t*& at, const uint8_t* end, int64_t& length) {
  if (at == end) return false;
  const uint8_t first = *at++;
  if (first < 0xFB) {
    length = first;
    return true;
  }
  const int bytes = first == 0xFC ? 2 : first == 0xFD ? 3 : first == 0xFE ? 8 : 0;
  if (bytes == 0 || end - at < bytes) return false;
  uint64_t value = 0;
  std::memcpy(&value, at, static_cast<size_t>(bytes));
  at += bytes;
  length = static_cast<int64_t>(value);
  return length >= 0;
}

bool is_null(const uint8_t* nulls, size_t column) {
  const size_t bit = column + 2;
  return (nulls[bit / 8] >> (bit % 8) & 1) != 0;
}

}  // namespace

RowDecoder::RowDecoder(std::vector<WireColumn> wires, std::vector<ColumnBuilder>* columns)
    : wires_(std::move(wires)), columns_(columns) {
  for (WireColumn& wire : wires_) {
    if (wire.labels != nullptr) wire.lookup = std::make_shared<columnar::LabelLookup>(wire.labels);
  }
}

Status RowDecoder::append(const uint8_t* bytes, int64_t size) {
  const auto fail = [&](Problem problem, size_t column) {
    return explain(problem,
                   "row " + std::to_string(rows_ + 1) + ", column \"" + (*columns_)[column].field().name + "\"");
  };
  const auto corrupt = [&](const char* what) {
    return Status(ErrorCode::kCorruptFile, "unexpected bytes from the server after row " + std::to_string(rows_))
        .with_detail(what);
  };
  const auto nulls_size = static_cast<int64_t>((wires_.size() + 9) / 8);
  if (size < 1 + nulls_size || bytes[0] != 0) return corrupt("The beginning of a row is missing.");
  const uint8_t* const nulls = bytes + 1;
  const uint8_t* at = nulls + nulls_size;
  const uint8_t* const end = bytes + size;
  for (size_t i = 0; i < wires_.size(); ++i) {
    const WireColumn& wire = wires_[i];
    ColumnBuilder& column = (*columns_)[i];
    if (is_null(nulls, i)) {
      column.append_null();
      continue;
    }
    int64_t length = wire.width;
    if (wire.is_sized && !read_length(at, end, length)) return fail(Problem::kShort, i);
    if (length > end - at) return fail(Problem::kShort, i);
    // Most values are numbers.
    if (wire.wire == Wire::kFixed && length == sizeof(uint32_t)) {
      column.append(load<uint32_t>(at));
      at += length;
      continue;
    }
    const Problem problem = append_value(wire, column, {at, length});
    if (problem != Problem::kNone) return fail(problem, i);
    at += length;
  }
  if (at != end) return corrupt("A row has more bytes than its values.");
  ++rows_;
  return Status::ok();
}

}  // namespace strom::format::mysqlwire
