// jsonb: reading PostgreSQL's binary form. A value of the register is the root container: the bytes behind the varlena
// header.
//
// A container (src/include/utils/jsonb.h) is a word with flags and a count, an entry of 32 bits for each child (of an
// object: all keys, then all values), and the children's data. An entry has 3 bits of type, and 28 bits with the length
// of the data or with its end relative to the first child's begin. Numbers and containers begin at multiples of 4 from
// there; their length includes the padding before them. A scalar root is an array of one element with a flag.
//
// The bytes may be damaged or change while they are read: each word is loaded once and checked before use. Single
// source.
#pragma once

#include "engine/expr/row_decimal.hpp"
#include "engine/expr/stored_decimal.hpp"
#include "engine/expr/text_make.hpp"

namespace strom::engine::expr {

enum class JsonKind : uint8_t { kString, kNumber, kFalse, kTrue, kNull, kContainer };

/// A child of a container; `bytes` without padding.
struct JsonItem {
  JsonKind kind;
  StrView bytes;
};

inline constexpr uint32_t kJsonCount = 0x0FFFFFFF, kJsonScalar = 0x10000000, kJsonObject = 0x20000000,
                          kJsonArray = 0x40000000;
inline constexpr uint32_t kJsonLength = 0x0FFFFFFF, kJsonEnd = 0x80000000;
inline constexpr int kJsonKindShift = 28;

/// A view of a container. Its entries are known to lie in its bytes.
struct JsonContainer {
  StrView bytes;
  uint32_t header;

