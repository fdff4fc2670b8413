// SPDX-License-Identifier: Apache-2.0
// Numbers: beyond the length, and in half of the bits.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ordo/certify/checks.h"
#include "ordo/ops/autocast.h"

namespace ordo::certify_checks {

namespace {

constexpr int64_t kWholeUpTo = 512;  // longer rows are not run: their last positions are

// A row that goes beyond the model's length: whole, or the part around its end.
LabRows beyond(const Lab& lab, int64_t max_length, int64_t past) {
  const int64_t n = max_length + past, from = n <= kWholeUpTo ? 0 : n - 2 * past;
  return {.ids = lab.ids(1, n - from, 101), .at = consecutive(from, n - from, lab.device())};
}

// Runs a short row before and after a longer one, and after it on a model that has seen nothing else.
double stale_after(const Lab& lab, const LabRows& longer) {
  const int64_t n = std::max<int64_t>(std::min<int64_t>(longer.ids.size(1) / 2, 16), 1);
  const LabRows shorter = lab.rows(1, n, 103);
  const auto first = lab.fresh(), second = lab.fresh();
  const Tensor expected = lab.hidden(*first, shorter);
  lab.hidden(*first, longer);
  const double again = difference(lab.hidden(*first, shorter), expected);
  lab.hidden(*second, longer);
  return std::max(again, difference(lab.hidden(*second, shorter), expected));
}

bool refuses(const Lab& lab, Model& model, const LabRows& rows) {
  try {
    lab.hidden(model, rows);
    return false;
  } catch (const ConfigError&) {
    return true;
  }
}

Tensor under(const Lab& lab, Model& model, const LabRows& rows, at::ScalarType type) {
  const AutocastScope half(lab.device().type(), {.enabled = true, .dtype = type});
  return lab.hidden(model, rows).to(at::kFloat);
}

// Nothing for a type that this device has no operators for: then the bare model stops too, whatever the encoding does.
std::optional<Tensor> bare_under(const Lab& lab, Model& bare, const LabRows& rows, at::ScalarType type) {
  try {
    return under(lab, bare, rows, type);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

// Root mean square error over root mean square.
double mean_error(const Tensor& found, const Tensor& exact) {
  const double far = (found - exact).norm().item<double>(), size = exact.norm().item<double>();
  return std::isfinite(far) ? far / std::max(size, 1e-12) : std::numeric_limits<double>::infinity();
}

struct Precision16 {
  const char* name;
  at::ScalarType type;
  double limit;        // of outputs
  double angle_limit;  // of angles seen in tensors of this type: its rounding
};
constexpr Precision16 kHalves[] = {{"bf16", at::kBFloat16, 0.05, 0.02}, {"fp16", at::kHalf, 0.01, 0.003}};

struct Worst {
  double measured = 0.0, limit = 1.0;
  void take(double value, double allowed) {
    if (value / allowed <= measured / limit) return;
    measured = value;
    limit = allowed;
  }
};

// fp32 angles: a product of rounded factors is off by a share of the angle itself.
double exact_angle_limit(int64_t positions) { return 1e-5 + 2.5e-7 * static_cast<double>(positions); }

}  // namespace

Property finite_beyond_length(Lab& lab) {
  Model& model = lab.model();
  const int64_t end = model.max_length(), past = std::clamp<int64_t>(end / 2, 16, 64);
  const auto refusal = model.position().refuses_length(end + past);
  const LabRows far = beyond(lab, end, past);
  if (refusal) {
    if (!refuses(lab, model, far))
      return failed(fmt::format("the encoding says it ends, but {} positions were computed all the same", end + past));
    const double stale = stale_after(lab, lab.rows(1, lab.length(), 102));
    if (stale > kSame) return at_most(stale, kSame, "a longer row before it changes a shorter one");
    return not_applicable(*refusal, stale);
  }
  constexpr int64_t kEndless = int64_t{1} << 40;  // a table may be longer than the model it stands in
  if (!lab.traits().unbounded && !model.position().refuses_length(kEndless))
    return failed("the encoding claims an end, but refuses no length");
  const Tensor hidden = lab.hidden(far);
  if (!hidden.isfinite().all().item<bool>())
    return at_most(std::numeric_limits<double>::infinity(), kSame,
                   fmt::format("values at {} positions are not finite", end + past));
  return at_most(
      stale_after(lab, far), kSame,
      fmt::format("finite at {} positions ({} are what it is built for); shorter rows after it are as before",
                  end + past, end),
      fmt::format("after a row of {} positions a shorter one is not as it was before", end + past));
}

Property low_precision_error(Lab& lab) {
  constexpr double kTimesBare = 4.0;  // an encoding may sharpen attention, and rounding with it
  const LabRows rows = lab.rows(2, lab.length(), 111);
  Model &model = lab.model(), &bare = lab.model({.bare = true});
  const Tensor exact = lab.hidden(rows), exact_bare = lab.hidden(bare, rows);
  Worst worst;
  std::string why;
  for (const Precision16& half : kHalves) {
    const auto plain = bare_under(lab, bare, rows, half.type);
    if (!plain) continue;
    const double error = mean_error(under(lab, model, rows, half.type), exact),
                 without = mean_error(*plain, exact_bare);
    worst.take(error, std::max(half.limit, kTimesBare * without));
    why += fmt::format("{}{} {:.1g}", why.empty() ? "against fp32: " : ", ", half.name, error);
    if (lab.encodes()) why += fmt::format(" ({:.1g} without the encoding)", without);
  }
  if (const auto exact_angles = angle_error(lab, at::kFloat)) {
    worst.take(exact_angles->radians, exact_angle_limit(exact_angles->positions));
    why += fmt::format("; angles up to position {}: {:.1g} rad", exact_angles->positions - 1, exact_angles->radians);
    for (const Precision16& half : kHalves)
      if (const auto angles = angle_error(lab, half.type)) {
        worst.take(angles->radians, half.angle_limit);
        why += fmt::format(", {} {:.1g} rad", half.name, angles->radians);
      }
  }
  return at_most(worst.measured, worst.limit, std::move(why));
}

}  // namespace ordo::certify_checks
