// See file_list.hpp.
#include "pg/files/file_list.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/files/options.hpp"

namespace strom::pg::files {

namespace {

constexpr std::string_view kAnyFolders = "**";
// Hive's name for the folder of rows whose key is NULL.
constexpr std::string_view kNullFolder = "__HIVE_DEFAULT_PARTITION__";

struct CloseDir {
  void operator()(DIR* handle) const { closedir(handle); }
};

std::string joined(const std::string& folder, std::string_view name) {
  return folder + (folder.back() == '/' ? "" : "/") + std::string(name);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Decodes %XX, which Hive writes for characters that folders' names cannot have. %00 stays unchanged.
std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0 && (high | low) != 0) {
      result += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// Calls use(key, value) for each folder of `path` called KEY=VALUE.
template <class Use>
void each_folder_value(std::string_view path, Use use) {
  for (size_t end; (end = path.find('/')) != std::string_view::npos; path.remove_prefix(end + 1)) {
    const std::string_view folder = path.substr(0, end);
    const size_t mark = folder.find('=');
    if (mark != std::string_view::npos && mark > 0) use(folder.substr(0, mark), folder.substr(mark + 1));
  }
}

enum class EntryKind { kFile, kFolder, kOther };

EntryKind kind_of(const std::string& path, unsigned char type) {
  if (type == DT_REG) return EntryKind::kFile;
  if (type == DT_DIR) return EntryKind::kFolder;
  struct stat info;
  if ((type != DT_LNK && type != DT_UNKNOWN) || stat(path.c_str(), &info) != 0) return EntryKind::kOther;
  return S_ISREG(info.st_mode) ? EntryKind::kFile : S_ISDIR(info.st_mode) ? EntryKind::kFolder : EntryKind::kOther;
}

/// Reads a folder, and those below it that the pattern leads to. Main thread; throws only for interrupts.
class Walk {
 public:
  Walk(const TableOptions& options, std::vector<FileEntry>* files) : options_(options), files_(files) {
    if (options.pattern.has_value()) values_.resize(options.pattern->keys().size());
  }

  /// Reads `folder`. Its entries are matched against component `index` of the pattern.
  Status read(const std::string& folder, size_t index) {
    struct stat info;
    std::unique_ptr<DIR, CloseDir> handle(opendir(folder.c_str()));
    if (!handle && errno == ENOENT && !above_.empty()) return Status::ok();  // removed after it was listed
    if (!handle || fstat(dirfd(handle.get()), &info) != 0) return folder_error(folder, errno);
    const std::pair<dev_t, ino_t> identity(info.st_dev, info.st_ino);
    if (std::find(above_.begin(), above_.end(), identity) != above_.end()) return Status::ok();  // a link upwards
    above_.push_back(identity);
    std::vector<Below> below;
    for (errno = 0; const dirent* entry = readdir(handle.get()); errno = 0) {
      if (entry->d_name[0] == '.') continue;
      const std::string_view name = entry->d_name;
      if (options_.pattern.has_value())
        add_matching(folder, name, entry->d_type, index, &below);
      else if (name.ends_with(options_.suffix))
        add_file(joined(folder, name), entry->d_type);
    }
    if (errno != 0) return folder_error(folder, errno);
    handle.reset();  // closed before folders below are opened, to save descriptors
    STROM_TRY(read_below(folder, below));
    above_.pop_back();
    return Status::ok();
  }

 private:
  static Status folder_error(const std::string& folder, int error) {
    return base::os_error(error, "could not read directory \"" + folder + "\"");
  }

  /// A folder that is to be read.
  struct Below {
    std::string name;
    size_t index;                        // of the component for its entries
    const PathPattern::Component* fits;  // the component with keys that its name matches, or nullptr
  };

  void add_matching(const std::string& folder, std::string_view name, unsigned char type, size_t index,
                    std::vector<Below>* below) {
    const auto& components = options_.pattern->components();
    const bool is_any = components[index].any_folders;
    const size_t wanted = is_any ? index + 1 : index;
    const bool is_last = wanted + 1 == components.size();
    std::vector<std::string_view> found;
    const bool fits = components[wanted].name.match(name, &found);
    if (!fits && !is_any) return;
    if (is_last && fits && name.ends_with(options_.suffix)) {
      set_values(components[wanted], found);
      add_file(joined(folder, name), type);
    }
    if (is_last && !is_any) return;
    if (type == DT_REG || kind_of(joined(folder, name), type) != EntryKind::kFolder) return;
    if (!is_last && fits) below->push_back({std::string(name), wanted + 1, &components[wanted]});
    if (is_any) below->push_back({std::string(name), index, nullptr});
  }

  Status read_below(const std::string& folder, const std::vector<Below>& below) {
    for (const Below& next : below) {
      boundary::check_for_interrupts();
      std::vector<std::string_view> found;
      if (next.fits != nullptr && next.fits->name.match(next.name, &found)) set_values(*next.fits, found);
      STROM_TRY(read(joined(folder, next.name), next.index));
    }
    return Status::ok();
  }

  void set_values(const PathPattern::Component& component, const std::vector<std::string_view>& found) {
    for (size_t i = 0; i < found.size(); ++i) values_[component.first_key + i] = found[i];
  }

  void add_file(std::string path, unsigned char type) {
    if (kind_of(path, type) == EntryKind::kFile) files_->push_back({std::move(path), values_});
  }

  const TableOptions& options_;
  std::vector<FileEntry>* files_;
  std::vector<std::string> values_;
  std::vector<std::pair<dev_t, ino_t>> above_;
};

}  // namespace

// Linux's limit. Patterns need not be longer.
constexpr size_t kLongestPath = 4096;

Result<PathPattern> PathPattern::parse(std::string_view text) {
  PathPattern pattern;
  const auto bad = [text](const char* what) {
    return Status(ErrorCode::kBadOption, "pattern \"" + std::string(text.substr(0, 256)) + "\" " + what);
  };
  if (text.size() > kLongestPath) return bad("is too long");
  int any = 0;
  for (std::string_view rest = text;;) {
    const size_t end = rest.find('/');
    const std::string_view part = rest.substr(0, end);
    Component component;
    component.any_folders = part == kAnyFolders;
    component.first_key = pattern.keys_.size();
    if (part.empty()) return bad(text.empty() ? "is empty" : "has an empty component");
    if (component.any_folders && ++any > 1) return bad("has \"**\" twice");
    if (component.any_folders && end == std::string_view::npos) return bad("ends with \"**\"");
    if (!component.any_folders) {
      STROM_ASSIGN(component.name, base::NamePattern::parse(part));
    }
    for (const auto& key : component.name.keys()) {
      if (std::any_of(pattern.keys_.begin(), pattern.keys_.end(), [&](const auto& k) { return k.name == key.name; }))
        return bad(("has the key \"" + key.name + "\" twice").c_str());
      pattern.keys_.push_back(key);
    }
    pattern.components_.push_back(std::move(component));
    if (end == std::string_view::npos) return pattern;
    rest.remove_prefix(end + 1);
  }
}

bool PathPattern::match(std::string_view path, std::vector<std::string>* values) const {
  values->assign(keys_.size(), {});
  if (path.size() > kLongestPath) return false;  // longer than any file's path
  return match_before(path, components_.size(), values);
}

// Matches components [0, count), beginning with the last one.
bool PathPattern::match_before(std::string_view path, size_t count, std::vector<std::string>* values) const {
  if (count == 0) return true;
  const Component& component = components_[count - 1];
  if (component.any_folders) {
    for (;;) {
      if (match_before(path, count - 1, values)) return true;
      const size_t slash = path.rfind('/');
      if (slash == std::string_view::npos) return false;
      path = path.substr(0, slash);
    }
  }
  const size_t slash = path.rfind('/');
  const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  std::vector<std::string_view> found;
  if (path.empty() || !component.name.match(path.substr(begin), &found)) return false;
  for (size_t i = 0; i < found.size(); ++i) (*values)[component.first_key + i] = found[i];
  return match_before(path.substr(0, slash == std::string_view::npos ? 0 : slash), count - 1, values);
}

Result<std::vector<FileEntry>> list_files(const TableOptions& options) {
  std::vector<FileEntry> files;
  if (options.dir.empty()) {
    for (const std::string& path : options.files) {
      FileEntry entry{path, {}};
      if (!options.pattern.has_value() || options.pattern->match(path, &entry.values))
        files.push_back(std::move(entry));
    }
    return files;
  }
  STROM_TRY(Walk(options, &files).read(options.dir, 0));
  std::sort(files.begin(), files.end(), [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
  return files;
}

std::optional<std::string> folder_value(std::string_view path, std::string_view key) {
  std::optional<std::string_view> found;
  each_folder_value(path, [&](std::string_view name, std::string_view value) {
    if (unescaped(name) == key) found = value;
  });
  if (!found.has_value() || *found == kNullFolder) return std::nullopt;
  return unescaped(*found);
}

std::vector<std::string> folder_keys(std::string_view path) {
  std::vector<std::string> keys;
  each_folder_value(path, [&](std::string_view name, std::string_view) {
    std::string key = unescaped(name);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  });
  return keys;
}

}  // namespace strom::pg::files
