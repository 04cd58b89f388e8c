#include "format/forward/http_request.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace strom::format::forward {
namespace {

constexpr size_t kMostHead = size_t{64} << 10;
constexpr size_t kMostLine = 1024;  // of a chunk's size line, and of a line after chunks
constexpr int kBadRequest = 400, kTooLarge = 413, kHeadTooLarge = 431, kNotImplemented = 501, kOtherVersion = 505;

std::string small(std::string_view text) {
  std::string copy(text);
  for (char& c : copy)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return copy;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool parse_size(std::string_view text, int base, size_t* size) {
  if (text.empty()) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *size, base);
  return error == std::errc() && end == text.data() + text.size();
}

const char* reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 405: return "Method Not Allowed";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
  }
}

}  // namespace

HttpReader::State HttpReader::wrong(int status) {
  status_ = status;
  return State::kWrong;
}

bool HttpReader::wants_continue() { return std::exchange(waits_, false); }

HttpRequest HttpReader::take_request() {
  part_ = Part::kHead;
  has_length_ = is_chunked_ = waits_ = is_old_ = false;
  left_ = 0;
  return std::exchange(request_, {});
}

HttpReader::State HttpReader::read(std::string_view* bytes) {
  if (status_ != 0) return State::kWrong;
  if (part_ == Part::kHead) {
    if (const State state = read_head(bytes); state != State::kWhole) return state;
  }
  return read_body(bytes);
}

/// Reads up to the empty line. kWhole: the body begins.
HttpReader::State HttpReader::read_head(std::string_view* bytes) {
  if (head_.empty())  // empty lines before a request are skipped
    bytes->remove_prefix(std::min(bytes->find_first_not_of("\r\n"), bytes->size()));
  // Lines may end without a carriage return. The end may begin in earlier bytes.
  const size_t before = head_.size();
  const size_t from = before > 3 ? before - 3 : 0;
  const size_t room = kMostHead - before;
  head_ += bytes->substr(0, room);
  size_t end = std::string::npos, size = 0;
  for (size_t at = head_.find('\n', from); at != std::string::npos; at = head_.find('\n', at + 1)) {
    if (head_.compare(at + 1, 1, "\n") == 0) size = 2;
    if (head_.compare(at + 1, 2, "\r\n") == 0) size = 3;
    if (size == 0) continue;
    end = at;
    break;
  }
  if (end == std::string::npos) {
    bytes->remove_prefix(head_.size() - before);
    return head_.size() >= kMostHead ? wrong(kHeadTooLarge) : State::kMore;
  }
  bytes->remove_prefix(end + size - before);
  head_.resize(end);
  const State state = parse_head();
  head_.clear();
  return state;
}

HttpReader::State HttpReader::parse_head() {
  std::string_view rest = head_;
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    const int status = is_first ? parse_first_line(line) : parse_header(rest.substr(0, end));
    if (status != 0) return wrong(status);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (is_chunked_ && has_length_) return wrong(kBadRequest);  // a proxy could believe the other length
  if (left_ > most_body_) return wrong(kTooLarge);
  part_ = is_chunked_ ? Part::kChunkSize : Part::kBody;
  return State::kWhole;
}

int HttpReader::parse_first_line(std::string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || last == first) return kBadRequest;
  request_.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1), version = line.substr(last + 1);
  if (!version.starts_with("HTTP/")) return kBadRequest;
  if (!version.starts_with("HTTP/1.")) return kOtherVersion;
  is_old_ = version == "HTTP/1.0";
  request_.keeps_alive = !is_old_;
  const size_t question = std::min(target.find('?'), target.size());
  request_.path = target.substr(0, question);
  if (question < target.size()) request_.query = target.substr(question + 1);
  return 0;
}

