// inet, cidr, macaddr and macaddr8. An inet register is a view of the bytes that PostgreSQL stores behind the length:
// family (2 = IPv4, 3 = IPv6), bits of the netmask, 4 or 16 bytes of address. Equal values have equal bytes. A macaddr
// is a number of 48 bits. A macaddr8 has 64 bits, the highest one inverted so that it orders as a signed number. Single
// source.
#pragma once

#include "engine/expr/text_make.hpp"

namespace strom::engine::expr {

struct Inet {
  const uint8_t* bytes;  // of the address
  int size, bits;
  bool valid;
};

STROM_INLINE Inet inet_of(StrView s) {
  const auto* at = reinterpret_cast<const uint8_t*>(s.ptr);
  if (s.len == 6 && at[0] == 2 && at[1] <= 32) return {at + 2, 4, at[1], true};
  if (s.len == 18 && at[0] == 3 && at[1] <= 128) return {at + 2, 16, at[1], true};
  return {at, 0, 0, false};
}

/// Compares the first `bits` bits: negative, zero or positive.
STROM_INLINE int compare_bits(const uint8_t* a, const uint8_t* b, int bits) {
  for (int i = 0; i * 8 < bits; ++i) {
    const int left = bits - i * 8;
    const int mask = left >= 8 ? 0xff : 0xff00 >> left & 0xff;
    const int order = (a[i] & mask) - (b[i] & mask);
    if (order != 0) return order;
  }
  return 0;
}

/// PostgreSQL's order: IPv4 first, then the common part of the network, then its length, then the address.
STROM_INLINE int inet_order(Inet a, Inet b) {
  if (a.size != b.size) return a.size - b.size;
  const int order = compare_bits(a.bytes, b.bytes, a.bits < b.bits ? a.bits : b.bits);
  if (order != 0) return order;
  return a.bits != b.bits ? a.bits - b.bits : compare_bits(a.bytes, b.bytes, a.size * 8);
}

#define STROM_DEFINE_INET_TEST(name, expression)                                        \
  struct name##Inet {                                                                   \
    STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView x, StrView y) { \
      const Inet a = inet_of(x), b = inet_of(y);                                        \
      out = a.valid && b.valid && (expression);                                         \
      return !a.valid || !b.valid;                                                      \
    }                                                                                   \
  };
STROM_DEFINE_INET_TEST(Lt, inet_order(a, b) < 0)
STROM_DEFINE_INET_TEST(Le, inet_order(a, b) <= 0)
STROM_DEFINE_INET_TEST(Gt, inet_order(a, b) > 0)
STROM_DEFINE_INET_TEST(Ge, inet_order(a, b) >= 0)
STROM_DEFINE_INET_TEST(Below, a.size == b.size && a.bits > b.bits && compare_bits(a.bytes, b.bytes, b.bits) == 0)
STROM_DEFINE_INET_TEST(BelowOrEqual,
                       a.size == b.size && a.bits >= b.bits && compare_bits(a.bytes, b.bytes, b.bits) == 0)
STROM_DEFINE_INET_TEST(Above, a.size == b.size && a.bits < b.bits && compare_bits(a.bytes, b.bytes, a.bits) == 0)
STROM_DEFINE_INET_TEST(AboveOrEqual,
                       a.size == b.size && a.bits <= b.bits && compare_bits(a.bytes, b.bytes, a.bits) == 0)
STROM_DEFINE_INET_TEST(Overlap,
                       a.size == b.size && compare_bits(a.bytes, b.bytes, a.bits < b.bits ? a.bits : b.bits) == 0)
STROM_DEFINE_INET_TEST(SameFamily, a.size == b.size)
#undef STROM_DEFINE_INET_TEST

using EqInet = EqText;
using NeInet = NeText;

struct FamilyInet {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView s) {
    const Inet a = inet_of(s);
    out = a.size == 4 ? 4 : 6;
    return !a.valid;
  }
};
struct MasklenInet {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView s) {
    const Inet a = inet_of(s);
    out = a.bits;
    return !a.valid;
  }
};

