// arrow_sample FILE BATCHES ROWS none|some|all: writes a file of sample data with the given share of nulls, for
// test/tools/arrow_interop.py and as a seed of the fuzzer.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "arrow_samples.hpp"

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: arrow_sample FILE BATCHES ROWS none|some|all\n");
    return 2;
  }
  const std::string nulls = argv[4];
  const auto kind = nulls == "none"   ? strom::test::Nulls::kNone
                    : nulls == "some" ? strom::test::Nulls::kSome
                                      : strom::test::Nulls::kAll;
  const auto status = strom::test::write_sample(argv[1], atoi(argv[2]), atoll(argv[3]), kind);
  if (status.is_ok()) return 0;
  fprintf(stderr, "%s\n%s\n", status.message().c_str(), status.detail().c_str());
  return 1;
}
