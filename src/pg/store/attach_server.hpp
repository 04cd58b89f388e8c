// The worker's socket, where clients exchange tokens for descriptors of published regions.
#pragma once

#include <string>

namespace strom::pg::store {

/// Path of a socket of this server: in the first folder of unix_socket_directories, or in that of the data. May throw.
std::string socket_path(const std::string& suffix);

/// Listens on the socket, whose path goes into Control. False, with a line in the server's log: it cannot. May throw.
bool open_attach_socket();

/// A descriptor that is readable when there is something to do; -1: none.
int attach_descriptor();

/// Answers who is waiting, and waits for nobody. May throw.
void serve_attach();

/// Closes the socket and removes its file.
void close_attach_socket();

}  // namespace strom::pg::store
