#include "format/forward/syslog.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <vector>

#include "format/forward/msgpack_writer.hpp"

namespace strom::format::forward {
namespace {

constexpr int64_t kNano = 1000000000;
constexpr std::string_view kFacilities[] = {"kern",   "user",   "mail",   "daemon", "auth",     "syslog",
                                            "lpr",    "news",   "uucp",   "cron",   "authpriv", "ftp",
                                            "ntp",    "audit",  "alert",  "at",     "local0",   "local1",
                                            "local2", "local3", "local4", "local5", "local6",   "local7"};
constexpr std::string_view kSeverities[] = {"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"};
constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr int kFirstYear = 1900;

/// Reads a text from its beginning.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  std::string_view rest() const { return rest_; }
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// Reads `size` digits. The first may be a blank.
  bool number(size_t size, int least, int most, int* value) {
    if (rest_.size() < size) return false;
    const size_t blank = size > 1 && rest_[0] == ' ' ? 1 : 0;
    const char* const end = rest_.data() + size;
    if (rest_[blank] < '0' || rest_[blank] > '9') return false;
    const auto [at, error] = std::from_chars(rest_.data() + blank, end, *value);
    if (error != std::errc() || at != end || *value < least || *value > most) return false;
    rest_.remove_prefix(size);
    return true;
  }
  /// Reads up to a character of `ends`, which is not taken.
  std::string_view until(std::string_view ends) {
    const size_t size = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  void drop(size_t size) { rest_.remove_prefix(size); }

 private:
  std::string_view rest_;
};

/// hh:mm:ss
bool read_clock(Scanner& scanner, tm* time) {
  constexpr int kHours = 23, kMinutes = 59, kSeconds = 60;
  return scanner.number(2, 0, kHours, &time->tm_hour) && scanner.skip(":") &&
         scanner.number(2, 0, kMinutes, &time->tm_min) && scanner.skip(":") &&
         scanner.number(2, 0, kSeconds, &time->tm_sec);
}

/// Reads a time of RFC 3339. The scanner does not move when there is none.
bool read_full_time(Scanner& scanner, int64_t* time_ns) {
  Scanner at = scanner;
  tm time = {};
  constexpr int kMostYear = 2100, kMostDay = 31, kMostMonth = 12;
  if (!at.number(4, 1970, kMostYear, &time.tm_year) || !at.skip("-") || !at.number(2, 1, kMostMonth, &time.tm_mon) ||
      !at.skip("-") || !at.number(2, 1, kMostDay, &time.tm_mday) || !(at.skip("T") || at.skip(" ")) ||
      !read_clock(at, &time))
    return false;
  time.tm_year -= kFirstYear;
  --time.tm_mon;
  int64_t fraction = 0;
  if (at.skip(".") || at.skip(",")) {
    int64_t unit = kNano;
    size_t digits = 0;
    for (; digits < at.rest().size() && at.rest()[digits] >= '0' && at.rest()[digits] <= '9'; ++digits) {
      unit /= 10;
      fraction += unit * (at.rest()[digits] - '0');
    }
    at.drop(digits);
  }
  int hours = 0, minutes = 0;
  if (!at.skip("Z")) {
    const bool is_west = at.rest().starts_with('-');
    constexpr int kMostHours = 23, kMostMinutes = 59;
    if (!at.skip(is_west ? "-" : "+") || !at.number(2, 0, kMostHours, &hours)) return false;
    at.skip(":");
    if (!at.number(2, 0, kMostMinutes, &minutes)) return false;
    if (is_west) hours = -hours, minutes = -minutes;
  }
  constexpr int64_t kHour = 3600, kMinute = 60;
  const int64_t seconds = timegm(&time) - hours * kHour - minutes * kMinute;
  if (seconds < 0) return false;
  *time_ns = seconds * kNano + fraction;
  scanner = at;
  return true;
}

/// `Mmm dd hh:mm:ss` of the latest year in which it is at most a month from now: clocks of others may be ahead, also
/// at the turn of the year.
bool read_short_time(Scanner& scanner, int64_t now_ns, int64_t* time_ns) {
  Scanner at = scanner;
  const auto* month = std::find(std::begin(kMonths), std::end(kMonths), at.rest().substr(0, 3));
  if (month == std::end(kMonths)) return false;
  at.drop(3);
  const time_t now = now_ns / kNano;
  tm time = {};
  if (localtime_r(&now, &time) == nullptr) return false;
  const int year = time.tm_year;
  time = {};
  time.tm_mon = static_cast<int>(month - std::begin(kMonths));
  time.tm_isdst = -1;
  constexpr int kMostDay = 31;
  if (!at.skip(" ") || !at.number(2, 1, kMostDay, &time.tm_mday) || !at.skip(" ") || !read_clock(at, &time))
    return false;
  constexpr int64_t kMonth = int64_t{31} * 86400;
  int64_t seconds = INT64_MAX;
  for (int of_year = year + 1; of_year >= year - 1 && seconds > now + kMonth; --of_year) {
    tm candidate = time;
    candidate.tm_year = of_year;
    seconds = mktime(&candidate);
  }
  if (seconds < 0) return false;
  *time_ns = seconds * kNano;
  scanner = at;
  return true;
}

/// Collects the parts of a message into a record.
class Record {
 public:
  void add(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    ++count_;
    put_text(key, &body_);
    put_text(value, &body_);
  }
  void add_data(const std::string& map) {
    ++count_;
    put_text("data", &body_);
    body_ += map;
  }
  void append_to(std::string* out) const {
    put_map(count_, out);
    *out += body_;
  }

