// SPDX-License-Identifier: Apache-2.0
// Training: gradients are right, reach the encoding, survive recomputation; weights survive a file.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "ordo/certify/checks.h"
#include "ordo/checkpoint/checkpoint.h"
#include "ordo/checkpoint/weights.h"

namespace ordo::certify_checks {

namespace {

NamedGradients gradients_with(Model& model, const LabRows& rows, bool recompute) {
  model.recompute(recompute ? std::vector<bool>(static_cast<size_t>(model.layers()), true) : std::vector<bool>());
  return training_gradients(model, rows, {.seed = 9, .step = 4});
}

bool of_position(Model& model, const Tensor& parameter) {
  const auto own = model.position().parameters();
  return std::any_of(own.begin(), own.end(), [&](const Tensor& t) { return t.is_same(parameter); });
}

// A scalar of the model's outputs along a random direction, in fp64.
class Slope {
 public:
  Slope(Model& model, const LabRows& rows)
      : model_(model),
        rows_(rows),
        weight_(standard_normal({rows.ids.size(0), rows.ids.size(1), model.dim()}, 5,
                                rows.ids.options().dtype(at::kDouble))) {}
  Tensor value() const { return (model_.forward({.ids = rows_.ids, .at = rows_.at}) * weight_).sum(); }
  // (f(p + h d) - f(p - h d)) / 2h.
  double measured(const Tensor& parameter, const Tensor& direction, double step) const {
    const at::NoGradGuard no_grad;
    const Tensor before = parameter.clone();
    parameter.add_(direction, step);
    const double above = value().item<double>();
    parameter.copy_(before).add_(direction, -step);
    const double below = value().item<double>();
    parameter.copy_(before);
    return (above - below) / (2.0 * step);
  }

 private:
  Model& model_;
  LabRows rows_;
  Tensor weight_;
};

struct GradientReport {
  double worst = 0.0;
  std::string worst_name;
  std::vector<std::string> unreached;  // parameters of the encoding
  int64_t parameters = 0;
};

// First values may lie on a kink (a threshold that a position meets exactly), where differences say nothing.
void leave_first_values(PositionEncoding& position) {
  const at::NoGradGuard plain;
  uint64_t key = 300;
  for (const Tensor& p : position.parameters()) p.add_(standard_normal(p.sizes(), ++key, p.options()), 1e-3);
}

GradientReport compare_gradients(Model& model, const LabRows& rows) {
  const at::AutoGradMode with(true);
  const Slope slope(model, rows);
  model.zero_grad(/*set_to_none=*/true);
  slope.value().backward();
  struct Line {
    std::string name;
    double expected, found;
  };
  std::vector<Line> lines;
  GradientReport report;
  uint64_t key = 100;
  for (const auto& p : model.named_parameters()) {
    const Tensor parameter = p.value(), gradient = parameter.grad();
    const Tensor direction = standard_normal(parameter.sizes(), ++key, parameter.options());
    const double expected = gradient.defined() ? (gradient * direction).sum().item<double>() : 0.0;
    // Where a kink (a clip, a bucket) lies within the step, a smaller one may not meet it.
    double found = slope.measured(parameter, direction, 1e-5);
    for (const double step : {1e-6, 1e-7, 1e-8}) {
      if (std::abs(found - expected) <= 1e-6 * std::abs(expected)) break;
      const double finer = slope.measured(parameter, direction, step);
      if (std::abs(finer - expected) < std::abs(found - expected)) found = finer;
    }
    lines.push_back({p.key(), expected, found});
    const bool zero = !gradient.defined() || gradient.numel() == 0 || gradient.abs().max().item<double>() == 0.0;
    if (zero && of_position(model, parameter)) report.unreached.push_back(p.key());
  }
  double largest = 0.0;
  for (const Line& line : lines) largest = std::max(largest, std::abs(line.expected));
  for (const Line& line : lines) {
    const double far = std::abs(line.found - line.expected) / std::max(std::abs(line.expected), 1e-3 * largest);
    if (far <= report.worst) continue;
    report.worst = std::isfinite(far) ? far : std::numeric_limits<double>::infinity();
    report.worst_name = line.name;
  }
  report.parameters = static_cast<int64_t>(lines.size());
  return report;
}

// A file of its own that vanishes.
class TemporaryFile {
 public:
  TemporaryFile() : path_(fs::temp_directory_path() / "ordo-certify-XXXXXX") {
    std::string name = path_.string();
    const int file = ::mkstemp(name.data());
    require(file >= 0, "cannot make a file in {}: {}", path_.parent_path().string(), std::strerror(errno));
    ::close(file);
    path_ = name;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

Property recompute_equals_plain(Lab& lab) {
  constexpr double kDropout = 0.1;
  Model& model = lab.model({.dropout = kDropout});
  const LabRows rows = lab.rows(2, lab.length(), 81);
  const NamedGradients plain = gradients_with(model, rows, false), replayed = gradients_with(model, rows, true);
  model.recompute({});
  for (size_t i = 0; i < plain.size(); ++i)
    if (plain[i].second.defined() && !replayed[i].second.defined())
      return failed(fmt::format("{} has a gradient only without recomputation", plain[i].first));
  return at_most(
      gradients_differ(replayed, plain), kSame,
      fmt::format("gradients of {} parameters with every block replayed, dropout {}", plain.size(), kDropout),
      fmt::format("gradients of replayed blocks differ from plain ones, dropout {}", kDropout));
}

Property gradients(Lab& lab) {
  constexpr int64_t kTokens = 9;
  constexpr double kLimit = 1e-4;
  const Variant tiny{.tiny = true};
  const auto model = lab.fresh(tiny);
  model->to(at::kDouble);
  leave_first_values(model->position());
  const int64_t n = std::min(kTokens, model->max_length());
  const LabRows rows{.ids = lab.ids(2, n, 91, tiny), .at = consecutive(0, n, lab.device())};
  const GradientReport report = compare_gradients(*model, rows);
  if (!report.unreached.empty())
    return failed(fmt::format("no gradient reaches {}: it would never learn", report.unreached.front()), report.worst);
  return at_most(report.worst, kLimit,
                 fmt::format("{} parameters against finite differences in fp64 on a tiny copy{}", report.parameters,
                             report.worst > kLimit ? ", worst: " + report.worst_name : ""));
}

Property save_load_round_trip(Lab& lab) {
  const LabRows rows = lab.rows(2, lab.length(), 95);
  const TemporaryFile file;
  write_safetensors(file.path(), weights_of(lab.model()), {});
  const auto loaded = lab.fresh({.seed = Variant{}.seed + 1});
  load_into(all_tensors(file.path()), weights_of(*loaded), "the saved copy");
  const double measured = difference(lab.hidden(*loaded, rows), lab.hidden(rows));
  return at_most(measured, 0.0, "the weights, written and read into a model of another seed, give the same outputs",
                 "the weights, written and read into a model of another seed, give other outputs: some are not saved");
}

}  // namespace ordo::certify_checks
