// The line of the server's log that says what the engine runs on.
#pragma once

namespace strom::pg::sqlfn {

/// For a server that preloads the extension, while it starts. Does not throw.
void log_devices();

}  // namespace strom::pg::sqlfn
