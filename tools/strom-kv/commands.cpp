#include "strom-kv/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "cli/progress.hpp"
#include "format/byte_sink.hpp"
#include "strom-kv/session.hpp"
#include "strom-kv/value_text.hpp"

namespace strom::kv_tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Standard output, in large pieces.
class Output {
 public:
  Status line(const std::string& text) {
    constexpr size_t kEnough = 64 << 10;
    text_ += text;
    text_ += '\n';
    return text_.size() < kEnough ? Status::ok() : flush();
  }
  Status flush() {
    const std::string text = std::move(text_);
    text_.clear();
    return sink_->append({{const_cast<char*>(text.data()), text.size()}});
  }

 private:
  std::string text_;
  std::unique_ptr<format::ByteSink> sink_ = format::descriptor_sink(STDOUT_FILENO, "standard output");
};

Result<std::string> row_text(const Table& table, const Reader& reader, const stromkv_row& row) {
  const size_t columns = stromkv_column_count(table.get());
  std::vector<stromkv_field> fields(columns);
  const stromkv_status status = stromkv_fields(reader.get(), &row, fields.data());
  if (status != STROMKV_OK) return failed(status);
  std::vector<const stromkv_column*> described;
  described.reserve(columns);
  for (size_t i = 0; i < columns; ++i) described.push_back(stromkv_column_at(table.get(), i));
  return json_row(described, fields, table.text);
}

const stromkv_column& key_column(const Table& table) {
  return *stromkv_column_at(table.get(), stromkv_key_column(table.get()));
}

/// All keys of the table, as their bytes.
Result<std::vector<std::string>> all_keys(const Table& table) {
  STROM_ASSIGN(const Reader reader, open_reader(table));
  std::vector<std::string> keys;
  stromkv_row row;
  stromkv_scan_begin(reader.get());
  for (;;) {
    const stromkv_status status = stromkv_scan_next(reader.get(), &row);
    if (status == STROMKV_NOT_FOUND) return keys;
    if (status != STROMKV_OK) return failed(status);
    keys.emplace_back(static_cast<const char*>(row.key.data), row.key.bytes);
  }
}

/// What one thread of the bench has done.
struct Work {
  uint64_t gets = 0, missing = 0;
  stromkv_statistics statistics{};
  std::vector<float> call_us;  // of a sample of calls
  Status status;
};

Status read_for_a_while(const Table& table, const std::vector<std::string>& keys, const Settings& settings,
                        uint64_t seed, const std::atomic<bool>& stop, Work* work) {
  STROM_ASSIGN(const Reader reader, open_reader(table));
  std::mt19937_64 random(seed);
  const auto batch = static_cast<size_t>(settings.batch);
  std::vector<stromkv_key> wanted(batch);
  std::vector<stromkv_row> rows(batch);
  constexpr uint64_t kSampled = 64;
  constexpr double kMicro = 1e6;
  for (uint64_t call = 0; !stop.load(std::memory_order_relaxed); ++call) {
    for (stromkv_key& key : wanted) {
      const std::string& chosen =
          keys[static_cast<size_t>((static_cast<unsigned __int128>(random()) * keys.size()) >> 64)];
      key = {chosen.data(), chosen.size()};
    }
    const bool is_sampled = call % kSampled == 0;
    const auto begin = is_sampled ? Clock::now() : Clock::time_point();
    const stromkv_status status = batch == 1 ? stromkv_get(reader.get(), wanted[0], rows.data())
                                             : stromkv_get_many(reader.get(), wanted.data(), rows.data(), batch);
    if (is_sampled)
      work->call_us.push_back(static_cast<float>(std::chrono::duration<double>(Clock::now() - begin).count() * kMicro));
    if (status != STROMKV_OK && status != STROMKV_NOT_FOUND) return failed(status);
    for (size_t i = 0; i < batch; ++i) work->missing += rows[i].status == STROMKV_NOT_FOUND ? 1 : 0;
    work->gets += batch;
  }
  stromkv_reader_statistics(reader.get(), &work->statistics);
  return Status::ok();
}

std::string bench_report(const Settings& settings, std::vector<Work>& works, double seconds) {
  Work all;
  for (Work& work : works) {
    all.gets += work.gets;
    all.missing += work.missing;
    all.statistics.bucket_reads += work.statistics.bucket_reads;
    all.statistics.record_reads += work.statistics.record_reads;
    all.statistics.retries += work.statistics.retries;
    all.call_us.insert(all.call_us.end(), work.call_us.begin(), work.call_us.end());
  }
  std::sort(all.call_us.begin(), all.call_us.end());
  const auto percentile = [&](double share) {
    if (all.call_us.empty()) return 0.0F;
    return all.call_us[static_cast<size_t>(share * static_cast<double>(all.call_us.size() - 1))];
  };
  const auto gets = static_cast<double>(std::max<uint64_t>(all.gets, 1));
  constexpr double kHalf = 0.5, kMost = 0.99, kNearlyAll = 0.999;
  return fmt::format(
      "{{\"threads\": {}, \"batch\": {}, \"seconds\": {:.3f}, \"gets\": {}, \"gets_per_second\": {:.0f}, "
      "\"missing\": {}, \"p50_us\": {:.2f}, \"p99_us\": {:.2f}, \"p999_us\": {:.2f}, \"reads_per_get\": {:.3f}, "
      "\"retries\": {}}}",
      settings.threads, settings.batch, seconds, all.gets, gets / seconds, all.missing, percentile(kHalf),
      percentile(kMost), percentile(kNearlyAll),
      static_cast<double>(all.statistics.bucket_reads + all.statistics.record_reads) / gets, all.statistics.retries);
}

}  // namespace

