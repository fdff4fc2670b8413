// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/beam.h"

#include <ATen/ops/log_softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/generate/processors.h"
#include "ordo/generate/prompts.h"
#include "ordo/generate/session.h"

namespace ordo {

namespace {

struct Hypothesis {
  std::vector<int64_t> text;  // prompt and new tokens
  double log_probability = 0.0;
  std::vector<double> coverage;  // of each token of the source the attention that it has had; empty: not watched
};

// A token after an open hypothesis, and the sum of log-probabilities with it.
struct Candidate {
  double sum;
  int64_t id;
  size_t parent;
};
bool better(const Candidate& a, const Candidate& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return a.id != b.id ? a.id < b.id : a.parent < b.parent;
}

// The search for the answers to one prompt.
class BeamSearch {
 public:
  BeamSearch(const Prompt& prompt, const GenerateConfig& config)
      : prompt_(prompt), config_(config), width_(static_cast<size_t>(config.beam.width)) {
    const bool covers = config.beam.coverage_penalty > 0.0;
    open_.push_back({.text = prompt.ids, .coverage = std::vector<double>(covers ? prompt.source.size() : 0)});
  }

  int64_t open() const { return static_cast<int64_t>(open_.size()); }
  // Of each open hypothesis: which of those before the last step it goes on from, and its newest token.
  const std::vector<size_t>& parents() const { return parents_; }
  int64_t newest(size_t hypothesis) const { return open_[hypothesis].text.back(); }

  // Of each open hypothesis in turn: log-probabilities of what may follow, and the attention with which it is chosen.
  struct Next {
    const double* log_probabilities;
    int64_t vocab_size;
    const double* looks = nullptr;  // null: not watched
    int64_t source_size = 0;        // of the longest
  };
  void step(const Next& given) {
    const auto& [log_probabilities, vocab_size, looks, source_size] = given;
    const auto best = candidates(log_probabilities, vocab_size);
    const auto before = std::exchange(open_, {});
    ++fresh_;
    parents_.clear();
    for (size_t rank = 0; rank < best.size(); ++rank) {
      const auto& [sum, id, parent] = best[rank];
      const bool stops = std::find(config_.stop.begin(), config_.stop.end(), id) != config_.stop.end();
      const bool last = fresh_ == config_.max_new_tokens;
      if (rank >= width_ && (stops || last)) continue;
      if (!stops && open_.size() == width_) continue;
      Hypothesis next{.text = before[parent].text, .log_probability = sum, .coverage = before[parent].coverage};
      for (size_t i = 0; i < next.coverage.size(); ++i)
        next.coverage[i] += looks[static_cast<int64_t>(parent) * source_size + static_cast<int64_t>(i)];
      if (!stops) next.text.push_back(id);
      if (stops || last) {
        end(next, stops, fresh_);
      } else {
        open_.push_back(std::move(next));
        parents_.push_back(parent);
      }
    }
    if (enough()) open_.clear();
  }

  std::vector<Answer> answers() && {
    ended_.resize(std::min(ended_.size(), static_cast<size_t>(std::max<int64_t>(config_.n_best, 1))));
    return std::move(ended_);
  }

 private:
  // Best first: so many that `width` of them are no stop ids. What nothing may follow ends here.
  std::vector<Candidate> candidates(const double* log_probabilities, int64_t vocab_size) {
    const size_t most = width_ * (1 + config_.stop.size());
    std::vector<Candidate> best;  // a heap whose front is the worst
    for (size_t parent = 0; parent < open_.size(); ++parent) {
      const double* const first = log_probabilities + static_cast<int64_t>(parent) * vocab_size;
      std::vector<double> scores(first, first + usable_ids(vocab_size, config_));
      require_usable(scores);
      restrict_choice(scores, {.text = open_[parent].text, .fresh = fresh_, .prefix = prompt_.prefix}, config_);
      if (nothing_left(scores)) end(open_[parent], false, std::max<int64_t>(fresh_, 1));
      for (size_t id = 0; id < scores.size(); ++id) {
        const Candidate one{open_[parent].log_probability + scores[id], static_cast<int64_t>(id), parent};
        if (scores[id] == kExcluded || (best.size() == most && !better(one, best.front()))) continue;
        if (best.size() == most) {
          std::pop_heap(best.begin(), best.end(), better);
          best.pop_back();
        }
        best.push_back(one);
        std::push_heap(best.begin(), best.end(), better);
      }
    }
    std::sort_heap(best.begin(), best.end(), better);
    return best;
  }

