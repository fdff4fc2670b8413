// SPDX-License-Identifier: Apache-2.0
// What a calendar says of a time (UTC): second, minute, hour, day of the week … each scaled to [-0.5, 0.5], through a
// linear layer onto the input (Informer, Zhou et al. 2021; the features are GluonTS's). Times are seconds since 1970,
// in `coords`; without those, token i stands at start + i steps.
#pragma once
#include <string>
#include <vector>

#include "ordo/positions/encoding.h"

namespace ordo {

class Calendar final : public PositionEncoding {
 public:
  enum class Feature { second, minute, hour, day_of_week, day_of_month, day_of_year, week_of_year, month };
  enum class Frequency { second, minute, hour, day, week, month };
  struct Config {
    std::vector<Feature> features = {};       // empty: those of the frequency
    std::optional<Frequency> frequency = {};  // absent: an hour
    std::string start = "1970-01-01";
    double step = 0.0;  // seconds; 0: the frequency's
  };
  static constexpr std::string_view kKind = "calendar",
                                    kSummary = "hour, day of the week and their like, added to the input";
  Calendar(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override { return {.places = {.input = true}, .takes_axes = 1}; }
  Tensor input(const Tensor& x, const Positions& at) override;
  // Of times in seconds since 1970: fp64 [1|B, L] -> fp64 [1|B, L, F].
  Tensor features(const Tensor& seconds) const;

 private:
  std::vector<Feature> features_;
  double start_, step_;
  std::shared_ptr<Linear> project_;
};
void fields(Fields& f, Calendar::Config& c);

}  // namespace ordo
