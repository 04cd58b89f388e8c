// Descriptors that come with bytes through a socket.
#include "base/descriptor_message.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

namespace strom::base {
namespace {

/// Two ends of a connection.
struct Ends {
  Ends() {
    std::array<int, 2> numbers{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data()), 0);
    here = Descriptor(numbers[0]);
    there = Descriptor(numbers[1]);
  }
  Descriptor here, there;
};

Descriptor some_file() { return Descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)); }

ino_t file_of(int descriptor) {
  struct stat found{};
  EXPECT_EQ(fstat(descriptor, &found), 0);
  return found.st_ino;
}

auto open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST(DescriptorMessage, BytesAndDescriptorArrive) {
  const Ends ends;
  const Descriptor file = some_file();
  ASSERT_EQ(send_with_descriptor(ends.here.get(), "abc", file.get(), 0), 3);
  std::array<char, 10> bytes{};
  Descriptor received;
  ASSERT_EQ(receive_with_descriptor(ends.there.get(), bytes.data(), bytes.size(), 0, &received), 3);
  EXPECT_STREQ(bytes.data(), "abc");
  ASSERT_TRUE(received.is_open());
  EXPECT_NE(received.get(), file.get());
  EXPECT_EQ(file_of(received.get()), file_of(file.get()));
  EXPECT_EQ(fcntl(received.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(DescriptorMessage, BytesAloneLeaveWhatIsThere) {
  const Ends ends;
  ASSERT_EQ(send_with_descriptor(ends.here.get(), "abc", -1, 0), 3);
  std::array<char, 10> bytes{};
  Descriptor received = some_file();
  const int before = received.get();
  ASSERT_EQ(receive_with_descriptor(ends.there.get(), bytes.data(), bytes.size(), 0, &received), 3);
  EXPECT_EQ(received.get(), before);
}

TEST(DescriptorMessage, OfSeveralTheFirstIsTaken) {
  const Ends ends;
  const Descriptor file = some_file();
  const std::array<int, 2> both = {file.get(), ends.here.get()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(both))> space{};
  char byte = 'x';
  iovec part = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(both));
  std::memcpy(CMSG_DATA(rights), both.data(), sizeof(both));
  ASSERT_EQ(sendmsg(ends.here.get(), &message, 0), 1);

  const auto before = open_descriptors();
  Descriptor received;
  ASSERT_EQ(receive_with_descriptor(ends.there.get(), &byte, 1, 0, &received), 1);
  ASSERT_TRUE(received.is_open());
  EXPECT_EQ(file_of(received.get()), file_of(file.get()));
  EXPECT_EQ(open_descriptors(), before + 1) << "the second one is closed";
}

TEST(DescriptorMessage, ErrorsAreThoseOfTheSocket) {
  Ends ends;
  std::array<char, 10> bytes{};
  Descriptor received;
  EXPECT_EQ(receive_with_descriptor(ends.there.get(), bytes.data(), bytes.size(), MSG_DONTWAIT, &received), -1);
  EXPECT_EQ(errno, EAGAIN);
  ends.here.reset();
  EXPECT_EQ(receive_with_descriptor(ends.there.get(), bytes.data(), bytes.size(), 0, &received), 0);
  EXPECT_EQ(send_with_descriptor(ends.there.get(), "abc", -1, MSG_NOSIGNAL), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_FALSE(received.is_open());
}

}  // namespace
}  // namespace strom::base
