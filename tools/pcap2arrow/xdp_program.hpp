// The program of an interface that hands its packets to AF_XDP sockets, one for each queue: a handful of instructions,
// so no compiler and no library is needed. Used by xdp_source.cpp.
#pragma once

#include <string>
#include <utility>

#include "base/status.hpp"

namespace strom::pcap2arrow {

/// A descriptor that is closed.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Packets go the usual way again when it is destroyed, or the process ends.
class XdpProgram {
 public:
  /// For sockets of so many queues. Errors: kPermissionDenied, kIoError.
  static Result<XdpProgram> load(int queues, const std::string& interface);
  Status set_socket(int queue, int fd);
  /// From here on packets come. `is_generic`: for any driver.
  Status attach(int interface, bool is_generic);

 private:
  explicit XdpProgram(std::string interface) : interface_(std::move(interface)) {}
  std::string interface_;
  Descriptor sockets_, program_, link_;
};

/// What a call's errno means, with the capabilities that are needed.
Status xdp_refused(int error_number, const std::string& interface);

}  // namespace strom::pcap2arrow
