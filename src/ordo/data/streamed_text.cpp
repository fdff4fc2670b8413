// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/streamed_text.h"

#include <fstream>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "ordo/core/hash.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/data/text_blocks.h"
#include "ordo/data/text_file.h"
#include "ordo/data/token_file.h"

namespace ordo {

namespace {

int64_t count_in(const Json& state, const char* key, int64_t least) {
  const bool there =
      state.is_object() && state.contains(key) && state[key].is_number_integer() && state[key].get<int64_t>() >= least;
  require<CheckpointError>(there,
                           "the place in streamed text must be {{\"epoch\", \"file\", \"offset\", \"line\", "
                           "\"cursor\", \"block\", \"files\"}}, found {}",
                           json_line(state));
  return state[key].get<int64_t>();
}

class StreamedText final : public BatchStream {
 public:
  StreamedText(TextFiles files, std::shared_ptr<const Tokenizer> tokenizer, const TrainingWindows& windows)
      : files_(std::move(files)),
        fingerprint_(hash_text(fingerprint(files_))),
        tokenizer_(std::move(tokenizer)),
        windows_(windows),
        blocks_(files_, *tokenizer_, windows.seed) {
    windows_.sampling = Sampling::packed;
  }

  std::optional<Batch> next() override {
    if (!of_block_) open_block();
    auto batch = of_block_->next();
    leave_block_at_end();
    return batch;
  }
  Json state() const override {
    Json json = Json::object();
    json["epoch"] = place_.epoch;
    json["file"] = place_.file;
    json["offset"] = place_.at.offset;
    json["line"] = place_.at.line;
    json["cursor"] = of_block_ ? of_block_->state()["cursor"].get<int64_t>() : 0;
    json["block"] = of_block_ ? block_hash_ : "";
    json["files"] = fingerprint_;
    return json;
  }
  void restore(const Json& state) override;
  int64_t epoch() const override { return place_.epoch; }
  double batches_per_epoch() const override { return std::numeric_limits<double>::infinity(); }

 private:
  TextBlock take();
  void read_ahead();
  void drop_next();
  void enter(const TextBlock& block);
  void open_block();
  void leave_block_at_end();
  bool has_windows(const TextBlock& block) const {
    return (block.tokens.size() - 1) / windows_.length >= windows_.ranks.count;
  }

