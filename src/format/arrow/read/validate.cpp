// See validate.hpp.
#include "format/arrow/read/validate.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "base/int128.hpp"
#include "base/uint256.hpp"
#include "base/utf8.hpp"
#include "columnar/layout.hpp"
#include "columnar/nested_view.hpp"
#include "columnar/text.hpp"
#include "format/arrow/statistics/value_range.hpp"

namespace strom::format::arrow {

namespace {

using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

template <class T>
T load(const void* values, int64_t row) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

class ColumnValidator {
 public:
  ColumnValidator(const Field& field, const ColumnView& view, int batch, int batches)
      : field_(field), view_(view), batch_(batch), batches_(batches) {}

  std::vector<Finding> run() {
    check_null_count();
    if (columnar::has_offsets(view_.layout)) check_offsets();
    switch (view_.layout) {
      case Layout::kUtf8:
      case Layout::kLargeUtf8:
      case Layout::kUtf8View: check_texts(); break;
      case Layout::kDecimal32: check_decimals<int32_t>(); break;
      case Layout::kDecimal64: check_decimals<int64_t>(); break;
      case Layout::kDecimal128: check_decimals<base::int128>(); break;
      case Layout::kDecimal256: check_wide_decimals(); break;
      case Layout::kDate64: check_days(); break;
      case Layout::kTime32: check_times<int32_t>(); break;
      case Layout::kTime64: check_times<int64_t>(); break;
      case Layout::kBinary:
      case Layout::kLargeBinary:
      case Layout::kBinaryView: check_bytes(); break;
      default: break;
    }
    if (view_.child_count > 0) check_parts();
    check_statistics();
    return std::move(findings_);
  }

 private:
  void add(int64_t row, std::string what) { findings_.push_back({batch_, row, std::move(what)}); }

  /// Calls check(row) for rows that are not null until it returns false.
  template <class Check>
  void for_values(Check check) {
    for (int64_t row = 0; row < view_.length; ++row)
      if (columnar::is_valid(view_, row) && !check(row)) return;
  }

  void check_null_count() {
    if (view_.validity == nullptr) return;
    int64_t nulls = 0;
    for (int64_t row = 0; row < view_.length; ++row) nulls += !columnar::is_valid(view_, row);
    if (nulls != view_.null_count) {
      add(-1, "has " + std::to_string(nulls) + " nulls and says that it has " + std::to_string(view_.null_count));
    }
  }

  void check_offsets() {
    const auto offset = [&](int64_t row) {
      return columnar::value_width(view_.layout, 0) == 8 ? load<int64_t>(view_.values, row)
                                                         : int64_t{load<int32_t>(view_.values, row)};
    };
    if (view_.length == 0) return;
    int64_t before = offset(0);
    if (before < 0) return add(0, "has a negative offset");
    for (int64_t row = 0; row < view_.length; ++row) {
      const int64_t end = offset(row + 1);
      if (end < before) return add(row, "has offsets that go backwards");
      if (end > view_.data_size) return add(row, "has an offset outside of its text");
      before = end;
    }
  }

  void check_texts() {
    for_values([&](int64_t row) {
      const char* text = nullptr;
      int64_t size = 0;
      if (!columnar::text_at(view_, row, &text, &size)) {
        add(row, "has a text outside of its buffers");
        return false;
      }
      if (base::is_valid_utf8(text, size)) return true;
      add(row, "has a text that is not UTF-8, or has a zero byte");
      return false;
    });
  }

  void check_bytes() {
    for_values([&](int64_t row) {
      const char* bytes = nullptr;
      int64_t size = 0;
      if (columnar::text_at(view_, row, &bytes, &size)) return true;
      add(row, "has a value outside of its buffers");
      return false;
    });
  }

