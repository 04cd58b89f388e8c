// See row_text.hpp. Rows are made a tile at a time: each row of a tile gets a slot that is large enough for its text,
// one column after the other is appended to all slots, and at the end the slots are pushed together. So the work for
// one type of value is a loop of its own, without a decision per value.
#include "format/csv/row_text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "base/utf8.hpp"
#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "format/csv/datetime_text.hpp"
#include "format/csv/number_text.hpp"
#include "format/csv/text_form.hpp"

namespace strom::format::csv {

namespace {

using columnar::BatchView;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;
using columnar::TimeUnit;

constexpr int kMostTileRows = 512;
constexpr int64_t kTileBytes = 128 * 1024;    // of slots: they stay in the second-level cache
constexpr int64_t kLongText = 64 * 1024;      // from here on a text's room is counted, not estimated
constexpr int64_t kMostSlotBytes = 16 << 20;  // a tile with longer texts has fewer rows

/// What stands before, behind and in place of a column's values.
struct Frame {
  std::string before;  // padded to whole words of 16 bytes
  int64_t before_size = 0;
  uint64_t behind = 0;
  int64_t behind_size = 0;
  std::string null_text;
  int64_t room() const { return before_size + behind_size + static_cast<int64_t>(null_text.size()); }
};

enum class BinaryKind : uint8_t { kText, kHex, kUuid, kMac, kAddress };

struct Column {
  Frame frame;
  Field field;
  BinaryKind binary = BinaryKind::kText;
  bool is_text = false;  // written by the style's form
  int64_t room = 0;      // of a value that is not text
};

/// A column's texts in one tile.
struct TextTile {
  const char* text[kMostTileRows];
  int64_t size[kMostTileRows];  // -1: null
  bool is_clean = false;        // no byte is special
  bool has_tail = false;        // 16 bytes can be read from where each text begins
};

struct Scratch {
  char* at[kMostTileRows];
  int64_t room[kMostTileRows];
  std::vector<TextTile> texts;  // one for each text column
};

template <class T>
T load(const void* values, int64_t row) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class Form>
bool has_special(const Form& form, const char* text, int64_t size) {
  bool found = false;
  for (int64_t i = 0; i < size; ++i) found |= form.is_special(text[i]);
  return found;
}

/// Bytes that put_special() will write, counted.
template <class Form>
int64_t counted_room(const Form& form, const char* text, int64_t size) {
  int64_t special = 0;
  for (int64_t i = 0; i < size; ++i) special += form.is_special(text[i]);
  return size + Form::room(special) + 2;
}

/// Last part of a type's name as the metadata key pg_type has it: schema.name@extension.
std::string_view pg_type_name(const Field& field) {
  for (const auto& [key, value] : field.metadata) {
    if (key != "pg_type") continue;
    std::string_view name = value;
    name = name.substr(0, name.find('@'));
    return name.substr(name.rfind('.') + 1);
  }
  return {};
}

BinaryKind binary_kind(const Field& field, bool binary_hex) {
  const std::string_view type = pg_type_name(field);
  const int32_t width = field.byte_width;
  if (type == "uuid" && width == 16) return BinaryKind::kUuid;
  if ((type == "macaddr" && width == 6) || (type == "macaddr8" && width == 8)) return BinaryKind::kMac;
  if ((type == "inet" || type == "cidr") && (width == 4 || width == 16)) return BinaryKind::kAddress;
  return type == "bytea" || binary_hex ? BinaryKind::kHex : BinaryKind::kText;
}

char* put_hex(char* out, const uint8_t* bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    *out++ = "0123456789abcdef"[bytes[i] >> 4];
    *out++ = "0123456789abcdef"[bytes[i] & 15];
  }
  return out;
}

char* put_binary(char* out, BinaryKind kind, const uint8_t* bytes, int64_t width) {
  switch (kind) {
    case BinaryKind::kText: break;  // not written here
    case BinaryKind::kHex: return put_hex(put_bytes(out, "\\x", 2), bytes, width);
    case BinaryKind::kUuid:
      for (int64_t from = 0, size = 4; from < 16; from += size, size = from < 10 ? 2 : 6) {
        if (from > 0) *out++ = '-';
        out = put_hex(out, bytes + from, size);
      }
      return out;
    case BinaryKind::kMac:
      for (int64_t i = 0; i < width; ++i) {
        if (i > 0) *out++ = ':';
        out = put_hex(out, bytes + i, 1);
      }
      return out;
    case BinaryKind::kAddress:
      if (inet_ntop(width == 4 ? AF_INET : AF_INET6, bytes, out, INET6_ADDRSTRLEN) == nullptr) return out;
      return out + std::strlen(out);
  }
  return out;
}

/// Most bytes of a value that is not text; 0 for text.
int64_t value_room(const Field& field, BinaryKind binary) {
  switch (field.layout) {
    case Layout::kBool:
    case Layout::kInt8:
    case Layout::kUInt8:
    case Layout::kInt16:
    case Layout::kUInt16:
    case Layout::kInt32:
    case Layout::kUInt32:
    case Layout::kInt64: return 24;
    case Layout::kFloat32:
    case Layout::kFloat64: return kFloatRoom;
    case Layout::kDecimal32:
    case Layout::kDecimal64:
    case Layout::kDecimal128: return decimal_room(field.scale);
    case Layout::kDate32:
    case Layout::kDate64: return kDateRoom;
    case Layout::kTimestamp: return kTimestampRoom;
    case Layout::kFixedBinary:
      if (binary == BinaryKind::kText) return 0;
      return std::max<int64_t>(INET6_ADDRSTRLEN, 2 + 3 * int64_t{field.byte_width});
    case Layout::kUtf8:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View: return 0;
  }
  return 0;
}

/// Appends to each row's slot what `put(out, row)` makes of a value that is not null.
template <class Put>
void append_values(const Frame& frame, const ColumnView& view, int64_t begin, int rows, char** at, Put put) {
  const int64_t null_size = static_cast<int64_t>(frame.null_text.size());
  const auto run = [&](auto has_nulls) {
    for (int r = 0; r < rows; ++r) {
      char* out = at[r];
      for (int64_t i = 0; i < frame.before_size; i += 16) std::memcpy(out + i, frame.before.data() + i, 16);
      out += frame.before_size;
      if (has_nulls.value && !columnar::is_valid(view, begin + r)) {
        out = put_bytes(out, frame.null_text.data(), null_size);
      } else {
        out = put(out, r);
      }
      std::memcpy(out, &frame.behind, sizeof(frame.behind));
      at[r] = out + frame.behind_size;
    }
  };
  if (view.validity != nullptr) {
    run(std::true_type{});
  } else {
    run(std::false_type{});
  }
}

template <class Form>
class RowTextOf final : public RowText {
 public:
  static constexpr bool kIsJson = std::is_same_v<Form, JsonForm>;

