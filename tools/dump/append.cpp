// See append.hpp.
#include "dump/append.hpp"

#include <algorithm>
#include <utility>

#include "format/arrow/statistics/statistics_text.hpp"

namespace strom::tool {

namespace {

using columnar::Field;
using columnar::Labels;

/// Dictionaries of the contents by those of the file that they become.
struct Fit {
  const format::arrow::ExistingFile& file;
  const Dictionaries& ours;
  Dictionaries fitted;  // by the file's numbers

  Status fit(const Field& theirs, Field& field);
  Status fit_labels(const Field& theirs, const std::shared_ptr<Labels>& labels);
};

Status Fit::fit(const Field& theirs, Field& field) {
  if (field.dictionary) {
    STROM_TRY(fit_labels(theirs, ours.at(field.dictionary_id).labels));
    field.dictionary_id = theirs.dictionary_id;
  }
  field.metadata = theirs.metadata;
  for (size_t i = 0; i < field.children.size(); ++i) STROM_TRY(fit(theirs.children[i], field.children[i]));
  return Status::ok();
}

Status Fit::fit_labels(const Field& theirs, const std::shared_ptr<Labels>& labels) {
  Dictionary& known = fitted[theirs.dictionary_id];
  const std::vector<std::string> wanted = labels->all();
  if (known.labels == nullptr) {
    STROM_ASSIGN(std::vector<std::string> all, file.dictionary(theirs.dictionary_id));
    known.exists = true;
    known.written = static_cast<int64_t>(all.size());
    for (const std::string& label : wanted) {
      if (std::find(all.begin(), all.end(), label) == all.end()) all.push_back(label);
    }
    known.labels = std::make_shared<Labels>(std::move(all), labels->grows());
  }
  for (const std::string& label : wanted) {
    if (known.labels->find(label) < 0) {  // two enums that share a dictionary in the file
      return Status(ErrorCode::kUnsupported,
                    "column \"" + theirs.name + "\" shares its dictionary with another column");
    }
  }
  return Status::ok();
}

}  // namespace

Status fit_to_file(const format::arrow::ExistingFile& file, const std::string& path, Contents& contents) {
  const auto& theirs = file.schema.fields;
  const auto differs = [&](const std::string& what) {
    return Status(ErrorCode::kTypeMismatch, "the query does not fit to file \"" + path + "\"").with_detail(what);
  };
  if (theirs.size() != contents.fields.size()) {
    return differs("The file has " + std::to_string(theirs.size()) + " columns, the query " +
                   std::to_string(contents.fields.size()) + ".");
  }
  for (size_t i = 0; i < theirs.size(); ++i) {
    const Field& ours = contents.fields[i];
    if (theirs[i].name != ours.name || !same_type(theirs[i], ours)) {
      return differs("Column " + std::to_string(i + 1) + " is \"" + theirs[i].name + "\" " +
                     columnar::type_text(theirs[i]) + " in the file and \"" + ours.name + "\" " +
                     columnar::type_text(ours) + " in the query.");
    }
  }
  for (const auto& [key, ours] : contents.meanings) {
    const std::string* other = format::arrow::find_value(file.schema.metadata, key);
    if (other != nullptr && *other != ours)
      return Status(ErrorCode::kTypeMismatch, "the columns of file \"" + path + "\" are of something else")
          .with_detail(key + " is \"" + *other + "\" in the file and \"" + ours + "\" in what is appended.")
          .with_hint("Append it to a file of the same " + key + ", or write another file.");
  }
  Fit fit{file, contents.dictionaries, {}};
  for (size_t i = 0; i < theirs.size(); ++i) STROM_TRY(fit.fit(theirs[i], contents.fields[i]));
  contents.dictionaries = std::move(fit.fitted);
  return Status::ok();
}

}  // namespace strom::tool
