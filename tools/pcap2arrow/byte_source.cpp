// See byte_source.hpp.
#include "pcap2arrow/byte_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/mapped_file.hpp"
#include "base/os_error.hpp"
#include "cli/decompressor.hpp"
#include "cli/spool.hpp"

namespace strom::pcap2arrow {

namespace {

using Clock = std::chrono::steady_clock;

class MappedSource final : public ByteSource {
 public:
  explicit MappedSource(std::shared_ptr<const base::MappedFile> file) : file_(std::move(file)) {}

  Result<std::span<const uint8_t>> bytes(HeldBytes& held, int64_t) override {
    held.mapped = file_;
    return std::span(file_->data() + position_, static_cast<size_t>(file_->size() - position_));
  }
  void take(int64_t size) override { position_ += size; }
  int64_t position() const override { return position_; }
  int64_t size() const override { return file_->size(); }
  Status check() const override {
    if (!file_->is_poisoned()) return Status::ok();
    return Status(ErrorCode::kFileChanged, "file \"" + file_->path() + "\" was cut while it was read");
  }

 private:
  const std::shared_ptr<const base::MappedFile> file_;
  int64_t position_ = 0;
};

/// A descriptor that is read from its beginning to its end.
class Descriptor {
 public:
  Descriptor(int fd, std::string name, const ReadOptions& options)
      : fd_(fd), name_(std::move(name)), stop_(options.stop), follows_(options.follow) {}
  ~Descriptor() {
    if (fd_ != STDIN_FILENO) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// At least one byte, or 0 at the end; kNotYet when there is nothing for `milliseconds` (-1: waits for ever).
  Result<int64_t> read(void* to, int64_t room, int milliseconds) {
    constexpr int kLook = 100;
    const auto begin = Clock::now();
    const auto is_late = [&] {
      return milliseconds >= 0 && Clock::now() - begin >= std::chrono::milliseconds(milliseconds);
    };
    for (;;) {
      const bool is_timed = follows_ || milliseconds >= 0;
      if (!stop_->wait(fd_, is_timed ? kLook : -1)) return read_rest(to, room);
      if (is_readable(0)) {
        const ssize_t got = ::read(fd_, to, static_cast<size_t>(room));
        if (got > 0 || (got == 0 && !follows_)) return int64_t{got};
        if (got < 0 && errno != EINTR) return base::os_error(errno, "could not read " + name_);
        if (got == 0) (void)stop_->wait(-1, kLook);
      }
      if (is_late()) return kNotYet;
    }
  }
  static constexpr int64_t kNotYet = -1;
  const std::string& name() const { return name_; }

 private:
  bool is_readable(int milliseconds) const {
    pollfd wanted{fd_, POLLIN, 0};
    return poll(&wanted, 1, milliseconds) > 0;
  }
  /// After the end was asked for: what others have written before they end, too, but not for long.
  Result<int64_t> read_rest(void* to, int64_t room) {
    constexpr int kLast = 300;
    constexpr auto kMost = std::chrono::seconds(2);
    const auto now = Clock::now();
    if (stopped_ == Clock::time_point{}) stopped_ = now;
    if (now - stopped_ > kMost || !is_readable(follows_ ? 0 : kLast)) return int64_t{0};
    const ssize_t got = ::read(fd_, to, static_cast<size_t>(room));
    return int64_t{std::max<ssize_t>(got, 0)};
  }

  const int fd_;
  const std::string name_;
  const StopEvent* const stop_;
  const bool follows_;
  Clock::time_point stopped_{};
};

class StreamSource : public ByteSource {
 public:
  StreamSource(std::unique_ptr<Descriptor> file, std::string begin, const ReadOptions& options, int64_t size)
      : file_(std::move(file)),
        begin_(std::move(begin)),
        step_(options.step),
        size_(size),
        patience_(options.patience) {}

  Result<std::span<const uint8_t>> bytes(HeldBytes& held, int64_t wanted) override {
    held.mapped.reset();
    columnar::ByteBuffer& buffer = held.buffer;
    buffer.clear();
    std::memcpy(buffer.extend(rest_.size()), rest_.data(), static_cast<size_t>(rest_.size()));
    while (!is_end_ && buffer.size() < std::max(wanted, step_)) {
      constexpr int64_t kRead = 1 << 20;
      const int64_t before = buffer.size();
      uint8_t* place = buffer.extend(kRead);
      // Enough may have come, and more does not come soon.
      STROM_ASSIGN(const int64_t got, read(place, kRead, before < wanted ? -1 : patience_));
      buffer.truncate(before + std::max<int64_t>(got, 0));
      is_end_ = got == 0;
      if (got == Descriptor::kNotYet) break;
    }
    given_ = {buffer.data(), static_cast<size_t>(buffer.size())};
    take(0);
    return given_;
  }
  void take(int64_t size) override {
    given_ = given_.subspan(static_cast<size_t>(size));
    rest_.clear();
    std::memcpy(rest_.extend(static_cast<int64_t>(given_.size())), given_.data(), given_.size());
  }
  int64_t position() const override { return position_; }
  int64_t size() const override { return size_; }

