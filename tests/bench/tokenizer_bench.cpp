// SPDX-License-Identifier: Apache-2.0
// Times encoding and decoding on one core: each line of a text by itself, or the whole text at once. One JSON line per
// way: median and least megabytes (10^6 bytes of text) a second of processor time over the rounds.
//   bench_tokenizer tokenizer=FILE text=FILE [rounds=5] [megabytes=4]
// The text is repeated until there are so many megabytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "ordo/core/text.h"
#include "ordo/data/text_file.h"
#include "ordo/data/tokenizer.h"

namespace {

std::map<std::string, std::string> read_options(int count, char** words) {
  std::map<std::string, std::string> options{{"tokenizer", ""}, {"text", ""}, {"rounds", "5"}, {"megabytes", "4"}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const size_t equal = std::min(word.find('='), word.size());
    ordo::require<ordo::ConfigError>(options.contains(word.substr(0, equal)) && equal < word.size(),
                                     "unknown option '{}'", word);
    options[word.substr(0, equal)] = word.substr(equal + 1);
  }
  ordo::require<ordo::ConfigError>(!options["tokenizer"].empty() && !options["text"].empty(),
                                   "give tokenizer=FILE and text=FILE");
  return options;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class Work>
void measure(const char* what, double megabytes, int rounds, const Work& work) {
  std::vector<double> speeds;
  size_t tokens = 0;
  for (int i = 0; i < rounds; ++i) {
    const double begin = processor_seconds();
    tokens = work();
    speeds.push_back(megabytes / (processor_seconds() - begin));
  }
  std::sort(speeds.begin(), speeds.end());
  fmt::print(
      "{{\"what\": \"{}\", \"megabytes\": {:.2f}, \"tokens\": {}, \"mb_per_second\": {:.2f}, \"least\": {:.2f}}}\n",
      what, megabytes, tokens, speeds[speeds.size() / 2], speeds.front());
}

int run(int count, char** words) {
  auto options = read_options(count, words);
  const auto tokenizer = ordo::open_tokenizer(options["tokenizer"]);
  const std::string once = ordo::read_text(options["text"]);
  std::string text;
  while (static_cast<double>(text.size()) < std::stod(options["megabytes"]) * 1e6) text += once;
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  const int rounds = std::stoi(options["rounds"]);
  const auto lines = ordo::split(text, '\n');
  std::vector<int64_t> ids;
  measure("whole", megabytes, rounds, [&] { return (ids = tokenizer->encode(text)).size(); });
  measure("lines", megabytes, rounds, [&] {
    size_t tokens = 0;
    for (const auto& line : lines) tokens += tokenizer->encode(line).size();
    return tokens;
  });
  measure("decode", megabytes, rounds, [&] { return tokenizer->decode(ids).size(); });
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const ordo::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return error.exit_code();
  }
}
