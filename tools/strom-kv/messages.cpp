#include "strom-kv/messages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "cli/progress.hpp"
#include "format/byte_sink.hpp"
#include "strom-kv/session.hpp"
#include "strom-kv/value_text.hpp"

namespace strom::kv_tool {

namespace {

struct CloseSession {
  void operator()(stromkv_session* session) const { stromkv_session_close(session); }
};
struct Messages {
  std::unique_ptr<stromkv_session, CloseSession> session;
  TextCodec text;
  stromkv_session* get() const { return session.get(); }
};

constexpr size_t kTogether = 256;

Status print(std::string text) {
  text += '\n';
  return format::descriptor_sink(STDOUT_FILENO, "standard output")->append({{text.data(), text.size()}});
}

Status failed(const Messages& messages, stromkv_status status) {
  const std::string said = stromkv_session_error(messages.get());
  return kv_tool::failed(status, said);
}

const stromkv_column& key_column(const Messages& messages) {
  return *stromkv_session_column_at(messages.get(), stromkv_session_key_column(messages.get()));
}

Result<Messages> open_messages(const Settings& settings) {
  STROM_ASSIGN(Grant grant, ask_for_token(settings, "kv_session"));
  std::array<char, 1024> error{};
  stromkv_session* messages = nullptr;
  const stromkv_status status =
      stromkv_session_open(grant.socket.c_str(), grant.token.c_str(), &messages, error.data(), error.size());
  if (status != STROMKV_OK) return kv_tool::failed(status, error.data());
  return Messages{std::unique_ptr<stromkv_session, CloseSession>(messages), std::move(grant.text)};
}

Result<std::vector<std::string>> keys_of(const Messages& messages, const Settings& settings) {
  std::vector<std::string> keys;
  for (const std::string& text : settings.arguments) {
    STROM_ASSIGN(std::string key, key_bytes(key_column(messages), text, messages.text));
    keys.push_back(std::move(key));
  }
  return keys;
}

Status print_row(const Messages& messages, const stromkv_row& row) {
  if (row.status != STROMKV_OK) return print("null");
  const size_t columns = stromkv_session_column_count(messages.get());
  std::vector<stromkv_field> fields(columns);
  const stromkv_status status = stromkv_session_fields(messages.get(), &row, fields.data());
  if (status != STROMKV_OK) return kv_tool::failed(status);
  std::vector<const stromkv_column*> described;
  described.reserve(columns);
  for (size_t i = 0; i < columns; ++i) described.push_back(stromkv_session_column_at(messages.get(), i));
  STROM_ASSIGN(const std::string text, json_row(described, fields, messages.text));
  return print(text);
}

Status get(const Messages& messages, const Settings& settings, bool* is_missing) {
  STROM_ASSIGN(const std::vector<std::string> bytes, keys_of(messages, settings));
  for (size_t begin = 0; begin < bytes.size(); begin += kTogether) {
    const size_t count = std::min(kTogether, bytes.size() - begin);
    std::vector<stromkv_key> keys;
    for (size_t i = begin; i < begin + count; ++i) keys.push_back({bytes[i].data(), bytes[i].size()});
    std::vector<stromkv_row> rows(count);
    const stromkv_status status = stromkv_session_get_many(messages.get(), keys.data(), rows.data(), count);
    if (status != STROMKV_OK) return failed(messages, status);
    for (const stromkv_row& row : rows) {
      *is_missing = *is_missing || row.status == STROMKV_NOT_FOUND;
      STROM_TRY(print_row(messages, row));
    }
  }
  return Status::ok();
}

/// The row's fields as text, taken apart by the server; those that are not there are NULL.
Result<std::map<std::string, std::string>> fields_of(const Settings& settings) {
  STROM_ASSIGN(Session session, Session::open(settings));
  STROM_TRY(check_columns(session, settings));
  STROM_ASSIGN(const auto all,
               session.all_rows("SELECT key, value FROM json_each_text($1::json) WHERE value IS NOT NULL",
                                {settings.arguments.at(0)}));
  std::map<std::string, std::string> fields;
  for (const std::vector<std::string>& field : all) fields[field.at(0)] = field.at(1);
  return fields;
}

Status put(const Messages& messages, const Settings& settings) {
  STROM_ASSIGN(auto fields, fields_of(settings));
  const size_t columns = stromkv_session_column_count(messages.get());
  std::vector<stromkv_value> values(columns);
  for (size_t i = 0; i < columns; ++i) {
    STROM_ASSIGN(const std::string name, messages.text.to_utf8(stromkv_session_column_at(messages.get(), i)->name));
    const auto found = fields.find(name);
    if (found == fields.end()) continue;
    values[i] = {STROMKV_TEXT, found->second.data(), found->second.size()};
  }
  int is_new = 0;
  const stromkv_status status = stromkv_session_put(messages.get(), values.data(), &is_new);
  if (status != STROMKV_OK) return failed(messages, status);
  return print(is_new != 0 ? "inserted" : "updated");
}

Status remove(const Messages& messages, const Settings& settings, bool* is_missing) {
  STROM_ASSIGN(const std::vector<std::string> keys, keys_of(messages, settings));
  for (const std::string& key : keys) {
    const stromkv_status status = stromkv_session_delete(messages.get(), {key.data(), key.size()});
    if (status != STROMKV_OK && status != STROMKV_NOT_FOUND) return failed(messages, status);
    *is_missing = *is_missing || status == STROMKV_NOT_FOUND;
    STROM_TRY(print(status == STROMKV_OK ? "deleted" : "not found"));
  }
  return Status::ok();
}

Status print_statistics(const Messages& messages) {
  stromkv_server_statistics told{};
  const stromkv_status status = stromkv_session_statistics(messages.get(), &told);
  if (status != STROMKV_OK) return failed(messages, status);
  return print(fmt::format("{{\"rows\": {}, \"clients\": {}, \"operations\": {}, \"groups\": {}, \"failures\": {}}}",
                           told.rows, told.clients, told.operations, told.groups, told.failures));
}

}  // namespace

Status run_by_messages(const Settings& settings, bool* is_missing) {
  STROM_ASSIGN(const Messages messages, open_messages(settings));
  if (settings.command == "put") return put(messages, settings);
  if (settings.command == "del") return remove(messages, settings, is_missing);
  if (settings.command == "stat") return print_statistics(messages);
  return get(messages, settings, is_missing);
}

}  // namespace strom::kv_tool
