// SPDX-License-Identifier: Apache-2.0
// What every reader and writer of checkpoints does first and last: look before opening, and speak with one class of
// error.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/files.h"

namespace ordo {

// Throws CheckpointError unless path is a regular file, without opening it: a pipe put in a file's place would block
// for ever.
void require_regular_file(const fs::path& path);

// Text of a foreign file, fit for a message: at most `most` characters, controls and broken UTF-8 as \xNN.
std::string printable(std::string_view text, size_t most);

// Runs f; errors of files, text and file systems become CheckpointErrors of the same words.
template <class F>
auto with_checkpoint_errors(F&& f) -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (const CheckpointError&) {
    throw;
  } catch (const Error& error) {
    throw CheckpointError(error.what());
  } catch (const fs::filesystem_error& error) {
    throw CheckpointError(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  }
}

}  // namespace ordo
