// See binding.hpp.
#include "pg/files/binding.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/files/field_index.hpp"
#include "pg/files/options.hpp"

namespace strom::pg::files {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using catalog::ForeignColumn;
using catalog::ForeignTable;
using codec::SqlType;
using columnar::Field;
using columnar::Schema;

namespace {

/// The name of the field that a column is written to.
std::string field_of(const ForeignColumn& column) {
  ColumnSource source = value_or_throw(column_source(column));
  if (source.kind != ColumnSource::Kind::kField)
    throw_if_failed(
        Status(ErrorCode::kUnsupported, "a table with virtual column \"" + column.name + "\" cannot be written to"));
  return std::move(source.name);
}

codec::WriteSettings settings() {
  codec::WriteSettings settings;
  settings.enum_as_dictionary = false;
  return settings;
}

/// For each field the column that is written to it, or nullptr. `missing` gets the columns without a field.
std::vector<const ForeignColumn*> writers_of(const ForeignTable& table, const Schema& schema, const std::string& path,
                                             std::vector<const ForeignColumn*>* missing) {
  columnar::Schema names;  // for the index
  for (const Field& field : schema.fields) names.fields.emplace_back().name = field.name;
  const FieldIndex index_of(names);
  std::vector<const ForeignColumn*> writers(schema.fields.size());
  for (const ForeignColumn& column : table.columns) {
    const std::string wanted = field_of(column);
    const int index = index_of.find(wanted);
    if (index < 0) {
      missing->push_back(&column);
      continue;
    }
    const ForeignColumn*& writer = writers[static_cast<size_t>(index)];
    if (writer != nullptr) {
      throw_if_failed(
          Status(ErrorCode::kTypeMismatch, "field \"" + wanted + "\" of file \"" + path + "\" belongs to two columns")
              .with_detail("They are \"" + writer->name + "\" and \"" + column.name + "\" of foreign table \"" +
                           table.name + "\"."));
    }
    writer = &column;
  }
  return writers;
}

bool can_be_null(const Field& field) { return field.nullable && field.unsupported.empty(); }

bool has_dictionary(const Field& field) {
  return field.dictionary || std::any_of(field.children.begin(), field.children.end(), has_dictionary);
}

/// The field for a column in a new file.
Field new_field(const ForeignColumn& column) {
  codec::WriteSettings strict = settings();
  strict.numeric_needs_precision = true;
  codec::RowWriter alone(strict);
  alone.add_column(field_of(column), column.type, 0);
  return alone.fields().front();
}

bool fits(const ForeignColumn& column, const Field& field) {
  if (has_dictionary(field)) return false;
  codec::WriteSettings whole = settings();
  whole.may_narrow = false;  // without values, nothing asks for fewer bits
  codec::RowWriter alone(whole);
  try {
    alone.add_column(field, column.name, column.type, 0);
    return true;
  } catch (const boundary::StatusError&) {
    return false;
  }
}

struct Parts {
  const char* names;
  SqlType* types;
  int count;
};

Parts parts_of(Oid composite) {
  return guard([composite] {
    StringInfoData names;
    initStringInfo(&names);
    TupleDesc row = lookup_rowtype_tupdesc(composite, -1);
    auto* types = static_cast<SqlType*>(palloc(sizeof(SqlType) * static_cast<Size>(row->natts + 1)));
    int count = 0;
    for (int i = 0; i < row->natts; ++i) {
      const auto* part = TupleDescAttr(row, i);
      appendStringInfo(&names, "%s,", part->attisdropped ? "" : NameStr(part->attname));
      if (!part->attisdropped) types[count++] = {part->atttypid, part->atttypmod};
    }
    ReleaseTupleDesc(row);
    return Parts{names.data, types, count};
  });
}

/// The structure of a type, which ALTER TYPE can change without changing the OID.
std::string shape_of(SqlType type) {
  const SqlType base = codec::domain_base(type);
  std::string shape = std::to_string(type.oid) + ":" + std::to_string(base.oid) + ":" + std::to_string(base.typmod);
  const Oid element = guard([base] { return get_element_type(base.oid); });
  if (OidIsValid(element)) return shape + "[" + shape_of({element, base.typmod}) + "]";
  if (guard([base] { return get_typtype(base.oid); }) != TYPTYPE_COMPOSITE) return shape;
  const Parts parts = parts_of(base.oid);
  shape += std::string("(") + parts.names;
  for (int i = 0; i < parts.count; ++i) shape += shape_of(parts.types[i]) + ",";
  return shape + ")";
}

}  // namespace

std::string binding_signature(const ForeignTable& table) {
  std::string text;
  for (const ForeignColumn& column : table.columns)
    text += std::to_string(column.attnum) + " " + field_of(column) + '\0' + shape_of(column.type) + '\0';
  return text;
}

std::unique_ptr<Binding> make_binding(const ForeignTable& table, const Schema& schema, const std::string& path,
                                      bool may_narrow, const codec::DictionaryOf& dictionary_of) {
  auto binding = std::make_unique<Binding>();
  binding->signature = binding_signature(table);
  codec::WriteSettings chosen = settings();
  chosen.may_narrow = may_narrow;
  binding->rows = std::make_unique<codec::RowWriter>(chosen);
  std::vector<const ForeignColumn*> missing;
  const auto writers = writers_of(table, schema, path, &missing);
  if (!missing.empty()) {
    throw_if_failed(Status(ErrorCode::kTypeMismatch,
                           "field \"" + field_of(*missing[0]) + "\" was not found in file \"" + path + "\"")
                        .with_detail("It is to be written by column \"" + missing[0]->name + "\" of foreign table \"" +
                                     table.name + "\"."));
  }
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const Field& field = schema.fields[i];
    if (writers[i] != nullptr) {
      binding->rows->add_column(field, writers[i]->name, writers[i]->type, writers[i]->attnum - 1);
      continue;
    }
    if (!can_be_null(field))
      throw_if_failed(Status(ErrorCode::kTypeMismatch, "field \"" + field.name + "\" of file \"" + path +
                                                           "\" cannot be NULL, and no column writes it"));
    binding->rows->add_nulls(field);
  }
  binding->rows->start(dictionary_of);
  return binding;
}

