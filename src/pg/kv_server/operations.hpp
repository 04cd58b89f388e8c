// Applies one message to a store table, within a transaction that several messages share. May ereport; the whole
// transaction then has to be aborted.
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

/// The outcome of a message. Plain data.
struct Verdict {
  message::Outcome outcome = message::Outcome::kDone;
  uint32_t number = 0;    // see message::Answer
  int sqlstate = 0;       // of an error
  const char* text = "";  // of an error; in the current memory context, or static
};

/// Opens a table for a client. Not kDone: the table is gone.
Verdict open_for(const store::Grant& grant, OpenTable* open);

/// Checks that the client's role has the rights that a message needs. Does not raise.
Verdict check_rights(const store::Grant& grant, message::Kind kind);

/// Executes PUT, DELETE or CAS, under an active snapshot. Sets *sought to the key when it begins to look for the row.
Verdict change(const OpenTable& open, const store::Grant& grant, const message::Request& request,
               store::rows::Cell* sought);

/// Takes a new active snapshot, which sees rows that others have committed meanwhile.
void take_new_snapshot();

/// What a client is told whose message has waited too long for a row, or for the table if `open` is nullptr.
const char* busy_text(const OpenTable* open, const store::rows::Cell& key);

/// Turns an error into the answer to a client.
Verdict verdict_of(const ErrorData* error);

}  // namespace strom::pg::kv_server
