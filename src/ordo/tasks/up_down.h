// SPDX-License-Identifier: Apache-2.0
// First up, then down, or first down, then up: a series of prices that lies flat but for two ramps, in noise, each
// price rounded to one of some levels. The two orders of the same ramps have the same prices in all, so that a reader
// that is blind to order can do no better than to guess; held-out series come as such twins. Validation has its ramps
// where training has them, the test where test_places says.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class UpDown final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t levels = 24;                    // prices are 0 … levels - 1; flat is the middle
    int64_t ramp = 16;                      // steps of both ramps together
    int64_t noise = 2;                      // levels that a price may lie off, to either side
    std::vector<int64_t> places = {};       // where the ramps may begin, [first, last]; empty: wherever they fit
    std::vector<int64_t> test_places = {};  // the same for the test series; empty: as in training
  };
  static constexpr std::string_view kKind = "up_down",
                                    kSummary = "prices that rise and then fall, or fall and then rise";
  UpDown(const Config& config, const TaskFacts& facts);
  std::string_view kind() const override { return kKind; }
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t twins() const override { return 2; }
  Example held_out(uint64_t key, uint64_t index, int64_t size) const override;
  Example held_out_example(Split split, uint64_t index, int64_t size) const override;
  int64_t asked_length(int64_t size) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  int64_t least_size() const override { return config_.ramp + (config_.places.empty() ? 0 : config_.places.back()); }

 private:
  // Throws ConfigError when ramps at these places do not fit.
  Example series(KeyedSequence& draw, int64_t size, const std::vector<int64_t>& places, bool rises_first) const;
  Example twin(uint64_t key, uint64_t index, int64_t size, const std::vector<int64_t>& places) const;
  Config config_;
};
void fields(Fields& f, UpDown::Config& c);

}  // namespace ordo
