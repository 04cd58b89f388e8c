// Connections of clients that send messages: what they have sent, and what they have not taken yet. Nobody is waited
// for. All of it may throw.
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

/// Memory in place of a client's socket.
struct ClientRings {
  ::strom::store::message::Rings memory;
  ::strom::store::message::RingReader requests;
  ::strom::store::message::RingWriter answers;
  base::Descriptor descriptor;  // for the client; none: it has been sent
};

struct Client {
  int descriptor = -1;
  store::Grant grant{};
  bool is_admitted = false;    // its token was good
  bool is_greeted = false;     // it has been told what the table's rows are like
  bool is_ending = false;      // what is in `output` is the last it gets
  bool has_hung_up = false;    // nothing more comes from it
  bool waits_to_send = false;  // as epoll knows it
  bool is_heard = true;        // as epoll knows it
  bool is_local = false;       // on this machine
  std::string input, output;
  size_t sent = 0;                  // of `output`
  int64_t since = 0;                // TimestampTz: when it has last done something
  std::shared_ptr<rdma::Peer> far;  // what it has of the RDMA server
  std::unique_ptr<ClientRings> rings;

  bool uses_rings() const { return rings != nullptr && !rings->descriptor.is_open(); }
};

class Clients {
 public:
  Clients() = default;
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  /// Listens; false: it cannot, and errno says why.
  bool listen(const std::string& path);
  /// Takes clients of another socket that listens, by TCP; it is closed at the end.
  void add_listener(int descriptor);
  /// receive() returns when this is readable, too.
  void wake_for(int descriptor);
  /// Closes everything, and removes the socket's file.
  void end();
  /// Takes what has come, for `timeout_ms` at most; false: nothing has.
  bool receive(int timeout_ms);
  /// Before the process sleeps elsewhere, until descriptor() is readable. False: there is something to do.
  bool begin_sleep();
  void end_sleep();
  /// What rings had no room for: nobody tells when there is some.
  bool has_unsent() const;
  /// Makes memory in place of the socket, which the client gets with the next answer. False: it can have none.
  bool offer_rings(Client* client);
  /// Sends what can be sent, and forgets who has gone, or does not go on.
  void send();

  /// Readable when there is something to receive or to send.
  int descriptor() const { return poll_; }
  std::map<int, Client>& all() { return clients_; }

 private:
  bool watch(int descriptor, uint32_t events, int operation) const;
  void accept_all(int listener);
  bool receive_from(Client* client);
  bool receive_bell(Client* client);
  bool receive_by_rings();
  bool spin();
  bool receive_events(int timeout_ms);
  bool send_to(Client* client);
  bool send_by_rings(Client* client);
  ssize_t send_part(Client* client) const;
  void forget(Client* client);
  void follow(Client* client);

  int listener_ = -1, poll_ = -1;
  std::vector<int> tcp_listeners_;
  std::string path_;
  std::map<int, Client> clients_;
  std::vector<Client*> ring_clients_;  // of these, who use rings
  int64_t time_ = 0;                   // TimestampTz: of this round
};

}  // namespace strom::pg::kv_server
