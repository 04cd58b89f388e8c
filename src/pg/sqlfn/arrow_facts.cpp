#include "pg/sqlfn/arrow_facts.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "pg/boundary/boundary.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/files/virtual_value.hpp"

namespace strom::pg::sqlfn {

namespace {

using boundary::value_or_throw;
using columnar::Bounds;
using columnar::Field;

enum class Order { kBefore, kBeforeOrAt };

// A box is before another one if it lies to the left of it.
constexpr int kLowX = 0, kHighX = 2;

// True if every value within `a` is before every value within `b`.
bool ends_before(const Bounds& a, const Bounds& b, Order order) {
  const bool or_at = order == Order::kBeforeOrAt;
  switch (a.kind) {
    case Bounds::Kind::kInteger: return or_at ? a.high <= b.low : a.high < b.low;
    case Bounds::Kind::kReal: return or_at ? a.high_real <= b.low_real : a.high_real < b.low_real;
    case Bounds::Kind::kBox: return or_at ? a.box[kHighX] <= b.box[kLowX] : a.box[kHighX] < b.box[kLowX];
    case Bounds::Kind::kText: break;
  }
  if (a.high_is_prefix) return a.high_text < b.low_text && !b.low_text.starts_with(a.high_text);
  return or_at ? a.high_text <= b.low_text : a.high_text < b.low_text;
}

bool has_lower_end(const Bounds& a, const Bounds& b) {
  switch (a.kind) {
    case Bounds::Kind::kInteger: return a.high < b.high;
    case Bounds::Kind::kReal: return a.high_real < b.high_real;
    case Bounds::Kind::kBox: return a.box[kHighX] < b.box[kHighX];
    case Bounds::Kind::kText: break;
  }
  return a.high_text < b.high_text;
}

bool begins_later(const Bounds& a, const Bounds& b) {
  switch (a.kind) {
    case Bounds::Kind::kInteger: return a.low > b.low;
    case Bounds::Kind::kReal: return a.low_real > b.low_real;
    case Bounds::Kind::kBox: return a.box[kLowX] > b.box[kLowX];
    case Bounds::Kind::kText: break;
  }
  return a.low_text > b.low_text;
}

// "a" or "a DESC"; empty: no known order. A column with one value in all batches has no order.
std::string order_of(const FileReader& file, int field) {
  bool ascends = true, descends = true;
  std::optional<Bounds> first, last;
  for (int batch = 0; batch < file.batch_count() && (ascends || descends); ++batch) {
    boundary::check_for_interrupts();
    if (value_or_throw(file.batch_rows(batch)) == 0) continue;
    auto bounds = value_or_throw(file.bounds(batch, field));
    if (!bounds.has_value() || bounds->kind == Bounds::Kind::kBox) return {};
    if (last.has_value()) {
      ascends = ascends && ends_before(*last, *bounds, Order::kBeforeOrAt);
      descends = descends && ends_before(*bounds, *last, Order::kBeforeOrAt);
    } else {
      first = bounds;
    }
    last = std::move(bounds);
  }
  if (!last.has_value() || ascends == descends) return {};
  const std::string name = files::server_text(file.schema().fields[static_cast<size_t>(field)].name);
  if (ascends) return ends_before(*first, *last, Order::kBefore) ? name : std::string();
  return ends_before(*last, *first, Order::kBefore) ? name + " DESC" : std::string();
}

/// Two bounds of one column: the one that ends first, and the one that begins last.
struct Extremes {
  Field field;
  Bounds first, last;
};

bool is_comparable(const Field& a, const Field& b) {
  return a.layout == b.layout && a.unit == b.unit && a.scale == b.scale;
}

}  // namespace

// May ereport.
void require_readable_table(Oid relid) {
  const char* name = get_rel_name(relid);
  if (name == nullptr) ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("there is no relation %u", relid)));
  if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
    aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relid)), name);
  if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE ||
      GetFdwRoutineByRelId(relid)->ImportForeignSchema != strom_arrow_import)
    ereport(ERROR,
            (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a foreign table over Arrow files", name)));
}

FileFacts facts_of(const FileReader& file) {
  FileFacts facts;
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    facts.rows += value_or_throw(file.batch_rows(batch));
    const std::string codec = value_or_throw(file.codec(batch));
    if (!codec.empty() && facts.codec.find(codec) == std::string::npos)
      facts.codec += (facts.codec.empty() ? "" : ", ") + codec;
  }
  const auto& fields = file.schema().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto field = static_cast<int>(i);
    if (!fields[i].unsupported.empty() || !value_or_throw(file.has_bounds(field))) continue;
    facts.statistics.push_back(files::server_text(fields[i].name));
    if (std::string order = order_of(file, field); !order.empty()) facts.order.push_back(std::move(order));
  }
  return facts;
}

bool can_skip_batches(std::span<const std::shared_ptr<const FileReader>> files) {
  std::map<std::string, Extremes> columns;
  for (const auto& file : files) {
    const auto& fields = file->schema().fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto number = static_cast<int>(i);
      if (!fields[i].unsupported.empty() || !value_or_throw(file->has_bounds(number))) continue;
      for (int batch = 0; batch < file->batch_count(); ++batch) {
        boundary::check_for_interrupts();
        const auto bounds = value_or_throw(file->bounds(batch, number));
        if (!bounds.has_value()) continue;
        const auto [found, is_new] = columns.try_emplace(fields[i].name, Extremes{fields[i], *bounds, *bounds});
        Extremes& known = found->second;
        if (is_new || !is_comparable(known.field, fields[i])) continue;
        if (has_lower_end(*bounds, known.first)) known.first = *bounds;
        if (begins_later(*bounds, known.last)) known.last = *bounds;
        if (ends_before(known.first, known.last, Order::kBefore)) return true;
      }
    }
  }
  return false;
}

}  // namespace strom::pg::sqlfn
