// See capture_file.hpp.
#include "format/packets/capture_file.hpp"

#include <algorithm>
#include <cstdio>

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

using uint128 = unsigned __int128;

constexpr uint32_t kMicroMagic = 0xA1B2C3D4, kNanoMagic = 0xA1B23C4D, kPatchedMagic = 0xA1B2CD34;
constexpr uint32_t kSection = 0x0A0D0D0A, kSectionMagic = 0x1A2B3C4D;
constexpr uint32_t kInterface = 1, kOldPacket = 2, kSimplePacket = 3, kStatistics = 5, kPacket = 6;

constexpr int64_t kFileHeader = 24;
constexpr uint32_t kRecordHeader = 16, kPatchedRecordHeader = 24;
constexpr uint32_t kBlockHeader = 8, kBlockFrame = 12;
// Bytes before the packet's bytes in a block, including the block's header.
constexpr uint32_t kPacketHeader = 28, kSimpleHeader = 12;

// Wireshark's limits: libpcap's usual one, and the limit of link types with longer packets.
constexpr uint32_t kUsualLongest = 262144, kLongest = 128u << 20;
constexpr uint32_t kLongestBlock = 256u << 20;
constexpr size_t kMostInterfaces = 1 << 20;

constexpr uint64_t kNano = 1000000000;

/// Units since 1970 as nanoseconds, clamped to the range of int64_t.
int64_t nanoseconds(uint64_t units, const Interface& interface) {
  const uint128 product = uint128{units} * interface.multiplier / interface.divisor;
  const int64_t time = product > uint128{INT64_MAX} ? INT64_MAX : static_cast<int64_t>(product);
  int64_t sum = 0;
  if (!__builtin_add_overflow(time, interface.offset, &sum)) return sum;
  return interface.offset < 0 ? INT64_MIN : INT64_MAX;
}

/// if_tsresol: a power of 10, or of 2.
void set_resolution(Interface& interface, uint8_t code) {
  constexpr int kBits = 64, kDigits = 19, kNanoDigits = 9;
  const int power = code & 0x7F;
  interface.multiplier = interface.divisor = 1;
  if ((code & 0x80) != 0) {
    interface.multiplier = kNano;
    interface.divisor = uint64_t{1} << std::min(power, kBits - 1);
    return;
  }
  for (int i = power; i < kNanoDigits; ++i) interface.multiplier *= 10;
  for (int i = kNanoDigits; i < std::min(power, kDigits + kNanoDigits); ++i) interface.divisor *= 10;
}

constexpr uint32_t padded(uint32_t size) { return (size + 3) & ~3u; }

/// How many packets ahead headers are fetched into the caches.
constexpr size_t kAhead = 24;

template <class T, bool kSwapped>
T get(const uint8_t* at) {
  return kSwapped ? swapped(load<T>(at)) : load<T>(at);
}

/// The size of a packet, at most up to `end`, even if its header has changed since.
uint32_t bounded(uint32_t size, const uint8_t* data, const uint8_t* end) {
  return data >= end ? 0 : static_cast<uint32_t>(std::min<ptrdiff_t>(size, end - data));
}

template <bool kSwapped>
void read_pcap(const PacketRun& run, size_t first, size_t count, Packet* out) {
  const Interface& interface = (*run.interfaces)[0];
  const size_t known = run.offsets.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t ahead = first + i + kAhead;
    if (ahead < known) {
      __builtin_prefetch(run.begin + run.offsets[ahead]);
      __builtin_prefetch(run.begin + run.offsets[ahead] + 64);
    }
    const uint8_t* record = run.begin + run.offsets[first + i];
    Packet& packet = out[i];
    packet.data = record + run.framing.header;
    packet.time = int64_t{get<uint32_t, kSwapped>(record)} * static_cast<int64_t>(kNano) +
                  int64_t{get<uint32_t, kSwapped>(record + 4)} * static_cast<int64_t>(interface.multiplier);
    packet.captured = bounded(get<uint32_t, kSwapped>(record + 8), packet.data, run.end);
    packet.length = get<uint32_t, kSwapped>(record + 12);
    packet.interface = 0;
    packet.link = interface.link;
  }
}

