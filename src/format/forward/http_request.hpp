// Reads requests of HTTP/1.1 and 1.0, as far as they are used to send events, from untrusted bytes. Used by
// fluent2arrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strom::format::forward {

struct HttpRequest {
  std::string method, path, query;  // as they are in the request
  std::string type, encoding;       // of the body, in lower case: Content-Type without parameters
  std::string body;
  bool keeps_alive = true;
};

/// Reads a request from bytes that come in parts.
class HttpReader {
 public:
  explicit HttpReader(size_t most_body) : most_body_(most_body) {}

  enum class State : uint8_t {
    kMore,   // more bytes are needed
    kWhole,  // the request is complete
    kWrong,  // nothing more can be read: status() is the answer
  };
  /// Removes the bytes that it reads from `bytes`. Each byte of a body is looked at once.
  State read(std::string_view* bytes);
  /// Called after kWhole: returns the request. The next one begins then.
  HttpRequest take_request();
  /// Status of an answer: 400 and the like.
  int status() const { return status_; }
  /// True once when the client waits for permission to send the body.
  bool wants_continue();
  /// Bytes of the request so far.
  size_t held() const { return head_.size() + request_.body.size(); }
  bool is_empty() const { return held() == 0 && part_ == Part::kHead; }

 private:
  enum class Part : uint8_t { kHead, kBody, kChunkSize, kChunk, kChunkEnd, kTrailer };
  State wrong(int status);
  State read_head(std::string_view* bytes);
  State parse_head();
  int parse_first_line(std::string_view line);
  int parse_header(std::string_view line);
  State read_body(std::string_view* bytes);
  State read_chunk_size(std::string_view* bytes);
  /// Takes a line without its end; false: the end has not come.
  bool take_line(std::string_view* bytes, std::string* line);

  const size_t most_body_;
  Part part_ = Part::kHead;
  HttpRequest request_;
  std::string head_;  // or a line that is not complete
  size_t left_ = 0;   // bytes of the body or the chunk that are missing
  bool has_length_ = false, is_chunked_ = false, waits_ = false, is_old_ = false;
  int status_ = 0;
};

/// Decodes %XX and, with `plus`, + as a blank.
std::string unescaped(std::string_view text, bool plus);
/// The decoded value of a parameter in NAME=VALUE&…; false: there is none.
bool parameter(std::string_view query, std::string_view name, std::string* value);
/// An answer without a body.
std::string http_answer(int status, bool keeps_alive);

}  // namespace strom::format::forward
