// See column_writer.hpp.
#include "pg/codec/column_writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/stored_numeric.hpp"
#include "columnar/layout.hpp"
#include "format/pgwire/numeric.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/interval.hpp"
#include "pg/codec/file_values.hpp"
#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

using boundary::guard;
using columnar::Kind;
using columnar::NestedBuilder;
using columnar::NestedField;
using columnar::TimeUnit;
using format::pgwire::Wire;

void refuse_value(const ValueWriter& writer, int code, const char* what) {
  if (*writer.row_number > 0)
    ereport(ERROR, (errcode(code), errmsg("%s in row %lld, column \"%s\" cannot be written to Arrow", what,
                                          static_cast<long long>(*writer.row_number), writer.column)));
  ereport(ERROR, (errcode(code), errmsg("%s in column \"%s\" cannot be written to Arrow", what, writer.column)));
  pg_unreachable();
}

namespace {

[[noreturn]] void fail(const ValueWriter& writer, int code, const char* what) { refuse_value(writer, code, what); }

/// A value that Arrow's type does not have: an error, or NULL.
void out_of_range(const ValueWriter& writer, NestedBuilder& to, int code, const char* what) {
  if (!writer.out_of_range_is_null) fail(writer, code, what);
  to.append_null();
}

void infinite(const ValueWriter& writer, NestedBuilder& to, int code, const char* what) {
  if (writer.infinity_is_null) return to.append_null();
  out_of_range(writer, to, code, what);
}

void add_text(const ValueWriter& writer, NestedBuilder& to, const char* bytes, size_t size) {
  if (!to.append_bytes(bytes, static_cast<int64_t>(size)))
    fail(writer, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "more than 2 GB of one record batch");
  *writer.text_bytes += static_cast<int64_t>(size);
}

void add_server_text(const ValueWriter& writer, NestedBuilder& to, const char* bytes, size_t size) {
  if (GetDatabaseEncoding() == PG_UTF8) return add_text(writer, to, bytes, size);
  char* utf8 = pg_server_to_any(bytes, static_cast<int>(size), PG_UTF8);
  add_text(writer, to, utf8, utf8 == bytes ? size : std::strlen(utf8));
}

struct Varlena {
  const char* bytes;
  size_t size;
};

Varlena plain(Datum value) {
  const struct varlena* detoasted = pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(value)));
  return {VARDATA_ANY(detoasted), VARSIZE_ANY_EXHDR(detoasted)};
}

void append_bool(const ValueWriter&, NestedBuilder& to, Datum value) { to.append_bool(DatumGetBool(value)); }
template <class T>
void append_word(const ValueWriter&, NestedBuilder& to, Datum value) {
  to.append(static_cast<T>(value));  // also of floating point: the bits
}

void append_text(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const Varlena text = plain(value);
  add_server_text(writer, to, text.bytes, text.size);
}
void append_bytes(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const Varlena text = plain(value);
  add_text(writer, to, text.bytes, text.size);
}
void append_name(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const char* name = NameStr(*DatumGetName(value));
  add_server_text(writer, to, name, std::strlen(name));
}
/// A value's text in a form that is read alike whatever the reader's settings are.
const char* portable_text(const ValueWriter& writer, Datum value) {
  auto* output = const_cast<FmgrInfo*>(&writer.output);
  const int dates = DateStyle, intervals = IntervalStyle, digits = extra_float_digits;
  if (dates == USE_ISO_DATES && intervals == INTSTYLE_POSTGRES && digits > 0) return OutputFunctionCall(output, value);
  const char* volatile text = nullptr;
  PG_TRY();
  {
    DateStyle = USE_ISO_DATES;
    IntervalStyle = INTSTYLE_POSTGRES;
    extra_float_digits = std::max(digits, 1);
    text = OutputFunctionCall(output, value);
  }
  PG_FINALLY();
  {
    DateStyle = dates;
    IntervalStyle = intervals;
    extra_float_digits = digits;
  }
  PG_END_TRY();
  return text;
}

