// The bytes of a published region: what a client may read without the server, and how it recognises a complete read.
// docs/format/store.md describes it for other languages. Uses no standard containers, so that readers in C may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "store/checksum.hpp"

namespace strom::store::region {

inline constexpr uint64_t kMagic = 0x31564B4D4F525453;  // "STROMKV1"
inline constexpr uint32_t kVersion = 2;
inline constexpr size_t kHeaderBytes = 4096;

/// The state of a region, in `Header::state`.
enum class State : uint32_t {
  kRecovering = 0,  // not filled yet
  kReady = 1,
  kMoved = 2,    // another region has replaced it: attach again
  kDropped = 3,  // the table is gone, or the right to read it
};

enum class ChecksumKind : uint32_t { kCrc64 = 1, kXxh3 = 2 };

/// The first page. The fields up to `checksum` never change after the region was made. The rest changes while readers
/// read, one word at a time.
struct Header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint64_t region_id;      // random
  uint64_t schema_hash;    // hash of the description
  uint64_t seeds[2];       // for the hash of keys
  uint32_t checksum_kind;  // of records: a ChecksumKind
  uint32_t bucket_slots;   // entries of a bucket in use: 4, or 1 as in the Pilaf paper
  uint64_t bucket_count;
  uint64_t buckets_offset;      // kStashBuckets more follow the buckets
  uint64_t description_offset;  // describes the rows: docs/format/store.md
  uint64_t description_bytes;
  uint64_t extents_offset;
  uint64_t file_bytes;  // of the whole region; unused pages have no memory
  uint64_t max_rows;
  uint64_t checksum;  // crc64 of all fields above

  alignas(64) uint32_t state;
  uint32_t stash_rows;  // entries in the stash, the buckets behind the last one
  uint64_t epoch;       // of the server that fills it
  uint64_t moves;       // odd while entries move to other buckets
  uint64_t extents_end;
  uint64_t pinned;  // 1: a network card holds pages of the region, which punching a hole in the file does not free

  alignas(64) uint64_t publish_begin;  // transactions that have begun to write their rows
  uint64_t publish_end;                // transactions that have written their rows
  uint64_t rows;
  uint64_t heartbeat_us;  // microseconds since 1970, set by the server
};
static_assert(sizeof(Header) <= kHeaderBytes && offsetof(Header, checksum) == 112);

/// An entry for one key. Both words are zero in an unused entry.
struct alignas(16) Entry {
  uint64_t place;  // fingerprint, length and offset: see Place
  uint64_t proof;  // checksum of the record, mixed with `place` and the bucket
};

inline constexpr uint32_t kWays = 3;
inline constexpr uint32_t kSlots = 4;
inline constexpr uint64_t kStashBuckets = 8;

inline constexpr uint64_t kLineBytes = 64;  // a bucket of kSlots entries
static_assert(kSlots * sizeof(Entry) == kLineBytes);

/// The unit of offsets and lengths.
inline constexpr uint64_t kUnit = 16;
inline constexpr uint32_t kOffsetBits = 36, kLengthBits = 12;
inline constexpr uint64_t kMaxOffset = (uint64_t{1} << kOffsetBits) * kUnit;
inline constexpr uint64_t kMaxShort = ((uint64_t{1} << kLengthBits) - 1) * kUnit;

/// `Entry::place`, unpacked.
struct Place {
  uint64_t offset;       // of the record in the region, in bytes
  uint64_t bytes;        // length of its extent; 0: above kMaxShort, the record has it
  uint32_t fingerprint;  // 16 bits of the key's hash
};

inline uint64_t pack_place(uint64_t offset, uint64_t bytes, uint32_t fingerprint) {
  const uint64_t length = bytes > kMaxShort ? 0 : bytes / kUnit;
  return (uint64_t{fingerprint} << (kOffsetBits + kLengthBits)) | (length << kOffsetBits) | (offset / kUnit);
}

inline Place unpack_place(uint64_t place) {
  return {(place & ((uint64_t{1} << kOffsetBits) - 1)) * kUnit,
          ((place >> kOffsetBits) & ((uint64_t{1} << kLengthBits) - 1)) * kUnit,
          static_cast<uint32_t>(place >> (kOffsetBits + kLengthBits))};
}

/// Precedes the key of a record. Key and payload follow, each padded with zeros to a multiple of 8 bytes. The whole is
/// padded to a multiple of kUnit.
struct RecordHeader {
  uint32_t sizes;    // bytes of the payload (low 21 bits) and of the key (high 11 bits)
  uint32_t version;  // the generation (low 31 bits), and kHasNulls
};

/// The payload begins with a bitmap of NULLs.
inline constexpr uint32_t kHasNulls = 1U << 31;
inline constexpr uint32_t kMaxGeneration = kHasNulls - 1;

inline constexpr uint32_t kPayloadBits = 21;
inline constexpr uint32_t kMaxPayload = (1U << kPayloadBits) - 1, kMaxKey = 2047;

