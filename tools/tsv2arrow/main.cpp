// tsv2arrow: delimited text into Arrow files.
#include <fmt/format.h>

#include "arrow_files/workers.hpp"
#include "cli/program.hpp"
#include "tsv2arrow/convert.hpp"
#include "dump/schema_text.hpp"

namespace strom::tsv2arrow {

namespace {

using tool::OptionTable;
using tool::usage_error;

struct Choices {
  bool csv = false, tsv = false;
  std::string delimiter, quote, escape, comment;
  bool no_quotes = false;
  std::vector<std::string> nulls;
  std::string numeric;
};

void add_input_options(OptionTable& table, Settings& settings, Choices& choices) {
  table.group("Input");
  table.flag(0, "csv", &choices.csv,
             "commas between values, quotes around them (default for names that end in .csv, also compressed ones)");
  table.flag(0, "tsv", &choices.tsv, "as of COPY: tabs between values, backslashes, \\N for NULL");
  table.text(0, "delimiter", "CHAR", &choices.delimiter, "what stands between values");
  table.text(0, "quote", "CHAR", &choices.quote, "what stands around values in CSV (default: \")");
  table.text(0, "escape", "CHAR", &choices.escape,
             "what stands in CSV, inside of quotes, before a quote that does not end them (default: another quote)");
  table.flag(0, "no-quotes", &choices.no_quotes, "quotes (in CSV) and backslashes (in TSV) mean nothing");
  table.text(0, "comment", "CHAR", &choices.comment, "lines that begin with it are left out");
  table.flag(0, "skip-blank", &settings.skip_blank,
             "leaves out blank lines also of a text with one column, where they are rows otherwise");
  table.list(0, "null", "TEXT", &choices.nulls,
             "what stands for NULL, never in quotes; may be repeated (default: nothing in CSV, \\N in TSV)", false);
  table.flag(0, "no-header", &settings.no_header, "the first row has no names; columns are c1, c2, …");
  table.flag(0, "skip-header", &settings.skip_header, "with --schema: the first row has names, which are left out");
  table.text(0, "schema", "COLUMNS", &settings.schema,
             "columns as NAME:TYPE[:EXTRA;…], with commas between; without it types are inferred");
  table.flag(0, "infer-all", &settings.infer_all,
             "infers types from all rows at once, rather than when some of them do not fit");
  table.flag(0, "yes-no", &settings.words_are_bool,
             "columns of yes and no, y and n, on and off are inferred to be Bool, as those of true and false are");
  table
      .text(0, "numeric", "TYPE", &choices.numeric,
            "what numbers with a decimal point are inferred to be: decimal (default), which is exact, or float64")
      .one_of({"decimal", "float64"});
  table.number(0, "offset", &settings.offset, 0, INT64_MAX, "rows to leave out at the beginning");
  table.number(0, "limit", &settings.limit, 0, INT64_MAX, "rows to take at most");
}

Status one_character(const std::string& text, const char* option, char& target) {
  if (text.empty()) return Status::ok();
  if (text == "\\t") return target = '\t', Status::ok();
  if (text.size() != 1 || text[0] == '\n' || text[0] == '\r')
    return usage_error(fmt::format("--{} takes one character of ASCII", option));
  target = text[0];
  return Status::ok();
}

/// One character cannot mean two things.
Status check_characters(const format::csv::Dialect& dialect) {
  const std::pair<const char*, char> all[] = {{"quote", dialect.quote},
                                              {"delimiter", dialect.delimiter},
                                              {"escape", dialect.escape},
                                              {"comment", dialect.comment}};
  for (size_t i = 0; i < std::size(all); ++i) {
    for (size_t k = i + 1; k < std::size(all); ++k) {
      if (all[i].second != 0 && all[i].second == all[k].second)
        return usage_error(fmt::format("--{} and --{} are the same", all[i].first, all[k].first));
    }
  }
  return Status::ok();
}

/// By its name, whether or not it is compressed.
bool is_csv(std::string name) {
  for (const char* end : {".gz", ".zst", ".lz4"}) {
    if (!name.ends_with(end)) continue;
    name.resize(name.size() - std::string_view(end).size());
    break;
  }
  return name.ends_with(".csv");
}

Status check(Settings& settings, const Choices& choices) {
  if (settings.shows_a_file()) return Status::ok();
  if (settings.files.empty()) return usage_error("no file to read; see tsv2arrow --help");
  const bool csv = choices.csv || (!choices.tsv && is_csv(settings.files[0]));
  settings.dialect.delimiter = csv ? ',' : '\t';
  settings.dialect.quote = csv ? '"' : '\0';
  STROM_TRY(one_character(choices.delimiter, "delimiter", settings.dialect.delimiter));
  if (!csv && !choices.quote.empty()) return usage_error("--quote needs --csv");
  STROM_TRY(one_character(choices.quote, "quote", settings.dialect.quote));
  if (!csv && !choices.escape.empty()) return usage_error("--escape needs --csv");
  STROM_TRY(one_character(choices.escape, "escape", settings.dialect.escape));
  if (settings.dialect.escape == settings.dialect.quote) settings.dialect.escape = '\0';
  if (choices.no_quotes) {
    settings.dialect.quote = settings.dialect.escape = '\0';
    settings.dialect.backslashes = false;
  }
  STROM_TRY(one_character(choices.comment, "comment", settings.dialect.comment));
  STROM_TRY(check_characters(settings.dialect));
  settings.dialect.nulls = choices.nulls;
  if (choices.nulls.empty()) settings.dialect.nulls = {csv ? "" : "\\N"};
  settings.reals = choices.numeric == "float64";
  if (settings.skip_header && settings.schema.empty()) return usage_error("--skip-header goes with --schema");
  if (!settings.schema.empty()) STROM_TRY(tool::parse_schema(settings.schema).status());
  return tool::check_dump(settings);
}

Status run(Settings& settings) {
  if (settings.shows_a_file()) return tool::show_file(settings);
  const bool is_named = !settings.output.path.empty() || !settings.append.empty();
  STROM_TRY(tool::choose_output(settings));
  tool::Progress progress(settings.progress, settings.output.is_stream());
  STROM_ASSIGN(const DumpResult result, convert(settings, progress));
  progress.finish();
  tool::report_result("tsv2arrow", settings, is_named, result);
  return Status::ok();
}

int main_of_tool(int argc, char** argv) {
  Settings settings;
  Choices choices;
  OptionTable table("tsv2arrow", "turns delimited text into Apache Arrow files",
                    "Reads comma- or tab-separated values and writes them as an Apache Arrow file, with exact values. "
                    "Types are inferred, or given by --schema; a value that does not fit is an error that names its "
                    "line and column.\n\n"
                    "The file appears under its name when it is complete. An existing file is not overwritten without "
                    "-f.");
  table.files(&settings.files,
              "text files with the same columns, as they are or compressed by gzip, zstd or lz4; - is standard input");
  add_input_options(table, settings, choices);
  tool::add_dump_options(table, settings);
  table.custom(
      'm', "metadata", "KEY=VALUE", [&](const std::string& text) { return tool::add_named(settings.metadata, text); },
      "metadata of the schema; may be repeated");
  tool::add_report_options(table, settings);
  table.group("General");
  tool::add_threads_option(table, &settings.threads);
  table.exclusive({"csv", "tsv"});
  table.exclusive({"no-quotes", "quote"});
  table.exclusive({"no-quotes", "escape"});
  table.exclusive({"output", "append"});
  table.exclusive({"no-header", "skip-header"});
  table.example("tsv2arrow orders.csv -o orders.arrow --stats", "a file with a header; types are inferred");
  table.example("tsv2arrow --schema=id:int64:not_null,day:date,price:decimal(10,2) orders.tsv -o orders.arrow",
                "a file without a header");
  return tool::run_program(table, argc, argv, [&] { return check(settings, choices); }, [&] { return run(settings); });
}

}  // namespace

}  // namespace strom::tsv2arrow

int main(int argc, char** argv) { return strom::tsv2arrow::main_of_tool(argc, argv); }
