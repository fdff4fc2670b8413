// SPDX-License-Identifier: Apache-2.0
#include "ordo/certify/certify.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <array>

#include "ordo/certify/checks.h"
#include "ordo/ops/autocast.h"

namespace ordo {

namespace {

using certify_checks::Lab;

struct NamedCheck {
  std::string_view name;
  certify_checks::Check check;
};
constexpr std::array<NamedCheck, 16> kChecks{{
    {"permutation_equivariance", certify_checks::permutation_equivariance},
    {"order_sensitivity", certify_checks::order_sensitivity},
    {"shift_invariance", certify_checks::shift_invariance},
    {"causality", certify_checks::causality},
    {"cache_equals_full", certify_checks::cache_equals_full},
    {"padding_invariance", certify_checks::padding_invariance},
    {"batch_invariance", certify_checks::batch_invariance},
    {"packing_equals_separate", certify_checks::packing_equals_separate},
    {"kernels_agree", certify_checks::kernels_agree},
    {"recompute_equals_plain", certify_checks::recompute_equals_plain},
    {"finite_beyond_length", certify_checks::finite_beyond_length},
    {"rows_sum_to_one", certify_checks::rows_sum_to_one},
    {"masked_rows_are_zero", certify_checks::masked_rows_are_zero},
    {"low_precision_error", certify_checks::low_precision_error},
    {"save_load_round_trip", certify_checks::save_load_round_trip},
    {"gradients", certify_checks::gradients},
}};

// The rows are short: more threads would spend their time waiting for each other, above all on a machine that is busy.
class OneThread {
 public:
  OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
  ~OneThread() { at::set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// A configured kernel that refuses a kind of call in words computes nothing wrong; all else that is thrown is a
// failure.
Property stopped(std::string_view why, bool refused_by_kernel) {
  const std::string line(why.substr(0, why.find('\n')));
  return {.verdict = refused_by_kernel ? Verdict::not_applicable : Verdict::fail,
          .why = refused_by_kernel ? line : "the check stopped: " + line};
}

// Throws the refusal of the configured kernel when it cannot serve the model in training at all, in fp32 or in bf16.
void require_served(Lab& lab) {
  const auto train = [&](bool half) {
    const at::AutoGradMode with_graph(true);
    const AutocastScope scope(lab.device().type(), {.enabled = half, .dtype = at::kBFloat16});
    const auto rows = lab.rows(1, lab.length());
    lab.model().forward({.ids = rows.ids, .at = rows.at, .mask = rows.mask});
  };
  try {
    train(false);
  } catch (const KernelRefusal& refusal) {
    try {
      train(true);
    } catch (const KernelRefusal&) {
      throw KernelRefusal(refusal);
    }
  }
}

Property checked(const NamedCheck& named, Lab& lab) {
  try {
    return named.check(lab);
  } catch (const DeviceError&) {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const KernelRefusal& refusal) {
    return stopped(refusal.what(), true);
  } catch (const c10::Error& error) {
    return stopped(error.what_without_backtrace(), false);
  } catch (const Error& error) {
    return stopped(error.what(), false);
  }
}

}  // namespace

std::vector<std::string_view> certified_properties() {
  std::vector<std::string_view> names;
  for (const auto& named : kChecks) names.push_back(named.name);
  return names;
}

Certificate certify(const Subject& subject, at::Device device, const std::function<void(std::string_view)>& watch) {
  const OneThread quiet;
  Lab lab(subject, device);
  lab.model();  // what cannot be assembled has no certificate: its own error says why
  require_served(lab);
  Certificate certificate{.subject = subject.name(), .scaled = subject.scaled()};
  for (const NamedCheck& named : kChecks) {
    if (watch) watch(named.name);
    Property property = checked(named, lab);
    property.name = named.name;
    certificate.properties.push_back(std::move(property));
  }
  return certificate;
}

}  // namespace ordo
