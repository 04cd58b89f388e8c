// See arrow_samples.hpp.
#include "arrow_samples.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace strom::test {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using columnar::TimeUnit;

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "strom_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) abort();
  folder_ = name;
}

TempFolder::~TempFolder() { std::filesystem::remove_all(folder_); }

columnar::Schema sample_schema() {
  columnar::Schema schema;
  const auto add = [&schema](const char* name, Layout layout) -> Field& {
    Field& field = schema.fields.emplace_back();
    field.name = name;
    field.layout = layout;
    return field;
  };
  add("b", Layout::kBool);
  add("i8", Layout::kInt8);
  add("i16", Layout::kInt16);
  add("i32", Layout::kInt32);
  add("i64", Layout::kInt64);
  add("u8", Layout::kUInt8);
  add("u16", Layout::kUInt16);
  add("u32", Layout::kUInt32);
  add("f32", Layout::kFloat32);
  add("f64", Layout::kFloat64);
  Field& decimal = add("dec", Layout::kDecimal128);
  decimal.precision = 30;
  decimal.scale = 4;
  Field& narrow = add("dec32", Layout::kDecimal32);
  narrow.precision = 9;
  narrow.scale = 2;
  Field& medium = add("dec64", Layout::kDecimal64);
  medium.precision = 18;
  medium.scale = 3;
  add("d32", Layout::kDate32);
  add("d64", Layout::kDate64);
  add("ts_s", Layout::kTimestamp).unit = TimeUnit::kSecond;
  add("ts_ms", Layout::kTimestamp).unit = TimeUnit::kMilli;
  add("ts_us", Layout::kTimestamp).unit = TimeUnit::kMicro;
  Field& zoned = add("ts_ns", Layout::kTimestamp);
  zoned.unit = TimeUnit::kNano;
  zoned.timezone = "Europe/Paris";
  Field& text = add("t", Layout::kUtf8);
  text.metadata = {{"min_values", "1,2"}, {"empty", ""}};
  add("lt", Layout::kLargeUtf8);
  add("fb", Layout::kFixedBinary).byte_width = 7;
  schema.metadata = {{"made by", "a test"}};
  return schema;
}

namespace {

void append_random(ColumnBuilder& column, std::mt19937_64& random) {
  const uint64_t bits = random();
  switch (column.field().layout) {
    case Layout::kBool: column.append_bool(bits & 1); break;
    case Layout::kInt8:
    case Layout::kUInt8: column.append(static_cast<uint8_t>(bits)); break;
    case Layout::kInt16:
    case Layout::kUInt16: column.append(static_cast<uint16_t>(bits)); break;
    case Layout::kInt32:
    case Layout::kUInt32: column.append(static_cast<uint32_t>(bits)); break;
    case Layout::kDate32: column.append(static_cast<int32_t>(bits % 40'000)); break;
    case Layout::kFloat32: column.append(static_cast<float>(static_cast<int64_t>(bits)) / 7); break;
    case Layout::kFloat64: column.append(static_cast<double>(static_cast<int64_t>(bits)) / 7); break;
    case Layout::kInt64: column.append(bits); break;
    case Layout::kDate64: column.append(static_cast<int64_t>(bits % 40'000) * 86'400'000); break;
    case Layout::kTimestamp: column.append(static_cast<int64_t>(bits % 2'000'000'000)); break;
    case Layout::kDecimal32: column.append(static_cast<int32_t>(bits % 1'999'999'999) - 999'999'999); break;
    case Layout::kDecimal64: column.append(static_cast<int64_t>(bits >> 5) - (int64_t{1} << 58)); break;
    case Layout::kDecimal128: column.append((static_cast<__int128>(bits) - (int64_t{1} << 62)) * 1'000'000'007); break;
    default: column.append_bytes(std::string(bits % (column.field().byte_width == 7 ? 8 : 30), 'a' + bits % 26));
  }
}

}  // namespace

std::vector<ColumnBuilder> sample_columns(const columnar::Schema& schema, int64_t rows, Nulls nulls, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ColumnBuilder> columns;
  for (const Field& field : schema.fields) {
    ColumnBuilder& column = columns.emplace_back(field);
    for (int64_t row = 0; row < rows; ++row) {
      if (nulls == Nulls::kAll || (nulls == Nulls::kSome && random() % 3 == 0)) {
        column.append_null();
      } else {
        append_random(column, random);
      }
    }
  }
  return columns;
}

columnar::BatchView view_of(const std::vector<ColumnBuilder>& columns) {
  columnar::BatchView batch;
  batch.rows = columns.empty() ? 0 : columns.front().length();
  for (const ColumnBuilder& column : columns) batch.columns.push_back(column.view());
  return batch;
}

Status write_sample(const std::string& path, int batches, int64_t rows, Nulls nulls) {
  const columnar::Schema schema = sample_schema();
  STROM_ASSIGN(auto writer, format::arrow::FileWriter::create(path, schema, true));
  for (int batch = 0; batch < batches; ++batch) {
    const auto columns = sample_columns(schema, rows, nulls, static_cast<uint32_t>(batch));
    STROM_TRY(writer->write(view_of(columns)));
  }
  return writer->finish();
}

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace strom::test
