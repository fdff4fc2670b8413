// SPDX-License-Identifier: Apache-2.0
#include "operator_profile.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ordo::cli {
namespace {

using ProfileClock = std::chrono::steady_clock;

struct Spent {
  int64_t calls = 0;
  double seconds = 0.0;  // of the operator itself
};
struct Profile {
  std::mutex mutex;
  std::map<std::string, Spent> by_name;
};
// The callbacks of LibTorch are plain functions: what they write to while a profile is taken.
Profile* current = nullptr;

// Of this thread alone, and of the threads that a backward pass runs on for it: other threads (those that read data
// ahead) are neither counted nor left with a profile that has gone.
class Callback {
 public:
  explicit Callback(at::RecordFunctionCallback callback) : handle_(at::addThreadLocalCallback(callback)) {}
  ~Callback() { at::removeCallback(handle_); }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

 private:
  at::CallbackHandle handle_;
};

struct Running : at::ObserverContext {
  ProfileClock::time_point start = ProfileClock::now();
  double inner = 0.0;  // seconds of operators called by this one
  Running* outer = nullptr;
};
thread_local Running* innermost = nullptr;

std::unique_ptr<at::ObserverContext> entered(const at::RecordFunction&) {
  auto running = std::make_unique<Running>();
  running->outer = innermost;
  innermost = running.get();
  return running;
}

void left(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* running = static_cast<Running*>(context);
  const double whole = std::chrono::duration<double>(ProfileClock::now() - running->start).count();
  innermost = running->outer;
  if (running->outer != nullptr) running->outer->inner += whole;
  const std::lock_guard lock(current->mutex);
  Spent& spent = current->by_name[function.name()];
  ++spent.calls;
  spent.seconds += whole - running->inner;
}

}  // namespace

Json operator_profile(const std::function<void()>& work) {
  Profile profile;
  current = &profile;
  double whole = 0.0;
  {
    const Callback callback(at::RecordFunctionCallback(entered, left)
                                .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    const auto start = ProfileClock::now();
    work();
    whole = std::chrono::duration<double>(ProfileClock::now() - start).count();
  }
  current = nullptr;

  std::vector<std::pair<std::string, Spent>> rows(profile.by_name.begin(), profile.by_name.end());
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  Json list = Json::array();
  double inside = 0.0;
  for (const auto& [name, spent] : rows) {
    list.push_back(
        {{"op", name}, {"calls", spent.calls}, {"ms", 1e3 * spent.seconds}, {"share", spent.seconds / whole}});
    inside += spent.seconds;
  }
  return {{"profile", std::move(list)}, {"seconds", whole}, {"outside_ms", 1e3 * std::max(0.0, whole - inside)}};
}

}  // namespace ordo::cli
