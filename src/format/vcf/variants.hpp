// Appends variants to the columns of a layout, from files of either form. Used by vcf2arrow.
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

/// Appends variants to the builders of Layout::fields(). For one thread.
class Variants {
 public:
  /// For lines of text or, with a dictionary, for records of BCF. All arguments must outlive the object.
  static std::unique_ptr<Variants> create(const Layout& layout, const Dictionary* dictionary,
                                          std::vector<columnar::ColumnBuilder>& columns);
  virtual ~Variants() = default;

  /// Appends whole lines or records. An error belongs to one of them: see failed().
  virtual Status append(std::string_view bytes) = 0;
  /// The leading variants that have the same chromosome. Errors: kCorruptFile.
  struct Run {
    std::string_view bytes, chromosome;
  };
  virtual Result<Run> first_run(std::string_view bytes) const = 0;

  /// The line or record of the last append(), from 1 on, that has the error.
  int64_t failed() const { return failed_; }
  /// Lines or records that the last append() has read.
  int64_t read() const { return read_; }
  Counts counts;

 protected:
  int64_t failed_ = 0, read_ = 0;
};

}  // namespace strom::format::vcf
