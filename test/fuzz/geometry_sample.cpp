// Writes seeds of the fuzzer of geometries into a folder: geometry_sample FOLDER.
#include <fstream>

#include "geometry_bytes.hpp"

using namespace strom::geo::test;

int main(int, char** arguments) {
  const std::vector<std::vector<Polygon>> geometries{
      {{rectangle(0, 0, 10, 10), rectangle(2, 2, 4, 4)}}, {{rectangle(0, 0, 5, 5)}, {}, {rectangle(5, 5, 9, 9)}}, {}};
  int number = 0;
  const auto write = [&](char form, const std::string& bytes) {
    std::ofstream(std::string(arguments[1]) + "/" + std::to_string(number++), std::ios::binary) << form << bytes;
  };
  for (const auto& geometry : geometries)
    for (int bits = 0; bits < 8; ++bits) {
      const Form form{bits & 1 ? 2 : 1, 4326, (bits & 2) != 0, false, (bits & 4) != 0, false};
      write(0, serialized(geometry, form));
      write(1, wkb(geometry, form, (bits & 4) != 0));
    }
  return 0;
}
