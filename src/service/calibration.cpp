#include "service/calibration.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/os_error.hpp"
#include "service/sockets.hpp"

namespace strom::service {
namespace {

// The first line; another one is a file of another version.
constexpr char kTitle[] = "pg_strom GPU calibration 1";
constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostDevices = 64;

// The lines of a device in their order, each with its name. Both the reader and the writer use this list.
template <class F, class D>
void fields(F& f, D& d) {
  f("name", d.name), f("architecture", d.architecture), f("address", d.address);
  f("program", d.program), f("driver", d.driver), f("runtime", d.runtime), f("processors", d.processors),
      f("memory", d.memory);
  f("copy_in", d.copy_in), f("copy_out", d.copy_out), f("fill", d.fill), f("stage", d.stage);
  f("round_trip_us", d.round_trip_us), f("setup_us", d.setup_us);
  f("scan_cpu_ns", d.scan.cpu), f("scan_device_ns", d.scan.device);
  f("probe_cpu_ns", d.probe.cpu), f("probe_device_ns", d.probe.device);
  f("group_cpu_ns", d.group.cpu), f("group_device_ns", d.group.device);
}

class Printer {
 public:
  void operator()(const char* name, const std::string& value) { line(name, value); }
  void operator()(const char* name, int value) { line(name, std::to_string(value)); }
  void operator()(const char* name, uint64_t value) { line(name, std::to_string(value)); }
  void operator()(const char* name, double value) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    line(name, std::string(digits, end));
  }
  void line(const std::string& name, const std::string& value) { text += name + " " + value + "\n"; }
  std::string text;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::string_view take_line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }
  void operator()(const char* name, std::string& value) { value = value_of(name); }
  template <class T>
  void operator()(const char* name, T& value) {
    const std::string_view text = value_of(name);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    failed_ = failed_ || error != std::errc() || end != text.data() + text.size();
    if constexpr (std::is_same_v<T, double>) failed_ = failed_ || !std::isfinite(value) || value < 0;
  }
  bool has_failed() const { return failed_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view value_of(std::string_view name) {
    const std::string_view line = take_line();
    failed_ = failed_ || !line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ';
    return failed_ ? std::string_view() : line.substr(name.size() + 1);
  }

  std::string_view rest_;
  bool failed_ = false;
};

/// FNV-1a: it finds damaged files, not forged ones.
uint64_t checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

Status corrupt() { return Status(ErrorCode::kCorruptFile, "invalid file of the GPU's measurements"); }

/// Times of rows are divided by, and a rate of 0 would be an endless time.
bool is_complete(const DeviceRates& device) {
  return device.copy_in > 0 && device.copy_out > 0 && device.stage > 0 && device.scan.cpu > 0 && device.probe.cpu > 0 &&
         device.group.cpu > 0;
}

}  // namespace

bool DeviceRates::is_of(const DeviceRates& facts) const {
  return name == facts.name && architecture == facts.architecture && address == facts.address &&
         program == facts.program && driver == facts.driver && runtime == facts.runtime &&
         processors == facts.processors && memory == facts.memory;
}

std::string print(const Calibration& calibration) {
  Printer printer;
  printer.text = std::string(kTitle) + "\n";
  printer("milliseconds", calibration.milliseconds);
  printer("devices", static_cast<uint64_t>(calibration.devices.size()));
  for (const DeviceRates& device : calibration.devices) fields(printer, device);
  const uint64_t sum = checksum(printer.text);
  printer("checksum", sum);
  return std::move(printer.text);
}

Result<Calibration> parse_calibration(const std::string& text) {
  Parser parser(text);
  if (parser.take_line() != kTitle) return corrupt();
  Calibration calibration;
  uint64_t devices = 0, sum = 0;
  parser("milliseconds", calibration.milliseconds);
  parser("devices", devices);
  if (parser.has_failed() || devices > kMostDevices) return corrupt();
  calibration.devices.resize(devices);
  for (DeviceRates& device : calibration.devices) {
    fields(parser, device);
    if (parser.has_failed() || !is_complete(device)) return corrupt();
  }
  parser("checksum", sum);
  if (parser.has_failed() || !parser.is_at_end()) return corrupt();
  const std::string_view summed = std::string_view(text).substr(0, text.rfind("checksum "));
  if (sum != checksum(summed)) return corrupt();
  return calibration;
}

Result<Calibration> read_calibration(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return base::os_error(errno, "could not open file \"" + path + "\"");
  std::string text(kMostBytes + 1, '\0');
  size_t size = 0;
  for (;;) {
    const ssize_t bytes = read(file.get(), text.data() + size, text.size() - size);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return base::os_error(errno, "could not read file \"" + path + "\"");
    if (bytes == 0) break;
    size += static_cast<size_t>(bytes);
    if (size > kMostBytes) return corrupt();
  }
  text.resize(size);
  return parse_calibration(text);
}

Status write_calibration(const std::string& path, const Calibration& calibration) {
  const std::string temporary = path + ".new", text = print(calibration);
  const auto fail = [&](const char* what) {
    const Status status = base::os_error(errno, std::string("could not ") + what + " file \"" + temporary + "\"");
    unlink(temporary.c_str());
    return status;
  };
  const Descriptor file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return fail("create");
  for (size_t done = 0; done < text.size();) {
    const ssize_t bytes = write(file.get(), text.data() + done, text.size() - done);
    if (bytes < 0 && errno != EINTR) return fail("write");
    if (bytes > 0) done += static_cast<size_t>(bytes);
  }
  if (fsync(file.get()) != 0) return fail("write");
  if (rename(temporary.c_str(), path.c_str()) != 0) return fail("rename");
  return {};
}

}  // namespace strom::service
