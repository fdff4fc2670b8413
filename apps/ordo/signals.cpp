// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "command.h"

namespace ordo::cli {

namespace {

std::atomic<bool> stop_asked{false};
std::atomic<int> arrived{0};
std::atomic<int> interrupts{0};  // SIGINTs alone: another signal between two of them does not make the second a first
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler takes no lock");

void tell(std::string_view text) {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

// Only calls that POSIX allows in a handler, here and below.
void leave_if_interrupted_again(int signal) {
  if (signal != SIGINT || ++interrupts == 1) return;
  tell("\ninterrupted again: stopped at once\n");
  ::_exit(kInterrupted);
}

void on_signal(int signal) {
  const int interrupted = errno;  // the code that was interrupted may be about to read its own
  leave_if_interrupted_again(signal);
  if (!stop_asked.load())
    tell("\nstopping: this step is finished and a checkpoint written; interrupt again (Ctrl-C) to quit at once\n");
  arrived = signal;
  stop_asked = true;
  errno = interrupted;
}

void on_interrupt(int signal) {
  leave_if_interrupted_again(signal);
  arrived = signal;
  stop_asked = true;
}

}  // namespace

const std::atomic<bool>& stop_reading_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // without SA_RESTART
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  return stop_asked;
}

const std::atomic<bool>& stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // reads and writes under way go on
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) sigaction(signal, &action, nullptr);
  return stop_asked;
}

const char* stop_signal() {
  switch (arrived.load()) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "";
  }
}

}  // namespace ordo::cli
