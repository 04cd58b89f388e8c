// Lists the files that the options of a foreign table name: lists, folders, and patterns with keys. Used by everything
// that opens such tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_pattern.hpp"
#include "base/status.hpp"

namespace strom::pg::files {

/// A pattern for the last components of a path; NamePattern matches each component. A component `**` stands for any
/// number of folders, or none.
class PathPattern {
 public:
  /// Errors: kBadOption.
  static Result<PathPattern> parse(std::string_view text);

  struct Component {
    bool any_folders = false;  // `**`
    base::NamePattern name;
    size_t first_key = 0;  // index in keys() of its first key
  };
  const std::vector<Component>& components() const { return components_; }
  const std::vector<base::NamePattern::Key>& keys() const { return keys_; }
  /// True if the pattern covers folders, so that sub-folders are searched.
  bool has_folders() const { return components_.size() > 1; }
  /// Whether the end of `path` matches; `values` gets the values of keys().
  bool match(std::string_view path, std::vector<std::string>* values) const;

 private:
  bool match_before(std::string_view path, size_t component, std::vector<std::string>* values) const;

  std::vector<Component> components_;
  std::vector<base::NamePattern::Key> keys_;
};

/// A file, and the values that the pattern took from its path.
struct FileEntry {
  std::string path;
  std::vector<std::string> values;  // for the pattern's keys
};

struct TableOptions;

/// All files of a table, sorted by path unless the option lists them. Folders contribute their regular files whose
/// names do not begin with a dot. Sub-folders are skipped unless the pattern covers folders. Errors: kFileNotFound,
/// kPermissionDenied, kIoError for a folder that cannot be read.
Result<std::vector<FileEntry>> list_files(const TableOptions& options);

/// The VALUE of the last folder of `path` called KEY=VALUE; nullopt if there is no such folder, or if VALUE stands for
/// NULL.
std::optional<std::string> folder_value(std::string_view path, std::string_view key);

/// The keys of the folders called KEY=VALUE in `path`, in their order.
std::vector<std::string> folder_keys(std::string_view path);

}  // namespace strom::pg::files
