#include "pg/store/tokens.hpp"

#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/store/control.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

namespace {

constexpr int kSeconds = 30;

Tokens& tokens() {
  return boundary::entry([] { return control(); })->tokens;
}

/// Compares in constant time, so that the time does not tell where the tokens differ.
bool is_same(const uint8_t* left, const uint8_t* right) {
  uint8_t difference = 0;
  for (uint32_t i = 0; i < ::strom::store::region::kTokenBytes; ++i)
    difference = static_cast<uint8_t>(difference | (left[i] ^ right[i]));
  return difference == 0;
}

}  // namespace

void make_token(const Grant& grant, uint8_t* bytes) {
  Tokens& all = tokens();
  if (!pg_strong_random(bytes, ::strom::store::region::kTokenBytes))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random number")));
  const TimestampTz now = GetCurrentTimestamp();
  bool is_made = false;
  SpinLockAcquire(&all.mutex);
  for (int i = 0; i < kMostTokens && !is_made; ++i) {
    Token& token = all.tokens[i];
    if (token.expires > now) continue;
    std::memcpy(token.bytes, bytes, sizeof(token.bytes));
    token.grant = grant;
    token.expires = now + int64_t{kSeconds} * USECS_PER_SEC;
    is_made = true;
  }
  SpinLockRelease(&all.mutex);
  if (!is_made)
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                    errmsg("too many clients are about to attach published regions"),
                    errhint("A token that is not used expires after %d seconds.", kSeconds)));
}

bool use_token(const uint8_t* bytes, bool is_for_messages, Grant* grant) {
  Tokens& all = tokens();
  const TimestampTz now = GetCurrentTimestamp();
  bool is_found = false;
  SpinLockAcquire(&all.mutex);
  for (int i = 0; i < kMostTokens && !is_found; ++i) {
    Token& token = all.tokens[i];
    if (token.expires <= now || !is_same(token.bytes, bytes) || (token.grant.region == 0) != is_for_messages) continue;
    *grant = token.grant;
    token.expires = 0;
    is_found = true;
  }
  SpinLockRelease(&all.mutex);
  return is_found;
}

}  // namespace strom::pg::store