  STROM_INLINE bool is_object() const { return (header & kJsonObject) != 0; }
  STROM_INLINE bool is_array() const { return (header & kJsonArray) != 0; }
  STROM_INLINE bool is_scalar() const { return (header & kJsonScalar) != 0; }
  STROM_INLINE int64_t count() const { return header & kJsonCount; }
  STROM_INLINE int64_t entries() const { return is_object() ? 2 * count() : count(); }
  STROM_INLINE uint32_t entry(int64_t index) const { return base::load_unaligned<uint32_t>(bytes.ptr + 4 + 4 * index); }
  STROM_INLINE int64_t data_begin() const { return 4 + 4 * entries(); }
};

/// False when the bytes are no container.
STROM_INLINE bool open_json(StrView bytes, JsonContainer* container) {
  if (bytes.len < 4) return false;
  *container = {bytes, base::load_unaligned<uint32_t>(bytes.ptr)};
  return container->is_object() != container->is_array() && container->data_begin() <= bytes.len;
}

/// Where child `index` begins in the data. About every 32nd entry has an end, the others a length.
STROM_INLINE int64_t json_offset(const JsonContainer& c, int64_t index) {
  int64_t offset = 0;
  for (int64_t i = index - 1; i >= 0; --i) {
    const uint32_t entry = c.entry(i);
    offset += entry & kJsonLength;
    if (entry & kJsonEnd) break;
  }
  return offset;
}

/// Child `index`, which begins at `offset`. False when it reaches beyond the container.
STROM_INLINE bool json_item(const JsonContainer& c, int64_t index, int64_t offset, JsonItem* item) {
  const uint32_t entry = c.entry(index);
  const int64_t end = (entry & kJsonEnd) ? (entry & kJsonLength) : offset + (entry & kJsonLength);
  item->kind = static_cast<JsonKind>(entry >> kJsonKindShift & 7);
  const bool padded = item->kind == JsonKind::kNumber || item->kind == JsonKind::kContainer;
  const int64_t begin = padded ? (offset + 3) & ~int64_t{3} : offset;
  if (item->kind > JsonKind::kContainer || begin > end || end > c.bytes.len - c.data_begin()) return false;
  item->bytes = {c.bytes.ptr + c.data_begin() + begin, end - begin};
  return true;
}

/// The result of a search, kept as the result's flag.
enum class JsonFound : uint8_t { kYes = 0, kNo = block::kNullFlag, kDamaged = block::kErrorFlag };

/// The value of `key`. Keys are ordered by length, then by bytes.
STROM_INLINE JsonFound find_json_key(const JsonContainer& c, StrView key, JsonItem* value) {
  int64_t offset = 0;
  const int64_t keys = c.count();
  for (int64_t i = 0; i < keys; ++i) {
    JsonItem item;
    if (!json_item(c, i, offset, &item) || item.kind != JsonKind::kString) return JsonFound::kDamaged;
    if (item.bytes.len > key.len) return JsonFound::kNo;
    if (text_equal(item.bytes, key))
      return json_item(c, keys + i, json_offset(c, keys + i), value) ? JsonFound::kYes : JsonFound::kDamaged;
    offset = item.bytes.ptr + item.bytes.len - (c.bytes.ptr + c.data_begin());
  }
  return JsonFound::kNo;
}

/// Element `index` of an array. Negative indexes count from its end.
STROM_INLINE JsonFound find_json_element(const JsonContainer& c, int64_t index, JsonItem* value) {
  if (index < 0) index += c.count();
  if (index < 0 || index >= c.count()) return JsonFound::kNo;
  return json_item(c, index, json_offset(c, index), value) ? JsonFound::kYes : JsonFound::kDamaged;
}

/// The item as a jsonb of its own.
STROM_INLINE uint8_t json_result(const Context& context, const JsonItem& item, StrView& out) {
  if (item.kind == JsonKind::kContainer) {
    out = item.bytes;
    JsonContainer ignored;
    return open_json(item.bytes, &ignored) ? 0 : block::kErrorFlag;
  }
  char* made = context.make_text(8 + item.bytes.len);
  if (made == nullptr) return block::kErrorFlag;
  const uint32_t words[2] = {1 | kJsonScalar | kJsonArray, kJsonEnd |
                                                               static_cast<uint32_t>(item.kind) << kJsonKindShift |
                                                               static_cast<uint32_t>(item.bytes.len)};
  for (int i = 0; i < 8; ++i) made[i] = static_cast<char>(words[i / 4] >> (8 * (i % 4)));
  put(made + 8, item.bytes);
  out = {made, 8 + item.bytes.len};
  return 0;
}

STROM_INLINE uint8_t make_copy(const Context& context, StrView text, StrView& out) {
  char* made = context.make_text(text.len);
  if (made == nullptr) return block::kErrorFlag;
  put(made, text);
  out = {made, text.len};
  return 0;
}

/// The item as text: null for null. Arrays and objects make fallback rows, because PostgreSQL prints them.
STROM_INLINE uint8_t json_text(const Context& context, const JsonItem& item, StrView& out) {
  switch (item.kind) {
    case JsonKind::kString: out = item.bytes; return 0;
    case JsonKind::kNumber: {
      int128 decimal;
      return !stored_decimal(item.bytes, &decimal) || DecimalToText::eval(context, out, decimal) ? block::kErrorFlag
                                                                                                 : 0;
    }
    case JsonKind::kFalse: return make_copy(context, {"false", 5}, out);
    case JsonKind::kTrue: return make_copy(context, {"true", 4}, out);
    case JsonKind::kNull: return block::kNullFlag;
    default: return block::kErrorFlag;
  }
}

/// Gives a found item, as text or as jsonb, and the flag of the search.
template <bool kText>
STROM_INLINE uint8_t give_json(const Context& context, JsonFound found, const JsonItem& item, StrView& out) {
  if (found != JsonFound::kYes) return static_cast<uint8_t>(found);
  return kText ? json_text(context, item, out) : json_result(context, item, out);
}

/// json -> key and json ->> key. Functions of this file that are kNullable in functions.def give flags.
template <bool kText>
struct JsonField {
  STROM_INLINE static uint8_t eval(const Context& context, StrView& out, StrView json, StrView key) {
    JsonContainer c;
    JsonItem item;
    if (!open_json(json, &c)) return block::kErrorFlag;
    if (!c.is_object()) return block::kNullFlag;
    return give_json<kText>(context, find_json_key(c, key, &item), item, out);
  }
};

/// json -> index and json ->> index.
template <bool kText>
struct JsonElement {
  STROM_INLINE static uint8_t eval(const Context& context, StrView& out, StrView json, int32_t index) {
    JsonContainer c;
    JsonItem item;
    if (!open_json(json, &c)) return block::kErrorFlag;
    if (!c.is_array()) return block::kNullFlag;
    return give_json<kText>(context, find_json_element(c, index, &item), item, out);
  }
};

/// A step of a path whose key is a number with at most nine digits: the key of an object, or the index of an array.
template <bool kText>
struct JsonStep {
  STROM_INLINE static uint8_t eval(const Context& context, StrView& out, StrView json, StrView key) {
    JsonContainer c;
    JsonItem item;
    if (!open_json(json, &c)) return block::kErrorFlag;
    if (c.is_object()) return give_json<kText>(context, find_json_key(c, key, &item), item, out);
    if (c.is_scalar()) return block::kNullFlag;
    const int64_t begin = key.len > 0 && key.ptr[0] == '-' ? 1 : 0;
    if (key.len == begin || key.len - begin > 9) return block::kErrorFlag;
    int64_t index = 0;
    for (int64_t i = begin; i < key.len; ++i) {
      if (key.ptr[i] < '0' || key.ptr[i] > '9') return block::kErrorFlag;
      index = index * 10 + (key.ptr[i] - '0');
    }
    return give_json<kText>(context, find_json_element(c, begin != 0 ? -index : index, &item), item, out);
  }
};

/// *out: whether the array has the string. False when the bytes are damaged.
STROM_INLINE bool has_json_string(const JsonContainer& c, StrView text, uint8_t* out) {
  int64_t offset = 0;
  *out = 0;
  for (int64_t i = 0; i < c.count(); ++i) {
    JsonItem item;
    if (!json_item(c, i, offset, &item)) return false;
    if (item.kind == JsonKind::kString && text_equal(item.bytes, text)) *out = 1;
    offset = item.bytes.ptr + item.bytes.len - (c.bytes.ptr + c.data_begin());
  }
  return true;
}

/// json ? text: the text is a key of the object, or a string in the array.
struct JsonExists {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView json, StrView text) {
    JsonContainer c;
    out = 0;
    if (!open_json(json, &c)) return true;
    if (c.is_array()) return !has_json_string(c, text, &out);
    JsonItem ignored;
    const JsonFound found = find_json_key(c, text, &ignored);
    out = found == JsonFound::kYes;
    return found == JsonFound::kDamaged;
  }
};

