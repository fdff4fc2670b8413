// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/token_file.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"
#include "ordo/tokenizers/json_view.h"

namespace ordo {

namespace {

constexpr int64_t kTokenFileFormat = 1;
constexpr int64_t kMostIds = std::numeric_limits<int64_t>::max();

fs::path facts_path(fs::path path) { return path += ".json"; }

std::vector<int64_t> ends_of(const JsonView& list, int64_t tokens) {
  std::vector<int64_t> ends;
  for (const auto& item : list.items()) {
    ends.push_back(item.integer(1, tokens));
    item.require(ends.size() < 2 || ends.back() > ends[ends.size() - 2], "documents must end one behind the other");
  }
  list.require(!ends.empty() && ends.back() == tokens, "the last document must end at {}", tokens);
  return ends;
}

// What FILE.json says, held against the file.
TokenSequence with_documents(const std::shared_ptr<const TokenStore>& store, const fs::path& facts, int64_t vocab_size,
                             const Tokenizer* tokenizer) {
  const std::string name = facts.string();
  const Json content = parse_json_file(read_file(facts), name);
  const JsonView view(content, name);
  view.at("format").integer(1, kTokenFileFormat);
  view.at("vocab_size").integer(1, vocab_size);
  const int64_t tokens = view.at("tokens").integer(0, kMostIds);
  require<DataError>(
      tokens == store->size() && view.at("ids").text() == hash_text(store->fingerprint(0, store->size())),
      "{} is not of the token file beside it, which has other ids: make both anew (ordo data tokenize)", name);
  require<DataError>(tokenizer == nullptr || view.at("tokenizer").text() == hash_text(tokenizer->fingerprint()),
                     "{}: the ids were made by another tokenizer ({}) than the one given ({})", name,
                     view.at("kind").text(), tokenizer == nullptr ? "" : tokenizer->kind());
  TokenSequence sequence;
  int64_t begin = 0;
  for (const int64_t end : ends_of(view.at("documents"), tokens)) sequence.add(store, std::exchange(begin, end), end);
  return sequence;
}

}  // namespace

bool is_token_file(const fs::path& path) { return path.extension() == ".bin"; }

void write_token_file(const fs::path& path, const TokenSequence& tokens, const Tokenizer& tokenizer) {
  write_ids(path, tokens, tokenizer.vocab_size());
  const auto written = TokenStore::map(path, TokenType::uint32, tokenizer.vocab_size());
  const auto& borders = tokens.borders();
  const Json facts{{"format", kTokenFileFormat},
                   {"tokens", tokens.size()},
                   {"vocab_size", tokenizer.vocab_size()},
                   {"kind", tokenizer.kind()},
                   {"tokenizer", hash_text(tokenizer.fingerprint())},
                   {"ids", hash_text(written->fingerprint(0, written->size()))},
                   {"documents", std::vector<int64_t>(borders.begin() + 1, borders.end())}};
  write_file(facts_path(path), json_line(facts) + "\n");
}

TokenSequence read_token_file(const fs::path& path, TokenType raw, int64_t vocab_size, const Tokenizer* tokenizer) {
  const auto store = TokenStore::map(path, raw, vocab_size);
  std::error_code ignored;
  const fs::path facts = facts_path(path);
  if (fs::exists(facts, ignored)) return with_documents(store, facts, vocab_size, tokenizer);
  TokenSequence sequence;
  sequence.add(store, 0, store->size());
  return sequence;
}

}  // namespace ordo