  RowTextOf(Form form, std::string header, std::vector<Column> columns, std::string empty_row, bool check_plain)
      : form_(std::move(form)),
        header_(std::move(header)),
        columns_(std::move(columns)),
        empty_row_(std::move(empty_row)),
        check_plain_(check_plain) {
    for (const Column& column : columns_) {
      fixed_room_ += column.frame.room() + (check_plain_ ? Form::room(column.room) : column.room) + 2;
      text_columns_ += column.is_text;
    }
    const int64_t per_row = fixed_room_ + 32 * text_columns_;
    tile_rows_ = static_cast<int>(std::clamp<int64_t>(kTileBytes / (per_row + 1), 16, kMostTileRows));
  }

  const std::string& header() const override { return header_; }

  Status append_rows(const BatchView& batch, int64_t begin, int64_t end, TextBuffer& out) const override {
    try {
      const auto scratch = std::make_unique_for_overwrite<Scratch>();
      scratch->texts = std::vector<TextTile>(static_cast<size_t>(text_columns_));
      while (begin < end) {
        int rows = static_cast<int>(std::min<int64_t>(tile_rows_, end - begin));
        STROM_TRY(append_tile(batch, begin, rows, *scratch, out));
        begin += rows;
      }
    } catch (const std::bad_alloc&) {
      return Status(ErrorCode::kOutOfMemory, "out of memory while writing rows as text");
    }
    return Status::ok();
  }

