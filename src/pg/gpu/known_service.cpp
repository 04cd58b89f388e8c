#include "pg/gpu/known_service.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/mapped_file.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/gpu/service_path.hpp"
#include "service/client.hpp"

namespace strom::pg::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{5};
constexpr std::chrono::seconds kPause{10};  // pause after a question that got no answer
constexpr int kMostQuestions = 8;           // about cached tables; service::kCacheRowsPerMessage labels each

template <class Answer, class Question>
Result<Answer> ask(service::Client* client, const Question& question, Clock::time_point end) {
  STROM_TRY(client->request(question).status());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  STROM_ASSIGN(std::optional<service::Reply> reply, client->wait(static_cast<int>(std::max<int64_t>(0, left))));
  auto* answer = reply ? std::get_if<Answer>(&reply->message) : nullptr;
  if (answer == nullptr) return Status(ErrorCode::kDeviceLost, "the GPU service does not answer");
  return std::move(*answer);
}

Result<ServiceContents> ask_contents() {
  const Clock::time_point end = Clock::now() + kPatience;
  service::ClientOptions options = gpu::gpu_client_options();
  options.timeout_ms = options.connect_timeout_ms = static_cast<int>(kPatience.count());
  STROM_ASSIGN(const std::unique_ptr<service::Client> client, service::Client::connect(options));
  ServiceContents contents;
  STROM_ASSIGN(service::Devices devices, ask<service::Devices>(client.get(), service::AskDevices{}, end));
  contents.devices = std::move(devices.rows);
  service::AskCache question;
  for (int i = 0; i < kMostQuestions; ++i) {
    STROM_ASSIGN(service::Cache cache, ask<service::Cache>(client.get(), question, end));
    if (cache.rows.empty()) break;
    question.after = cache.rows.back().label;
    for (service::CacheRow& row : cache.rows) contents.cached.emplace(row.label, std::move(row));
  }
  return contents;
}

}  // namespace

const ServiceContents& service_contents(std::chrono::milliseconds age) {
  static ServiceContents contents;
  static Clock::time_point good_until{};
  if (Clock::now() < good_until) return contents;
  Result<ServiceContents> asked = ask_contents();
  const uint64_t number = contents.number + 1;
  good_until = Clock::now() + (asked.is_ok() ? age : kPause);
  contents = asked.is_ok() ? std::move(asked).value() : ServiceContents();
  contents.number = number;
  return contents;
}

const service::Calibration* known_service() {
  static service::Calibration known;
  static base::FileIdentity of;
  // A service that was killed leaves its socket behind until the next one starts, some seconds later. Queries that fail
  // to connect meanwhile run on the CPU.
  static const std::string socket = service_socket(), path = calibration_file();
  if (access(socket.c_str(), F_OK) != 0) return nullptr;
  const Result<base::FileIdentity> found = base::identify_file(path);
  const base::FileIdentity identity = found.is_ok() ? found.value() : base::FileIdentity();
  if (identity == of) return &known;
  Result<service::Calibration> read = service::read_calibration(path);
  known = read.is_ok() ? std::move(read).value() : service::Calibration();
  of = identity;
  return &known;
}

}  // namespace strom::pg::gpu