 private:
  uint32_t count_ = 0;
  std::string body_;
};

/// `[id name="value" …]…`; false: there is no such data, and the scanner does not move.
bool read_data(Scanner& scanner, std::string* map) {
  Scanner at = scanner;
  uint32_t elements = 0;
  std::string body;
  while (at.skip("[")) {
    const std::string_view id = at.until(" ]\"=");
    if (id.empty()) return false;
    uint32_t pairs = 0;
    std::string inside;
    while (at.skip(" ")) {
      if (at.rest().starts_with(']')) break;
      const std::string_view name = at.until(" ]\"=");
      if (name.empty() || !at.skip("=\"")) return false;
      std::string value;
      while (!at.rest().empty() && at.rest()[0] != '"') {
        const bool is_escaped = at.rest()[0] == '\\' && at.rest().size() > 1 &&
                                std::string_view("\"\\]").find(at.rest()[1]) != std::string_view::npos;
        value += at.rest()[is_escaped ? 1 : 0];
        at.drop(is_escaped ? 2 : 1);
      }
      if (!at.skip("\"")) return false;
      put_text(name, &inside);
      put_text(value, &inside);
      ++pairs;
    }
    if (!at.skip("]")) return false;
    put_text(id, &body);
    put_map(pairs, &body);
    body += inside;
    ++elements;
  }
  if (elements == 0) return false;
  put_map(elements, map);
  *map += body;
  scanner = at;
  return true;
}

/// Reads what follows `<PRI>1 `. False: it has another form.
bool read_new_form(Scanner scanner, int64_t* time_ns, Record* record) {
  if (!scanner.skip("- ")) {
    if (!read_full_time(scanner, time_ns) || !scanner.skip(" ")) return false;
  }
  constexpr std::string_view kNames[] = {"host", "ident", "pid", "msgid"};
  std::string_view parts[std::size(kNames)];
  for (std::string_view& part : parts) {
    part = scanner.until(" ");
    if (part.empty() || !scanner.skip(" ")) return false;
  }
  std::string data;
  if (!scanner.skip("-") && !read_data(scanner, &data)) return false;
  if (!scanner.rest().empty() && !scanner.skip(" ")) return false;
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (parts[i] != "-") record->add(kNames[i], parts[i]);
  if (!data.empty()) record->add_data(data);
  scanner.skip("\xEF\xBB\xBF");  // which says that it is UTF-8
  record->add("message", scanner.rest());
  return true;
}

/// RFC 3164: `TIME HOST IDENT[PID]: MESSAGE`. Some programs omit parts.
void read_old_form(Scanner scanner, int64_t now_ns, int64_t* time_ns, Record* record) {
  const Scanner whole = scanner;
  const bool has_time = read_short_time(scanner, now_ns, time_ns) || read_full_time(scanner, time_ns);
  if (!has_time || !scanner.skip(" ")) return record->add("message", whole.rest());
  const std::string_view host = scanner.until(" ");
  // A name with a colon or a PID is the program's: there is no host.
  if (host.find_first_of(":[") == std::string_view::npos && scanner.skip(" "))
    record->add("host", host);
  else
    scanner = Scanner({host.data(), static_cast<size_t>(scanner.rest().data() + scanner.rest().size() - host.data())});
  Scanner at = scanner;
  const std::string_view ident = at.until(" :[");
  std::string_view pid;
  if (at.skip("[")) {
    pid = at.until("]");
    if (!at.skip("]")) pid = {};
  }
  if (ident.empty() || !at.skip(":")) return record->add("message", scanner.rest());
  at.skip(" ");
  record->add("ident", ident);
  record->add("pid", pid);
  record->add("message", at.rest());
}

/// `<PRI>`, at most 191. False: there is none.
bool read_priority(Scanner& scanner, int* priority) {
  Scanner at = scanner;
  constexpr int kMost = 191;
  constexpr size_t kMostDigits = 3;
  if (!at.skip("<")) return false;
  const size_t digits = std::min(at.rest().find('>'), at.rest().size());
  int value = 0;
  if (digits == 0 || digits > kMostDigits || at.rest()[0] == ' ' || !at.number(digits, 0, kMost, &value)) return false;
  if (!at.skip(">")) return false;
  *priority = value;
  scanner = at;
  return true;
}

}  // namespace

void append_syslog_event(std::string_view text, int64_t now_ns, std::string* events) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == '\0')) text.remove_suffix(1);
  Scanner scanner(text);
  constexpr int kUserNotice = 13, kSeverityCount = 8;
  int priority = kUserNotice;  // RFC 3164's priority of messages without one
  const bool has_priority = read_priority(scanner, &priority);
  Record record;
  record.add("facility", kFacilities[priority / kSeverityCount]);
  record.add("severity", kSeverities[priority % kSeverityCount]);
  int64_t time_ns = now_ns;
  Scanner behind = scanner;
  Record of_new_form = record;
  if (has_priority && behind.skip("1 ") && read_new_form(behind, &time_ns, &of_new_form)) {
    record = std::move(of_new_form);
  } else {
    time_ns = now_ns;
    read_old_form(scanner, now_ns, &time_ns, &record);
  }
  put_event(time_ns, events);
  record.append_to(events);
}

