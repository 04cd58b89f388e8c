// Opening of the files of a foreign table and binding of its columns.
#include "pg/files/source.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "base/file_times.hpp"
#include "columnar/origin.hpp"
#include "format/geoarrow/geometry_values.hpp"
#include "format/arrow/read/metadata_cache.hpp"
#include "format/arrow/read/reader_cache.hpp"
#include "format/temporary_name.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/files/field_index.hpp"
#include "pg/files/options.hpp"
#include "pg/files/pending.hpp"
#include "pg/files/shared_metadata.hpp"
#include "pg/files/virtual_value.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::files {

using columnar::Field;

namespace {

bool same_layout(const Field& a, const Field& b) {
  return a.layout == b.layout && a.unit == b.unit && a.scale == b.scale && a.byte_width == b.byte_width;
}

// A table with up to kMostMapped files maps them all at the beginning, so that a query is not affected when files are
// replaced. Files of larger tables are mapped when they are read. Only up to kMostHeld of them stay mapped until the
// end of the query, because the kernel allows a process 65530 mappings.
constexpr size_t kMostMapped = 256, kMostHeld = 16384;

void append_identity(const base::FileIdentity& file, std::string* name) {
  columnar::append_name(name, file.device, file.inode, file.size, file.mtime_ns, file.ctime_ns);
}

// The converted values of a geometry differ from the bytes of its field, which another table may read unconverted.
void append_form(const SourceColumn& column, int32_t file, std::string* name) {
  if (column.geometries.empty()) return;
  name->push_back('g');
  columnar::append_name(name, column.geometries[static_cast<size_t>(file)].srid);
}

// FNV-1a over 64-bit words.
uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3ull; }

}  // namespace

std::shared_ptr<const Source> Source::open(Oid relid, std::span<const AttrNumber> attnums) {
  catalog::ForeignTable table = catalog::load_foreign_table(relid, attnums);
  const TableOptions options = boundary::value_or_throw(parse_table_options(table.options));
  std::shared_ptr<Source> source(new Source);
  source->relid_ = relid;
  source->table_name_ = std::move(table.name);
  source->parallel_workers_ = options.parallel_workers.value_or(-1);
  boundary::throw_if_failed(source->open_files(boundary::value_or_throw(list_files(options)), options));
  source->bind_columns(table.columns, options);
  boundary::throw_if_failed(source->make_zeros());
  return source;
}

