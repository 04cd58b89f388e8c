// Makes the indexes of spatial joins over the polygons of a file, and prints the times as JSON.
// index_times FILE THREADS RUNS; the file has each polygon as a 32-bit length and that many bytes of well-known binary.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "geo/build_cell_index.hpp"
#include "geo/build_packed_tree.hpp"

namespace {

using strom::geo::CellIndexOptions;
using strom::geo::GeometryBytes;

void run_on_threads(int tasks, const std::function<void(int)>& task) {
  std::vector<std::thread> threads;
  for (int i = 1; i < tasks; ++i) threads.emplace_back(task, i);
  task(0);
  for (std::thread& thread : threads) thread.join();
}

std::vector<GeometryBytes> split(const std::vector<char>& bytes) {
  std::vector<GeometryBytes> polygons;
  uint32_t size = 0;
  for (size_t at = 0; at + sizeof size <= bytes.size(); at += sizeof size + size) {
    std::memcpy(&size, bytes.data() + at, sizeof size);
    if (size > bytes.size() - at - sizeof size) break;
    polygons.push_back({bytes.data() + at + sizeof size, size});
  }
  return polygons;
}

/// Adjacent squares, as many as there are polygons: the tree consists of boxes only.
strom::geo::TreeInput squares(size_t count) {
  strom::geo::TreeInput input;
  input.rows = static_cast<uint32_t>(count);
  for (uint32_t i = 0; i < input.rows; ++i) {
    const double x = i * 2654435761u % 1000003u, y = i * 40503u % 999983u;  // in no order
    input.boxes.add({x, y, x + 1, y + 1}, i);
  }
  return input;
}

/// The median time of `runs` runs in milliseconds, after a warming run. `make` returns the words of an image.
template <class Make>
double median_ms(int runs, size_t* words, const Make& make) {
  std::vector<double> times;
  for (int run = 0; run <= runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    *words = make();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (run > 0) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<size_t>(runs / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc == 4 ? std::atoi(argv[2]) : 0, runs = argc == 4 ? std::atoi(argv[3]) : 0;
  std::ifstream file(argc == 4 ? argv[1] : "", std::ios::binary);
  if (!file || threads < 1 || runs < 1) {
    std::fprintf(stderr, "usage: index_times FILE THREADS RUNS\n");
    return 2;
  }
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::vector<GeometryBytes> polygons = split(bytes);
  CellIndexOptions options;
  options.form = strom::geo::GeometryForm::kWkb;
  options.tasks = threads;
  options.run = run_on_threads;
  size_t words = 0, tree_words = 0;
  const double cells = median_ms(runs, &words, [&] { return strom::geo::build_cell_index(polygons, options).size(); });
  const strom::geo::TreeInput input = squares(polygons.size());
  const double tree = median_ms(runs, &tree_words, [&] { return strom::geo::build_tree_index(input).size(); });
  std::printf(
      "{\"polygons\": %zu, \"polygon_bytes\": %zu, \"cells_ms\": %.1f, \"cells_bytes\": %zu, \"tree_ms\": %.2f}\n",
      polygons.size(), bytes.size() - polygons.size() * sizeof(uint32_t), cells, words * sizeof(uint64_t), tree);
}
