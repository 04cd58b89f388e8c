// bandwidth: how fast this machine can read a query's columns: a plain multi-threaded sum over mapped columns of an
// Arrow file. The benchmark uses it as the ceiling for engines. Called by bench/ssb/run.py; prints JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "format/arrow/read/reader.hpp"

namespace strom::ssb {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> columns = {"lo_orderdate", "lo_discount", "lo_quantity", "lo_extendedprice"};
  int threads = 2;
  int runs = 9;
};

/// A run of int32 values: one column of one record batch, or a piece of it.
struct Span {
  const int32_t* values;
  int64_t count;
};

constexpr int64_t kSpanValues = int64_t{1} << 16;

Status collect(const format::arrow::FileReader& reader, const std::string& name, std::vector<Span>& spans) {
  const auto& fields = reader.schema().fields;
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& made) { return made.name == name; });
  if (field == fields.end() || field->layout != columnar::Layout::kInt32)
    return Status(ErrorCode::kInvalidParameter, fmt::format("no int32 column \"{}\" in {}", name, reader.path()));
  for (int batch = 0; batch < reader.batch_count(); ++batch) {
    STROM_ASSIGN(const auto column, reader.column(batch, static_cast<int>(field - fields.begin())));
    const auto* values = static_cast<const int32_t*>(column.values);
    for (int64_t at = 0; at < column.length; at += kSpanValues)
      spans.push_back({values + at, std::min(kSpanValues, column.length - at)});
  }
  return Status::ok();
}

uint64_t sum(const Span& span) {
  uint32_t total = 0;  // wraps around: only the work matters, not the value
  for (int64_t i = 0; i < span.count; ++i) total += static_cast<uint32_t>(span.values[i]);
  return total;
}

/// Seconds of one pass over all spans; adds to `checksum`.
double pass(const std::vector<Span>& spans, int threads, std::atomic<uint64_t>& checksum) {
  std::atomic<size_t> next = 0;
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> workers;
    auto work = [&] {
      uint64_t total = 0;
      for (size_t i = next++; i < spans.size(); i = next++) total += sum(spans[i]);
      checksum += total;
    };
    for (int i = 1; i < threads; ++i) workers.emplace_back(work);
    work();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status run(const Options& given) {
  STROM_ASSIGN(const auto reader, format::arrow::FileReader::open(given.file));
  std::vector<Span> spans;
  for (const std::string& name : given.columns) STROM_TRY(collect(*reader, name, spans));
  int64_t bytes = 0;
  for (const Span& span : spans) bytes += span.count * static_cast<int64_t>(sizeof(int32_t));

  std::atomic<uint64_t> checksum = 0;
  pass(spans, given.threads, checksum);  // maps and warms the pages
  std::vector<double> seconds;
  seconds.reserve(static_cast<size_t>(given.runs));
  for (int i = 0; i < given.runs; ++i) seconds.push_back(pass(spans, given.threads, checksum));
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  fmt::print("{{\"bytes\": {}, \"median_ms\": {:.4f}, \"min_ms\": {:.4f}, \"gb_per_s\": {:.4f}, \"checksum\": {}}}\n",
             bytes, median * 1e3, seconds.front() * 1e3, static_cast<double>(bytes) / median / 1e9, checksum.load());
  return Status::ok();
}

int main_checked(int argc, char** argv) {
  CLI::App app{"Measures the read bandwidth over int32 columns of an Arrow file (default: those of SSB's Q1.1)."};
  Options given;
  app.add_option("file", given.file, "Arrow file")->required();
  app.add_option("--columns", given.columns, "int32 columns, separated by commas")->delimiter(',');
  app.add_option("-n,--threads", given.threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--runs", given.runs, "passes after the warming one")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Status status = run(given);
  if (status.is_ok()) return 0;
  fmt::print(stderr, "bandwidth: {}\n", status.message());
  return 1;
}

}  // namespace
}  // namespace strom::ssb

int main(int argc, char** argv) { return strom::ssb::main_checked(argc, argv); }
