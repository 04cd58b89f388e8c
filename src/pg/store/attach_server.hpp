// The worker's socket, where clients exchange tokens for descriptors of published regions.
#pragma once

#include <string>

namespace strom::pg::store {

/// The path of a socket of this server: in the first folder of unix_socket_directories, or in the data directory. May
/// throw.
std::string socket_path(const std::string& suffix);

/// Listens on the socket, and stores its path in Control. False: it failed, and the server's log says why. May throw.
bool open_attach_socket();

/// A descriptor that is readable when there is work; -1: none.
int attach_descriptor();

/// Answers waiting clients, without waiting for any of them. May throw.
void serve_attach();

/// Closes the socket and removes its file.
void close_attach_socket();

}  // namespace strom::pg::store
