// SQL functions for texts of VCF files: attributes in INFO and in samples' cells, as declared in sql/vcf.sql. All
// functions may ereport and hold nothing with a destructor.
#include <cstring>

#include "pg/boundary/postgres.hpp"

extern "C" {
PGDLLEXPORT PG_FUNCTION_INFO_V1(strom_vcf_info_getattr);
PGDLLEXPORT PG_FUNCTION_INFO_V1(strom_vcf_variant_getattr);
PGDLLEXPORT PG_FUNCTION_INFO_V1(strom_vcf_cell_getattr);
}

namespace {

struct Span {
  const char* begin;
  const char* end;
  int size() const { return static_cast<int>(end - begin); }
};

Span span_of(const text* value) {
  const char* begin = VARDATA_ANY(value);
  return {begin, begin + VARSIZE_ANY_EXHDR(value)};
}

/// The part before the next separator. `rest` continues behind the separator; its `begin` is nullptr at the end.
Span next_item(Span* rest, char separator) {
  const auto* at = static_cast<const char*>(memchr(rest->begin, separator, static_cast<size_t>(rest->size())));
  const Span item = {rest->begin, at == nullptr ? rest->end : at};
  rest->begin = at == nullptr ? nullptr : at + 1;
  return item;
}

bool is_same(Span a, Span b) {
  return a.size() == b.size() && memcmp(a.begin, b.begin, static_cast<size_t>(a.size())) == 0;
}

Datum to_text(Span value) { return PointerGetDatum(cstring_to_text_with_len(value.begin, value.size())); }

/// The value of KEY=VALUE among items. For KEY alone the value is an empty text.
Datum named_value(FunctionCallInfo fcinfo, char separator) {
  Span rest = span_of(PG_GETARG_TEXT_PP(0));
  const Span key = span_of(PG_GETARG_TEXT_PP(1));
  while (rest.begin != nullptr) {
    Span value = next_item(&rest, separator);
    const Span name = next_item(&value, '=');
    if (!is_same(name, key)) continue;
    if (value.begin == nullptr) value = {name.end, name.end};
    return to_text(value);
  }
  PG_RETURN_NULL();
}

}  // namespace

/// (INFO, key): "AF" of "DP=5;AF=0.5" is "0.5".
Datum strom_vcf_info_getattr(PG_FUNCTION_ARGS) { return named_value(fcinfo, ';'); }

/// (cell, key): "DP" of "GT=0/1:DP=5" is "5".
Datum strom_vcf_variant_getattr(PG_FUNCTION_ARGS) { return named_value(fcinfo, ':'); }

/// (FORMAT, cell, key): "DP" of "GT:DP" and "0/1:5" is "5". Trailing values of a cell may be missing.
Datum strom_vcf_cell_getattr(PG_FUNCTION_ARGS) {
  Span names = span_of(PG_GETARG_TEXT_PP(0)), values = span_of(PG_GETARG_TEXT_PP(1));
  const Span key = span_of(PG_GETARG_TEXT_PP(2));
  while (names.begin != nullptr && values.begin != nullptr) {
    const Span name = next_item(&names, ':'), value = next_item(&values, ':');
    if (is_same(name, key)) return to_text(value);
  }
  PG_RETURN_NULL();
}
