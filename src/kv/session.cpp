// The second half of stromkv.h: messages to the server. Up to 256 requests are sent together; their answers come in the
// same order.
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "kv/attach.hpp"
#include "kv/channel.hpp"
#include "kv/fields.hpp"
#include "kv/session.hpp"
#include "kv/stromkv.h"
#include "store/message/message.hpp"
#include "store/rows/shape.hpp"

namespace message = strom::store::message;
namespace rows = strom::store::rows;

struct stromkv_session {
  strom::kv::Channel channel;
  rows::Shape shape;
  std::vector<stromkv_column> columns;
  std::vector<rows::Cell> cells;
  std::string keys;  // of the rows of the last call
  uint32_t next_tag = 1;
  std::string output, input;
  size_t taken = 0;  // bytes of `input` that were processed
  std::string error;
};

namespace {

using message::Kind;
using message::Outcome;

constexpr size_t kTogether = 256;

stromkv_status status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone: return STROMKV_OK;
    case Outcome::kNotFound: return STROMKV_NOT_FOUND;
    case Outcome::kConflict: return STROMKV_CONFLICT;
    case Outcome::kDenied: return STROMKV_DENIED;
    case Outcome::kBusy: return STROMKV_BUSY;
    case Outcome::kFull: return STROMKV_FULL;
    case Outcome::kConstraint: return STROMKV_CONSTRAINT;
    case Outcome::kBadValue: return STROMKV_BAD_VALUE;
    case Outcome::kBadRequest: return STROMKV_INVALID;
    case Outcome::kGone: return STROMKV_DROPPED;
    case Outcome::kUnsupported: return STROMKV_UNSUPPORTED;
    case Outcome::kRefused: return STROMKV_REFUSED;
    case Outcome::kFailed: return STROMKV_FAILED;
    case Outcome::kTooLarge: return STROMKV_TOO_LARGE;
  }
  return STROMKV_FAILED;
}

/// Ends the session: the meaning of the next bytes is unknown.
stromkv_status give_up(stromkv_session* session, stromkv_status status, std::string what) {
  session->channel.close();
  session->error = std::move(what);
  return status;
}

/// Begins a call. The error of a session that has ended stays.
void begin_call(stromkv_session* session) {
  session->output.clear();
  if (session->channel.is_open()) session->error.clear();
}

/// Says what is wrong with an argument.
stromkv_status refuse(stromkv_session* session, stromkv_status status, const char* what) {
  if (session->channel.is_open()) session->error = what;
  return status;
}

constexpr const char* kTooLong = "a row takes at most 4 MB in a message";
constexpr const char* kNoKey = "a key has at most 2000 bytes";
constexpr const char* kNoValue = "a value has no bytes, or a form that is not known";

/// Receives the next answer, whose body is in session->input.
stromkv_status receive_answer(stromkv_session* session, message::Answer* answer) {
  for (;;) {
    const auto found = message::find_frame(std::string_view(session->input).substr(session->taken));
    if (!found.is_ok()) return give_up(session, STROMKV_IO, "the server's answer is not understood");
    if (found.value().has_value()) {
      session->taken += sizeof(message::Header) + found.value()->header.bytes;
      auto parsed = message::parse_answer(*found.value());
      if (!parsed.is_ok()) return give_up(session, STROMKV_IO, "the server's answer is not understood");
      *answer = parsed.value();
      return STROMKV_OK;
    }
    std::string what;
    const stromkv_status got = session->channel.receive(&session->input, &what);
    if (got != STROMKV_OK) return give_up(session, got, std::move(what));
  }
}

void note_error(stromkv_session* session, const message::Answer& answer) {
  constexpr size_t kState = 5;
  if (answer.outcome > Outcome::kConflict)
    session->error = std::string(answer.body.substr(kState)) + " (" + std::string(answer.body.substr(0, kState)) + ")";
  else
    session->error = stromkv_status_text(status_of(answer.outcome));
}

