// Tile code and tile state: the program and the data of the op-code interpreter (engine/op/pipeline). Plain data, the
// same on both platforms. op/pipeline/assemble.cpp makes it for one pipeline at a time.
//
// A pipeline is a chain of segments. Segment 0 takes dense tiles of the source. Every segment ends by appending its
// surviving rows to the next segment's buffer (row numbers and carried registers). So each op-code works on tiles that
// are nearly full, however selective the filters are. The last segment ends in a sink.
#pragma once

#include <cstdint>

#include "columnar/batch.hpp"
#include "registry/aggregates.hpp"
#include "registry/function_groups.hpp"
#include "registry/types.hpp"

namespace strom::engine::block {

using registry::AccKind;
using registry::Phys;
using registry::StrView;

inline constexpr int kTileRows = 2048;
inline constexpr int kBufferRows = 2 * kTileRows;
inline constexpr int kTilePadding = 64;    // rows that vector code may write past a tile
inline constexpr uint8_t kNullFlag = 1;    // the value is null
inline constexpr uint8_t kErrorFlag = 2;   // the value could not be computed: if it is used, the row is a fallback row
inline constexpr uint8_t kPackedFlag = 4;  // of a source column: the text is compressed, see Inflater
inline constexpr uint32_t kNoRow = UINT32_MAX;
inline constexpr uint16_t kNoRegister = UINT16_MAX;

/// Op-codes of the registry's functions begin here. The smaller ones belong to tile code itself: block/tile_op.hpp.
inline constexpr int kFirstFunction = 1 << 10;
inline constexpr int kGroupShift = 10;  // op-codes of functions: bits for the row in a group

// TileInstr::flags
inline constexpr uint16_t kConstRight = 1;  // register b holds one value repeated
inline constexpr uint16_t kMayMiss = 2;     // kLoadPayload: register a may be kNoRow, and the value is then null
inline constexpr uint16_t kNoMatch = 4;     // kFirstRow: dst <- kNoRow, even if there are rows

inline constexpr uint32_t kOrderDescending = 1, kOrderNullsFirst = 2;  // of kOrderKey
inline constexpr uint32_t kOrderUpper = 4;                             // the upper half of 128 bits is the order

struct TileInstr {
  uint16_t op;
  uint16_t flags;
  uint16_t dst, a, b, c;
  uint32_t imm;
};

/// The row of functions.def that an instruction calls: its group, and its number in the group.
struct CalledFunction {
  registry::FunctionGroup group;
  uint16_t member;
};
constexpr CalledFunction called_function(const TileInstr& instr) {
  const int row = instr.op - kFirstFunction;
  return {static_cast<registry::FunctionGroup>(row >> kGroupShift),
          static_cast<uint16_t>(row & ((1 << kGroupShift) - 1))};
}

/// A register list lives in TileCode::lists: count, then register numbers.
using ListRef = uint32_t;

enum class SegmentEnd : uint8_t {
  kFilter,  // rows with a true mask register go to the next segment
  kExpand,  // all rows go to the next segment, and stay while their build row has further duplicates
  kMatch,   // rows try one build row after another; Segment::match decides what goes on
  kAggregate,
  kOutput,
};

/// What leaves a kMatch segment. A match is a build row for which the mask is true.
enum class MatchKind : uint8_t {
  kInner,  // the row with each of its matches
  kLeft,   // the same; without a match, the row with kNoRow
  kSemi,   // the row once, if it has a match
  kAnti,   // the row once, if it has no match
  kNone,   // nothing: matches are only marked
};

struct Segment {
  uint32_t begin, end;  // instructions
  SegmentEnd kind;
  MatchKind match;     // kMatch
  uint16_t mask;       // kFilter, kMatch: register, kNoRegister when all rows pass; kAggregate: slot register,
                       // kNoRegister for a single group
  uint16_t join;       // kExpand, kMatch: the join whose duplicates are followed
  uint16_t index;      // kExpand, kMatch: register with the current build row
  uint16_t following;  // kExpand, kMatch: register with the next build row; kNoRegister: JoinTable::next has it
  uint16_t matched;    // kMatch of kLeft: boolean register, the row has had a match
  ListRef carried;     // registers handed to the next segment, under the same numbers
  ListRef errors;      // kFilter: registers whose errors make a row a fallback row (the mask among them)
  ListRef join_rows;   // per join of the pipeline: register with its build row, kNoRegister = look up by key
};

/// How a kAggregate segment finds a row's group.
enum class Grouping : uint8_t {
  kNone,    // there is one group
  kDirect,  // the group's number is computed from codes of join tables
  kHashed,  // the group is looked up by its keys in the hash table of GroupTable
};

struct AggregateCode {
  AccKind acc;
  Phys phys;        // of the argument
  uint16_t arg;     // register, kNoRegister for count(*)
  uint16_t second;  // kPairMoments: register of the other argument, which is not null where the first is not null
};

/// Accumulators of an aggregate in the shared memory of a device's block: where its array of null counts and its array
/// of values begin, in bytes.
struct OwnArrays {
  uint32_t nulls, values;
  int32_t value_bytes;
  uint64_t identity;  // first 8 bytes of an empty accumulator; the further bytes are 0
};

struct TileCode {
  const TileInstr* instrs;
  const Segment* segments;
  const uint16_t* lists;
  const AggregateCode* aggregates;
  const uint8_t* register_phys;  // Phys of each register
  const OwnArrays* own_arrays;   // per aggregate
  uint32_t own_groups;  // in a device's block, groups with smaller numbers have accumulators of the block; 0: none have
  uint32_t own_bytes;   // size of the block's accumulators, which begin with a row count (uint32_t) for each group
  uint32_t segment_count, aggregate_count, join_count;
  ListRef outputs;     // kOutput: registers
  ListRef group_keys;  // kAggregate by hash: key registers
  bool single_byte;    // one byte per character
  Grouping grouping;   // kAggregate
  bool makes_text;     // some instruction allocates in the text arena
  bool keeps_text;     // and the sink holds views of such texts
};

/// A register in use: `data` holds a tile of values of its physical kind; null `flags` = no value has a flag.
struct Reg {
  void* data;
  uint8_t* flags;
};

/// Memory of a register; a register's data may also point into a column or a segment's buffer.
struct RegStorage {
  void* data;
  uint8_t* flags;
};

/// Rows that wait for a segment. The carried registers are in the order of the previous segment's list.
struct SegmentBuffer {
  int32_t* rows;  // relative to the morsel's first row
  RegStorage* carried;
  uint8_t* has_flags;  // per carried register: some row in the buffer has flags
  int32_t count;
};

/// A column of a join's build table or of a group table, in register layout.
struct TableColumn {
  void* data;
  uint8_t* flags;  // null: no value has a flag
  Phys phys;
};

struct JoinTable;  // block/join_table.hpp

/// Groups and their accumulators, column by column. Dense: slot = group, present when rows[slot] > 0. Hashed: open
/// addressing over `slots`, groups numbered as they come. On a device, states may share a table. A group without rows
/// does not count there: two threads have made the same group.
struct GroupTable {
  uint32_t* slots;  // hashed: group or kNoRow, at least twice the capacity
  uint64_t slot_mask;
  uint64_t* hashes;   // hashed: per group
  TableColumn* keys;  // hashed: flags never null
  int64_t* rows;      // input rows per group
  int64_t** nulls;    // per aggregate: inputs that were null; null for count(*)
  void** values;      // per aggregate; null for counts
  uint32_t count;     // hashed: groups so far, more than the capacity when a device had no room; dense: slots
  uint32_t capacity;  // groups that fit
};

struct OutputBuffer {
  TableColumn* columns;
  uint8_t* has_flags;
  int32_t count, capacity;
};

/// Memory of the texts that functions make (upper, ||, ...). A segment's texts are dropped at its end, unless the sink
/// holds views of them. Then they stay until the host has copied what the sink keeps (RunResult::kTextFull).
struct TextArena {
  char* bytes;
  int64_t used;        // may exceed the capacity on a device
  int64_t capacity;    // 0 when no function makes text
  int32_t overflowed;  // a text did not fit since the host looked last
};

/// Decompresses the texts of a source when a tile loads them, on the host. Any thread; neither function throws.
struct Inflater {
  int64_t (*size)(StrView stored);  // bytes of the text; -1: it cannot be inflated
  bool (*inflate)(StrView stored, char* to, int64_t size);
};

/// Fallback rows: PostgreSQL evaluates them.
struct FallbackBuffer {
  int32_t* rows;        // relative to the morsel's first row
  uint32_t* join_rows;  // capacity x TileCode::join_count, kNoRow = look up again
  int32_t count, capacity;
};

enum class RunResult : int32_t {
  kDone,        // the morsel is finished
  kOutputFull,  // make room and call again
  kGroupsFull,
  kFallbackFull,
  kTextFull,     // the arena of computed text is full: copy what the sink holds, empty it, call again
  kPaused,       // TileState::budget is used up, or TileState::stop is set: the caller may stop, or call again to go on
  kCorruptText,  // a text offset or view of source column corrupt_column lies outside its buffer
};

/// Everything that one worker (CPU thread, CUDA block) needs to run.
struct TileState {
  const TileCode* code;
  Reg* regs;
  const RegStorage* storage;
  SegmentBuffer* buffers;     // per segment; [0] is not used
  uint64_t* segment_rows_in;  // statistics, per segment
  uint64_t* segment_rows_out;
  const JoinTable* joins;
  GroupTable* groups;
  OutputBuffer* output;
  FallbackBuffer* fallback;
  TextArena text;
  const Inflater* inflater;    // null: rows with compressed values are fallback rows
  int64_t text_mark;           // TextArena::used when the running segment began
  int32_t* scratch_positions;  // kTileRows + padding
  uint8_t* scratch_mask;
  void* scratch_values;  // kTileRows of 16 bytes
  int32_t* local_rows;   // rows of the running tile after a gate, or after the selection
  const columnar::ColumnView* columns;
  const uint8_t* selection;  // bitmap of the chunk's visible rows; null: all are visible
  int64_t morsel_begin;      // first row in the chunk
  int32_t morsel_rows;
  int32_t budget;                // tiles to run before a pause
  int64_t top_last;              // sort key of the last row that the result needs so far, see kWithinTop
  const volatile int32_t* stop;  // null, or memory of the device: a value other than 0 ends the budget
  int32_t cursor;                // rows of the morsel that segment 0 has taken
  // The running tile
  int32_t count;
  int32_t taken;          // count before some rows became fallback rows
  int32_t passed;         // segment 0: rows of the morsel that the tile covers; those of `taken` and filtered ones
  int32_t fallback_mark;  // FallbackBuffer::count when the running segment began
  int32_t groups_full;    // of a device: the tile has to run again when there is room for groups
  int32_t dense_base;     // first row when rows == nullptr
  const int32_t* rows;    // row of each entry relative to the morsel; null when they are consecutive
  uint32_t segment;
  int32_t corrupt_column;
};

/// Runs a worker's morsel on one of the platforms.
using RunMorsel = RunResult (*)(TileState&);

}  // namespace strom::engine::block
