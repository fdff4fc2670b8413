// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/token_file.h"

#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

std::shared_ptr<Tokenizer> kept_bytes() { return tokenizers().build("byte", {}); }

TokenSequence two_documents() {
  TokenSequence all;
  all.add(TokenStore::of("a", {72, 105, 10}, 256), 0, 3);
  all.add(TokenStore::of("b", {66, 121, 101, 33}, 256), 0, 4);
  return all;
}

}  // namespace

TEST_CASE("token files keep ids, documents and who made them; other programs read their header", "[unit]") {
  const Scratch scratch;
  const fs::path path = scratch / "a.bin";
  write_token_file(path, two_documents(), *kept_bytes());
  const TokenSequence read = read_token_file(path, TokenType::uint32, 256, kept_bytes().get());
  CHECK(read.documents() == 2);
  CHECK(read.borders() == two_documents().borders());
  CHECK(read.fingerprint() == two_documents().fingerprint());
  CHECK(fs::file_size(path) == 256 * 4 + 7 * 2);
  fs::remove(scratch / "a.bin.json");
  CHECK(read_token_file(path, TokenType::uint32, 256, nullptr).documents() == 1);
}

TEST_CASE("a token file that is not what stands beside it is refused", "[unit]") {
  const Scratch scratch;
  const fs::path path = scratch / "a.bin";
  const auto told = [&](const Tokenizer* tokenizer) {
    return thrown<DataError>([&] { read_token_file(path, TokenType::uint16, 256, tokenizer); });
  };
  write_token_file(path, two_documents(), *kept_bytes());
  const auto characters = tokenizers().build("char", {.text = [] { return std::string("abc"); }});
  CHECK(contains(told(characters.get()), "another tokenizer (byte) than the one given (char)"));
  std::string bytes = read_file(path);
  bytes[bytes.size() - 2] = 34;  // the low byte of the last id
  write_file(path, bytes);
  CHECK(contains(told(nullptr), "make both anew"));
  write_token_file(path, two_documents(), *kept_bytes());
  std::string facts = read_file(scratch / "a.bin.json");
  facts.replace(facts.find("[3,7]"), 5, "[7,3]");
  write_file(scratch / "a.bin.json", facts);
  CHECK(contains(told(nullptr), "a.bin.json: documents[1]"));
}

}  // namespace ordo::test