 protected:
  /// Into room for `room` > 0 bytes, as Descriptor::read().
  virtual Result<int64_t> read(uint8_t* to, int64_t room, int milliseconds) {
    return read_file(to, room, milliseconds);
  }
  Result<int64_t> read_file(void* to, int64_t room, int milliseconds) {
    if (!begin_.empty()) {
      const size_t size = std::min(begin_.size(), static_cast<size_t>(room));
      std::memcpy(to, begin_.data(), size);
      begin_.erase(0, size);
      position_ += static_cast<int64_t>(size);
      return static_cast<int64_t>(size);
    }
    STROM_ASSIGN(const int64_t got, file_->read(to, room, milliseconds));
    position_ += std::max<int64_t>(got, 0);
    return got;
  }
  const std::string& name() const { return file_->name(); }

 private:
  const std::unique_ptr<Descriptor> file_;
  std::string begin_;  // was read already
  const int64_t step_, size_;
  const int patience_;
  int64_t position_ = 0;
  bool is_end_ = false;
  columnar::ByteBuffer rest_;  // of what was given
  std::span<const uint8_t> given_;
};

class CompressedSource final : public StreamSource {
 public:
  CompressedSource(std::unique_ptr<Descriptor> file, std::string begin, const ReadOptions& options, int64_t size,
                   std::unique_ptr<tool::Decompressor> decompressor)
      : StreamSource(std::move(file), std::move(begin), options, size), decompressor_(std::move(decompressor)) {}

 private:
  Status corrupt(const std::string& what) const {
    return Status(ErrorCode::kCorruptFile, "could not decompress " + name())
        .with_detail("The decompressor says: " + what + ".");
  }

  Result<int64_t> read(uint8_t* to, int64_t room, int milliseconds) override {
    for (;;) {
      if (left_.empty() && !is_end_of_file_) {
        STROM_ASSIGN(const int64_t got, read_file(input_.data(), static_cast<int64_t>(input_.size()), milliseconds));
        if (got == Descriptor::kNotYet) return got;
        left_ = {input_.data(), static_cast<size_t>(got)};
        is_end_of_file_ = got == 0;
      }
      const bool is_padding = is_end_of_part_ && left_.find_first_not_of('\0') == std::string_view::npos;
      if (is_padding) left_ = {};
      if (is_end_of_part_ && left_.empty()) {
        if (is_end_of_file_) return int64_t{0};
        continue;
      }
      const auto step = decompressor_->step(left_, reinterpret_cast<char*>(to), static_cast<size_t>(room));
      if (!step.problem.empty()) return corrupt(step.problem);
      left_.remove_prefix(step.taken);
      is_end_of_part_ = step.is_end;
      if (step.made > 0) return static_cast<int64_t>(step.made);
      if (is_end_of_file_ && step.taken == 0 && !step.is_end) return corrupt("it ends in the middle");
    }
  }

  const std::unique_ptr<tool::Decompressor> decompressor_;
  std::vector<char> input_ = std::vector<char>(1 << 20);
  std::string_view left_;
  bool is_end_of_file_ = false, is_end_of_part_ = false;
};

}  // namespace

StopEvent::StopEvent() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StopEvent::~StopEvent() {
  if (event_ >= 0) close(event_);
}

void StopEvent::set() { (void)eventfd_write(event_, 1); }

bool StopEvent::wait(int fd, int milliseconds) const {
  pollfd wanted[] = {{event_, POLLIN, 0}, {fd, POLLIN, 0}};  // -1 is left out by poll()
  (void)poll(wanted, 2, milliseconds);
  return (wanted[0].revents & POLLIN) == 0;
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path, const ReadOptions& options) {
  const bool is_input = path == "-";
  if (is_input) STROM_TRY(tool::take_input());
  const std::string name = is_input ? "standard input" : "file \"" + path + "\"";
  const int fd = is_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::os_error(errno, "could not read " + name);
  auto descriptor = std::make_unique<Descriptor>(fd, name, options);
  struct stat found;
  if (fstat(fd, &found) != 0) return base::os_error(errno, "could not read " + name);
  if (S_ISDIR(found.st_mode)) return base::os_error(EISDIR, "could not read " + name);
  const bool is_regular = S_ISREG(found.st_mode);
  std::string begin(tool::kMagicBytes, '\0');
  size_t got = 0;
  while (got < begin.size()) {
    STROM_ASSIGN(const int64_t more,
                 descriptor->read(begin.data() + got, static_cast<int64_t>(begin.size() - got), -1));
    if (more == 0) break;
    got += static_cast<size_t>(more);
  }
  begin.resize(got);
  auto decompressor = tool::decompressor_of(begin);
  const int64_t size = is_regular && !options.follow ? int64_t{found.st_size} : 0;
  if (decompressor != nullptr)
    return std::unique_ptr<ByteSource>(std::make_unique<CompressedSource>(std::move(descriptor), std::move(begin),
                                                                          options, size, std::move(decompressor)));
  if (!is_regular || is_input || options.follow)
    return std::unique_ptr<ByteSource>(
        std::make_unique<StreamSource>(std::move(descriptor), std::move(begin), options, size));
  STROM_ASSIGN(auto file, base::MappedFile::open(path));
  return std::unique_ptr<ByteSource>(std::make_unique<MappedSource>(std::move(file)));
}

}  // namespace strom::pcap2arrow
