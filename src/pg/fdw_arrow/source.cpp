// Opening of the files of a foreign table and binding of its columns.
#include "pg/fdw_arrow/source.hpp"

#include <charconv>

#include "format/arrow/reader_cache.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/fdw_arrow/options.hpp"

namespace strom::pg::fdw_arrow {

using columnar::Field;

namespace {

bool same_layout(const Field& a, const Field& b) {
  return a.layout == b.layout && a.unit == b.unit && a.scale == b.scale && a.byte_width == b.byte_width;
}

// FNV-1a over 64-bit words.
uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3ull; }

// The n-th field called `name`, counting from 1, or -1.
int nth_field(const columnar::Schema& schema, std::string_view name, int n) {
  for (size_t i = 0; i < schema.fields.size(); ++i)
    if (schema.fields[i].name == name && --n == 0) return static_cast<int>(i);
  return -1;
}

}  // namespace

int find_field(const columnar::Schema& schema, const std::string& name) {
  if (const int field = nth_field(schema, name, 1); field >= 0) return field;
  const size_t mark = name.rfind('#');
  if (mark == std::string::npos) return -1;
  int ordinal = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + mark + 1, end, ordinal);
  if (parsed.ec != std::errc() || parsed.ptr != end || ordinal < 1) return -1;
  return nth_field(schema, std::string_view(name).substr(0, mark), ordinal);
}

std::shared_ptr<const Source> Source::open(Oid relid, std::span<const AttrNumber> attnums) {
  catalog::ForeignTable table = catalog::load_foreign_table(relid, attnums);
  const TableOptions options = boundary::value_or_throw(parse_table_options(table.options));
  std::shared_ptr<Source> source(new Source);
  source->table_name_ = std::move(table.name);
  source->parallel_workers_ = options.parallel_workers.value_or(-1);
  boundary::throw_if_failed(source->open_files(boundary::value_or_throw(list_files(options))));
  boundary::throw_if_failed(source->bind_columns(table.columns));
  return source;
}

Status Source::open_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    boundary::check_for_interrupts();
    STROM_ASSIGN(auto file, format::arrow::open_cached(path));
    const auto index = static_cast<int32_t>(files_.size());
    for (int batch = 0; batch < file->batch_count(); ++batch) {
      STROM_ASSIGN(const int64_t rows, file->batch_rows(batch));
      if (rows > 0) chunks_.push_back({index, batch, rows});
      STROM_ASSIGN(const bool compressed, file->is_compressed(batch));
      is_compressed_ = is_compressed_ || compressed;
      total_rows_ += rows;
    }
    file_bytes_ += file->identity().size;
    files_.push_back(std::move(file));
  }
  return Status::ok();
}

Status Source::bind_columns(const std::vector<catalog::ForeignColumn>& columns) {
  columns_.reserve(columns.size());
  for (const catalog::ForeignColumn& column : columns) {
    SourceColumn bound{column.attnum, column.name, column.type, {}, true};
    for (size_t file = 0; file < files_.size(); ++file) STROM_TRY(bind(column, static_cast<int>(file), &bound));
    columns_.push_back(std::move(bound));
  }
  return Status::ok();
}

Status Source::bind(const catalog::ForeignColumn& column, int file, SourceColumn* bound) const {
  const format::arrow::FileReader& reader = *files_[file];
  const std::string wanted = field_name_of(column);
  const std::string where = "column \"" + column.name + "\" of foreign table \"" + table_name_ + "\"";
  const int index = find_field(reader.schema(), wanted);
  if (index < 0)
    return Status(ErrorCode::kTypeMismatch, "field \"" + wanted + "\" was not found in file \"" + reader.path() + "\"")
        .with_detail("It is to be read by " + where + ".");
  const Field& field = reader.schema().fields[index];
  if (const std::string feature = codec::unsupported_feature(field); !feature.empty())
    return Status(ErrorCode::kUnsupported, "field \"" + wanted + "\" of file \"" + reader.path() +
                                               "\" cannot be read: " + feature + " is not supported")
        .with_detail("It is to be read by " + where + ".");
  const codec::Fit fit = codec::fit(field, column.type);
  if (fit == codec::Fit::kNone)
    return Status(ErrorCode::kTypeMismatch, where + " has type " + codec::type_name(column.type) + ", but file \"" +
                                                reader.path() + "\" has " + codec::arrow_type_name(field))
        .with_hint("Declare the column as " + codec::type_name(codec::sql_type_of(field)) + ".");
  if (fit != codec::Fit::kExact) bound->engine_readable = false;
  if (!bound->fields.empty() && !same_layout(field, files_[0]->schema().fields[bound->fields[0]]))
    bound->engine_readable = false;
  bound->fields.push_back(index);
  return Status::ok();
}

int Source::column_of(AttrNumber attnum) const {
  for (size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].attnum == attnum) return static_cast<int>(i);
  return -1;
}

const Field& Source::field(int file, int column) const {
  return files_[file]->schema().fields[columns_[column].fields[file]];
}

Result<columnar::BatchView> Source::batch(int64_t chunk) const {
  const Chunk& place = chunks_[chunk];
  columnar::BatchView view;
  view.rows = place.rows;
  view.columns.reserve(columns_.size());
  std::vector<std::shared_ptr<const void>> memory;
  for (const SourceColumn& column : columns_) {
    STROM_ASSIGN(auto loaded, files_[place.file]->column(place.batch, column.fields[place.file], pool_));
    if (loaded.memory != nullptr) memory.push_back(std::move(loaded.memory));
    view.columns.push_back(loaded);
  }
  if (!memory.empty())
    view.memory = std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(memory));
  return view;
}

Status Source::unchanged(int file) const { return files_[file]->check_unchanged(); }

Status Source::all_unchanged() const {
  for (const auto& file : files_) STROM_TRY(file->check_unchanged());
  return Status::ok();
}

Result<int64_t> Source::column_bytes(int file, int column) const {
  int64_t total = 0;
  for (int batch = 0; batch < files_[file]->batch_count(); ++batch) {
    STROM_ASSIGN(const int64_t bytes, files_[file]->column_bytes(batch, columns_[column].fields[file]));
    total += bytes;
  }
  return total;
}

Result<std::optional<columnar::Bounds>> Source::bounds(int64_t chunk, int column) const {
  const Chunk& place = chunks_[chunk];
  return files_[place.file]->bounds(place.batch, columns_[column].fields[place.file]);
}

Result<int64_t> Source::null_count(int64_t chunk, int column) const {
  const Chunk& place = chunks_[chunk];
  return files_[place.file]->null_count(place.batch, columns_[column].fields[place.file]);
}

Result<bool> Source::has_bounds(int column) const {
  for (size_t file = 0; file < files_.size(); ++file) {
    STROM_ASSIGN(const bool has, files_[file]->has_bounds(columns_[column].fields[file]));
    if (has) return true;
  }
  return false;
}

uint64_t Source::fingerprint() const {
  uint64_t hash = mix(0xcbf29ce484222325ull, chunks_.size());
  for (const auto& file : files_) {
    const auto& identity = file->identity();
    for (uint64_t word : {identity.device, identity.inode, static_cast<uint64_t>(identity.size),
                          static_cast<uint64_t>(identity.mtime_ns)})
      hash = mix(hash, word);
  }
  return hash;
}

}  // namespace strom::pg::fdw_arrow
