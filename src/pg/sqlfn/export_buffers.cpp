// See export_buffers.hpp.
#include "pg/sqlfn/export_buffers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.hpp"
#include "columnar/origin.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::sqlfn {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Form;
using columnar::Layout;

namespace {

// Rows that are converted at a time. They stay in the processor's cache between conversion and copy, and their bitmaps
// are whole bytes.
constexpr int64_t kRows = 65536, kBits = 8;
constexpr int64_t kBatchBytes = int64_t{64} << 20;
constexpr int64_t kColumnAlignment = 64;  // Arrow's
constexpr std::string_view kMagic = "STROMEX1";

bool is_number(Layout layout) {
  switch (layout) {
    case Layout::kInt8:
    case Layout::kInt16:
    case Layout::kInt32:
    case Layout::kInt64:
    case Layout::kFloat16:
    case Layout::kFloat32:
    case Layout::kFloat64: return true;
    default: return false;
  }
}

/// True if the field's buffers have values of fixed width, bits, or offsets and texts.
bool is_exportable(const Field& field) {
  const Form form = columnar::form_of(field.layout);
  return !field.dictionary && field.unsupported.empty() &&
         (form == Form::kFixed || form == Form::kBits || form == Form::kOffsets);
}

/// True for types whose texts are the stored values, whatever catalogs and settings say.
bool is_plain_text(Oid type) { return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == BYTEAOID; }

[[noreturn]] void refuse_null(const std::string& column) {
  const char* name = column.c_str();
  guard([name] {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("column \"%s\" has NULL", name),
                    errhint("Use the option nulls: \"mask\" gives the bitmaps of what is NULL, \"fill\" puts the "
                            "option fill's value there.")));
  });
  throw boundary::StatusError(Status(ErrorCode::kInternal, "NULL was not refused"));
}

template <class T>
void fill_as(T value, const ColumnBuilder& column, uint8_t* values) {
  for (int64_t row = 0; row < column.length(); ++row)
    if (!column.is_valid(row)) std::memcpy(values + row * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

template <class T>
void fill_integers(double value, const ColumnBuilder& column, uint8_t* values) {
  const double rounded = std::nearbyint(value);
  if (!(rounded == value && rounded >= static_cast<double>(std::numeric_limits<T>::min()) &&
        rounded < -static_cast<double>(std::numeric_limits<T>::min())))
    throw_if_failed(
        Status(ErrorCode::kInvalidParameter, "option \"fill\" is no value of column \"" + column.field().name + "\""));
  fill_as(static_cast<T>(rounded), column, values);
}

void fill_nulls(double value, const ColumnBuilder& column, uint8_t* values) {
  switch (column.field().layout) {
    case Layout::kInt8: return fill_integers<int8_t>(value, column, values);
    case Layout::kInt16: return fill_integers<int16_t>(value, column, values);
    case Layout::kInt32: return fill_integers<int32_t>(value, column, values);
    case Layout::kInt64: return fill_integers<int64_t>(value, column, values);
    case Layout::kFloat16: return fill_as(base::double_to_half(value), column, values);
    case Layout::kFloat32: return fill_as(static_cast<float>(value), column, values);
    case Layout::kFloat64: return fill_as(value, column, values);
    default:
      throw_if_failed(Status(ErrorCode::kInvalidParameter,
                             "option \"fill\" is for numbers, and column \"" + column.field().name + "\" has none"));
  }
}

void append_json(const char* text, std::string* json) {
  const char* quoted = guard([text] {
    StringInfoData buffer;
    initStringInfo(&buffer);
    escape_json(&buffer, text);
    return static_cast<const char*>(buffer.data);
  });
  *json += quoted;
}

}  // namespace

Status over_limit(int64_t limit) {
  return Status(ErrorCode::kOverBudget, "an export would take more memory than exports may")
      .with_detail("The limit is " + std::to_string(limit) + " bytes.")
      .with_hint("Export fewer columns or rows, or raise pg_strom.export_memory.");
}

std::string export_end(std::string description) {
  const uint64_t length = description.size();
  description.append(reinterpret_cast<const char*>(&length), sizeof length);
  description += kMagic;
  return description;
}

void ExportBuffers::start(TupleDesc row, int64_t expected) {
  codec::WriteSettings settings;
  settings.enum_as_dictionary = false;
  rows_ = std::make_unique<codec::RowWriter>(settings);
  for (int i = 0; i < row->natts; ++i) {
    const auto* attribute = TupleDescAttr(row, i);
    if (!attribute->attisdropped)
      add_column(NameStr(attribute->attname), i, {attribute->atttypid, attribute->atttypmod});
  }
  if (columns_.empty()) throw_if_failed(Status(ErrorCode::kInvalidParameter, "an export needs a column"));
  rows_->start();
  if (settings_.is_matrix) require_one_type();
  // The values of all columns come first, so that a matrix has no gaps.
  size_t buffers = 0;
  std::vector<int64_t> room;
  for (size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].values = buffers++;
    room.push_back(expected * std::max<int64_t>(columnar::stored_width(rows_->fields()[i]), 1));
  }
  for (Column& column : columns_) {
    column.texts = buffers++;
    column.validity = buffers++;
    room.insert(room.end(), {1, expected / kBits + kRows});  // a matrix has no texts
  }
  if (expected <= 0 || !settings_.is_matrix) room.clear();
  file_ = std::make_unique<service::ExportFile>(value_or_throw(service::ExportFile::create(buffers, room)));
  for (size_t i = 0; i < columns_.size(); ++i) {
    const int64_t zero = 0;
    if (columnar::has_offsets(rows_->fields()[i].layout)) append(columns_[i].values, &zero, sizeof zero);
  }
}

