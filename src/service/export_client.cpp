#include "service/export_client.hpp"

#include <sys/socket.h>

#include <ctime>

namespace strom::service {
namespace {

constexpr int kPatienceSeconds = 10;

Status lost() {
  return Status(ErrorCode::kDeviceLost, "the keeper of exports does not answer").with_hint("Try again.");
}

}  // namespace

Result<ExportClient> ExportClient::connect(const std::string& keeper) {
  ExportClient client;
  client.keeper_ = keeper;
  Result<Descriptor> socket = connect_to(keeper_address(keeper));
  if (!socket.is_ok()) return socket.status().code() == ErrorCode::kDeviceLost ? lost() : socket.status();
  client.socket_ = std::move(socket).value();
  const timeval patience = {kPatienceSeconds, 0};
  setsockopt(client.socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return client;
}

Result<std::string> ExportClient::ask(const std::string& packet, const std::vector<int>& files) {
  STROM_ASSIGN(const Transfer sent, send_packet(socket_.get(), packet, files, true));
  Packet reply;
  if (sent != Transfer::kDone) return lost();
  STROM_ASSIGN(const Transfer received, receive_packet(socket_.get(), true, &reply));
  if (received != Transfer::kDone || reply.bytes.empty()) return lost();
  if (reply.bytes[0] == static_cast<char>(ExportMessage::kFailed)) return decode_failure(reply.bytes);
  return std::move(reply.bytes);
}

Result<std::string> ExportClient::put(const PutExport& request, int file, int lease) {
  std::vector<int> files = {file};
  if (lease >= 0) files.push_back(lease);
  STROM_ASSIGN(const std::string reply, ask(encode(ExportMessage::kPut, request), files));
  return make_identifier(keeper_, std::string_view(reply).substr(1));
}

Result<std::string> ExportClient::put_same(const PutExport& request) {
  STROM_ASSIGN(const std::string reply, ask(encode(ExportMessage::kSame, request), {}));
  if (reply[0] != static_cast<char>(ExportMessage::kDone)) return std::string();
  return make_identifier(keeper_, std::string_view(reply).substr(1));
}

Result<bool> ExportClient::drop(const DropExport& request) {
  STROM_ASSIGN(const std::string reply, ask(encode(ExportMessage::kDrop, request), {}));
  return reply[0] == static_cast<char>(ExportMessage::kDone);
}

Result<std::vector<ExportFacts>> ExportClient::list() {
  std::vector<ExportFacts> all;
  for (;;) {
    STROM_ASSIGN(const std::string reply, ask(encode(ExportMessage::kList, static_cast<uint64_t>(all.size())), {}));
    const size_t count = (reply.size() - 1) / sizeof(ExportFacts);
    for (size_t i = 0; i < count; ++i) {
      ExportFacts facts;
      reply.copy(reinterpret_cast<char*>(&facts), sizeof facts, 1 + i * sizeof facts);
      all.push_back(facts);
    }
    if (count < kFactsPerPacket) return all;
  }
}

}  // namespace strom::service