 private:
  /// `rows` may become less, when texts are long.
  Status append_tile(const BatchView& batch, int64_t begin, int& rows, Scratch& scratch, TextBuffer& out) const {
    std::fill_n(scratch.room, rows, fixed_room_ + kSlack);
    size_t text_column = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].is_text) continue;
      STROM_TRY(find_texts(columns_[i], batch.columns[i], begin, rows, scratch.texts[text_column]));
      add_room(scratch.texts[text_column], rows, scratch.room);
      ++text_column;
    }
    int64_t total = scratch.room[0];
    for (int r = 1; r < rows; ++r) {
      if (total + scratch.room[r] > kMostSlotBytes && total > kTileBytes) {
        rows = r;
        break;
      }
      total += scratch.room[r];
    }
    char* const start = out.reserve(total + kSlack);
    char* slot = start;
    for (int r = 0; r < rows; ++r) {
      scratch.at[r] = slot;
      slot += scratch.room[r];
    }
    if (columns_.empty()) {
      for (int r = 0; r < rows; ++r)
        scratch.at[r] = put_bytes(scratch.at[r], empty_row_.data(), static_cast<int64_t>(empty_row_.size()));
    }
    text_column = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].is_text) {
        append_texts(columns_[i], batch.columns[i], begin, rows, scratch.texts[text_column++], scratch.at);
      } else {
        append_plain(columns_[i], batch.columns[i], begin, rows, scratch.at);
      }
    }
    out.commit(push_together(start, rows, scratch) - start);
    return Status::ok();
  }

  static char* push_together(char* start, int rows, const Scratch& scratch) {
    char* end = start;
    const char* slot = start;
    for (int r = 0; r < rows; ++r) {
      const int64_t size = scratch.at[r] - slot;
      if (end != slot) std::memmove(end, slot, static_cast<size_t>(size));
      end += size;
      slot += scratch.room[r];
    }
    return end;
  }

  void add_room(const TextTile& tile, int rows, int64_t* room) const {
    for (int r = 0; r < rows; ++r) {
      const int64_t size = tile.size[r];
      if (size < 0) continue;
      room[r] += size < kLongText ? Form::room(size) : counted_room(form_, tile.text[r], size);
    }
  }

  /// Where the texts are, checked; offsets in a mapped file may change, so this is the only time they are read.
  Status find_texts(const Column& column, const ColumnView& view, int64_t begin, int rows, TextTile& tile) const {
    const char* first = nullptr;
    const char* last = nullptr;
    int64_t sum = 0;
    for (int r = 0; r < rows; ++r) {
      tile.size[r] = -1;
      if (!columnar::is_valid(view, begin + r)) continue;
      if (!columnar::text_at(view, begin + r, &tile.text[r], &tile.size[r])) {
        return Status(ErrorCode::kCorruptFile, "corrupt data in column \"" + column.field.name + "\"")
            .with_detail("The text of row " + std::to_string(begin + r) +
                         " of the record batch lies outside of its column's buffer.");
      }
      if (column.field.layout == Layout::kFixedBinary && !base::is_valid_utf8(tile.text[r], tile.size[r])) {
        return Status(ErrorCode::kInvalidParameter, "column \"" + column.field.name + "\" holds bytes that are no text")
            .with_detail("Row " + std::to_string(begin + r) + " of the record batch is not valid UTF-8.")
            .with_hint("--binary=hex writes columns of fixed size in hexadecimal.");
      }
      if (first == nullptr || tile.text[r] < first) first = tile.text[r];
      if (last == nullptr || tile.text[r] + tile.size[r] > last) last = tile.text[r] + tile.size[r];
      sum += tile.size[r];
    }
    tile.is_clean = tile.has_tail = true;
    if (first == nullptr) return Status::ok();
    // Texts mostly lie side by side, so that one pass over them tells about all.
    const bool is_one_place = view.layout != Layout::kUtf8View;
    const bool is_dense = is_one_place && last - first <= 2 * sum + 64;
    tile.is_clean = is_dense && !has_special(form_, first, last - first);
    const char* end = view.layout == Layout::kFixedBinary
                          ? static_cast<const char*>(view.values) + view.length * view.byte_width
                          : view.data + view.data_size;
    tile.has_tail = is_one_place && end - last >= 16;
    return Status::ok();
  }

  void append_texts(const Column& column, const ColumnView& view, int64_t begin, int rows, const TextTile& tile,
                    char** at) const {
    const auto put_clean = [&](char* out, int r, auto copy) {
      const char* text = tile.text[r];
      const int64_t size = tile.size[r];
      const bool quoted = form_.needs_quotes(text, size);
      *out = form_.quote;
      out = copy(out + quoted, text, size);
      *out = form_.quote;
      return out + quoted;
    };
    const auto put_any = [&](char* out, int r) {
      if (tile.size[r] < 0) return put_null(column.frame, out);  // the bitmap changed meanwhile
      if (has_special(form_, tile.text[r], tile.size[r])) return form_.put_special(out, tile.text[r], tile.size[r]);
      return put_clean(out, r, put_bytes);
    };
    const auto put_near = [&](char* out, int r) {
      if (tile.size[r] < 0) return put_null(column.frame, out);
      return put_clean(out, r, [](char* to, const char* text, int64_t size) {
        if (size > 16) return put_bytes(to, text, size);
        std::memcpy(to, text, 16);
        return to + size;
      });
    };
    if (tile.is_clean && tile.has_tail) {
      append_values(column.frame, view, begin, rows, at, put_near);
    } else {
      append_values(column.frame, view, begin, rows, at, put_any);
    }
  }

  static char* put_null(const Frame& frame, char* out) {
    return put_bytes(out, frame.null_text.data(), static_cast<int64_t>(frame.null_text.size()));
  }

  /// Values that consist of digits and the like. `quoted` ones are strings in JSON.
  template <class Put>
  void append_some(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at, bool quoted,
                   Put put) const {
    if (kIsJson && quoted) {
      append_values(column.frame, view, begin, rows, at, [&](char* out, int r) {
        *out = '"';
        out = put(out + 1, begin + r);
        *out = '"';
        return out + 1;
      });
    } else if (check_plain_) {
      std::string text(static_cast<size_t>(column.room + kSlack), '\0');
      append_values(column.frame, view, begin, rows, at, [&](char* out, int r) {
        const int64_t size = put(text.data(), begin + r) - text.data();
        const bool needs_quotes = form_.needs_quotes(text.data(), size);
        *out = form_.quote;
        out = put_bytes(out + needs_quotes, text.data(), size);
        *out = form_.quote;
        return out + needs_quotes;
      });
    } else {
      append_values(column.frame, view, begin, rows, at, [&](char* out, int r) { return put(out, begin + r); });
    }
  }

  template <class T>
  void append_integers(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    append_some(column, view, begin, rows, at, false, [&](char* out, int64_t row) {
      const T value = load<T>(view.values, row);
      if constexpr (sizeof(T) == 8) return put_int64(out, value);
      if constexpr (std::is_unsigned_v<T>) return put_uint64(out, value);
      return put_int32(out, static_cast<int32_t>(value));
    });
  }

  template <class T>
  void append_floats(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    append_some(column, view, begin, rows, at, false, [&](char* out, int64_t row) {
      const T value = load<T>(view.values, row);
      if (!kIsJson || std::isfinite(value)) return put_float(out, value);
      *out = '"';
      out = put_float(out + 1, value);
      *out = '"';
      return out + 1;
    });
  }

  template <class T>
  void append_decimals(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    append_some(column, view, begin, rows, at, false, [&](char* out, int64_t row) {
      return put_decimal(out, load<T>(view.values, row), column.field.scale);
    });
  }

  template <int kDigits>
  void append_timestamps(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    const std::string_view zone = column.field.timezone.empty() ? "" : kIsJson ? "+00:00" : "+00";
    append_some(column, view, begin, rows, at, true, [&](char* out, int64_t row) {
      return put_timestamp<kDigits>(out, load<int64_t>(view.values, row), kIsJson ? 'T' : ' ', zone.data(),
                                    static_cast<int64_t>(zone.size()));
    });
  }

  void append_bools(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    const auto* bits = static_cast<const uint8_t*>(view.values);
    append_some(column, view, begin, rows, at, false, [&](char* out, int64_t row) {
      const bool value = (bits[row >> 3] >> (row & 7)) & 1;
      if constexpr (kIsJson) return value ? put_bytes(out, "true", 4) : put_bytes(out, "false", 5);
      *out = value ? 't' : 'f';
      return out + 1;
    });
  }

  void append_plain(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    switch (column.field.layout) {
      case Layout::kBool: return append_bools(column, view, begin, rows, at);
      case Layout::kInt8: return append_integers<int8_t>(column, view, begin, rows, at);
      case Layout::kInt16: return append_integers<int16_t>(column, view, begin, rows, at);
      case Layout::kInt32: return append_integers<int32_t>(column, view, begin, rows, at);
      case Layout::kInt64: return append_integers<int64_t>(column, view, begin, rows, at);
      case Layout::kUInt8: return append_integers<uint8_t>(column, view, begin, rows, at);
      case Layout::kUInt16: return append_integers<uint16_t>(column, view, begin, rows, at);
      case Layout::kUInt32: return append_integers<uint32_t>(column, view, begin, rows, at);
      case Layout::kFloat32: return append_floats<float>(column, view, begin, rows, at);
      case Layout::kFloat64: return append_floats<double>(column, view, begin, rows, at);
      case Layout::kDecimal32: return append_decimals<int32_t>(column, view, begin, rows, at);
      case Layout::kDecimal64: return append_decimals<int64_t>(column, view, begin, rows, at);
      case Layout::kDecimal128: return append_decimals<base::int128>(column, view, begin, rows, at);
      case Layout::kDate32:
        return append_some(column, view, begin, rows, at, true,
                           [&](char* out, int64_t row) { return put_date(out, load<int32_t>(view.values, row)); });
      case Layout::kDate64:
        return append_some(column, view, begin, rows, at, true, [&](char* out, int64_t row) {
          return put_date_of_millis(out, load<int64_t>(view.values, row));
        });
      case Layout::kTimestamp:
        switch (column.field.unit) {
          case TimeUnit::kSecond: return append_timestamps<0>(column, view, begin, rows, at);
          case TimeUnit::kMilli: return append_timestamps<3>(column, view, begin, rows, at);
          case TimeUnit::kMicro: return append_timestamps<6>(column, view, begin, rows, at);
          case TimeUnit::kNano: return append_timestamps<9>(column, view, begin, rows, at);
        }
        return;
      case Layout::kFixedBinary:
        return append_some(column, view, begin, rows, at, true, [&](char* out, int64_t row) {
          return put_binary(out, column.binary, static_cast<const uint8_t*>(view.values) + row * view.byte_width,
                            view.byte_width);
        });
      case Layout::kUtf8:
      case Layout::kLargeUtf8:
      case Layout::kUtf8View: return;  // text, see append_texts()
    }
  }

  const Form form_;
  const std::string header_;
  const std::vector<Column> columns_;
  const std::string empty_row_;
  const bool check_plain_;  // plain values, too, may need quotes
  int64_t fixed_room_ = 0;  // of a row without its texts
  int64_t text_columns_ = 0;
  int tile_rows_ = 0;
};