/// Sends session->output, and calls `take` for `count` answers with their index. Bodies stay valid until the next
/// exchange.
template <class Take>
stromkv_status exchange(stromkv_session* session, Kind kind, size_t count, Take take) {
  if (!session->channel.is_open()) return STROMKV_IO;
  session->input.erase(0, session->taken);
  session->taken = 0;
  std::string what;
  if (const stromkv_status sent = session->channel.send(session->output, &what); sent != STROMKV_OK)
    return give_up(session, sent, std::move(what));
  session->output.clear();
  struct ReceivedAnswer {
    message::Answer answer;
    size_t body;
  };
  std::vector<ReceivedAnswer> received(count);
  for (ReceivedAnswer& one : received) {
    if (const stromkv_status got = receive_answer(session, &one.answer); got != STROMKV_OK) return got;
    if (one.answer.kind != kind) return give_up(session, STROMKV_IO, "the server answers another question");
    one.body = session->taken - one.answer.body.size();
  }
  // The input is not reallocated from here on.
  for (size_t i = 0; i < count; ++i) {
    message::Answer& answer = received[i].answer;
    answer.body = std::string_view(session->input).substr(received[i].body, answer.body.size());
    if (answer.outcome != Outcome::kDone) note_error(session, answer);
    take(i, answer);
  }
  return STROMKV_OK;
}

template <class Call>
stromkv_status guarded(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return STROMKV_NO_MEMORY;
  }
}

void tell(const std::string& what, char* error, size_t error_bytes) {
  if (error == nullptr || error_bytes == 0) return;
  const size_t length = std::min(what.size(), error_bytes - 1);
  std::memcpy(error, what.data(), length);
  error[length] = '\0';
}

/// Asks for memory that replaces the socket. Without it the session continues on the socket.
stromkv_status ask_for_rings(stromkv_session* session) {
  session->channel.expect_rings();
  message::append_request({Kind::kRings, session->next_tag++, 0, {}, {}}, &session->output);
  const stromkv_status status = exchange(session, Kind::kRings, 1, [](size_t, const message::Answer&) {});
  if (status == STROMKV_OK) session->channel.use_rings();
  return status;
}

stromkv_status begin(stromkv_session* session, const char* path, const char* token) {
  message::Hello hello{message::kMagic, message::kVersion, 0, {}};
  if (!strom::kv::parse_token(token, hello.token)) {
    session->error = "a token has 32 hexadecimal digits";
    return STROMKV_REFUSED;
  }
  if (!session->channel.connect(path, &session->error)) return STROMKV_IO;
  session->output.assign(reinterpret_cast<const char*>(&hello), sizeof(hello));
  Outcome outcome = Outcome::kFailed;
  std::string description;
  const stromkv_status status = exchange(session, Kind::kHello, 1, [&](size_t, const message::Answer& answer) {
    outcome = answer.outcome;
    description = answer.body;
  });
  if (status != STROMKV_OK) return status;
  if (outcome != Outcome::kDone) return status_of(outcome);
  auto shape = rows::decode_shape(description);
  if (!shape.is_ok() || shape.value().key < 0)
    return give_up(session, STROMKV_IO, "the server's answer is not understood");
  session->shape = std::move(shape).value();
  session->cells.resize(session->shape.columns.size());
  for (const rows::Column& column : session->shape.columns)
    session->columns.push_back({column.name.c_str(), column.type.c_str(), column.type_id,
                                column.form == rows::Form::kFixed ? column.width : 0});
  return session->channel.is_local() ? ask_for_rings(session) : STROMKV_OK;
}

bool is_valid(const stromkv_value& value) {
  const bool has_bytes = value.data != nullptr || value.bytes == 0;
  return value.form == STROMKV_NULL || ((value.form == STROMKV_STORED || value.form == STROMKV_TEXT) && has_bytes);
}

