#include "pg/kv_server/rdma.hpp"

#include <dlfcn.h>

#include "pg/boundary/boundary.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::kv_server {

namespace {

void complain(const std::string& reason) {
  const char* why = reason.c_str();
  boundary::guard(
      [=] { ereport(LOG, (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("could not listen for RDMA: %s", why))); });
}

}  // namespace

rdma::Server* open_rdma_server(const std::vector<std::string>& addresses, int port) {
  const std::string path = std::string(pkglib_path) + "/pg_strom_rdma.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const auto open = library != nullptr ? reinterpret_cast<rdma::Open>(dlsym(library, rdma::kEntry)) : nullptr;
  if (open == nullptr) {
    complain(dlerror());
    return nullptr;
  }
  std::vector<std::string> complaints;
  rdma::Server* server = open(addresses, port, &complaints);
  for (const std::string& complaint : complaints) complain(complaint);
  return server;
}

}  // namespace strom::pg::kv_server
