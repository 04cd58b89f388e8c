// The exchange between client and server by which the client gets the region: one request and one answer on a UNIX
// socket. docs/format/store.md describes it for other languages.
#pragma once

#include <cstdint>

namespace strom::store::region {

inline constexpr uint64_t kAttachMagic = 0x484354414D4F5253;  // "SROMATCH"
inline constexpr uint32_t kAttachVersion = 1;
inline constexpr uint32_t kTokenBytes = 16;

struct AttachRequest {
  uint64_t magic;
  uint32_t version;
  uint32_t reserved;  // 0
  uint8_t token[kTokenBytes];
};
static_assert(sizeof(AttachRequest) == 32);

enum class AttachStatus : uint32_t {
  kGranted = 0,  // the answer carries the region's descriptor (SCM_RIGHTS)
  kRefused = 1,  // the token is unknown, used up or expired
  kMoved = 2,    // the region was replaced after the token was made: ask for another token
  kUnsupported = 3,
};

struct AttachAnswer {
  uint64_t magic;
  AttachStatus status;
  uint32_t version;
};
static_assert(sizeof(AttachAnswer) == 16);

}  // namespace strom::store::region
