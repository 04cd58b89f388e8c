// See describer.hpp.
#include "pg/codec/describer.hpp"

#include <algorithm>
#include <cstring>

#include "base/stored_numeric.hpp"
#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/plain_values.hpp"

namespace strom::pg::codec {

using boundary::guard;
using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using columnar::TimeUnit;
using format::pgwire::Wire;

namespace {

int64_t micros_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond: return 1'000'000;
    case TimeUnit::kMilli: return 1'000;
    case TimeUnit::kMicro: return 1;
    case TimeUnit::kNano: return 0;
  }
  return 1;
}

/// The schema, name and extension of a type, in the form of the field's metadata.
std::string type_path(Oid type) {
  struct Names {
    const char *schema, *name, *extension;
  };
  const Names names = guard([type] {
    Names n{"", "", nullptr};
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
    if (!HeapTupleIsValid(tuple)) return n;
    const auto* row = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
    n.name = pstrdup(NameStr(row->typname));
    n.schema = get_namespace_name(row->typnamespace);
    ReleaseSysCache(tuple);
    const Oid extension = type < FirstGenbkiObjectId ? InvalidOid : getExtensionOfObject(TypeRelationId, type);
    if (OidIsValid(extension)) n.extension = get_extension_name(extension);
    return n;
  });
  return std::string(names.schema == nullptr ? "" : names.schema) + "." + names.name +
         (names.extension == nullptr ? "" : std::string("@") + names.extension);
}

/// True if texts of the type may depend on the search path: types that stand for objects (regclass), composites that
/// contain them, and types of extensions.
bool may_have_names(Oid type) {
  switch (type) {
    case REGPROCOID:
    case REGPROCEDUREOID:
    case REGOPEROID:
    case REGOPERATOROID:
    case REGCLASSOID:
    case REGCOLLATIONOID:
    case REGTYPEOID:
    case REGROLEOID:
    case REGNAMESPACEOID:
    case REGCONFIGOID:
    case REGDICTIONARYOID: return true;
    default: break;
  }
  if (type < FirstGenbkiObjectId) return false;
  const char kind = guard([type] { return get_typtype(type); });
  return kind == TYPTYPE_COMPOSITE || kind == TYPTYPE_BASE;
}

/// int1 and float2. Their type numbers differ between databases.
bool set_own_type(Oid type, Describer::Described& out) {
  const registry::TypeInfo* info = type < FirstGenbkiObjectId ? nullptr : guard([type] { return engine_type(type); });
  if (info == &registry::type_info(registry::TypeId::kInt1)) {
    out.field.layout = Layout::kInt8;
    out.writer->append = append_word<int8_t>;
    return true;
  }
  if (info == &registry::type_info(registry::TypeId::kFloat2)) {
    out.field.layout = Layout::kFloat16;
    out.writer->append = append_word<int16_t>;
    return true;
  }
  return false;
}

ValueWriter::Form form_of(const ValueWriter& writer, const Field& field) {
  using Form = ValueWriter::Form;
  const auto append = writer.append;
  if (append == append_bool) return Form::kBool;
  if (append == append_word<int16_t>) return Form::kInt16;
  if (append == append_word<int32_t>) return Form::kInt32;
  if (append == append_word<int64_t>) return Form::kInt64;
  if (append == append_date && field.layout == Layout::kDate32) return Form::kDate32;
  if (append == append_timestamp && writer.per_unit == 1) return Form::kMicros;
  if (append == append_decimal && writer.limit > 0) return Form::kDecimal;
  if (append == append_text && GetDatabaseEncoding() == PG_UTF8) return Form::kText;
  if (append == append_bytes) return Form::kBytes;
  if (append == append_fixed) return Form::kFixed;
  return Form::kOther;
}

}  // namespace

std::unique_ptr<ValueWriter> Describer::new_writer() const {
  auto writer = std::make_unique<ValueWriter>();
  writer->column = column;
  writer->text_bytes = &owner.text_bytes_;
  writer->row_number = &owner.row_;
  writer->infinity_is_null = owner.settings_.infinity_is_null;
  writer->out_of_range_is_null = owner.settings_.out_of_range_is_null;
  writer->may_round = owner.settings_.numeric.may_round;
  return writer;
}

TupleDesc Describer::row_of(Oid composite) {
  MemoryContext memory = owner.memory_;
  return guard([=] {
    MemoryContext old = MemoryContextSwitchTo(memory);
    TupleDesc desc = lookup_rowtype_tupdesc_copy(composite, -1);
    MemoryContextSwitchTo(old);
    return desc;
  });
}

