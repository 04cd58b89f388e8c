// Connections of clients that send messages, with their unread input and unsent output. No function waits for a client.
// All of it may throw.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/store/tokens.hpp"
#include "rdma/server.hpp"
#include "store/message/rings.hpp"

namespace strom::pg::kv_server {

/// Shared memory that replaces a client's socket.
struct ClientRings {
  ::strom::store::message::Rings memory;
  ::strom::store::message::RingReader requests;
  ::strom::store::message::RingWriter answers;
  base::Descriptor descriptor;  // to be sent to the client; none: it has been sent
};

struct Client {
  int descriptor = -1;
  store::Grant grant{};
  bool is_admitted = false;    // its token is valid
  bool is_greeted = false;     // it has got the description of the table's rows
  bool is_ending = false;      // the connection ends when `output` is sent
  bool has_hung_up = false;    // it sends nothing more
  bool waits_to_send = false;  // epoll watches for room to send
  bool is_heard = true;        // epoll watches for input
  bool is_local = false;       // connected from this machine
  std::string input, output;
  size_t sent = 0;                  // bytes of `output` that are sent
  int64_t since = 0;                // TimestampTz of its last activity
  std::shared_ptr<rdma::Peer> far;  // its side of the RDMA server
  std::unique_ptr<ClientRings> rings;

  bool uses_rings() const { return rings != nullptr && !rings->descriptor.is_open(); }
};

class Clients {
 public:
  Clients() = default;
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  /// Listens on a socket; false: it failed, see errno.
  bool listen(const std::string& path);
  /// Accepts clients of another listening socket, by TCP. The socket is closed at the end.
  void add_listener(int descriptor);
  /// Lets receive() return when `descriptor` is readable.
  void wake_for(int descriptor);
  /// Closes everything and removes the socket's file.
  void end();
  /// Reads input, and waits up to `timeout_ms` for it; false: there was none.
  bool receive(int timeout_ms);
  /// Reads input from rings of clients of which all was answered; these clients.
  std::vector<Client*> receive_from_idle();
  /// Prepares for sleeping until descriptor() is readable. False: there is something to do.
  bool begin_sleep();
  void end_sleep();
  /// True if a ring had no room for output. No event will tell when it has room again.
  bool has_unsent() const;
  /// Makes rings for a client, which gets them with the next answer. False: the client cannot use them.
  bool offer_rings(Client* client);
  /// Sends output, and closes connections of clients that have gone or timed out.
  void send();

  /// Readable when there is something to receive or to send.
  int descriptor() const { return poll_; }
  std::map<int, Client>& all() { return clients_; }

 private:
  bool watch(int descriptor, uint32_t events, int operation) const;
  bool make_place();
  bool accept_all(int listener);
  bool receive_from(Client* client);
  bool receive_bell(Client* client);
  bool receive_by_rings();
  void take_input(Client* client) const;
  bool spin();
  bool receive_events(int timeout_ms);
  bool send_to(Client* client);
  bool send_by_rings(Client* client);
  ssize_t send_part(Client* client) const;
  void forget(Client* client);
  void follow(Client* client);

  size_t most_ = 0;  // clients at the same time
  int listener_ = -1, poll_ = -1;
  std::vector<int> tcp_listeners_;
  std::string path_;
  std::map<int, Client> clients_;
  std::vector<Client*> ring_clients_;  // the ones that use rings
  int64_t time_ = 0;                   // TimestampTz of this round
};

}  // namespace strom::pg::kv_server
