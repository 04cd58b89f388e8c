// Where clients connect, or send datagrams to: addresses of the command line. Used by the receiver.
#pragma once

#include <string>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace strom::fluent2arrow {

class Listener {
 public:
  Listener() = default;
  /// HOST:PORT, or the path of a UNIX socket. Errors: an address that is none, or that somebody else has.
  static Result<Listener> open(const std::string& address);
  /// For datagrams: HOST:PORT.
  static Result<Listener> open_datagrams(const std::string& address);
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = default;
  ~Listener() { close(); }

  int get() const { return socket_.get(); }
  /// A UNIX socket's file goes with it.
  void close();
  /// The address, with the port that the system chose for port 0.
  std::string address() const;

 private:
  Status open_unix();
  Status open_internet(int type);

  base::Descriptor socket_;
  std::string given_;
  bool is_unix_ = false;
};

}  // namespace strom::fluent2arrow
