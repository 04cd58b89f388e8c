// What fluent2arrow was told on its command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "format/forward/record_columns.hpp"

namespace strom::fluent2arrow {

struct Settings {
  std::string address = "127.0.0.1:24224";      // HOST:PORT, or the path of a UNIX socket
  std::string http;                             // an address; empty: not received
  int64_t http_limit = 0;                       // bytes of a body
  std::string syslog_stream, syslog_datagrams;  // addresses; empty: not received
  std::string syslog_tag;
  std::string key_file, users_file;  // secrets that clients have to know
  // Of TLS: ours, and those by which certificates of clients are checked.
  std::string certificate_file, private_key_file, authority_file;
  std::string path;  // pattern of files' names, see event_files.hpp
  format::arrow::Compression compression;
  std::vector<std::string> statistics;  // names; "*": all that can have them
  std::string schema;
  format::forward::RecordChoice records;
  int64_t flush_ms = 1000;                  // between two writes, at most
  int64_t flush_bytes = int64_t{64} << 20;  // of input, after which is written at once
  int64_t limit_bytes = int64_t{1} << 30;   // of a file, after which another one is begun
  int64_t limit_rows = 0;                   // the same; 0: any number
  int64_t limit_seconds = 0;                // files' names tell times that are multiples of it; 0: the time of writing
  int64_t memory_bytes = int64_t{512} << 20;  // of events that wait and of messages that are not whole
  bool verbose = false;
};

}  // namespace strom::fluent2arrow