/// Values that are not text would be torn apart by, or mistaken for, one of these.
bool can_separate(char c) {
  const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return !is_alphanumeric && c > 0 && std::string_view("+-.: \\\r\n").find(c) == std::string_view::npos;
}

Status check_options(const TextOptions& options) {
  const bool is_csv = options.style == Style::kCsv;
  if (!is_csv && options.style != Style::kTsv) return Status::ok();
  if (!can_separate(options.delimiter)) {
    return Status(ErrorCode::kInvalidParameter, "this character cannot separate values")
        .with_detail("Letters, digits, blanks, line ends, '+', '-', '.', ':' and '\\' are parts of values.");
  }
  if (is_csv && (!can_separate(options.quote) || options.quote == options.delimiter)) {
    return Status(ErrorCode::kInvalidParameter, "this character cannot quote values");
  }
  const std::string stop =
      is_csv ? std::string("\r\n") + options.delimiter + options.quote : "\r\n" + std::string(1, options.delimiter);
  if (options.null_text.find_first_of(stop) != std::string::npos) {
    return Status(ErrorCode::kInvalidParameter,
                  "the text for null cannot have line ends, nor the characters that separate and quote values");
  }
  return Status::ok();
}

void set_before(Frame& frame, std::string text) {
  frame.before_size = static_cast<int64_t>(text.size());
  text.resize((text.size() + 15) / 16 * 16);
  frame.before = std::move(text);
}

