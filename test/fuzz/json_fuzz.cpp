// Fuzzer of the functions of jsonb: a key of up to 15 bytes, then a value of any content, compared with parts of
// itself.
#include <cstdint>
#include <cstring>
#include <memory>

#include "engine/expr/json.hpp"

using namespace strom::engine;
using strom::registry::StrView;

namespace {

constexpr int64_t kArena = 1 << 16;

uint64_t read_all(StrView text) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < text.len; ++i) sum += static_cast<uint8_t>(text.ptr[i]);
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < 2) return 0;
  const size_t key_size = std::min<size_t>(bytes[0] & 15, size - 1);
  // Copies of exactly their size, so that reading past their ends is seen.
  const std::unique_ptr<char[]> key_bytes(new char[key_size]), json_bytes(new char[size - 1 - key_size]);
  std::memcpy(key_bytes.get(), bytes + 1, key_size);
  std::memcpy(json_bytes.get(), bytes + 1 + key_size, size - 1 - key_size);
  const StrView key{key_bytes.get(), static_cast<int64_t>(key_size)};
  const StrView json{json_bytes.get(), static_cast<int64_t>(size - 1 - key_size)};
  const std::unique_ptr<char[]> memory(new char[kArena]);
  block::TextArena arena{memory.get(), 0, kArena, 0};
  const expr::Context context{false, &arena, 0};
  uint64_t sum = 0;
  StrView out{nullptr, 0};
  uint8_t truth;
  int32_t number;
  __int128 decimal;
  if (expr::JsonField<true>::eval(context, out, json, key) == 0) sum += read_all(out);
  if (expr::JsonField<false>::eval(context, out, json, key) == 0) {
    sum += read_all(out);
    expr::JsonContains::eval(context, truth, json, out);
    expr::JsonEquals<true>::eval(context, truth, json, out);
  }
  for (const int32_t index : {0, 1, -1, 33}) {
    if (expr::JsonElement<true>::eval(context, out, json, index) == 0) sum += read_all(out);
    if (expr::JsonElement<false>::eval(context, out, json, index) == 0)
      expr::JsonContains::eval(context, truth, json, out);
  }
  expr::JsonExists::eval(context, truth, json, key);
  expr::JsonContains::eval(context, truth, json, json);
  if (!expr::JsonTypeof::eval(context, out, json)) sum += read_all(out);
  expr::JsonArrayLength::eval(context, number, json);
  expr::JsonToNumber<expr::SameDecimal>::eval(context, decimal, json);
  expr::JsonToBool::eval(context, truth, json);
  if (sum == UINT64_MAX) __builtin_trap();  // so that the bytes are read
  return 0;
}
