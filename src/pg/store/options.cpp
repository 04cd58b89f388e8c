#include "pg/store/options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/nearest_name.hpp"
#include "pg/boundary/boundary.hpp"
#include "store/rows/shape.hpp"

namespace strom::pg::store {

using catalog::Option;

namespace {

constexpr std::string_view kOptions[] = {
    "base_file",      "redo_log_file",       "redo_log_limit",       "max_num_rows", "primary_key", "gpu_device_id",
    "preserve_files", "gpu_update_interval", "gpu_update_threshold", "durability",   "kv_access",   "checksum"};
namespace rows = ::strom::store::rows;

constexpr uint64_t kMostRows = rows::kMaxRows, kLeastLog = uint64_t{16} << 20, kMostLog = uint64_t{1} << 44;

Status bad_option(std::string message) { return {ErrorCode::kBadOption, std::move(message)}; }

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

Status unknown_option(std::string_view name, std::span<const std::string_view> known) {
  Status status = bad_option("invalid option " + quoted(name));
  if (known.empty()) return std::move(status).with_hint("Options of gstore_fdw belong to foreign tables.");
  if (const std::string_view nearest = base::nearest_name(name, known); !nearest.empty())
    return std::move(status).with_hint("Perhaps you meant the option " + quoted(nearest) + ".");
  std::string list;
  for (const std::string_view option : known) list += (list.empty() ? "" : ", ") + std::string(option);
  return std::move(status).with_hint("Valid options in this context are: " + list + ".");
}

Result<uint64_t> parse_number(const Option& option, uint64_t least, uint64_t most) {
  uint64_t number = 0;
  const char* end = option.value.data() + option.value.size();
  const auto parsed = std::from_chars(option.value.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < least || number > most)
    return bad_option("option " + quoted(option.name) + " needs a number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not " + quoted(option.value));
  return number;
}

/// Parses a number of bytes with an optional unit: "512MB".
Result<uint64_t> parse_size(const Option& option, uint64_t least, uint64_t most) {
  constexpr struct {
    std::string_view name;
    int shift;
  } kUnits[] = {{"", 0}, {"B", 0}, {"kB", 10}, {"KB", 10}, {"MB", 20}, {"GB", 30}, {"k", 10}, {"m", 20}, {"g", 30}};
  uint64_t number = 0;
  const char* end = option.value.data() + option.value.size();
  const auto parsed = std::from_chars(option.value.data(), end, number);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  if (parsed.ec == std::errc())
    for (const auto& known : kUnits)
      if (known.name == unit && number <= (most >> known.shift) && (number << known.shift) >= least)
        return number << known.shift;
  return bad_option("option " + quoted(option.name) + " needs a size from " + std::to_string(least >> 20) + "MB to " +
                    std::to_string(most >> 30) + "GB, not " + quoted(option.value));
}

Status set_path(const Option& option, std::string* path) {
  if (option.value.empty() || option.value.front() != '/')
    return bad_option("option " + quoted(option.name) + " needs an absolute path, not " + quoted(option.value));
  *path = option.value;
  return Status::ok();
}

Status set_gpu_option(const Option& option, Options* result) {
  constexpr uint64_t kDay = 86400, kMostDevices = 1023, kLeastShare = 2, kMostShare = 50;
  if (option.name == "gpu_device_id") {
    STROM_ASSIGN(const uint64_t device, parse_number(option, 0, kMostDevices));
    result->gpu_device_id = static_cast<int>(device);
  } else if (option.name == "gpu_update_interval") {
    STROM_ASSIGN(const uint64_t seconds, parse_number(option, 1, kDay));
    result->gpu_update_interval = static_cast<int>(seconds);
  } else if (option.name == "gpu_update_threshold") {
    STROM_ASSIGN(const uint64_t percent, parse_number(option, kLeastShare, kMostShare));
    result->gpu_update_threshold = static_cast<int>(percent);
  } else {
    return unknown_option(option.name, kOptions);
  }
  return Status::ok();
}

Status set_option(const Option& option, Options* result) {
  if (option.name == "base_file") return set_path(option, &result->base_file);
  if (option.name == "redo_log_file") return set_path(option, &result->redo_log_file);
  if (option.name == "redo_log_limit") {
    STROM_ASSIGN(result->redo_log_limit, parse_size(option, kLeastLog, kMostLog));
    result->redo_log_limit &= ~uint64_t{4095};
  } else if (option.name == "max_num_rows") {
    STROM_ASSIGN(result->max_num_rows, parse_number(option, 1, kMostRows));
  } else if (option.name == "primary_key") {
    if (option.value.empty()) return bad_option("option \"primary_key\" is empty");
    result->primary_key = option.value;
  } else if (option.name == "preserve_files") {
    if (!parse_bool(option.value.c_str(), &result->preserve_files))
      return bad_option("option \"preserve_files\" needs a Boolean value");
  } else if (option.name == "kv_access") {
    if (!parse_bool(option.value.c_str(), &result->kv_access))
      return bad_option("option \"kv_access\" needs a Boolean value");
  } else if (option.name == "checksum") {
    if (option.value != "crc64" && option.value != "xxh3")
      return bad_option("option \"checksum\" is \"crc64\" or \"xxh3\", not " + quoted(option.value));
    result->checksum = option.value == "xxh3" ? region::ChecksumKind::kXxh3 : region::ChecksumKind::kCrc64;
  } else if (option.name == "durability") {
    if (option.value != "sync" && option.value != "async")
      return bad_option("option \"durability\" is \"sync\" or \"async\", not " + quoted(option.value));
    result->durability = option.value == "sync" ? Durability::kSync : Durability::kAsync;
  } else {
    return set_gpu_option(option, result);
  }
  return Status::ok();
}

}  // namespace

Result<Options> parse_options(std::span<const Option> options) {
  Options result;
  for (const Option& option : options) STROM_TRY(set_option(option, &result));
  if (result.max_num_rows == 0) return bad_option("option \"max_num_rows\" is required");
  if (result.base_file.empty()) return bad_option("option \"base_file\" is required");
  if (result.redo_log_file.empty()) return bad_option("option \"redo_log_file\" is required");
  if (result.base_file == result.redo_log_file)
    return bad_option("options \"base_file\" and \"redo_log_file\" name the same file");
  if (result.kv_access && result.primary_key.empty())
    return bad_option("option \"kv_access\" needs the option \"primary_key\"");
  return result;
}

void validate_options(std::span<const Option> options, Oid catalog) {
  if (catalog != ForeignTableRelationId) {
    if (!options.empty()) boundary::throw_if_failed(unknown_option(options.front().name, {}));
    return;
  }
  boundary::throw_if_failed(parse_options(options).status());
  const bool is_allowed = boundary::guard([] {
    return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES) &&
           has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES);
  });
  if (is_allowed) return;
  boundary::throw_if_failed(
      Status(ErrorCode::kPermissionDenied, "permission denied to name files of a store table")
          .with_hint("It takes the privileges of the roles \"pg_read_server_files\" and \"pg_write_server_files\"."));
}

}  // namespace strom::pg::store
