// Rights that a capture needs to begin, and no longer.
#pragma once

#include <string>

#include "base/status.hpp"

namespace strom::pcap2arrow {

/// Becomes `user` if it is not empty, and gives up all capabilities; root keeps those by which it writes files
/// anywhere. Threads that are started afterwards have none of them either.
Status drop_privileges(const std::string& user);

}  // namespace strom::pcap2arrow
