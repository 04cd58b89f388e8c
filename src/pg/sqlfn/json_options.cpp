// See json_options.hpp.
#include "pg/sqlfn/json_options.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::sqlfn {
namespace {

struct Texts {
  char **names, **values;
  int count;
};

/// The keys and values of a jsonb object as text; -1: it is no object. May ereport.
Texts object_items(Datum datum) {
  Jsonb* object = DatumGetJsonbP(datum);
  if (!JB_ROOT_IS_OBJECT(object)) return {nullptr, nullptr, -1};
  const auto room = static_cast<Size>(JB_ROOT_COUNT(object) + 1) * sizeof(char*);
  Texts items{static_cast<char**>(palloc(room)), static_cast<char**>(palloc(room)), 0};
  JsonbIterator* iterator = JsonbIteratorInit(&object->root);
  JsonbValue value;
  for (JsonbIteratorToken token; (token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE;) {
    if (token == WJB_KEY) {
      items.names[items.count] = pnstrdup(value.val.string.val, value.val.string.len);
    } else if (token == WJB_VALUE) {
      char* text;
      switch (value.type) {
        case jbvString: text = pnstrdup(value.val.string.val, value.val.string.len); break;
        case jbvBool: text = pstrdup(value.val.boolean ? "true" : "false"); break;
        case jbvNumeric:
          text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value.val.numeric)));
          break;
        default: text = pstrdup("");
      }
      items.values[items.count++] = text;
    }
  }
  return items;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> json_options(Datum jsonb) {
  const Texts items = boundary::guard([jsonb] { return object_items(jsonb); });
  if (items.count < 0) boundary::throw_if_failed(Status(ErrorCode::kInvalidParameter, "options must be a JSON object"));
  std::vector<std::pair<std::string, std::string>> options;
  options.reserve(static_cast<size_t>(items.count));
  for (int i = 0; i < items.count; ++i) options.emplace_back(items.names[i], items.values[i]);
  return options;
}

bool truth_option(const std::string& name, const std::string& value) {
  if (value != "true" && value != "false")
    boundary::throw_if_failed(Status(ErrorCode::kInvalidParameter, "option \"" + name + "\" needs true or false"));
  return value == "true";
}

}  // namespace strom::pg::sqlfn
