// See channel.hpp.
#include "fluent2arrow/channel.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <string>
#include <utility>

namespace strom::fluent2arrow {

namespace {

Status tls_error(const std::string& what) {
  char text[256] = "no reason is known";
  if (const unsigned long error = ERR_get_error(); error != 0) ERR_error_string_n(error, text, sizeof text);
  ERR_clear_error();
  return {ErrorCode::kInvalidParameter, what + ": " + text};
}

}  // namespace

Result<TlsContext> TlsContext::load(const Settings& settings) {
  TlsContext tls;
  if (settings.certificate_file.empty()) return tls;
  // OpenSSL writes to sockets that clients have closed.
  (void)std::signal(SIGPIPE, SIG_IGN);
  tls.context_ = std::shared_ptr<ssl_ctx_st>(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX* const context = tls.context_.get();
  if (context == nullptr) return tls_error("TLS cannot be used");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  const std::string& certificate = settings.certificate_file;
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1)
    return tls_error("could not use the certificate \"" + certificate + "\"");
  if (SSL_CTX_use_PrivateKey_file(context, settings.private_key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1)
    return tls_error("could not use the key \"" + settings.private_key_file + "\"");
  if (settings.authority_file.empty()) return tls;
  if (SSL_CTX_load_verify_locations(context, settings.authority_file.c_str(), nullptr) != 1)
    return tls_error("could not use the certificates \"" + settings.authority_file + "\"");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return tls;
}

Channel::Channel(base::Descriptor socket, const TlsContext& tls) : socket_(std::move(socket)) {
  if (tls.get() == nullptr) return;
  tls_ = std::shared_ptr<ssl_st>(SSL_new(tls.get()), SSL_free);
  if (tls_ == nullptr || SSL_set_fd(tls_.get(), socket_.get()) != 1) {
    socket_.reset();  // reads and writes end the connection
    return;
  }
  SSL_set_accept_state(tls_.get());
}

Channel::Moved Channel::result(int done) {
  wants_to_write_ = false;
  if (done > 0) return {State::kDone, static_cast<size_t>(done)};
  const int error = SSL_get_error(tls_.get(), done);
  wants_to_write_ = error == SSL_ERROR_WANT_WRITE;
  const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  ERR_clear_error();
  return {waits ? State::kWaits : State::kEnded};
}

Channel::Moved Channel::read(char* to, size_t room) {
  if (tls_ != nullptr) {
    write_waits_for_read_ = false;
    return result(SSL_read(tls_.get(), to, static_cast<int>(std::min<size_t>(room, INT_MAX))));
  }
  const ssize_t size = recv(socket_.get(), to, room, 0);
  if (size > 0) return {State::kDone, static_cast<size_t>(size)};
  return {size < 0 && (errno == EAGAIN || errno == EINTR) ? State::kWaits : State::kEnded};
}

Channel::Moved Channel::write(const char* from, size_t size) {
  if (tls_ != nullptr) {
    const Moved moved = result(SSL_write(tls_.get(), from, static_cast<int>(std::min<size_t>(size, INT_MAX))));
    write_waits_for_read_ = moved.state == State::kWaits && !wants_to_write_;
    return moved;
  }
  const ssize_t sent = send(socket_.get(), from, size, MSG_NOSIGNAL);
  if (sent >= 0) return {State::kDone, static_cast<size_t>(sent)};
  return {errno == EAGAIN || errno == EINTR ? State::kWaits : State::kEnded};
}

}  // namespace strom::fluent2arrow
