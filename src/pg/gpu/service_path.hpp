// Paths of this server's GPU service, for the process that starts it and for sessions that use it.
#pragma once

#include <string>

namespace strom::pg::gpu {

/// The service's socket, in the same folder as the server's socket.
std::string service_socket();
/// The service's executable in this installation.
std::string service_program();
/// The file in which the service stores its measurements.
std::string calibration_file();
/// The device module that the service opens: the one for CUDA, unless the server's environment variable
/// STROM_DEVICE_MODULE names another one (for tests).
std::string device_module();
/// True when the server should run a service: there is a device module and a GPU for it.
bool wants_service();

}  // namespace strom::pg::gpu
