// arrow2csv: rows of Arrow files as CSV, tab-separated values, JSON lines or a Markdown table.
#include <unistd.h>

#include <string>
#include <vector>

#include "arrow2csv/export.hpp"
#include "arrow_files/open_file.hpp"
#include "arrow_files/report.hpp"
#include "arrow_files/sql_table.hpp"
#include "arrow_files/workers.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"

namespace strom::tool {

namespace {

using format::csv::Style;

struct Settings {
  std::vector<std::string> files;
  OutputOptions output{"-", false, {}, {}};
  ProgressOptions progress;
  ExportOptions rows;
  std::string format = "csv";
  std::string delimiter, quote, binary = "text";
  std::optional<std::string> null_text;
  std::string table, tablespace, partition_of;
  int64_t threads = 0, limit = -1;
  bool meta = false, csv = false, tsv = false, json = false, markdown = false;
};

void add_options(OptionTable& table, Settings& settings) {
  table.files(&settings.files, "Arrow files; several must have columns of the same names; - is standard input");
  table.group("Output");
  add_output_options(table, &settings.output, "file to write (default: standard output)");
  table.text(0, "format", "FORMAT", &settings.format, "what the rows look like")
      .one_of({"csv", "tsv", "ndjson", "markdown"});
  table.flag(0, "csv", &settings.csv, "--format=csv, the default: as of COPY … (FORMAT csv), and RFC 4180");
  table.flag(0, "tsv", &settings.tsv, "--format=tsv: as of COPY, tabs between, \\N for null");
  table.flag(0, "ndjson", &settings.json, "--format=ndjson: a JSON object on each line").also("jsonl");
  table.flag(0, "markdown", &settings.markdown, "--format=markdown: a table");
  table.exclusive({"csv", "tsv", "ndjson", "markdown"});
  table.exclusive({"format", "csv"});
  table.exclusive({"format", "tsv"});
  table.exclusive({"format", "ndjson"});
  table.exclusive({"format", "markdown"});
  table.flag(0, "header", &settings.rows.header, "begin with the names of the columns (Markdown always does)");
  table.text('d', "delimiter", "CHAR", &settings.delimiter, "between values (CSV and TSV)");
  table.text(0, "quote", "CHAR", &settings.quote, "around values that need it (CSV)");
  table.flag(0, "quote-all", &settings.rows.text.quote_all, "quote every value that is not null (CSV)");
  table.custom(
      0, "null", "TEXT",
      [&settings](const std::string& text) {
        settings.null_text = text;
        return Status::ok();
      },
      "what stands for null (default: nothing; \\N in TSV)");
  table
      .text(0, "binary", "FORM", &settings.binary,
            "columns of bytes of fixed size: text (default), as Arrow_Fdw reads them, or hex")
      .one_of({"text", "hex"});
  table.group("Rows and columns");
  table.list(0, "columns", "COLUMNS", &settings.rows.columns, "only these columns, in this order");
  table.number(0, "offset", &settings.rows.offset, 0, INT64_MAX, "rows to leave out at the beginning");
  table.number(0, "limit", &settings.limit, 0, INT64_MAX, "rows to write at most");
  table.flag(0, "meta", &settings.meta, "print columns, statistics, metadata and record batches instead of rows");
  for (const char* other : {"header", "columns", "offset", "limit", "create-table"}) table.exclusive({"meta", other});
  table.group("SQL script");
  table.text(0, "create-table", "NAME", &settings.table,
             "write a script for psql: CREATE TABLE, and COPY with the rows as TSV");
  table.text(0, "tablespace", "NAME", &settings.tablespace, "tablespace of the table");
  table.text(0, "partition-of", "PARENT", &settings.partition_of,
             "make the table a partition: the parent's name, and FOR VALUES … if it is not the default partition");
  for (const char* other : {"header", "format", "csv", "ndjson", "markdown", "delimiter", "null"})
    table.exclusive({other, "create-table"});
  table.group("General");
  add_threads_option(table, &settings.threads);
  add_progress_option(table, &settings.progress);
  table.example("arrow2csv --header lineorder.arrow -o lineorder.csv", "a file of comma-separated values");
  table.example("arrow2csv --limit=5 --markdown --columns=lo_orderkey,lo_revenue lineorder.arrow",
                "a look at some rows");
  table.example("arrow2csv --create-table=public.t data.arrow | psql shop", "a copy as a table of PostgreSQL");
}

Status usage(std::string message) { return Status(ErrorCode::kInvalidParameter, std::move(message)); }

Status one_character(const std::string& text, const char* option, char* target) {
  if (text.empty()) return Status::ok();
  if (text == "\\t") {
    *target = '\t';
    return Status::ok();
  }
  if (text.size() != 1) return usage(std::string("--") + option + " takes one character of ASCII");
  *target = text[0];
  return Status::ok();
}

Style style_of(const Settings& settings) {
  // In CSV a line of a text can look like the end of the data, which psql takes it for even between quotes.
  if (!settings.table.empty()) return Style::kTsv;
  if (settings.tsv || settings.format == "tsv") return Style::kTsv;
  if (settings.json || settings.format == "ndjson") return Style::kJsonLines;
  if (settings.markdown || settings.format == "markdown") return Style::kMarkdown;
  return Style::kCsv;
}

Status check(Settings& settings) {
  if (settings.files.empty()) return usage("no file to read; see arrow2csv --help");
  format::csv::TextOptions& text = settings.rows.text;
  text.style = style_of(settings);
  const bool is_csv = text.style == Style::kCsv, is_tsv = text.style == Style::kTsv;
  if (!settings.delimiter.empty() && !is_csv && !is_tsv) return usage("--delimiter needs CSV or TSV");
  if (!is_csv && (!settings.quote.empty() || text.quote_all)) return usage("--quote and --quote-all need CSV");
  if (settings.null_text && text.style == Style::kJsonLines) return usage("--null has no meaning in JSON");
  if (is_tsv) text.delimiter = '\t';
  if (is_tsv) text.null_text = "\\N";
  if (settings.null_text) text.null_text = *settings.null_text;
  STROM_TRY(one_character(settings.delimiter, "delimiter", &text.delimiter));
  STROM_TRY(one_character(settings.quote, "quote", &text.quote));
  if (settings.table.empty() && (!settings.tablespace.empty() || !settings.partition_of.empty()))
    return usage("--tablespace and --partition-of need --create-table");
  text.binary_hex = settings.binary == "hex";
  text.arrays = settings.rows.is_script = !settings.table.empty();
  if (text.style == Style::kMarkdown) settings.rows.header = true;
  if (settings.limit >= 0) settings.rows.limit = settings.limit;
  settings.rows.threads = thread_count(settings.threads);
  return format::csv::RowText::create({}, text).status();  // characters that cannot serve
}

/// CREATE TABLE, and COPY up to where the rows begin.
std::string script_begin(const Settings& settings, const std::vector<columnar::Field>& fields) {
  SqlTable table;
  table.name = settings.table;
  table.tablespace = settings.tablespace;
  const size_t blank = settings.partition_of.find(' ');
  table.partition_of = settings.partition_of.substr(0, blank);
  if (blank != std::string::npos) table.partition_bound = settings.partition_of.substr(blank + 1);
  std::string sql = create_table(fields, table) + "COPY " + quote_table_name(table.name) + " (";
  const std::vector<std::string> names = column_names(fields);
  for (size_t i = 0; i < names.size(); ++i) sql += (i > 0 ? ", " : "") + quote_identifier(names[i]);
  return sql + ") FROM stdin WITH (ENCODING 'UTF8');\n";
}

Status append_text(format::ByteSink& sink, const std::string& text) {
  return sink.append({{const_cast<char*>(text.data()), text.size()}});
}

Status write_metadata(const std::vector<ArrowFile>& files, const Settings& settings) {
  STROM_ASSIGN(const auto sink, open_output(settings.output, true));
  for (const ArrowFile& file : files) {
    STROM_ASSIGN(const std::string text, text_report(*file, {true, true, true}));
    STROM_TRY(append_text(*sink, text));
  }
  return sink->commit();
}

Status run(const Settings& settings) {
  std::vector<ArrowFile> files;
  for (const std::string& path : settings.files) {
    STROM_ASSIGN(files.emplace_back(), open_arrow_file(path));
  }
  if (settings.meta) return write_metadata(files, settings);
  STROM_ASSIGN(const Export rows, Export::plan(std::move(files), settings.rows));
  STROM_ASSIGN(const auto sink, open_output(settings.output, true));
  Progress progress(settings.progress, settings.output.is_stream());
  if (!settings.table.empty()) STROM_TRY(append_text(*sink, script_begin(settings, rows.fields())));
  STROM_TRY(rows.write(*sink, progress));
  if (!settings.table.empty()) STROM_TRY(append_text(*sink, "\\.\n"));
  STROM_TRY(sink->commit());
  progress.finish();
  return Status::ok();
}

}  // namespace

}  // namespace strom::tool

int main(int argc, char** argv) {
  using namespace strom::tool;
  Settings settings;
  OptionTable table(
      "arrow2csv", "rows of Arrow files as text",
      "Writes the rows of Arrow files as CSV, tab-separated values, JSON lines or a Markdown table. Values look as "
      "PostgreSQL prints them (dates and times in ISO form, times with a time zone in UTC), so that COPY reads them "
      "back.\n\n"
      "Several threads make the text, which is written in the order of the rows.");
  add_options(table, settings);
  return run_program(table, argc, argv, [&] { return check(settings); }, [&] { return run(settings); });
}
