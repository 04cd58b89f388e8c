// What a client and the server tell each other before the client has the region: one request, one answer, on a UNIX
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
  kGranted = 0,  // the region's descriptor comes with the answer, as SCM_RIGHTS
  kRefused = 1,  // the token is not known, has been used, or has expired
  kMoved = 2,    // the region is gone since the token was made: ask for another token
  kUnsupported = 3,
};

struct AttachAnswer {
  uint64_t magic;
  AttachStatus status;
  uint32_t version;
};
static_assert(sizeof(AttachAnswer) == 16);

}  // namespace strom::store::region
