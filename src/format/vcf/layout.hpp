// The columns of the Arrow file that a VCF file becomes: those of each line, those of INFO, those of samples. Used by
// vcf2arrow and by the code that fills the columns: columns.cpp from text, records.cpp from BCF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "columnar/labels.hpp"
#include "columnar/schema.hpp"
#include "format/vcf/header.hpp"

namespace strom::format::vcf {

/// The form of the field GT.
enum class Genotypes : uint8_t {
  kText,        // unchanged: 0|1
  kDictionary,  // the same in a dictionary that all samples share, with indexes of 16 bits
  kDosage,      // Int8: how many alleles are the row's; if lines are whole, how many are not the reference
  kLists,       // one column for all samples, a FixedSizeList of Int8: the numbers of all alleles
};

struct ColumnChoice {
  bool is_whole = false;  // lines are not split by allele
  bool numbers_are_texts = false;
  bool wrong_is_null = false;  // malformed numbers become NULL, and are counted
  bool undeclared_is_left_out = false;
  Genotypes genotypes = Genotypes::kText;
  int64_t ploidy = 2;                              // elements for each sample of kLists
  std::vector<std::string> info, format, samples;  // names; empty: all
  bool no_info = false, no_samples = false;
  bool has_end = false;  // a column for the variants' end positions
};

/// What was seen besides the columns.
struct Counts {
  int64_t variants = 0, rows = 0, wrong_numbers = 0, undeclared = 0;
  void add(const Counts& other) {
    variants += other.variants;
    rows += other.rows;
    wrong_numbers += other.wrong_numbers;
    undeclared += other.undeclared;
  }
};

/// The columns that every line has, in this order.
enum FixedColumn : size_t { kChrom, kPos, kId, kRef, kAlt, kQual, kFilter, kFirstInfo };

/// The layout, which all threads share. Fields are the fixed ones, then info__ID of each chosen field, then samples__GT
/// if genotypes are lists, then sampleN__ID of each chosen sample, N from 1 on, then end_pos if it is chosen.
class Layout {
 public:
  enum class Form : uint8_t { kFlag, kInteger, kFloat, kText, kIntegers, kFloats, kTexts, kDosage, kLabel };
  struct Target {
    std::string id;
    Form form = Form::kText;
    Count count = Count::kAny;
  };
  // Answers of find_info() and find_format() for keys that are not targets.
  static constexpr int kNotChosen = -1, kUnknown = -2, kAlleles = -3;

  /// Errors: kInvalidParameter for names that the header does not have, and lists that would be too long.
  static Result<Layout> create(const Header& header, const ColumnChoice& choice);

  const ColumnChoice& choice() const { return choice_; }
  const std::vector<columnar::Field>& fields() const { return fields_; }
  /// The samples' names, as metadata of the file: sampleN_key.
  const columnar::KeyValues& metadata() const { return metadata_; }

  /// Targets are columns. Those of INFO begin with kFirstInfo.
  const std::vector<Target>& info() const { return info_; }
  /// The targets of a sample.
  const std::vector<Target>& format() const { return format_; }
  int find_info(std::string_view key) const { return find(known_info_, key); }
  int find_format(std::string_view key) const { return find(known_format_, key); }

  /// Labels of the dictionary of genotypes, whose id is kLabelsId; nullptr: no column uses it.
  const std::shared_ptr<columnar::Labels>& labels() const { return labels_; }
  /// Replaces the labels by those of an existing file.
  void set_labels(std::shared_ptr<columnar::Labels> labels) { labels_ = std::move(labels); }
  static constexpr int64_t kLabelsId = 0;

  /// Number of samples that a line has; the chosen samples, in their order.
  size_t line_samples() const { return line_samples_; }
  const std::vector<size_t>& samples() const { return samples_; }
  bool has_alleles() const { return has_alleles_; }
  /// The column of lists, if there is one.
  size_t alleles_column() const { return kFirstInfo + info_.size(); }
  /// Valid with choice().has_end.
  size_t end_column() const { return fields_.size() - 1; }
  size_t sample_column(size_t sample, size_t target) const {
    return kFirstInfo + info_.size() + (has_alleles_ ? 1 : 0) + sample * format_.size() + target;
  }

 private:
  using Known = std::unordered_map<std::string, int>;
  static int find(const Known& known, std::string_view key) {
    const auto found = known.find(std::string(key));
    return found == known.end() ? kUnknown : found->second;
  }
  Target target_of(const FieldDefinition& definition, bool is_format, columnar::Field* field) const;
  Status choose_samples(const Header& header);
  Status add_alleles(const FieldDefinition& definition);

  ColumnChoice choice_;
  std::vector<columnar::Field> fields_;
  columnar::KeyValues metadata_;
  std::vector<Target> info_, format_;
  Known known_info_, known_format_;
  size_t line_samples_ = 0;
  std::vector<size_t> samples_;
  std::shared_ptr<columnar::Labels> labels_;
  bool has_alleles_ = false;
};

}  // namespace strom::format::vcf