void set_behind(Frame& frame, std::string_view text) {
  frame.behind_size = static_cast<int64_t>(text.size());
  std::memcpy(&frame.behind, text.data(), text.size());
}

template <class Form>
std::string written(const Form& form, const std::string& text) {
  const auto size = static_cast<int64_t>(text.size());
  std::string out(static_cast<size_t>(Form::room(size) + 2), '\0');
  char* end = out.data();
  if (has_special(form, text.data(), size)) {
    end = form.put_special(end, text.data(), size);
  } else if (form.needs_quotes(text.data(), size)) {
    *end++ = form.quote;
    end = put_bytes(end, text.data(), size);
    *end++ = form.quote;
  } else {
    end = put_bytes(end, text.data(), size);
  }
  out.resize(static_cast<size_t>(end - out.data()));
  return out;
}

Result<std::vector<Column>> plan_columns(const std::vector<Field>& fields, const TextOptions& options) {
  std::vector<Column> columns;
  for (const Field& field : fields) {
    if (!field.unsupported.empty())
      return Status(ErrorCode::kUnsupported, "column \"" + field.name + "\" uses " + field.unsupported);
    Column& column = columns.emplace_back();
    column.field = field;
    column.frame.null_text = options.style == Style::kJsonLines ? "null" : options.null_text;
    if (field.layout == Layout::kFixedBinary) column.binary = binary_kind(field, options.binary_hex);
    column.room = value_room(field, column.binary);
    column.is_text = column.room == 0;
  }
  return columns;
}