int HttpReader::parse_header(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line[0] == ' ' || line[0] == '\t') return kBadRequest;
  const std::string name = small(line.substr(0, colon)), value = small(trimmed(line.substr(colon + 1)));
  if (name.ends_with(' ')) return kBadRequest;
  if (name == "content-length") {
    size_t size = 0;
    constexpr int kDecimal = 10;
    if (!parse_size(value, kDecimal, &size) || (has_length_ && size != left_)) return kBadRequest;
    has_length_ = true;
    left_ = size;
  } else if (name == "transfer-encoding") {
    if (value != "chunked") return kNotImplemented;
    is_chunked_ = true;
  } else if (name == "content-type") {
    request_.type = trimmed(std::string_view(value).substr(0, value.find(';')));
  } else if (name == "content-encoding") {
    request_.encoding = value == "identity" ? "" : value;
  } else if (name == "connection") {
    if (value == "close") request_.keeps_alive = false;
    if (value == "keep-alive") request_.keeps_alive = true;
  } else if (name == "expect") {
    waits_ = value == "100-continue" && !is_old_;
  }
  return 0;
}

/// False: the end of the line has not come. If the line is too long, head_ is too long as well.
bool HttpReader::take_line(std::string_view* bytes, std::string* line) {
  const size_t end = std::min(bytes->find('\n'), bytes->size());
  const bool is_whole = end < bytes->size();
  head_ += bytes->substr(0, std::min(end, kMostLine + 1 - head_.size()));
  bytes->remove_prefix(std::min(end + 1, bytes->size()));
  if (!is_whole || head_.size() > kMostLine) return false;
  *line = trimmed(head_);
  head_.clear();
  return true;
}

HttpReader::State HttpReader::read_chunk_size(std::string_view* bytes) {
  std::string line;
  if (!take_line(bytes, &line)) return head_.size() > kMostLine ? wrong(kBadRequest) : State::kMore;
  constexpr int kHexadecimal = 16;
  if (!parse_size(trimmed(std::string_view(line).substr(0, line.find(';'))), kHexadecimal, &left_))
    return wrong(kBadRequest);
  if (left_ > most_body_ - request_.body.size()) return wrong(kTooLarge);
  part_ = left_ == 0 ? Part::kTrailer : Part::kChunk;
  return State::kWhole;
}

HttpReader::State HttpReader::read_body(std::string_view* bytes) {
  for (;;) {
    if (part_ == Part::kBody || part_ == Part::kChunk) {
      const size_t size = std::min(left_, bytes->size());
      request_.body += bytes->substr(0, size);
      bytes->remove_prefix(size);
      left_ -= size;
      if (left_ > 0) return State::kMore;
      if (part_ == Part::kBody) return State::kWhole;
      part_ = Part::kChunkEnd;
    } else if (part_ == Part::kChunkSize) {
      if (const State state = read_chunk_size(bytes); state != State::kWhole) return state;
    } else {
      std::string line;
      if (!take_line(bytes, &line)) return head_.size() > kMostLine ? wrong(kBadRequest) : State::kMore;
      if (part_ == Part::kTrailer && line.empty()) return State::kWhole;
      if (part_ == Part::kChunkEnd && !line.empty()) return wrong(kBadRequest);
      if (part_ == Part::kChunkEnd) part_ = Part::kChunkSize;
    }
  }
}

std::string unescaped(std::string_view text, bool plus) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    constexpr int kHexadecimal = 16;
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, kHexadecimal).ptr == text.data() + i + 3) {
      bytes += static_cast<char>(byte);
      i += 2;
    } else {
      bytes += plus && text[i] == '+' ? ' ' : text[i];
    }
  }
  return bytes;
}

bool parameter(std::string_view query, std::string_view name, std::string* value) {
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const size_t sign = std::min(pair.find('='), pair.size());
    if (unescaped(pair.substr(0, sign), true) != name) continue;
    *value = unescaped(pair.substr(std::min(sign + 1, pair.size())), true);
    return true;
  }
  return false;
}

std::string http_answer(int status, bool keeps_alive) {
  std::string answer = "HTTP/1.1 " + std::to_string(status) + " " + reason_of(status) + "\r\n";
  if (status == 405) answer += "Allow: POST\r\n";
  answer += "Content-Type: text/plain\r\nContent-Length: 0\r\nConnection: ";
  return answer + (keeps_alive ? "keep-alive" : "close") + "\r\n\r\n";
}

}  // namespace strom::format::forward
