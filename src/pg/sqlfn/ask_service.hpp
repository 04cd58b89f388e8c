// Asks the GPU service one question, for the SQL functions about it.
#pragma once

#include <optional>

#include "pg/boundary/boundary.hpp"
#include "service/client.hpp"

namespace strom::pg::sqlfn {

/// Returns the answer. Throws StatusError: kDeviceLost when there is no answer within seconds, or the service's error.
template <class Answer>
Answer ask_service(service::Client* client, const service::Message& request) {
  constexpr int kPatienceMs = 5000;
  (void)boundary::value_or_throw(client->request(request));
  std::optional<service::Reply> reply = boundary::value_or_throw(client->wait(kPatienceMs));
  if (reply)
    if (const auto* failed = std::get_if<service::Failed>(&reply->message))
      throw boundary::StatusError(service::status_of(*failed));
  auto* answer = reply ? std::get_if<Answer>(&reply->message) : nullptr;
  if (answer == nullptr) throw boundary::StatusError(Status(ErrorCode::kDeviceLost, "the GPU service does not answer"));
  return std::move(*answer);
}

}  // namespace strom::pg::sqlfn
