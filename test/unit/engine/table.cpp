#include "table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/half.hpp"
#include "base/int128.hpp"
#include "columnar/datum_form.hpp"
#include "engine/plan/verify.hpp"
#include "expr/json_sample.hpp"
#include "../geo/geometry_bytes.hpp"

namespace strom::engine::test {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using registry::Phys;
using registry::TypeId;

void Table::new_chunk() {
  chunks_.emplace_back();
  for (const Field& f : fields_) chunks_.back().emplace_back(f);
}

namespace {

/// Moves the view's text to `texts`, where it is overwritten when the view is let go.
void move_text(columnar::BatchView* view, std::vector<std::string>* texts) {
  texts->reserve(view->columns.size());
  for (columnar::ColumnView& c : view->columns) {
    if (c.layout == Layout::kUtf8) {
      texts->emplace_back(c.data, static_cast<size_t>(c.data_size));
      c.data = texts->back().data();
    } else if (c.layout == Layout::kFixedBinary) {
      texts->emplace_back(static_cast<const char*>(c.values), static_cast<size_t>(c.length * c.byte_width));
      c.values = texts->back().data();
    }
  }
  view->memory = std::shared_ptr<const void>(texts, [texts](const void*) {
    for (std::string& text : *texts) std::fill(text.begin(), text.end(), '#');
  });
}

class Origin final : public columnar::BatchOrigin {
 public:
  Origin(std::string name, int64_t chunk, const bool* holds) : name_(std::move(name)), chunk_(chunk), holds_(holds) {}
  std::string name(size_t column) const override {
    std::string name = name_;
    columnar::append_name(&name, chunk_, column);
    return name;
  }
  int32_t number(size_t column) const override { return static_cast<int32_t>(column); }
  std::string label() const override { return columnar::file_label(name_); }
  bool holds() const override { return *holds_; }

 private:
  const std::string name_;
  const int64_t chunk_;
  const bool* const holds_;
};

}  // namespace

Result<columnar::BatchView> Table::chunk(int64_t index) const {
  columnar::BatchView view;
  for (const ColumnBuilder& column : chunks_[static_cast<size_t>(index)]) view.columns.push_back(column.view());
  view.rows = view.columns.empty() ? 0 : view.columns[0].length;
  if (const auto found = selections_.find(index); found != selections_.end()) view.selection = found->second.data();
  if (!name_.empty()) view.origin = std::make_shared<const Origin>(name_, index, &holds_);
  if (!stable_text_) {
    const std::lock_guard lock(mutex_);
    move_text(&view, &faded_.emplace_back());
  }
  return view;
}

void Table::name_columns() {
  static int tables = 0;
  name_columns("table " + std::to_string(++tables));
}

columnar::RowsOrigin Table::origin(const std::vector<uint32_t>& columns) const {
  if (name_.empty() || !holds_) return {};
  columnar::RowsOrigin origin{name_, columnar::file_label(name_)};
  for (const uint32_t column : columns) columnar::append_name(&origin.name, column);
  return origin;
}

int64_t Table::total_rows() const {
  int64_t rows = 0;
  for (int64_t i = 0; i < chunk_count(); ++i) rows += chunk(i).value().rows;
  return rows;
}

Field field(Layout layout, int scale, int byte_width) {
  Field f;
  f.name = "c";
  f.layout = layout;
  f.scale = scale;
  f.precision = 38;
  f.byte_width = byte_width;
  return f;
}

Field field_of(plan::ValueType type) {
  const registry::DatumForm form = registry::type_info(type.type).form;
  if (type.type == TypeId::kBpchar) return field(Layout::kFixedBinary, 0, 6);
  if (form == registry::DatumForm::kVarlena) return field(Layout::kUtf8);
  if (form == registry::DatumForm::kInt1) return field(Layout::kInt8);
  // As files have them; of the other type of each form in the layout of registers.
  if (type.type == TypeId::kXid8) return field(Layout::kUInt64);
  if (form == registry::DatumForm::kTid || form == registry::DatumForm::kBytes6)
    return field(Layout::kFixedBinary, 0, 6);
  if (form == registry::DatumForm::kBytes8) return field(Layout::kFixedBinary, 0, 8);
  return field(columnar::layout_of(form), type.type == TypeId::kNumeric ? type.scale : 0);
}

namespace {

template <class T>
T random_integer(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0: return std::numeric_limits<T>::max();
    case 1: return std::numeric_limits<T>::min();
    case 2: return 0;
    case 3: return static_cast<T>(random());
    default: return static_cast<T>(static_cast<int64_t>(random() % 21) - 10);
  }
}

template <class T>
T random_float(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       T(-0.0),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::min(),
                       Limits::denorm_min(),
                       T(0.5),
                       T(-1.5),
                       T(2147483647.5)};
  if (random() % 3 == 0) return special[random() % std::size(special)];
  return static_cast<T>(static_cast<double>(random() % 2000001) / 1000.0 - 1000.0);
}

