// See server.hpp. Clients get tickets over their connection of messages and show them to connect. Their later reads do
// not involve this process.
#include "rdma/server.hpp"

#include <fcntl.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/os_error.hpp"
#include "rdma/registration.hpp"
#include "rdma/verbs.hpp"

namespace strom::rdma {

namespace {

namespace message = store::message;

/// A client: first it has a ticket, then an endpoint and a registration.
struct Guest : Peer {
  uint8_t ticket[message::kTicketBytes] = {};
  bool is_used = false;  // the ticket was used
  std::shared_ptr<MappedRegion> region;
  std::shared_ptr<Registration> registration;
  Endpoint endpoint;  // destroyed before the registration

  void leave() {
    endpoint.reset();
    registration.reset();
  }
};

/// An event that was acknowledged.
struct Happening {
  rdma_cm_event_type what;
  rdma_cm_id* id;
  uint8_t responder_resources;
  bool has_ticket;
  uint8_t ticket[message::kTicketBytes];
};

class CmServer : public Server {
 public:
  explicit CmServer(Channel channel) : channel_(std::move(channel)) {}

  /// Listens. Returns an empty text, or why it failed.
  std::string listen(const std::string& address, int port);
  bool is_listening() const { return !listeners_.empty(); }

  int descriptor() const override { return channel_->fd; }
  void serve() override;
  Result<message::FarMemory> offer(const RegionFile& region, std::shared_ptr<Peer>* peer) override;

 private:
  void take(const Happening& happening);
  void admit(Endpoint endpoint, const Happening& happening, Guest* guest);
  std::shared_ptr<Guest> find(const uint8_t* ticket);
  void drop_retired();
  Result<std::shared_ptr<MappedRegion>> mapped(const RegionFile& file);
  Result<std::shared_ptr<Registration>> registered(const std::shared_ptr<MappedRegion>& region, ibv_context* device);

  Channel channel_;
  std::vector<Endpoint> listeners_;
  int port_ = 0;
  std::vector<std::weak_ptr<Guest>> guests_;
};

std::string CmServer::listen(const std::string& address, int port) {
  rdma_addrinfo hints{};
  hints.ai_flags = RAI_PASSIVE;
  hints.ai_port_space = RDMA_PS_TCP;
  rdma_addrinfo* list = nullptr;
  const std::string service = std::to_string(port);
  if (rdma_getaddrinfo(address == "*" ? nullptr : address.c_str(), service.c_str(), &hints, &list) != 0)
    return strerror(errno);
  const Addresses owner(list);
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0) return strerror(errno);
  Endpoint listener(id);
  constexpr int kBacklog = 128;
  if (rdma_bind_addr(id, list->ai_src_addr) != 0 || rdma_listen(id, kBacklog) != 0) return strerror(errno);
  port_ = port;
  listeners_.push_back(std::move(listener));
  return "";
}

/// The client of a ticket. The time that the search takes reveals nothing about tickets.
std::shared_ptr<Guest> CmServer::find(const uint8_t* ticket) {
  std::shared_ptr<Guest> found;
  for (const auto& known : guests_) {
    std::shared_ptr<Guest> guest = known.lock();
    if (guest == nullptr || guest->is_used) continue;
    uint8_t difference = 0;
    for (size_t i = 0; i < message::kTicketBytes; ++i) difference |= ticket[i] ^ guest->ticket[i];
    if (difference == 0) found = guest;
  }
  return found;
}

/// Lets a client in. If that fails, the endpoint is destroyed, which tells the client.
void CmServer::admit(Endpoint endpoint, const Happening& happening, Guest* guest) {
  guest->is_used = true;
  auto registration = registered(guest->region, endpoint->verbs);
  ibv_device_attr device{};
  if (!registration.is_ok() || !guest->region->is_ready() || ibv_query_device(endpoint->verbs, &device) != 0) return;
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = attributes.recv_cq = registration.value()->queue();
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = 1;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  if (rdma_create_qp(endpoint.get(), registration.value()->domain(), &attributes) != 0) return;
  rdma_conn_param parameters{};
  constexpr uint8_t kForEver = 7;
  parameters.responder_resources =
      static_cast<uint8_t>(std::min<int>(happening.responder_resources, device.max_qp_rd_atom));
  parameters.rnr_retry_count = kForEver;
  if (rdma_accept(endpoint.get(), &parameters) != 0) return;
  guest->registration = std::move(registration).value();
  guest->endpoint = std::move(endpoint);
}

void CmServer::take(const Happening& happening) {
  if (happening.what == RDMA_CM_EVENT_CONNECT_REQUEST) {
    Endpoint endpoint(happening.id);
    const std::shared_ptr<Guest> guest = happening.has_ticket ? find(happening.ticket) : nullptr;
    if (guest != nullptr)
      admit(std::move(endpoint), happening, guest.get());
    else
      rdma_reject(endpoint.get(), nullptr, 0);
    return;
  }
  const bool has_ended = happening.what == RDMA_CM_EVENT_DISCONNECTED ||
                         happening.what == RDMA_CM_EVENT_CONNECT_ERROR || happening.what == RDMA_CM_EVENT_UNREACHABLE ||
                         happening.what == RDMA_CM_EVENT_REJECTED || happening.what == RDMA_CM_EVENT_DEVICE_REMOVAL;
  if (!has_ended) return;
  for (const auto& known : guests_)
    if (const auto guest = known.lock(); guest != nullptr && guest->endpoint.get() == happening.id) guest->leave();
}

/// Drops retired regions: the card keeps their registered memory, whatever happens to the file.
void CmServer::drop_retired() {
  std::erase_if(guests_, [](const auto& known) { return known.expired(); });
  for (const auto& known : guests_)
    if (const auto guest = known.lock(); guest != nullptr && !guest->region->is_ready()) guest->leave();
}

void CmServer::serve() {
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(channel_.get(), &event) == 0) {
    Happening happening{event->event, event->id, event->param.conn.responder_resources, false, {}};
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->param.conn.private_data != nullptr &&
        event->param.conn.private_data_len >= message::kTicketBytes) {
      happening.has_ticket = true;
      std::memcpy(happening.ticket, event->param.conn.private_data, message::kTicketBytes);
    }
    rdma_ack_cm_event(event);
    take(happening);
  }
  drop_retired();
}

