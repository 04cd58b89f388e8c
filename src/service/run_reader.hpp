// The work of a device as a client's task has it: everything is checked, since clients are not trusted. Private to
// src/service.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "engine/device/device.hpp"
#include "service/column_store.hpp"
#include "service/device_tasks.hpp"
#include "service/session_items.hpp"
#include "service/session_memory.hpp"
#include "service/storage.hpp"

namespace strom::service {

/// What is wrong with a client's task.
Status invalid_task(const char* what);

class RunReader {
 public:
  RunReader(uint32_t session, SessionMemory* memory, ColumnStore* columns, SessionItems<const StoredFile>* files)
      : session_(session), memory_(memory), columns_(columns), files_(files), held_(memory->all(session)) {}

  /// `arguments`: a Run with what follows it. kProtocolViolation: something is not the session's, or has no sense.
  Status read(std::string_view arguments);
  /// What was read. All that it names is there as long as this object is.
  const engine::device::DeviceWork& work() const { return work_; }

 private:
  const SharedRegion* region_of(const RunRange& range) const;
  Result<engine::device::DeviceRange> mirrored(const RunRange& range) const;
  Status read_ranges(const Run& run, std::string_view* arguments);
  Status read_columns(const Run& run, std::string_view* arguments);
  Status read_files(const Run& run, std::string_view* arguments);
  Status read_tiles(const Run& run);

  const uint32_t session_;
  SessionMemory* const memory_;
  ColumnStore* const columns_;
  SessionItems<const StoredFile>* const files_;
  // A client that gives up its work releases its memory at once, and tiles may go on with any of it.
  const std::vector<std::shared_ptr<SharedRegion>> held_;
  std::vector<ColumnStore::Region> cached_;
  engine::device::DeviceWork work_;
};

}  // namespace strom::service
