// Tokens that let a client have a published region, or send messages, once: made by pgstrom.kv_attach() and
// kv_session(), used at the sockets of the background workers. They are in the server's shared memory. All of it may
// ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/store/server_headers.hpp"
#include "store/region/attach.hpp"

namespace strom::pg::store {

inline constexpr int kMostTokens = 1024;

/// What a token is for.
struct Grant {
  Oid database, relation;
  uint32_t region;  // its number; 0: for messages
  Oid role;         // whose rights it has
};

struct Token {
  uint8_t bytes[::strom::store::region::kTokenBytes];
  Grant grant;
  int64_t expires;  // TimestampTz; 0: the place is free
};

struct Tokens {
  slock_t mutex;
  Token tokens[kMostTokens];
};

/// A new token. Errors: 53400, when too many have not been used.
void make_token(const Grant& grant, uint8_t* bytes);

/// Uses up a token for messages, or for a region. False: there is none such. Does not raise.
bool use_token(const uint8_t* bytes, bool is_for_messages, Grant* grant);

}  // namespace strom::pg::store
