// See append.hpp.
#include "pg2arrow/append.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/os_error.hpp"

namespace strom::pg2arrow {

namespace {

using columnar::NestedField;
using format::pgwire::Labels;
using format::pgwire::WireColumn;

/// Dictionaries of the query by those of the file that they become.
struct Fit {
  const format::arrow::ExistingFile& file;
  std::map<int64_t, std::shared_ptr<const Labels>> fitted;  // by the file's number
  std::vector<DictionaryGrowth> growth;

  Status fit(const NestedField& theirs, NestedField& ours, WireColumn& wire);
  Status fit_labels(const NestedField& theirs, WireColumn& wire);
};

Status Fit::fit(const NestedField& theirs, NestedField& ours, WireColumn& wire) {
  if (ours.dictionary >= 0) {
    STROM_TRY(fit_labels(theirs, wire));
    ours.dictionary = theirs.dictionary;
  }
  ours.metadata = theirs.metadata;
  for (size_t i = 0; i < ours.children.size(); ++i)
    STROM_TRY(fit(theirs.children[i], ours.children[i], wire.children[i]));
  return Status::ok();
}

Status Fit::fit_labels(const NestedField& theirs, WireColumn& wire) {
  auto& known = fitted[theirs.dictionary];
  if (known == nullptr) {
    STROM_ASSIGN(std::vector<std::string> labels, file.dictionary(theirs.dictionary));
    std::vector<std::string> added;
    for (const std::string& label : wire.labels->all()) {
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) added.push_back(label);
    }
    labels.insert(labels.end(), added.begin(), added.end());
    known = std::make_shared<Labels>(std::move(labels));
    if (!added.empty()) growth.push_back({theirs.dictionary, std::move(added)});
  }
  for (const std::string& label : wire.labels->all()) {
    if (known->find(label) < 0) {  // two enums that share a dictionary in the file
      return Status(ErrorCode::kUnsupported,
                    "column \"" + theirs.name + "\" shares its dictionary with another column");
    }
  }
  wire.labels = known;
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<AppendLock>> AppendLock::take(const std::string& path) {
  for (;;) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return base::os_error(errno, "could not open file \"" + path + "\"");
    auto lock = std::unique_ptr<AppendLock>(new AppendLock(fd));
    while (flock(fd, LOCK_EX) != 0) {
      if (errno != EINTR) return base::os_error(errno, "could not lock file \"" + path + "\"");
    }
    // Whoever held the lock before has put another file in its place.
    struct stat locked, named;
    if (fstat(fd, &locked) != 0) return base::os_error(errno, "could not look at file \"" + path + "\"");
    if (stat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev && locked.st_ino == named.st_ino) return lock;
  }
}

AppendLock::~AppendLock() { close(fd_); }

Result<std::vector<DictionaryGrowth>> fit_to_file(const format::arrow::ExistingFile& file, const std::string& path,
                                                  std::vector<Column>& columns) {
  const auto& theirs = file.schema.fields;
  const auto differs = [&](const std::string& what) {
    return Status(ErrorCode::kTypeMismatch, "the query does not fit to file \"" + path + "\"").with_detail(what);
  };
  if (theirs.size() != columns.size()) {
    return differs("The file has " + std::to_string(theirs.size()) + " columns, the query " +
                   std::to_string(columns.size()) + ".");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const NestedField& ours = columns[i].field;
    if (theirs[i].name != ours.name || !theirs[i].same_type(ours)) {
      return differs("Column " + std::to_string(i + 1) + " is \"" + theirs[i].name + "\" " +
                     columnar::type_text(theirs[i]) + " in the file and \"" + ours.name + "\" " +
                     columnar::type_text(ours) + " in the query.");
    }
  }
  Fit fit{file, {}, {}};
  for (size_t i = 0; i < columns.size(); ++i) STROM_TRY(fit.fit(theirs[i], columns[i].field, columns[i].wire));
  return std::move(fit.growth);
}

}  // namespace strom::pg2arrow
