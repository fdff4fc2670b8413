// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/ter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/metrics/words.h"

namespace ordo {

namespace {

constexpr int64_t kLongestMove = 10, kFarthestMove = 50, kBandWidth = 25, kMoveCandidates = 1000;

enum class TerEdit { keep, replace, drop, insert, unknown };

// The edit distance from texts of one length to a reference, within a band around the diagonal, with its alignment.
class TerBand {
 public:
  TerBand(std::u32string_view reference, size_t length);
  int64_t distance(std::u32string_view text);
  // The edits that lead from the last text to the reference, first to last.
  std::vector<TerEdit> edits() const;

 private:
  struct Cell {
    int64_t cost;
    TerEdit edit;
  };
  static constexpr Cell kOutside{std::numeric_limits<int64_t>::max() / 2, TerEdit::unknown};
  void fill(size_t i);
  std::u32string_view reference_;
  double slope_;  // reference words a word of the text
  int64_t width_;
  std::u32string text_;                  // the rows up to the first word that differs are still right
  std::vector<std::vector<Cell>> rows_;  // [length + 1, reference + 1]; row 0 inserts the reference's beginning
};

TerBand::TerBand(std::u32string_view reference, size_t length)
    : reference_(reference),
      slope_(length == 0 ? 1.0 : static_cast<double>(reference.size()) / static_cast<double>(length)),
      // Wide enough for a row to overlap with the one before, however much longer the reference is.
      width_(kBandWidth < slope_ / 2 ? static_cast<int64_t>(std::ceil(slope_ / 2 + kBandWidth)) : kBandWidth),
      rows_(length + 1, std::vector<Cell>(reference.size() + 1, kOutside)) {
  for (size_t j = 0; j <= reference.size(); ++j) rows_[0][j] = {static_cast<int64_t>(j), TerEdit::insert};
}

void TerBand::fill(size_t i) {
  const auto columns = static_cast<int64_t>(reference_.size()) + 1;
  const auto diagonal = static_cast<int64_t>(std::floor(static_cast<double>(i) * slope_));
  const bool last = i + 1 == rows_.size();
  const auto begin = static_cast<size_t>(std::max<int64_t>(0, diagonal - width_));
  const auto end = static_cast<size_t>(last ? columns : std::min(columns, diagonal + width_));
  const std::vector<Cell>& above = rows_[i - 1];
  std::vector<Cell>& row = rows_[i];
  for (size_t j = begin; j < end; ++j) {
    Cell& cell = row[j] = kOutside;
    const auto offer = [&cell](int64_t cost, TerEdit edit) {
      if (cost < cell.cost) cell = {cost, edit};
    };
    // Of equal costs the first one offered stays: which one decides where moves may start.
    if (j > 0) {
      const bool same = text_[i - 1] == reference_[j - 1];
      offer(above[j - 1].cost + (same ? 0 : 1), same ? TerEdit::keep : TerEdit::replace);
    }
    offer(above[j].cost + 1, TerEdit::drop);
    if (j > 0) offer(row[j - 1].cost + 1, TerEdit::insert);
  }
}

int64_t TerBand::distance(std::u32string_view text) {
  ORDO_ASSERT(text.size() + 1 == rows_.size());
  const auto differs = std::mismatch(text.begin(), text.end(), text_.begin(), text_.end()).first;
  const auto known = static_cast<size_t>(differs - text.begin());
  text_ = text;
  for (size_t i = known + 1; i < rows_.size(); ++i) fill(i);
  return rows_.back().back().cost;
}

std::vector<TerEdit> TerBand::edits() const {
  std::vector<TerEdit> edits;
  size_t i = text_.size(), j = reference_.size();
  while (i > 0 || j > 0) {
    const TerEdit edit = rows_[i][j].edit;
    ORDO_ASSERT(edit != TerEdit::unknown);
    edits.push_back(edit);
    if (edit != TerEdit::insert) --i;
    if (edit != TerEdit::drop) --j;
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

struct TerAlignment {
  std::vector<int64_t> place;  // of each reference word the text's word it stands at; -1: before the first
  std::vector<bool> text_wrong, reference_wrong;
};

TerAlignment alignment_of(const std::vector<TerEdit>& edits) {
  TerAlignment made;
  int64_t at = -1;
  for (const TerEdit edit : edits) {
    const bool wrong = edit != TerEdit::keep;
    if (edit != TerEdit::insert) {
      ++at;
      made.text_wrong.push_back(wrong);
    }
    if (edit != TerEdit::drop) {
      made.place.push_back(at);
      made.reference_wrong.push_back(wrong);
    }
  }
  return made;
}

struct TerMove {
  int64_t saved = 0, length = 0, start = 0, target = 0;
  auto rank() const { return std::tuple(saved, length, -start, -target); }
};

// The text with the run of words at `start` taken out and put before the word `target`; within the run, after as many
// words behind it.
std::u32string moved(std::u32string_view text, const TerMove& move) {
  const auto start = static_cast<size_t>(move.start), length = static_cast<size_t>(move.length);
  const auto target = static_cast<size_t>(move.target);
  std::u32string made(text);
  const auto run = made.begin() + move.start;
  if (target < start) {
    std::rotate(made.begin() + move.target, run, run + move.length);
  } else {
    const size_t end = std::min(text.size(), target > start + length ? target : target + length);
    std::rotate(run, run + move.length, made.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return made;
}

// Looks for the move that brings a text nearest to its reference.
class TerMoves {
 public:
  explicit TerMoves(std::u32string_view reference, size_t length) : reference_(reference), band_(reference, length) {}
  int64_t edits(std::u32string text);

 private:
  std::optional<TerMove> best_move(std::u32string_view text);
  bool worth_trying(const TerMove& run, int64_t reference_start, const TerAlignment& alignment) const;
  void try_targets(std::u32string_view text, TerMove run, int64_t reference_start, const TerAlignment& alignment);
  std::u32string_view reference_;
  TerBand band_;
  int64_t distance_ = 0;    // of the text as it is
  int64_t candidates_ = 0;  // tried so far, over all rounds
  std::optional<TerMove> best_;
};

// Only where both the words and the place they would go to are wrong, and not within the run itself.
bool TerMoves::worth_trying(const TerMove& run, int64_t reference_start, const TerAlignment& alignment) const {
  const auto any = [&run](const std::vector<bool>& wrong, int64_t from) {
    const auto first = wrong.begin() + from;
    return std::find(first, first + run.length, true) != first + run.length;
  };
  const int64_t place = alignment.place[static_cast<size_t>(reference_start)];
  const bool inside = run.start <= place && place < run.start + run.length;
  return any(alignment.text_wrong, run.start) && any(alignment.reference_wrong, reference_start) && !inside;
}

void TerMoves::try_targets(std::u32string_view text, TerMove run, int64_t reference_start,
                           const TerAlignment& alignment) {
  int64_t before = -1;
  for (int64_t offset = -1; offset < run.length; ++offset) {
    const int64_t beside = reference_start + offset;
    run.target = beside < 0 ? 0 : alignment.place[static_cast<size_t>(beside)] + 1;
    if (run.target == before) continue;
    before = run.target;
    run.saved = distance_ - band_.distance(moved(text, run));
    ++candidates_;
    if (!best_ || run.rank() > best_->rank()) best_ = run;
  }
}

std::optional<TerMove> TerMoves::best_move(std::u32string_view text) {
  distance_ = band_.distance(text);
  const TerAlignment alignment = alignment_of(band_.edits());
  best_.reset();
  const auto words = std::ssize(text), wanted = std::ssize(reference_);
  for (int64_t start = 0; start < words; ++start) {
    const int64_t first = std::max<int64_t>(0, start - kFarthestMove);
    const int64_t end = std::min(wanted, start + kFarthestMove + 1);
    for (int64_t at = first; at < end; ++at) {
      const int64_t longest = std::min({kLongestMove, words - start, wanted - at});
      for (TerMove run{.length = 1, .start = start}; run.length <= longest; ++run.length) {
        const auto last = static_cast<size_t>(run.length - 1);
        if (text[static_cast<size_t>(start) + last] != reference_[static_cast<size_t>(at) + last]) break;
        if (!worth_trying(run, at, alignment)) continue;
        try_targets(text, run, at, alignment);
        if (candidates_ >= kMoveCandidates) return best_;
      }
    }
  }
  return best_;
}

int64_t TerMoves::edits(std::u32string text) {
  int64_t moves = 0;
  for (;;) {
    const std::optional<TerMove> move = best_move(text);
    if (!move || move->saved <= 0 || candidates_ >= kMoveCandidates) break;
    text = moved(text, *move);
    ++moves;
  }
  return moves + band_.distance(text);
}

}  // namespace

Ter::Ter(bool case_sensitive) : TextMetric(2), case_sensitive_(case_sensitive) {}

std::vector<double> Ter::compare(std::string_view hypothesis, std::span<const std::string> references) const {
  WordNumbers numbers;
  const auto prepared = [&](std::string_view text) {
    return numbers(split_words(case_sensitive_ ? std::string(text) : lowered(text)));
  };
  const std::u32string text = prepared(hypothesis);
  int64_t fewest = std::numeric_limits<int64_t>::max();
  double words = 0.0;
  for (const std::string& reference : references) {
    const std::u32string wanted = prepared(reference);
    const int64_t edits = wanted.empty() ? std::ssize(text) : TerMoves(wanted, text.size()).edits(text);
    fewest = std::min(fewest, edits);
    words += static_cast<double>(wanted.size());
  }
  return {static_cast<double>(fewest), words / static_cast<double>(references.size())};
}

std::vector<double> Ter::scores(std::span<const double> sums) const {
  const double edits = sums[0], words = sums[1];
  if (words > 0.0) return {100.0 * edits / words};
  return {edits > 0.0 ? 100.0 : 0.0};
}

std::vector<double> Ter::example(int64_t i) const {
  const std::span<const double> sums = row(i);
  return {scores(sums).front(), sums[0], sums[1]};
}

std::string Ter::signature() const {
  return signed_as(fmt::format("case:{}|tok:tercom|norm:no|punct:yes|asian:no", case_sensitive_ ? "mixed" : "lc"));
}

}  // namespace ordo
