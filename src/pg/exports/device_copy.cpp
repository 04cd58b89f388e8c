#include "pg/exports/device_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <variant>

#include "base/hex.hpp"
#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/gpu/known_service.hpp"
#include "pg/guc/guc.hpp"
#include "service/client.hpp"
#include "service/device_tasks.hpp"

namespace strom::pg::exports {
namespace {

using boundary::guard;
using boundary::StatusError;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using service::Descriptor;

constexpr int kLookMs = 10;

Status no_such_device(int32_t device, const std::string& detail) {
  return Status(ErrorCode::kInvalidParameter, "there is no GPU " + std::to_string(device) + " to export to")
      .with_detail(detail)
      .with_hint("pgstrom.gpu_devices lists GPUs. -1 exports to the server's memory.");
}

/// nullptr when there is no service, and `device` allows any GPU.
std::unique_ptr<service::Client> connect(int32_t device) {
  service::ClientOptions options = gpu::gpu_client_options();
  options.device = device;
  auto client = service::Client::connect(options);
  if (client.is_ok()) return std::move(client).value();
  if (device != kAnyDevice) throw StatusError(no_such_device(device, client.status().message() + "."));
  if (client.status().code() == ErrorCode::kDeviceLost) return nullptr;
  throw StatusError(client.status());
}

/// Waits for the service's answer and serves interrupts meanwhile.
std::string run(service::Client& client, const service::Submit& request, const std::vector<int>& files) {
  (void)value_or_throw(client.submit(request, files));
  for (;;) {
    guard([] { CHECK_FOR_INTERRUPTS(); });
    std::optional<service::Reply> reply = value_or_throw(client.wait(kLookMs));
    if (!reply) continue;
    if (const auto* failed = std::get_if<service::Failed>(&reply->message))
      throw StatusError(service::status_of(*failed));
    if (auto* finished = std::get_if<service::Finished>(&reply->message)) return std::move(finished->values);
    throw StatusError(Status(ErrorCode::kProtocolViolation, "unexpected answer of the GPU service"));
  }
}

std::string hexadecimal(const unsigned char* bytes, size_t count) {
  std::string text;
  base::append_hex(&text, bytes, count);
  return text;
}

}  // namespace

bool exports_go_to_gpu() {
  const guc::DeviceChoice choice = guc::pg_strom::device();
  const bool may_be_gpu = choice == guc::DeviceChoice::kAuto || choice == guc::DeviceChoice::kGpu;
  return may_be_gpu && gpu::known_service() != nullptr;
}

std::optional<DeviceCopy> copy_to_device(int file, int64_t bytes, int32_t device) {
  const std::unique_ptr<service::Client> client = connect(device);
  if (client == nullptr) return std::nullopt;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_if_failed(base::os_error(errno, "could not make a pipe to the GPU service"));
  const Descriptor reading(ends[0]);
  DeviceCopy copy;
  copy.lease = Descriptor(ends[1]);
  copy.device = client->welcome().number;
  const std::string values = run(*client,
                                 {static_cast<uint16_t>(service::TaskKind::kShare), 0,
                                  service::bytes_of(service::Share{static_cast<uint64_t>(bytes)})},
                                 {file, reading.get()});
  std::string_view rest = values;
  service::Shared shared;
  throw_if_failed(service::take(&rest, &shared));
  copy.description = R"({"number": )" + std::to_string(copy.device) + R"(, "address": ")" + std::string(rest) +
                     R"(", "bytes": )" + std::to_string(shared.bytes) + R"(, "handle": ")" +
                     hexadecimal(shared.handle, sizeof shared.handle) + "\"}";
  return copy;
}

}  // namespace strom::pg::exports
