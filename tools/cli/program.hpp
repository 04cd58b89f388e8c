// What every tool's main() does: options, signals, errors and the exit status.
#pragma once

#include <functional>
#include <string>

#include "cli/options.hpp"

namespace strom::tool {

/// The tool's name before the first message, `pg2arrow: error: …` with detail and hint on lines of their own.
void report_error(const std::string& program, const Status& status);
/// A warning on standard error.
void report_warning(const std::string& program, const std::string& message);

/// Parses the arguments into the table's targets and calls `check`, whose failures are usage errors (exit 2), and
/// `run` (exit 1). --help, -V, --man and --completion are answered here. kCancelled from `run` is a closed pipe: no
/// message, exit 141. `prepare` is called between these, before the first thread starts: for what the kernel changes of
/// the calling thread only, such as its capabilities. Its failures are as those of `run`. SIGINT, SIGTERM and SIGHUP
/// end the process from a thread of their own, after temporary files are gone: the exit status is 128 and the signal's
/// number.
int run_program(OptionTable& table, int argc, char** argv, const std::function<Status()>& check,
                const std::function<Status()>& run, const std::function<Status()>& prepare = {});

/// Calls `act` when a signal ends the process, for as long as this lives: to stop what goes on elsewhere, such as a
/// query on a server. `act` runs in the signal's thread and must not wait for the others.
class OnInterrupt {
 public:
  explicit OnInterrupt(std::function<void()> act);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt&) = delete;
  OnInterrupt& operator=(const OnInterrupt&) = delete;

 private:
  std::function<void()> act_;
};

/// While this lives, the first signal that would end the process calls `stop` instead, in the signal's thread: the work
/// ends by itself then, with all that it has. The next one ends the process as usual. One at a time.
class StopAtSignal {
 public:
  explicit StopAtSignal(std::function<void()> stop);
  ~StopAtSignal();
  StopAtSignal(const StopAtSignal&) = delete;
  StopAtSignal& operator=(const StopAtSignal&) = delete;
};

}  // namespace strom::tool