// The file of a writable table may not exist yet. But if its folder is missing as well, or if it is a dangling link, a
// disk may not be mounted; the table must not seem empty then.
static Status check_missing(const std::string& path, Status error) {
  struct stat info;
  const std::string folder = format::folder_of(path);
  if (lstat(path.c_str(), &info) != 0 && stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return Status::ok();
  return std::move(error).with_hint(
      "A writable table has no rows until its file is made, but the file's folder has to be there: perhaps its disk is "
      "not mounted.");
}

// Opens the files. A file of a folder may vanish after the folder was read, and the file of a writable table may not
// exist yet: both are skipped. A file without rows may have any fields, because a writer replaces them.
Status Source::open_files(std::vector<FileEntry> entries, const TableOptions& options) {
  const bool may_vanish = !options.dir.empty() || options.writable;
  const bool are_many = entries.size() > kMostMapped;
  holds_files_ = entries.size() <= kMostHeld;
  if (are_many) {
    format::arrow::metadata_cache().set_most_bytes(int64_t{guc::arrow_fdw::metadata_cache_size} * 1024);
    take_shared_metadata(relid_);
  }
  for (FileEntry& entry : entries) {
    boundary::check_for_interrupts();
    auto file = options.writable ? pending_reader(relid_, entry.path) : nullptr;
    const bool is_pending = file != nullptr;
    const int64_t before = base::clock_ns();
    if (!is_pending) {
      auto opened =
          are_many ? format::arrow::open_lazily(entry.path, holds_files_) : format::arrow::open_cached(entry.path);
      if (may_vanish && opened.status().code() == ErrorCode::kFileNotFound) {
        if (options.writable) STROM_TRY(check_missing(entry.path, opened.status()));
        continue;
      }
      STROM_ASSIGN(file, std::move(opened));
    }
    const auto index = static_cast<int32_t>(files_.size());
    const int64_t rows_before = total_rows_;
    for (int batch = 0; batch < file->batch_count(); ++batch) {
      STROM_ASSIGN(const int64_t rows, file->batch_rows(batch));
      if (rows > 0) chunks_.push_back({index, batch, rows});
      STROM_ASSIGN(const bool compressed, file->is_compressed(batch));
      is_compressed_ = is_compressed_ || compressed;
      total_rows_ += rows;
    }
    if (options.writable && total_rows_ == rows_before) continue;
    is_settled_.push_back(!is_pending && base::is_settled(file->identity(), before));
    file_bytes_ += file->identity().size;
    files_.push_back(std::move(file));
    entries_.push_back(std::move(entry));
  }
  if (are_many) offer_shared_metadata(relid_, entries_);
  return Status::ok();
}

void Source::bind_columns(const std::vector<catalog::ForeignColumn>& columns, const TableOptions& options) {
  for (const catalog::ForeignColumn& column : columns) {
    SourceColumn bound{column.attnum, column.name, column.type, {}, {}, nullptr, true, {}, {}};
    bound.fields.assign(files_.size(), -1);
    bound.constants.resize(files_.size());
    columns_.push_back(std::move(bound));
  }
  std::vector<ColumnSource> sources;
  sources.reserve(columns.size());
  for (const catalog::ForeignColumn& column : columns)
    sources.push_back(boundary::value_or_throw(column_source(column)));
  constexpr size_t kWorthAnIndex = 16;
  for (int file = 0; file < static_cast<int>(files_.size()); ++file) {
    const columnar::Schema& schema = files_[file]->schema();
    std::optional<FieldIndex> index;
    if (columns.size() > kWorthAnIndex) index.emplace(schema);
    for (size_t i = 0; i < columns.size(); ++i) {
      SourceColumn& bound = columns_[i];
      if (sources[i].kind != ColumnSource::Kind::kField) {
        bind_constant(sources[i], options, file, &bound);
        continue;
      }
      const std::string& name = sources[i].name;
      const int field = index.has_value() ? index->find(name) : find_field(schema, name);
      if (field < 0 && options.missing_is_null) {
        bound.constants[file] = {ConstantColumn::kNull};
        constants_of(&bound);
      } else {
        boundary::throw_if_failed(bind_field(name, field, file, &bound));
      }
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) settle_values(sources[i], &columns_[i]);
}

ConstantColumn& Source::constants_of(SourceColumn* column) const {
  if (column->values == nullptr) column->values = std::make_shared<ConstantColumn>(column->name, column->type);
  return *column->values;
}

// Decides how the engine reads a column that has constants in some or all files.
void Source::settle_values(const ColumnSource& from, SourceColumn* column) const {
  if (from.kind != ColumnSource::Kind::kField) {
    column->engine_readable = constants_of(column).engine_readable();
    return;
  }
  if (column->values == nullptr) return;
  const auto has_field = std::find_if(column->fields.begin(), column->fields.end(), [](int f) { return f >= 0; });
  if (has_field == column->fields.end()) {
    column->engine_readable = column->values->engine_readable();
    return;
  }
  const auto file = static_cast<size_t>(has_field - column->fields.begin());
  column->values->take_field(files_[file]->schema().fields[*has_field]);
}

void Source::bind_constant(const ColumnSource& from, const TableOptions& options, int file, SourceColumn* bound) const {
  const format::arrow::FileReader& reader = *files_[file];
  for (const auto& text : virtual_values(from, options, entries_[file], reader)) {
    boundary::check_for_interrupts();
    bound->constants[file].push_back(text.has_value() ? constants_of(bound).add(*text, reader.path())
                                                      : ConstantColumn::kNull);
  }
}

// Makes the bytes that constants share. They are never written, so untouched pages take no memory.
Status Source::make_zeros() {
  if (std::all_of(columns_.begin(), columns_.end(),
                  [](const SourceColumn& column) { return column.values == nullptr; }))
    return Status::ok();
  int64_t most_rows = 0;
  for (const Chunk& chunk : chunks_) most_rows = std::max(most_rows, chunk.rows);
  constexpr size_t kWidest = 32, kSlack = 64;
  auto* zeros = static_cast<uint8_t*>(std::calloc(static_cast<size_t>(most_rows) + kSlack, kWidest));
  if (zeros == nullptr) return Status(ErrorCode::kOutOfMemory, "out of memory for columns that files do not have");
  zeros_.reset(zeros, [](const uint8_t* memory) { std::free(const_cast<uint8_t*>(memory)); });
  return Status::ok();
}

int Source::constant(const Chunk& chunk, const SourceColumn& column) const {
  const std::vector<int>& of_file = column.constants[chunk.file];
  if (of_file.size() == 1) return of_file.front();
  return static_cast<size_t>(chunk.batch) < of_file.size() ? of_file[chunk.batch] : ConstantColumn::kNull;
}

Status Source::bind_field(const std::string& wanted, int index, int file, SourceColumn* bound) const {
  const format::arrow::FileReader& reader = *files_[file];
  const auto where = [&] { return "column \"" + bound->name + "\" of foreign table \"" + table_name_ + "\""; };
  if (index < 0)
    return Status(ErrorCode::kTypeMismatch, "field \"" + wanted + "\" was not found in file \"" + reader.path() + "\"")
        .with_detail("It is to be read by " + where() + ".");
  const Field& field = reader.schema().fields[index];
  if (const std::string feature = codec::unsupported_feature(field); !feature.empty())
    return Status(ErrorCode::kUnsupported, "field \"" + wanted + "\" of file \"" + reader.path() +
                                               "\" cannot be read: " + feature + " is not supported")
        .with_detail("It is to be read by " + where() + ".");
  const codec::Fit fit = codec::fit(field, bound->type);
  if (fit == codec::Fit::kNone)
    return Status(ErrorCode::kTypeMismatch, where() + " has type " + codec::type_name(bound->type) + ", but file \"" +
                                                reader.path() + "\" has " + columnar::type_text(field))
        .with_hint("Declare the column as " + codec::type_name(codec::sql_type_of(field)) + ".");
  if (fit != codec::Fit::kExact) bound->engine_readable = false;
  bound->fields[file] = index;
  if (const auto geometry = codec::geometry_of(field, bound->type)) {
    bound->geometries.resize(files_.size());
    bound->geometries[file] = *geometry;
    bound->boxes.resize(files_.size(), -1);
    bound->boxes[file] = format::geoarrow::box_field(reader.schema(), index);
    return Status::ok();
  }
  const auto first = std::find_if(bound->fields.begin(), bound->fields.end(), [](int f) { return f >= 0; });
  if (first != bound->fields.end() &&
      !same_layout(field, files_[static_cast<size_t>(first - bound->fields.begin())]->schema().fields[*first]))
    bound->engine_readable = false;
  return Status::ok();
}

int Source::column_of(AttrNumber attnum) const {
  for (size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].attnum == attnum) return static_cast<int>(i);
  return -1;
}

const Field& Source::field(int file, int column) const {
  const SourceColumn& bound = columns_[column];
  return bound.fields[file] < 0 ? bound.values->field() : files_[file]->schema().fields[bound.fields[file]];
}

codec::Decoder Source::decoder(int64_t chunk, int column, const columnar::BatchView& batch,
                               codec::RowSite* place) const {
  const Chunk& at = chunks_[chunk];
  const SourceColumn& bound = columns_[column];
  *place = {bound.name.c_str(), files_[at.file]->path().c_str(), at.batch};
  if (bound.fields[at.file] < 0) return bound.values->decoder(constant(at, bound), batch.columns[column]);
  return codec::make_file_decoder(field(at.file, column), bound.type, batch.columns[column], place);
}

/// A record batch of a file in one state. Device, inode, size and times distinguish this state from all others. A file
/// gets no name while its times may still match another state.
class Source::Origin final : public columnar::BatchOrigin {
 public:
  Origin(const Source* source, const Chunk& place) : source_(source), place_(place) {}

  std::string name(size_t column) const override {
    const int field = source_->columns_[column].fields[place_.file];
    if (field < 0 || !source_->is_settled_[place_.file]) return "";
    std::string name = "f";
    append_identity(reader().identity(), &name);
    columnar::append_name(&name, place_.batch, field);
    append_form(source_->columns_[column], place_.file, &name);
    return name;
  }
  int32_t number(size_t column) const override { return source_->columns_[column].fields[place_.file]; }
  std::string label() const override { return columnar::file_label(reader().path()); }
  bool holds() const override { return reader().check_unchanged().is_ok(); }

 private:
  const format::arrow::FileReader& reader() const { return *source_->files_[place_.file]; }

  const Source* const source_;
  const Chunk place_;
};

bool Source::is_compressed(int64_t chunk) const {
  if (!is_compressed_) return false;
  const auto found = files_[chunks_[chunk].file]->is_compressed(chunks_[chunk].batch);
  return found.is_ok() && found.value();
}

std::optional<Result<format::arrow::LoadedColumn>> Source::load_column(int64_t chunk, size_t column,
                                                                       const ColumnStore* store) const {
  const Chunk& place = chunks_[chunk];
  const int field = columns_[column].fields[place.file];
  if (field < 0) return std::nullopt;
  format::arrow::LoadedColumn cached;
  if (store != nullptr && store->find(chunk, column, &cached)) return cached;
  auto loaded = files_[place.file]->column(place.batch, field, pool_);
  if (store != nullptr && loaded.is_ok()) store->offer(chunk, column, loaded.value());
  return loaded;
}

Result<columnar::BatchView> Source::batch(int64_t chunk, const ColumnStore* store, LoadedColumns* loaded) const {
  const Chunk& place = chunks_[chunk];
  columnar::BatchView view;
  view.rows = place.rows;
  view.origin = std::make_shared<const Origin>(this, place);
  view.columns.reserve(columns_.size());
  std::vector<std::shared_ptr<const void>> memory;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const SourceColumn& column = columns_[i];
    if (column.fields[place.file] < 0) {
      std::shared_ptr<const void> values;
      STROM_ASSIGN(view.columns.emplace_back(),
                   column.values->view(constant(place, column), place.rows, zeros_.get(), &values));
      if (values != nullptr) memory.push_back(std::move(values));
      continue;
    }
    const bool is_there = loaded != nullptr && (*loaded)[i].has_value();
    STROM_ASSIGN(auto values, is_there ? std::move(*(*loaded)[i]) : *load_column(chunk, i, store));
    if (values.memory != nullptr) memory.push_back(std::move(values.memory));
    view.columns.push_back(values);
  }
  if (!memory.empty())
    view.memory = std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(memory));
  return view;
}

