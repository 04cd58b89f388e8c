// Differences between PostgreSQL versions in reading bitmaps of an index. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// The blocks of a bitmap, in ascending order.
struct BitmapBlocks {
#if PG_VERSION_NUM >= 180000
  TBMPrivateIterator* iterator;
#else
  TBMIterator* iterator;
#endif
};

inline BitmapBlocks begin_blocks(TIDBitmap* bitmap) {
#if PG_VERSION_NUM >= 180000
  return {tbm_begin_private_iterate(bitmap)};
#else
  return {tbm_begin_iterate(bitmap)};
#endif
}

/// InvalidBlockNumber at the end.
inline BlockNumber next_block(BitmapBlocks* blocks) {
#if PG_VERSION_NUM >= 180000
  TBMIterateResult result;
  return tbm_private_iterate(blocks->iterator, &result) ? result.blockno : InvalidBlockNumber;
#else
  const TBMIterateResult* result = tbm_iterate(blocks->iterator);
  return result != nullptr ? result->blockno : InvalidBlockNumber;
#endif
}

inline void end_blocks(BitmapBlocks* blocks) {
#if PG_VERSION_NUM >= 180000
  tbm_end_private_iterate(blocks->iterator);
#else
  tbm_end_iterate(blocks->iterator);
#endif
}

}  // namespace strom::pg::compat