/// False: the row is too long for a message.
bool append_row(stromkv_session* session, Kind kind, uint32_t generation, const stromkv_value* values) {
  message::Request request;
  request.kind = kind;
  request.tag = session->next_tag++;
  request.generation = generation;
  size_t bytes = 0;
  for (size_t i = 0; i < session->columns.size(); ++i) {
    bytes += values[i].bytes + 5;
    request.fields.push_back({static_cast<message::Form>(values[i].form),
                              values[i].form == STROMKV_NULL
                                  ? std::string_view()
                                  : std::string_view(static_cast<const char*>(values[i].data), values[i].bytes)});
  }
  if (bytes + sizeof(uint32_t) > message::kMostBody) return false;
  message::append_request(request, &session->output);
  return true;
}

/// Changes one row, by PUT or CAS.
stromkv_status change(stromkv_session* session, Kind kind, uint32_t generation, const stromkv_value* values,
                      uint32_t* number) {
  if (session == nullptr || values == nullptr) return STROMKV_INVALID;
  for (size_t i = 0; i < session->columns.size(); ++i)
    if (!is_valid(values[i])) return refuse(session, STROMKV_INVALID, kNoValue);
  return guarded([&] {
    begin_call(session);
    if (!append_row(session, kind, generation, values)) return refuse(session, STROMKV_BAD_VALUE, kTooLong);
    stromkv_status result = STROMKV_OK;
    const stromkv_status status = exchange(session, kind, 1, [&](size_t, const message::Answer& answer) {
      result = status_of(answer.outcome);
      *number = answer.number;
    });
    return status != STROMKV_OK ? status : result;
  });
}

bool is_valid(stromkv_key key) {
  return (key.data != nullptr || key.bytes == 0) && key.bytes <= message::kMostKeyBytes;
}

std::string_view view(stromkv_key key) { return {static_cast<const char*>(key.data), key.bytes}; }

}  // namespace

namespace strom::kv {

stromkv_status read_region(stromkv_session* session, std::span<const store::region::Piece> pieces, uint32_t* number) {
  return guarded([&] {
    begin_call(session);
    std::vector<size_t> ends;  // ends of each message's pieces
    for (size_t begin = 0; begin < pieces.size();) {
      message::Request request;
      request.kind = Kind::kRead;
      request.tag = session->next_tag++;
      size_t at = begin, bytes = 0;
      for (; at < pieces.size() && at - begin < message::kMostRanges; ++at) {
        bytes += pieces[at].bytes;
        if (bytes > message::kMostBody) break;
        request.ranges.push_back({pieces[at].offset, pieces[at].bytes});
      }
      if (at == begin) return STROMKV_INVALID;
      message::append_request(request, &session->output);
      ends.push_back(begin = at);
    }
    stromkv_status result = STROMKV_OK;
    const stromkv_status status =
        exchange(session, Kind::kRead, ends.size(), [&](size_t i, const message::Answer& answer) {
          if (result == STROMKV_OK) result = status_of(answer.outcome);
          if (result == STROMKV_OK && *number != 0 && answer.number != *number) result = STROMKV_MOVED;
          *number = answer.number;
          std::string_view rest = answer.body;
          for (size_t piece = i == 0 ? 0 : ends[i - 1]; piece < ends[i] && result == STROMKV_OK; ++piece) {
            const size_t bytes = pieces[piece].bytes;
            if (rest.size() < bytes) {
              result = give_up(session, STROMKV_IO, "the server's answer is not understood");
              return;
            }
            if (bytes != 0) std::memcpy(pieces[piece].to, rest.data(), bytes);
            rest.remove_prefix(bytes);
          }
        });
    return status != STROMKV_OK ? status : result;
  });
}

stromkv_status ask_far_memory(stromkv_session* session, store::message::FarMemory* memory, uint32_t* number) {
  return guarded([&] {
    begin_call(session);
    message::append_request({Kind::kFarMemory, session->next_tag++, 0, {}, {}}, &session->output);
    stromkv_status result = STROMKV_OK;
    const stromkv_status status = exchange(session, Kind::kFarMemory, 1, [&](size_t, const message::Answer& answer) {
      result = status_of(answer.outcome);
      if (result != STROMKV_OK) return;
      auto parsed = message::parse_far_memory(answer.body);
      if (!parsed.is_ok()) {
        result = give_up(session, STROMKV_IO, "the server's answer is not understood");
        return;
      }
      *memory = std::move(parsed).value();
      *number = answer.number;
    });
    return status != STROMKV_OK ? status : result;
  });
}

bool peer_of(const stromkv_session* session, struct sockaddr_storage* address) {
  socklen_t length = sizeof(*address);
  return getpeername(session->channel.socket(), reinterpret_cast<struct sockaddr*>(address), &length) == 0;
}

}  // namespace strom::kv

