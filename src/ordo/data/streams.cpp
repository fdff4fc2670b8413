// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/streams.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "ordo/core/hash.h"
#include "ordo/ops/fused_loss.h"

namespace ordo {

namespace {

std::span<int64_t> row_of(const Tensor& t, size_t row) {
  const auto length = static_cast<size_t>(t.size(1));
  return {t.data_ptr<int64_t>() + row * length, length};
}

void require_sizes(int64_t batch_size, int64_t length) {
  require<ConfigError>(batch_size >= 1 && length >= 1,
                       "batches need a size and a length of at least 1, found {} and {}", batch_size, length);
}

Batch made(const BatchMaker& make, const TokenSequence& tokens, const std::vector<Window>& rows, int64_t epoch) {
  return make ? make(tokens, rows, epoch) : batch_of(tokens, rows);
}

// Where the windows of several parts begin.
class MixedWindows {
 public:
  explicit MixedWindows(const TrainingWindows& settings)
      : length_(static_cast<uint64_t>(settings.length)),
        parts_(settings.parts),
        mixture_(in_windows(settings), settings.seed) {
    for (const auto& part : parts_) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part.count);
  }
  int64_t count() const { return mixture_.rows(); }  // of an epoch
  int64_t tokens() const { return ends_.back(); }
  // Anywhere in the part whose turn it is. The last batch of an epoch goes beyond its windows.
  int64_t random_begin(int64_t number, uint64_t key) const {
    const size_t part = mixture_.at(/*epoch=*/0, number % count()).part;
    return begin_of(part, KeyedSequence(key).below(static_cast<uint64_t>(parts_[part].count) - length_));
  }
  int64_t packed_begin(int64_t epoch, int64_t number) const {
    const auto [part, pass, index] = mixture_.at(epoch, number);
    const uint64_t spare = (static_cast<uint64_t>(parts_[part].count) - 1) % length_;
    return begin_of(part, KeyedSequence(mixture_.pass_key(part, pass)).below(spare + 1) + length_ * index);
  }

 private:
  static std::vector<MixedPart> in_windows(const TrainingWindows& settings) {
    std::vector<MixedPart> parts = settings.parts;
    for (auto& part : parts) {
      require<DataError>(part.count > settings.length, "{} has {} training tokens; a window of {} needs at least {}",
                         part.name, part.count, settings.length, settings.length + 1);
      part.count = (part.count - 1) / settings.length;
    }
    return parts;
  }
  int64_t begin_of(size_t part, uint64_t offset) const {
    return (part == 0 ? 0 : ends_[part - 1]) + static_cast<int64_t>(offset);
  }
  uint64_t length_;
  std::vector<MixedPart> parts_;
  std::vector<int64_t> ends_;  // of each part in the sequence
  Mixture mixture_;
};

class TrainingStream final : public BatchStream {
 public:
  TrainingStream(std::shared_ptr<const TokenSequence> tokens, const TrainingWindows& settings)
      : tokens_(std::move(tokens)), settings_(settings) {
    require_sizes(settings_.batch_size, settings_.length);
    if (!settings_.parts.empty()) mixed_.emplace(settings_);
    ORDO_ASSERT(!mixed_ || mixed_->tokens() == tokens_->size());
    windows_ = mixed_ ? mixed_->count() : (tokens_->size() - 1) / settings_.length;
    require<DataError>(windows_ >= settings_.ranks.count,
                       "the training data has {} tokens; windows of {} for {} process(es) need at least {}",
                       tokens_->size(), settings_.length, settings_.ranks.count,
                       settings_.length * settings_.ranks.count + 1);
  }

  std::optional<Batch> next() override {
    std::vector<Window> rows;
    const auto [from, to] = share();
    for (int64_t i = from; i < to; ++i) rows.push_back(window(place_.epoch, i));
    const int64_t epoch = place_.epoch;
    advance();
    return made(settings_.make, *tokens_, rows, epoch);
  }
  Json state() const override { return place_.to_json(); }
  void restore(const Json& state) override {
    place_ = StreamPlace::from_json(state, windows_);
    if (left() < least()) place_ = {.epoch = place_.epoch + 1, .cursor = 0};
  }
  int64_t epoch() const override { return place_.epoch; }
  double batches_per_epoch() const override {
    const int64_t whole = windows_ / together(), rest = windows_ % together();
    return static_cast<double>(whole + (rest >= least() ? 1 : 0));
  }

