// Parsing and checking of the options.
#include "pg/files/options.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/nearest_name.hpp"
#include "format/arrow/batch/compression.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::files {

using catalog::Option;

namespace {

constexpr std::string_view kTableOptions[] = {
    "file",     "files",      "dir",        "suffix",      "pattern",   "missing_columns", "parallel_workers",
    "writable", "batch_rows", "batch_size", "compression", "statistics"};
constexpr std::string_view kColumnOptions[] = {"field", "virtual", "virtual_metadata", "virtual_metadata_split"};
constexpr int kMaxParallelWorkers = 1024;  // the limit of the storage parameter

Status bad_option(std::string message) { return Status(ErrorCode::kBadOption, std::move(message)); }

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

Status unknown_option(std::string_view name, std::span<const std::string_view> known) {
  Status status = bad_option("invalid option " + quoted(name));
  if (known.empty())
    return std::move(status).with_hint("Options of arrow_fdw belong to foreign tables and their columns.");
  if (const std::string_view nearest = base::nearest_name(name, known); !nearest.empty())
    return std::move(status).with_hint("Perhaps you meant the option " + quoted(nearest) + ".");
  std::string list;
  for (std::string_view option : known) list += (list.empty() ? "" : ", ") + std::string(option);
  return std::move(status).with_hint("Valid options in this context are: " + list + ".");
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

Status add_path(std::string_view option, std::string_view path, std::vector<std::string>* paths) {
  if (path.empty()) return bad_option("option " + quoted(option) + " has an empty path");
  if (path.front() != '/')
    return bad_option("option " + quoted(option) + " needs an absolute path, not " + quoted(path));
  paths->emplace_back(path);
  return Status::ok();
}

Status add_path_list(std::string_view list, std::vector<std::string>* paths) {
  for (;;) {
    const size_t comma = list.find(',');
    STROM_TRY(add_path("files", trim(list.substr(0, comma)), paths));
    if (comma == std::string_view::npos) return Status::ok();
    list.remove_prefix(comma + 1);
  }
}

Result<int> parse_workers(std::string_view text) {
  int workers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
  if (error != std::errc() || end != text.data() + text.size() || workers < 0 || workers > kMaxParallelWorkers)
    return bad_option("option \"parallel_workers\" needs a number from 0 to " + std::to_string(kMaxParallelWorkers));
  return workers;
}

Result<bool> parse_truth(const Option& option) {
  bool value = false;
  if (!parse_bool(option.value.c_str(), &value))
    return bad_option("option " + quoted(option.name) + " needs a Boolean value");
  return value;
}

Result<int64_t> parse_number(const Option& option, int64_t most) {
  int64_t number = 0;
  const char* end = option.value.data() + option.value.size();
  const auto parsed = std::from_chars(option.value.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 1 || number > most)
    return bad_option("option " + quoted(option.name) + " needs a number from 1 to " + std::to_string(most));
  return number;
}

/// Sets an option of writable tables.
Status set_write_option(const Option& option, TableOptions* result) {
  constexpr int64_t kKilobyte = 1024, kMostKilobytes = 1 << 20, kMostRows = INT32_MAX;
  if (option.name == "writable") {
    STROM_ASSIGN(result->writable, parse_truth(option));
  } else if (option.name == "statistics") {
    STROM_ASSIGN(result->statistics, parse_truth(option));
  } else if (option.name == "batch_rows") {
    STROM_ASSIGN(result->batch_rows, parse_number(option, kMostRows));
  } else if (option.name == "batch_size") {
    STROM_ASSIGN(const int64_t kilobytes, parse_number(option, kMostKilobytes));
    result->batch_bytes = kilobytes * kKilobyte;
  } else if (option.name == "compression") {
    if (!format::arrow::parse_compression(option.value).is_ok())
      return bad_option("option \"compression\" needs none, lz4, zstd or zstd:LEVEL");
    result->compression = option.value;
  } else {
    return unknown_option(option.name, kTableOptions);
  }
  return Status::ok();
}

Status set_option(const Option& option, TableOptions* result) {
  if (option.name == "file") return add_path("file", option.value, &result->files);
  if (option.name == "files") return add_path_list(option.value, &result->files);
  if (option.name == "dir") {
    std::vector<std::string> paths;
    STROM_TRY(add_path("dir", option.value, &paths));
    result->dir = std::move(paths.front());
  } else if (option.name == "suffix") {
    if (option.value.empty()) return bad_option("option \"suffix\" is empty");
    result->suffix = (option.value.front() == '.' ? "" : ".") + option.value;
  } else if (option.name == "pattern") {
    STROM_ASSIGN(result->pattern, PathPattern::parse(option.value));
  } else if (option.name == "missing_columns") {
    if (option.value != "null" && option.value != "error")
      return bad_option("option \"missing_columns\" is \"null\" or \"error\", not " + quoted(option.value));
    result->missing_is_null = option.value == "null";
  } else if (option.name == "parallel_workers") {
    STROM_ASSIGN(result->parallel_workers, parse_workers(option.value));
  } else {
    return set_write_option(option, result);
  }
  return Status::ok();
}

ColumnSource::Kind kind_of(std::string_view option) {
  using Kind = ColumnSource::Kind;
  if (option == "virtual") return Kind::kPath;
  if (option == "virtual_metadata") return Kind::kMetadata;
  if (option == "virtual_metadata_split") return Kind::kMetadataSplit;
  return Kind::kField;
}

Result<ColumnSource> parse_column_options(std::span<const Option> options) {
  ColumnSource source;
  std::string_view first;
  for (const Option& option : options) {
    if (std::find(std::begin(kColumnOptions), std::end(kColumnOptions), option.name) == std::end(kColumnOptions))
      return unknown_option(option.name, kColumnOptions);
    if (!first.empty())
      return bad_option("options " + quoted(first) + " and " + quoted(option.name) + " exclude each other");
    first = option.name;
    source = {kind_of(option.name), option.value};
    if (source.kind == ColumnSource::Kind::kField) continue;
    if (option.value.empty()) return bad_option("option " + quoted(option.name) + " is empty");
    const bool is_special = source.kind == ColumnSource::Kind::kPath && option.value.front() == '@';
    if (is_special && option.value != kPathName && option.value != kFileName)
      return bad_option("option \"virtual\" does not know " + quoted(option.value))
          .with_hint("Keys that begin with @ are @pathname and @filename.");
  }
  return source;
}

}  // namespace

Result<codec::NamedTypes> parse_named_types(const std::string& value) {
  if (value == "trusted") return codec::NamedTypes::kTrusted;
  if (value == "any") return codec::NamedTypes::kAny;
  return bad_option("option \"named_types\" needs trusted or any");
}

Result<ImportOptions> take_import_options(std::vector<Option>* options) {
  ImportOptions result;
  for (size_t i = 0; i < options->size(); ++i) {
    if ((*options)[i].name != "named_types") continue;
    STROM_ASSIGN(result.named_types, parse_named_types((*options)[i].value));
    options->erase(options->begin() + static_cast<std::ptrdiff_t>(i--));
  }
  return result;
}

static bool has_file(std::span<const Option> options) {
  return std::any_of(options.begin(), options.end(), [](const Option& option) { return option.name == "file"; });
}

Result<TableOptions> parse_table_options(std::span<const Option> options) {
  TableOptions result;
  int sources = 0;
  for (const Option& option : options) {
    STROM_TRY(set_option(option, &result));
    sources += option.name == "file" || option.name == "files" || option.name == "dir";
  }
  if (sources == 0) return bad_option("one of the options \"file\", \"files\" and \"dir\" is required");
  if (sources > 1) return bad_option("options \"file\", \"files\" and \"dir\" exclude each other");
  if (result.writable && !has_file(options)) return bad_option("option \"writable\" needs option \"file\"");
  if (!result.suffix.empty() && result.dir.empty()) return bad_option("option \"suffix\" needs option \"dir\"");
  return result;
}

Result<ColumnSource> column_source(const catalog::ForeignColumn& column) {
  STROM_ASSIGN(ColumnSource source, parse_column_options(column.options));
  if (column.options.empty()) source.name = column.name;
  return source;
}

void require_file_privilege() {
  const bool allowed = boundary::guard([] { return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES); });
  if (allowed) return;
  boundary::throw_if_failed(
      Status(ErrorCode::kPermissionDenied, "permission denied to read Arrow files of the server")
          .with_hint("Only roles with privileges of the role \"pg_read_server_files\" may name files to read."));
}