/// The item of a scalar root. False when the root is no scalar, or damaged.
STROM_INLINE bool json_scalar(StrView json, JsonItem* item) {
  JsonContainer c;
  return open_json(json, &c) && c.is_array() && c.is_scalar() && c.count() == 1 && json_item(c, 0, 0, item) &&
         item->kind != JsonKind::kContainer;
}

STROM_INLINE StrView json_kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::kString: return {"string", 6};
    case JsonKind::kNumber: return {"number", 6};
    case JsonKind::kFalse:
    case JsonKind::kTrue: return {"boolean", 7};
    default: return {"null", 4};
  }
}

struct JsonTypeof {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView json) {
    JsonContainer c;
    if (!open_json(json, &c)) return true;
    if (c.is_object()) return make_copy(context, {"object", 6}, out) != 0;
    if (!c.is_scalar()) return make_copy(context, {"array", 5}, out) != 0;
    JsonItem item;
    return !json_scalar(json, &item) || make_copy(context, json_kind_name(item.kind), out) != 0;
  }
};

struct JsonArrayLength {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView json) {
    JsonContainer c;
    out = 0;
    if (!open_json(json, &c) || !c.is_array() || c.is_scalar()) return true;
    out = static_cast<int32_t>(c.count());
    return false;
  }
};

/// Casts of a jsonb number, by a cast of decimals.
template <class Cast>
struct JsonToNumber {
  template <class R>
  STROM_INLINE static bool eval(const Context& context, R& out, StrView json) {
    JsonItem item;
    int128 decimal;
    out = 0;
    if (!json_scalar(json, &item) || item.kind != JsonKind::kNumber || !stored_decimal(item.bytes, &decimal))
      return true;
    return Cast::eval(context, out, decimal);
  }
};
struct SameDecimal {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a) {
    out = a;
    return false;
  }
};
struct JsonToBool {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView json) {
    JsonItem item;
    out = 0;
    if (!json_scalar(json, &item)) return true;
    out = item.kind == JsonKind::kTrue;
    return item.kind != JsonKind::kTrue && item.kind != JsonKind::kFalse;
  }
};