STROM_INLINE char* put_number(char* to, int value) {
  if (value >= 100) *to++ = static_cast<char>('0' + value / 100);
  if (value >= 10) *to++ = static_cast<char>('0' + value / 10 % 10);
  *to++ = static_cast<char>('0' + value % 10);
  return to;
}

STROM_INLINE char* put_ipv4(char* to, const uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0) *to++ = '.';
    to = put_number(to, bytes[i]);
  }
  return to;
}

/// Writes an address as PostgreSQL's inet_net_ntop() does: groups in hexadecimal, the first of the longest runs of
/// zeros as ::, and an embedded IPv4 address at the end.
STROM_INLINE char* put_ipv6(char* to, const uint8_t* bytes) {
  constexpr int kGroups = 8;
  auto group = [bytes](int i) { return bytes[2 * i] << 8 | bytes[2 * i + 1]; };
  int zeros = -1, length = 1;  // a run of only one group is written
  for (int i = 0; i < kGroups; ++i) {
    int end = i;
    while (end < kGroups && group(end) == 0) ++end;
    if (end - i > length) {
      zeros = i;
      length = end - i;
    }
    if (end > i) i = end - 1;
  }
  for (int i = 0; i < kGroups; ++i) {
    if (zeros >= 0 && i >= zeros && i < zeros + length) {
      if (i == zeros) *to++ = ':';
      continue;
    }
    if (i > 0) *to++ = ':';
    const bool embedded =
        i == 6 && zeros == 0 && (length == 6 || (length == 7 && group(7) != 1) || (length == 5 && group(5) == 0xffff));
    if (embedded) return put_ipv4(to, bytes + 12);
    bool begun = false;
    for (int shift = 12; shift >= 0; shift -= 4) {
      const int digit = group(i) >> shift & 15;
      begun = begun || digit != 0 || shift == 0;
      if (begun) *to++ = static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
  }
  if (zeros >= 0 && zeros + length == kGroups) *to++ = ':';
  return to;
}

/// host() and text().
template <bool kWithBits>
struct InetToText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    constexpr int kMostBytes = 50;
    const Inet a = inet_of(s);
    if (!a.valid) return true;
    char* made = context.make_text(kMostBytes);
    if (made == nullptr) return true;
    char* to = a.size == 4 ? put_ipv4(made, a.bytes) : put_ipv6(made, a.bytes);
    if (kWithBits) {
      *to++ = '/';
      to = put_number(to, a.bits);
    }
    out = {made, to - made};
    return false;
  }
};

/// Makes an inet with the family of `a`. Byte i of its address is f(i).
template <class F>
STROM_INLINE bool make_inet(const Context& context, StrView& out, Inet a, int bits, F f) {
  if (!a.valid) return true;
  char* made = context.make_text(a.size + 2);
  if (made == nullptr) return true;
  made[0] = a.size == 4 ? 2 : 3;
  made[1] = static_cast<char>(bits);
  for (int i = 0; i < a.size; ++i) made[2 + i] = static_cast<char>(f(i));
  out = {made, a.size + 2};
  return false;
}

/// Byte i of the netmask.
STROM_INLINE int mask_byte(Inet a, int i) {
  const int left = a.bits - i * 8;
  return left >= 8 ? 0xff : left <= 0 ? 0 : 0xff00 >> left & 0xff;
}

struct NetworkInet {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    const Inet a = inet_of(s);
    return make_inet(context, out, a, a.bits, [a](int i) { return a.bytes[i] & mask_byte(a, i); });
  }
};
struct BroadcastInet {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    const Inet a = inet_of(s);
    return make_inet(context, out, a, a.bits, [a](int i) { return a.bytes[i] | (0xff & ~mask_byte(a, i)); });
  }
};
struct NetmaskInet {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    const Inet a = inet_of(s);
    return make_inet(context, out, a, a.size * 8, [a](int i) { return mask_byte(a, i); });
  }
};
struct HostmaskInet {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    const Inet a = inet_of(s);
    return make_inet(context, out, a, a.size * 8, [a](int i) { return 0xff & ~mask_byte(a, i); });
  }
};
struct NotInet {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    const Inet a = inet_of(s);
    return make_inet(context, out, a, a.bits, [a](int i) { return ~a.bytes[i]; });
  }
};

