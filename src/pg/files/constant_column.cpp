// See constant_column.hpp.
#include "pg/files/constant_column.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"

namespace strom::pg::files {

using boundary::guard;
using columnar::Bounds;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;
using registry::TypeId;

namespace {

/// The engine's type for such values, and the field with their layout; nullptr when the engine has no such type.
const registry::TypeInfo* engine_form(codec::SqlType type, Field* field) {
  const registry::TypeInfo* info = registry::find_type(type.oid);
  if (info == nullptr) return nullptr;
  int scale = 0;
  if (info->id == TypeId::kNumeric) {
    const int precision = codec::declared_precision(type);
    scale = codec::declared_scale(type);
    if (precision <= 0 || precision > 38 || scale < 0 || scale > 38) return nullptr;
  }
  *field = codec::field_for(info->id, scale, "");
  const bool is_text = info->id == TypeId::kText || info->id == TypeId::kVarchar;
  if (is_text && GetDatabaseEncoding() != PG_UTF8) return nullptr;
  // The layout must be the one that files have for such values.
  return is_text || codec::stored_type_of(*field).oid == type.oid ? info : nullptr;
}

// A path in a message. Names of files need not be valid text. May ereport.
const char* shown_path(const char* path) {
  char* copy = pstrdup(path);
  if (pg_verifymbstr(copy, static_cast<int>(std::strlen(copy)), true)) return copy;
  for (char* c = copy; *c != '\0'; ++c)
    if (IS_HIGHBIT_SET(*c)) *c = '?';
  return copy;
}

// Decoder::read of a constant: view.data is the Datum, see decoder().
Datum read_constant(const codec::Decoder& decoder, int64_t) {
  Datum datum;
  std::memcpy(&datum, decoder.view.data, sizeof datum);
  return datum;
}

}  // namespace

ConstantColumn::ConstantColumn(std::string name, codec::SqlType type) : name_(std::move(name)), type_(type) {
  info_ = engine_form(type, &field_);
  engine_readable_ = info_ != nullptr;
  values_.emplace_back();
}

void ConstantColumn::take_field(const Field& like) {
  field_ = like;
  engine_readable_ = true;
}

int ConstantColumn::add(const std::string& text, const std::string& file) {
  const auto known = by_text_.find(text);
  if (known != by_text_.end()) return known->second;
  Value value;
  keep(parse(text, file), &value);
  encode(&value);
  const int index = static_cast<int>(values_.size());
  values_.push_back(std::move(value));
  by_text_.emplace(text, index);
  return index;
}

Datum ConstantColumn::parse(const std::string& text, const std::string& file) const {
  try {
    return guard([&] {
      if (std::strlen(text.c_str()) != text.size()) elog(ERROR, "a zero byte cannot be part of a value");
      pg_verifymbstr(text.c_str(), static_cast<int>(text.size()), false);
      Oid input, param;
      getTypeInputInfo(type_.oid, &input, &param);
      return OidInputFunctionCall(input, pstrdup(text.c_str()), param, type_.typmod);
    });
  } catch (const boundary::PostgresError& error) {
    if (ErrorData* data = error.data())
      guard([&] {
        const bool has_more = data->context != nullptr;
        data->context = psprintf("virtual column \"%s\" of file \"%s\"%s%s", name_.c_str(), shown_path(file.c_str()),
                                 has_more ? "\n" : "", has_more ? data->context : "");
      });
    throw;
  }
}

// Copies the value, because memory of PostgreSQL may not live as long as this object.
void ConstantColumn::keep(Datum datum, Value* value) const {
  struct FlatDatum {
    bool by_value;
    Size size;
    Datum datum;
  };
  const FlatDatum place = guard([this, datum] {
    int16 length;
    bool by_value;
    get_typlenbyval(type_.oid, &length, &by_value);
    Datum flat = datum;
    if (length == -1) flat = PointerGetDatum(PG_DETOAST_DATUM(datum));
    return FlatDatum{by_value, by_value ? 0 : datumGetSize(flat, by_value, length), flat};
  });
  value->datum = place.datum;
  if (place.by_value) return;
  value->storage = std::make_unique<char[]>(place.size);
  std::memcpy(value->storage.get(), DatumGetPointer(place.datum), place.size);
  value->datum = PointerGetDatum(value->storage.get());
}

void ConstantColumn::encode(Value* value) {
  if (info_ == nullptr) return;
  if (registry::is_text(info_->id)) {
    if (codec::register_bytes(info_->id, 0, value->datum, &value->bytes) != codec::Encoded::kDone)
      engine_readable_ = false;
    return;
  }
  columnar::ColumnBuilder builder(field_);
  if (codec::append(builder, info_->id, value->datum, false) != codec::Encoded::kDone) {
    engine_readable_ = false;  // infinite dates, NaN
    return;
  }
  const auto width = static_cast<size_t>(columnar::value_width(field_.layout, field_.byte_width));
  value->bytes.assign(static_cast<const char*>(builder.view().values), std::max<size_t>(width, 1));
}

Result<ColumnView> ConstantColumn::view(int index, int64_t rows, const uint8_t* zeros,
                                        std::shared_ptr<const void>* memory) const {
  const Value& value = values_[static_cast<size_t>(index)];
  ColumnView view;
  view.layout = field_.layout;
  view.unit = field_.unit;
  view.byte_width = field_.byte_width;
  view.length = rows;
  view.values = zeros;
  if (is_null(index)) {
    view.null_count = rows;
    view.validity = zeros;
    return view;
  }
  if (!engine_readable_) return view;
  if (registry::is_text(info_->id)) {
    // The view is a dictionary with one text.
    auto text = std::make_shared<registry::StrView>();
    *text = {value.bytes.data(), static_cast<decltype(text->len)>(value.bytes.size())};
    view.layout = Layout::kDictionary;
    view.byte_width = 1;
    view.dictionary = text.get();
    view.dictionary_size = 1;
    *memory = std::move(text);
    return view;
  }
  const bool is_bool = field_.layout == Layout::kBool;
  const char bits = is_bool && DatumGetBool(value.datum) ? static_cast<char>(0xFF) : 0;
  const size_t width = is_bool ? 1 : value.bytes.size();
  const size_t size = static_cast<size_t>(is_bool ? (rows + 7) / 8 : rows) * width;
  std::shared_ptr<char[]> bytes(new (std::nothrow) char[size + width]);
  if (bytes == nullptr)
    return Status(ErrorCode::kOutOfMemory, "out of memory for the values of virtual column \"" + name_ + "\"");
  std::memcpy(bytes.get(), is_bool ? &bits : value.bytes.data(), width);
  for (size_t done = width; done < size; done += std::min(done, size - done))
    std::memcpy(bytes.get() + done, bytes.get(), std::min(done, size - done));
  view.values = bytes.get();
  *memory = std::move(bytes);
  return view;
}

codec::Decoder ConstantColumn::decoder(int index, const ColumnView& view) const {
  codec::Decoder decoder;
  decoder.read = read_constant;
  decoder.view = view;
  decoder.view.data = reinterpret_cast<const char*>(&values_[static_cast<size_t>(index)].datum);
  return decoder;
}

std::optional<Bounds> ConstantColumn::bounds(int index) const {
  const Value& value = values_[static_cast<size_t>(index)];
  Bounds bounds;
  if (is_null(index) || info_ == nullptr || !columnar::bounds_kind(field_.layout, &bounds.kind)) return std::nullopt;
  if (bounds.kind != Bounds::Kind::kText && value.bytes.empty()) return std::nullopt;
  switch (bounds.kind) {
    case Bounds::Kind::kText: bounds.low_text = bounds.high_text = value.bytes; break;
    case Bounds::Kind::kBox: break;
    case Bounds::Kind::kReal: {
      const bool is_single = type_.oid == FLOAT4OID;
      bounds.low_real = is_single ? DatumGetFloat4(value.datum) : DatumGetFloat8(value.datum);
      if (std::isnan(bounds.low_real)) return std::nullopt;
      bounds.high_real = bounds.low_real;
      break;
    }
    case Bounds::Kind::kInteger: {
      // Little-endian; the highest byte has the sign.
      __int128 number = value.bytes.back() < 0 ? -1 : 0;
      std::memcpy(&number, value.bytes.data(), value.bytes.size());
      bounds.low = bounds.high = number;
      break;
    }
  }
  return bounds;
}

}  // namespace strom::pg::files