bool Source::makes_values() const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [](const SourceColumn& column) { return !column.geometries.empty(); });
}

Result<columnar::BatchView> Source::engine_batch(int64_t chunk, const ColumnStore* store, LoadedColumns* loaded) const {
  STROM_ASSIGN(columnar::BatchView view, batch(chunk, store, loaded));
  const Chunk& place = chunks_[chunk];
  for (size_t i = 0; i < columns_.size(); ++i) {
    const SourceColumn& column = columns_[i];
    if (column.geometries.empty()) continue;
    columnar::ColumnView& values = view.columns[i];
    if (column.fields[place.file] < 0) {  // NULL: `zeros_` serve as offsets, too
      values.layout = columnar::Layout::kLargeBinary;
      continue;
    }
    std::shared_ptr<const void> memory;
    auto made = format::geoarrow::stored_column(column.geometries[place.file], values, &memory);
    if (!made.is_ok() && made.status().code() == ErrorCode::kCorruptFile)
      return Status(made.status())
          .with_hint("It is in column \"" + column.name + "\" of record batch " + std::to_string(place.batch) +
                     " of file \"" + files_[place.file]->path() + "\". A column declared as bytea has its bytes.");
    STROM_TRY(made.status());
    values = made.value();
    using Memory = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
    view.memory = std::make_shared<const Memory>(std::move(view.memory), std::move(memory));
  }
  return view;
}

