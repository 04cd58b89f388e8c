// Parsing and checking of the options, and listing of files.
#include "pg/fdw_arrow/options.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

#include "base/nearest_name.hpp"
#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::fdw_arrow {

using catalog::Option;

namespace {

constexpr std::string_view kTableOptions[] = {"file", "files", "dir", "suffix", "parallel_workers"};
constexpr std::string_view kColumnOptions[] = {"field"};
constexpr int kMaxParallelWorkers = 1024;  // as for the storage parameter parallel_workers

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
  } else if (option.name == "parallel_workers") {
    STROM_ASSIGN(result->parallel_workers, parse_workers(option.value));
  } else {
    return unknown_option(option.name, kTableOptions);
  }
  return Status::ok();
}

Status folder_error(const std::string& dir, int error) {
  return base::os_error(error, "could not read directory \"" + dir + "\"");
}

struct CloseDir {
  void operator()(DIR* handle) const { closedir(handle); }
};

}  // namespace

Result<TableOptions> parse_table_options(std::span<const Option> options) {
  TableOptions result;
  int sources = 0;
  for (const Option& option : options) {
    STROM_TRY(set_option(option, &result));
    sources += option.name == "file" || option.name == "files" || option.name == "dir";
  }
  if (sources == 0) return bad_option("one of the options \"file\", \"files\" and \"dir\" is required");
  if (sources > 1) return bad_option("options \"file\", \"files\" and \"dir\" exclude each other");
  if (!result.suffix.empty() && result.dir.empty()) return bad_option("option \"suffix\" needs option \"dir\"");
  return result;
}

std::string field_name_of(const catalog::ForeignColumn& column) {
  for (const Option& option : column.options)
    if (option.name == "field") return option.value;
  return column.name;
}

Result<std::vector<std::string>> list_files(const TableOptions& options) {
  if (options.dir.empty()) return options.files;
  std::unique_ptr<DIR, CloseDir> handle(opendir(options.dir.c_str()));
  if (!handle) return folder_error(options.dir, errno);
  std::vector<std::string> files;
  for (errno = 0; const dirent* entry = readdir(handle.get()); errno = 0) {
    const std::string_view name = entry->d_name;
    if (name.front() == '.' || !name.ends_with(options.suffix)) continue;
    std::string path = options.dir + (options.dir.back() == '/' ? "" : "/") + std::string(name);
    struct stat info;
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) files.push_back(std::move(path));
  }
  if (errno != 0) return folder_error(options.dir, errno);
  std::sort(files.begin(), files.end());
  return files;
}

void require_file_privilege() {
  const bool allowed = boundary::guard([] { return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES); });
  if (allowed) return;
  boundary::throw_if_failed(
      Status(ErrorCode::kPermissionDenied, "permission denied to read Arrow files of the server")
          .with_hint("Only roles with privileges of the role \"pg_read_server_files\" may name files to read."));
}

void validate_options(std::span<const Option> options, Oid catalog) {
  if (catalog == ForeignTableRelationId) {
    boundary::throw_if_failed(parse_table_options(options).status());
    require_file_privilege();
    return;
  }
  const bool column = catalog == AttributeRelationId;
  for (const Option& option : options) {
    const std::span<const std::string_view> known = column ? kColumnOptions : std::span<const std::string_view>();
    if (std::find(known.begin(), known.end(), option.name) == known.end())
      boundary::throw_if_failed(unknown_option(option.name, known));
  }
}

}  // namespace strom::pg::fdw_arrow
