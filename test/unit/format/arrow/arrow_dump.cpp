// arrow_dump FILE: fields, then rows, of an Arrow file as the reader sees them. For test/tools/arrow_interop.py.
#include <cstdio>

#include "arrow_print.hpp"

namespace {

int fail(const strom::Status& status) {
  fprintf(stderr, "%s\n%s\n", status.message().c_str(), status.detail().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: arrow_dump FILE\n");
    return 2;
  }
  const auto opened = strom::format::arrow::FileReader::open(argv[1]);
  if (!opened.is_ok()) return fail(opened.status());
  const auto& reader = *opened.value();
  for (const auto& field : reader.schema().fields) printf("# %s\n", strom::test::print_field(field).c_str());
  const auto rows = strom::test::print_file(reader);
  if (!rows.is_ok()) return fail(rows.status());
  fputs(rows.value().c_str(), stdout);
  return 0;
}