template <bool kSwapped>
void read_block(const PacketRun& run, const uint8_t* block, Packet& packet) {
  const uint32_t type = get<uint32_t, kSwapped>(block);
  uint64_t time = 0;
  if (type == kSimplePacket) {
    packet.interface = 0;
    const auto size = get<uint32_t, kSwapped>(block + 4);
    packet.length = get<uint32_t, kSwapped>(block + 8);
    packet.captured = size < kSimpleHeader + 4 ? 0 : std::min(packet.length, size - kSimpleHeader - 4);
    packet.data = block + kSimpleHeader;
  } else {
    packet.interface = type == kOldPacket ? get<uint16_t, kSwapped>(block + 8) : get<uint32_t, kSwapped>(block + 8);
    time = uint64_t{get<uint32_t, kSwapped>(block + 12)} << 32 | get<uint32_t, kSwapped>(block + 16);
    packet.captured = get<uint32_t, kSwapped>(block + 20);
    packet.length = get<uint32_t, kSwapped>(block + 24);
    packet.data = block + kPacketHeader;
  }
  packet.captured = bounded(packet.captured, packet.data, run.end);
  if (packet.interface >= run.interfaces->size()) {  // the file has changed meanwhile
    packet.captured = 0;
    packet.interface = 0;
    packet.time = 0;
    return;
  }
  const Interface& interface = (*run.interfaces)[packet.interface];
  if (type == kSimplePacket && interface.snap != 0) packet.captured = std::min(packet.captured, interface.snap);
  packet.time = type == kSimplePacket ? 0 : nanoseconds(time, interface);
  packet.link = interface.link;
}

template <bool kSwapped>
void read_pcapng(const PacketRun& run, size_t first, size_t count, Packet* out) {
  const size_t known = run.offsets.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t ahead = first + i + kAhead;
    if (ahead < known) {
      __builtin_prefetch(run.begin + run.offsets[ahead]);
      __builtin_prefetch(run.begin + run.offsets[ahead] + 64);
    }
    read_block<kSwapped>(run, run.begin + run.offsets[first + i], out[i]);
  }
}

}  // namespace

void PacketRun::read(size_t first, size_t count, Packet* out) const {
  if (count == 0) return;
  if (framing.is_pcapng)
    framing.is_swapped ? read_pcapng<true>(*this, first, count, out) : read_pcapng<false>(*this, first, count, out);
  else
    framing.is_swapped ? read_pcap<true>(*this, first, count, out) : read_pcap<false>(*this, first, count, out);
}

/// The bytes of one call of scan().
struct CaptureScanner::Window {
  const uint8_t* bytes;
  int64_t size;
  int64_t at = 0;      // taken bytes
  int64_t wanted = 0;  // bytes behind `at` that are needed
  int64_t used = 0;    // bytes counted for RunLimits::bytes

  int64_t left() const { return size - at; }
  bool has(int64_t count) {
    if (left() >= count) return true;
    wanted = count;
    return false;
  }
  bool is_full(const RunLimits& limits, const PacketRun& run) const {
    return used >= limits.bytes || static_cast<int64_t>(run.offsets.size()) >= limits.packets;
  }
  void add(const RunLimits& limits, PacketRun& run, int64_t captured) {
    run.offsets.push_back(static_cast<uint32_t>(at));
    run.packet_bytes += captured;
    used += captured + limits.packet_cost;
  }
};

template <class T>
T CaptureScanner::number(const uint8_t* at) const {
  return framing_.is_swapped ? swapped(load<T>(at)) : load<T>(at);
}