 private:
  // Windows of one batch of all processes.
  int64_t together() const { return settings_.batch_size * settings_.ranks.count; }
  int64_t left() const { return windows_ - place_.cursor; }
  // The fewest windows that make a last batch: random windows are drawn as many as are needed.
  int64_t least() const { return settings_.sampling == Sampling::random ? 1 : settings_.ranks.count; }

  // The numbers of this process's windows in the next batch.
  std::pair<int64_t, int64_t> share() const {
    const auto [rank, count] = settings_.ranks;
    const int64_t rows = settings_.sampling == Sampling::random ? together() : std::min(left(), together());
    return {place_.cursor + rank * rows / count, place_.cursor + (rank + 1) * rows / count};
  }
  void advance() {
    place_.cursor += std::min(left(), together());
    if (left() < least()) place_ = {.epoch = place_.epoch + 1, .cursor = 0};
  }
  Window window(int64_t epoch, int64_t number) const {
    const int64_t begin = begin_of(epoch, number);
    return {.begin = begin, .end = begin + settings_.length, .judged = begin};
  }
  int64_t begin_of(int64_t epoch, int64_t number) const {
    const uint64_t key = mix(key_of(settings_.seed, "data order"), static_cast<uint64_t>(epoch));
    const auto i = static_cast<uint64_t>(number);
    const bool random = settings_.sampling == Sampling::random;
    if (mixed_) return random ? mixed_->random_begin(number, mix(key, i)) : mixed_->packed_begin(epoch, number);
    return static_cast<int64_t>(random ? random_begin(mix(key, i)) : packed_begin(key, i));
  }
  uint64_t random_begin(uint64_t key) const {
    return KeyedSequence(key).below(static_cast<uint64_t>(tokens_->size() - settings_.length));
  }
  uint64_t packed_begin(uint64_t key, uint64_t number) const {
    const auto length = static_cast<uint64_t>(settings_.length), windows = static_cast<uint64_t>(windows_);
    const uint64_t spare = static_cast<uint64_t>(tokens_->size()) - 1 - windows * length;
    return KeyedSequence(key).below(spare + 1) + length * KeyedPermutation(key, windows)(number);
  }

  std::shared_ptr<const TokenSequence> tokens_;
  TrainingWindows settings_;
  std::optional<MixedWindows> mixed_;  // of settings_.parts, if there are any
  int64_t windows_ = 0;                // of an epoch
  StreamPlace place_;
};

class ConsecutiveStream final : public BatchStream {
 public:
  ConsecutiveStream(std::shared_ptr<const TokenSequence> tokens, const TrainingWindows& settings)
      : tokens_(std::move(tokens)), settings_(settings), rows_(settings.batch_size * settings.ranks.count) {
    require_sizes(settings_.batch_size, settings_.length);
    steps_ = (tokens_->size() - 1) / (rows_ * settings_.length);
    require<DataError>(steps_ >= 1,
                       "the training data has {} tokens; {} rows that each read a part of it in windows of {} need at "
                       "least {}",
                       tokens_->size(), rows_, settings_.length, rows_ * settings_.length + 1);
  }

  std::optional<Batch> next() override {
    const int64_t step = place_.cursor / rows_;
    std::vector<Window> windows;
    for (int64_t row = 0; row < settings_.batch_size; ++row) {
      const int64_t part = settings_.ranks.rank * settings_.batch_size + row;
      const int64_t begin = start(place_.epoch) + (part * steps_ + step) * settings_.length;
      windows.push_back({.begin = begin, .end = begin + settings_.length, .judged = begin});
    }
    Batch batch = made(settings_.make, *tokens_, windows, place_.epoch);
    batch.continues = step > 0;
    advance();
    return batch;
  }
  Json state() const override { return place_.to_json(); }
  void restore(const Json& state) override {
    const StreamPlace place = StreamPlace::from_json(state, steps_ * rows_);
    require<CheckpointError>(place.cursor % rows_ == 0,
                             "the place in the data is window {} of an epoch, which {} rows that go on from batch to "
                             "batch never come to: the batch size has changed",
                             place.cursor, rows_);
    place_ = place;
    if (place_.cursor == steps_ * rows_) place_ = {.epoch = place_.epoch + 1, .cursor = 0};
  }
  int64_t epoch() const override { return place_.epoch; }
  double batches_per_epoch() const override { return static_cast<double>(steps_); }

