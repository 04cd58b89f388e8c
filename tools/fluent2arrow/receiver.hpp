// Receives events by the Forward protocol, by HTTP and by syslog, and hands them to the writer's thread. One thread,
// which never waits for a client: clients that send slowly, or do not take their answers, cost a buffer and nothing
// else.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "fluent2arrow/access.hpp"
#include "fluent2arrow/channel.hpp"
#include "fluent2arrow/event_files.hpp"
#include "fluent2arrow/listener.hpp"
#include "fluent2arrow/settings.hpp"
#include "fluent2arrow/writer.hpp"
#include "format/forward/http_request.hpp"
#include "format/forward/messages.hpp"

namespace strom::fluent2arrow {

struct Received {
  int64_t messages = 0, duplicates = 0, refused = 0, connections = 0;
};

class Receiver {
 public:
  Receiver(const Settings& settings, EventFiles& files)
      : settings_(settings),
        files_(files),
        schemas_(settings),
        taken_(settings, schemas_),
        written_(settings, schemas_),
        writer_(files) {}

  /// Reads the files of secrets and certificates, and which chunks there are. Errors: those of Access and TlsContext.
  Status prepare();
  /// At all addresses. Errors: an address that is none, or that somebody else has.
  Status listen();
  /// Until a signal ends the program; then all that has come is written. Calls `ready` when a signal does so. Errors:
  /// those of writing at the end.
  Status run(const std::function<void()>& ready);
  /// The addresses, with the ports that the system chose for port 0, and what is received there.
  std::string addresses() const;

  const Received& received() const { return received_; }
  const format::forward::RecordCounts& counts() const { return counts_; }

 private:
  enum class Protocol : uint8_t { kForward, kHttp, kSyslog, kSyslogDatagrams };
  struct Source {
    Protocol protocol;
    Listener listener;
  };
  struct Connection {
    Protocol protocol;
    Channel channel;
    std::unique_ptr<Handshake> handshake;  // until the client is welcome
    bool is_refused = false;               // it ends when its output is sent
    int64_t since_ms = 0;
    std::unique_ptr<format::forward::HttpReader> http;
    bool is_waiting = false;  // of HTTP: for the answer to a request, before which nothing else is read
    uint64_t heard = 0;       // the last sign of life: larger than those of all others before
    size_t unanswered = 0;    // messages that wait for an answer
    bool has_ended = false;   // nothing comes any more, but answers are still sent
    std::string input, output;
    format::forward::MessageEnd end;  // of the message that input begins with
  };
  struct Answer {
    uint64_t connection;
    std::string tag, chunk;
    bool is_text = true;      // the chunk's id
    bool keeps_alive = true;  // of HTTP
  };
  using Connections = std::map<uint64_t, Connection>;
  /// What is written together, and who is told then.
  struct Round {
    Round(const Settings& settings, TagSchemas& schemas) : events(std::make_unique<EventBuffer>(settings, schemas)) {}
    std::unique_ptr<EventBuffer> events;
    std::vector<Answer> answers;
    std::set<std::string, std::less<>> failed;  // tags whose events could not be written when it was tried last
    int64_t bytes = 0;
  };

  void wait(int ending);
  void accept_some(const Source& source);
  void receive_datagrams(const Source& source);
  void receive_rest();
  bool receive(uint64_t number, Connection& connection);
  bool take_messages(uint64_t number, Connection& connection);
  Status take_message(uint64_t number, Connection& connection, std::string_view* rest, bool* is_whole);
  Status take_request(uint64_t number, Connection& connection, std::string_view* rest, bool* is_whole);
  void take_events(uint64_t number, Connection& connection, const format::forward::HttpRequest& request);
  void resume_some();
  Status take_syslog(std::string_view* rest);
  void take_last_line(const Connection& connection);
  Status take(uint64_t number, std::string_view bytes);
  Status keep(const format::forward::Message& message, size_t bytes);
  void remember(const std::string& chunk);
  Status greet(Connection& connection, std::string_view bytes);
  bool serve(uint64_t number, Connection& connection, int events);
  static size_t held(const Connection& connection);
  void end(Connections::iterator connection);
  Connections::iterator most_silent(size_t least_held);
  void make_room();
  void end_some();
  bool send(Connection& connection);
  bool is_time_to_write(bool is_idle) const;
  void begin_write();
  void end_write(const Status& status);
  Status write_now();
  void answer();
  void expect_answer(Answer answer);
  void send_answer(const Answer& answer);
  static bool is_done(const Connection& connection);
  bool may_read() const;

  const Settings& settings_;
  EventFiles& files_;
  Access access_;
  TlsContext tls_;
  std::vector<Source> sources_;
  Connections connections_;
  uint64_t last_connection_ = 0, heard_ = 0;
  size_t most_connections_ = 0;
  bool is_crowded_ = false;  // which was told
  std::string read_;         // what comes, before it is a client's
  int64_t buffered_bytes_ = 0, last_write_ms_ = 0;
  bool is_ending_ = false, is_idle_ = false;  // a signal has come; nothing has come for a while
  bool is_failing_ = false;                   // some events could not be written when it was tried last
  TagSchemas schemas_;
  Round taken_, written_;  // what the writer has is in written_, until it is on the disk
  format::forward::RecordCounts counts_;
  std::unordered_set<std::string> known_;  // chunks that are on the disk, or wait
  std::deque<std::string> known_order_;
  Received received_;
  Writer writer_;  // ends first
};

}  // namespace strom::fluent2arrow