Status CaptureScanner::corrupt(const char* what, int64_t at) const {
  const char* kind = framing_.is_pcapng ? "pcapng" : "pcap";
  return Status(ErrorCode::kCorruptFile, std::string(kind) + " file \"" + name_ + "\" looks corrupted")
      .with_detail(std::string(what) + " at byte " + std::to_string(position_ + at) + ", behind " +
                   std::to_string(packets_) + " packets.")
      .with_hint("--damaged=keep takes what is before the damage.");
}

Result<bool> CaptureScanner::open_pcap(Window& window) {
  if (!window.has(kFileHeader)) return false;
  const uint8_t* bytes = window.bytes;
  const auto magic = number<uint32_t>(bytes);
  Interface interface;
  interface.multiplier = magic == kNanoMagic ? 1 : 1000;
  interface.snap = number<uint32_t>(bytes + 16);
  interface.link = static_cast<uint16_t>(number<uint32_t>(bytes + 20) & 0xFFFF);
  framing_.header = magic == kPatchedMagic ? kPatchedRecordHeader : kRecordHeader;
  longest_ = std::min(std::max(interface.snap, kUsualLongest), kLongest);
  interfaces_.push_back(std::move(interface));
  window.at = kFileHeader;
  is_open_ = true;
  return true;
}

/// Recognizes the format by the first bytes.
Result<bool> CaptureScanner::open(Window& window) {
  if (!window.has(4)) return false;
  const auto first = load<uint32_t>(window.bytes);
  for (const uint32_t magic : {kMicroMagic, kNanoMagic, kPatchedMagic}) {
    if (first != magic && first != swapped(magic)) continue;
    framing_.is_swapped = first != magic;
    return open_pcap(window);
  }
  if (first != kSection) {
    char text[16];
    snprintf(text, sizeof(text), "%08x", first);
    return Status(ErrorCode::kUnsupported, "magic of \"" + name_ + "\" is neither PCAP nor PCAPNG")
        .with_detail(std::string("The file begins with 0x") + text + ".");
  }
  framing_.is_pcapng = true;
  is_open_ = true;
  return true;
}

/// Takes many records, if there is room for them. False: the next record has to be taken by itself.
template <bool kSwapped>
bool CaptureScanner::scan_block(Window& window, const RunLimits& limits, PacketRun& run) {
  constexpr int64_t kBytes = RecordStrands::kBlockBytes;
  const auto header = int64_t{framing_.header};
  const int64_t most = kBytes / header;  // packets
  const bool has_room = window.left() >= kBytes + header + longest_ &&
                        window.at + kBytes <= std::numeric_limits<uint32_t>::max() &&
                        window.used + kBytes + longest_ + most * limits.packet_cost < limits.bytes &&
                        static_cast<int64_t>(run.offsets.size()) + most < limits.packets;
  if (!has_room || !strands_.is_worthwhile()) return false;
  const int64_t before = window.at, known = static_cast<int64_t>(run.offsets.size());
  window.at = strands_.find<kSwapped>({window.bytes, framing_.header, longest_}, before, run.offsets);
  const int64_t count = static_cast<int64_t>(run.offsets.size()) - known;
  const int64_t captured = window.at - before - count * header;
  run.packet_bytes += captured;
  window.used += captured + count * limits.packet_cost;
  packets_ += count;
  return count > 0;
}

template <bool kSwapped>
Status CaptureScanner::scan_pcap(Window& window, const RunLimits& limits, PacketRun& run) {
  const auto header = int64_t{framing_.header};
  while (!window.is_full(limits, run)) {
    if (scan_block<kSwapped>(window, limits, run)) continue;
    if (!window.has(header)) return Status::ok();
    const auto captured = get<uint32_t, kSwapped>(window.bytes + window.at + 8);
    if (captured > longest_) return corrupt("A packet of impossible length", window.at);
    if (!window.has(header + captured)) return Status::ok();
    if (window.at > std::numeric_limits<uint32_t>::max()) return Status::ok();
    window.add(limits, run, captured);
    window.at += header + captured;
    ++packets_;
  }
  return Status::ok();
}

