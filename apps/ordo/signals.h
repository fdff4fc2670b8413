// SPDX-License-Identifier: Apache-2.0
// Signals that ask a training run to stop: the step is finished, a checkpoint written. A second SIGINT ends the process
// at once.
#pragma once
#include <atomic>

namespace ordo::cli {

// Installs the handlers for SIGTERM, SIGINT, SIGUSR1 and SIGHUP; the flag becomes true when one arrives.
const std::atomic<bool>& stop_on_signals();
const char* stop_signal();  // the name of the one that arrived, "" when none did

}  // namespace ordo::cli