bool is_number(const Field& field) {
  return columnar::value_width(field.layout, field.byte_width) > 0 && field.layout <= Layout::kDecimal128;
}

/// A null text that a number, a date or a truth value could look like.
bool looks_plain(const std::string& text) {
  if (text.empty()) return false;
  return std::string_view("0123456789-tfNI").find(text[0]) != std::string_view::npos;
}

template <class Form>
std::shared_ptr<const RowText> separated(Form form, std::vector<Column> columns, const TextOptions& options,
                                         bool check_plain) {
  std::string header;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool is_last = i + 1 == columns.size();
    const std::string behind(1, is_last ? '\n' : options.delimiter);
    set_behind(columns[i].frame, behind);
    header += written(form, columns[i].field.name) + behind;
  }
  return std::make_shared<RowTextOf<Form>>(form, header, std::move(columns), "\n", check_plain);
}

std::shared_ptr<const RowText> csv_text(std::vector<Column> columns, const TextOptions& options) {
  CsvForm form;
  form.delimiter = options.delimiter;
  form.quote = options.quote;
  form.quote_all = options.quote_all;
  form.is_only_column = columns.size() == 1;
  form.null_text = options.null_text;
  return separated(form, std::move(columns), options, options.quote_all || looks_plain(options.null_text));
}

std::shared_ptr<const RowText> json_text(std::vector<Column> columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    set_before(columns[i].frame, (i == 0 ? "{" : ",") + written(JsonForm(), columns[i].field.name) + ":");
    if (i + 1 == columns.size()) set_behind(columns[i].frame, "}\n");
  }
  return std::make_shared<RowTextOf<JsonForm>>(JsonForm(), "", std::move(columns), "{}\n", false);
}

std::shared_ptr<const RowText> markdown_text(std::vector<Column> columns) {
  std::string names = "|", rule = "|";
  for (size_t i = 0; i < columns.size(); ++i) {
    set_before(columns[i].frame, i == 0 ? "| " : " | ");
    if (i + 1 == columns.size()) set_behind(columns[i].frame, " |\n");
    names += " " + written(MarkdownForm(), columns[i].field.name) + " |";
    rule += is_number(columns[i].field) ? "---:|" : "---|";
  }
  return std::make_shared<RowTextOf<MarkdownForm>>(MarkdownForm(), names + "\n" + rule + "\n", std::move(columns),
                                                   "|\n", false);
}

}  // namespace

Result<std::shared_ptr<const RowText>> RowText::create(const std::vector<Field>& fields, const TextOptions& options) {
  STROM_TRY(check_options(options));
  STROM_ASSIGN(std::vector<Column> columns, plan_columns(fields, options));
  switch (options.style) {
    case Style::kCsv: return csv_text(std::move(columns), options);
    case Style::kTsv: {
      TsvForm form;
      form.delimiter = options.delimiter;
      return separated(form, std::move(columns), options, false);
    }
    case Style::kJsonLines: return json_text(std::move(columns));
    case Style::kMarkdown: return markdown_text(std::move(columns));
  }
  return Status(ErrorCode::kInternal, "no such style");
}

}  // namespace strom::format::csv
