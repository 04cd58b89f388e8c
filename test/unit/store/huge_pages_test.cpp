// Shared mappings where huge pages can be. Whether there are any is up to the system. So they are only asked for where
// the system has made some out of small pages.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "store/huge_pages.hpp"

namespace strom::store {
namespace {

/// A file in memory, without a name.
int make_file(uint64_t bytes) {
  std::string path = "/dev/shm/strom_huge_pages_XXXXXX";
  const int descriptor = mkstemp(path.data());
  unlink(path.c_str());
  EXPECT_EQ(posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)), 0);
  return descriptor;
}

TEST(HugePages, AreWhereSharedMappingsBegin) {
  constexpr uint64_t kBytes = 3 * kHugePage + 12345;
  const int descriptor = make_file(kBytes);
  for (int i = 0; i < 4; ++i) {
    auto* memory = static_cast<uint8_t*>(map_shared(descriptor, kBytes, PROT_READ | PROT_WRITE));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kHugePage, 0);
    memory[0] = memory[kBytes - 1] = static_cast<uint8_t>(i);
    EXPECT_EQ(munmap(memory, kBytes), 0);
  }
  close(descriptor);
}

TEST(HugePages, KeepWhatIsThereForAllWhoMapIt) {
  constexpr uint64_t kBytes = 4 * kHugePage, kStep = 4093;
  const int descriptor = make_file(kBytes);
  auto* writer = static_cast<uint8_t*>(map_shared(descriptor, kBytes, PROT_READ | PROT_WRITE));
  const auto* reader = static_cast<const uint8_t*>(map_shared(descriptor, kBytes, PROT_READ));
  ASSERT_NE(writer, nullptr);
  ASSERT_NE(reader, nullptr);
  for (uint64_t at = 0; at < kBytes; at += kStep) writer[at] = static_cast<uint8_t>(at / kStep);
  errno = 0;
  collapse(writer, 0, kBytes);
  collapse(writer, kHugePage - 1, kHugePage + 1);  // none lies within
  collapse(writer, 0, 0);
  EXPECT_EQ(errno, 0);
  uint64_t wrong = 0;
  for (uint64_t at = 0; at < kBytes; at += kStep) wrong += reader[at] == static_cast<uint8_t>(at / kStep) ? 0 : 1;
  EXPECT_EQ(wrong, 0);
  writer[5] = 77;
  EXPECT_EQ(reader[5], 77);
  // What is punched out afterwards, as of retired regions, reads as zeros.
  EXPECT_EQ(fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, kBytes - 4096), 0);
  EXPECT_EQ(reader[5], 77);
  uint64_t left = 0;
  for (uint64_t at = 4096; at < kBytes; ++at) left += reader[at];
  EXPECT_EQ(left, 0);
  munmap(writer, kBytes);
  munmap(const_cast<uint8_t*>(reader), kBytes);
  close(descriptor);
}

/// The bytes of the mapping at `memory` that are in huge pages of shared memory.
uint64_t huge_bytes(const void* memory) {
  std::ifstream maps("/proc/self/smaps");
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<uintptr_t>(memory) << '-';
  constexpr uint64_t kKilo = 1024;
  bool is_it = false;
  for (std::string line; std::getline(maps, line);) {
    is_it = is_it || line.starts_with(begin.str());
    uint64_t kilobytes = 0;
    if (is_it && std::sscanf(line.c_str(), "ShmemPmdMapped: %" SCNu64, &kilobytes) == 1) return kilobytes * kKilo;
  }
  return 0;
}

TEST(HugePages, AreMadeOfHolesWhereTheyAreMadeOfSmallPages) {
  constexpr uint64_t kBytes = 4 * kHugePage;
  uint64_t made[2] = {};
  for (const bool has_holes : {false, true}) {
    const int descriptor = make_file(kBytes);
    if (has_holes) {
      ASSERT_EQ(fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kBytes), 0);
    }
    auto* memory = static_cast<uint8_t*>(map_shared(descriptor, kBytes, PROT_READ | PROT_WRITE));
    ASSERT_NE(memory, nullptr);
    collapse(memory, 0, kBytes);
    for (uint64_t at = 0; at < kBytes; at += kHugePage) memory[at] = 1;
    made[has_holes ? 1 : 0] = huge_bytes(memory);
    munmap(memory, kBytes);
    close(descriptor);
  }
  EXPECT_EQ(made[1], made[0]);
  std::printf("%" PRIu64 " of %" PRIu64 " bytes are in huge pages\n", made[0], kBytes);
}

TEST(HugePages, SayWhyNothingIsMapped) {
  EXPECT_EQ(map_shared(-1, kHugePage, PROT_READ), nullptr);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace strom::store
