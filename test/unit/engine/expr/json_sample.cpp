#include "json_sample.hpp"

#include <algorithm>

namespace strom::engine::test {

namespace {

constexpr uint32_t kScalar = 0x10000000, kObject = 0x20000000, kArray = 0x40000000, kHasEnd = 0x80000000;
constexpr size_t kStride = 32;  // entries with ends

void put_word(std::string* out, uint32_t word) { out->append(reinterpret_cast<const char*>(&word), 4); }
void put_half(std::string* out, uint16_t word) { out->append(reinterpret_cast<const char*>(&word), 2); }

/// numeric with a four-byte varlena header.
std::string form_numeric(const std::string& text) {
  const bool negative = text[0] == '-';
  const size_t begin = negative ? 1 : 0, point = text.find('.');
  std::string whole = text.substr(begin, point == std::string::npos ? point : point - begin);
  std::string fraction = point == std::string::npos ? "" : text.substr(point + 1);
  const auto scale = static_cast<uint16_t>(fraction.size());
  whole.insert(0, (4 - whole.size() % 4) % 4, '0');
  fraction.append((4 - fraction.size() % 4) % 4, '0');
  int weight = static_cast<int>(whole.size()) / 4 - 1;
  std::vector<uint16_t> digits;
  for (const std::string& part : {whole, fraction})
    for (size_t i = 0; i < part.size(); i += 4) digits.push_back(static_cast<uint16_t>(std::stoi(part.substr(i, 4))));
  while (!digits.empty() && digits.back() == 0) digits.pop_back();
  while (!digits.empty() && digits.front() == 0) digits.erase(digits.begin()), --weight;
  if (digits.empty()) weight = 0;
  std::string body;
  put_half(&body,
           static_cast<uint16_t>(0x8000 | (negative && !digits.empty() ? 0x2000 : 0) | scale << 7 | (weight & 0x7F)));
  for (const uint16_t digit : digits) put_half(&body, digit);
  std::string bytes;
  put_word(&bytes, static_cast<uint32_t>(body.size() + 4) << 2);
  return bytes + body;
}

std::string form_container(const Json& value, bool scalar);

/// Appends a child's data, padded where it has to be, and its type bits; returns them.
uint32_t append_child(const Json& value, std::string* data) {
  const auto pad = [&] { data->append((4 - data->size() % 4) % 4, '\0'); };
  switch (value.kind) {
    case Json::kString: *data += value.bytes; return 0;
    case Json::kNumber:
      pad();
      *data += form_numeric(value.bytes);
      return 1u << 28;
    case Json::kFalse: return 2u << 28;
    case Json::kTrue: return 3u << 28;
    case Json::kNull: return 4u << 28;
    default:
      pad();
      *data += form_container(value, false);
      return 5u << 28;
  }
}

std::string form_container(const Json& value, bool scalar) {
  std::vector<Json> children;
  uint32_t header;
  if (scalar) {
    children = {value};
    header = kArray | kScalar | 1;
  } else if (value.kind == Json::kArray) {
    children = value.elements;
    header = kArray | static_cast<uint32_t>(children.size());
  } else {
    auto members = value.members;
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
      return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
    });
    for (const auto& member : members) children.push_back({Json::kString, member.first, {}, {}});
    for (const auto& member : members) children.push_back(member.second);
    header = kObject | static_cast<uint32_t>(members.size());
  }
  std::string entries, data;
  for (size_t i = 0; i < children.size(); ++i) {
    const size_t before = data.size();
    const uint32_t type = append_child(children[i], &data);
    const bool has_end = i % kStride == 0;
    put_word(&entries,
             type | (has_end ? kHasEnd : 0) | static_cast<uint32_t>(has_end ? data.size() : data.size() - before));
  }
  std::string bytes;
  put_word(&bytes, header);
  return bytes + entries + data;
}

}  // namespace

std::string form_json(const Json& value) {
  return form_container(value, value.kind != Json::kArray && value.kind != Json::kObject);
}

Json random_json(std::mt19937_64& random, int depth) {
  static constexpr const char* kTexts[] = {"", "a", "b", "ab", "key", "日本", "MFGR#12", " ", "true", "a longer text"};
  static constexpr const char* kNumbers[] = {"0",
                                             "1",
                                             "-1",
                                             "1.0",
                                             "1.00",
                                             "12.5",
                                             "-0.001",
                                             "32768",
                                             "2147483648",
                                             "9223372036854775807",
                                             "99999999999999999999999999999999999999999",
                                             "0.00000000000000000000000000000000000000001",
                                             "123456789.123456789"};
  Json json;
  json.kind = static_cast<Json::Kind>(random() % (depth > 0 ? 9 : 5));
  if (json.kind > Json::kObject) json.kind = Json::kObject;
  if (json.kind == Json::kString) json.bytes = kTexts[random() % std::size(kTexts)];
  if (json.kind == Json::kNumber) json.bytes = kNumbers[random() % std::size(kNumbers)];
  const size_t count = random() % 20 == 0 ? 40 + random() % 40 : random() % 5;
  if (json.kind == Json::kArray)
    for (size_t i = 0; i < count; ++i) json.elements.push_back(random_json(random, depth - 1));
  if (json.kind == Json::kObject)
    for (size_t i = 0; i < count; ++i) {
      const std::string key = i < 5 ? kTexts[(i * 3 + random() % 3) % std::size(kTexts)] : "k" + std::to_string(i);
      const bool known =
          std::any_of(json.members.begin(), json.members.end(), [&](const auto& m) { return m.first == key; });
      if (!known) json.members.emplace_back(key, random_json(random, depth - 1));
    }
  return json;
}

}  // namespace strom::engine::test
