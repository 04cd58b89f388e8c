#include "kv/fields.hpp"

#include "store/rows/row_payload.hpp"

namespace strom::kv {

namespace {

std::string_view view(const void* data, size_t bytes) { return {static_cast<const char*>(data), bytes}; }

}  // namespace

stromkv_status split_row(const store::rows::Shape& shape, const stromkv_row& row, std::span<store::rows::Cell> cells,
                         stromkv_field* fields) {
  if (row.data == nullptr || row.key.data == nullptr) return STROMKV_INVALID;
  if (!store::rows::parse_payload(shape, view(row.key.data, row.key.bytes), view(row.data, row.bytes), row.form != 0,
                                  cells))
    return STROMKV_CORRUPT;
  for (size_t i = 0; i < cells.size(); ++i)
    fields[i] = cells[i].is_null ? stromkv_field{nullptr, 0} : stromkv_field{cells[i].data, cells[i].bytes};
  return STROMKV_OK;
}

}  // namespace strom::kv