void append_output(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const char* text = portable_text(writer, value);
  add_server_text(writer, to, text, std::strlen(text));
}
/// The same of types whose texts have names of objects: with their schemas.
void append_names(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const int level = NewGUCNestLevel();
  (void)set_config_option("search_path", "pg_catalog", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  const char* text = portable_text(writer, value);
  AtEOXact_GUC(true, level);
  add_server_text(writer, to, text, std::strlen(text));
}
void append_fixed(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  std::memcpy(to.append_fixed(), DatumGetPointer(value), static_cast<size_t>(writer.field->byte_width));
}

void append_date(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const DateADT date = DatumGetDateADT(value);
  if (DATE_NOT_FINITE(date)) return infinite(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "an infinite date");
  const int64_t days = int64_t{date} + kEpochDays;
  if (writer.field->bits == 64)
    to.append(days * (SECS_PER_DAY * INT64CONST(1000)));
  else
    to.append(static_cast<int32_t>(days));
}

/// `micros` in the unit of the field. Otherwise why that cannot be.
const char* in_unit(const ValueWriter& writer, __int128 micros, int64_t* value) {
  __int128 units = micros;
  if (writer.per_unit == 0) {
    units = micros * 1000;
  } else if (writer.per_unit > 1) {
    if (micros % writer.per_unit != 0) return "a time with more digits than the file's";
    units = micros / writer.per_unit;
  }
  *value = static_cast<int64_t>(units);
  if (*value == units) return nullptr;
  return writer.per_unit == 0 ? "a time that takes more than 64 bits of nanoseconds"
                              : "a timestamp after the year 294246";
}

void append_timestamp(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const Timestamp micros = DatumGetTimestamp(value);
  if (TIMESTAMP_NOT_FINITE(micros))
    return infinite(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "an infinite timestamp");
  int64_t units = 0;
  const char* problem = in_unit(writer, __int128{micros} + kEpochMicros, &units);
  if (problem != nullptr) return out_of_range(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, problem);
  to.append(units);
}

/// PostgreSQL has 24:00:00; Arrow's times are below that.
void append_time(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const TimeADT micros = DatumGetTimeADT(value);
  int64_t time = 0;
  const char* problem = micros >= USECS_PER_DAY ? "time 24:00:00" : in_unit(writer, micros, &time);
  if (problem != nullptr) return out_of_range(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, problem);
  if (writer.field->bits == 32)
    to.append(static_cast<int32_t>(time));
  else
    to.append(time);
}

void append_interval(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const Interval* interval = DatumGetIntervalP(value);
  if (compat::is_infinite(*interval))
    return infinite(writer, to, ERRCODE_INTERVAL_FIELD_OVERFLOW, "an infinite interval");
  int64_t nanos = 0;
  if (__builtin_mul_overflow(interval->time, int64_t{1000}, &nanos))
    return out_of_range(writer, to, ERRCODE_INTERVAL_FIELD_OVERFLOW, "an interval of more than 64 bits of nanoseconds");
  const int32_t parts[2] = {interval->month, interval->day};
  uint8_t* place = to.append_fixed();
  std::memcpy(place, parts, sizeof(parts));
  std::memcpy(place + sizeof(parts), &nanos, sizeof(nanos));
}

/// A numeric in its form on the wire; its digits are palloc'd. False for NaN and infinities, which have `sign` only.
bool wire_form(const Varlena& stored, format::pgwire::NumericView* view) {
  using Sign = format::pgwire::NumericView::Sign;
  base::NumericHeader header;
  if (!base::read_numeric_header(stored.bytes, static_cast<int64_t>(stored.size), &header)) {
    constexpr uint16_t kInfinite = 0x1000, kNegative = 0x2000;  // beside the two bits of special values
    const auto word = stored.size < 2 ? uint16_t{0} : base::load_unaligned<uint16_t>(stored.bytes);
    view->sign = (word & kInfinite) == 0   ? Sign::kNan
                 : (word & kNegative) == 0 ? Sign::kInfinity
                                           : Sign::kMinusInfinity;
    return false;
  }
  view->count = static_cast<int32_t>((static_cast<int64_t>(stored.size) - header.size) / 2);
  view->weight = header.weight;
  view->scale = header.scale;
  view->sign = header.negative ? Sign::kNegative : Sign::kPositive;
  auto* digits = static_cast<uint8_t*>(palloc(static_cast<Size>(view->count) * 2 + 1));
  for (int32_t i = 0; i < view->count; ++i) {
    const auto digit = base::load_unaligned<uint16_t>(stored.bytes + header.size + 2 * i);
    digits[2 * i] = static_cast<uint8_t>(digit >> 8);
    digits[2 * i + 1] = static_cast<uint8_t>(digit);
  }
  view->digits = digits;
  return true;
}

void append_any_decimal(const ValueWriter& writer, NestedBuilder& to, const Varlena& stored) {
  using format::pgwire::DecimalOutcome;
  constexpr int kCode = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
  format::pgwire::NumericView view;
  if (!wire_form(stored, &view)) return out_of_range(writer, to, kCode, "NaN or infinity of numeric");
  const NestedField& field = *writer.field;
  uint8_t value[32];
  const int32_t bits = field.bits == 256 ? 256 : 128;
  switch (format::pgwire::numeric_to_decimal(view, field.precision, field.scale, bits, value)) {
    case DecimalOutcome::kExact: break;
    case DecimalOutcome::kTooLarge:
      return out_of_range(writer, to, kCode, "a number with more digits than the decimal has");
    case DecimalOutcome::kTooPrecise:
      return out_of_range(writer, to, kCode, "a number with more digits behind the point than the decimal has");
  }
  std::memcpy(to.append_fixed(), value, static_cast<size_t>(field.bits / 8));  // little-endian: the low bytes
}

void append_decimal(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const Varlena stored = plain(value);
  base::int128 unscaled;
  if (writer.limit > 0 && writer.numeric.read(stored.bytes, static_cast<int64_t>(stored.size), &unscaled) &&
      unscaled < writer.limit && unscaled > -writer.limit)
    return to.append(unscaled);
  append_any_decimal(writer, to, stored);
}

void append_numeric_real(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  using format::pgwire::DecimalOutcome;
  constexpr int kCode = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
  format::pgwire::NumericView view;
  (void)wire_form(plain(value), &view);
  double real = 0;
  const DecimalOutcome outcome = format::pgwire::numeric_to_real(view, &real);
  if (outcome == DecimalOutcome::kTooLarge) return out_of_range(writer, to, kCode, "a number beyond those of Float64");
  if (outcome == DecimalOutcome::kTooPrecise && !writer.may_round)
    return out_of_range(writer, to, kCode, "a number with digits that Float64 does not have");
  to.append(real);
}

void append_enum(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  const Oid label = DatumGetObjectId(value);
  const auto found = std::lower_bound(writer.labels.begin(), writer.labels.end(), std::pair(label, int32_t{0}));
  if (found == writer.labels.end() || found->first != label)
    fail(writer, ERRCODE_INVALID_TEXT_REPRESENTATION, "a label that was added meanwhile");
  to.append(found->second);
}

void append_array(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  ArrayType* array = DatumGetArrayTypeP(value);
  if (ARR_NDIM(array) > 1) fail(writer, ERRCODE_FEATURE_NOT_SUPPORTED, "an array of more than one dimension");
  if (ARR_NDIM(array) == 1 && ARR_LBOUND(array)[0] != 1)
    fail(writer, ERRCODE_FEATURE_NOT_SUPPORTED, "an array whose first index is not 1");
  Datum* elements;
  bool* nulls;
  int count;
  deconstruct_array(array, writer.type, writer.length, writer.by_value, writer.align, &elements, &nulls, &count);
  const ValueWriter& element = *writer.children[0];
  for (int i = 0; i < count; ++i) {
    if (nulls[i])
      to.child(0).append_null();
    else
      element.append(element, to.child(0), elements[i]);
  }
  *writer.text_bytes += int64_t{count} * 8;
  to.append_list();
}

void append_composite(const ValueWriter& writer, NestedBuilder& to, Datum value) {
  HeapTupleHeader header = DatumGetHeapTupleHeader(value);
  HeapTupleData tuple;
  tuple.t_len = HeapTupleHeaderGetDatumLength(header);
  ItemPointerSetInvalid(&tuple.t_self);
  tuple.t_tableOid = InvalidOid;
  tuple.t_data = header;
  const int count = writer.row->natts;
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(count + 1)));
  auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<Size>(count + 1)));
  heap_deform_tuple(&tuple, writer.row, values, nulls);
  size_t part = 0;
  for (int i = 0; i < count; ++i) {
    if (TupleDescAttr(writer.row, i)->attisdropped) continue;
    const ValueWriter& child = *writer.children[part];
    if (nulls[i])
      to.child(part).append_null();
    else
      child.append(child, to.child(part), values[i]);
    ++part;
  }
  *writer.text_bytes += int64_t{count} * 8;
  to.append_struct();
}

