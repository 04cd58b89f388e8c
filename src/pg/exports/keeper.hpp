// This session's connection to the server's keeper of exports, which is started when it is needed first: no preload is
// needed. Used by sqlfn/export.cpp and worker/export_keeper.cpp. docs/dev/python.md.
#pragma once

#include <string>

#include "service/export_client.hpp"

namespace strom::pg::exports {

/// The file that the keeper has locked while it lives; its content is the first part of its identifiers.
std::string keeper_file();

/// The connection, which ends with the session: exports that are not pinned end with it. Starts a keeper where there is
/// none. Throws: no worker can be started (53400), the keeper does not answer.
service::ExportClient& connected_keeper();

/// The same where there is a keeper, else nullptr.
service::ExportClient* running_keeper();

}  // namespace strom::pg::exports
