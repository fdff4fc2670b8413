// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/train/jsonl.h"
#include "train/sample.h"

namespace ordo::test {
namespace {
std::vector<Json> lines_of(const fs::path& file) {
  const std::string text = read_file(file);
  std::vector<Json> all;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    all.push_back(parse_json(text.substr(begin, end - begin), "a line"));
  return all;
}
}  // namespace

TEST_CASE("metrics.jsonl: the fields of train and eval lines, on the log's horizon, at the end and at skips",
          "[unit]") {
  const TemporaryFolder folder("jsonl");
  JsonLines lines(folder.path());
  RunConfig config;
  config.train.log_every = 10;
  lines.started(config, 0, 25);
  for (int64_t s = 1; s <= 25; ++s)
    lines.stepped({.step = s,
                   .tokens = 64 * s,
                   .step_tokens = 64,
                   .loss = s == 7 ? std::nan("") : 2.5,
                   .lr = 0.001,
                   .grad_norm = 0.9,
                   .skipped = s == 7,
                   .skipped_in_all = s < 7 ? 0 : 1});
  lines.evaluated(
      {.step = 25,
       .length = 64,
       .evaluation = {.metrics = {{"loss", 2.0}, {"perplexity", 7.4}}, .tokens = 10, .protocol = "non_overlapping"},
       .best = true});
  lines.evaluated({.step = 25, .length = 128, .refused = "too long"});
  const auto all = lines_of(folder.path() / kMetricsFile);
  REQUIRE(all.size() == 7);
  CHECK(all[0]["step"] == 1);  // the loss before any training
  CHECK(all[1]["step"] == 7);
  CHECK(all[1]["loss"].is_null());
  CHECK(all[1]["skipped"] == 1);
  CHECK(all[2]["step"] == 10);
  for (const char* key : {"kind", "step", "tokens", "loss", "lr", "grad_norm", "tokens_per_second", "seconds"})
    CHECK(all[2].contains(key));
  CHECK(all[4]["step"] == 25);
  CHECK(all[5]["kind"] == "eval");
  CHECK(all[5]["split"] == "validation");
  CHECK(all[5]["metrics"]["perplexity"] == 7.4);
  CHECK(all[6]["metrics"].is_null());
  CHECK(all[6]["refused"] == "too long");
}

TEST_CASE(
    "metrics.jsonl: a resume drops later lines, evaluations to be made again and one that was cut short, byte for byte",
    "[unit]") {
  const TemporaryFolder folder("trim");
  const fs::path file = folder.path() / kMetricsFile;
  const std::string good = "{\"kind\":\"train\",\"step\":1}\n{\"kind\":\"eval\",\"step\":2}\n";
  write_file(file, good + "{\"kind\":\"train\",\"step\":3}\n{\"kind\":\"train\",\"st");
  trim_metrics(file, 2);
  CHECK(read_file(file) == good);
  write_file(file, good + "{\"kind\":\"tr\n" + "{\"kind\":\"train\",\"step\":2}\n");
  trim_metrics(file, 2);
  CHECK(read_file(file) == good + "{\"kind\":\"train\",\"step\":2}\n");
  trim_metrics(file, 2, /*evaluated=*/1);
  CHECK(read_file(file) == "{\"kind\":\"train\",\"step\":1}\n{\"kind\":\"train\",\"step\":2}\n");
  CHECK_NOTHROW(trim_metrics(folder.path() / "absent.jsonl", 2));
}

}  // namespace ordo::test
