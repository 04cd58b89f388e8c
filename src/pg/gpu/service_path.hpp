// Where the GPU service of this server is: the same for those who start it and those who use it.
#pragma once

#include <string>

namespace strom::pg::gpu {

/// The service's socket, beside the server's own.
std::string service_socket();
/// The service's program, of this installation.
std::string service_program();
/// Where the service keeps what it has measured.
std::string calibration_file();
/// The device module that it is to open: that for CUDA, unless environment STROM_DEVICE_MODULE of the server names
/// another (tests).
std::string device_module();
/// True when the server should have a service: there is a module and a GPU for it.
bool wants_service();

}  // namespace strom::pg::gpu
