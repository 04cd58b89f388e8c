// Reads files into device memory: by cuFile where it takes the file, else through pinned buffers. docs/dev/storage.md.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "device/cufile.hpp"
#include "device/device.hpp"
#include "engine/device/device.hpp"
#include "service/read_queue.hpp"
#include "service/sockets.hpp"

namespace strom::service {

/// What pg_strom.gpudirect_driver can be.
enum class StorageChoice {
  kAuto,     // cuFile where it can, else io_uring, else pread
  kCuFile,   // cuFile; files that it does not take are not read here
  kIoUring,  // no cuFile
  kVfs,      // pread alone
};
/// False when there is no such word: auto, cufile, io_uring, vfs.
bool parse_storage_choice(std::string_view word, StorageChoice* choice);

struct StorageOptions {
  StorageOptions();
  StorageChoice choice = StorageChoice::kAuto;
  std::string cufile_library;  // name or path; empty: cuFile's own
  std::string cufile_log;      // where the library writes to, unless the environment says it
  uint64_t cached_file;        // larger ones are read past the page cache, which they would only sweep: half of memory
};

enum class StorageWay : uint32_t { kCuFile, kIoUring, kPread };

/// A regular file that is read.
class StoredFile final : public engine::device::DeviceFile {
 public:
  const std::string& name() const { return name_; }
  /// How it is read at the moment: cuFile can turn out not to work.
  StorageWay way() const;
  /// Why not by a better way; empty for the best.
  const std::string& why_not() const { return why_not_; }
  bool takes_direct_io() const { return direct_.is_open(); }

 private:
  friend class Storage;
  friend class StorageLane;
  StoredFile() = default;
  std::string name_, why_not_;
  Descriptor file_, direct_;  // through the page cache, and past it (O_DIRECT), where that can be
  mutable std::atomic<bool> reads_past_cache_ = false;
  std::unique_ptr<const device::CuFileHandle> cufile_;  // on one of the descriptors
  mutable std::atomic<bool> uses_cufile_ = false;
  bool has_io_uring_ = false;
};

/// Buffers and a queue for the reads of one piece of work at a time.
class StorageLane;

/// Of one device. Any thread that uses the device.
class Storage {
 public:
  Storage(const device::Device* device, StorageOptions options) : device_(device), options_(std::move(options)) {}

  /// Loads cuFile, where it is wanted and can be; the first open() does it otherwise.
  void prepare();
  /// The descriptor is copied, `name` is for messages. kUnsupported: no regular file that can be read, or not by the
  /// way that was chosen.
  Result<std::shared_ptr<const StoredFile>> open(int descriptor, const std::string& name);
  Result<std::unique_ptr<StorageLane>> create_lane() const;

  /// Whether and how cuFile works at all, in words.
  std::string cufile_state();

 private:
  const device::Device* const device_;
  const StorageOptions options_;
  std::once_flag prepared_;
  std::shared_ptr<const device::CuFile> cufile_;
  Status cufile_status_, io_uring_status_;
};

class StorageLane {
 public:
  using KeepGoing = engine::device::Device::KeepGoing;

  /// Reads the ranges, whose files are StoredFiles, to where they belong. What goes through buffers is copied in
  /// `stream`, and has arrived when that has come so far. After an error nothing is being read any more, though copies
  /// of what was read may go on. kFileChanged, kIoError and its like, kCancelled.
  Status read(const std::vector<engine::device::DeviceFileRange>& ranges, const device::Stream& stream,
              const KeepGoing& keep_going);

 private:
  friend class Storage;
  /// A part of a range that fits a buffer.
  struct Piece {
    const StoredFile* file = nullptr;
    char* device = nullptr;
    uint64_t begin = 0, end = 0;  // in the file, what is wanted
    uint64_t from = 0, to = 0;    // what is asked for; [from, from + done) has been read
    uint64_t done = 0;
  };
  struct Buffer {
    char* memory;
    device::Event copied;
    Piece piece;
  };

  StorageLane(const device::Device* device, std::unique_ptr<ReadQueue> queue)
      : device_(device), queue_(std::move(queue)) {}
  /// False where cuFile has failed.
  Result<bool> read_by_cufile(const engine::device::DeviceFileRange& range, const StoredFile& file,
                              const KeepGoing& keep_going) const;
  Status read_through_buffers(const device::Stream& stream, const KeepGoing& keep_going);
  Status begin_piece(const Piece& piece, uint32_t buffer);
  Status ask_again(uint32_t buffer);
  Status take(const ReadQueue::Done& done, const device::Stream& stream);
  Status reclaim(bool waits, const KeepGoing& keep_going);
  void drain();

  const device::Device* const device_;
  const std::unique_ptr<ReadQueue> queue_;
  device::PinnedMemory pinned_;
  std::vector<Buffer> buffers_;
  std::vector<uint32_t> free_, copying_;  // buffers; the others are being read into
  std::vector<Piece> pieces_;             // to be read
  size_t next_piece_ = 0, reading_ = 0;
};

}  // namespace strom::service
