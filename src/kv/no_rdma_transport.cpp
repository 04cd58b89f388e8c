// For builds without the libraries for RDMA.
#include "kv/rdma_transport.hpp"

namespace strom::kv {

stromkv_status open_rdma_transport(const char*, const char*, std::unique_ptr<store::region::Transport>*,
                                   std::string* what) {
  *what = "this library was built without RDMA (librdmacm and libibverbs)";
  return STROMKV_UNSUPPORTED;
}

}  // namespace strom::kv
