// See program.hpp.
#include "cli/program.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include "format/staged_file.hpp"

namespace strom::tool {

namespace {

constexpr int kDone = 0, kFailed = 1, kUsage = 2, kSignalBase = 128;

/// What is to be called at a signal. Never destroyed, since the signal's thread outlives static objects.
struct Interrupts {
  std::mutex mutex;
  std::set<const std::function<void()>*> actions;
  std::function<void()> stop;  // at the first signal, if there is one

  static Interrupts& instance() {
    static auto* interrupts = new Interrupts;
    return *interrupts;
  }
};

/// Whether the work was told to end by itself.
bool stop_work() {
  std::lock_guard lock(Interrupts::instance().mutex);
  const auto stop = std::exchange(Interrupts::instance().stop, nullptr);
  if (stop == nullptr) return false;
  stop();
  return true;
}

/// Set when a signal has come: how the work ends no longer matters.
std::atomic<bool> is_ending{false};

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

/// Calls what was registered, and waits for it no longer than a second: a server may not answer any more.
void act_for_a_second() {
  auto done = std::make_shared<std::promise<void>>();
  std::thread([done] {
    std::lock_guard lock(Interrupts::instance().mutex);
    for (const auto* action : Interrupts::instance().actions) (*action)();
    done->set_value();
  }).detach();
  done->get_future().wait_for(std::chrono::seconds(1));
}

/// A thread that waits for the signals, so that what must be done can take locks and call anything.
void end_at_signals(const std::string& program) {
  sigset_t set = ending_signals();
  // Ignored signals stay ignored: nohup, and jobs in the background of a script.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) sigdelset(&set, number);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);  // writes fail with EPIPE, so that files can be cleaned up
  signal(SIGXFSZ, SIG_IGN);  // writes fail with EFBIG
  std::thread([set, program] {
    int number = 0;
    do {
      if (sigwait(&set, &number) != 0) return;
    } while (stop_work());
    is_ending = true;
    act_for_a_second();
    format::StagedFile::abandon_all();
    const std::string message = program + ": interrupted\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
    _exit(kSignalBase + number);
  }).detach();
}

/// Text on standard output, where a closed pipe is no error.
int print(const std::string& text) {
  const bool written = fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0;
  if (written) return kDone;
  return errno == EPIPE ? kSignalBase + SIGPIPE : kFailed;
}

/// Options that every tool has, and what they print; they win over errors in the others.
struct Information {
  bool help = false, version = false, manual = false;
  std::string completion;

  void add_to(OptionTable& table) {
    table.group("Help");
    const bool is_taken = std::any_of(table.options().begin(), table.options().end(),
                                      [](const Option& option) { return option.letter == 'h'; });
    table.flag(is_taken ? '\0' : 'h', "help", &help, "show this and exit");
    table.flag('V', "version", &version, "show the versions of the tool and its libraries, and exit");
    table.flag(0, "man", &manual, "print the manual page (roff) and exit");
    table.text(0, "completion", "SHELL", &completion, "print a completion script and exit")
        .one_of({"bash", "zsh", "fish"});
  }
  bool is_asked() const { return help || version || manual || !completion.empty(); }
  int answer(const OptionTable& table) const {
    if (help) return print(help_text(table));
    if (version) return print(version_text(table));
    return print(manual ? manual_page(table) : completion_script(table, completion));
  }
};

/// The exit status, with the error told.
int exit_status_of(const OptionTable& table, const Status& status) {
  if (status.is_ok()) return kDone;
  if (status.code() == ErrorCode::kCancelled) return kSignalBase + SIGPIPE;
  report_error(table.program(), status);
  return kFailed;
}

int run_guarded(OptionTable& table, const std::vector<std::string>& arguments, const std::function<Status()>& check,
                const std::function<Status()>& run, const std::function<Status()>& prepare) {
  Information information;
  information.add_to(table);
  Status status = parse(table, arguments);
  if (information.is_asked()) return information.answer(table);
  if (status.is_ok()) status = check();
  if (!status.is_ok()) {
    report_error(table.program(), status);
    return kUsage;
  }
  if (prepare) status = prepare();
  if (!status.is_ok()) return exit_status_of(table, status);
  end_at_signals(table.program());
  status = run();
  while (is_ending) pause();  // the signal's thread ends the process
  return exit_status_of(table, status);
}

}  // namespace

void report_error(const std::string& program, const Status& status) {
  std::string text = fmt::format("{}: error: {}\n", program, status.message());
  // A detail of several lines shows a query and a place in it.
  const std::string margin =
      fmt::format("\n{}", std::string(program.size() + std::string_view(": detail: ").size(), ' '));
  std::string detail = status.detail();
  for (size_t at = detail.find('\n'); at != std::string::npos; at = detail.find('\n', at + 1))
    detail.replace(at, 1, margin);
  if (!detail.empty()) text += fmt::format("{}: detail: {}\n", program, detail);
  if (!status.hint().empty()) text += fmt::format("{}: hint: {}\n", program, status.hint());
  fputs(text.c_str(), stderr);
}

void report_warning(const std::string& program, const std::string& message) {
  fputs(fmt::format("{}: warning: {}\n", program, message).c_str(), stderr);
}

int run_program(OptionTable& table, int argc, char** argv, const std::function<Status()>& check,
                const std::function<Status()>& run, const std::function<Status()>& prepare) {
  try {
    return run_guarded(table, std::vector<std::string>(argv + 1, argv + argc), check, run, prepare);
  } catch (const std::bad_alloc&) {
    report_error(table.program(), Status(ErrorCode::kOutOfMemory, "out of memory"));
    return kFailed;
  }
}

OnInterrupt::OnInterrupt(std::function<void()> act) : act_(std::move(act)) {
  std::lock_guard lock(Interrupts::instance().mutex);
  Interrupts::instance().actions.insert(&act_);
}

OnInterrupt::~OnInterrupt() {
  std::lock_guard lock(Interrupts::instance().mutex);
  Interrupts::instance().actions.erase(&act_);
}

StopAtSignal::StopAtSignal(std::function<void()> stop) {
  std::lock_guard lock(Interrupts::instance().mutex);
  Interrupts::instance().stop = std::move(stop);
}

StopAtSignal::~StopAtSignal() {
  std::lock_guard lock(Interrupts::instance().mutex);
  Interrupts::instance().stop = nullptr;
}

}  // namespace strom::tool
