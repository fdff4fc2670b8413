// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/forecast_rows.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

namespace ordo {

ForecastRows::Row ForecastRows::row(uint64_t number) const {
  const auto rows = static_cast<uint64_t>(rows_a_window());
  const ForecastWindow& window = windows_[number / rows];
  const auto channel = static_cast<int64_t>(number % rows);
  return {.series = data_.series[window.series],
          .window = window,
          .first = channel,
          .end = options_.joint ? data_.channels() : channel + 1};
}

void ForecastRows::fill(const Row& row, float* signal, float* targets) const {
  for (int64_t step = row.window.end - options_.context; step < row.window.end; ++step)
    for (int64_t c = row.first; c < row.end; ++c) *signal++ = static_cast<float>(row.series.value(step, c));
  for (int64_t step = row.window.target; step < row.window.target + aim_.steps(); ++step)
    for (int64_t c = row.first; c < row.end; ++c) *targets++ = static_cast<float>(row.series.actual(step, c));
}

Batch ForecastRows::batch(std::span<const uint64_t> numbers) const {
  const int64_t B = std::ssize(numbers), L = options_.context, C = options_.joint ? data_.channels() : 1;
  const int64_t outputs = aim_.steps() * C;
  Batch batch{.targets = at::empty({B, outputs}, at::kFloat), .signal = at::empty({B, L, C}, at::kFloat)};
  for (int64_t b = 0; b < B; ++b)
    fill(row(numbers[static_cast<size_t>(b)]), batch.signal.data_ptr<float>() + b * L * C,
         batch.targets.data_ptr<float>() + b * outputs);
  batch.weight = batch.targets.isfinite().sum().item<double>();
  batch.at = consecutive(0, L, at::kCPU);
  if (options_.times) batch.at.coords = stamps(numbers);
  if (data_.about.hides) batch.mask.keys = visible(numbers);
  return batch;
}

Tensor ForecastRows::visible(std::span<const uint64_t> numbers) const {
  Tensor keys = at::ones({std::ssize(numbers), options_.context}, at::kBool);
  bool* place = keys.data_ptr<bool>();
  for (const uint64_t number : numbers) {
    const Row one = row(number);
    const auto& missing = one.series.data.missing;
    for (int64_t step = one.window.end - options_.context; step < one.window.end; ++step, ++place)
      for (int64_t c = one.first; c < one.end && !missing.empty(); ++c)
        *place = *place && !missing[static_cast<size_t>(step * data_.channels() + c)];
  }
  return keys.all().item<bool>() ? Tensor() : keys;
}

Tensor ForecastRows::stamps(std::span<const uint64_t> numbers) const {
  Tensor times = at::empty({std::ssize(numbers), options_.context, 1}, at::kDouble);
  double* place = times.data_ptr<double>();
  for (const uint64_t number : numbers) {
    const Row one = row(number);
    const auto end = one.series.data.times.begin() + one.window.end;
    place = std::copy(end - options_.context, end, place);
  }
  return times;
}

std::string ForecastRows::name(uint64_t number) const {
  const Row one = row(number);
  const auto& lines = one.series.data.lines;
  const std::string channel =
      options_.joint ? "" : fmt::format(", {}", data_.about.channels[static_cast<size_t>(one.first)]);
  return fmt::format("{}: lines {} to {}{}", data_.about.source,
                     lines[static_cast<size_t>(one.window.end - options_.context)],
                     lines[static_cast<size_t>(one.window.end - 1)], channel);
}

}  // namespace ordo