Status get_rows(const Settings& settings, bool* is_missing) {
  STROM_ASSIGN(const Table table, attach(settings));
  STROM_ASSIGN(const Reader reader, open_reader(table));
  std::vector<std::string> bytes;
  for (const std::string& text : settings.arguments) {
    STROM_ASSIGN(std::string key, key_bytes(key_column(table), text, table.text));
    bytes.push_back(std::move(key));
  }
  std::vector<stromkv_key> keys;
  keys.reserve(bytes.size());
  for (const std::string& key : bytes) keys.push_back({key.data(), key.size()});
  std::vector<stromkv_row> rows(keys.size());
  const stromkv_status status = stromkv_get_many(reader.get(), keys.data(), rows.data(), keys.size());
  if (status != STROMKV_OK) return failed(status);
  Output output;
  for (const stromkv_row& row : rows) {
    *is_missing = *is_missing || row.status == STROMKV_NOT_FOUND;
    std::string text = "null";
    if (row.status == STROMKV_OK) {
      STROM_ASSIGN(text, row_text(table, reader, row));
    }
    STROM_TRY(output.line(text));
  }
  return output.flush();
}

Status put_row(const Settings& settings) {
  STROM_ASSIGN(Session session, Session::open(settings));
  STROM_TRY(check_columns(session, settings));
  STROM_ASSIGN(const auto type, session.first_row("SELECT $1::regclass::text", {settings.table}));
  STROM_ASSIGN(const auto made, session.first_row("SELECT pgstrom.store_upsert($1::regclass, "
                                                  "json_populate_record(NULL::" +
                                                      type.at(0) + ", $2::json))",
                                                  {settings.table, settings.arguments.at(0)}));
  Output output;
  STROM_TRY(output.line(made.at(0) == "t" ? "inserted" : "updated"));
  return output.flush();
}

Status delete_rows(const Settings& settings, bool* is_missing) {
  STROM_ASSIGN(const Table table, attach(settings));
  STROM_ASSIGN(Session session, Session::open(settings));
  STROM_ASSIGN(const auto name, session.first_row("SELECT $1::regclass::text", {settings.table}));
  STROM_ASSIGN(const std::string key, table.text.to_utf8(key_column(table).name));
  const std::string sql = "DELETE FROM " + name.at(0) + " WHERE " + session.quoted_name(key) + " = $1";
  Output output;
  for (const std::string& value : settings.arguments) {
    int64_t changed = 0;
    STROM_TRY(session.first_row(sql, {value}, &changed).status());
    *is_missing = *is_missing || changed == 0;
    STROM_TRY(output.line(changed == 0 ? "not found" : "deleted"));
  }
  return output.flush();
}

Status dump_rows(const Settings& settings) {
  STROM_ASSIGN(const Table table, attach(settings));
  STROM_ASSIGN(const Reader reader, open_reader(table));
  Output output;
  stromkv_row row;
  stromkv_scan_begin(reader.get());
  for (;;) {
    const stromkv_status status = stromkv_scan_next(reader.get(), &row);
    if (status == STROMKV_NOT_FOUND) break;
    if (status != STROMKV_OK) return failed(status);
    STROM_ASSIGN(const std::string text, row_text(table, reader, row));
    STROM_TRY(output.line(text));
  }
  STROM_TRY(output.flush());
  if (stromkv_scan_is_complete(reader.get()) != 0) return Status::ok();
  return Status(ErrorCode::kIoError, "rows have moved in the index meanwhile, so that some may be missing")
      .with_hint("Dump again, or ask by SQL.");
}

Status verify_region(const Settings& settings) {
  STROM_ASSIGN(const Table table, attach(settings));
  std::array<char, 1024> error{};
  const stromkv_status status = stromkv_verify(table.get(), error.data(), error.size());
  if (status != STROMKV_OK) return failed(status, error.data());
  Output output;
  STROM_TRY(output.line(fmt::format("sound: {} rows", stromkv_row_count(table.get()))));
  return output.flush();
}

Status print_statistics(const Settings& settings) {
  STROM_ASSIGN(const Table table, attach(settings));
  std::string columns;
  for (size_t i = 0; i < stromkv_column_count(table.get()); ++i) {
    const stromkv_column& column = *stromkv_column_at(table.get(), i);
    STROM_ASSIGN(const std::string name, table.text.to_utf8(column.name));
    columns += fmt::format("{}{{\"name\": {}, \"type\": {}, \"is_key\": {}}}", i == 0 ? "" : ", ",
                           tool::json_text(name), tool::json_text(column.type), i == stromkv_key_column(table.get()));
  }
  Output output;
  STROM_TRY(output.line(fmt::format("{{\"rows\": {}, \"columns\": [{}]}}", stromkv_row_count(table.get()), columns)));
  return output.flush();
}

Status run_bench(const Settings& settings) {
  STROM_ASSIGN(const Table table, attach(settings));
  STROM_ASSIGN(const std::vector<std::string> keys, all_keys(table));
  if (keys.empty()) return {ErrorCode::kInvalidParameter, "the table has no rows"};
  std::atomic<bool> stop = false;
  std::vector<Work> works(static_cast<size_t>(settings.threads));
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    threads.reserve(works.size());
    for (size_t i = 0; i < works.size(); ++i)
      threads.emplace_back(
          [&, i] { works[i].status = read_for_a_while(table, keys, settings, i + 1, stop, &works[i]); });
    std::this_thread::sleep_for(std::chrono::seconds(settings.seconds));
    stop = true;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const Work& work : works) STROM_TRY(work.status);
  Output output;
  STROM_TRY(output.line(bench_report(settings, works, seconds)));
  return output.flush();
}

}  // namespace strom::kv_tool