extern "C" {

stromkv_status stromkv_session_open(const char* socket, const char* token, stromkv_session** session, char* error,
                                    size_t error_bytes) {
  if (session == nullptr) return STROMKV_INVALID;
  *session = nullptr;
  if (socket == nullptr || token == nullptr) return STROMKV_INVALID;
  return guarded([&] {
    auto* opened = new stromkv_session();
    stromkv_status status = STROMKV_NO_MEMORY;
    try {
      status = begin(opened, socket, token);
    } catch (...) {
      delete opened;
      throw;
    }
    if (status == STROMKV_OK) {
      *session = opened;
      return status;
    }
    tell(opened->error, error, error_bytes);
    delete opened;
    return status;
  });
}

void stromkv_session_close(stromkv_session* session) { delete session; }

void stromkv_session_set_patience(stromkv_session* session, unsigned milliseconds) {
  session->channel.set_patience(static_cast<int>(std::min<unsigned>(milliseconds, INT32_MAX)));
}

size_t stromkv_session_column_count(const stromkv_session* session) { return session->columns.size(); }

size_t stromkv_session_key_column(const stromkv_session* session) { return static_cast<size_t>(session->shape.key); }

const stromkv_column* stromkv_session_column_at(const stromkv_session* session, size_t column) {
  return column < session->columns.size() ? &session->columns[column] : nullptr;
}

const char* stromkv_session_error(const stromkv_session* session) { return session->error.c_str(); }

stromkv_status stromkv_session_get_many(stromkv_session* session, const stromkv_key* keys, stromkv_row* rows,
                                        size_t count) {
  if (session == nullptr || ((keys == nullptr || rows == nullptr) && count != 0)) return STROMKV_INVALID;
  if (count > kTogether) return STROMKV_INVALID;
  for (size_t i = 0; i < count; ++i)
    if (!is_valid(keys[i])) return refuse(session, STROMKV_INVALID, kNoKey);
  return guarded([&] {
    message::Request request;
    request.kind = Kind::kGetMany;
    request.tag = session->next_tag++;
    session->keys.clear();
    for (size_t i = 0; i < count; ++i) {
      request.keys.push_back(view(keys[i]));
      session->keys.append(request.keys.back());
    }
    begin_call(session);
    message::append_request(request, &session->output);
    const char* key = session->keys.data();
    stromkv_status worst = STROMKV_OK;
    const stromkv_status status =
        exchange(session, Kind::kGetMany, count, [&](size_t i, const message::Answer& answer) {
          rows[i] = {status_of(answer.outcome),
                     {key, keys[i].bytes},
                     answer.body.data(),
                     answer.body.size(),
                     answer.number & ~message::kHasNulls,
                     answer.number / message::kHasNulls};
          key += keys[i].bytes;
          if (rows[i].status > STROMKV_NOT_FOUND) worst = rows[i].status;
        });
    return status != STROMKV_OK ? status : worst;
  });
}

stromkv_status stromkv_session_get(stromkv_session* session, stromkv_key key, stromkv_row* row) {
  if (row == nullptr) return STROMKV_INVALID;
  const stromkv_status status = stromkv_session_get_many(session, &key, row, 1);
  return status != STROMKV_OK ? status : row->status;
}

stromkv_status stromkv_session_fields(const stromkv_session* session, const stromkv_row* row, stromkv_field* fields) {
  if (session == nullptr || row == nullptr || fields == nullptr) return STROMKV_INVALID;
  return strom::kv::split_row(session->shape, *row, const_cast<stromkv_session*>(session)->cells, fields);
}

stromkv_status stromkv_session_put(stromkv_session* session, const stromkv_value* values, int* is_new) {
  uint32_t number = 0;
  const stromkv_status status = change(session, Kind::kPut, 0, values, &number);
  if (is_new != nullptr) *is_new = static_cast<int>(number);
  return status;
}

stromkv_status stromkv_session_put_many(stromkv_session* session, const stromkv_value* values, size_t count,
                                        stromkv_status* statuses) {
  if (session == nullptr || ((values == nullptr || statuses == nullptr) && count != 0)) return STROMKV_INVALID;
  const size_t columns = session->columns.size();
  for (size_t i = 0; i < count * columns; ++i)
    if (!is_valid(values[i])) return refuse(session, STROMKV_INVALID, kNoValue);
  return guarded([&] {
    begin_call(session);
    stromkv_status worst = STROMKV_OK;
    std::vector<size_t> asked;
    for (size_t begin = 0; begin < count; begin += kTogether) {
      session->output.clear();
      asked.clear();
      for (size_t i = begin; i < std::min(count, begin + kTogether); ++i) {
        statuses[i] = STROMKV_BAD_VALUE;
        if (append_row(session, Kind::kPut, 0, values + i * columns))
          asked.push_back(i);
        else
          worst = refuse(session, STROMKV_BAD_VALUE, kTooLong);
      }
      const stromkv_status status =
          exchange(session, Kind::kPut, asked.size(), [&](size_t i, const message::Answer& answer) {
            statuses[asked[i]] = status_of(answer.outcome);
            if (answer.outcome != Outcome::kDone) worst = statuses[asked[i]];
          });
      if (status != STROMKV_OK) {
        // It is unknown whether these requests were executed.
        for (size_t i = begin; i < count; ++i) statuses[i] = status;
        return status;
      }
    }
    return worst;
  });
}

stromkv_status stromkv_session_compare_and_set(stromkv_session* session, const stromkv_value* values,
                                               uint32_t generation) {
  uint32_t number = 0;
  return change(session, Kind::kCompareAndSet, generation, values, &number);
}

stromkv_status stromkv_session_delete(stromkv_session* session, stromkv_key key) {
  if (session == nullptr) return STROMKV_INVALID;
  if (!is_valid(key)) return refuse(session, STROMKV_INVALID, kNoKey);
  return guarded([&] {
    begin_call(session);
    message::append_request({Kind::kDelete, session->next_tag++, 0, {view(key)}, {}}, &session->output);
    stromkv_status result = STROMKV_OK;
    const stromkv_status status = exchange(
        session, Kind::kDelete, 1, [&](size_t, const message::Answer& answer) { result = status_of(answer.outcome); });
    return status != STROMKV_OK ? status : result;
  });
}

stromkv_status stromkv_session_statistics(stromkv_session* session, stromkv_server_statistics* statistics) {
  if (session == nullptr || statistics == nullptr) return STROMKV_INVALID;
  return guarded([&] {
    begin_call(session);
    message::append_request({Kind::kStatistics, session->next_tag++, 0, {}, {}}, &session->output);
    stromkv_status result = STROMKV_OK;
    const stromkv_status status = exchange(session, Kind::kStatistics, 1, [&](size_t, const message::Answer& answer) {
      result = status_of(answer.outcome);
      if (result != STROMKV_OK) return;
      auto parsed = message::parse_statistics(answer.body);
      if (!parsed.is_ok()) {
        result = give_up(session, STROMKV_IO, "the server's answer is not understood");
        return;
      }
      const message::Statistics& told = parsed.value();
      *statistics = {told.rows, told.clients, told.operations, told.groups, told.failures};
    });
    return status != STROMKV_OK ? status : result;
  });
}

}  // extern "C"
