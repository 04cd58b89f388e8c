// A client of a published region by RDMA that does not keep to the rules: it reads on whatever the header says, and
// with "forged" shows a ticket that nobody has given it.
//
//   raw_reader ADDRESS PORT TOKEN [forged]
//
// Reads all segments, now and at each line of its input, and prints "read N" (bytes that are not zero, behind the
// header's page) or "refused".
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "kv/session.hpp"
#include "kv/stromkv.h"
#include "rdma/verbs.hpp"
#include "store/region/format.hpp"

namespace {

using namespace strom;

struct Connection {
  rdma::Channel channel;
  rdma::Domain domain;
  rdma::CompletionQueue queue;
  std::vector<char> room = std::vector<char>(1 << 20);
  rdma::Memory memory;
  rdma::Endpoint endpoint;
};

bool await(Connection* to, rdma_cm_event_type wanted) {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(to->channel.get(), &event) != 0) return false;
  const bool is_it = event->event == wanted;
  rdma_ack_cm_event(event);
  return is_it;
}

bool connect(Connection* to, const char* address, const store::message::FarMemory& offer) {
  constexpr int kPatienceMs = 10000;
  struct sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = htons(static_cast<uint16_t>(offer.port));
  inet_pton(AF_INET, address, &target.sin_addr);
  to->channel.reset(rdma_create_event_channel());
  rdma_cm_id* id = nullptr;
  if (to->channel == nullptr || rdma_create_id(to->channel.get(), &id, nullptr, RDMA_PS_TCP) != 0) return false;
  to->endpoint.reset(id);
  if (rdma_resolve_addr(id, nullptr, reinterpret_cast<struct sockaddr*>(&target), kPatienceMs) != 0 ||
      !await(to, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(id, kPatienceMs) != 0 ||
      !await(to, RDMA_CM_EVENT_ROUTE_RESOLVED))
    return false;
  to->domain.reset(ibv_alloc_pd(id->verbs));
  to->queue.reset(ibv_create_cq(id->verbs, 1, nullptr, nullptr, 0));
  to->memory.reset(ibv_reg_mr(to->domain.get(), to->room.data(), to->room.size(), IBV_ACCESS_LOCAL_WRITE));
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = attributes.recv_cq = to->queue.get();
  attributes.cap = {1, 1, 1, 1, 0};
  rdma_conn_param parameters{};
  parameters.private_data = offer.ticket;
  parameters.private_data_len = sizeof(offer.ticket);
  parameters.initiator_depth = 1;
  parameters.retry_count = parameters.rnr_retry_count = 7;
  return rdma_create_qp(id, to->domain.get(), &attributes) == 0 && rdma_connect(id, &parameters) == 0 &&
         await(to, RDMA_CM_EVENT_ESTABLISHED) &&
         fcntl(to->channel->fd, F_SETFL, fcntl(to->channel->fd, F_GETFL) | O_NONBLOCK) == 0;
}

bool read(Connection* by, uint64_t address, uint32_t key, uint32_t bytes) {
  ibv_sge place{reinterpret_cast<uint64_t>(by->room.data()), bytes, by->memory->lkey};
  ibv_send_wr wanted{}, *refused = nullptr;
  wanted.sg_list = &place;
  wanted.num_sge = 1;
  wanted.opcode = IBV_WR_RDMA_READ;
  wanted.send_flags = IBV_SEND_SIGNALED;
  wanted.wr.rdma.remote_addr = address;
  wanted.wr.rdma.rkey = key;
  if (ibv_post_send(by->endpoint->qp, &wanted, &refused) != 0) return false;
  ibv_wc done{};
  int count = 0;
  // A queue pair that is gone answers nothing, but the server says so.
  while (count == 0 && !await(by, RDMA_CM_EVENT_DISCONNECTED)) count = ibv_poll_cq(by->queue.get(), 1, &done);
  return count > 0 && done.status == IBV_WC_SUCCESS;
}

void read_all(Connection* by, const std::vector<store::message::FarSegment>& segments) {
  uint64_t found = 0;
  for (const auto& segment : segments)
    for (uint64_t at = 0; at < segment.bytes; at += by->room.size()) {
      const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(by->room.size(), segment.bytes - at));
      if (!read(by, segment.address + at, segment.key, bytes)) {
        std::puts("refused");
        std::fflush(stdout);
        return;
      }
      const uint64_t header = segment.offset + at == 0 ? store::region::kHeaderBytes : 0;
      for (uint64_t i = header; i < bytes; ++i) found += by->room[i] != 0 ? 1 : 0;
    }
  std::printf("read %lu\n", static_cast<unsigned long>(found));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  char error[1024] = "";
  stromkv_session* session = nullptr;
  const std::string address = std::string("tcp:") + argv[1] + ":" + argv[2];
  if (stromkv_session_open(address.c_str(), argv[3], &session, error, sizeof(error)) != STROMKV_OK) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }
  store::message::FarMemory memory;
  uint32_t number = 0;
  if (kv::ask_far_memory(session, &memory, &number) != STROMKV_OK) {
    std::fprintf(stderr, "%s\n", stromkv_session_error(session));
    return 1;
  }
  if (argc > 4) memory.ticket[0] ^= 1;
  Connection connection;
  if (!connect(&connection, argv[1], memory)) {
    std::puts("refused");
    return 0;
  }
  if (kv::ask_far_memory(session, &memory, &number) != STROMKV_OK) return 1;
  read_all(&connection, memory.segments);
  char line[16];
  while (std::fgets(line, sizeof(line), stdin) != nullptr) read_all(&connection, memory.segments);
  connection.endpoint.reset();
  stromkv_session_close(session);
}