// The name has, for each file: its identity, the fields, the number of ranges, and the ranges of record batches.
columnar::RowsOrigin Source::origin(std::span<const int64_t> chunks, const std::vector<uint32_t>& columns) const {
  columnar::RowsOrigin origin{"F", columnar::file_label(files_.empty() ? "" : files_.front()->path())};
  for (size_t next = 0; next < chunks.size();) {
    const int32_t file = chunks_[chunks[next]].file;
    if (!is_settled_[file] || !unchanged(file).is_ok()) return {};
    append_identity(files_[file]->identity(), &origin.name);
    for (const uint32_t column : columns) {
      const int field = columns_[column].fields[file];
      if (field < 0) return {};
      columnar::append_name(&origin.name, field);
      append_form(columns_[column], file, &origin.name);
    }
    std::vector<std::pair<int32_t, int32_t>> ranges;
    for (; next < chunks.size() && chunks_[chunks[next]].file == file; ++next) {
      const int32_t batch = chunks_[chunks[next]].batch;
      if (ranges.empty() || ranges.back().second != batch) ranges.emplace_back(batch, batch);
      ranges.back().second = batch + 1;
    }
    columnar::append_name(&origin.name, static_cast<uint32_t>(ranges.size()));
    for (const auto& [begin, end] : ranges) columnar::append_name(&origin.name, begin, end);
  }
  return origin;
}