Result<std::shared_ptr<MappedRegion>> CmServer::mapped(const RegionFile& file) {
  for (const auto& known : guests_)
    if (const auto guest = known.lock(); guest != nullptr && guest->region->id() == file.id) return guest->region;
  return MappedRegion::map(file);
}

Result<std::shared_ptr<Registration>> CmServer::registered(const std::shared_ptr<MappedRegion>& region,
                                                           ibv_context* device) {
  for (const auto& known : guests_)
    if (const auto guest = known.lock(); guest != nullptr && guest->registration != nullptr &&
                                         &guest->registration->region() == region.get() &&
                                         guest->registration->device() == device)
      return guest->registration;
  return Registration::begin(region, device);
}

Result<message::FarMemory> CmServer::offer(const RegionFile& region, std::shared_ptr<Peer>* peer) {
  auto guest = std::static_pointer_cast<Guest>(*peer);
  if (guest == nullptr || guest->region->id() != region.id) {
    guest = std::make_shared<Guest>();
    STROM_ASSIGN(guest->region, mapped(region));
    if (getrandom(guest->ticket, sizeof(guest->ticket), 0) != static_cast<ssize_t>(sizeof(guest->ticket)))
      return base::os_error(errno, "could not generate a random number");
    guests_.push_back(guest);
    *peer = guest;
  }
  message::FarMemory offer;
  std::memcpy(offer.ticket, guest->ticket, sizeof(offer.ticket));
  offer.port = static_cast<uint32_t>(port_);
  if (guest->registration != nullptr) {
    STROM_TRY(guest->registration->extend());
    offer.segments = guest->registration->segments();
  }
  return offer;
}

}  // namespace

}  // namespace strom::rdma

extern "C" __attribute__((visibility("default"))) strom::rdma::Server* strom_rdma_open(
    const std::vector<std::string>& addresses, int port, std::vector<std::string>* complaints) {
  using namespace strom::rdma;
  Channel channel(rdma_create_event_channel());
  if (channel == nullptr) {
    complaints->push_back(std::string("there is no RDMA device: ") + strerror(errno));
    return nullptr;
  }
  fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  fcntl(channel->fd, F_SETFD, FD_CLOEXEC);
  auto server = std::make_unique<CmServer>(std::move(channel));
  for (const std::string& address : addresses)
    if (std::string why = server->listen(address, port); !why.empty())
      complaints->push_back("address \"" + address + "\": " + why);
  return server->is_listening() ? server.release() : nullptr;
}
