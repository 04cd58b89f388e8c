// See shared_metadata.hpp. The metadata of a table's files are cached in pieces that do not depend on each other. A
// piece may be out of date. As with this process's own cache, a file's identity tells whether its metadata still hold.
#include "pg/files/shared_metadata.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "format/arrow/read/metadata_cache.hpp"
#include "format/arrow/read/metadata_pack.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/cache/shared_columns.hpp"

namespace strom::pg::files {

using cache::SharedColumns;
using format::arrow::FileMetadata;
using format::arrow::metadata_cache;

namespace {

constexpr int64_t kUsualPiece = 1 << 20;
constexpr XLogRecPtr kVersion = (uint64_t{0x6d657461} << 32) + format::arrow::kMetadataPackLayout;
constexpr cache::ColumnId kColumn{cache::kMetadataAttribute, 0, 0, 0};

/// Precedes the bytes of a piece. The piece's number is the number of its group.
struct PieceHeader {
  uint64_t size, checksum;
  uint32_t pieces, unused;
};

uint64_t checksum_of(const uint8_t* bytes, uint64_t size) {
  return hash_bytes_extended(bytes, static_cast<int>(size), kVersion);
}

SharedColumns* attach() {
  if (guc::arrow_fdw::metadata_cache_size == 0 || !guc::pg_strom::enable_column_cache) return nullptr;
  return SharedColumns::attach();
}

// A FileId for a table's pieces. Tables of PostgreSQL never have a FileId whose tablespace is the OID of a database and
// whose database is 0.
compat::FileId place_of(Oid relid) { return {MyDatabaseId, InvalidOid, relid}; }

/// A scan's turn, for the room in the cache.
class Turn {
 public:
  Turn(SharedColumns* shared, Oid relid) : shared_(shared), turn_(shared->begin_scan(place_of(relid))) {}
  ~Turn() { shared_->end_scan(&turn_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  const SharedColumns::Turn& operator*() const { return turn_; }

 private:
  SharedColumns* shared_;
  SharedColumns::Turn turn_;
};

/// Takes piece `number` and returns the number of pieces; 0 when this piece is missing or unusable.
uint32_t take_piece(SharedColumns* shared, Oid relid, uint32_t number, const Turn& turn) {
  SharedColumns::Pins pins;
  cache::FoundColumn found;
  if (shared->find({place_of(relid), number}, kVersion, {kColumn}, *turn, &pins, &found) != SharedColumns::Found::kAll)
    return 0;
  PieceHeader header;
  std::memcpy(&header, found.bytes, sizeof header);
  const uint8_t* bytes = found.bytes + sizeof header;
  if (found.shape.rows < sizeof header || header.size != found.shape.rows - sizeof header ||
      header.checksum != checksum_of(bytes, header.size))
    return 0;
  auto files = format::arrow::unpack_metadata({bytes, static_cast<size_t>(header.size)});
  if (!files.has_value()) return 0;
  for (auto& file : *files) {
    file.metadata->shared_facts = file.metadata->facts();
    metadata_cache().seed(file.path, std::move(file.metadata));
  }
  return header.pieces;
}

void keep(SharedColumns* shared, Oid relid, const std::vector<std::string>& pieces) {
  const Turn turn(shared, relid);
  for (size_t i = 0; i < pieces.size(); ++i) {
    boundary::check_for_interrupts();
    const std::string& bytes = pieces[i];
    const PieceHeader header{bytes.size(), checksum_of(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()),
                             static_cast<uint32_t>(pieces.size()), 0};
    cache::NewColumn column{kColumn, {}, static_cast<int64_t>(sizeof header + bytes.size())};
    column.shape.rows = static_cast<uint32_t>(column.size);
    const bool cached = shared->add({place_of(relid), static_cast<BlockNumber>(i)}, kVersion, {column}, *turn,
                                    [&](size_t, uint8_t* to) {
                                      std::memcpy(to, &header, sizeof header);
                                      std::copy(bytes.begin(), bytes.end(), to + sizeof header);
                                    });
    if (!cached) return;
  }
}

/// True if the new metadata are a large enough part of all to be worth writing.
bool is_much(size_t fresh, size_t all) {
  constexpr size_t kFewest = 16, kPart = 8;
  return fresh > std::max(kFewest, all / kPart);
}

}  // namespace

void take_shared_metadata(Oid relid) {
  static auto* asked = new std::set<std::pair<Oid, Oid>>();
  if (asked->contains({MyDatabaseId, relid})) return;
  SharedColumns* shared = attach();
  if (shared == nullptr) return;
  asked->insert({MyDatabaseId, relid});
  const Turn turn(shared, relid);
  const uint32_t pieces = take_piece(shared, relid, 0, turn);
  for (uint32_t i = 1; i < pieces; ++i) {
    boundary::check_for_interrupts();
    take_piece(shared, relid, i, turn);
  }
}

void offer_shared_metadata(Oid relid, std::span<const FileEntry> files) {
  std::vector<std::pair<const std::string*, std::shared_ptr<const FileMetadata>>> known;
  size_t fresh = 0, all = 0;
  for (const FileEntry& file : files) {
    auto metadata = metadata_cache().settled(file.path);
    if (metadata == nullptr) continue;
    const size_t facts = metadata->facts();
    all += facts;
    fresh += facts - std::min(facts, metadata->shared_facts);
    known.emplace_back(&file.path, std::move(metadata));
  }
  if (!is_much(fresh, all)) return;
  SharedColumns* shared = attach();
  if (shared == nullptr) return;
  const int64_t largest = shared->largest_group() - static_cast<int64_t>(sizeof(PieceHeader));
  format::arrow::MetadataPacker packer;
  std::vector<std::string> pieces;
  const auto end_piece = [&] {
    std::string piece = packer.take();
    if (static_cast<int64_t>(piece.size()) <= largest) pieces.push_back(std::move(piece));
  };
  for (const auto& [path, metadata] : known) {
    metadata->shared_facts = metadata->facts();
    packer.add(*path, *metadata);
    if (packer.size() > std::min(kUsualPiece, largest / 2)) end_piece();
  }
  if (packer.size() > 0) end_piece();
  keep(shared, relid, pieces);
}

int64_t shared_metadata_bytes() {
  SharedColumns* shared = attach();
  return shared == nullptr ? 0 : shared->bytes_of(cache::kMetadataAttribute);
}

}  // namespace strom::pg::files
