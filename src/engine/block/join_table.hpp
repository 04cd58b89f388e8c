// The build side of a join as tiles see it. Made by the indexes of op/join/join_index.hpp, and the same on both
// platforms.
#pragma once

#include "engine/block/tile.hpp"

namespace strom::engine::block {

/// How the build rows of a join are found.
enum class JoinTableKind : uint8_t {
  kDirect,   // an entry for each integer
  kHash,     // open addressing by the hash of the keys
  kList,     // every row is a candidate
  kSpatial,  // cells over polygons
  kTree,     // a tree over points or boxes
};

struct DirectTable {
  int64_t min;                // key of entry 0
  uint64_t range;             // entries
  const uint32_t* bitmap;     // bit set: the key is present
  const uint32_t* index;      // entry -> first build row; null when nothing needs build rows
  const uint32_t* key_codes;  // entry -> group code; null when not needed
};

struct HashTable {
  const uint32_t* slots;  // build row or kNoRow
  const uint32_t* tags;   // upper hash bits of the slot's row
  uint64_t slot_mask;
  const uint64_t* filter;  // has the bit of each hash, by the hash's lowest bits; null: the table is small
  uint64_t filter_mask;    // of bits
};

struct SpatialTable {
  const char* cells;  // geo::CellIndex; its polygons have the numbers of the build rows
  uint64_t cells_bytes;
  int32_t srid;     // of points given by their coordinates
  uint8_t accepts;  // bits by geo::Answer: these answers are matches
};

struct TreeTable {
  const char* image;  // geo::TreeIndex; its rows are the build rows
  uint64_t image_bytes;
  int32_t srid;      // of points given by their coordinates
  bool by_distance;  // true: rows within a distance match; false: rows with overlapping boxes
};

struct JoinTable {
  JoinTableKind kind;
  bool unique;  // no probing row has two candidates
  uint32_t row_count;
  DirectTable direct;
  HashTable hash;
  SpatialTable spatial;
  TreeTable tree;
  const uint32_t* next;   // build row -> the next candidate for the same probing row, or kNoRow; null when unique
  const uint32_t* codes;  // build row -> group code; null when not needed
  uint8_t* matched;       // build row -> 1 once a probing row has matched it; null unless the join asks later
  const TableColumn* keys;
  const TableColumn* payload;
};

}  // namespace strom::engine::block
