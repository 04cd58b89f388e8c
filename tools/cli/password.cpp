// See password.hpp.
#include "cli/password.hpp"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strom::tool {

std::optional<std::string> ask_password(const std::string& user) {
  FILE* terminal = fopen("/dev/tty", "r+");
  if (terminal == nullptr) return std::nullopt;
  struct termios before;
  const bool changed = tcgetattr(fileno(terminal), &before) == 0;
  struct termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (changed) tcsetattr(fileno(terminal), TCSAFLUSH, &silent);
  fprintf(terminal, "Password%s%s: ", user.empty() ? "" : " for user ", user.c_str());
  fflush(terminal);
  char* line = nullptr;
  size_t capacity = 0;
  const ssize_t length = getline(&line, &capacity, terminal);
  if (changed) tcsetattr(fileno(terminal), TCSAFLUSH, &before);
  fputs("\n", terminal);
  fclose(terminal);
  std::optional<std::string> password;
  if (length >= 0) password.emplace(line, strcspn(line, "\r\n"));
  free(line);
  return password;
}

}  // namespace strom::tool
