// SPDX-License-Identifier: Apache-2.0
// The program: finds the command, and turns whatever it throws into one message on stderr and an exit code.
#include <c10/util/Exception.h>
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <new>

#include "command.h"
#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/ops/device.h"

namespace ordo::cli {
namespace {

int dispatch(const Words& words) {
  if (words.empty() || words[0] == "-h" || words[0] == "--help") {
    print(overview());
    return kDone;
  }
  if (words[0] == "-V" || words[0] == "--version") {
    print(fmt::format("ordo {}\n", ORDO_VERSION));
    return kDone;
  }
  require<ConfigError>(!words[0].starts_with('-'), "unknown option '{}' before a command; see ordo --help", words[0]);
  return find_command(words[0]).run({words.begin() + 1, words.end()});
}

int failed(int code, std::string_view message) {
  log::progress("");
  log::write(log::Level::error, message);
  return code;
}

int out_of_memory(std::string_view why) {
  return failed(6, fmt::format("out of memory: {}; make train.batch_size or train.length smaller (train.accumulate "
                               "keeps the batch of an update, "
                               "train.recompute=blocks trades time for memory)",
                               why));
}

// LibTorch's messages carry a stack trace after the first line.
std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// LibTorch reports an allocation that the CPU could not serve as a plain error; its words tell.
bool tells_of_memory(std::string_view text) {
  return text.find("not enough memory") != text.npos || text.find("can't allocate memory") != text.npos ||
         text.find("out of memory") != text.npos;
}

int guarded(const Words& words) {
  try {
    const int code = dispatch(words);
    finish_output();
    return code;
  } catch (const Error& error) {
    return failed(error.exit_code(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return failed(1, error.what());
  } catch (const c10::OutOfMemoryError& error) {
    return out_of_memory(first_line(error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return out_of_memory("the system gave no more");
  } catch (const c10::Error& error) {
    const std::string_view why = first_line(error.what_without_backtrace());
    return tells_of_memory(why)
               ? out_of_memory(why)
               : failed(1,
                        fmt::format("this is a bug in ordo, please report it with the command that led here: {}", why));
  } catch (const std::exception& error) {
    const std::string_view why = first_line(error.what());
    return tells_of_memory(why)
               ? out_of_memory(why)
               : failed(1,
                        fmt::format("this is a bug in ordo, please report it with the command that led here: {}", why));
  }
}

// Token files and weights are mapped. One that is cut short while it is read leaves pages without a file behind them,
// which no exception can tell: only calls that POSIX allows in a handler are left.
void on_missing_page(int signal, siginfo_t* where, void*) {
  if (where->si_code != BUS_ADRERR) {
    std::signal(signal, SIG_DFL);
    return;  // the access is made again, and ends the process
  }
  constexpr std::string_view kTold =
      "error: a mapped file (token ids, weights) was cut short while it was read; put it back whole and start again\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, kTold.data(), kTold.size());
  constexpr int kDataErrorCode = 3;
  ::_exit(kDataErrorCode);
}

void tell_of_missing_pages() {
  struct sigaction action {};
  action.sa_sigaction = on_missing_page;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace
}  // namespace ordo::cli

int main(int argc, char** argv) {
  ordo::prepare_process();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves must not end a training run
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the write, not the end of the process
  ordo::cli::tell_of_missing_pages();
  return ordo::cli::guarded({argv + 1, argv + argc});
}