 private:
  void advance() {
    place_.cursor += rows_;
    if (place_.cursor == steps_ * rows_) place_ = {.epoch = place_.epoch + 1, .cursor = 0};
  }
  int64_t start(int64_t epoch) const {
    const uint64_t key = mix(key_of(settings_.seed, "data order"), static_cast<uint64_t>(epoch));
    const int64_t spare = tokens_->size() - 1 - steps_ * rows_ * settings_.length;
    return static_cast<int64_t>(KeyedSequence(key).below(static_cast<uint64_t>(spare) + 1));
  }

  std::shared_ptr<const TokenSequence> tokens_;
  TrainingWindows settings_;
  int64_t rows_;       // of all processes
  int64_t steps_ = 0;  // of an epoch
  StreamPlace place_;
};

class EvaluationStream final : public WindowStream {
 public:
  EvaluationStream(std::shared_ptr<const TokenSequence> tokens, const EvaluationWindows& settings)
      : tokens_(std::move(tokens)), settings_(settings), inputs_(tokens_->size() - 1) {
    require_sizes(settings_.batch_size, settings_.length);
    require<DataError>(inputs_ >= 1,
                       "the data to evaluate on has {} token(s); two are needed, one to read and one to predict",
                       tokens_->size());
    require<ConfigError>(
        settings_.stride <= settings_.length,
        "a stride of {} skips tokens between windows of {}: evaluate.stride must be at most the length",
        settings_.stride, settings_.length);
    if (settings_.stride == 0) settings_.stride = settings_.length;
    const int64_t beyond = std::max<int64_t>(inputs_ - settings_.length, 0);
    windows_ = 1 + (beyond + settings_.stride - 1) / settings_.stride;
    whole_ = inputs_ - (windows_ - 1) * settings_.stride >= settings_.length ? windows_ : windows_ - 1;
    batches_ = (whole_ + settings_.batch_size - 1) / settings_.batch_size + (windows_ - whole_);
    place_.cursor = settings_.ranks.rank;
  }

  std::optional<Batch> next() override {
    if (place_.cursor >= batches_) return std::nullopt;
    const int64_t first = place_.cursor * settings_.batch_size;
    rows_.clear();
    if (first >= whole_)
      rows_.push_back(window(windows_ - 1));
    else
      for (int64_t i = first; i < std::min(first + settings_.batch_size, whole_); ++i) rows_.push_back(window(i));
    place_.cursor += settings_.ranks.count;
    return made(settings_.make, *tokens_, rows_, /*epoch=*/0);
  }
  const std::vector<Window>& windows() const override { return rows_; }
  Json state() const override { return place_.to_json(); }
  void restore(const Json& state) override { place_ = StreamPlace::from_json(state, batches_ + settings_.ranks.count); }
  int64_t epoch() const override { return 0; }
  double batches_per_epoch() const override {
    return static_cast<double>(batches_) / static_cast<double>(settings_.ranks.count);
  }

 private:
  Window window(int64_t number) const {
    const int64_t begin = number * settings_.stride;
    // Where the window before ended.
    const int64_t judged = number == 0 ? 0 : begin - settings_.stride + settings_.length;
    return {.begin = begin, .end = std::min(begin + settings_.length, inputs_), .judged = judged};
  }

  std::shared_ptr<const TokenSequence> tokens_;
  EvaluationWindows settings_;
  int64_t inputs_;  // tokens that have a next one
  int64_t windows_ = 0, whole_ = 0, batches_ = 0;
  StreamPlace place_;
  std::vector<Window> rows_;  // of the batch handed out last
};

class ReadingStream final : public WindowStream {
 public:
  ReadingStream(std::shared_ptr<const TokenSequence> tokens, int64_t length, const Ranks& ranks)
      : tokens_(std::move(tokens)) {
    require_sizes(1, length);
    const std::vector<int64_t>& borders = tokens_->borders();
    for (size_t d = static_cast<size_t>(ranks.rank); d + 1 < borders.size(); d += static_cast<size_t>(ranks.count)) {
      const int64_t begin = borders[d],
                    end = borders[d + 1] - 1;  // the last token has no next one
      for (int64_t at = begin; at < end; at += length)
        windows_.push_back({{.begin = at, .end = std::min(at + length, end), .judged = at}, at > begin});
    }
    require<DataError>(!windows_.empty() || ranks.count > 1,
                       "the data to evaluate on has no document of two tokens, one to read and one to predict");
  }

