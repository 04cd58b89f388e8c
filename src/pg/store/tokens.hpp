// Tokens for single use. A client shows one to get a published region or to send messages. pgstrom.kv_attach() and
// kv_session() make them; the sockets of the background workers accept them. They are in the server's shared memory.
// All of it may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/store/server_headers.hpp"
#include "store/region/attach.hpp"

namespace strom::pg::store {

inline constexpr int kMostTokens = 1024;

/// The rights that a token gives.
struct Grant {
  Oid database, relation;
  uint32_t region;  // its number; 0: for messages
  Oid role;         // the role whose rights the client has
};

struct Token {
  uint8_t bytes[::strom::store::region::kTokenBytes];
  Grant grant;
  int64_t expires;  // TimestampTz; 0: the entry is free
};

struct Tokens {
  slock_t mutex;
  Token tokens[kMostTokens];
};

/// Makes a token. Errors: 53400 when too many tokens are unused.
void make_token(const Grant& grant, uint8_t* bytes);

/// Uses up a token, for messages or for a region. False: there is no such token. Does not raise.
bool use_token(const uint8_t* bytes, bool is_for_messages, Grant* grant);

}  // namespace strom::pg::store
