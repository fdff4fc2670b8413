// SPDX-License-Identifier: Apache-2.0
// Of all ways to cut a text into pieces with scores the one whose sum is largest (Viterbi's method, as the unigram
// model of Kudo 2018 needs it). Of equal sums the one whose last piece begins earlier: such ties happen, so the type of
// the sums is a part of a tokenizer.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ordo/tokenizers/unicode.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

template <class Score>
class UnigramPaths {
 public:
  struct Cut {
    size_t from, to;  // bytes [from, to)
    int64_t id;       // a character that is no piece has that of `unknown`
  };
  void add(std::string_view piece, int64_t id, Score score) {
    tree_.add(piece, id);
    if (static_cast<size_t>(id) >= scores_.size()) scores_.resize(static_cast<size_t>(id) + 1);
    scores_[static_cast<size_t>(id)] = score;
  }
  void set_unknown(int64_t id, Score score) { unknown_ = id, unknown_score_ = score; }

  std::vector<Cut> cut(std::string_view text) const {
    const std::vector<Node> best = best_ways(text);
    std::vector<Cut> cuts;
    for (size_t end = text.size(); end > 0; end = cuts.back().from)
      cuts.push_back({end - best[end].length, end, best[end].id});
    std::reverse(cuts.begin(), cuts.end());
    return cuts;
  }

 private:
  struct Node {  // the best way to the bytes before it: there is one for every byte of a text, so they are small
    Score score = 0;
    int32_t id = 0;
    uint32_t length = 0;  // of the last piece; 0: no way leads here
  };
  static_assert(kMostTokens <= std::numeric_limits<int32_t>::max());

  std::vector<Node> best_ways(std::string_view text) const {
    std::vector<Node> best(text.size() + 1);
    size_t from = 0, reached = 0;
    each_character(text, [&](char32_t, std::string_view character) {
      keep_small(best, from, reached);
      const auto offer = [&](size_t end, int64_t id, Score score) {
        reached = std::max(reached, end);
        Node& node = best[end];
        const Score sum = score + best[from].score;
        if (node.length == 0 || sum > node.score)
          node = {sum, static_cast<int32_t>(id), static_cast<uint32_t>(end - from)};
      };
      const size_t next = from + character.size();
      bool single = false;
      tree_.prefixes(text, from, [&](size_t end, int64_t id) {
        offer(end, id, scores_[static_cast<size_t>(id)]);
        single = single || end == next;
      });
      if (!single) offer(next, unknown_, unknown_score_);
      from = next;
    });
    return best;
  }

  // A sum over a long text loses digits: all that are still looked at are brought back to zero now and then.
  static void keep_small(std::vector<Node>& best, size_t from, size_t reached) {
    constexpr Score kLarge = 100'000;
    const Score sum = best[from].score;
    if (sizeof(Score) > sizeof(float) || (sum >= -kLarge && sum <= kLarge)) return;
    for (size_t i = from; i <= reached; ++i)
      if (i == from || best[i].length != 0) best[i].score -= sum;
  }

  ByteTree tree_;
  std::vector<Score> scores_;  // by id
  int64_t unknown_ = -1;
  Score unknown_score_ = 0;
};

}  // namespace ordo