  TextFiles files_;
  std::string fingerprint_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  TrainingWindows windows_;
  TextBlocks blocks_;             // the reader's alone while it reads ahead
  std::future<TextBlock> ahead_;  // the block behind the one that is handed out; at its end it waits for the reader
  BlockPlace place_, end_;        // of the block that is handed out, or comes next
  std::string block_hash_;
  std::unique_ptr<BatchStream> of_block_;  // its windows, as the first epoch of a corpus; null: it is not read yet
};

void StreamedText::read_ahead() {
  ahead_ = std::async(std::launch::async, [this] { return blocks_.next(); });
}

void StreamedText::drop_next() {
  if (ahead_.valid()) ahead_.wait();
  ahead_ = {};
}

// After a failure it is tried again from the same place.
TextBlock StreamedText::take() {
  try {
    return ahead_.valid() ? ahead_.get() : blocks_.next();
  } catch (...) {
    blocks_.move_to(place_);
    throw;
  }
}

// Each block has an order of its own.
void StreamedText::enter(const TextBlock& block) {
  place_ = block.begin;
  end_ = block.end;
  block_hash_ = hash_text(block.tokens.fingerprint());
  TrainingWindows windows = windows_;
  for (const auto number : {static_cast<uint64_t>(place_.epoch), static_cast<uint64_t>(place_.file), place_.at.offset})
    windows.seed = mix(windows.seed, number);
  of_block_ = training_stream(std::make_shared<const TokenSequence>(block.tokens), windows);
  if (!block.left_out.empty()) log::warn("{}", block.left_out);
  read_ahead();
}

void StreamedText::open_block() {
  const int64_t begun = place_.epoch;
  while (true) {
    const TextBlock block = take();
    if (has_windows(block)) return enter(block);
    place_ = block.end;
    require<DataError>(place_.epoch < begun + 2,
                       "{}: no block of the training text has {} tokens, which windows of {} for {} process(es) need",
                       files_.paths.front().string(), windows_.length * windows_.ranks.count + 1, windows_.length,
                       windows_.ranks.count);
  }
}

void StreamedText::leave_block_at_end() {
  if (of_block_->epoch() == 0) return;
  of_block_.reset();
  place_ = end_;
}

void StreamedText::restore(const Json& state) {
  drop_next();
  of_block_.reset();
  place_ = {.epoch = count_in(state, "epoch", 0),
            .file = count_in(state, "file", 0),
            .at = {.offset = static_cast<uint64_t>(count_in(state, "offset", 0)), .line = count_in(state, "line", 1)}};
  const int64_t cursor = count_in(state, "cursor", 0);
  if (state.value("files", "") != fingerprint_) {
    place_ = {.epoch = place_.epoch};
    return blocks_.move_to(place_);
  }
  require<CheckpointError>(place_.file < std::ssize(files_.paths),
                           "the place in streamed text is file {} of {}: the data has changed", place_.file + 1,
                           files_.paths.size());
  blocks_.move_to(place_);
  if (cursor == 0) return;
  const TextBlock block = take();
  require<CheckpointError>(hash_text(block.tokens.fingerprint()) == state.value("block", "") && has_windows(block),
                           "the text where training is to go on (file {} of epoch {}, byte {}) is not what it was: the "
                           "file has changed. Give the same data, or start a new run",
                           place_.file + 1, place_.epoch, place_.at.offset);
  enter(block);
  Json place = Json::object();
  place["epoch"] = 0;
  place["cursor"] = cursor;
  of_block_->restore(place);
  leave_block_at_end();
}

// Bytes of a file as it is on disk, from `from` on: `size` of them, or what there are.
std::string part_of(const fs::path& path, uint64_t from, uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  file.seekg(static_cast<std::streamoff>(from)).read(bytes.data(), static_cast<std::streamsize>(size));
  require<DataError>(file.gcount() > 0, "cannot read {}", path.string());
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

}  // namespace

TextFiles checked_text_files(TextFiles files) {
  files.paths = expand_paths(files.paths);
  for (const auto& path : files.paths) {
    require<ConfigError>(!is_token_file(path),
                         "{} holds token ids, which are mapped and need no streaming: use task.sampling: packed",
                         path.string());
    require<ConfigError>(files.column.empty() || record_format(path, files.format) == RecordFormat::jsonl,
                         "{} is a table, which cannot be streamed: use JSON Lines, a text without task.data.column, or "
                         "task.sampling: packed",
                         path.string());
    require<DataError>(PackedReader::open(path)->file_size() > 0, "{} is empty", path.string());
  }
  return files;
}

uint64_t fingerprint(const TextFiles& files) {
  constexpr uint64_t kEnd = 64 << 10;
  uint64_t hash = key_of(key_of(files.block, "streamed text"), files.column);
  hash = mix(mix(hash, static_cast<uint64_t>(files.documents)), static_cast<uint64_t>(files.on_bad_line));
  for (const auto& path : files.paths) {
    const auto size = fs::file_size(path);
    hash = mix(key_of(hash, path.filename().string()), size);
    for (const uint64_t from : {uint64_t{0}, size > kEnd ? size - kEnd : 0}) {
      const std::string bytes = part_of(path, from, kEnd);
      hash = hash_bytes(bytes.data(), bytes.size(), hash);
    }
  }
  return hash;
}

std::string size_text(const TextFiles& files) {
  uint64_t size = 0;
  bool packed = false;
  for (const auto& path : files.paths) {
    size += fs::file_size(path);
    packed = packed || is_packed(path);
  }
  return fmt::format("{} file{}, {}{}", files.paths.size(), files.paths.size() == 1 ? "" : "s",
                     bytes_text(static_cast<double>(size)), packed ? " packed" : "");
}

std::unique_ptr<BatchStream> streamed_text(TextFiles files, std::shared_ptr<const Tokenizer> tokenizer,
                                           const TrainingWindows& windows) {
  return std::make_unique<StreamedText>(std::move(files), std::move(tokenizer), windows);
}

}  // namespace ordo
