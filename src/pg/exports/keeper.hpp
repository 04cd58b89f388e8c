// This session's connection to the server's keeper of exports. The first use starts the keeper, so nothing needs to be
// preloaded. Used by sqlfn/export.cpp and worker/export_keeper.cpp. See docs/dev/python.md.
#pragma once

#include <string>

#include "service/export_client.hpp"

namespace strom::pg::exports {

/// The file that the keeper keeps locked while it runs. Its content is the first part of the keeper's identifiers.
std::string keeper_file();

/// The connection; starts a keeper if there is none. It lasts as long as the session, and exports that are not pinned
/// end with it. Throws: no worker can be started (53400), the keeper does not answer.
service::ExportClient& connected_keeper();

/// The connection if a keeper runs, else nullptr.
service::ExportClient* running_keeper();

}  // namespace strom::pg::exports