/// Addresses of different families are an error in PostgreSQL.
template <bool kOr>
struct BitsInet {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView x, StrView y) {
    const Inet a = inet_of(x), b = inet_of(y);
    if (!b.valid || a.size != b.size) return true;
    return make_inet(context, out, a, a.bits > b.bits ? a.bits : b.bits,
                     [a, b](int i) { return kOr ? a.bytes[i] | b.bytes[i] : a.bytes[i] & b.bytes[i]; });
  }
};

STROM_INLINE int64_t address_v4(Inet a) {
  return static_cast<int64_t>(a.bytes[0]) << 24 | a.bytes[1] << 16 | a.bytes[2] << 8 | a.bytes[3];
}

/// Of IPv4 addresses. Results must be within the range of addresses.
template <int kSign>
struct MoveInet {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int64_t distance) {
    constexpr int64_t kEnd = static_cast<int64_t>(1) << 32;
    const Inet a = inet_of(s);
    if (!a.valid || a.size != 4 || distance <= -kEnd || distance >= kEnd) return true;
    const int64_t moved = address_v4(a) + kSign * distance;
    if (moved < 0 || moved >= kEnd) return true;
    return make_inet(context, out, a, a.bits,
                     [moved](int i) { return static_cast<int>(moved >> (24 - 8 * i) & 0xff); });
  }
};
struct DistanceInet {
  STROM_INLINE static bool eval(const Context&, int64_t& out, StrView x, StrView y) {
    const Inet a = inet_of(x), b = inet_of(y);
    const bool good = a.valid && b.valid && a.size == 4 && b.size == 4;
    out = good ? address_v4(a) - address_v4(b) : 0;
    return !good;
  }
};

inline constexpr int64_t kMacBits = 0xffffffffffffll;
inline constexpr int64_t kMac8Sign = INT64_MIN;  // the inverted bit of a macaddr8's register

struct NotMac {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    out = ~a & kMacBits;
    return false;
  }
};
struct TruncMac {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    out = a & ~static_cast<int64_t>(0xffffff);
    return false;
  }
};
struct NotMac8 {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    out = ~(a ^ kMac8Sign) ^ kMac8Sign;
    return false;
  }
};
struct AndMac8 {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a, int64_t b) {
    out = ((a ^ kMac8Sign) & (b ^ kMac8Sign)) ^ kMac8Sign;
    return false;
  }
};
struct OrMac8 {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a, int64_t b) {
    out = ((a ^ kMac8Sign) | (b ^ kMac8Sign)) ^ kMac8Sign;
    return false;
  }
};
struct TruncMac8 {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    out = a & ~static_cast<int64_t>(0xffffffffff);
    return false;
  }
};
struct SetLocalMac8 {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    out = a | static_cast<int64_t>(2) << 56;
    return false;
  }
};
/// FF and FE go between the two halves.
struct MacToMac8 {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    const uint64_t high = static_cast<uint64_t>(a) >> 24, low = static_cast<uint64_t>(a) & 0xffffff;
    out = static_cast<int64_t>(high << 40 | 0xfffe000000ull | low) ^ kMac8Sign;
    return false;
  }
};
struct Mac8ToMac {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    const auto bits = static_cast<uint64_t>(a ^ kMac8Sign);
    out = static_cast<int64_t>(bits >> 40 << 24 | (bits & 0xffffff));
    return (bits >> 24 & 0xffff) != 0xfffe;
  }
};

}  // namespace strom::engine::expr