  double score(double log_probability, int64_t length) const {
    return log_probability / std::pow(static_cast<double>(length), config_.beam.length_penalty);
  }

  double coverage(const Hypothesis& hypothesis) const {
    double sum = 0.0;  // weights are fp32, below whose least number nothing is known
    for (const double had : hypothesis.coverage)
      sum += std::log(std::clamp(had, static_cast<double>(std::numeric_limits<float>::min()), 1.0));
    return config_.beam.coverage_penalty * sum;
  }

  void end(const Hypothesis& hypothesis, bool stopped, int64_t length) {
    const auto& text = hypothesis.text;
    Answer answer{.ids = {text.begin() + static_cast<std::ptrdiff_t>(prompt_.ids.size()), text.end()},
                  .log_probability = hypothesis.log_probability,
                  .score = score(hypothesis.log_probability, length) + coverage(hypothesis),
                  .ended = stopped};
    const auto place = std::upper_bound(ended_.begin(), ended_.end(), answer,
                                        [](const Answer& a, const Answer& b) { return a.score > b.score; });
    ended_.insert(place, std::move(answer));
    if (ended_.size() > width_) ended_.pop_back();
  }

  // Open hypotheses stand best first, and what follows can only lower their sums; what they have left out of the source
  // they may still come to, at best without any penalty.
  bool enough() const {
    if (open_.empty() || ended_.size() < width_) return false;
    if (config_.beam.stopping == Stopping::first) return true;
    if (config_.beam.stopping == Stopping::estimate)
      return std::all_of(open_.begin(), open_.end(), [&](const Hypothesis& one) {
        return score(one.log_probability, fresh_) + coverage(one) <= ended_.back().score;
      });
    const int64_t length = config_.beam.length_penalty > 0.0 ? config_.max_new_tokens : fresh_ + 1;
    return score(open_.front().log_probability, length) <= ended_.back().score;
  }

  const Prompt& prompt_;
  const GenerateConfig& config_;
  size_t width_;
  int64_t fresh_ = 0;             // new tokens of each open hypothesis
  std::vector<Hypothesis> open_;  // best first
  std::vector<size_t> parents_;
  std::vector<Answer> ended_;  // best first, at most `width`
};

// One step of all searches; `next` [open hypotheses, V]: the logits of what may follow. False: all have ended.
bool step_all(std::vector<BeamSearch>& searches, Session& session, Tensor& next) {
  const Tensor log_probabilities = at::log_softmax(next, 1).contiguous();
  const int64_t vocab_size = next.size(1);
  const Tensor& looks = session.source_weights();
  const int64_t source_size = looks.defined() ? looks.size(1) : 0;
  std::vector<int64_t> rows;
  TokenRows newest;
  int64_t first = 0;
  for (BeamSearch& search : searches) {
    const int64_t count = search.open();
    if (count == 0) continue;
    search.step({.log_probabilities = log_probabilities.const_data_ptr<double>() + first * vocab_size,
                 .vocab_size = vocab_size,
                 .looks = looks.defined() ? looks.const_data_ptr<double>() + first * source_size : nullptr,
                 .source_size = source_size});
    for (size_t i = 0; i < static_cast<size_t>(search.open()); ++i) {
      rows.push_back(first + static_cast<int64_t>(search.parents()[i]));
      newest.push_back({search.newest(i)});
    }
    first += count;
  }
  if (rows.empty()) return false;
  session.keep_rows(rows);
  next = session.append(newest);
  return true;
}

}  // namespace

Answers beam_search(const Ensemble& models, const std::vector<Prompt>& prompts, const GenerateConfig& config) {
  std::vector<BeamSearch> searches;
  TokenRows texts;
  for (const Prompt& prompt : prompts) {
    searches.emplace_back(prompt, config);
    texts.push_back(prompt.ids);
  }
  Session session(models, sources_of(prompts), config.beam.coverage_penalty > 0.0 ? Watch::source : Watch::nothing);
  Tensor next = session.append(texts);
  while (step_all(searches, session, next)) {
  }
  Answers answers;
  for (BeamSearch& search : searches) answers.push_back(std::move(search).answers());
  return answers;
}

}  // namespace ordo
