// Writes the line of the server's log that names the engine's devices.
#pragma once

namespace strom::pg::sqlfn {

/// Called while a server starts that preloads the extension. Does not throw.
void log_devices();

}  // namespace strom::pg::sqlfn