/// Takes a section header, which has its own byte order.
Status CaptureScanner::take_section(Window& window, bool& is_taken) {
  constexpr uint32_t kLeast = 28;
  is_taken = false;
  if (!window.has(kBlockFrame)) return Status::ok();
  const uint8_t* block = window.bytes + window.at;
  const auto magic = load<uint32_t>(block + kBlockHeader);
  if (magic != kSectionMagic && magic != swapped(kSectionMagic))
    return corrupt("A section without a byte order", window.at);
  framing_.is_swapped = magic != kSectionMagic;
  const auto size = number<uint32_t>(block + 4);
  if (size < kLeast || size % 4 != 0 || size > kLongestBlock) return corrupt("A section header", window.at);
  if (!window.has(size)) return Status::ok();
  if (number<uint32_t>(block + size - 4) != size) return corrupt("A section header", window.at);
  interfaces_.clear();
  interface_drops_.clear();
  known_.reset();
  window.at += size;
  is_taken = true;
  return Status::ok();
}

namespace {

constexpr uint16_t kEndOfOptions = 0, kName = 2, kResolution = 9, kOffset = 14, kInterfaceDrops = 5;

/// Calls take(code, bytes, size) for each option. Options that end beyond `size` are left out.
template <class Number, class Take>
void for_options(const uint8_t* at, uint32_t size, const Number& number, const Take& take) {
  while (size >= 4) {
    const uint16_t code = number(at), length = number(at + 2);
    at += 4;
    size -= 4;
    if (code == kEndOfOptions || length > size) return;
    take(code, at, length);
    const uint32_t step = std::min(padded(length), size);
    at += step;
    size -= step;
  }
}

}  // namespace

Status CaptureScanner::add_interface(const uint8_t* body, uint32_t size) {
  constexpr uint32_t kFixed = 8;
  constexpr uint64_t kMostSeconds = INT64_MAX / kNano;
  if (size < kFixed) return Status(ErrorCode::kCorruptFile, "An interface without a link type");
  if (interfaces_.size() >= kMostInterfaces) return Status(ErrorCode::kCorruptFile, "More than a million interfaces");
  Interface interface;
  interface.link = number<uint16_t>(body);
  interface.snap = number<uint32_t>(body + 4);
  for_options(
      body + kFixed, size - kFixed, [&](const uint8_t* at) { return number<uint16_t>(at); },
      [&](uint16_t code, const uint8_t* at, uint16_t length) {
        if (code == kName) interface.name.assign(reinterpret_cast<const char*>(at), length);
        if (code == kResolution && length >= 1) set_resolution(interface, at[0]);
        if (code == kOffset && length >= 8) {
          const auto seconds = static_cast<int64_t>(number<uint64_t>(at));
          interface.offset = std::clamp<int64_t>(seconds, -static_cast<int64_t>(kMostSeconds), kMostSeconds) *
                             static_cast<int64_t>(kNano);
        }
      });
  interfaces_.push_back(std::move(interface));
  known_.reset();
  return Status::ok();
}

/// Reads isb_ifdrop; an interface's last block counts.
void CaptureScanner::take_statistics(const uint8_t* body, uint32_t size) {
  constexpr uint32_t kFixed = 12;
  if (size < kFixed) return;
  const auto interface = number<uint32_t>(body);
  if (interface >= interfaces_.size()) return;
  interface_drops_.resize(interfaces_.size());
  for_options(
      body + kFixed, size - kFixed, [&](const uint8_t* at) { return number<uint16_t>(at); },
      [&](uint16_t code, const uint8_t* at, uint16_t length) {
        if (code != kInterfaceDrops || length < 8) return;
        const auto drops = number<uint64_t>(at);
        dropped_ += static_cast<int64_t>(drops - interface_drops_[interface]);
        interface_drops_[interface] = drops;
      });
}

