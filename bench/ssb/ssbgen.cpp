// ssbgen: makes the tables of the Star Schema Benchmark, as Arrow files or as a binary COPY stream. Called by
// bench/ssb/run.py, and by hand.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/nearest_name.hpp"
#include "format/arrow/write/writer.hpp"
#include "ssb/copy_format.hpp"
#include "ssb/generate.hpp"

namespace strom::ssb {
namespace {

constexpr int kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitInterrupted = 130;

std::atomic<bool> stop_requested = false;

struct Options {
  double scale = 1;
  uint64_t seed = 1;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int64_t batch_rows = int64_t{1} << 20;
  std::string out;
  std::string format = "arrow";
  std::vector<std::string> tables;
  bool force = false;
};

/// Shows rows and speed of one table on stderr: on a terminal it rewrites the line, else it prints one line at the end.
class Progress {
 public:
  Progress(Table table, int64_t batches) : table_(table), batches_(batches) {}

  void add(int64_t rows) {
    rows_ += rows;
    ++done_;
    if (isatty(STDERR_FILENO))
      fmt::print(stderr, "\r{:<10} {:>12} rows {:>4}%", table_name(table_), rows_, 100 * done_ / batches_);
  }
  void finish() const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    fmt::print(stderr, "{}{:<10} {:>12} rows {:>8.2f} s\n", isatty(STDERR_FILENO) ? "\r" : "", table_name(table_),
               rows_, seconds);
  }

 private:
  Table table_;
  int64_t batches_, rows_ = 0, done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Status write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Status(ErrorCode::kIoError, fmt::format("cannot write: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status write_arrow(const Plan& plan, Table table, const GenerateOptions& options, const Options& given) {
  const std::string path = fmt::format("{}/{}.arrow", given.out, table_name(table));
  STROM_ASSIGN(auto writer, format::arrow::FileWriter::create(path, table_schema(table), given.force));
  Progress progress(table, batch_count(plan, table));
  STROM_TRY(generate_table(plan, table, options, [&](const columnar::BatchView& batch) {
    progress.add(batch.rows);
    return writer->write(batch);
  }));
  STROM_TRY(writer->finish());
  progress.finish();
  return Status::ok();
}

Status write_copy(const Plan& plan, Table table, const GenerateOptions& options) {
  STROM_TRY(write_all(copy_header()));
  Progress progress(table, batch_count(plan, table));
  std::string rows;
  STROM_TRY(generate_table(plan, table, options, [&](const columnar::BatchView& batch) {
    rows.clear();
    append_copy_rows(batch, rows);
    progress.add(batch.rows);
    return write_all(rows);
  }));
  STROM_TRY(write_all(copy_trailer()));
  progress.finish();
  return Status::ok();
}

std::vector<Table> chosen_tables(const Options& given) {
  if (given.tables.empty()) return {kTables.begin(), kTables.end()};
  std::vector<Table> tables;
  for (Table table : kTables)
    if (std::find(given.tables.begin(), given.tables.end(), table_name(table)) != given.tables.end())
      tables.push_back(table);
  return tables;
}

/// Checks, before anything is written, that none of the files exists.
Status check_output(const Options& given, const std::vector<Table>& tables) {
  std::error_code error;
  std::filesystem::create_directories(given.out, error);
  if (error) return Status(ErrorCode::kIoError, fmt::format("cannot create \"{}\": {}", given.out, error.message()));
  for (Table table : tables) {
    const std::string path = fmt::format("{}/{}.arrow", given.out, table_name(table));
    if (!given.force && std::filesystem::exists(path, error))
      return Status(ErrorCode::kIoError, fmt::format("\"{}\" exists", path)).with_hint("Use -f to overwrite it.");
  }
  return Status::ok();
}

Status run(const Options& given) {
  Plan plan;
  STROM_ASSIGN(plan.sizes, sizes_at(given.scale));
  plan.seed = given.seed;
  plan.batch_rows = given.batch_rows;
  const GenerateOptions options{given.threads, &stop_requested};
  const std::vector<Table> tables = chosen_tables(given);
  if (given.format == "copy") return write_copy(plan, tables.front(), options);
  STROM_TRY(check_output(given, tables));
  for (Table table : tables) STROM_TRY(write_arrow(plan, table, options, given));
  return Status::ok();
}

void define_options(CLI::App& app, Options& given) {
  std::vector<std::string> names;
  names.reserve(std::size(kTables));
  for (Table table : kTables) names.emplace_back(table_name(table));
  app.add_option("-s,--scale", given.scale, "scale factor: lineorder has about 6,000,000 rows at 1")
      ->check(CLI::Range(1e-6, 10000.0))
      ->capture_default_str();
  app.add_option("-o,--out", given.out, "folder for TABLE.arrow files; created if absent");
  app.add_option("--seed", given.seed, "the same seed gives the same data")->capture_default_str();
  app.add_option("-n,--threads", given.threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--tables", given.tables, "only these tables, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--batch-rows", given.batch_rows, "rows per record batch (lineorder: on average)")
      ->check(CLI::Range(int64_t{4}, int64_t{1} << 26))
      ->capture_default_str();
  app.add_option("--format", given.format, "arrow: files; copy: one table on stdout for COPY ... (FORMAT binary)")
      ->check(CLI::IsMember({"arrow", "copy"}))
      ->capture_default_str();
  app.add_flag("-f,--force", given.force, "overwrite existing files");
  app.set_version_flag("-V,--version", fmt::format("ssbgen (pg_strom {})", STROM_VERSION));
  app.add_flag_callback(
      "--data-version",
      [] {
        fmt::print("{}\n", kDataVersion);
        throw CLI::Success();
      },
      "print the version of the generated data and exit");
}

/// Describes contradictory options that the parser accepts; empty when there are none.
std::string usage_error(const Options& given) {
  if (given.format == "copy") {
    if (given.tables.size() != 1) return "--format copy needs exactly one table in --tables";
    if (!given.out.empty()) return "--format copy writes to stdout and takes no --out";
    if (isatty(STDOUT_FILENO)) return "refusing to write binary data to a terminal";
    return {};
  }
  return given.out.empty() ? "--out is required" : std::string{};
}

int report_unknown_option(const CLI::App& app) {
  const std::string given = app.remaining().front();
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = base::nearest_name(given, known);
  fmt::print(stderr, "ssbgen: unknown option {}{}\n", given,
             nearest.empty() ? "; see --help" : fmt::format("; did you mean {}?", nearest));
  return kExitUsage;
}

int main_checked(int argc, char** argv) {
  CLI::App app{"Generates the tables of the Star Schema Benchmark."};
  Options given;
  define_options(app, given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return report_unknown_option(app);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  if (const std::string message = usage_error(given); !message.empty()) {
    fmt::print(stderr, "ssbgen: {}\n", message);
    return kExitUsage;
  }
  const auto request_stop = [](int) { stop_requested = true; };
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  const Status status = run(given);
  if (status.is_ok()) return kExitDone;
  if (status.code() == ErrorCode::kCancelled) return kExitInterrupted;
  fmt::print(stderr, "ssbgen: {}\n", status.message());
  if (!status.hint().empty()) fmt::print(stderr, "{}\n", status.hint());
  return kExitFailed;
}

}  // namespace
}  // namespace strom::ssb

int main(int argc, char** argv) { return strom::ssb::main_checked(argc, argv); }
