// The files that the options of a foreign table name: lists, folders, and patterns with keys. Used by everything that
// opens such tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_pattern.hpp"
#include "base/status.hpp"

namespace strom::pg::files {

/// Pattern of a path's last components, see NamePattern for each; a component `**` is any number of folders, or none.
class PathPattern {
 public:
  /// Errors: kBadOption.
  static Result<PathPattern> parse(std::string_view text);

  struct Component {
    bool any_folders = false;  // `**`
    base::NamePattern name;
    size_t first_key = 0;  // of its keys in keys()
  };
  const std::vector<Component>& components() const { return components_; }
  const std::vector<base::NamePattern::Key>& keys() const { return keys_; }
  /// It is about folders, too, so that those called KEY=VALUE are looked at.
  bool has_folders() const { return components_.size() > 1; }
  /// Whether the end of `path` fits; `values` gets those of keys().
  bool match(std::string_view path, std::vector<std::string>* values) const;

 private:
  bool match_before(std::string_view path, size_t component, std::vector<std::string>* values) const;

  std::vector<Component> components_;
  std::vector<base::NamePattern::Key> keys_;
};

/// A file, and what the pattern took out of its path.
struct FileEntry {
  std::string path;
  std::vector<std::string> values;  // of the pattern's keys
};

struct TableOptions;

/// All files of a table, sorted by path unless they were listed. Of folders the regular files whose names do not begin
/// with a dot; without a pattern about folders, sub-folders are left out. Errors: kFileNotFound, kPermissionDenied,
/// kIoError for a folder that cannot be read.
Result<std::vector<FileEntry>> list_files(const TableOptions& options);

/// The value of VALUE in the last folder of `path` called KEY=VALUE; nullopt where there is none, or where it stands
/// for NULL.
std::optional<std::string> folder_value(std::string_view path, std::string_view key);

/// Keys of the folders called KEY=VALUE in `path`, from the first to the last.
std::vector<std::string> folder_keys(std::string_view path);

}  // namespace strom::pg::files
