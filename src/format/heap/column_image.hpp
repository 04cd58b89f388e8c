// Columns of heap pages in the form that is cached between queries: decoded, with numerics converted and narrow, and
// texts with their bytes. The engine's scan reads these forms in place. Engine threads make the parts, one for each
// chunk of pages. The parts of a group of pages are then written one after another. See docs/dev/column_cache.md. Used
// by src/pg/cache; calls nothing of PostgreSQL.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/stored_numeric.hpp"
#include "columnar/batch.hpp"
#include "format/heap/tuple.hpp"

namespace strom::format::heap {

/// The form of a column's values in an image.
enum class ImageForm : uint8_t {
  kRegister,   // registry::Phys values; flags, one byte a row, where there are nulls
  kDecimal32,  // columnar::Layout::kDecimal32 and kDecimal64; a bitmap where there are nulls
  kDecimal64,
  kText,  // columnar::Layout::kUtf8, likewise
};

/// Describes the bytes of an image for their readers. Plain data, kept in shared memory.
struct ImageShape {
  ImageForm form = ImageForm::kRegister;
  bool has_nulls = false;
  uint8_t width = 0;  // bytes of a value; kText: of an offset
  uint32_t rows = 0;
  uint32_t text_bytes = 0;
};

/// One column of the rows of one chunk.
class ColumnPart {
 public:
  /// Copies `rows` decoded values of `column`; `scale` as in columnar::ColumnView. False when some value cannot be
  /// cached: only PostgreSQL can read it, it is compressed, or the texts are very large.
  bool take(const WantedColumn& column, int scale, const ColumnOut& out, int64_t rows);

  int64_t rows() const { return rows_; }

 private:
  friend class ImageWriter;

  bool take_flags(const ColumnOut& out);
  bool take_ordinary(const base::StoredNumericReader& reader, const registry::StrView* from);
  bool take_numerics(int scale, const registry::StrView* from);
  bool take_texts(const registry::StrView* from);

  int64_t rows_ = 0;
  ImageForm form_ = ImageForm::kRegister;
  int width_ = 0;
  std::vector<uint8_t> values_;  // kText: 32-bit ends of the texts
  std::vector<uint8_t> flags_;   // empty: no nulls
  std::vector<char> text_;
};

/// Writes the parts of a group of pages as one image.
class ImageWriter {
 public:
  explicit ImageWriter(std::vector<const ColumnPart*> parts);

  const ImageShape& shape() const { return shape_; }
  /// Writes image_bytes(shape()) bytes, aligned to kImageAlignment.
  void write(uint8_t* to) const;

 private:
  void write_values(uint8_t* to) const;
  void write_texts(uint8_t* to) const;
  void write_nulls(uint8_t* to) const;

  std::vector<const ColumnPart*> parts_;
  ImageShape shape_;
};

inline constexpr int64_t kImageAlignment = 64;

/// False: the size does not fit ImageShape, so no image is made.
bool fits_image(std::span<const ColumnPart* const> parts);
int64_t image_bytes(const ImageShape& shape);
/// The column in the engine's form, in place.
columnar::ColumnView view_image(const ImageShape& shape, const uint8_t* image);

/// Which tuples the rows of a group of pages are: the first row of each page, and the item numbers of the rows unless
/// they are 1, 2, 3 and so on in every page.
class RowPlaces {
 public:
  /// Adds the rows of one page, in the order of pages; `numbers` of the items.
  void add_page(const uint16_t* numbers, int64_t rows);

  int64_t rows() const { return static_cast<int64_t>(numbers_.size()); }
  int64_t pages() const { return static_cast<int64_t>(first_rows_.size()); }
  int64_t bytes() const;
  void write(uint8_t* to) const;

  struct ItemAddress {
    uint32_t page;  // of the group
    uint16_t item;
  };
  /// The item of a row; `places` as written by write().
  static ItemAddress find(const uint8_t* places, int64_t row);
  /// Writes the tids of all rows as registers; `begin` is the group's first block.
  static void write_tids(const uint8_t* places, uint32_t begin, int64_t* tids);
  static int64_t rows(const uint8_t* places);
  static int64_t pages(const uint8_t* places);
  static int64_t first_row(const uint8_t* places, int64_t page);

 private:
  std::vector<uint32_t> first_rows_;
  std::vector<uint16_t> numbers_;
  bool dense_ = true;
};

}  // namespace strom::format::heap
