// SPDX-License-Identifier: Apache-2.0
// What Ordo throws. A message says what was expected, what was found, where, and what to do. The class decides the exit
// code.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace ordo {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, int exit_code = 1) : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// Usage or settings (exit 2).
struct ConfigError : Error {
  explicit ConfigError(const std::string& message) : Error(message, 2) {}
};
// Corpora, token files, tokenizers (exit 3).
struct DataError : Error {
  explicit DataError(const std::string& message) : Error(message, 3) {}
};
// Run folders, weights, training states (exit 4).
struct CheckpointError : Error {
  explicit CheckpointError(const std::string& message) : Error(message, 4) {}
};
// Losses, gradients or weights that are not finite (exit 5).
struct NumericError : Error {
  explicit NumericError(const std::string& message) : Error(message, 5) {}
};
// A device that is missing, or memory that ran out (exit 6).
struct DeviceError : Error {
  explicit DeviceError(const std::string& message) : Error(message, 6) {}
};

// Throws E with the formatted message unless ok.
template <class E = Error, class... Args>
void require(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) throw E(fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void assertion_failed(const char* claim, const char* file, int line);

}  // namespace ordo

// An invariant that no input can break; a failure is a bug in Ordo.
#define ORDO_ASSERT(claim) ((claim) ? void() : ::ordo::assertion_failed(#claim, __FILE__, __LINE__))
