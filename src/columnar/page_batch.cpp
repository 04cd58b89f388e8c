#include "columnar/page_batch.hpp"

#include <unistd.h>

namespace strom::columnar {

PageFile::~PageFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace strom::columnar