void ExportBuffers::add_column(const char* name, int attribute, codec::SqlType type) {
  const char* utf8 = guard([name] { return pg_server_to_any(name, static_cast<int>(strlen(name)), PG_UTF8); });
  rows_->add_column(utf8, type, attribute);
  const char* type_name = guard([type] { return format_type_with_typemod(type.oid, type.typmod); });
  type_names_.emplace_back(type_name);
  if (!is_exportable(rows_->fields().back()))
    throw_if_failed(Status(ErrorCode::kUnsupported,
                           std::string("column \"") + name + "\" has type " + type_name + ", which exports do not have")
                        .with_hint("Cast it to text, or use pgstrom.arrow_ipc_stream()."));
  columns_.emplace_back();
  is_lasting_ = is_lasting_ && (!columnar::has_offsets(rows_->fields().back().layout) || is_plain_text(type.oid));
}

void ExportBuffers::require_one_type() const {
  const std::vector<Field>& fields = rows_->fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool fits = is_number(fields[i].layout) || fields[i].layout == Layout::kBool;
    if (fits && fields[i].layout == fields[0].layout) continue;
    std::string detail = "Column \"" + fields[i].name + "\" has type " + type_names_[i];
    detail += fits ? ", and column \"" + fields[0].name + "\" has type " + type_names_[0] + "." : ".";
    throw_if_failed(Status(ErrorCode::kTypeMismatch, "columns of a matrix must have one type, which is a number's")
                        .with_detail(std::move(detail))
                        .with_hint("Name the columns that you want, cast them, or use pgstrom.export_query() with the "
                                   "option {\"form\": \"columns\"}."));
  }
}

int64_t ExportBuffers::room() const {
  const int64_t rows = rows_->rows();
  return rows_->bytes() >= kBatchBytes ? kBits - rows % kBits : kRows - rows;
}

bool ExportBuffers::is_full() const {
  const int64_t rows = rows_->rows();
  return rows >= kRows || (rows_->bytes() >= kBatchBytes && rows % kBits == 0);
}

void ExportBuffers::append(size_t buffer, const void* bytes, int64_t size) {
  if (file_->total() + size > settings_.limit) throw_if_failed(over_limit(settings_.limit));
  throw_if_failed(file_->append(buffer, bytes, size));
}

void ExportBuffers::flush() {
  const int64_t rows = rows_->rows();
  if (rows == 0) return;
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnBuilder& column = rows_->columns()[i];
    put_nulls(i, column);
    put_values(i, column);
  }
  rows_before_ += rows;
  rows_->cut(0);
}

/// Writes the bitmap of a column. It starts at the batch with the first NULL; earlier rows are then filled in.
void ExportBuffers::put_nulls(size_t index, ColumnBuilder& column) {
  if (column.null_count() > 0 && settings_.nulls == ExportSettings::Nulls::kError) refuse_null(column.field().name);
  Column& to = columns_[index];
  if (settings_.nulls != ExportSettings::Nulls::kMask || to.null_count + column.null_count() == 0) return;
  const auto bytes_of = [](int64_t rows) { return (rows + kBits - 1) / kBits; };
  std::vector<uint8_t> all(static_cast<size_t>(bytes_of(kRows)), 0xff);
  while (file_->size(to.validity) < rows_before_ / kBits)
    append(to.validity, all.data(),
           std::min<int64_t>(static_cast<int64_t>(all.size()), rows_before_ / kBits - file_->size(to.validity)));
  const int64_t bytes = bytes_of(column.length());
  append(to.validity, column.null_count() > 0 ? column.validity().data() : all.data(), bytes);
  to.null_count += column.null_count();
}

