// SPDX-License-Identifier: Apache-2.0
// Ids and texts of Hugging Face's tokenizers and of SentencePiece, over the same strings.
#include "support/catch.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/tokenizers/hf_pipeline.h"
#include "ordo/tokenizers/sentencepiece_model.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

fs::path golden_folder() {
  const char* const elsewhere = std::getenv("ORDO_GOLDENS");
  return (elsewhere != nullptr ? fs::path(elsewhere) : fs::path(ORDO_SOURCE_DIR) / "tests/goldens") / "tokenizers";
}

std::vector<Json> rows_of(const fs::path& folder) {
  std::vector<Json> rows;
  std::ifstream file(folder / "golden.jsonl");
  for (std::string line; std::getline(file, line);) rows.push_back(parse_json(line, folder.string()));
  return rows;
}

void check_hf(const HfPipeline& tokenizer, const Json& row) {
  const std::string text = row["text"];
  const Ids with_special = row["ids_with_special"];
  if (row.contains("pair")) {
    const Encoded both = tokenizer.encode_special(text, row["pair"].get<std::string>());
    CHECK(both.ids == with_special);
    CHECK(both.types == row["type_ids"].get<Ids>());
    return;
  }
  const Ids ids = row["ids"];
  CHECK(tokenizer.encode(text) == ids);
  CHECK(tokenizer.decode(ids) == row["decoded"].get<std::string>());
  CHECK(tokenizer.encode_special(text, {}).ids == with_special);
  Ids kept = with_special;
  std::erase_if(kept, [&](int64_t id) { return tokenizer.is_special(id); });
  CHECK(tokenizer.decode(kept) == row["decoded_skip_special"].get<std::string>());
}

}  // namespace

TEST_CASE("tokenizer.json: ids and texts are those of Hugging Face's library, to the last", "[golden]") {
  size_t rows = 0;
  for (const auto& entry : fs::directory_iterator(golden_folder())) {
    if (!fs::exists(entry.path() / "tokenizer.json")) continue;
    const HfPipeline tokenizer(read_file(entry.path() / "tokenizer.json"), entry.path().string());
    for (const Json& row : rows_of(entry.path())) {
      CAPTURE(entry.path().filename().string(), row["text"].get<std::string>());
      check_hf(tokenizer, row);
      ++rows;
    }
  }
  CHECK(rows >= 401);
}

TEST_CASE("sentencepiece: ids and texts are those of its newer releases, to the last", "[golden]") {
  size_t rows = 0;
  for (const auto& entry : fs::directory_iterator(golden_folder())) {
    const fs::path folder = entry.path();
    const fs::path file = fs::exists(folder / "spm.model") ? folder / "spm.model" : folder / "tokenizer.model";
    if (!fs::exists(file)) continue;
    const SentencepieceModel model(read_file(file), file.string());
    for (const Json& row : rows_of(folder)) {
      CAPTURE(folder.filename().string(), row["text"].get<std::string>());
      CHECK(model.encode(row["text"].get<std::string>()) == row["ids"].get<Ids>());
      CHECK(model.decode(row["ids"].get<Ids>()) == row["decoded"].get<std::string>());
      ++rows;
    }
  }
  CHECK(rows >= 400);
}

}  // namespace ordo::test
