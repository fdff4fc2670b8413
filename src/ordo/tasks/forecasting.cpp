// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/forecasting.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/splits.h"
#include "ordo/data/time_stamps.h"
#include "ordo/tasks/forecast_predictor.h"
#include "ordo/tasks/forecast_rows.h"
#include "ordo/tasks/forecast_scores.h"

namespace ordo {

namespace {

constexpr NamedValue kForecastLosses[] = {{"mse", static_cast<int>(ForecastLoss::mse)},
                                          {"mae", static_cast<int>(ForecastLoss::mae)},
                                          {"huber", static_cast<int>(ForecastLoss::huber)}};
constexpr NamedValue kSeriesFeatures[] = {{"differences", static_cast<int>(SeriesFeature::differences)}};
constexpr std::string_view kDurationUnits[] = {"s", "min", "h", "days"};

double seconds_of(const Quantity& duration) {
  if (duration.unit == "min") return duration.value * 60.0;
  if (duration.unit == "h") return duration.value * 3600.0;
  return duration.value * (duration.unit == "days" ? 86400.0 : 1.0);
}

std::vector<std::string> forecast_contradictions(const Forecasting::Config& c) {
  std::vector<std::string> problems = contradictions(c.data, "task.data");
  const bool dated = !c.data.date.empty() || !c.data.events.empty() || c.data.generate;
  if (c.rows && c.shares) problems.emplace_back("task.rows and task.shares both divide the data: give one of them");
  if (c.shares && c.shares->validation + c.shares->test >= 1.0)
    problems.push_back(fmt::format("task.shares: validation ({}) and test ({}) leave nothing for training",
                                   c.shares->validation, c.shares->test));
  if (c.ahead.has_value() != c.tolerance.has_value())
    problems.emplace_back(
        "task.ahead (how long after the last row) and task.tolerance (how far a row may be from "
        "that) need each other: give both or neither");
  if (c.ahead && (c.horizon != 1 || c.season != 0))
    problems.emplace_back(
        "task.ahead asks for one row some time ahead, so that task.horizon and task.season, which "
        "count rows, have no meaning beside it: leave them out");
  if (!dated && (c.ahead || c.times))
    problems.push_back(fmt::format("task.{} needs time stamps: give task.data.date", c.ahead ? "ahead" : "times"));
  return problems;
}

// A context in units of its own mean and deviation, [B, 1, C], which are those of what is told of it too. All in fp64,
// in which the mean of a constant is that constant, and no square of a float goes beyond what a number holds.
struct InstanceScale {
  Tensor mean, deviation;
  Tensor scaled(const Tensor& x) const { return ((x.to(at::kDouble) - mean) / deviation).to(x.scalar_type()); }
  Tensor put_back(const Tensor& told) const { return (told.to(at::kDouble) * deviation + mean).to(at::kFloat); }
};

InstanceScale instance_scale(const Tensor& signal, const Tensor& keys) {
  constexpr double kLeast = 1e-5;  // of a variance, as in RevIN
  const Tensor x = signal.to(at::kDouble);
  const Tensor real = keys.defined() ? keys.unsqueeze(2).to(x.scalar_type()) : x.new_ones({1, x.size(1), 1});
  const Tensor count = real.sum(1, /*keepdim=*/true).clamp_min(1.0);
  const Tensor mean = (x * real).sum(1, /*keepdim=*/true) / count;
  const Tensor variance = ((x - mean).square() * real).sum(1, /*keepdim=*/true) / count;
  return {mean, (variance + kLeast).sqrt()};
}

// Changes since the step before, 0 for the first one, as channels behind the others.
Tensor with_differences(const Tensor& x) {
  const Tensor changes = x.slice(1, 1) - x.slice(1, 0, x.size(1) - 1);
  return at::cat({x, at::constant_pad_nd(changes, {0, 0, 1, 0})}, 2);
}

bool reads_times(Model& model) {
  const auto parts = model.position().parts();
  return std::any_of(parts.begin(), parts.end(), [](const auto* part) { return part->traits().takes_axes == 1; });
}

// Sum over the numbers that came: a missing one (NaN) asks for nothing.
Tensor summed_loss(const Tensor& told, const Tensor& targets, ForecastLoss kind) {
  const Tensor came = targets.to(told.scalar_type());
  const Tensor error = at::where(came.isnan(), 0.0, told - came);
  if (kind == ForecastLoss::mse) return error.square().sum();
  if (kind == ForecastLoss::mae) return error.abs().sum();
  return at::huber_loss(error, at::zeros_like(error), at::Reduction::Sum);
}

}  // namespace

void fields(Fields& f, Forecasting::Config& c) {
  f("data", c.data, "the series", required());
  f("rows", c.rows, "rows of training, validation and test, one after the other");
  f("shares", c.shares, "shares of each series for validation and test, in place of rows; neither: 0.1 and 0.2");
  f("scale", c.scale, "values minus the mean of the training rows, divided by their deviation, channel by channel");
  f("horizon", c.horizon, "the next rows that are told, all at once", within(1, 1 << 16));
  f("ahead", c.ahead, "in place of horizon: the row nearest to this long after the last one read", kDurationUnits,
    above(0.0));
  f("tolerance", c.tolerance, "how far from `ahead` a row may be to be asked for", kDurationUnits, at_least(0.0));
  f("joint", c.joint, "all channels in one row; else each is a row of its own");
  f("instance_norm", c.instance_norm, "take each context's mean and deviation away, and put them back on what is told");
  f("times", c.times, "give position encodings the time stamps, in seconds since 1970, in place of the count of rows");
  f("features", c.features, "further channels made of the values: their differences from row to row", kSeriesFeatures);
  f("loss", c.loss, "mean squared, mean absolute or Huber's (1964) error", kForecastLosses);
  f("season", c.season, "rows of a period, for the seasonal naive forecast beside every result; 0: there is none",
    within(0, 1 << 24));
}

Forecasting::Forecasting(const Config& config, const TaskFacts& facts) : config_(config), facts_(facts) {
  const auto problems = forecast_contradictions(config);
  require<ConfigError>(problems.empty(), "{}", join(problems, "\n"));
  aim_ = {.horizon = config.horizon,
          .ahead = config.ahead ? seconds_of(*config.ahead) : 0.0,
          .tolerance = config.tolerance ? seconds_of(*config.tolerance) : 0.0};
}

// ---- data ----

const ForecastData& Forecasting::data() const {
  std::call_once(once_, [this] { data_ = read_forecast_data(config_, facts_.seed); });
  return data_;
}

const Forecasting::Windows& Forecasting::windows(Split split, int64_t context) const {
  const ForecastData& all = data();
  const std::lock_guard lock(mutex_);
  const auto [place, fresh] = windows_.try_emplace({split, context});
  if (fresh) place->second = forecast_windows(all, aim_, split, context);
  return place->second;
}

const Metrics& Forecasting::baselines(Split split, int64_t context) const {
  const Windows& all = windows(split, context);
  const std::lock_guard lock(mutex_);
  const auto [place, fresh] = baselines_.try_emplace({split, context});
  if (fresh) place->second = baseline_metrics(data_, aim_, all, config_.season);
  return place->second;
}

bool Forecasting::has(Split split) const {
  if (split == Split::train) return true;
  if (config_.rows) return (split == Split::validation ? config_.rows->validation : config_.rows->test) > 0;
  const SplitShares shares = config_.shares.value_or(SplitShares{});
  return (split == Split::validation ? shares.validation : shares.test) > 0.0;
}

std::optional<std::string> Forecasting::refuses_length(Split split, int64_t length) const {
  if (config_.season > length)
    return fmt::format("task.season ({}) is longer than a context of {} rows, in which its rows are looked up",
                       config_.season, length);
  if (!has(split) || !windows(split, length).empty()) return std::nullopt;
  int64_t longest = 0;
  for (const auto& series : data().series) longest = std::max(longest, series.parts[static_cast<size_t>(split)].rows());
  if (aim_.ahead > 0.0)
    return fmt::format(
        "the {} split ({} rows at the most in one series) has no row {} s, give or take {} s, after a context of {}",
        split_name(split), longest, aim_.ahead, aim_.tolerance, length);
  return fmt::format(
      "the {} split has no window: {} rows at the most in one series, for a context (train.length) of {} rows and "
      "task.horizon {}",
      split_name(split), longest, length, aim_.horizon);
}

ModelFacts Forecasting::complete(ModelFacts facts) const {
  const int64_t channels = config_.joint ? data().channels() : 1;
  facts.vocab_size = 0;
  facts.outputs = aim_.steps() * channels;
  facts.pools = true;
  facts.signal = {.channels = channels * (1 + std::ssize(config_.features))};
  return facts;
}

std::optional<std::string> Forecasting::refuses(const Model& model) const {
  if (!model.reads_source()) return std::nullopt;
  return "forecasting tells all values at once, and an encoder-decoder answers in tokens; use model.kind: encoder or "
         "decoder";
}

std::unique_ptr<BatchStream> Forecasting::open(const StreamOptions& options) const {
  const auto refusal = refuses_length(options.split, options.length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  require<ConfigError>(options.training || options.stride == 0,
                       "forecasting is judged over all windows, one row after the other: leave the stride out");
  auto rows = std::make_shared<ForecastRows>(
      data(), aim_, windows(options.split, options.length),
      ForecastRows::Options{.context = options.length, .joint = config_.joint, .times = config_.times});
  return example_stream(
      std::move(rows),
      {.batch_size = options.batch_size, .training = options.training, .seed = options.seed, .ranks = options.ranks});
}

// ---- loss and judgement ----

Tensor Forecasting::told(Model& model, const Batch& batch) const {
  require<ConfigError>(!config_.times || reads_times(model),
                       "task.times: true gives the model time stamps, but no encoding of model.position reads any: "
                       "leave it out, or use time_sinusoidal, time_rope, time_decay, calendar or another of time");
  ModelInput in = input_of(batch);
  const int64_t B = in.signal.size(0), C = in.signal.size(2);
  const InstanceScale scale = instance_scale(in.signal, in.mask.keys);
  if (config_.instance_norm) in.signal = scale.scaled(in.signal);
  if (!config_.features.empty()) in.signal = with_differences(in.signal);
  const Tensor row = model.pooled(in);
  require<ConfigError>(row.size(1) == model.head().weight().size(1),
                       "a model that lays its tokens side by side (model.pool: flatten) reads contexts of train.length "
                       "alone, not of {} rows",
                       in.signal.size(1));
  const Tensor values = model.head().logits(row);
  if (!config_.instance_norm) return values;
  return scale.put_back(values.view({B, -1, C})).flatten(1);
}

Loss Forecasting::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  require<ConfigError>(options.smoothing == 0.0 && options.z_loss == 0.0,
                       "train.label_smoothing ({}) and train.z_loss ({}) are for classes, which forecasting has none "
                       "of: leave them out",
                       options.smoothing, options.z_loss);
  return {.sum = summed_loss(told(model, batch), batch.targets, config_.loss) * options.scale, .weight = batch.weight};
}

Evaluation Forecasting::evaluate(Model& model, const StreamOptions& options) const {
  ORDO_ASSERT(!model.is_training());
  StreamOptions whole = options;
  whole.training = false;
  whole.ranks = {};
  const c10::NoGradGuard no_gradients;
  const auto stream = open(whole);
  const Windows& all = windows(options.split, options.length);
  const ForecastRows names(data(), aim_, all, {.context = options.length, .joint = config_.joint});
  ForecastScores scores(data(), aim_, all, options.length, config_.season, options.details);
  double sum = 0.0, weight = 0.0;
  uint64_t number = 0;
  while (const auto batch = stream->next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    const Batch there = to_device(*batch, model.head().weight().device());
    const Tensor values = told(model, there).to(at::kDouble);
    sum += summed_loss(values, there.targets, config_.loss).item<double>();
    weight += there.weight;
    const Tensor here = values.to(at::kCPU).contiguous();
    judge(here, names, number, scores);
    number += static_cast<uint64_t>(here.size(0));
  }
  Evaluation made = scores.evaluation(options);
  made.metrics["loss"] = sum / weight;
  const Metrics& naive = baselines(options.split, options.length);
  made.metrics.insert(naive.begin(), naive.end());
  if (options.details) made.notes.push_back(baseline_sentence(naive, config_.season));
  if (options.details && !data().about.left_out.empty()) made.notes.push_back(data().about.left_out);
  return made;
}

// Row after row, of joint rows channel after channel.
void Forecasting::judge(const Tensor& told, const ForecastRows& rows, uint64_t first, ForecastScores& scores) const {
  const int64_t steps = aim_.steps(), joint = config_.joint ? data().channels() : 1;
  const auto values = told.accessor<double, 2>();
  std::vector<double> channel(static_cast<size_t>(steps));
  for (int64_t row = 0; row < told.size(0); ++row) {
    const uint64_t number = first + static_cast<uint64_t>(row);
    const auto [window, begin] = std::div(static_cast<int64_t>(number), rows.rows_a_window());
    for (int64_t c = 0; c < joint; ++c) {
      for (int64_t step = 0; step < steps; ++step) channel[static_cast<size_t>(step)] = values[row][step * joint + c];
      scores.add(static_cast<size_t>(window), begin + c, channel, rows, number);
    }
  }
}

std::shared_ptr<const Predictor> Forecasting::predictor() const {
  if (config_.data.generate) return nullptr;
  return std::make_shared<ForecastPredictor>(
      data(),
      ForecastPredictor::Options{.source = config_,
                                 .aim = aim_,
                                 .joint = config_.joint,
                                 .times = config_.times,
                                 .seed = facts_.seed,
                                 .tell = [this](Model& model, const Batch& batch) { return told(model, batch); }});
}

// ---- what it is ----

uint64_t Forecasting::fingerprint() const {
  uint64_t hash = key_of(0, join(data().about.channels, ","));
  for (const auto& series : data().series) {
    const auto rows = static_cast<size_t>(series.parts[static_cast<size_t>(Split::train)].end);
    const auto cells = rows * static_cast<size_t>(series.channels());
    hash = hash_bytes(series.data.values.data(), cells * sizeof(double), hash);
    hash = hash_bytes(series.data.times.data(), rows * sizeof(double), hash);
  }
  return hash;
}

std::vector<std::string> Forecasting::left_out(int64_t) const {
  if (data().about.left_out.empty()) return {};
  return {data().about.left_out};
}

std::vector<std::string> Forecasting::summary() const {
  constexpr size_t kShown = 10;
  const ForecastData& all = data();
  const auto& names = all.about.channels;
  const std::string shown = join(std::span(names).first(std::min(kShown, names.size())), ", ");
  std::vector<std::string> lines{fmt::format("{}: {} channel{} ({}{})", all.about.source, names.size(),
                                             names.size() == 1 ? "" : "s", shown, names.size() > kShown ? ", …" : "")};
  for (const auto& series : all.series) {
    const auto& times = series.data.times;
    std::string line = series.data.name.empty() ? "" : series.data.name + ": ";
    line += fmt::format("{} rows", series.data.rows());
    if (all.about.dated && !times.empty())
      line += fmt::format(" from {} to {}, {} apart in the median", moment_text(times.front()),
                          moment_text(times.back()), duration_text(series.step));
    for (const Split split : kSplits)
      line += fmt::format("; {} {}", split_name(split), series.parts[static_cast<size_t>(split)].rows());
    lines.push_back(std::move(line));
  }
  for (const auto& [count, what] : {std::pair{all.about.missing, "missing cells, which are never asked for"},
                                    std::pair{all.about.repeated, "rows of a moment that was there already, left out"},
                                    std::pair{all.about.thinned, "rows left out at random (task.data.keep)"}})
    if (count > 0) lines.push_back(fmt::format("{} {}", count, what));
  if (!all.about.left_out.empty()) lines.push_back(all.about.left_out);
  return lines;
}

}  // namespace ordo
