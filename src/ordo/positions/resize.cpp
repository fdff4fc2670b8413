// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/resize.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/upsample_bicubic2d.h>

#include <algorithm>

namespace ordo {

namespace {
constexpr NamedValue kResizes[] = {{"extend", static_cast<int>(OnResize::extend)},
                                   {"interpolate", static_cast<int>(OnResize::interpolate)}};

bool same_width(const Tensor& fresh, const Tensor& saved) { return saved.dim() == 2 && saved.size(1) == fresh.size(1); }

PositionEncoding::Resized extended(const Tensor& fresh, const Tensor& saved) {
  const int64_t kept = std::min(fresh.size(0), saved.size(0)), missing = fresh.size(0) - kept;
  Tensor value = fresh.detach().clone();
  value.slice(0, 0, kept).copy_(saved.slice(0, 0, kept));
  return {value, missing > 0 ? fmt::format("{} rows kept, {} new", kept, missing)
                             : fmt::format("the first {} of {} rows kept", kept, saved.size(0))};
}
}  // namespace

const Names kOnResize = kResizes;

Tensor rows_between(const Tensor& table, const Tensor& places) {
  const Tensor low = places.floor().to(at::kLong), high = (low + 1).clamp_max(table.size(0) - 1);
  const Tensor share = (places - low).to(table.scalar_type()).unsqueeze(-1), below = at::embedding(table, low);
  return below + share * (at::embedding(table, high) - below);
}

namespace {
// [N, D] -> [rows, D], linear, the first and the last row staying the ends.
Tensor interpolate_rows(const Tensor& table, int64_t rows) {
  const auto last = static_cast<double>(table.size(0) - 1), steps = static_cast<double>(std::max<int64_t>(rows - 1, 1));
  const Tensor places = at::arange(rows, at::TensorOptions(at::kDouble).device(table.device())) * last / steps;
  return rows_between(table.to(accumulate_type(table.scalar_type())), places);
}
}  // namespace

Tensor interpolate_grid(const Tensor& table, const TableGrid& from, const TableGrid& to) {
  const Tensor image = table.to(accumulate_type(table.scalar_type())).t().reshape({1, -1, from.rows, from.columns});
  return at::upsample_bicubic2d(image, {to.rows, to.columns}, /*align_corners=*/false).flatten(2).squeeze(0).t();
}

std::optional<PositionEncoding::Resized> resized_rows(const Tensor& fresh, const Tensor& saved, OnResize how,
                                                      int64_t apart) {
  const at::NoGradGuard no_grad;
  if (!same_width(fresh, saved) || saved.size(0) <= apart || fresh.size(0) <= apart) return std::nullopt;
  if (saved.size(0) == fresh.size(0)) return std::nullopt;
  if (how == OnResize::extend) return extended(fresh, saved);
  const int64_t from = saved.size(0) - apart, to = fresh.size(0) - apart;
  const Tensor stretched = interpolate_rows(saved.slice(0, apart), to);
  return PositionEncoding::Resized{
      at::cat({saved.slice(0, 0, apart).to(stretched.scalar_type()), stretched}).to(fresh.options()),
      fmt::format("interpolated from {} to {} rows", from, to)};
}

std::optional<PositionEncoding::Resized> resized_grid(const Tensor& fresh, const Tensor& saved, const TableGrid& from,
                                                      const TableGrid& to, int64_t prefix) {
  const at::NoGradGuard no_grad;
  if (!same_width(fresh, saved) || saved.size(0) != prefix + from.size()) return std::nullopt;
  const Tensor stretched = interpolate_grid(saved.slice(0, prefix), from, to);
  return PositionEncoding::Resized{
      at::cat({saved.slice(0, 0, prefix).to(stretched.scalar_type()), stretched}).to(fresh.options()),
      fmt::format("interpolated from a grid of {} x {} to {} x {}{}", from.rows, from.columns, to.rows, to.columns,
                  prefix > 0 ? fmt::format(", {} rows before it kept", prefix) : "")};
}

}  // namespace ordo
