// Owners of objects of librdmacm and libibverbs.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>

namespace strom::rdma {

template <auto kRelease>
struct Releaser {
  template <class T>
  void operator()(T* held) const {
    kRelease(held);
  }
};

using Channel = std::unique_ptr<rdma_event_channel, Releaser<rdma_destroy_event_channel>>;
using Domain = std::unique_ptr<ibv_pd, Releaser<ibv_dealloc_pd>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Releaser<ibv_destroy_cq>>;
using Memory = std::unique_ptr<ibv_mr, Releaser<ibv_dereg_mr>>;
using Addresses = std::unique_ptr<rdma_addrinfo, Releaser<rdma_freeaddrinfo>>;

/// Closes an end of a connection, with its queue pair. All its events must have been acknowledged.
struct EndpointCloser {
  void operator()(rdma_cm_id* id) const {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    rdma_destroy_id(id);
  }
};
using Endpoint = std::unique_ptr<rdma_cm_id, EndpointCloser>;

}  // namespace strom::rdma
