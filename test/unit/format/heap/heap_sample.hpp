// Heap pages of random tables, put together as PostgreSQL does it. For tests of what reads them.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "format/heap/tuple.hpp"

namespace strom::format::heap::test {

enum class Form { kFixed, kShort, kLong, kCompressed, kOutOfLine };

struct Value {
  Form form;
  std::string bytes;  // of the value, without a varlena header
};
using Attribute = std::optional<Value>;  // none = null

inline void pad(std::string* out, size_t start, size_t alignment) {
  while ((out->size() - start) % alignment != 0) out->push_back('\0');
}

inline void put_word(std::string* out, uint32_t word) { out->append(reinterpret_cast<const char*>(&word), 4); }

/// A heap tuple as PostgreSQL forms it.
inline std::string form_tuple(const std::vector<AttributeLayout>& layout, const std::vector<Attribute>& values) {
  bool has_nulls = false;
  for (const auto& value : values) has_nulls = has_nulls || !value;
  std::string tuple(23, '\x55');
  const uint16_t count = static_cast<uint16_t>(values.size() | 0x8000);  // other bits are flags
  const uint16_t mask = static_cast<uint16_t>(0x0800 | (has_nulls ? 1 : 0));
  std::memcpy(tuple.data() + 18, &count, 2);
  std::memcpy(tuple.data() + 20, &mask, 2);
  if (has_nulls) {
    std::string bitmap((values.size() + 7) / 8, '\0');
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i]) bitmap[i / 8] = static_cast<char>(bitmap[i / 8] | (1 << (i % 8)));
    tuple += bitmap;
  }
  pad(&tuple, 0, 8);
  tuple[22] = static_cast<char>(tuple.size());
  const size_t start = tuple.size();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const std::string& bytes = values[i]->bytes;
    const auto size = static_cast<uint32_t>(bytes.size());
    switch (values[i]->form) {
      case Form::kFixed:
        pad(&tuple, start, layout[i].alignment);
        tuple += bytes;
        break;
      case Form::kShort:
        tuple.push_back(static_cast<char>((size + 1) << 1 | 1));
        tuple += bytes;
        break;
      case Form::kLong:
      case Form::kCompressed:
        pad(&tuple, start, layout[i].alignment);
        put_word(&tuple, (size + 4) << 2 | (values[i]->form == Form::kCompressed ? 2u : 0u));
        tuple += bytes;
        break;
      case Form::kOutOfLine:
        tuple += '\x01';
        tuple += '\x12';
        tuple.append(16, 'p');
        break;
    }
  }
  return tuple;
}

/// A heap page. Tuples are put from its end on; items that are none lie between theirs.
class Page {
 public:
  explicit Page(uint32_t size = 32768) : size_(size), bytes_(size / 8), free_(size) {}

  bool add(const std::string& tuple) {
    const size_t room = (tuple.size() + 7) / 8 * 8;
    if (free_ < 24 + (items_.size() + 2) * 4 + room) return false;
    free_ -= room;
    std::memcpy(at(free_), tuple.data(), tuple.size());
    if (tuple.size() % 3 == 0)
      put_item(static_cast<uint32_t>(tuple.size()) << 17 | 3u << 15 | static_cast<uint32_t>(free_));
    put_item(static_cast<uint32_t>(tuple.size()) << 17 | 1u << 15 | static_cast<uint32_t>(free_));
    tuples_.push_back(static_cast<uint16_t>(items_.size()));
    return true;
  }
  uint8_t* at(size_t offset) { return reinterpret_cast<uint8_t*>(bytes_.data()) + offset; }
  size_t free() const { return free_; }
  size_t items() const { return items_.size(); }
  /// Writes the header of a page that is marked as all-visible.
  void put_header() {
    const uint16_t words[] = {4, static_cast<uint16_t>(24 + items_.size() * 4), static_cast<uint16_t>(free_),
                              static_cast<uint16_t>(size_), static_cast<uint16_t>(size_ | 4)};
    std::memcpy(at(10), words, sizeof words);
  }
  const std::vector<uint16_t>& tuples() const { return tuples_; }
  PageRef ref(bool by_numbers) const {
    return {reinterpret_cast<const uint8_t*>(bytes_.data()), by_numbers ? tuples_.data() : nullptr,
            static_cast<uint16_t>(by_numbers ? tuples_.size() : items_.size())};
  }

 private:
  void put_item(uint32_t item) {
    std::memcpy(at(24 + items_.size() * 4), &item, 4);
    items_.push_back(item);
  }

  uint32_t size_;
  std::vector<uint64_t> bytes_;
  std::vector<uint32_t> items_;
  std::vector<uint16_t> tuples_;  // their item numbers
  size_t free_;
};

struct Kind {
  AttributeLayout layout;
  Storage storage;
};
inline constexpr Kind kKinds[] = {
    {{1, 1}, Storage::kBool},      {{2, 2}, Storage::kInt2},      {{4, 4}, Storage::kWord4},
    {{8, 8}, Storage::kWord8},     {{1, 1}, Storage::kInt1},      {{2, 2}, Storage::kHalf},
    {{1, 1}, Storage::kUnsigned1}, {{4, 4}, Storage::kUnsigned4}, {{6, 4}, Storage::kMac6},
    {{8, 8}, Storage::kUnsigned8}, {{8, 4}, Storage::kMac8},      {{12, 8}, Storage::kWord12},
    {{16, 1}, Storage::kWord16},   {{-1, 4}, Storage::kText},     {{-1, 4}, Storage::kNumeric},
    {{-1, 8}, Storage::kText},     {{64, 1}, Storage::kView},     {{24, 8}, Storage::kView},
    {{6, 2}, Storage::kTid},
};

inline Attribute random_value(std::mt19937& random, const Kind& kind, double nulls) {
  if (std::generate_canonical<double, 32>(random) < nulls) return std::nullopt;
  std::string bytes;
  if (kind.layout.length > 0) {
    for (int i = 0; i < kind.layout.length; ++i) bytes.push_back(static_cast<char>(random()));
    if (kind.storage == Storage::kBool) bytes[0] = static_cast<char>(random() & 1);
    return Value{Form::kFixed, bytes};
  }
  const Form form = static_cast<Form>(1 + random() % 4);
  const size_t size = form == Form::kShort ? random() % 126 : random() % 300;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(random()));
  return Value{form, bytes};
}

}  // namespace strom::format::heap::test
