// See arrow_output.hpp.
#include "pg/sqlfn/arrow_output.hpp"

#include <charconv>

#include "pg/boundary/boundary.hpp"
#include "pg/sqlfn/json_options.hpp"

namespace strom::pg::sqlfn {

using boundary::throw_if_failed;
using boundary::value_or_throw;
using format::pgwire::NumericChoice;

namespace {

Status invalid(const std::string& what) { return Status(ErrorCode::kInvalidParameter, what); }

int64_t positive(const std::string& name, const std::string& text, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    throw_if_failed(invalid("option \"" + name + "\" needs a number from 1 to " + std::to_string(most)));
  return value;
}

bool is_null(const std::string& name, const std::string& text) {
  if (text != "error" && text != "null") throw_if_failed(invalid("option \"" + name + "\" needs error or null"));
  return text == "null";
}

NumericChoice numeric_choice(const std::string& text) {
  NumericChoice choice;
  if (text == "text") {
    choice.as = NumericChoice::As::kText;
  } else if (text == "float8" || text == "float8-nearest") {
    choice.as = NumericChoice::As::kReal;
    choice.may_round = text != "float8";
  } else {
    int precision = 0, scale = 0;
    constexpr int kMaxPrecision = 76;
    if (sscanf(text.c_str(), "%d,%d", &precision, &scale) != 2 || precision < 1 || precision > kMaxPrecision ||
        scale < 0 || scale > precision)
      throw_if_failed(invalid("option \"numeric\" needs text, float8, float8-nearest or PRECISION,SCALE"));
    choice.precision = precision;
    choice.scale = scale;
  }
  return choice;
}

void set_option(const std::string& name, const std::string& value, OutputSettings* settings) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  if (name == "compression")
    settings->compression = value_or_throw(format::arrow::parse_compression(value));
  else if (name == "batch_bytes")
    settings->batch_bytes = positive(name, value, kMostBytes);
  else if (name == "batch_rows")
    settings->batch_rows = positive(name, value, INT64_MAX);
  else if (name == "overwrite")
    settings->overwrite = truth_option(name, value);
  else if (name == "statistics")
    settings->statistics = truth_option(name, value);
  else if (name == "numeric")
    settings->columns.numeric = numeric_choice(value);
  else if (name == "infinity")
    settings->columns.infinity_is_null = is_null(name, value);
  else if (name == "out_of_range")
    settings->columns.out_of_range_is_null = is_null(name, value);
  else
    throw_if_failed(
        Status(ErrorCode::kInvalidParameter, "unknown option \"" + name + "\"")
            .with_hint("Options are: compression, batch_bytes, batch_rows, overwrite, statistics, numeric, infinity, "
                       "out_of_range."));
}

}  // namespace

void read_settings(Datum jsonb, OutputSettings* settings) {
  for (const auto& [name, value] : json_options(jsonb)) set_option(name, value, settings);
}

void ArrowOutput::start(TupleDesc row, std::unique_ptr<format::ByteSink> sink) {
  rows_ = std::make_unique<codec::RowWriter>(settings_.columns);
  for (int i = 0; i < row->natts; ++i) {
    const auto* attribute = TupleDescAttr(row, i);
    if (attribute->attisdropped) continue;
    const char* name = NameStr(attribute->attname);
    const char* utf8 =
        boundary::guard([name] { return pg_server_to_any(name, static_cast<int>(strlen(name)), PG_UTF8); });
    rows_->add_column(utf8, {attribute->atttypid, attribute->atttypmod}, i);
  }
  rows_->start();
  rows_->count_rows_from(0);
  compressor_ = std::make_unique<format::arrow::Compressor>(settings_.compression);
  columnar::Schema schema;
  schema.fields = rows_->fields();
  std::vector<size_t> columns;
  for (size_t i = 0; settings_.statistics && !stream_ && i < schema.fields.size(); ++i)
    if (format::arrow::can_have_bounds(schema.fields[i])) columns.push_back(i);
  statistics_ = format::arrow::Statistics(std::move(columns));
  writer_ = value_or_throw(format::arrow::FileWriter::create(std::move(sink), std::move(schema), stream_));
  for (const auto& [id, labels] : rows_->dictionaries()) {
    columnar::Field text;
    text.layout = columnar::Layout::kUtf8;
    columnar::ColumnBuilder values(text);
    for (const std::string& label : labels) values.append_bytes(label.data(), static_cast<int64_t>(label.size()));
    throw_if_failed(writer_->write_dictionary(id, values, false));
  }
}

void ArrowOutput::flush() {
  if (rows_->rows() == 0) return;
  statistics_.add(statistics_.of(rows_->columns()));
  const auto batch = value_or_throw(format::arrow::encode_batch(rows_->columns(), rows_->rows(), *compressor_));
  throw_if_failed(writer_->write(batch).status());
  total_rows_ += rows_->rows();
  rows_->cut(0);
  rows_->count_rows_from(total_rows_);
}

void ArrowOutput::finish() {
  flush();
  statistics_.put(writer_->schema());
  throw_if_failed(writer_->finish());
}

Status MemorySink::append(std::vector<struct iovec> pieces) {
  size_t size = bytes_.size();
  for (const auto& piece : pieces) size += piece.iov_len;
  if (size > bytes_.capacity()) bytes_.reserve(std::max(size, bytes_.capacity() + bytes_.capacity() / 2));
  for (const auto& piece : pieces) {
    const char* from = static_cast<const char*>(piece.iov_base);
    bytes_.insert(bytes_.end(), from, from + piece.iov_len);
    position_ += static_cast<int64_t>(piece.iov_len);
  }
  return Status::ok();
}

bytea* MemorySink::value() {
  if (size() > static_cast<int64_t>(MaxAllocSize) - VARHDRSZ) {
    throw boundary::StatusError(Status(ErrorCode::kOverBudget, "the result takes more than 1 GB")
                                    .with_hint("Use arrow_ipc_stream(), which returns it in pieces."));
  }
  auto* bytes = reinterpret_cast<bytea*>(bytes_.data());
  SET_VARSIZE(bytes, static_cast<Size>(bytes_.size()));
  return bytes;
}

}  // namespace strom::pg::sqlfn
