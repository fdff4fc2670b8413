// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/audio_classification.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/core/hash.h"
#include "ordo/data/audio_file.h"
#include "ordo/data/kept_files.h"
#include "ordo/data/labelled_files.h"
#include "ordo/data/name_pattern.h"
#include "ordo/data/text_file.h"

namespace ordo {

namespace {

constexpr const char* kClassName = "class";

const std::vector<fs::path>& sounds_of(const SoundDataConfig& c, Split split) {
  return split == Split::train ? c.train : split == Split::validation ? c.validation : c.test;
}

void check_sound_data(const SoundDataConfig& c) {
  require<ConfigError>(c.train.empty() == c.generate.has_value(),
                       "give one of task.data.train (sound files, or a folder of a folder for each class) and "
                       "task.data.generate");
  for (const Split split : kSplits)
    require<ConfigError>(!c.generate || sounds_of(c, split).empty(),
                         "task.data.generate makes {0} sounds of its own: leave task.data.{0} out", split_name(split));
  require<ConfigError>(!c.generate || c.on_bad_line == OnBadLine::stop,
                       "task.data.on_bad_line is of files, and the sounds are made: leave it out");
  require<ConfigError>(!c.generate || c.name.empty(),
                       "task.data.name reads the names of files, and the sounds are "
                       "made: leave it out");
  if (c.name.empty()) return;
  const auto names = NamePattern(c.name).names();
  require<ConfigError>(std::find(names.begin(), names.end(), kClassName) != names.end(),
                       "task.data.name ('{}') does not say where the class stands: {{class}}", c.name);
}

Tensor samples_at(int64_t rate, const fs::path& path) {
  const Audio audio = read_audio(path);
  try {
    return resampled(audio.samples, audio.sample_rate, rate);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

// Files whose names say what they are.
std::vector<SignalExample> named_sounds(const std::vector<fs::path>& paths, const std::string& pattern, BadLines& bad) {
  const NamePattern names(pattern);
  std::vector<SignalExample> all;
  int64_t number = 0;
  for (const auto& path : expand_paths(paths)) {
    std::error_code ignored;
    require<DataError>(!fs::is_directory(path, ignored), "{} is a folder; with task.data.name give its files: {}",
                       path.string(), (path / "*.wav").string());
    SignalExample sound{.signal = {}, .label = {}, .where = path.string(), .number = number++};
    bad.attempt([&] {
      sound.names = names.read(path);
      sound.label = sound.names.extract(kClassName).mapped();
      all.push_back(std::move(sound));
    });
  }
  return all;
}

// Files in folders that are called as their classes.
std::vector<SignalExample> foldered_sounds(const std::vector<fs::path>& folders) {
  std::vector<SignalExample> all;
  for (const auto& folder : folders) {
    const LabelledFiles files = labelled_files(folder);
    for (const auto& file : files.files)
      all.push_back({.signal = {},
                     .label = files.classes[static_cast<size_t>(file.label)],
                     .where = file.path.string(),
                     .number = std::ssize(all)});
  }
  return all;
}

}  // namespace

void fields(Fields& f, SoundDataConfig& c) {
  f("train", c.train,
    "folders that hold a folder of sound files for each class; with `name` sound files, of which patterns are "
    "expanded");
  f("validation", c.validation, "of the validation split");
  f("test", c.test, "of the test split");
  f("name", c.name,
    "what the names of files say, as in {class}_{speaker}_{take}: the class, and what task.split may divide by; "
    "absent: "
    "the class is the folder");
  f("on_bad_line", c.on_bad_line, "a file that cannot be read ends the run, or is left out and counted", kOnBadLine);
  f("generate", c.generate, "in place of files: tones that glide up or down");
}

void fields(Fields& f, AudioClassification::Config& c) {
  f("data", c.data, "sounds and their classes");
  fields(f, static_cast<SignalTaskConfig&>(c));
  f("features", c.features, "log-mel features that are made of the sounds");
  f("too_long", c.too_long, "a sound of more than train.length frames ends the run, or its end is cut", kTooLong);
  f("augment", c.augment, "what is blotted out of the sounds in training");
}

AudioClassification::AudioClassification(const Config& config, const TaskFacts& facts)
    : SignalTask(config, facts, settings_text(config)), config_(config) {
  check_sound_data(config_.data);
  require_split();
  for (const auto& why : contradictions(config_.features, "task.features")) throw ConfigError(why);
  const std::string why = contradiction(config_.augment, "task.augment");
  require<ConfigError>(why.empty(), "{}", why);
}

bool AudioClassification::gives(Split split) const { return makes() || !sounds_of(config_.data, split).empty(); }

std::vector<fs::path> AudioClassification::sources(Split split) const {
  const auto& paths = sounds_of(config_.data, split);
  return config_.data.name.empty() ? paths : expand_paths(paths);
}

std::vector<SignalExample> AudioClassification::read(Split split, BadLines& bad) const {
  const int64_t rate = config_.features.sample_rate;
  const LogMel features(config_.features);
  if (makes()) {
    auto made = made_tones(*config_.data.generate, rate, seed(), split);
    for (auto& sound : made) sound.signal = features(sound.signal).contiguous();
    return made;
  }
  const auto& paths = sounds_of(config_.data, split);
  auto named = config_.data.name.empty() ? foldered_sounds(paths) : named_sounds(paths, config_.data.name, bad);
  std::vector<SignalExample> all;
  std::set<std::string> labels;
  for (auto& sound : named) {
    labels.insert(sound.label);
    bad.attempt([&] {
      sound.signal = features(samples_at(rate, sound.where)).contiguous();
      all.push_back(std::move(sound));
    });
  }
  require_each_label(all, labels, bad);
  return all;
}

std::optional<std::string> AudioClassification::refuses_length(Split split, int64_t length) const {
  if (length < 1) return fmt::format("a sound has at least one frame: {} is no length", length);
  if (!has(split) || config_.too_long == TooLong::cut) return std::nullopt;
  const auto& sounds = all(split);
  const auto longest = std::max_element(
      sounds.begin(), sounds.end(), [](const auto& a, const auto& b) { return a.signal.size(0) < b.signal.size(0); });
  const int64_t frames = longest->signal.size(0);
  if (frames <= length) return std::nullopt;
  return fmt::format(
      "the longest sound of {} has {} frames ({}), and {} are allowed: give {} for train.length, or task.too_long: cut",
      split_name(split), frames, longest->where, length, frames);
}

std::optional<ClassTask::InputKind> AudioClassification::input_kind() const {
  return InputKind{.name = "a sound file", .is_file = true};
}

Tensor AudioClassification::read_input(const PredictorInput& input, int64_t length) const {
  Tensor made = LogMel(config_.features)(samples_at(config_.features.sample_rate, input.text)).contiguous();
  require<DataError>(config_.too_long == TooLong::cut || made.size(0) <= length,
                     "{}: the sound has {} frames, and the model was trained on {} at most: cut it, or give "
                     "task.too_long=cut",
                     input.where, made.size(0), length);
  return made;
}

std::string AudioClassification::sizes_text() const {
  std::vector<int64_t> frames;
  for (const auto& sound : all(Split::train)) frames.push_back(sound.signal.size(0));
  std::sort(frames.begin(), frames.end());
  return fmt::format("sounds of {} to {} frames of {} bands, half have {} at most", frames.front(), frames.back(),
                     config_.features.mels, frames[(frames.size() - 1) / 2]);
}

int64_t AudioClassification::length_of(const SignalExample& example, int64_t length) const {
  return std::min(example.signal.size(0), length);
}

Batch AudioClassification::side_by_side(std::span<const SignalExample* const> examples, int64_t length) const {
  const auto B = std::ssize(examples), F = config_.features.mels;
  int64_t T = 0;
  for (const auto* example : examples) T = std::max(T, length_of(*example, length));
  Batch batch;
  batch.signal = at::zeros({B, T, F}, at::kFloat);
  const Tensor keys = at::zeros({B, T}, at::kBool);
  for (int64_t row = 0; row < B; ++row) {
    const auto& example = *examples[static_cast<size_t>(row)];
    const int64_t frames = length_of(example, length);
    batch.signal[row].slice(0, 0, frames).copy_(standardised(example.signal.slice(0, 0, frames), 1));
    keys[row].slice(0, 0, frames).fill_(true);
  }
  batch.at = consecutive(0, T, at::kCPU);
  if (!keys.all().item<bool>()) batch.mask.keys = keys;
  return batch;
}

Batch AudioClassification::varied(const Batch& batch) const {
  if (!config_.augment.active()) return batch;
  Batch made = batch;
  made.signal =
      spec_augmented(batch.signal, batch.mask.keys, config_.augment, batch.draw.key(key_of(0, "task.augment")));
  return made;
}

}  // namespace ordo
