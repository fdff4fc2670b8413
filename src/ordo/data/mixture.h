// SPDX-License-Identifier: Apache-2.0
// Training data of several parts in given proportions, whatever the parts' sizes.
// An epoch has as many rows as the parts have together. Each part has a quota of them, its share by weight, the same in
// every epoch; the rows of a part are spread evenly over an epoch, as in Megatron-LM's blended data sets (Shoeybi et
// al. 2019), so that proportions hold in every stretch of it to within a few rows. A part is walked in passes, each in
// an order of its own: no row comes again before all others of the part were there. A part smaller than its quota is
// passed several times an epoch, a larger one is taken up where the epoch before left it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ordo {

struct MixedPart {
  std::string name;  // its entry in the list of training files: "wiki/*.txt"
  double weight = 1.0;
  int64_t count = 0;  // what it has: tokens, windows, examples
};

struct MixedRow {
  size_t part = 0;
  uint64_t pass = 0, index = 0;  // the row of the part, in that pass
};

// A pure function of (parts, seed, epoch, number), in memory of the parts' number.
class Mixture {
 public:
  // Weights above 0. Quotas are rounded by largest remainder, to at least one row. Throws DataError for a part that has
  // nothing.
  Mixture(const std::vector<MixedPart>& parts, uint64_t seed);
  int64_t rows() const { return static_cast<int64_t>(ends_.back()); }  // of an epoch
  int64_t quota(size_t part) const { return static_cast<int64_t>(ends_[part] - begin_of(part)); }
  MixedRow at(int64_t epoch, int64_t number) const;  // number in [0, rows)
  // From which a pass of a part draws what else it draws.
  uint64_t pass_key(size_t part, uint64_t pass) const;

 private:
  uint64_t begin_of(size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }
  std::vector<uint64_t> counts_, ends_;  // of each part: its rows; the sum of the quotas up to its own
  uint64_t seed_;
};

inline constexpr std::string_view kWeightsHelp =
    "one for each entry of the training files (a pattern is one): in these proportions they are read, small ones "
    "again and again; absent: all once an epoch";
// Why weights do not fit a list of so many training files; empty: they do, or there are none. Keys are named with
// `path` ("task.data") before them.
std::string wrong_weights(const std::vector<double>& weights, size_t entries, const std::string& path);
// Of data with these parts: with none the data's own, else another for other weights and counts.
uint64_t mixed_fingerprint(uint64_t data, const std::vector<MixedPart>& parts);
// A line for each part: what it has, its weight, and what becomes of it in an epoch. `unit`: "tokens".
std::vector<std::string> described(const std::vector<MixedPart>& parts, std::string_view unit);

}  // namespace ordo
