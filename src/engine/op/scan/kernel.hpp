// Scan: loads a source column into a register, for a contiguous tile or for the rows that are left. There is one loader
// per columnar::Layout. A contiguous column that already has the register's layout is used in place. Single source.
#pragma once

#include "base/stored_numeric.hpp"
#include "columnar/text.hpp"
#include "engine/block/registers.hpp"
#include "engine/expr/datetime.hpp"
#include "engine/expr/element.hpp"

namespace strom::engine::op {

using namespace block;
using columnar::ColumnView;
using columnar::Layout;
using columnar::TimeUnit;

/// reg[i] = convert(column[row of i]). The conversion tells whether the value is out of range.
template <class P, class T, class C, class F>
STROM_INLINE bool load_converted(const P& p, TileState& s, uint16_t dst, const ColumnView& column, F convert) {
  const C* in = static_cast<const C*>(column.values) + s.morsel_begin;
  T* out = static_cast<T*>(s.storage[dst].data);
  unsigned bad = 0;
  if (s.rows == nullptr) {
    in += s.dense_base;
    p.for_each(s.count, [&](int i) { bad |= convert(in[i], out[i]); });
  } else {
    const int32_t* rows = s.rows;
    p.for_each(s.count, [&](int i) { bad |= convert(in[rows[i]], out[i]); });
  }
  return p.any(bad != 0);
}

template <class P, class T, class C>
STROM_INLINE void load_widened(const P& p, TileState& s, uint16_t dst, const ColumnView& column) {
  load_converted<P, T, C>(p, s, dst, column, [](C in, T& out) {
    out = static_cast<T>(in);
    return 0u;
  });
}

/// For columns with the register's layout, which are used in place when contiguous.
template <class P, class T>
STROM_INLINE void load_plain(const P& p, TileState& s, uint16_t dst, const ColumnView& column) {
  if (s.rows == nullptr && alignof(T) <= 8) {
    const T* in = static_cast<const T*>(column.values) + s.morsel_begin + s.dense_base;
    p.leader([&] { s.regs[dst].data = const_cast<T*>(in); });
    return;
  }
  load_widened<P, T, T>(p, s, dst, column);
}

struct alignas(8) Words128 {
  uint64_t low, high;
};

STROM_INLINE bool date_in_range(int64_t days, int32_t& out) {
  out = static_cast<int32_t>(days);
  return (days < expr::kMinDate) | (days >= expr::kEndDate);
}

STROM_INLINE int64_t days_of_millis(int64_t millis) {
  const int64_t days = millis / 86400000;
  return (millis % 86400000 < 0 ? days - 1 : days) - expr::kUnixToPgDays;
}

/// Timestamps of any unit to microseconds since 2000-01-01; nanoseconds are truncated towards minus infinity.
STROM_INLINE bool timestamp_in_range(int64_t value, TimeUnit unit, int64_t& out) {
  constexpr int64_t kEpoch = static_cast<int64_t>(expr::kUnixToPgDays) * expr::kMicrosPerDay;
  base::int128 micros = value;
  if (unit == TimeUnit::kSecond) micros *= 1000000;
  if (unit == TimeUnit::kMilli) micros *= 1000;
  if (unit == TimeUnit::kNano) {
    int64_t quotient = value / 1000;
    if (value % 1000 < 0) --quotient;
    micros = quotient;
  }
  micros -= kEpoch;
  out = static_cast<int64_t>(micros);
  return micros < expr::kMinTimestamp || micros >= expr::kEndTimestamp;
}

template <class P>
STROM_INLINE bool load_i32(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  switch (c.layout) {
    case Layout::kInt8: load_widened<P, int32_t, int8_t>(p, s, dst, c); return false;
    case Layout::kUInt8: load_widened<P, int32_t, uint8_t>(p, s, dst, c); return false;
    case Layout::kInt16: load_widened<P, int32_t, int16_t>(p, s, dst, c); return false;
    case Layout::kUInt16: load_widened<P, int32_t, uint16_t>(p, s, dst, c); return false;
    case Layout::kDate32:
      return load_converted<P, int32_t, int32_t>(p, s, dst, c, [](int32_t in, int32_t& out) {
        return static_cast<unsigned>(date_in_range(static_cast<int64_t>(in) - expr::kUnixToPgDays, out));
      });
    case Layout::kDate64:
      return load_converted<P, int32_t, int64_t>(p, s, dst, c, [](int64_t in, int32_t& out) {
        return static_cast<unsigned>(date_in_range(days_of_millis(in), out));
      });
    default: load_plain<P, int32_t>(p, s, dst, c); return false;
  }
}

/// Bytes of a fixed width as a number, the first byte highest: macaddr, macaddr8, tid.
template <int kBytes>
struct BigEndian {
  uint8_t bytes[kBytes];

