#include "engine/op/device_image.hpp"

namespace strom::engine::op {

using registry::StrView;

size_t DeviceImage::put_texts(const StrView* texts, const uint8_t* flags, size_t count) {
  size_t bytes = 0;
  const auto is_there = [&](size_t i) { return (flags == nullptr || flags[i] == 0) && texts[i].len > 0; };
  for (size_t i = 0; i < count; ++i)
    if (is_there(i)) bytes += static_cast<size_t>(texts[i].len);
  const size_t views = reserve(count * sizeof(StrView));
  size_t to = reserve(bytes);
  pointers_.reserve(pointers_.size() + count);
  for (size_t i = 0; i < count; ++i) {
    const StrView none{nullptr, texts[i].len < 0 && (flags == nullptr || flags[i] == 0) ? texts[i].len : 0};
    std::memcpy(at(views + i * sizeof none), &none, sizeof none);
    if (!is_there(i)) continue;
    std::memcpy(at(views + i * sizeof(StrView) + offsetof(StrView, len)), &texts[i].len, sizeof texts[i].len);
    point(views + i * sizeof(StrView) + offsetof(StrView, ptr), to);
    std::memcpy(at(to), texts[i].ptr, static_cast<size_t>(texts[i].len));
    to += static_cast<size_t>(texts[i].len);
  }
  return views;
}

void DeviceImage::write(char* to, const char* device) const {
  std::memcpy(to, bytes_.data(), bytes_.size());
  for (const size_t offset : pointers_) {
    uint64_t value;
    std::memcpy(&value, to + offset, sizeof value);
    value += reinterpret_cast<uint64_t>(device);
    std::memcpy(to + offset, &value, sizeof value);
  }
}

}  // namespace strom::engine::op