int64_t micros_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond: return 1'000'000;
    case TimeUnit::kMilli: return 1'000;
    case TimeUnit::kMicro: return 1;
    case TimeUnit::kNano: return 0;
  }
  return 1;
}

/// Schema, name and extension of a type as they stand in the field's metadata.
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

}  // namespace

/// Finds out what a type becomes.
struct Describer {
  RowWriter& owner;
  const char* column;

  struct Described {
    NestedField field;
    std::unique_ptr<ValueWriter> writer;
    bool is_text = false;  // for want of anything better
  };

  Described describe(const std::string& name, SqlType type) {
    Described out;
    out.writer = std::make_unique<ValueWriter>();
    out.writer->column = column;
    out.writer->text_bytes = &owner.text_bytes_;
    out.writer->row_number = &owner.row_;
    out.writer->infinity_is_null = owner.settings_.infinity_is_null;
    out.writer->out_of_range_is_null = owner.settings_.out_of_range_is_null;
    out.writer->may_round = owner.settings_.numeric.may_round;
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

  void as_text(Oid type, Described& out) {
    out.field.kind = Kind::kUtf8;
    out.field.bits = out.field.precision = out.field.scale = 0;
    out.field.children.clear();
    out.writer->children.clear();
    out.is_text = true;
    by_output(type, *out.writer);
  }

  /// Its texts may depend on the search path: those of types that stand for objects, composites of such, and of
  /// extensions.
  static bool may_have_names(Oid type) {
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

  void by_output(Oid type, ValueWriter& writer) {
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

  void describe_plain(SqlType type, Described& out) {
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
    set_function(wire.wire, type.oid, out.field, *out.writer);
  }

  /// int1 and float2, whose numbers differ between databases.
  static bool set_own_type(Oid type, Described& out) {
    const registry::TypeInfo* info = type < FirstGenbkiObjectId ? nullptr : guard([type] { return engine_type(type); });
    if (info == &registry::type_info(registry::TypeId::kInt1)) {
      out.field.kind = Kind::kInt;
      out.field.bits = 8;
      out.writer->append = append_word<int8_t>;
      return true;
    }
    if (info == &registry::type_info(registry::TypeId::kFloat2)) {
      out.field.kind = Kind::kFloat;
      out.field.bits = 16;
      out.writer->append = append_word<int16_t>;
      return true;
    }
    return false;
  }

  void set_function(Wire wire, Oid type, const NestedField& field, ValueWriter& writer) {
    switch (wire) {
      case Wire::kBool: writer.append = append_bool; break;
      case Wire::kInt:
        writer.append = field.bits == 16   ? append_word<int16_t>
                        : field.bits == 32 ? append_word<int32_t>
                                           : append_word<int64_t>;
        break;
      case Wire::kDecimal: writer.append = append_decimal; break;
      case Wire::kNumericReal: writer.append = append_numeric_real; break;
      case Wire::kText: writer.append = type == NAMEOID ? append_name : append_text; break;
      case Wire::kBytes: writer.append = append_bytes; break;
      case Wire::kFixed: writer.append = append_fixed; break;
      case Wire::kDate: writer.append = append_date; break;
      case Wire::kTime: writer.append = append_time; break;
      case Wire::kTimestamp: writer.append = append_timestamp; break;
      case Wire::kInterval: writer.append = append_interval; break;
      default: by_output(type, writer);
    }
  }

  void describe_enum(Oid type, Described& out) {
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
    out.field.kind = Kind::kUtf8;
    out.field.ordered = true;
    const auto known =
        std::find_if(owner.enums_.begin(), owner.enums_.end(), [type](const auto& item) { return item.first == type; });
    if (known != owner.enums_.end()) {
      out.field.dictionary = known->second;
      return;
    }
    out.field.dictionary = static_cast<int64_t>(owner.enums_.size());
    owner.enums_.emplace_back(type, out.field.dictionary);
    owner.dictionaries_.emplace_back(out.field.dictionary,
                                     std::vector<std::string>(labels.names, labels.names + labels.count));
  }

  void describe_array(SqlType element, Described& out) {
    Described inner = describe("element", element);
    out.writer->append = append_array;
    out.writer->type = element.oid;
    ValueWriter* writer = out.writer.get();
    guard([=] { get_typlenbyvalalign(element.oid, &writer->length, &writer->by_value, &writer->align); });
    out.field.kind = Kind::kList;
    out.field.children.push_back(std::move(inner.field));
    out.writer->children.push_back(std::move(inner.writer));
  }

  void describe_composite(Oid type, Described& out) {
    MemoryContext memory = owner.memory_;
    TupleDesc row = guard([=] {
      MemoryContext old = MemoryContextSwitchTo(memory);
      TupleDesc desc = lookup_rowtype_tupdesc_copy(type, -1);
      MemoryContextSwitchTo(old);
      return desc;
    });
    std::vector<Described> parts;
    for (int i = 0; i < row->natts; ++i) {
      const auto* attribute = TupleDescAttr(row, i);
      if (attribute->attisdropped) continue;
      parts.push_back(describe(NameStr(attribute->attname), {attribute->atttypid, attribute->atttypmod}));
      if (parts.back().is_text) return as_text(type, out);  // as pg2arrow does
    }
    out.writer->append = append_composite;
    out.writer->row = row;
    out.field.kind = Kind::kStruct;
    for (Described& part : parts) {
      out.field.children.push_back(std::move(part.field));
      out.writer->children.push_back(std::move(part.writer));
    }
  }

  static ValueWriter::Form form_of(const ValueWriter& writer, const NestedField& field) {
    using Form = ValueWriter::Form;
    const auto append = writer.append;
    if (append == append_bool) return Form::kBool;
    if (append == append_word<int16_t>) return Form::kInt16;
    if (append == append_word<int32_t>) return Form::kInt32;
    if (append == append_word<int64_t>) return Form::kInt64;
    if (append == append_date && field.bits == 32) return Form::kDate32;
    if (append == append_timestamp && writer.per_unit == 1) return Form::kMicros;
    if (append == append_decimal && writer.limit > 0) return Form::kDecimal;
    if (append == append_text && GetDatabaseEncoding() == PG_UTF8) return Form::kText;
    if (append == append_bytes) return Form::kBytes;
    if (append == append_fixed) return Form::kFixed;
    return Form::kOther;
  }

  /// Writers refer to their fields, which have their place now.
  static void bind(ValueWriter& writer, const NestedField& field) {
    writer.field = &field;
    if (field.dictionary < 0 && field.kind == Kind::kDecimal) {
      const bool fast = field.bits == 128 && field.scale >= 0 && field.scale <= 38 && field.precision <= 38;
      writer.numeric = base::StoredNumericReader(fast ? field.scale : 0);
      writer.limit = fast ? base::power_of_ten(field.precision) : 0;
    }
    if (field.kind == Kind::kTimestamp || field.kind == Kind::kTime) writer.per_unit = micros_of(field.unit);
    writer.form = form_of(writer, field);
    for (size_t i = 0; i < writer.children.size(); ++i) bind(*writer.children[i], field.children[i]);
  }
};

namespace {

int64_t row_bytes_of(const NestedField& field) {
  if (field.dictionary >= 0) return sizeof(int32_t);
  int64_t bytes = columnar::fixed_width(field);
  if (field.kind == Kind::kBinary || field.kind == Kind::kUtf8 || field.kind == Kind::kList) bytes += sizeof(int32_t);
  for (const NestedField& child : field.children) bytes += row_bytes_of(child);
  return bytes + 1;
}

/// A file's field takes what `ours` would hold as it is appended: units and digits may be others, of which every value
/// is checked.
bool takes(const NestedField& file, const NestedField& ours) {
  if (file.same_type(ours)) return file.dictionary < 0;
  if (file.dictionary >= 0 || file.kind != ours.kind) return false;
  switch (file.kind) {
    case Kind::kDecimal: return true;
    case Kind::kDate:
    case Kind::kTime: return true;
    case Kind::kTimestamp: return file.timezone.empty() == ours.timezone.empty();
    case Kind::kList: return takes(file.children[0], ours.children[0]);
    default: return false;
  }
}

/// Makes `writer`, of values of `type` that become `ours` in files of ours, one for a file's field. False: it cannot
/// be.
bool fit_to_file(ValueWriter& writer, const NestedField& file, const NestedField& ours, SqlType type) {
  if (takes(file, ours)) return true;
  const SqlType base = domain_base(type);
  if (file.kind == Kind::kList && ours.kind == Kind::kList && file.dictionary < 0)
    return fit_to_file(*writer.children[0], file.children[0], ours.children[0], {writer.type, base.typmod});
  const bool is_half = ours.kind == Kind::kFloat && ours.bits == 16;
  const AppendValue append = file_value_writer(file, base.oid, is_half);
  if (append != nullptr) writer.append = append;
  return append != nullptr;
}

}  // namespace

RowWriter::RowWriter(WriteSettings settings) : settings_(std::move(settings)) {
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

void RowWriter::add_column(const NestedField& field, const std::string& name, SqlType type, int source) {
  const bool needs = settings_.numeric_needs_precision;
  settings_.numeric_needs_precision = false;  // the file has one
  const auto choice = settings_.numeric;
  if (field.kind == Kind::kUtf8) settings_.numeric.as = format::pgwire::NumericChoice::As::kText;
  if (field.kind == Kind::kFloat) settings_.numeric.as = format::pgwire::NumericChoice::As::kReal;
  add_column(name, type, source);
  settings_.numeric_needs_precision = needs;
  settings_.numeric = choice;
  const bool fits =
      settings_.may_narrow ? fit_to_file(*writers_.back(), field, fields_.back(), type) : takes(field, fields_.back());
  if (!fits) {
    throw boundary::StatusError(
        Status(ErrorCode::kTypeMismatch, "column \"" + name + "\" cannot be written to field \"" + field.name + "\"")
            .with_detail("Values of type " + type_name(type) + " become " + columnar::type_text(fields_.back()) +
                         "; the file has " + columnar::type_text(field) + "."));
  }
  fields_.back() = field;
}

void RowWriter::add_nulls(const NestedField& field) {
  fields_.push_back(field);
  writers_.emplace_back();
  sources_.push_back(-1);
}

void RowWriter::start() {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (writers_[i] != nullptr) Describer::bind(*writers_[i], fields_[i]);
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
  for (NestedBuilder& column : columns_) column.truncate(rows);
  rows_ = rows;
  if (rows == 0) text_bytes_ = reset_at_ = 0;
}

}  // namespace strom::pg::codec