/// Equality of two items. Sets `unsure` where only PostgreSQL can tell.
STROM_INLINE bool same_json(const JsonItem& a, const JsonItem& b, bool* unsure) {
  if (a.kind != b.kind) return false;
  if (a.kind > JsonKind::kNumber && a.kind < JsonKind::kContainer) return true;
  if (text_equal(a.bytes, b.bytes)) return true;
  if (a.kind == JsonKind::kString) return false;
  int128 x, y;
  if (a.kind == JsonKind::kNumber && stored_decimal(a.bytes, &x) && stored_decimal(b.bytes, &y))
    return compare_decimals(x, y) == 0;
  *unsure = true;
  return false;
}

/// json = json. Containers whose bytes differ may still be equal: 1.0 and 1.00 are.
template <bool kEqual>
struct JsonEquals {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView a, StrView b) {
    JsonContainer x, y;
    bool unsure = false;
    out = kEqual;
    if (!open_json(a, &x) || !open_json(b, &y)) return true;
    if (text_equal(a, b)) return false;
    out = !kEqual;
    if (x.is_object() != y.is_object() || x.is_scalar() != y.is_scalar() || x.count() != y.count()) return false;
    if (!x.is_scalar()) return true;
    JsonItem left, right;
    if (!json_scalar(a, &left) || !json_scalar(b, &right)) return true;
    out = same_json(left, right, &unsure) == kEqual;
    return unsure;
  }
};

/// json @> json, where all members of the right side are scalars.
struct JsonContains {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView json, StrView part) {
    JsonContainer all, wanted;
    out = 0;
    if (!open_json(json, &all) || !open_json(part, &wanted)) return true;
    if (all.is_object() != wanted.is_object() || (all.is_scalar() && !wanted.is_scalar())) return false;
    bool unsure = false;
    for (int64_t i = 0; i < wanted.count(); ++i) {
      const JsonFound found =
          wanted.is_object() ? has_pair(all, wanted, i, &unsure) : has_element(all, wanted, i, &unsure);
      if (found == JsonFound::kDamaged) return true;
      if (found == JsonFound::kNo) return false;
    }
    out = 1;
    return unsure;
  }

 private:
  STROM_INLINE static JsonFound has_pair(const JsonContainer& all, const JsonContainer& wanted, int64_t i,
                                         bool* unsure) {
    JsonItem key, value, found;
    if (!json_item(wanted, i, json_offset(wanted, i), &key)) return JsonFound::kDamaged;
    if (!json_item(wanted, wanted.count() + i, json_offset(wanted, wanted.count() + i), &value))
      return JsonFound::kDamaged;
    const JsonFound has = find_json_key(all, key.bytes, &found);
    if (has != JsonFound::kYes) return has;
    if (value.kind == JsonKind::kContainer && found.kind == JsonKind::kContainer) {
      *unsure = true;
      return JsonFound::kYes;
    }
    bool open = false;
    const bool same = same_json(value, found, &open);
    *unsure |= open;
    return same || open ? JsonFound::kYes : JsonFound::kNo;
  }

  STROM_INLINE static JsonFound has_element(const JsonContainer& all, const JsonContainer& wanted, int64_t i,
                                            bool* unsure) {
    JsonItem value;
    if (!json_item(wanted, i, json_offset(wanted, i), &value)) return JsonFound::kDamaged;
    bool open = value.kind == JsonKind::kContainer;
    int64_t offset = 0;
    for (int64_t k = 0; k < all.count() && value.kind != JsonKind::kContainer; ++k) {
      JsonItem item;
      if (!json_item(all, k, offset, &item)) return JsonFound::kDamaged;
      if (same_json(value, item, &open)) return JsonFound::kYes;
      offset = item.bytes.ptr + item.bytes.len - (all.bytes.ptr + all.data_begin());
    }
    *unsure |= open;
    return open ? JsonFound::kYes : JsonFound::kNo;
  }
};

}  // namespace strom::engine::expr
