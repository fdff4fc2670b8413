// SPDX-License-Identifier: Apache-2.0
// A score bias from a formula in the config: "-a*log(1 + b*abs(i - j))" with learned parameters of its own. i and j are
// the positions of the query and the key, distance is i - j, h the head from 0 to H-1, and length the number of
// positions of the row (in a causal stack those that the query sees, i + 1, so that a cache changes nothing). A causal
// stack never looks ahead: keys behind the query count as if they stood at its place. A formula that surely depends on
// i - j alone has the cheap form by offset and counts as relative.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "ordo/positions/formula.h"
#include "ordo/positions/score_parts.h"

namespace ordo {

class Expression final : public PositionEncoding, public Resets {
 public:
  // One learned number a head; with a size, a table of so many numbers a head, used as name[row].
  struct Parameter {
    std::string name;
    int64_t size = 0;
    std::vector<double> init = {0.0};  // one for all; or one a head; of a table one a row
  };
  struct Config {
    std::vector<Parameter> parameters = {};
    bool shared = true;
    std::string bias = "-2^(-8*(h + 1)/H)*abs(i - j)";  // ALiBi
  };
  static constexpr std::string_view kKind = "expression",
                                    kSummary = "a score bias from a formula, with learned parameters of its own";
  // Refuses formulas whose bias, or a gradient of it, is not finite at some i and j up to max_length, and rows that a
  // table does not have.
  Expression(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.scores = true}, .relative = relative_, .unbounded = unbounded_};
  }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  struct Grid;
  struct Whole;
  struct ByOffset;
  struct ByPair;
  Tensor first_values(const Parameter& parameter) const;
  // What is wrong with the formula at the first values, for positions below `length`; nothing: all is well.
  std::optional<std::string> defect(int64_t length, bool ahead) const;
  std::optional<std::string> defect_of_gradient(const Grid& grid) const;
  // Looks at what was not looked at before.
  void require_sound(int64_t length, bool ahead) const;

  Config config_;
  Formula formula_;
  int64_t heads_;
  LayerSets sets_;
  bool relative_ = false, unbounded_ = true;
  // What was looked at and found well, whichever thread asked.
  struct Sound {
    std::mutex looking;
    int64_t below = 0;   // lengths up to it
    bool ahead = false;  // for keys behind the query too
  };
  mutable Sound sound_;
  std::vector<Tensor> parameters_;  // by their names: [H] or [H, size], led by [layers] unless shared
};
void fields(Fields& f, Expression::Parameter& c);
void fields(Fields& f, Expression::Config& c);

}  // namespace ordo
