// See nested.hpp.
#include "columnar/nested.hpp"

#include <algorithm>

#include "columnar/layout.hpp"

namespace strom::columnar {

namespace {

std::string value_type_text(const NestedField& field) {
  const std::string bits = std::to_string(field.bits);
  switch (field.kind) {
    case Kind::kBool: return "Bool";
    case Kind::kInt: return "Int" + bits;
    case Kind::kUInt: return "UInt" + bits;
    case Kind::kFloat: return "Float" + bits;
    case Kind::kDecimal:
      return "Decimal" + bits + "(" + std::to_string(field.precision) + "," + std::to_string(field.scale) + ")";
    case Kind::kDate: return "Date" + bits;
    case Kind::kTime: return "Time" + bits + "(" + unit_name(field.unit) + ")";
    case Kind::kTimestamp:
      return std::string("Timestamp(") + unit_name(field.unit) + (field.timezone.empty() ? "" : ",") + field.timezone +
             ")";
    case Kind::kInterval: return "Interval(MonthDayNano)";
    case Kind::kBinary: return "Binary";
    case Kind::kUtf8: return "Utf8";
    case Kind::kFixedBinary: return "FixedSizeBinary(" + std::to_string(field.byte_width) + ")";
    case Kind::kList: return "List<" + (field.children.empty() ? std::string() : type_text(field.children[0])) + ">";
    case Kind::kStruct: {
      std::string text;
      for (const NestedField& child : field.children) {
        text += (text.empty() ? "" : ", ") + child.name + ": " + type_text(child);
      }
      return "Struct<" + text + ">";
    }
    case Kind::kOther: return "a type that is not written here";
  }
  return "unknown";
}

}  // namespace

bool NestedField::same_type(const NestedField& other) const {
  return kind == other.kind && bits == other.bits && precision == other.precision && scale == other.scale &&
         byte_width == other.byte_width && timezone == other.timezone &&
         ((kind != Kind::kTime && kind != Kind::kTimestamp) || unit == other.unit) &&
         (dictionary < 0) == (other.dictionary < 0) &&
         std::equal(children.begin(), children.end(), other.children.begin(), other.children.end(),
                    [this](const NestedField& a, const NestedField& b) {
                      return (kind == Kind::kList || a.name == b.name) && a.same_type(b);
                    });
}

int64_t fixed_width(const NestedField& field) {
  switch (field.kind) {
    case Kind::kInt:
    case Kind::kUInt:
    case Kind::kFloat:
    case Kind::kDecimal:
    case Kind::kDate:
    case Kind::kTime: return field.bits / 8;
    case Kind::kTimestamp: return 8;
    case Kind::kInterval: return 16;
    case Kind::kFixedBinary: return field.byte_width;
    default: return 0;
  }
}

std::string type_text(const NestedField& field) {
  return field.dictionary < 0 ? value_type_text(field) : "Dictionary<Int32, " + value_type_text(field) + ">";
}

}  // namespace strom::columnar