void Describer::by_input(Oid type, ValueWriter& writer) {
  FmgrInfo* input = &writer.input;
  Oid* parameter = &writer.input_parameter;
  MemoryContext memory = owner.memory_;
  guard([=] {
    Oid function;
    getTypeInputInfo(type, &function, parameter);
    fmgr_info_cxt(function, input, memory);
  });
}

Describer::Described Describer::describe(const std::string& name, SqlType type) {
  Described out;
  out.writer = new_writer();
  out.field.name = name;
  out.field.metadata.emplace_back("pg_type", type_path(type.oid));
  if (type.typmod >= 0) out.field.metadata.emplace_back("pg_typmod", std::to_string(type.typmod));
  const SqlType base = guard([type] {
    SqlType t = type;
    t.oid = getBaseTypeAndTypmod(t.oid, &t.typmod);
    return t;
  });
  const Oid element = guard([base] { return get_element_type(base.oid); });
  const char kind = guard([base] { return get_typtype(base.oid); });
  if (kind == TYPTYPE_ENUM && owner.settings_.enum_as_dictionary)
    describe_enum(base.oid, out);
  else if (OidIsValid(element))
    describe_array({element, base.typmod}, out);
  else if (kind == TYPTYPE_COMPOSITE)
    describe_composite(base.oid, out);
  else
    describe_plain(base, out);
  return out;
}

void Describer::as_text(Oid type, Described& out) {
  out.field.layout = Layout::kUtf8;
  out.field.precision = out.field.scale = 0;
  out.field.children.clear();
  out.writer->children.clear();
  out.is_text = true;
  by_output(type, *out.writer);
}

void Describer::by_output(Oid type, ValueWriter& writer) {
  writer.append = may_have_names(type) ? append_names : append_output;
  FmgrInfo* output = &writer.output;
  MemoryContext memory = owner.memory_;
  guard([=] {
    Oid function;
    bool is_varlena;
    getTypeOutputInfo(type, &function, &is_varlena);
    fmgr_info_cxt(function, output, memory);
  });
}

void Describer::describe_plain(SqlType type, Described& out) {
  if (owner.settings_.numeric_needs_precision && type.oid == NUMERICOID && type.typmod < 0) {
    throw boundary::StatusError(
        Status(ErrorCode::kUnsupported, std::string("column \"") + column + "\" is numeric without a precision")
            .with_hint("Declare it as numeric(p,s), or make the file with another program first."));
  }
  format::pgwire::WireColumn wire;
  const std::string zone = format::pgwire::arrow_timezone(pg_get_timezone_name(session_timezone));
  if (set_own_type(type.oid, out)) return;
  if (!format::pgwire::set_builtin_type(type.oid, type.typmod, owner.settings_.numeric, zone, out.field, wire))
    return as_text(type.oid, out);
  set_function(static_cast<int>(wire.wire), type.oid, out.field, *out.writer);
}

void Describer::set_function(int wire_form, Oid type, const Field& field, ValueWriter& writer) {
  const int64_t width = columnar::stored_width(field);
  const auto wire = static_cast<Wire>(wire_form);
  switch (wire) {
    case Wire::kBool: writer.append = append_bool; break;
    case Wire::kInt:
      writer.append = width == 2 ? append_word<int16_t> : width == 4 ? append_word<int32_t> : append_word<int64_t>;
      break;
    case Wire::kDecimal: writer.append = append_decimal; break;
    case Wire::kNumericReal: writer.append = append_numeric_real; break;
    case Wire::kText: writer.append = type == NAMEOID ? append_name : append_text; break;
    case Wire::kBytes: writer.append = append_bytes; break;
    case Wire::kFixed: writer.append = type == TIDOID ? append_tid : append_fixed; break;
    case Wire::kDate: writer.append = append_date; break;
    case Wire::kTime: writer.append = append_time; break;
    case Wire::kTimestamp: writer.append = append_timestamp; break;
    case Wire::kInterval: writer.append = append_interval; break;
    default: by_output(type, writer);
  }
}

