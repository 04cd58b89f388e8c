// Rows of geometry fields as values of PostGIS. Part of decoder trees, see nested_decode.hpp.
#include <cstring>

#include "format/geoarrow/geometry_values.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/nested_decode.hpp"

namespace strom::pg::codec {

Datum decode_geometry(const FoundRow& leaf) {
  return boundary::entry([&leaf] {
    geo::Bytes bytes;
    format::geoarrow::GeometryReader reader(*leaf.decoder->geometry, leaf.decoder->view);
    if (const char* problem = reader.append(leaf.row, &bytes))
      throw boundary::StatusError(Status(ErrorCode::kCorruptFile, "a geometry cannot be read")
                                      .with_detail("The value is not taken because " + std::string(problem) + "."));
    return boundary::guard([&bytes] {
      const Size size = VARHDRSZ + bytes.size();
      auto* value = static_cast<struct varlena*>(palloc(size));
      SET_VARSIZE(value, size);
      std::memcpy(VARDATA(value), bytes.data(), bytes.size());
      return PointerGetDatum(value);
    });
  });
}

}  // namespace strom::pg::codec
