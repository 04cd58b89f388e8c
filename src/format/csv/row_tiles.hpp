// Rows are made a tile at a time. Each row of a tile gets a slot that is large enough for its text. One column after
// another is appended to all slots, and at the end the slots are joined. So the work for one type of value is a loop of
// its own, without a decision for each value. Private to src/format/csv.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "columnar/batch.hpp"
#include "columnar/text.hpp"
#include "format/csv/column_plan.hpp"
#include "format/csv/datetime_text.hpp"
#include "format/csv/number_text.hpp"
#include "format/csv/text_form.hpp"
#include "format/csv/value_text.hpp"

namespace strom::format::csv {

namespace tiles {

using columnar::BatchView;
using columnar::ColumnView;
using columnar::Layout;
using columnar::TimeUnit;

inline constexpr int kMostTileRows = 512;
inline constexpr int64_t kTileBytes = 128 * 1024;    // of slots: they stay in the second-level cache
inline constexpr int64_t kLongText = 64 * 1024;      // the room for longer texts is counted, not estimated
inline constexpr int64_t kMostSlotBytes = 16 << 20;  // a tile with longer texts has fewer rows

/// A column's texts in one tile.
struct TextTile {
  const char* text[kMostTileRows];
  int64_t size[kMostTileRows];  // -1: null
  bool is_clean = false;        // no byte is special
  bool has_tail = false;        // 16 bytes can be read from each text's begin on
  std::string rendered;         // for values that are not texts: their texts, one after another
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

/// The number of bytes that put_special() will write.
template <class Form>
int64_t counted_room(const Form& form, const char* text, int64_t size) {
  int64_t special = 0;
  for (int64_t i = 0; i < size; ++i) special += form.is_special(text[i]);
  return size + Form::room(special) + 2;
}

/// Appends put(out, row) to each row's slot, for values that are not null.
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

}  // namespace tiles

template <class Form>
class RowTextOf final : public RowText {
  using BatchView = columnar::BatchView;
  using ColumnView = columnar::ColumnView;
  using Layout = columnar::Layout;
  using TimeUnit = columnar::TimeUnit;
  using TextTile = tiles::TextTile;
  using Scratch = tiles::Scratch;

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
    tile_rows_ = static_cast<int>(std::clamp<int64_t>(tiles::kTileBytes / (per_row + 1), 16, tiles::kMostTileRows));
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
  /// Reduces `rows` when texts are long.
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
      if (total + scratch.room[r] > tiles::kMostSlotBytes && total > tiles::kTileBytes) {
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
      room[r] += size < tiles::kLongText ? Form::room(size) : tiles::counted_room(form_, tile.text[r], size);
    }
  }

  /// Finds and checks the texts. Offsets in a mapped file may change, so they are read only here.
  Status find_texts(const Column& column, const ColumnView& view, int64_t begin, int rows, TextTile& tile) const {
    if (column.is_rendered) return render_texts(column, view, begin, rows, tile);
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
    // Texts are mostly consecutive, so that one pass over them checks all.
    const bool is_one_place = view.layout != Layout::kUtf8View && view.layout != Layout::kDictionary;
    const bool is_dense = is_one_place && last - first <= 2 * sum + 64;
    tile.is_clean = is_dense && !tiles::has_special(form_, first, last - first);
    const char* end = view.layout == Layout::kFixedBinary
                          ? static_cast<const char*>(view.values) + view.length * view.byte_width
                          : view.data + view.data_size;
    tile.has_tail = is_one_place && end - last >= 16;
    return Status::ok();
  }

  static ValueState append_text(const Column& column, const ColumnView& view, int64_t row, std::string& out) {
    if constexpr (kIsJson) {
      const size_t before = out.size();
      const ValueState state = append_json(column.field, view, row, out);
      if (out.compare(before, std::string::npos, "null") != 0) return state;
      out.resize(before);
      return ValueState::kNull;
    }
    return column.is_array ? append_array(column.field, view, row, out) : append_value(column.field, view, row, out);
  }