  /// Checks that rows lead to rows of parts, and checks the parts. Structs and lists of fixed size were checked when
  /// they were loaded: their rows, and those of runs, may be more than there are bytes.
  void check_parts() {
    if (view_.layout == Layout::kRunEndEncoded)
      check_runs();
    else if (view_.layout != Layout::kStruct && view_.layout != Layout::kFixedList)
      check_places();
    for (int i = 0; i < view_.child_count; ++i) {
      const bool is_dictionary = view_.layout == Layout::kDictionary;
      const Field& field = is_dictionary ? field_ : field_.children[static_cast<size_t>(i)];
      const std::string name = is_dictionary ? "its dictionary" : "its part \"" + field.name + "\"";
      for (const Finding& finding : ColumnValidator(field, view_.children[i], batch_, 0).run())
        add(-1, "has a fault in " + name + (finding.row < 0 ? "" : ", row " + std::to_string(finding.row)) + ": it " +
                    finding.what);
    }
  }

  void check_places() {
    const bool is_list = columnar::is_list(view_.layout) || view_.layout == Layout::kMap;
    for_values([&](int64_t row) {
      columnar::ChildRows rows;
      int child = 0;
      int64_t child_row = 0;
      if (is_list ? columnar::list_rows(view_, row, &rows)
                  : columnar::value_row(view_, field_.type_ids, row, &child, &child_row))
        return true;
      add(row, "refers to values outside of its parts");
      return false;
    });
  }

  void check_runs() {
    const ColumnView& ends = view_.children[0];
    int64_t before = 0;
    for (int64_t run = 0; run < ends.length; ++run) {
      const int64_t end = ends.layout == Layout::kInt16   ? load<int16_t>(ends.values, run)
                          : ends.layout == Layout::kInt32 ? load<int32_t>(ends.values, run)
                                                          : load<int64_t>(ends.values, run);
      if (end <= before) return add(-1, "has runs that do not ascend");
      before = end;
    }
    if (before < view_.length || view_.children[1].length < ends.length) add(-1, "has fewer runs than rows");
  }

  template <class T>
  void check_decimals() {
    const base::int128 limit = base::power_of_ten(field_.precision);
    for_values([&](int64_t row) {
      const base::int128 value = load<T>(view_.values, row);
      if (value < limit && value > -limit) return true;
      add(row, "has a number of more than " + std::to_string(field_.precision) + " digits");
      return false;
    });
  }

  void check_wide_decimals() {
    base::UInt256 limit;
    limit.words[0] = 1;
    for (int i = 0; i < field_.precision; ++i) limit.multiply_add(10, 0);
    for_values([&](int64_t row) {
      auto value = load<base::UInt256>(view_.values, row);
      if ((value.words[3] >> 63) != 0) value.negate();
      if (value.less_than(limit)) return true;
      add(row, "has a number of more than " + std::to_string(field_.precision) + " digits");
      return false;
    });
  }

  /// Times are from midnight to below 24 hours. PostgreSQL's 24:00:00 does not exist in Arrow.
  template <class T>
  void check_times() {
    constexpr int64_t kSecondsPerDay = 86'400;
    int64_t day = kSecondsPerDay;
    if (field_.unit == columnar::TimeUnit::kMilli) day *= 1'000;
    if (field_.unit == columnar::TimeUnit::kMicro) day *= 1'000'000;
    if (field_.unit == columnar::TimeUnit::kNano) day *= 1'000'000'000;
    for_values([&](int64_t row) {
      const int64_t value = load<T>(view_.values, row);
      if (value >= 0 && value < day) return true;
      add(row, "has a time outside of a day");
      return false;
    });
  }

  void check_days() {
    constexpr int64_t kMillisPerDay = 86'400'000;
    for_values([&](int64_t row) {
      if (load<int64_t>(view_.values, row) % kMillisPerDay == 0) return true;
      add(row, "has a date that is no whole day");
      return false;
    });
  }

  void check_statistics() {
    const auto stated = stated_ranges(field_, batches_);
    if (stated.empty() || !has_value_range(view_.layout)) return;
    const ValueRange actual = value_range(view_);
    const ValueRange& said = stated[static_cast<size_t>(batch_)];
    if (!covers(view_.layout, said, actual))
      add(-1, "has values from " + actual.low + " to " + actual.high + " (as stored) where its statistics say " +
                  said.low + " to " + said.high);
  }

  const Field& field_;
  const ColumnView& view_;
  int batch_, batches_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> validate_column(const Field& field, const ColumnView& view, int batch, int batches) {
  return ColumnValidator(field, view, batch, batches).run();
}

}  // namespace strom::format::arrow