Result<SyslogFrame> next_syslog_frame(std::string_view bytes, size_t most) {
  const Status too_large(ErrorCode::kOverBudget,
                         "a message of syslog has more than " + std::to_string(most) + " bytes");
  if (bytes.empty()) return SyslogFrame{};
  if (bytes[0] >= '1' && bytes[0] <= '9') {
    constexpr size_t kMostDigits = 9;
    const size_t blank = bytes.substr(0, kMostDigits + 1).find(' ');
    uint32_t size = 0;
    const char* const end = bytes.data() + std::min({blank, bytes.size(), kMostDigits + 1});
    const auto [at, error] = std::from_chars(bytes.data(), end, size);
    if (error != std::errc() || at != end)
      return Status(ErrorCode::kProtocolViolation, "a message of syslog without its size");
    if (size > most) return too_large;
    if (blank == std::string_view::npos) {
      if (bytes.size() > kMostDigits)
        return Status(ErrorCode::kProtocolViolation, "a message of syslog without its size");
      return SyslogFrame{};
    }
    if (bytes.size() - blank - 1 < size) return SyslogFrame{};
    return SyslogFrame{bytes.substr(blank + 1, size), blank + 1 + size};
  }
  constexpr std::string_view kEnds("\n\0", 2);
  const size_t end = bytes.find_first_of(kEnds);
  if (std::min(end, bytes.size()) > most) return too_large;
  if (end == std::string_view::npos) return SyslogFrame{};
  return SyslogFrame{bytes.substr(0, end), end + 1};
}

}  // namespace strom::format::forward