void Describer::describe_enum(Oid type, Described& out) {
  struct Labels {
    Oid* oids;
    char** names;
    int count;
  };
  const Labels labels = guard([type] {
    CatCList* list = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
    Labels l{static_cast<Oid*>(palloc(sizeof(Oid) * static_cast<Size>(list->n_members + 1))),
             static_cast<char**>(palloc(sizeof(char*) * static_cast<Size>(list->n_members + 1))), list->n_members};
    auto* order = static_cast<float4*>(palloc(sizeof(float4) * static_cast<Size>(l.count + 1)));
    for (int i = 0; i < l.count; ++i) {  // insertion sort by the enum's order
      const auto* row = reinterpret_cast<Form_pg_enum>(GETSTRUCT(&list->members[i]->tuple));
      int at = i;
      for (; at > 0 && order[at - 1] > row->enumsortorder; --at) {
        order[at] = order[at - 1];
        l.oids[at] = l.oids[at - 1];
        l.names[at] = l.names[at - 1];
      }
      order[at] = row->enumsortorder;
      l.oids[at] = row->oid;
      char* name = pstrdup(NameStr(row->enumlabel));
      l.names[at] = pg_server_to_any(name, static_cast<int>(std::strlen(name)), PG_UTF8);
    }
    ReleaseCatCacheList(list);
    return l;
  });
  for (int i = 0; i < labels.count; ++i) out.writer->labels.emplace_back(labels.oids[i], i);
  std::sort(out.writer->labels.begin(), out.writer->labels.end());
  out.writer->append = append_enum;
  out.field.layout = Layout::kUtf8;
  out.field.ordered = true;
  out.field.dictionary = true;
  const auto known =
      std::find_if(owner.enums_.begin(), owner.enums_.end(), [type](const auto& item) { return item.first == type; });
  if (known != owner.enums_.end()) {
    out.field.dictionary_id = known->second;
    return;
  }
  out.field.dictionary_id = static_cast<int64_t>(owner.enums_.size());
  owner.enums_.emplace_back(type, out.field.dictionary_id);
  owner.dictionaries_.emplace_back(out.field.dictionary_id,
                                   std::vector<std::string>(labels.names, labels.names + labels.count));
}

void Describer::set_element(ValueWriter& writer, Oid element) {
  ValueWriter* to = &writer;
  writer.append = append_array;
  writer.type = element;
  guard([=] { get_typlenbyvalalign(element, &to->length, &to->by_value, &to->align); });
}

void Describer::describe_array(SqlType element, Described& out) {
  Described inner = describe("element", element);
  set_element(*out.writer, element.oid);
  out.writer->dimensions = 1;
  out.field.layout = Layout::kList;
  out.field.children.push_back(std::move(inner.field));
  out.writer->children.push_back(std::move(inner.writer));
}

void Describer::describe_composite(Oid type, Described& out) {
  TupleDesc row = row_of(type);
  std::vector<Described> parts;
  for (int i = 0; i < row->natts; ++i) {
    const auto* attribute = TupleDescAttr(row, i);
    if (attribute->attisdropped) continue;
    parts.push_back(describe(NameStr(attribute->attname), {attribute->atttypid, attribute->atttypmod}));
    if (parts.back().is_text) return as_text(type, out);  // as pg2arrow does
  }
  out.writer->append = append_composite;
  out.writer->row = row;
  out.field.layout = Layout::kStruct;
  for (Described& part : parts) {
    out.field.children.push_back(std::move(part.field));
    out.writer->children.push_back(std::move(part.writer));
  }
}

void Describer::bind(ValueWriter& writer, const Field& position, const DictionaryOf& dictionary_of) {
  const Field& field = writer.own_field != nullptr ? *writer.own_field : position;
  writer.field = &field;
  if (!field.dictionary && columnar::is_decimal(field.layout)) {
    const bool fast =
        field.layout == Layout::kDecimal128 && field.scale >= 0 && field.scale <= 38 && field.precision <= 38;
    writer.numeric = base::StoredNumericReader(fast ? field.scale : 0);
    writer.limit = fast ? base::power_of_ten(field.precision) : 0;
  }
  if (columnar::has_unit(field.layout)) writer.per_unit = micros_of(field.unit);
  writer.form = form_of(writer, field);
  for (size_t i = 0; i < writer.children.size(); ++i) {
    ValueWriter& child = *writer.children[i];
    bind(child, child.own_field != nullptr ? *child.own_field : field.children[i], dictionary_of);
  }
  if (!field.dictionary || writer.own_field == nullptr || writer.children.empty()) return;
  writer.dictionary = dictionary_of == nullptr ? nullptr : dictionary_of(field);
  writer.scratch = std::make_unique<ColumnBuilder>(*writer.children[0]->own_field);
}

}  // namespace strom::pg::codec
