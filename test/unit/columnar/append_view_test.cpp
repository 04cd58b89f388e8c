// Columns of every layout: built, cut, and appended again from what was built, all at once and row by row.
#include "columnar/append_view.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "columnar/dictionary_builder.hpp"

namespace strom::columnar {
namespace {

Field field_of(Layout layout, std::vector<Field> children = {}) {
  Field field;
  field.name = "f";
  field.layout = layout;
  field.byte_width = layout == Layout::kFixedBinary ? 5 : layout == Layout::kFixedList ? 2 : 0;
  field.children = std::move(children);
  if (is_union(layout))
    for (size_t i = 0; i < field.children.size(); ++i) field.type_ids.push_back(static_cast<int32_t>(3 * i));
  return field;
}

std::vector<Field> all_fields() {
  const Field number = field_of(Layout::kInt32), text = field_of(Layout::kUtf8), view = field_of(Layout::kUtf8View);
  Field label = text;
  label.dictionary = true;
  label.index = Layout::kUInt8;
  std::vector<Field> fields = {number, text, view, label};
  for (const Layout layout :
       {Layout::kBool, Layout::kInt8, Layout::kFloat16, Layout::kDecimal256, Layout::kFixedBinary, Layout::kLargeUtf8,
        Layout::kBinary, Layout::kLargeBinary, Layout::kBinaryView, Layout::kIntervalMonthDayNano, Layout::kNull})
    fields.push_back(field_of(layout));
  for (const Layout layout :
       {Layout::kList, Layout::kLargeList, Layout::kListView, Layout::kLargeListView, Layout::kFixedList})
    for (const Field& element : {number, view, label, field_of(Layout::kList, {text})})
      fields.push_back(field_of(layout, {element}));
  fields.push_back(field_of(Layout::kMap, {field_of(Layout::kStruct, {text, number})}));
  fields.push_back(field_of(Layout::kStruct, {number, field_of(Layout::kListView, {view}), label}));
  fields.push_back(field_of(Layout::kSparseUnion, {number, view}));
  fields.push_back(field_of(Layout::kDenseUnion, {number, field_of(Layout::kList, {number})}));
  for (const Layout ends : {Layout::kInt16, Layout::kInt32, Layout::kInt64})
    fields.push_back(field_of(Layout::kRunEndEncoded, {field_of(ends), text}));
  return fields;
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  void append(ColumnBuilder& to) {
    if (below(4) == 0) return to.append_null();
    const Field& field = to.field();
    if (field.dictionary) {
      ASSERT_TRUE(append_index(to.dictionary()->find_or_add("label " + std::to_string(below(5))), to));
      return;
    }
    switch (form_of(field.layout)) {
      case Form::kNone: return to.append_null();
      case Form::kBits: return to.append_bool(below(2) == 1);
      case Form::kFixed: {
        uint8_t* place = to.append_fixed();
        for (int64_t i = 0; i < stored_width(field); ++i) place[i] = static_cast<uint8_t>(random_());
        return;
      }
      case Form::kOffsets:
      case Form::kViews: {
        const std::string text(static_cast<size_t>(below(3) * 9), static_cast<char>('a' + below(2)));
        ASSERT_TRUE(to.append_bytes(std::string_view(text)));
        return;
      }
      case Form::kListOffsets:
      case Form::kListViews:
      case Form::kFixedList: {
        const int64_t count = field.layout == Layout::kFixedList ? field.byte_width : below(4);
        for (int64_t i = 0; i < count; ++i) append(to.child(0));
        ASSERT_TRUE(to.append_list());
        return;
      }
      case Form::kStruct:
        for (size_t i = 0; i < field.children.size(); ++i) append(to.child(i));
        return to.append_struct();
      case Form::kUnion: {
        const auto member = static_cast<size_t>(below(2));
        for (size_t i = 0; i < 2; ++i)
          if (i == member || field.layout == Layout::kSparseUnion) append(to.child(i));
        return to.append_union(member);
      }
      case Form::kRunEnds: append(to.child(1)); ASSERT_TRUE(to.append_run());
    }
  }

 private:
  std::mt19937_64 random_;
};

void expect_same(const ColumnBuilder& a, const ColumnBuilder& b) {
  const auto bytes = [](const ByteBuffer& buffer) {
    return std::string(reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size()));
  };
  ASSERT_EQ(a.length(), b.length());
  EXPECT_EQ(a.null_count(), b.null_count());
  EXPECT_EQ(bytes(a.validity()), bytes(b.validity()));
  EXPECT_EQ(bytes(a.values()), bytes(b.values()));
  EXPECT_EQ(bytes(a.data()), bytes(b.data()));
  for (size_t i = 0; i < a.children().size(); ++i) expect_same(a.children()[i], b.children()[i]);
}

/// Of a dictionary, too: the text that a row means.
std::string text_of(const ColumnBuilder& column, int64_t row) {
  if (!column.is_valid(row)) return "NULL";
  const auto index = static_cast<int64_t>(column.values().data()[row]);
  const auto* offsets = column.dictionary()->values().values().as<int32_t>();
  return std::string(reinterpret_cast<const char*>(column.dictionary()->values().data().data()) + offsets[index],
                     static_cast<size_t>(offsets[index + 1] - offsets[index]));
}

TEST(AppendView, EveryLayout) {
  for (const Field& field : all_fields()) {
    SCOPED_TRACE(type_text(field));
    for (unsigned seed = 0; seed < 20; ++seed) {
      DictionaryBuilders dictionaries;
      ColumnBuilder first(field), half(field), again(field), joined(field);
      for (ColumnBuilder* column : {&first, &half, &again, &joined}) attach_dictionaries(*column, dictionaries);
      Random random(seed);
      constexpr int64_t kRows = 40, kHalf = 17;
      for (int64_t row = 0; row < kRows; ++row) {
        if (row == kHalf) {
          ASSERT_TRUE(append_view(first.view(), 0, row, half, Indexes::kAsTheyAre).is_ok());
        }
        random.append(first);
      }
      ASSERT_TRUE(append_view(first.view(), 0, kRows, again, Indexes::kAsTheyAre).is_ok());
      expect_same(first, again);
      for (int64_t row = 0; row < kRows; ++row)
        ASSERT_TRUE(append_view(first.view(), row, 1, joined, Indexes::kAsTheyAre).is_ok());
      expect_same(first, joined);
      again.truncate(kHalf);
      expect_same(half, again);
      ASSERT_TRUE(append_view(first.view(), kHalf, kRows - kHalf, again, Indexes::kAsTheyAre).is_ok());
      expect_same(first, again);
      again.clear();
      EXPECT_EQ(again.length(), 0);
      ASSERT_TRUE(append_view(first.view(), 0, kRows, again, Indexes::kAsTheyAre).is_ok());
      expect_same(first, again);
    }
  }
}

TEST(AppendView, LooksUpInAnotherDictionary) {
  Field field = field_of(Layout::kUtf8);
  field.dictionary = true;
  field.index = Layout::kInt8;
  const registry::StrView texts[] = {{"b", 1}, {"a", 1}, {"c", 1}};
  const int8_t indexes[] = {2, 0, 1, 0};
  ColumnView view;
  view.layout = Layout::kDictionary;
  view.byte_width = 1;
  view.length = 4;
  view.values = indexes;
  view.dictionary = texts;
  view.dictionary_size = 3;
  DictionaryBuilders dictionaries;
  ColumnBuilder to(field);
  attach_dictionaries(to, dictionaries);
  EXPECT_EQ(to.dictionary()->find_or_add("a"), 0);
  ASSERT_TRUE(append_view(view, 0, 4, to).is_ok());
  std::string found;
  for (int64_t row = 0; row < 4; ++row) found += text_of(to, row);
  EXPECT_EQ(found, "cbab");
  EXPECT_EQ(to.dictionary()->size(), 3);
  view.dictionary_size = 2;
  EXPECT_EQ(append_view(view, 0, 1, to).code(), ErrorCode::kCorruptFile);
}

TEST(DictionaryBuilder, HasAsManyValuesAsIndexes) {
  Field field = field_of(Layout::kInt64);
  field.dictionary = true;
  field.index = Layout::kInt8;
  DictionaryBuilder dictionary(field);
  for (int64_t i = 0; i < 128; ++i)
    EXPECT_EQ(dictionary.find_or_add(std::string_view(reinterpret_cast<const char*>(&i), sizeof(i))), i);
  const int64_t more = 128, known = 5;
  EXPECT_EQ(dictionary.find_or_add(std::string_view(reinterpret_cast<const char*>(&more), sizeof(more))), -1);
  EXPECT_EQ(dictionary.find_or_add(std::string_view(reinterpret_cast<const char*>(&known), sizeof(known))), known);
  EXPECT_EQ(dictionary.size(), 128);
}

TEST(AppendView, WhatLeadsOutsideIsCorrupt) {
  const int32_t offsets[] = {0, 5, 3};
  ColumnView view;
  view.layout = Layout::kUtf8;
  view.length = 2;
  view.values = offsets;
  view.data = "abcde";
  view.data_size = 5;
  ColumnBuilder to(field_of(Layout::kUtf8));
  EXPECT_EQ(append_view(view, 0, 2, to).code(), ErrorCode::kCorruptFile);
  EXPECT_TRUE(append_view(view, 0, 1, to).is_ok());
  EXPECT_EQ(append_view(view, 1, 2, to).code(), ErrorCode::kCorruptFile);
}

}  // namespace
}  // namespace strom::columnar