void ExportBuffers::put_values(size_t index, const ColumnBuilder& column) {
  Column& to = columns_[index];
  const Form form = columnar::form_of(column.field().layout);
  const int64_t rows = column.length();
  const uint8_t* values = column.values().data();
  if (form == Form::kOffsets) {
    // Converts offsets to 64 bits, relative to the first row of the export.
    scratch_.resize(static_cast<size_t>(rows) * sizeof(int64_t));
    const bool is_wide = columnar::value_width(column.field().layout, 0) == sizeof(int64_t);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t end = to.text_bytes + (is_wide ? column.values().as<int64_t>()[row + 1]
                                                   : int64_t{column.values().as<int32_t>()[row + 1]});
      std::memcpy(scratch_.data() + row * static_cast<int64_t>(sizeof end), &end, sizeof end);
    }
    append(to.values, scratch_.data(), static_cast<int64_t>(scratch_.size()));
    append(to.texts, column.data().data(), column.data().size());
    to.text_bytes += column.data().size();
    return;
  }
  if (form == Form::kBits && settings_.is_matrix) {  // a byte for each value, as in Python's arrays
    scratch_.resize(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row)
      scratch_[static_cast<size_t>(row)] = static_cast<uint8_t>(values[row >> 3] >> (row & 7) & 1);
    append(to.values, scratch_.data(), rows);
    return;
  }
  const int64_t bytes =
      form == Form::kBits ? (rows + kBits - 1) / kBits : rows * columnar::stored_width(column.field());
  if (settings_.nulls == ExportSettings::Nulls::kFill && column.null_count() > 0) {
    scratch_.assign(values, values + bytes);
    fill_nulls(settings_.fill, column, scratch_.data());
    values = scratch_.data();
  }
  append(to.values, values, bytes);
}

FinishedExport ExportBuffers::finish() {
  flush();
  // The description contains the places of buffers, so their final places are fixed first.
  const int64_t alignment = settings_.is_matrix ? 1 : kColumnAlignment;
  throw_if_failed(file_->settle(alignment));
  FinishedExport finished;
  finished.bytes = file_->length();
  // CUDA cannot allocate zero bytes: an empty export stays in the server's memory.
  if (settings_.device != ExportSettings::kServerMemory && finished.bytes > 0)
    finished.copy = exports::copy_to_device(file_->descriptor(), finished.bytes, settings_.device);
  if (!finished.copy) {
    throw_if_failed(file_->seal(export_end(description(nullptr))));
    finished.bytes = file_->length();
  } else {
    const std::string end = export_end(description(&*finished.copy));
    *file_ = value_or_throw(service::ExportFile::create(0, {}));
    throw_if_failed(file_->seal(end));
  }
  finished.file = file_.get();
  return finished;
}

std::string ExportBuffers::identity() const {
  if (!is_lasting_) return {};
  std::string all = settings_.is_matrix ? "m" : "c";
  columnar::append_name(&all, settings_.nulls, settings_.fill, settings_.device);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Field& field = rows_->fields()[i];
    columnar::append_name(&all, field.name.size(), type_names_[i].size(), field.timezone.size(), field.layout,
                          field.unit, field.precision, field.scale, field.byte_width);
    all.append(field.name).append(type_names_[i]).append(field.timezone);
  }
  return all;
}

std::string ExportBuffers::description(const exports::DeviceCopy* copy) const {
  std::string json = R"({"version": 1, "form": )";
  json += settings_.is_matrix ? "\"matrix\"" : "\"columns\"";
  if (copy != nullptr) json += ", \"device\": " + copy->description;
  json += ", \"rows\": " + std::to_string(rows_before_) + ", \"columns\": [";
  const auto place = [this, &json](const char* name, size_t buffer) {
    json += std::string(", \"") + name + "\": [" + std::to_string(file_->offset(buffer)) + ", " +
            std::to_string(file_->size(buffer)) + "]";
  };
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Field& field = rows_->fields()[i];
    const Column& column = columns_[i];
    json += i == 0 ? "{\"name\": " : ", {\"name\": ";
    append_json(field.name.c_str(), &json);
    json += ", \"sql_type\": ";
    append_json(type_names_[i].c_str(), &json);
    json += std::string(", \"layout\": \"") + columnar::layout_name(field.layout) + "\"";
    if (columnar::has_unit(field.layout))
      json += std::string(", \"unit\": \"") + columnar::unit_name(field.unit) + "\"";
    if (!field.timezone.empty()) json += ", \"timezone\": \"" + field.timezone + "\"";
    if (columnar::is_decimal(field.layout))
      json += ", \"precision\": " + std::to_string(field.precision) + ", \"scale\": " + std::to_string(field.scale);
    if (field.layout == Layout::kFixedBinary) json += ", \"byte_width\": " + std::to_string(field.byte_width);
    json += ", \"nulls\": " + std::to_string(column.null_count);
    place("values", column.values);
    if (columnar::has_offsets(field.layout)) place("texts", column.texts);
    if (column.null_count > 0) place("validity", column.validity);
    json += "}";
  }
  return json + "]}";
}

}  // namespace strom::pg::sqlfn