  std::optional<Batch> next() override {
    if (place_.cursor == std::ssize(windows_)) return std::nullopt;
    const auto& [window, continues] = windows_[static_cast<size_t>(place_.cursor++)];
    rows_ = {window};
    Batch batch = batch_of(*tokens_, rows_);
    batch.continues = continues;
    return batch;
  }
  const std::vector<Window>& windows() const override { return rows_; }
  Json state() const override { return place_.to_json(); }
  void restore(const Json& state) override { place_ = StreamPlace::from_json(state, std::ssize(windows_)); }
  int64_t epoch() const override { return 0; }
  double batches_per_epoch() const override { return static_cast<double>(windows_.size()); }

 private:
  std::shared_ptr<const TokenSequence> tokens_;
  std::vector<std::pair<Window, bool>> windows_;  // and whether it goes on from the one before
  StreamPlace place_;
  std::vector<Window> rows_;  // of the batch handed out last
};

}  // namespace

Json StreamPlace::to_json() const {
  Json json = Json::object();
  json["epoch"] = epoch;
  json["cursor"] = cursor;
  return json;
}

StreamPlace StreamPlace::from_json(const Json& json, int64_t most) {
  const auto count = [&](const char* key) {
    const bool there =
        json.is_object() && json.contains(key) && json[key].is_number_integer() && json[key].get<int64_t>() >= 0;
    require<CheckpointError>(
        there, "the place in the data must be {{\"epoch\": …, \"cursor\": …}} with counts, found {}", json_line(json));
    return json[key].get<int64_t>();
  };
  const StreamPlace place{.epoch = count("epoch"), .cursor = count("cursor")};
  require<CheckpointError>(
      place.cursor <= most,
      "the place in the data is window {} of an epoch, but an epoch has {}: the data or its length has changed",
      place.cursor, most);
  return place;
}

Batch batch_of(const TokenSequence& tokens, const std::vector<Window>& windows) {
  ORDO_ASSERT(!windows.empty());
  const int64_t rows = static_cast<int64_t>(windows.size()), length = windows[0].end - windows[0].begin;
  Batch batch{.ids = at::empty({rows, length}, at::kLong), .targets = at::empty({rows, length}, at::kLong)};
  const Tensor segments = at::empty({rows, length}, at::kLong);
  std::vector<int64_t> ids(static_cast<size_t>(length) + 1), documents(ids.size());
  bool crosses = false;
  for (size_t row = 0; row < windows.size(); ++row) {
    const auto& window = windows[row];
    tokens.read(window.begin, ids, documents);
    std::copy(ids.begin(), ids.end() - 1, row_of(batch.ids, row).begin());
    std::copy(documents.begin(), documents.end() - 1, row_of(segments, row).begin());
    const auto targets = row_of(batch.targets, row);
    for (size_t i = 0; i < targets.size(); ++i) {
      const bool counts = window.begin + static_cast<int64_t>(i) >= window.judged && documents[i] == documents[i + 1];
      targets[i] = counts ? ids[i + 1] : kIgnore;
      batch.weight += counts ? 1.0 : 0.0;
    }
    crosses = crosses || documents.front() != documents[documents.size() - 2];
    batch.examples.push_back(tokens.place(window.begin));
  }
  batch.at = crosses ? from_segments(segments) : consecutive(0, length, at::kCPU);
  if (crosses) batch.mask.q_segment = batch.mask.k_segment = segments;
  return batch;
}

std::unique_ptr<BatchStream> training_stream(std::shared_ptr<const TokenSequence> tokens,
                                             const TrainingWindows& windows) {
  ORDO_ASSERT(windows.sampling != Sampling::streamed);
  ORDO_ASSERT(windows.parts.empty() || windows.sampling != Sampling::consecutive);
  if (windows.sampling == Sampling::consecutive) return std::make_unique<ConsecutiveStream>(std::move(tokens), windows);
  return std::make_unique<TrainingStream>(std::move(tokens), windows);
}

std::unique_ptr<WindowStream> reading_stream(std::shared_ptr<const TokenSequence> tokens, int64_t length,
                                             const Ranks& ranks) {
  return std::make_unique<ReadingStream>(std::move(tokens), length, ranks);
}

std::unique_ptr<WindowStream> evaluation_stream(std::shared_ptr<const TokenSequence> tokens,
                                                const EvaluationWindows& windows) {
  return std::make_unique<EvaluationStream>(std::move(tokens), windows);
}

}  // namespace ordo
