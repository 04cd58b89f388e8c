// Variants into the columns of a layout, whatever the form of file is. Used by vcf2arrow.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "format/vcf/layout.hpp"

namespace strom::format::vcf {

struct Dictionary;

/// Appends variants to the builders of Layout::fields(). One thread.
class Variants {
 public:
  /// Lines of text, or, with a dictionary, records of BCF. All stay as long as the object.
  static std::unique_ptr<Variants> create(const Layout& layout, const Dictionary* dictionary,
                                          std::vector<columnar::ColumnBuilder>& columns);
  virtual ~Variants() = default;

  /// Whole lines or records. Errors are of one of them: see failed().
  virtual Status append(std::string_view bytes) = 0;
  /// The variants of one chromosome that bytes begin with. Errors: kCorruptFile.
  struct Run {
    std::string_view bytes, chromosome;
  };
  virtual Result<Run> first_run(std::string_view bytes) const = 0;

  /// Which line or record, from 1 on, of the last append() has an error.
  int64_t failed() const { return failed_; }
  /// Lines or records that the last append() has read.
  int64_t read() const { return read_; }
  Counts counts;

 protected:
  int64_t failed_ = 0, read_ = 0;
};

}  // namespace strom::format::vcf