void require_readable(const ForeignTable& table, const format::arrow::FileReader& file) {
  const columnar::Schema& schema = file.schema();
  const FieldIndex index_of(schema);
  for (const ForeignColumn& column : table.columns) {
    const int index = index_of.find(field_of(column));
    if (index < 0) continue;
    const columnar::Field& field = schema.fields[static_cast<size_t>(index)];
    if (codec::fit(field, column.type) != codec::Fit::kNone) continue;
    throw_if_failed(Status(ErrorCode::kUnsupported, "values of column \"" + column.name +
                                                        "\" could be written to file \"" + file.path() +
                                                        "\" but not be read again")
                        .with_detail("Type " + codec::type_name(column.type) + " becomes " +
                                     columnar::type_text(field) + ", which cannot be read as that type.")
                        .with_hint("Declare the column as another type, such as text."));
  }
}

Schema schema_for(const ForeignTable& table, const Schema& old) {
  std::vector<const ForeignColumn*> missing;
  const auto writers = writers_of(table, old, table.name, &missing);
  Schema schema;
  schema.metadata = old.metadata;
  for (size_t i = 0; i < old.fields.size(); ++i) {
    const Field& field = old.fields[i];
    if (writers[i] == nullptr) {
      if (can_be_null(field) && !has_dictionary(field)) schema.fields.push_back(field);
    } else if (fits(*writers[i], field)) {
      schema.fields.push_back(field);
    } else {
      schema.fields.push_back(new_field(*writers[i]));
    }
  }
  for (const ForeignColumn* column : missing) schema.fields.push_back(new_field(*column));
  return schema;
}

}  // namespace strom::pg::files
