// Messages of the keeper of exports: docs/format/exports.md. A request is one packet and so is each reply; sessions of
// the server put, drop and list exports, and whoever knows an export's identifier gets its file. Used by
// export_server.cpp and export_client.cpp; the Python package has its own side (python/strom/exports.py).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::service {

/// Begins every identifier: its version.
inline constexpr std::string_view kExportPrefix = "strom1-";
/// Bytes of what tells whether two exports have the same columns.
inline constexpr size_t kExportKeyBytes = 32;
/// Hexadecimal digits of the two parts of an identifier: which keeper it is, and the export's secret.
inline constexpr size_t kKeeperDigits = 16, kSecretDigits = 32;

/// What the keeper knows of an export. A part of packets as it is: both ends run on one machine.
struct ExportFacts {
  uint32_t owner = 0, database = 0;  // roles and databases of PostgreSQL, by oid
  int64_t bytes = 0, rows = 0;
  int32_t columns = 0, process = 0;
  int64_t made_us = 0;    // microseconds of UNIX time
  int64_t uses = 0;       // how often it was handed out
  int64_t is_pinned = 0;  // stays when the session that made it ends
  int64_t device = -1;    // the GPU that has the columns; -1: they are in the file
};

/// Hands a file to the keeper, and the lease of a GPU's memory (device_tasks.hpp) behind it; answered with its
/// identifier or an error. In a packet of kSame it asks for another identifier of the memory of an export with the same
/// key instead; the keeper has the size, the rows and the device then.
struct PutExport {
  ExportFacts facts;
  int64_t file_bytes = 0;
  int64_t limit = 0;  // bytes that the exports of its owner may have together
  // A strong hash of what the columns hold and how they lie: exports with the same key have the same bytes. Zeros: it
  // is not known.
  char key[kExportKeyBytes] = {};
};

/// Exports are dropped by their owners, and by whoever may do everything.
struct DropExport {
  uint32_t role = 0, may_drop_all = 0;
  char secret[kSecretDigits] = {};
};

/// Facts in one packet of kRow.
inline constexpr size_t kFactsPerPacket = 256;

/// First bytes of packets: requests, then replies.
enum class ExportMessage : char {
  kPut = 'P',
  kSame = 'S',
  kDrop = 'D',
  kList = 'L',
  kGet = 'G',
  kDone = 'K',
  kRow = 'R',
  kNothing = 'N',
  kFailed = 'E'
};

/// A packet of a message and what belongs to it.
template <class Body>
std::string encode(ExportMessage message, const Body& body) {
  std::string packet(1, static_cast<char>(message));
  packet.append(reinterpret_cast<const char*>(&body), sizeof body);
  return packet;
}
std::string encode_text(ExportMessage message, std::string_view text = {});
/// SQLSTATE, message, detail and hint, each but the first ended by a zero byte.
std::string encode_failure(const Status& status);

/// False when the packet has not just a Body behind its first byte.
template <class Body>
bool decode(std::string_view packet, Body* body) {
  if (packet.size() != 1 + sizeof(Body)) return false;
  packet.copy(reinterpret_cast<char*>(body), sizeof(Body), 1);
  return true;
}
/// What a packet of kFailed says.
Status decode_failure(std::string_view packet);

/// An identifier's parts; both empty where it is none.
struct ExportName {
  std::string keeper, secret;
};
ExportName parse_identifier(std::string_view identifier);
std::string make_identifier(std::string_view keeper, std::string_view secret);

/// The socket of a keeper, in the abstract namespace of UNIX sockets: no file stands for it.
std::string keeper_address(std::string_view keeper);

/// Hexadecimal digits from the system's source of random bytes.
Result<std::string> random_digits(size_t digits);

}  // namespace strom::service
