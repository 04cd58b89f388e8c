// Pages of a PostgreSQL table that a device reads from their file and decodes by itself, where other chunks have
// columns. Made by pg/table/heap/direct_pages.hpp, used by engine/device/device_pages.hpp. See docs/dev/heap.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "columnar/heap_page.hpp"

namespace strom::columnar {

/// A file of a table's pages; its descriptor is open as long as this lives.
class PageFile {
 public:
  PageFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }

 private:
  const int descriptor_;
  const std::string name_;
};

/// How a scan reads a table's tuples.
struct PageLayout {
  uint32_t page_size;  // bytes
  bool has_checksums;
  std::vector<heap::AttributeLayout> attributes;
  std::vector<heap::WantedColumn> wanted;  // columns of the chunk, in their order
  std::vector<int> scales;                 // of the Storage::kNumeric columns, see ColumnView::scale
};

/// Consecutive pages. For one thread at a time, but where said otherwise.
class PageBatch {
 public:
  virtual ~PageBatch() = default;

  virtual const PageLayout& layout() const = 0;
  virtual std::shared_ptr<const PageFile> file() const = 0;
  virtual uint64_t file_offset() const = 0;  // of the first page
  virtual uint32_t first_block() const = 0;  // its number
  virtual uint32_t pages() const = 0;

  /// Called after the pages have been read. Tells for each page whether what was read is what the scan may see.
  virtual std::vector<bool> are_visible() const = 0;
  /// Page `page` of the batch has `rows` rows, of the items `numbers`. They come behind the rows that were added
  /// before. Called for ascending pages, and before anybody asks the source for one of the rows.
  virtual void add_rows(uint32_t page, const uint16_t* numbers, uint32_t rows) = 0;
  /// The device does not read the page: the source hands out its rows in another chunk.
  virtual void give_back(uint32_t page) = 0;

  void give_back_all() {
    for (uint32_t page = 0; page < pages(); ++page) give_back(page);
  }
};

}  // namespace strom::columnar