void require_write_privilege() {
  const bool allowed = boundary::guard([] { return has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES); });
  if (allowed) return;
  boundary::throw_if_failed(
      Status(ErrorCode::kPermissionDenied, "permission denied to write Arrow files of the server")
          .with_hint("Only roles with privileges of the role \"pg_write_server_files\" may name files to write."));
}

/// Refuses a name with wildcards: it names no single file.
static void refuse_wildcards(const std::string& path) {
  const size_t wildcard = path.find_first_of("*?");
  struct stat existing;
  if (wildcard == std::string::npos || lstat(path.c_str(), &existing) == 0) return;
  const size_t slash = path.rfind('/', wildcard);
  std::string pattern = path.substr(slash + 1);
  std::replace(pattern.begin(), pattern.end(), '?', '*');
  boundary::throw_if_failed(
      bad_option("options \"file\" and \"files\" name files, not patterns such as " + quoted(path))
          .with_hint("Use the options \"dir\" and \"pattern\": dir '" + path.substr(0, std::max<size_t>(slash, 1)) +
                     "', pattern '" + pattern + "'."));
}

void validate_options(std::span<const Option> options, Oid catalog) {
  if (catalog == ForeignTableRelationId) {
    const TableOptions parsed = boundary::value_or_throw(parse_table_options(options));
    require_file_privilege();
    if (parsed.writable) require_write_privilege();
    for (const std::string& path : parsed.files) refuse_wildcards(path);
    return;
  }
  if (catalog == AttributeRelationId) {
    const ColumnSource source = boundary::value_or_throw(parse_column_options(options));
    if (source.kind == ColumnSource::Kind::kPath) require_file_privilege();  // the owner need not know paths
  } else if (!options.empty()) {
    boundary::throw_if_failed(unknown_option(options.front().name, {}));
  }
}

}  // namespace strom::pg::files
