// Lowering of functions that read or make a timestamptz in the session's time zone. They become functions of
// timestamps, applied to local times. Plans may outlive the setting, so the program checks it first.
#include <array>
#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/planner/lowering/lower.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::NodeId;
using registry::TypeId;

namespace {

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

bool is_utc(pg_tz* zone) {
  long offset = 0;
  return pg_get_timezone_offset(zone, &offset) && offset == 0;
}

// The offsets of the years 1800 to 2200 in the form of engine/expr/zone.hpp; empty when they are unknown.
std::string offsets_of(pg_tz* zone) {
  constexpr pg_time_t kBegin = -5364662400, kEnd = 7258118400;
  using Entry = std::array<int64_t, 2>;
  std::string table;
  auto add = [&table](pg_time_t from, int64_t offset) {
    constexpr int64_t kUnixEpoch = static_cast<int64_t>(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
    const Entry entry{(from - kUnixEpoch) * USECS_PER_SEC, offset * USECS_PER_SEC};
    table.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  };
  long held = 0;
  for (pg_time_t time = kBegin;;) {
    long before, after;
    int before_dst, after_dst;
    pg_time_t boundary;
    const int found = pg_next_dst_boundary(&time, &before, &before_dst, &boundary, &after, &after_dst, zone);
    if (found < 0) return {};
    if (table.empty()) {
      held = before;
      add(kBegin - SECS_PER_DAY * 4, held);
      add(kBegin, held);
    }
    if (found == 0 || boundary >= kEnd || boundary <= time) break;
    if (after != held) add(boundary, after);
    held = after;
    time = boundary;
  }
  add(kEnd, held);
  add(kEnd + SECS_PER_DAY * 4, held);
  return table;
}

// The offsets of the session's zone, cached because lowering needs them several times in a query.
const std::string& session_offsets() {
  static std::string zone, table;
  const char* name = pg_get_timezone_name(session_timezone);
  if (zone != name) {
    table = offsets_of(session_timezone);
    zone = name;
  }
  return table;
}

}  // namespace

// A condition that the session's time zone is still that of planning time.
Result<NodeId> Lowering::session_zone_stays() {
  const Node* same = guard([] {
    auto text = [](const char* value) {
      return makeConst(TEXTOID, -1, C_COLLATION_OID, -1, CStringGetTextDatum(value), false, false);
    };
    auto* setting = makeFuncExpr(F_CURRENT_SETTING_TEXT, TEXTOID, list_make1(text("TimeZone")), InvalidOid,
                                 C_COLLATION_OID, COERCE_EXPLICIT_CALL);
    auto* equal = makeFuncExpr(F_TEXTEQ, BOOLOID, list_make2(setting, text(pg_get_timezone_name(session_timezone))),
                               InvalidOid, C_COLLATION_OID, COERCE_EXPLICIT_CALL);
    return reinterpret_cast<const Node*>(equal);
  });
  return run_time_constant(same);
}

Result<NodeId> Lowering::call_in_zone(const registry::ZonedFunction& function, std::vector<NodeId> args,
                                      const char* field) {
  if (std::strcmp(field, "epoch") == 0)  // seconds since a fixed moment, in any zone
    return builder_.call(function.local_name, {builder_.assume(boolean(true), args[0], TypeId::kTimestamp)}, field);
  const bool utc = guard([] { return is_utc(session_timezone); });
  if (!utc && (function.traits & registry::kAnyZone) == 0) return unsupported("a time zone other than UTC");
  NodeId table = engine::plan::kNoNode;
  if (!utc) {
    const std::string& offsets = session_offsets();
    if (offsets.empty()) return unsupported("a time zone whose offsets are not known");
    table = builder_.constant({TypeId::kBytea, 0}, false, offsets);
  }
  STROM_ASSIGN(const NodeId stays, session_zone_stays());
  for (NodeId& arg : args) {
    if (builder_.node(arg).type.type != TypeId::kTimestampTz) continue;
    arg = builder_.assume(stays, arg, utc ? TypeId::kTimestamp : TypeId::kTimestampTz);
    if (utc) continue;
    STROM_ASSIGN(arg, builder_.call("local time", {arg, table}));
  }
  NodeId value = args[0];
  const bool is_there = args.size() == 1 && std::strcmp(function.local_name, "timestamp") == 0 &&
                        builder_.node(value).type.type == TypeId::kTimestamp;
  if (!is_there) {
    STROM_ASSIGN(value, builder_.call(function.local_name, args, field));
  }
  if ((function.traits & registry::kMakesMoment) == 0) return value;
  if (!utc) {
    STROM_ASSIGN(value, builder_.call("moment of local time", {value, table}));
  }
  return builder_.assume(stays, value, TypeId::kTimestampTz);
}

}  // namespace strom::pg::planner
