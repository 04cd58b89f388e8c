// A session's side of the keeper of exports. The connection stays open for as long as the session's exports shall.
// Used by src/pg/exports/keeper.cpp.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "service/export_protocol.hpp"
#include "service/sockets.hpp"

namespace strom::service {

class ExportClient {
 public:
  /// Errors: kDeviceLost when no keeper listens there.
  static Result<ExportClient> connect(const std::string& keeper);

  /// The identifier of a sealed file. `lease`: of the GPU's memory that it describes, or -1. Errors: kOverBudget, or
  /// the keeper is gone.
  Result<std::string> put(const PutExport& request, int file, int lease = -1);
  /// Another identifier of the memory of an export that has `request`'s key; empty where there is none. Errors:
  /// kOverBudget, or the keeper is gone.
  Result<std::string> put_same(const PutExport& request);
  /// Whether there was such an export. Errors: kPermissionDenied.
  Result<bool> drop(const DropExport& request);
  Result<std::vector<ExportFacts>> list();
  const std::string& keeper() const { return keeper_; }

 private:
  Result<std::string> ask(const std::string& packet, const std::vector<int>& files);

  std::string keeper_;
  Descriptor socket_;
};

}  // namespace strom::service