  Status render_texts(const Column& column, const ColumnView& view, int64_t begin, int rows, TextTile& tile) const {
    tile.is_clean = tile.has_tail = false;
    tile.rendered.clear();
    for (int r = 0; r < rows; ++r) {
      const size_t before = tile.rendered.size();
      const auto state = append_text(column, view, begin + r, tile.rendered);
      tile.size[r] = state == ValueState::kNull ? -1 : static_cast<int64_t>(tile.rendered.size() - before);
      if (state != ValueState::kCorrupt) continue;
      return Status(ErrorCode::kCorruptFile, "corrupt data in column \"" + column.field.name + "\"")
          .with_detail("Row " + std::to_string(begin + r) +
                       " of the record batch refers to values outside of its column's buffers.");
    }
    const char* text = tile.rendered.data();
    for (int r = 0; r < rows; ++r) {
      if (tile.size[r] < 0) continue;
      tile.text[r] = text;
      text += tile.size[r];
    }
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
      if (tile.size[r] < 0) return put_null(column.frame, out);  // the bitmap has changed meanwhile
      if (kIsJson && column.is_rendered) return put_bytes(out, tile.text[r], tile.size[r]);
      if (tiles::has_special(form_, tile.text[r], tile.size[r]))
        return form_.put_special(out, tile.text[r], tile.size[r]);
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
      tiles::append_values(column.frame, view, begin, rows, at, put_near);
    } else {
      tiles::append_values(column.frame, view, begin, rows, at, put_any);
    }
  }

  static char* put_null(const Frame& frame, char* out) {
    return put_bytes(out, frame.null_text.data(), static_cast<int64_t>(frame.null_text.size()));
  }

  /// Appends values that consist of digits and the like. With `quoted`, they are strings in JSON.
  template <class Put>
  void append_some(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at, bool quoted,
                   Put put) const {
    if (kIsJson && quoted) {
      tiles::append_values(column.frame, view, begin, rows, at, [&](char* out, int r) {
        *out = '"';
        out = put(out + 1, begin + r);
        *out = '"';
        return out + 1;
      });
    } else if (check_plain_) {
      std::string text(static_cast<size_t>(column.room + kSlack), '\0');
      tiles::append_values(column.frame, view, begin, rows, at, [&](char* out, int r) {
        const int64_t size = put(text.data(), begin + r) - text.data();
        const bool needs_quotes = form_.needs_quotes(text.data(), size);
        *out = form_.quote;
        out = put_bytes(out + needs_quotes, text.data(), size);
        *out = form_.quote;
        return out + needs_quotes;
      });
    } else {
      tiles::append_values(column.frame, view, begin, rows, at, [&](char* out, int r) { return put(out, begin + r); });
    }
  }

  template <class T>
  void append_integers(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    append_some(column, view, begin, rows, at, false, [&](char* out, int64_t row) {
      const T value = tiles::load<T>(view.values, row);
      if constexpr (sizeof(T) == 8) return put_int64(out, value);
      if constexpr (std::is_unsigned_v<T>) return put_uint64(out, value);
      return put_int32(out, static_cast<int32_t>(value));
    });
  }

  template <class T>
  void append_floats(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    append_some(column, view, begin, rows, at, false, [&](char* out, int64_t row) {
      const T value = tiles::load<T>(view.values, row);
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
      return put_decimal(out, tiles::load<T>(view.values, row), column.field.scale);
    });
  }

  template <int kDigits>
  void append_timestamps(const Column& column, const ColumnView& view, int64_t begin, int rows, char** at) const {
    const std::string_view zone = column.field.timezone.empty() ? "" : kIsJson ? "+00:00" : "+00";
    append_some(column, view, begin, rows, at, true, [&](char* out, int64_t row) {
      return put_timestamp<kDigits>(out, tiles::load<int64_t>(view.values, row), kIsJson ? 'T' : ' ', zone.data(),
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
        return append_some(column, view, begin, rows, at, true, [&](char* out, int64_t row) {
          return put_date(out, tiles::load<int32_t>(view.values, row));
        });
      case Layout::kDate64:
        return append_some(column, view, begin, rows, at, true, [&](char* out, int64_t row) {
          return put_date_of_millis(out, tiles::load<int64_t>(view.values, row));
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
          // The backslash before hexadecimal digits, the one special byte that these texts have.
          if (column.binary == BinaryKind::kHex && form_.is_special('\\')) *out++ = '\\';
          return put_binary(out, column.binary, static_cast<const uint8_t*>(view.values) + row * view.byte_width,
                            view.byte_width);
        });
      default: return;  // text, see append_texts()
    }
  }

  const Form form_;
  const std::string header_;
  const std::vector<Column> columns_;
  const std::string empty_row_;
  const bool check_plain_;  // even plain values may need quotes
  int64_t fixed_room_ = 0;  // of a row without its texts
  int64_t text_columns_ = 0;
  int tile_rows_ = 0;
};

}  // namespace strom::format::csv
