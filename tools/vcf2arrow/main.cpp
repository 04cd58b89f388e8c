// vcf2arrow: genome variants into Arrow files.
#include <fmt/format.h>

#include <algorithm>

#include "arrow_files/workers.hpp"
#include "cli/program.hpp"
#include "dump/sql_table.hpp"
#include "vcf2arrow/convert.hpp"
#include "vcf2arrow/sample_groups.hpp"

namespace strom::vcf2arrow {

namespace {

using format::vcf::Genotypes;
using tool::OptionTable;
using tool::usage_error;

void add_column_options(OptionTable& table, Settings& settings, std::string& genotypes) {
  table.group("Rows and columns");
  table.list('r', "regions", "LIST", &settings.regions,
             "variants of these regions only: CHROM, CHROM:POS, CHROM:FROM-TO or CHROM:FROM-; the file needs an index");
  table.list(0, "info", "LIST", &settings.columns.info, "fields of INFO that become columns (default: all)");
  table.list(0, "format", "LIST", &settings.columns.format, "fields of samples that become columns (default: all)");
  table.list(0, "samples", "LIST", &settings.columns.samples, "samples that become columns (default: all)");
  table.flag(0, "end-column", &settings.columns.has_end,
             "a last column, end_pos: the position at which the variant ends, by END of INFO or by REF");
  table.flag(0, "no-info", &settings.columns.no_info, "leaves INFO out");
  table.flag(0, "no-samples", &settings.columns.no_samples, "leaves all samples out");
  table.flag(0, "no-split", &settings.columns.is_whole,
             "one row for each line, with lists for fields that have several values; otherwise one row for each "
             "alternative allele, with its values");
  table
      .text(0, "genotypes", "FORM", &genotypes,
            "GT as text, by a dictionary of all genotypes (default); as text without one; as dosage: how many of the "
            "alleles are the row's; as lists: one column, samples__GT, of all samples' alleles as numbers")
      .one_of({"dictionary", "text", "dosage", "lists"});
  constexpr int64_t kMostPloidy = 100;
  table.number(0, "ploidy", &settings.ploidy, 1, kMostPloidy,
               "alleles that a sample has in lists of genotypes (default 2)");
  table.group("Values that do not fit");
  table.flag(0, "unconvertible-numeric-as-null", &settings.columns.wrong_is_null,
             "numbers that are none are NULL; otherwise they are an error that names the line");
  table
      .flag(0, "disable-numeric-conversion", &settings.columns.numbers_are_texts,
            "keeps numbers of INFO and of samples as text")
      .also("disable-numaric-conversion");
  table.flag(0, "skip-undeclared", &settings.columns.undeclared_is_left_out,
             "leaves out fields that the header does not have; otherwise they are an error");
}

Status check(Settings& settings, const std::string& genotypes) {
  if (settings.shows_a_file()) return Status::ok();
  if (settings.files.empty()) return usage_error("no file to read; see vcf2arrow --help");
  if (genotypes.empty() || genotypes == "dictionary") settings.columns.genotypes = Genotypes::kDictionary;
  if (genotypes == "dosage") settings.columns.genotypes = Genotypes::kDosage;
  if (genotypes == "lists") settings.columns.genotypes = Genotypes::kLists;
  if (settings.ploidy > 0 && genotypes != "lists") return usage_error("--ploidy needs --genotypes=lists");
  if (settings.ploidy > 0) settings.columns.ploidy = settings.ploidy;
  if (settings.statistics.empty() && !settings.output.is_stream()) {
    settings.statistics = {"chrom", "pos"};
    if (settings.columns.has_end) settings.statistics.push_back("end_pos");
  }
  if (!settings.partition_by.empty() && settings.partition_by != std::vector<std::string>{"chrom"})
    return usage_error("--partition-by takes nothing but chrom");
  if (!settings.groups_file.empty()) {
    if (settings.output.path.empty() || settings.output.is_stream())
      return usage_error("--sample-groups needs a folder given by -o");
    if (std::find(settings.files.begin(), settings.files.end(), "-") != settings.files.end())
      return usage_error("--sample-groups reads files once for each group, which standard input cannot be");
  }
  return tool::check_dump(settings);
}

void report(const format::vcf::Counts& counts) {
  if (counts.wrong_numbers > 0)
    tool::report_warning("vcf2arrow", fmt::format("{} values that are no numbers are NULL", counts.wrong_numbers));
  if (counts.undeclared > 0)
    tool::report_warning(
        "vcf2arrow", fmt::format("{} values of fields that the header does not have were left out", counts.undeclared));
}

/// A pass for each group of samples, or one.
Result<Converted> convert_all(const Settings& settings, tool::Progress& progress) {
  if (settings.groups_file.empty()) return convert(settings, progress);
  STROM_ASSIGN(const std::vector<SampleGroup> groups, read_sample_groups(settings.groups_file));
  STROM_TRY(check_groups(settings, groups));
  Converted all;
  for (const SampleGroup& group : groups) {
    Settings own = settings;
    own.group = group.name;
    own.columns.samples = group.samples;
    own.partition_by.insert(own.partition_by.begin(), "group");
    STROM_ASSIGN(const Converted one, convert(own, progress));
    all.output.path = one.output.path;
    all.output.files += one.output.files;
    all.output.batches += one.output.batches;
    all.output.rows += one.output.rows;
    all.counts.add(one.counts);
  }
  return all;
}

Status run(Settings& settings) {
  if (settings.shows_a_file()) return tool::show_file(settings);
  if (!settings.schema_table.empty()) {
    columnar::Schema schema;
    STROM_ASSIGN(schema.fields, columns_of(settings));
    fmt::print("{}", tool::create_dumped_table(schema, settings.schema_table));
    return Status::ok();
  }
  const bool is_named = !settings.output.path.empty() || !settings.append.empty();
  STROM_TRY(tool::choose_output(settings));
  tool::Progress progress(settings.progress, settings.output.is_stream());
  STROM_ASSIGN(const Converted converted, convert_all(settings, progress));
  progress.finish();
  report(converted.counts);
  tool::report_result("vcf2arrow", settings, is_named, converted.output);
  return Status::ok();
}

int main_of_tool(int argc, char** argv) {
  Settings settings;
  std::string genotypes;
  OptionTable table(
      "vcf2arrow", "turns genome variants into Apache Arrow files",
      "Reads VCF files of the versions 4.0 to 4.4, as they are or compressed by bgzip or gzip, and BCF files, "
      "and writes them as an Apache Arrow file: a row for each alternative allele, a column for each field of "
      "INFO (info__ID) and of each sample (sample1__ID). The header says which types they have.\n\n"
      "The file appears under its name when it is complete. An existing file is not overwritten without "
      "-f.");
  table.files(&settings.files, "VCF or BCF files with the same fields and samples; - is standard input");
  add_column_options(table, settings, genotypes);
  tool::add_dump_options(table, settings);
  table.list(0, "partition-by", "COLUMNS", &settings.partition_by,
             "only chrom: a file for each chromosome, chrom=NAME/part-00001.arrow below the folder given by -o");
  table
      .text(
          0, "sample-groups", "FILE", &settings.groups_file,
          "a file for each group of samples, group=NAME/part-00001.arrow below the folder given by -o; FILE has lines "
          "with a sample, a tab and its group")
      .file();
  table
      .custom(
          'm', "metadata", "KEY=VALUE",
          [&](const std::string& text) { return tool::add_named(settings.metadata, text); },
          "metadata of the schema; may be repeated")
      .also("user-metadata");
  tool::add_report_options(table, settings);
  table.group("Instead of converting");
  table.text(0, "schema", "NAME", &settings.schema_table, "shows the columns as CREATE TABLE of that name");
  table.group("General");
  tool::add_threads_option(table, &settings.threads);
  table.exclusive({"output", "append"});
  table.exclusive({"info", "no-info"});
  table.exclusive({"samples", "no-samples", "sample-groups"});
  table.exclusive({"format", "no-samples"});
  table.exclusive({"genotypes", "no-samples"});
  table.exclusive({"append", "sample-groups"});
  table.example("vcf2arrow variants.vcf.gz -o variants.arrow", "all fields of all samples");
  table.example("vcf2arrow -r chr20:1000000-2000000 --no-samples --info=AF,AC variants.bcf -o region.arrow",
                "two fields of the variants of a region");
  table.example("vcf2arrow --genotypes=dosage --format=GT cohort.vcf.gz -o dosages.arrow", "numbers of alleles");
  table.example("vcf2arrow --genotypes=lists --format=GT --no-split cohort.bcf -o matrix.arrow",
                "a list of all samples' alleles for each variant");
  return tool::run_program(
      table, argc, argv, [&] { return check(settings, genotypes); }, [&] { return run(settings); });
}

}  // namespace

}  // namespace strom::vcf2arrow

int main(int argc, char** argv) { return strom::vcf2arrow::main_of_tool(argc, argv); }
