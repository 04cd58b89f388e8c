// See progress.hpp.
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/utf8.hpp"

namespace strom::tool {

namespace {

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

std::string scaled(double value, const char* unit) {
  const char* const prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  for (; value >= 1000 && i + 1 < std::size(prefixes); ++i) value /= 1000;
  return i == 0 ? fmt::format("{:.0f} {}", value, unit) : fmt::format("{:.1f} {}{}", value, prefixes[i], unit);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string bytes_text(double bytes) { return scaled(bytes, "B"); }

std::string local_time() {
  const time_t seconds = time(nullptr);
  tm fields{};
  localtime_r(&seconds, &fields);
  char text[32];
  return {text, strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &fields)};
}

std::string count_text(double count) {
  std::string text = scaled(count, "");
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

namespace {

/// Bytes of the character that `size` valid bytes begin with.
int64_t first_character(const char* text, int64_t size) {
  int64_t bytes = 1;
  while (bytes < size && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) ++bytes;
  return bytes;
}

}  // namespace

std::string json_text(const std::string& text) {
  std::string out = "\"";
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char c = *at;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++at;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      ++at;
    } else if (const int64_t valid = base::valid_utf8_prefix(at, std::min<int64_t>(end - at, 4)); valid > 0) {
      const int64_t size = static_cast<unsigned char>(c) < 0x80 ? 1 : first_character(at, valid);
      out.append(at, static_cast<size_t>(size));
      at += size;
    } else {
      out += "\xEF\xBF\xBD";  // U+FFFD, for a byte that is part of no character
      ++at;
    }
  }
  return out + '"';
}

void add_progress_option(OptionTable& table, ProgressOptions* options) {
  table
      .text(0, "progress", "MODE", &options->mode,
            "progress on standard error, which is otherwise shown on a terminal while a file is written")
      .alone_means("text")
      .one_of({"text", "json", "none"});
}

Progress::Progress(const ProgressOptions& options, bool is_stream) : asked_(!options.mode.empty()), begin_(now()) {
  terminal_ = isatty(STDERR_FILENO);
  if (options.mode == "json") {
    mode_ = Mode::kJson;
  } else if (options.mode == "text" || (options.mode.empty() && terminal_ && !is_stream)) {
    mode_ = Mode::kText;
  }
  if (mode_ != Mode::kNone) thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::finish() {
  std::lock_guard lock(mutex_);
  if (!stop_ && mode_ != Mode::kNone) show(true);
  stop_ = true;
  wake_.notify_all();
}

void Progress::run() {
  std::unique_lock lock(mutex_);
  const auto interval = std::chrono::milliseconds(mode_ == Mode::kJson || !terminal_ ? 1000 : 200);
  while (!wake_.wait_for(lock, interval, [this] { return stop_; })) show(false);
}

void Progress::put(const std::string& text) {
  // A standard error that went away is no reason to stop.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void Progress::show(bool last) {
  if (mode_ == Mode::kJson) {
    put(json(last) + "\n");
  } else if (terminal_) {
    put("\r\033[K" + line(last) + (last ? "\n" : ""));
  } else {
    put(line(last) + "\n");
  }
}

void Progress::note(const std::string& text) {
  if (!asked_ || mode_ == Mode::kNone) return;
  std::lock_guard lock(mutex_);
  if (mode_ == Mode::kJson) {
    put("{\"event\": \"note\", \"text\": " + json_text(text) + "}\n");
  } else {
    put((terminal_ ? "\r\033[K" : "") + text + "\n");
  }
}

double Progress::elapsed() const { return std::max(now() - begin_, 1e-6); }

std::string Progress::line(bool last) const {
  const double seconds = elapsed();
  const auto rows = static_cast<double>(rows_), bytes = static_cast<double>(bytes_);
  std::string text = fmt::format("{} rows, {}, {} rows/s, {}/s", rows_.load(), bytes_text(bytes),
                                 count_text(rows / seconds), bytes_text(bytes / seconds));
  if (last) return text + ", " + duration_text(seconds);
  if (const int64_t total = total_; total > 0) {
    const double part = std::min(static_cast<double>(done_) / static_cast<double>(total), 1.0);
    text += fmt::format(", {:.0f} %", part * 100);
    if (part > 0) text += ", ETA " + duration_text(seconds / part - seconds);
  }
  return text;
}

std::string Progress::json(bool last) const {
  const double seconds = elapsed();
  std::string text = fmt::format(
      "{{\"event\": \"{}\", \"rows\": {}, \"bytes\": {}, \"seconds\": {:.3f}, \"rows_per_second\": {:.0f}, "
      "\"bytes_per_second\": {:.0f}",
      last ? "done" : "progress", rows_.load(), bytes_.load(), seconds, static_cast<double>(rows_) / seconds,
      static_cast<double>(bytes_) / seconds);
  if (const int64_t total = total_; total > 0 || last) {
    const double part = last ? 1 : std::min(static_cast<double>(done_) / static_cast<double>(total), 1.0);
    text += fmt::format(", \"percent\": {:.1f}", part * 100);
    if (part > 0) text += fmt::format(", \"eta_seconds\": {:.1f}", seconds / part - seconds);
  }
  return text + "}";
}

}  // namespace strom::tool
