#include "base/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace strom::base {

size_t raise_descriptor_limit(size_t wanted) {
  constexpr size_t kLeast = 256;  // of any system; only for one that does not answer
  struct rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeast;
  const rlim_t raised = std::min<rlim_t>(limit.rlim_max, wanted);
  if (limit.rlim_cur >= raised) return limit.rlim_cur;
  const struct rlimit changed{raised, limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &changed) == 0 ? raised : limit.rlim_cur;
}

}  // namespace strom::base