std::string random_text(std::mt19937_64& random) {
  static const char* const pieces[] = {"a", "b", "ab", "%", "_", "\\", "é", "日本", " ", "MFGR#12"};
  std::string text;
  for (uint64_t i = random() % 6; i > 0; --i) text += pieces[random() % std::size(pieces)];
  return text;
}

/// As PostgreSQL stores an inet; seldom damaged.
std::string random_inet(std::mt19937_64& random) {
  const bool wide = random() % 3 == 0;
  std::string bytes{static_cast<char>(wide ? 3 : 2), static_cast<char>(random() % (wide ? 129 : 33))};
  for (int i = 0; i < (wide ? 16 : 4); ++i) bytes += static_cast<char>(random() % 4 == 0 ? random() : 10);
  if (random() % 40 == 0) bytes.pop_back();
  return bytes;
}

/// Of integers of some width or of texts, with lower bound 1, without the varlena header.
std::string random_array(std::mt19937_64& random) {
  std::string bytes, bitmap, data;
  auto put = [](std::string& to, uint32_t word) { to.append(reinterpret_cast<const char*>(&word), 4); };
  const uint32_t dimensions = random() % 8 == 0 ? random() % 3 : 1, length = random() % 5;
  const uint64_t count = dimensions == 0 ? 0 : dimensions == 1 ? length : length * length;
  const size_t width = size_t{1} << random() % 6;  // 32: texts
  bool has_nulls = false;
  bitmap.assign((count + 7) / 8, '\0');
  for (uint64_t i = 0; i < count; ++i) {
    if (random() % 6 == 0) {
      has_nulls = true;
      continue;
    }
    bitmap[i / 8] = static_cast<char>(bitmap[i / 8] | 1 << i % 8);
    if (width == 32) {
      data.append((4 - data.size() % 4) % 4, '\0');
      const std::string text = random_text(random);
      put(data, static_cast<uint32_t>(text.size() + 4) << 2);
      data += text;
    } else {
      const __int128 value =
          random() % 4 == 0 ? static_cast<__int128>(random()) : static_cast<__int128>(random() % 21) - 10;
      data.append(reinterpret_cast<const char*>(&value), width);
    }
  }
  const size_t bounds = 16 + 8 * dimensions + (has_nulls ? bitmap.size() : 0), begin = (bounds + 7) & ~size_t{7};
  put(bytes, dimensions);
  put(bytes, has_nulls ? static_cast<uint32_t>(begin) : 0);
  put(bytes, 23);
  for (uint32_t i = 0; i < dimensions; ++i) put(bytes, length);
  for (uint32_t i = 0; i < dimensions; ++i) put(bytes, 1);
  if (has_nulls) bytes += bitmap;
  bytes.append(begin - bounds, '\0');
  bytes += data;
  if (random() % 12 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());  // damaged
  if (random() % 30 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

__int128 random_decimal(std::mt19937_64& random) {
  const __int128 wide = static_cast<__int128>(random()) << 64 | random();
  if (random() % 5 == 0) return wide;
  if (random() % 5 == 0) return static_cast<int64_t>(random());
  return static_cast<int64_t>(random() % 200001) - 100000;
}

/// A point or a polygon on a small grid, sometimes damaged.
std::string random_geometry(std::mt19937_64& random) {
  const auto coordinate = [&random] { return static_cast<double>(random() % 9); };
  geo::test::Form form;
  form.srid = random() % 3 == 0 ? 4326 : 0;
  form.z = random() % 4 == 0;
  form.version = random() % 4 == 0 ? 1 : 2;
  std::string bytes;
  if (random() % 2 == 0) {
    bytes = geo::test::serialized_point({coordinate(), coordinate()}, form);
  } else {
    geo::test::Ring ring;
    for (uint64_t i = 0; i < 3 + random() % 6; ++i) ring.push_back({coordinate(), coordinate()});
    ring.push_back(ring[0]);
    bytes = geo::test::serialized({{ring}}, form);
  }
  if (random() % 8 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
  if (random() % 20 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

}  // namespace

void append_random(std::mt19937_64& random, plan::ValueType type, double null_fraction, ColumnBuilder& column) {
  if (static_cast<double>(random() % 1000) < null_fraction * 1000) return column.append_null();
  switch (type.type) {
    case TypeId::kBool: return column.append_bool(random() & 1);
    case TypeId::kInt2: return column.append(random_integer<int16_t>(random));
    case TypeId::kInt4: return column.append(random_integer<int32_t>(random));
    case TypeId::kInt8: return column.append(random_integer<int64_t>(random));
    case TypeId::kFloat4: return column.append(random_float<float>(random));
    case TypeId::kFloat8: return column.append(random_float<double>(random));
    case TypeId::kNumeric: return column.append(random_decimal(random));
    case TypeId::kDate:
      return column.append(random() % 20 == 0 ? random_integer<int32_t>(random)
                                              : static_cast<int32_t>(random() % 60000) - 30000);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      return column.append(random() % 20 == 0
                               ? random_integer<int64_t>(random)
                               : static_cast<int64_t>(random() % 4000000000000000ull) - 2000000000000000);
    case TypeId::kTime: return column.append(static_cast<int64_t>(random() % 86400000001ull));
    case TypeId::kInt1: return column.append(random_integer<int8_t>(random));
    case TypeId::kFloat2: return column.append(base::half_to_float(static_cast<uint16_t>(random())));
    case TypeId::kChar: return column.append(static_cast<int32_t>(random() % 256));
    case TypeId::kOid:
    case TypeId::kEnum: return column.append(static_cast<int64_t>(random() % 3 == 0 ? random() % 8 : random() >> 32));
    case TypeId::kMacaddr8: {
      const auto bytes = random_integer<int64_t>(random);
      ASSERT_TRUE(column.append_bytes({reinterpret_cast<const char*>(&bytes), sizeof bytes}));
      return;
    }
    case TypeId::kTid:
    case TypeId::kMacaddr: {
      const uint64_t bytes = random() % 3 == 0 ? (random() % 8) << 40 : random();
      ASSERT_TRUE(column.append_bytes({reinterpret_cast<const char*>(&bytes), 6}));
      return;
    }
    case TypeId::kTimeTz: {
      const auto zone = static_cast<uint32_t>(static_cast<int32_t>(random() % 115200) - 57600);
      return column.append(static_cast<__int128>(zone) << 64 | static_cast<__int128>(random() % 86400000001ull));
    }
    case TypeId::kInet:
    case TypeId::kCidr: {
      ASSERT_TRUE(column.append_bytes(random_inet(random)));
      return;
    }
    case TypeId::kDecimal: {
      static constexpr int kScales[] = {0, 0, 1, 2, 2, 4, 20, 21, 37, 38, 63};
      __int128 decimal;
      const int scale = kScales[random() % std::size(kScales)];
      if (!base::make_decimal(random_decimal(random), scale, &decimal))
        base::make_decimal(static_cast<int64_t>(random()), scale, &decimal);
      return column.append(decimal);
    }
    case TypeId::kJsonb: {
      std::string bytes = form_json(random_json(random, 3));
      if (random() % 8 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());  // damaged
      if (random() % 20 == 0) bytes.resize(random() % bytes.size());
      ASSERT_TRUE(column.append_bytes(bytes));
      return;
    }
    case TypeId::kArray: {
      ASSERT_TRUE(column.append_bytes(random_array(random)));
      return;
    }
    case TypeId::kGeometry: {
      ASSERT_TRUE(column.append_bytes(random_geometry(random)));
      return;
    }
    case TypeId::kBpchar: {
      ASSERT_TRUE(column.append_bytes(random_text(random).substr(0, 6)));
      return;
    }
    default: break;
  }
  switch (registry::type_info(type.type).form) {
    case registry::DatumForm::kVarlena: ASSERT_TRUE(column.append_bytes(random_text(random))); return;
    case registry::DatumForm::kBytes16: return column.append(random_decimal(random));
    case registry::DatumForm::kInt8:
    case registry::DatumForm::kUInt8: return column.append(random_integer<int64_t>(random));
    default: FAIL() << "no values of " << registry::type_info(type.type).pg_name;
  }
}

namespace {

std::string print_value(Phys phys, const void* values, int64_t row) {
  char text[64];
  switch (phys) {
    case Phys::kBool: return static_cast<const uint8_t*>(values)[row] ? "t" : "f";
    case Phys::kI32: return std::to_string(static_cast<const int32_t*>(values)[row]);
    case Phys::kI64: return std::to_string(static_cast<const int64_t*>(values)[row]);
    case Phys::kI128: {
      const auto v = static_cast<const unsigned __int128*>(values)[row];
      std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(v >> 64),
                    static_cast<unsigned long long>(v));
      return text;
    }
    case Phys::kF32:
    case Phys::kF64: {
      const double v =
          phys == Phys::kF32 ? static_cast<const float*>(values)[row] : static_cast<const double*>(values)[row];
      if (v != v) return "NaN";
      std::snprintf(text, sizeof text, "%.17g", v);
      return text;
    }
    case Phys::kStr: {
      const auto& s = static_cast<const registry::StrView*>(values)[row];
      return std::string(s.ptr, static_cast<size_t>(s.len));
    }
  }
  return "?";
}

Phys accumulator_phys(const plan::Program& program, const plan::Aggregate& a) {
  using registry::AccKind;
  switch (registry::aggregate_info(a.id).acc) {
    case AccKind::kSumI64:
    case AccKind::kCountTrue: return Phys::kI64;
    case AccKind::kSumI128: return Phys::kI128;
    case AccKind::kSumF32: return Phys::kF32;
    case AccKind::kSumF64:
    case AccKind::kAvgF64: return Phys::kF64;
    default: return program.nodes[a.arg].type.phys();
  }
}

std::string print_aggregate(const plan::Program& program, const plan::Aggregate& a, const op::ResultAggregate& result,
                            int64_t row) {
  const auto acc = registry::aggregate_info(a.id).acc;
  std::string count = std::to_string(result.counts[row]);
  if (acc == registry::AccKind::kCountRows || acc == registry::AccKind::kCount) return count;
  if (result.counts[row] == 0) return count + ":NULL";
  if (acc == registry::AccKind::kSumSquares) {
    std::string text = count;
    for (int64_t part = 0; part < 3; ++part) text += ":" + print_value(Phys::kI128, result.values, row * 3 + part);
    return text;
  }
  if (acc == registry::AccKind::kSumDecimal) {
    const auto& sum = static_cast<const registry::DecimalSum*>(result.values)[row];
    const __int128 all = static_cast<__int128>((static_cast<unsigned __int128>(sum.high) << 64) +
                                               static_cast<unsigned __int128>(sum.low));
    return count + ":" + print_value(Phys::kI128, &all, 0) + ":" + std::to_string(sum.scale);
  }
  if (acc == registry::AccKind::kMoments) {
    const auto& moments = static_cast<const registry::Moments*>(result.values)[row];
    char text[96];
    std::snprintf(text, sizeof text, ":%.0f:%.9g:%.6g", moments.count, moments.sum, moments.squares);
    return count + text;
  }
  if (acc == registry::AccKind::kPairMoments) {
    const auto& m = static_cast<const registry::PairMoments*>(result.values)[row];
    char text[200];
    std::snprintf(text, sizeof text, ":%.0f:%.9g:%.11g:%.9g:%.11g:%.11g", m.count, m.sum_x, m.squares_x, m.sum_y,
                  m.squares_y, m.products);
    return count + text;
  }
  return count + ":" + print_value(accumulator_phys(program, a), result.values, row);
}

}  // namespace

void append_rows(const op::ResultBatch& batch, Rows* rows) {
  for (int64_t row = 0; row < batch.rows; ++row) {
    std::string line;
    if (batch.grouping_set >= 0) line = "set " + std::to_string(batch.grouping_set);
    for (const op::ResultColumn& c : batch.columns) {
      const bool null = c.flags != nullptr && (c.flags[row] & block::kNullFlag);
      line += (line.empty() ? "" : "|") + (null ? "NULL" : print_value(c.type.phys(), c.values, row));
    }
    rows->push_back(line);
  }
}

Outcome run(const plan::Program& program, const std::vector<const op::ChunkSource*>& sources, const Target& target,
            exec::Options options) {
  Outcome outcome;
  const Status valid = plan::verify(program);
  EXPECT_TRUE(valid.is_ok()) << valid.message();
  target.use_by(&options);
  auto execution = exec::Execution::create(program, sources, {}, options);
  EXPECT_TRUE(execution.is_ok()) << execution.status().message();
  if (!valid.is_ok() || !execution.is_ok()) return outcome;
  exec::Execution& e = *execution.value();
  const plan::Pipeline& last = program.pipelines.back();
  std::vector<std::shared_ptr<const op::ResultBatch>> batches;  // read at the end: they must not need their sources
  for (;;) {
    auto next = e.next([] {});
    EXPECT_TRUE(next.is_ok()) << next.status().message() << " " << next.status().detail();
    if (!next.is_ok() || next.value() == nullptr) break;
    batches.push_back(next.value());
  }
  for (const auto& held : batches) {
    const op::ResultBatch& batch = *held;
    const size_t before = outcome.rows.size();
    append_rows(batch, &outcome.rows);
    for (int64_t row = 0; row < batch.rows; ++row) {
      std::string& line = outcome.rows[before + static_cast<size_t>(row)];
      for (size_t a = 0; a < batch.aggregates.size(); ++a)
        line += (line.empty() ? "" : "|") + print_aggregate(program, last.aggregates[a], batch.aggregates[a], row);
    }
  }
  for (const op::FallbackRow& row : e.take_fallback_rows()) outcome.fallback.emplace_back(row.chunk, row.row);
  outcome.stats = e.stats();
  std::sort(outcome.rows.begin(), outcome.rows.end());
  std::sort(outcome.fallback.begin(), outcome.fallback.end());
  return outcome;
}

std::string int_bytes(int32_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }
std::string long_bytes(int64_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }

}  // namespace strom::engine::test
