// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/up_down.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/tasks/rows.h"

namespace ordo {

namespace {

void check_places(const std::vector<int64_t>& places, std::string_view key) {
  const bool fine = places.empty() || (places.size() == 2 && 0 <= places[0] && places[0] <= places[1]);
  require<ConfigError>(fine,
                       "task.{} must be two steps, [first, last], counted from 0 and in order (or empty: wherever the "
                       "ramps fit), found [{}]",
                       key, fmt::join(places, ", "));
}

}  // namespace

void fields(Fields& f, UpDown::Config& c) {
  f("levels", c.levels, "prices are rounded to so many levels", within(4, 10000));
  f("ramp", c.ramp, "steps of both ramps together; even", within(4, 1 << 20));
  f("noise", c.noise, "levels that a price may lie off, to either side", within(0, 10000));
  f("places", c.places, "[first, last] step at which the ramps may begin; empty: wherever they fit", at_least(0));
  f("test_places", c.test_places, "the same for the series of the test; empty: as places", at_least(0));
  drawn_fields(f, c.drawn, Asks::label);
}

UpDown::UpDown(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::label, joined(numbered_symbols(config.levels), {"up_down", "down_up"})),
      config_(config) {
  require<ConfigError>(config.ramp % 2 == 0, "task.ramp ({}) must be even: one half rises, the other falls",
                       config.ramp);
  require<ConfigError>(2 * config.noise + 1 < config.levels,
                       "task.noise ({}) to either side leaves no room for a ramp in task.levels ({}); at most {}",
                       config.noise, config.levels, (config.levels - 2) / 2);
  check_places(config.places, "places");
  check_places(config.test_places, "test_places");
}

int64_t UpDown::asked_length(int64_t size) const {
  (void)size;
  return 1;
}

std::optional<std::string> UpDown::refuses_length(Split split, int64_t length) const {
  const auto& places = split == Split::test && !config_.test_places.empty() ? config_.test_places : config_.places;
  const int64_t needed = config_.ramp + (places.empty() ? 0 : places.back());
  if (length >= needed) return DrawnTask::refuses_length(split, length);
  return fmt::format("up_down has no series of length {}: ramps of {} that begin as late as task.{} says need {}",
                     length, config_.ramp, &places == &config_.test_places ? "test_places" : "places", needed);
}

Example UpDown::series(KeyedSequence& draw, int64_t size, const std::vector<int64_t>& places, bool rises_first) const {
  const int64_t half = config_.ramp / 2, low = config_.noise, high = config_.levels - 1 - config_.noise;
  const int64_t first = places.empty() ? 0 : places.front(),
                last = places.empty() ? size - config_.ramp : places.back();
  require<ConfigError>(last + config_.ramp <= size,
                       "ramps of {} steps from step {} on do not fit a series of {}: end task.places and "
                       "task.test_places at {}, or make the series at least {} long",
                       config_.ramp, last, size, size - config_.ramp, last + config_.ramp);
  const auto place = first + static_cast<int64_t>(draw.below(static_cast<uint64_t>(last - first) + 1));
  Example made{.given = std::vector<int64_t>(static_cast<size_t>(size), (low + high) / 2), .asked = {}};
  const auto ramps = made.given.begin() + place;
  for (int64_t i = 0; i < half; ++i) ramps[i] = ramps[config_.ramp - 1 - i] = low + (high - low) * i / (half - 1);
  for (auto& price : made.given)
    price += static_cast<int64_t>(draw.below(static_cast<uint64_t>(2 * config_.noise) + 1)) - config_.noise;
  // The halves change places with their noise, so that no price is lost.
  if (!rises_first) std::rotate(ramps, ramps + half, ramps + config_.ramp);
  made.asked = {config_.levels + (rises_first ? 0 : 1)};
  return made;
}

Example UpDown::example(KeyedSequence& draw, int64_t size) const {
  const bool rises_first = draw.below(2) == 0;
  return series(draw, size, config_.places, rises_first);
}

Example UpDown::twin(uint64_t key, uint64_t index, int64_t size, const std::vector<int64_t>& places) const {
  KeyedSequence draw(mix(key, index / 2));
  return series(draw, size, places, /*rises_first=*/index % 2 == 0);
}

Example UpDown::held_out(uint64_t key, uint64_t index, int64_t size) const {
  return twin(key, index, size, config_.places);
}

Example UpDown::held_out_example(Split split, uint64_t index, int64_t size) const {
  if (split != Split::test || config_.test_places.empty()) return DrawnTask::held_out_example(split, index, size);
  return twin(mix(key_of(seed(), "test places"), static_cast<uint64_t>(size)), index, size, config_.test_places);
}

}  // namespace ordo
