// SPDX-License-Identifier: Apache-2.0
// From the last rows of a time series, train.length of them, to what comes: the next `horizon` rows, or the row some
// time ahead. Losses and errors are in standard units (of the training rows), over every window of a split.
//
// Channels are told apart (each a row of its own under the same weights, Nie et al. 2023), or stand side by side in one
// row (`joint`). `instance_norm` takes the context's own mean and deviation away and puts them back on what is told
// (Kim et al. 2022).
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ordo/tasks/forecast_data.h"
#include "ordo/tasks/task.h"

namespace ordo {

class ForecastRows;
class ForecastScores;

enum class ForecastLoss { mse, mae, huber };
enum class SeriesFeature { differences };

class Forecasting final : public Task {
 public:
  struct Config : ForecastSource {
    int64_t horizon = 1;
    std::optional<Quantity> ahead = {}, tolerance = {};
    bool joint = false, instance_norm = true, times = false;
    std::vector<SeriesFeature> features = {};
    ForecastLoss loss = ForecastLoss::mse;
    int64_t season = 0;
  };
  static constexpr std::string_view kKind = "forecasting", kSummary = "tell the next values of time series";
  Forecasting(const Config& config, const TaskFacts& facts);
  ModelFacts complete(ModelFacts facts) const override;
  std::optional<std::string> refuses(const Model& model) const override;
  std::unique_ptr<BatchStream> open(const StreamOptions& options) const override;
  bool has(Split split) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  bool draws_examples() const override { return config_.data.generate || config_.data.keep < 1.0; }
  // Throws ConfigError for label smoothing and z-loss: there are no classes.
  Loss loss(Model& model, const Batch& batch, const LossOptions& options) const override;
  // loss; mse, mae, smape, mase; and those of forecasts without a model (forecast_scores.h).
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;
  const Tokenizer* tokenizer() const override { return nullptr; }
  std::shared_ptr<const Predictor> predictor() const override;  // of files; of made series there is none
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> left_out(int64_t length) const override;

 private:
  using Windows = std::vector<ForecastWindow>;
  const ForecastData& data() const;                            // read when first needed
  const Windows& windows(Split split, int64_t context) const;  // likewise, and kept
  const Metrics& baselines(Split split, int64_t context) const;
  Tensor told(Model& model, const Batch& batch) const;  // [B, outputs], in standard units
  // told [B, outputs], fp64, of the rows from number `first` on.
  void judge(const Tensor& told, const ForecastRows& rows, uint64_t first, ForecastScores& scores) const;

  Config config_;
  TaskFacts facts_;
  ForecastAim aim_;
  mutable std::once_flag once_;
  mutable ForecastData data_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<Split, int64_t>, Windows> windows_;
  mutable std::map<std::pair<Split, int64_t>, Metrics> baselines_;
};
void fields(Fields& f, Forecasting::Config& c);

}  // namespace ordo
