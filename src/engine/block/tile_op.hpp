// Op-codes of tile code. Separate from tile.hpp, because the functions' kernels, which are compiled for each
// instruction set, do not depend on them.
#pragma once

#include "engine/block/tile.hpp"

namespace strom::engine::block {

/// The op-codes of functions follow at kFirstFunction, see function_op().
enum class TileOp : uint16_t {
  kLoadColumn,     // dst <- source column imm
  kLoadPayload,    // dst <- payload column imm & 0xffff of join imm >> 16, at the build rows in register a
  kLoadCode,       // dst <- group code of join imm at the build rows in register a
  kProbeDirect,    // dst (bool) <- the key in register a is in the direct-address table of join imm
  kLookupIndex,    // dst <- build row of join imm for the key in register a, which is known to exist
  kLookupCode,     // dst <- group code of join imm for the key in register a, which is known to exist
  kHash,           // dst (int64) <- hash of the registers of list imm
  kProbeHash,      // dst <- first build row of join imm with the keys of list c, kNoRow without one; a = hash
  kFindCandidate,  // dst <- first build row of join imm that the row with the key registers of list c matches, kNoRow
                   // without one; fixed register b <- there are more (bool) or, in a join by a tree, the item found
  kNextCandidate,  // dst <- the candidate after register a's, kNoRow without one; b and c as above
  kFirstRow,       // dst <- first build row of join imm, kNoRow when it has none: a join without keys
  kMarkMatched,    // the build rows in register a of join imm have a match where the boolean register b is true
                   // (kNoRegister: everywhere); kNoRow is no build row
  kBuildRow,       // dst <- the row's number in its chunk, where the source is a build table
  kIsUnmatched,    // dst (bool) <- the build row in register a of join imm has had no match
  kRowFound,       // dst (bool) <- register a is not kNoRow
  kInPartition,  // dst (bool) <- the keys of list c, whose hash is register a, are in one of the buckets from imm >> 16
                 // to imm & 0xffff
  kFalse,        // dst (bool) <- false
  kIsNotTrue,    // dst (bool) <- the boolean register a is false or null
  kAnd,          // three-valued logic of registers a and b
  kOr,
  kNot,
  kIsNull,
  kIsNotNull,
  kSelect,        // dst <- a ? b : c
  kCoalesce,      // dst <- a, or b where a is null
  kRescale,       // dst <- numeric register a; imm = from scale << 16 | to scale
  kNumericToInt,  // dst <- numeric register a of scale imm; c = TypeId of the result
  kNumericToFloat,
  kToDecimal,     // dst <- numeric register a of scale imm as decimals
  kFixDecimal,    // dst <- decimal register a as numeric; imm as in NodeKind::kFixDecimal
  kAlignDecimal,  // dst <- decimal register a aligned for accumulators and orders, see expr::order_decimal
  kNarrowSum,     // dst <- register a, an error where a sum of such values could overflow; imm = AccKind
  kKeepWhere,     // dst <- register a, null where the boolean register b is not true
  kAssume,        // dst <- register a, an error where the boolean register b is not true
  kGate,          // drops rows for which a register of list imm has an error; list c = registers in use after it
  kSlotAdd,       // dst <- register a * imm + register b (kNoRegister: 0): dense group slot from codes
  kOrderKey,      // dst (int64) <- sort key of register a, an integer of the same order; imm = kOrder... bits
  kWithinTop,     // dst (bool) <- the sort key in register a is not after TileState::top_last
  kFindGroup,     // dst <- slot of the group whose keys are the registers of list imm; a = hash
};

/// Op-code of row `member` of a group of functions.def.
constexpr TileOp function_op(registry::FunctionGroup group, uint16_t member) {
  return static_cast<TileOp>(kFirstFunction + (static_cast<int>(group) << kGroupShift) + member);
}

}  // namespace strom::engine::block