Status Source::unchanged(int file) const { return files_[file]->check_unchanged(); }

Status Source::all_unchanged() const {
  for (const auto& file : files_) STROM_TRY(file->check_unchanged());
  return Status::ok();
}

Result<int64_t> Source::column_bytes(int file, int column) const {
  int64_t total = 0;
  if (columns_[column].fields[file] < 0) return total;
  for (int batch = 0; batch < files_[file]->batch_count(); ++batch) {
    STROM_ASSIGN(const int64_t bytes, files_[file]->column_bytes(batch, columns_[column].fields[file]));
    total += bytes;
  }
  return total;
}

int Source::bounds_field(const SourceColumn& column, int file) {
  return column.boxes.empty() ? column.fields[file] : column.boxes[file];
}

Result<std::optional<columnar::Bounds>> Source::bounds(int64_t chunk, int column) const {
  const Chunk& place = chunks_[chunk];
  const SourceColumn& bound = columns_[column];
  if (bound.fields[place.file] < 0) return bound.values->bounds(constant(place, bound));
  const int field = bounds_field(bound, place.file);
  if (field < 0) return std::optional<columnar::Bounds>();
  return files_[place.file]->bounds(place.batch, field);
}

Result<int64_t> Source::null_count(int64_t chunk, int column) const {
  const Chunk& place = chunks_[chunk];
  const SourceColumn& bound = columns_[column];
  if (bound.fields[place.file] < 0) return bound.values->is_null(constant(place, bound)) ? place.rows : 0;
  return files_[place.file]->null_count(place.batch, bound.fields[place.file]);
}

Result<bool> Source::has_bounds(int column) const {
  for (size_t file = 0; file < files_.size(); ++file) {
    if (columns_[column].fields[file] < 0) return true;
    const int field = bounds_field(columns_[column], static_cast<int>(file));
    if (field < 0) continue;
    STROM_ASSIGN(const bool has, files_[file]->has_bounds(field));
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

}  // namespace strom::pg::files