  STROM_INLINE int64_t number() const {
    uint64_t number = 0;
    for (int i = 0; i < kBytes; ++i) number = number << 8 | bytes[i];
    return static_cast<int64_t>(number);
  }
};

/// In a register, an unsigned value of 8 bytes has its highest bit inverted.
template <class P>
STROM_INLINE void load_unsigned(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  const auto inverted = [](uint64_t in, int64_t& out) {
    out = static_cast<int64_t>(in ^ uint64_t{1} << 63);
    return 0u;
  };
  if (c.layout == Layout::kUInt64) {
    load_converted<P, int64_t, uint64_t>(p, s, dst, c, inverted);
  } else if (c.byte_width == 8) {
    load_converted<P, int64_t, BigEndian<8>>(p, s, dst, c, [inverted](const BigEndian<8>& in, int64_t& out) {
      return inverted(static_cast<uint64_t>(in.number()), out);
    });
  } else {
    load_converted<P, int64_t, BigEndian<6>>(p, s, dst, c, [](const BigEndian<6>& in, int64_t& out) {
      out = in.number();
      return 0u;
    });
  }
}

template <class P>
STROM_INLINE bool load_i64(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  if (c.layout == Layout::kUInt32) {
    load_widened<P, int64_t, uint32_t>(p, s, dst, c);
    return false;
  }
  if (c.layout == Layout::kUInt64 || c.layout == Layout::kFixedBinary) {
    load_unsigned(p, s, dst, c);
    return false;
  }
  if (c.layout == Layout::kTimestamp) {
    const TimeUnit unit = c.unit;
    return load_converted<P, int64_t, int64_t>(p, s, dst, c, [unit](int64_t in, int64_t& out) {
      return static_cast<unsigned>(timestamp_in_range(in, unit, out));
    });
  }
  load_plain<P, int64_t>(p, s, dst, c);
  return false;
}

/// Decimals of any width. Arrow aligns to 8 bytes only.
template <class P>
STROM_INLINE void load_i128(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  const auto widen = [](int64_t in, Words128& out) {
    out = {static_cast<uint64_t>(in), static_cast<uint64_t>(in >> 63)};
    return 0u;
  };
  switch (c.layout) {
    case Layout::kDecimal32: load_converted<P, Words128, int32_t>(p, s, dst, c, widen); break;
    case Layout::kDecimal64: load_converted<P, Words128, int64_t>(p, s, dst, c, widen); break;
    default:
      load_converted<P, Words128, Words128>(p, s, dst, c, [](Words128 in, Words128& out) {
        out = in;
        return 0u;
      });
  }
}

template <class P>
STROM_INLINE void load_bool(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  const uint8_t* bits = static_cast<const uint8_t*>(c.values);
  uint8_t* out = static_cast<uint8_t*>(s.storage[dst].data);
  const int64_t begin = s.morsel_begin;
  if (s.rows == nullptr) {
    const int64_t first = begin + s.dense_base;
    p.for_each(s.count, [&](int i) { out[i] = bits[(first + i) >> 3] >> ((first + i) & 7) & 1; });
  } else {
    const int32_t* rows = s.rows;
    p.for_each(s.count, [&](int i) { out[i] = bits[(begin + rows[i]) >> 3] >> ((begin + rows[i]) & 7) & 1; });
  }
}

/// Texts by their indexes into a dictionary.
template <class P, class Index>
STROM_INLINE bool load_dictionary(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  const Index* in = static_cast<const Index*>(c.values) + s.morsel_begin;
  StrView* out = static_cast<StrView*>(s.storage[dst].data);
  const auto size = static_cast<uint64_t>(c.dictionary_size);
  unsigned bad = 0;
  p.for_each(s.count, [&](int i) {
    const int64_t row = row_of(s, i);
    const uint64_t index = base::load_once<Index>(in + row);
    const bool known = index < size;
    out[i] = known ? c.dictionary[index] : StrView{nullptr, 0};
    if (!known && columnar::is_valid(c, s.morsel_begin + row)) bad = 1;
  });
  return p.any(bad != 0);
}

/// Null rows may hold anything, so their texts become empty.
template <class P>
STROM_INLINE bool load_text(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  if (c.layout == Layout::kDictionary) {
    switch (c.byte_width) {
      case 1: return load_dictionary<P, uint8_t>(p, s, dst, c);
      case 2: return load_dictionary<P, uint16_t>(p, s, dst, c);
      case 4: return load_dictionary<P, uint32_t>(p, s, dst, c);
      default: return load_dictionary<P, uint64_t>(p, s, dst, c);
    }
  }
  StrView* out = static_cast<StrView*>(s.storage[dst].data);
  unsigned bad = 0;
  p.for_each(s.count, [&](int i) {
    const int64_t row = s.morsel_begin + row_of(s, i);
    out[i] = {nullptr, 0};
    if (columnar::is_valid(c, row) && !columnar::text_at(c, row, &out[i].ptr, &out[i].len)) {
      out[i] = {nullptr, 0};
      bad = 1;
    }
  });
  return p.any(bad != 0);
}

/// Null flags of the tile's rows; false when there are no nulls.
template <class P>
STROM_INLINE bool load_flags(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  if (c.null_count == 0 || c.validity == nullptr) return false;
  uint8_t* flags = s.storage[dst].flags;
  const uint8_t* bits = c.validity;
  const int64_t begin = s.morsel_begin;
  p.for_each(s.count, [&](int i) {
    const int64_t row = begin + row_of(s, i);
    flags[i] = ~(bits[row >> 3] >> (row & 7)) & 1;
  });
  return true;
}

/// Marks rows whose value is out of PostgreSQL's range: does the conversion again, row by row.
template <class P>
STROM_KERNEL void flag_out_of_range(const P& p, TileState& s, uint16_t dst, const ColumnView& c, bool has_nulls) {
  uint8_t* flags = s.storage[dst].flags;
  p.for_each(s.count, [&](int i) {
    const int64_t row = s.morsel_begin + row_of(s, i);
    bool bad;
    int32_t date;
    int64_t time;
    if (c.layout == Layout::kDate32)
      bad = date_in_range(static_cast<int64_t>(static_cast<const int32_t*>(c.values)[row]) - expr::kUnixToPgDays, date);
    else if (c.layout == Layout::kDate64)
      bad = date_in_range(days_of_millis(static_cast<const int64_t*>(c.values)[row]), date);
    else
      bad = timestamp_in_range(static_cast<const int64_t*>(c.values)[row], c.unit, time);
    const uint8_t null = has_nulls ? flags[i] : 0;
    flags[i] = null != 0 ? null : bad ? kErrorFlag : 0;
  });
}

/// Flags of a column that is already in register form.
template <class P>
STROM_INLINE void load_register_flags(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  const uint8_t* in = c.flags + s.morsel_begin;
  if (s.rows == nullptr) {
    p.leader([&] { s.regs[dst].flags = const_cast<uint8_t*>(in + s.dense_base); });
    return;
  }
  uint8_t* flags = s.storage[dst].flags;
  const int32_t* rows = s.rows;
  p.for_each(s.count, [&](int i) { flags[i] = in[rows[i]]; });
  p.leader([&] { s.regs[dst].flags = flags; });
}

/// Devices cannot inflate.
template <class P>
STROM_INLINE bool inflate(const P&, TileState& s, StrView* text) {
  if constexpr (!P::kDevice) {
    const int64_t size = s.inflater == nullptr ? -1 : s.inflater->size(*text);
    if (size < 0) return false;
    char* made = expr::Context{s.code->single_byte, &s.text, 0}.make_text(size);
    if (made == nullptr || !s.inflater->inflate(*text, made, size)) return false;
    *text = {made, size};
    return true;
  }
  return false;
}

/// Loads text of which some is compressed. It is inflated only now, because earlier segments have left few rows. Rows
/// whose text cannot be inflated, or does not fit the arena, are fallback rows.
template <class P>
STROM_KERNEL void load_packed(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  const StrView* in = static_cast<const StrView*>(c.values) + s.morsel_begin;
  const uint8_t* flags_in = c.flags + s.morsel_begin;
  StrView* out = static_cast<StrView*>(s.storage[dst].data);
  uint8_t* flags = s.storage[dst].flags;
  p.for_each_shared(s.count, [&](int i) {
    const int64_t row = row_of(s, i);
    StrView text = in[row];
    uint8_t flag = flags_in[row];
    if (flag & kPackedFlag) flag = inflate(p, s, &text) ? 0 : kErrorFlag;
    out[i] = flag == 0 ? text : StrView{nullptr, 0};
    flags[i] = flag;
  });
  p.leader([&] { s.regs[dst].flags = flags; });
}

/// Calls convert(stored, value) for each row; false makes a fallback row.
template <class P, class F>
STROM_INLINE void load_numerics(const P& p, TileState& s, uint16_t dst, const ColumnView& c, F convert) {
  const StrView* in = static_cast<const StrView*>(c.values) + s.morsel_begin;
  const uint8_t* flags_in = c.flags == nullptr ? nullptr : c.flags + s.morsel_begin;
  auto* out = static_cast<base::int128*>(s.storage[dst].data);
  uint8_t* flags = s.storage[dst].flags;
  unsigned flagged = 0;
  const auto load = [&](int i, int64_t row) {
    const uint8_t flag_in = flags_in == nullptr ? 0 : flags_in[row];
    base::int128 value = 0;
    const uint8_t flag = flag_in != 0 ? flag_in : convert(in[row], value) ? 0 : kErrorFlag;
    out[i] = value;
    flags[i] = flag;
    flagged |= flag;
  };
  // The compiler has to assume that stores to flags may change anything.
  const int32_t* const rows = s.rows;
  const int64_t first = s.dense_base;
  if (rows == nullptr)
    p.for_each(s.count, [&](int i) { load(i, first + i); });
  else
    p.for_each(s.count, [&](int i) { load(i, rows[i]); });
  const bool any = p.any(flagged != 0);
  p.leader([&] {
    if (any) s.regs[dst].flags = flags;
  });
}

/// Loads numerics in PostgreSQL's stored form, for the rows that are left: kNumeric at the register's scale, or
/// kDecimal.
template <class P>
STROM_KERNEL void load_stored_numeric(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  const int scale = c.scale;
  if (scale == base::kOwnScale) {
    load_numerics(p, s, dst, c, [](StrView from, base::int128& to) {
      if constexpr (!P::kDevice)
        if (base::StoredNumericReader::read_own(from.ptr, from.len, &to)) return true;
      return base::numeric_to_decimal(from.ptr, from.len, &to);
    });
    return;
  }
  if constexpr (!P::kDevice) {
    if (scale <= base::kOrdinaryScale) {
      const base::StoredNumericReader reader(scale);
      load_numerics(p, s, dst, c, [=](StrView from, base::int128& to) {
        if (reader.read_scaled(from.ptr, from.len, &to)) return true;
        return base::numeric_to_int128(from.ptr, from.len, scale, &to);
      });
      return;
    }
  }
  load_numerics(p, s, dst, c, [=](StrView from, base::int128& to) {
    return base::numeric_to_int128(from.ptr, from.len, scale, &to);
  });
}

/// Loads a column in register form; values are used in place when contiguous.
template <class P>
STROM_INLINE void load_register(const P& p, TileState& s, uint16_t dst, const ColumnView& c) {
  if (c.has_packed) return load_packed(p, s, dst, c);
  if (c.is_stored_numeric) return load_stored_numeric(p, s, dst, c);
  switch (static_cast<Phys>(s.code->register_phys[dst])) {
    case Phys::kBool: load_plain<P, uint8_t>(p, s, dst, c); break;
    case Phys::kI32: load_plain<P, int32_t>(p, s, dst, c); break;
    case Phys::kI64: load_plain<P, int64_t>(p, s, dst, c); break;
    case Phys::kI128: load_plain<P, Words128>(p, s, dst, c); break;
    case Phys::kF32: load_plain<P, float>(p, s, dst, c); break;
    case Phys::kF64: load_plain<P, double>(p, s, dst, c); break;
    case Phys::kStr: load_plain<P, StrView>(p, s, dst, c); break;
  }
  if (c.flags != nullptr) load_register_flags(p, s, dst, c);
}

/// kLoadColumn. False when a text offset is corrupt.
template <class P>
STROM_KERNEL bool load_column(const P& p, TileState& s, const TileInstr& instr) {
  const ColumnView& c = s.columns[instr.imm];
  const uint16_t dst = instr.dst;
  p.leader([&] { own(s, dst, false); });
  p.sync();
  if (c.is_register) {
    load_register(p, s, dst, c);
    p.sync();
    return true;
  }
  bool out_of_range = false, corrupt = false;
  switch (static_cast<Phys>(s.code->register_phys[dst])) {
    case Phys::kBool: load_bool(p, s, dst, c); break;
    case Phys::kI32: out_of_range = load_i32(p, s, dst, c); break;
    case Phys::kI64: out_of_range = load_i64(p, s, dst, c); break;
    case Phys::kI128: load_i128(p, s, dst, c); break;
    case Phys::kF32: load_plain<P, float>(p, s, dst, c); break;
    case Phys::kF64: load_plain<P, double>(p, s, dst, c); break;
    case Phys::kStr: corrupt = load_text(p, s, dst, c); break;
  }
  const bool has_nulls = load_flags(p, s, dst, c);
  if (out_of_range) flag_out_of_range(p, s, dst, c, has_nulls);
  p.leader([&] {
    if (has_nulls || out_of_range) s.regs[dst].flags = s.storage[dst].flags;
    if (corrupt) s.corrupt_column = static_cast<int32_t>(instr.imm);
  });
  p.sync();
  return !corrupt;
}

}  // namespace strom::engine::op
