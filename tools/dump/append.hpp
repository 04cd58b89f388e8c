// Going on with an existing file, which is whole at any instant: the new file is a copy of the old one's messages, the
// new ones behind them, and takes the old one's name when it is complete and on the disk.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "columnar/labels.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::tool {

/// A dictionary of the output. Its number stands in the fields.
struct Dictionary {
  std::shared_ptr<columnar::Labels> labels;
  bool exists = false;  // in the file that is being written
  int64_t written = 0;  // labels that are in it
};
using Dictionaries = std::map<int64_t, Dictionary>;

/// What rows are made of, however they came.
struct Contents {
  std::vector<columnar::Field> fields;
  Dictionaries dictionaries;
  columnar::KeyValues meanings;  // metadata that say what columns are: a file is fitted to only with the same values
};

/// Fits contents to a file: names and types must be the file's, in order; the file's dictionaries take the place of
/// those of the contents, whose labels are added. kTypeMismatch names the first difference, also of meanings.
Status fit_to_file(const format::arrow::ExistingFile& file, const std::string& path, Contents& contents);

}  // namespace strom::tool