inline uint32_t payload_bytes(const RecordHeader& header) { return header.sizes & ((1U << kPayloadBits) - 1); }
inline uint32_t key_bytes(const RecordHeader& header) { return header.sizes >> kPayloadBits; }
/// Differs for each version of a key; never 0.
inline uint32_t generation_of(const RecordHeader& header) { return header.version & kMaxGeneration; }
inline bool has_nulls(const RecordHeader& header) { return (header.version & kHasNulls) != 0; }
constexpr uint64_t padded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }
constexpr uint64_t record_bytes(uint64_t key, uint64_t payload) {
  return padded(sizeof(RecordHeader) + padded(key, sizeof(uint64_t)) + padded(payload, sizeof(uint64_t)), kUnit);
}

inline uint64_t mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xFF51AFD7ED558CCD;
  value ^= value >> 33;
  value *= 0xC4CEB9FE1A85EC53;
  return value ^ (value >> 33);
}

inline uint64_t multiply_high(uint64_t left, uint64_t right) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(left) * right) >> 64);
}

/// The checksum of a record.
inline uint64_t sum_of(const Header& header, const void* record, uint64_t bytes) {
  return header.checksum_kind == static_cast<uint32_t>(ChecksumKind::kXxh3) ? xxh3(record, bytes)
                                                                            : crc64(record, bytes);
}

/// The proof of an entry in bucket `bucket`, for a record with checksum `sum`.
inline uint64_t proof_of(uint64_t sum, uint64_t place, uint64_t bucket, uint64_t region_id) {
  return sum ^ mix(place ^ (bucket * 0x9E3779B97F4A7C15) ^ region_id);
}

/// The places where a key may be.
struct KeyHash {
  uint64_t buckets[kWays];
  uint32_t fingerprint;
};

inline uint64_t fold_product(uint64_t left, uint64_t right) {
  const unsigned __int128 product = static_cast<unsigned __int128>(left) * right;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_key(const void* key, size_t bytes, uint64_t seed) {
  const auto* at = static_cast<const uint8_t*>(key);
  uint64_t hash = seed ^ (bytes * 0x9E3779B97F4A7C15);
  for (; bytes > 0;) {
    const size_t part = bytes < sizeof(uint64_t) ? bytes : sizeof(uint64_t);
    uint64_t word = 0;
    std::memcpy(&word, at, part);
    hash = fold_product(hash ^ word, 0xA0761D6478BD642F) + 0xE7037ED1A0B428DB;
    at += part;
    bytes -= part;
  }
  return mix(hash);
}

inline KeyHash locate(const Header& header, const void* key, size_t bytes) {
  const uint64_t first = hash_key(key, bytes, header.seeds[0]);
  const uint64_t second = mix(first ^ header.seeds[1]), third = mix(second + 0x9E3779B97F4A7C15);
  return {{multiply_high(first, header.bucket_count), multiply_high(second, header.bucket_count),
           multiply_high(third, header.bucket_count)},
          static_cast<uint32_t>(first & 0xFFFF)};
}

/// Loads a word, at once, that others may write meanwhile.
template <class T>
inline T load_word(const T* address, int order = __ATOMIC_RELAXED) {
  return __atomic_load_n(address, order);
}
template <class T>
inline void store_word(T* address, T value, int order = __ATOMIC_RELAXED) {
  __atomic_store_n(address, value, order);
}

/// Stores an entry. If the processor supports it, no reader on this machine sees half of the entry; other readers
/// detect that by the proof. Earlier stores are visible to everybody who sees the entry.
inline void store_entry(Entry* to, Entry entry) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  // Every processor with AVX stores aligned vectors of 16 bytes at once. x86 does not reorder stores.
  using Vector = long long __attribute__((vector_size(16)));
  const Vector both = {static_cast<long long>(entry.place), static_cast<long long>(entry.proof)};
  asm volatile("movdqa %1, %0" : "=m"(*to) : "x"(both) : "memory");
#else
  store_word(&to->proof, entry.proof, __ATOMIC_RELEASE);
  store_word(&to->place, entry.place, __ATOMIC_RELEASE);
#endif
}

/// Copies words to memory that others may read meanwhile; `bytes` is a multiple of 8.
inline void copy_words_to(uint8_t* to, const void* from, uint64_t bytes) {
  auto* target = reinterpret_cast<uint64_t*>(to);
  const auto* words = static_cast<const uint64_t*>(from);
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t); ++i) store_word(target + i, words[i]);
}

/// Copies words from memory that others may write meanwhile; `bytes` is a multiple of 8.
inline void copy_words_from(void* to, const uint8_t* from, uint64_t bytes) {
  auto* words = static_cast<uint64_t*>(to);
  const auto* source = reinterpret_cast<const uint64_t*>(from);
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t); ++i) words[i] = load_word(source + i);
}

}  // namespace strom::store::region
