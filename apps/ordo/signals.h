// SPDX-License-Identifier: Apache-2.0
// Signals that ask a command to stop. A second SIGINT ends the process at once.
#pragma once
#include <atomic>

namespace ordo::cli {

// Of a training run, which finishes its step and writes a checkpoint: installs the handlers for SIGTERM, SIGINT,
// SIGUSR1 and SIGHUP; the flag becomes true when one arrives.
const std::atomic<bool>& stop_on_signals();
// Of a command that waits for its user: the same for SIGINT alone, which also ends a read() under way.
const std::atomic<bool>& stop_reading_on_interrupt();
const char* stop_signal();  // the name of the one that arrived, "" when none did

}  // namespace ordo::cli
