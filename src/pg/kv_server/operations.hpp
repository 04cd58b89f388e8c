// What one message does to a store table, within a transaction that it shares with others. May ereport: then the whole
// transaction has to be taken back.
#pragma once

#include "pg/store/memory.hpp"
#include "pg/store/tokens.hpp"
#include "store/message/message.hpp"

namespace strom::pg::kv_server {

namespace message = ::strom::store::message;

/// A table that the transaction has opened. Plain data.
struct OpenTable {
  Relation relation;
  store::Table* table;
};

/// What became of a message. Plain data.
struct Verdict {
  message::Outcome outcome = message::Outcome::kDone;
  uint32_t number = 0;    // as message::Answer has it
  int sqlstate = 0;       // of an error
  const char* text = "";  // of an error; in the current memory context, or static
};

/// Opens a table for a client. Not kDone: it is gone.
Verdict open_for(const store::Grant& grant, OpenTable* open);

/// Whether the client's role has the rights that a message takes. Does not raise.
Verdict check_rights(const store::Grant& grant, message::Kind kind);

/// PUT, DELETE or CAS, in an active snapshot.
Verdict change(const OpenTable& open, const store::Grant& grant, const message::Request& request);

/// What an error says to a client.
Verdict verdict_of(const ErrorData* error);

}  // namespace strom::pg::kv_server