Status CaptureScanner::scan_pcapng(Window& window, const RunLimits& limits, PacketRun& run) {
  const size_t before = run.offsets.size();
  while (!window.is_full(limits, run)) {
    if (window.at > std::numeric_limits<uint32_t>::max() || !window.has(kBlockHeader)) return Status::ok();
    const uint8_t* block = window.bytes + window.at;
    const auto type = number<uint32_t>(block);
    if (load<uint32_t>(block) == kSection) {
      if (run.offsets.size() > before) return Status::ok();  // begins another run, since the byte order may differ
      bool is_taken = false;
      STROM_TRY(take_section(window, is_taken));
      if (!is_taken) return Status::ok();
      continue;
    }
    const auto size = number<uint32_t>(block + 4);
    if (size < kBlockFrame || size % 4 != 0 || size > kLongestBlock)
      return corrupt("A block of impossible length", window.at);
    if (!window.has(size)) return Status::ok();
    if (number<uint32_t>(block + size - 4) != size) return corrupt("A block with two lengths", window.at);
    const uint32_t body = size - kBlockFrame;
    uint32_t captured = 0;
    uint32_t interface = 0;
    bool is_packet = true;
    if (type == kPacket || type == kOldPacket) {
      if (size < kPacketHeader + 4) return corrupt("A packet without a header", window.at);
      captured = number<uint32_t>(block + 20);
      interface = type == kPacket ? number<uint32_t>(block + 8) : number<uint16_t>(block + 8);
      if (captured > size - kPacketHeader - 4) return corrupt("A packet longer than its block", window.at);
    } else if (type == kSimplePacket) {
      if (size < kSimpleHeader + 4) return corrupt("A packet without a header", window.at);
      captured = std::min(number<uint32_t>(block + 8), size - kSimpleHeader - 4);
    } else {
      is_packet = false;
      STROM_TRY(take_block(block + kBlockHeader, type, body, window.at));
    }
    if (is_packet) {
      if (interface >= interfaces_.size()) return corrupt("A packet of an unknown interface", window.at);
      window.add(limits, run, captured);
      ++packets_;
    }
    window.at += size;
  }
  return Status::ok();
}

/// Takes blocks other than packets. Unknown ones are skipped, and so are secrets for decryption.
Status CaptureScanner::take_block(const uint8_t* block, uint32_t type, uint32_t size, int64_t at) {
  if (type == kStatistics) take_statistics(block, size);
  if (type != kInterface) return Status::ok();
  const Status status = add_interface(block, size);
  return status.is_ok() ? status : corrupt(status.message().c_str(), at);
}

void CaptureScanner::snapshot(PacketRun& run) {
  if (known_ == nullptr) known_ = std::make_shared<const std::vector<Interface>>(interfaces_);
  run.interfaces = known_;
}

Result<CaptureScanner::Taken> CaptureScanner::scan(std::span<const uint8_t> bytes, const RunLimits& limits,
                                                   PacketRun& run) {
  run.offsets.clear();
  run.packet_bytes = 0;
  run.begin = bytes.data();
  Window window{bytes.data(), static_cast<int64_t>(bytes.size())};
  if (!is_open_) {
    STROM_ASSIGN(const bool opened, open(window));
    if (!opened) return Taken{0, window.wanted};
  }
  const Status status = framing_.is_pcapng    ? scan_pcapng(window, limits, run)
                        : framing_.is_swapped ? scan_pcap<true>(window, limits, run)
                                              : scan_pcap<false>(window, limits, run);
  if (!status.is_ok() && run.offsets.empty()) return status;  // otherwise the next run reports it
  snapshot(run);
  run.framing = framing_;
  run.end = run.begin + window.at;
  position_ += window.at;
  return Taken{window.at, window.wanted};
}

}  // namespace strom::format::packets
