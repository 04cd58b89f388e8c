// See column_writer.hpp.
#include "pg/codec/column_writer.hpp"

#include <algorithm>
#include <cstring>

#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/describer.hpp"
#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

using boundary::guard;
using columnar::ColumnBuilder;
using columnar::Field;

namespace {

/// Approximate bytes of a row's value in this field, without text.
int64_t row_bytes_of(const Field& field) {
  int64_t bytes = columnar::stored_width(field);
  for (size_t i = 0; !field.dictionary && i < field.children.size(); ++i) bytes += row_bytes_of(field.children[i]);
  return bytes + 1;
}

}  // namespace

RowWriter::RowWriter(WriteSettings settings) : settings_(settings) {
  memory_ = guard([] { return AllocSetContextCreate(TopMemoryContext, "Arrow columns", ALLOCSET_SMALL_SIZES); });
  scratch_ = guard([this] { return AllocSetContextCreate(memory_, "Arrow values", ALLOCSET_DEFAULT_SIZES); });
}

RowWriter::~RowWriter() { MemoryContextDelete(memory_); }

void RowWriter::add_column(const std::string& name, SqlType type, int source) {
  MemoryContext memory = memory_;
  const char* text = name.c_str();
  Describer describer{*this, guard([=] { return MemoryContextStrdup(memory, text); })};
  auto described = describer.describe(name, type);
  fields_.push_back(std::move(described.field));
  writers_.push_back(std::move(described.writer));
  sources_.push_back(source);
}

void RowWriter::add_column(const Field& field, const std::string& name, SqlType type, int source) {
  MemoryContext memory = memory_;
  const char* text = name.c_str();
  Describer describer{*this, guard([=] { return MemoryContextStrdup(memory, text); })};
  Describer::Described ours;
  auto writer = describer.describe_for(field, type, &ours);
  if (writer == nullptr) {
    throw boundary::StatusError(
        Status(ErrorCode::kTypeMismatch, "column \"" + name + "\" cannot be written to field \"" + field.name + "\"")
            .with_detail("Values of type " + type_name(type) + " become " + columnar::type_text(ours.field) +
                         "; the file has " + columnar::type_text(field) + "."));
  }
  fields_.push_back(field);
  writers_.push_back(std::move(writer));
  sources_.push_back(source);
}

void RowWriter::add_nulls(const Field& field) {
  fields_.push_back(field);
  writers_.emplace_back();
  sources_.push_back(-1);
}

void RowWriter::start(const DictionaryOf& dictionary_of) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (writers_[i] != nullptr) Describer::bind(*writers_[i], fields_[i], dictionary_of);
    columns_.emplace_back(fields_[i]);
    const auto form = writers_[i] == nullptr ? ValueWriter::Form::kOther : writers_[i]->form;
    words_.push_back(form == ValueWriter::Form::kInt32   ? sizeof(int32_t)
                     : form == ValueWriter::Form::kInt64 ? sizeof(int64_t)
                                                         : 0);
    row_bytes_ += row_bytes_of(fields_[i]);
  }
}

void RowWriter::append(const Datum* values, const bool* nulls) {
  constexpr int64_t kRowsBetweenResets = 64, kTextBetweenResets = 1 << 20;
  if (rows_ % kRowsBetweenResets == 0 || text_bytes_ - reset_at_ > kTextBetweenResets) {
    MemoryContextReset(scratch_);
    reset_at_ = text_bytes_;
  }
  MemoryContext old = MemoryContextSwitchTo(scratch_);
  row_ = first_row_ < 0 ? 0 : first_row_ + rows_ + 1;
  const size_t count = columns_.size();
  for (size_t i = 0; i < count; ++i) {
    const int source = sources_[i];
    if (source < 0 || nulls[source])
      columns_[i].append_null();
    else if (words_[i] == sizeof(int32_t))
      columns_[i].append(static_cast<int32_t>(values[source]));
    else if (words_[i] == sizeof(int64_t))
      columns_[i].append(static_cast<int64_t>(values[source]));
    else
      writers_[i]->append(*writers_[i], columns_[i], values[source]);
  }
  ++rows_;
  MemoryContextSwitchTo(old);
}

void RowWriter::append(const RegisterColumn* columns, int64_t first, int64_t count) {
  MemoryContext old = MemoryContextSwitchTo(scratch_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    row_ = first_row_ < 0 ? 0 : first_row_ + rows_ + 1;
    if (sources_[i] < 0)
      append_nulls(columns_[i], count);
    else
      append_column(*writers_[i], columns_[i], columns[sources_[i]], first, count);
    MemoryContextReset(scratch_);
  }
  reset_at_ = text_bytes_;
  rows_ += count;
  MemoryContextSwitchTo(old);
}

void RowWriter::cut(int64_t rows) {
  for (ColumnBuilder& column : columns_) column.truncate(rows);
  rows_ = rows;
  if (rows == 0) text_bytes_ = reset_at_ = 0;
}

}  // namespace strom::pg::codec
