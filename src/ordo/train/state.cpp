// SPDX-License-Identifier: Apache-2.0
// The training state as text: state.json of a checkpoint.
#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"
#include "ordo/train/trainer.h"

namespace ordo {

namespace {
Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> number_or_none(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<double>();
}

// The reverse of hash_text(); nothing for an empty text.
std::optional<uint64_t> hash_or_none(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return std::stoull(text.substr(text.find(':') + 1), nullptr, 16);
}

// The states of stream and scaler are JSON themselves, and stand as such in the file.
Json embedded(const std::string& text) {
  return text.empty() ? Json(nullptr) : parse_json(text, "part of the training state");
}
std::string extracted(const Json& value) { return value.is_null() ? std::string() : json_line(value); }

TrainState read_state(const Json& j) {
  TrainState s;
  s.step = j.at("step").get<int64_t>();
  s.tokens = j.at("tokens").get<int64_t>();
  s.updates = j.at("updates").get<int64_t>();
  s.skipped = j.at("skipped").get<int64_t>();
  s.evaluated = j.at("evaluated").get<int64_t>();
  s.best = number_or_none(j.at("best"));
  s.best_by = j.value("best_by", "");
  s.early_by = j.value("early_by", "");
  s.early_best = number_or_none(j.at("early_best"));
  s.without_improvement = j.at("without_improvement").get<int64_t>();
  s.data_fingerprint = j.at("data_fingerprint").get<std::string>();
  s.tokenizer_fingerprint = j.at("tokenizer_fingerprint").get<std::string>();
  s.data_order = hash_or_none(j.value("data_order", ""));
  s.data = extracted(j.at("data"));
  s.scaler = extracted(j.at("scaler"));
  return s;
}
}  // namespace

std::string state_text(const TrainState& s) {
  return json_text(Json{{"format", kCheckpointFormat},
                        {"step", s.step},
                        {"tokens", s.tokens},
                        {"updates", s.updates},
                        {"skipped", s.skipped},
                        {"evaluated", s.evaluated},
                        {"best", optional_number(s.best)},
                        {"best_by", s.best_by},
                        {"early_by", s.early_by},
                        {"early_best", optional_number(s.early_best)},
                        {"without_improvement", s.without_improvement},
                        {"data_fingerprint", s.data_fingerprint},
                        {"tokenizer_fingerprint", s.tokenizer_fingerprint},
                        {"data_order", s.data_order ? hash_text(*s.data_order) : ""},
                        {"data", embedded(s.data)},
                        {"scaler", embedded(s.scaler)}});
}

TrainState parse_state(const std::string& text, std::string_view what) {
  try {
    const Json j = parse_json(text, what);
    const auto format = j.at("format").get<int64_t>();
    require<CheckpointError>(format <= kCheckpointFormat,
                             "{} is of format {}, this program reads up to {}: use a newer ordo", what, format,
                             kCheckpointFormat);
    return read_state(j);
  } catch (const CheckpointError&) {
    throw;
  } catch (const std::exception& e) {
    throw CheckpointError(fmt::format("{} is not a training state: {}", what, e.what()));
  }
}

}  // namespace ordo
