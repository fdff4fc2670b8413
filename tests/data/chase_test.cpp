// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/chase.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace ordo::test {

namespace {

std::vector<std::string> sorted_words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::sort(words.begin(), words.end());
  return words;
}

std::shared_ptr<TextSource> chase(uint64_t seed, int64_t sentences, int64_t held_out) {
  auto config = std::make_shared<ChaseText::Config>();
  config->sentences = sentences;
  config->held_out = held_out;
  Choice<TextSource> choice("chase");
  choice.config = config;
  return text_sources().build(choice, {.seed = seed});
}

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

}  // namespace

TEST_CASE("chase: in every form the same words in another order have another outcome", "[unit]") {
  for (size_t form = 0; form < chase_forms(); ++form)
    for (size_t verb = 0; verb < 10; ++verb) {
      const ChaseEvent one{.verb = verb,
                           .form = form,
                           .place = 1,
                           .agent = "the cat",
                           .patient = "anna",
                           .agent_again = "the cat",
                           .patient_again = "anna"};
      const ChaseEvent other{.verb = verb,
                             .form = form,
                             .place = 1,
                             .agent = "anna",
                             .patient = "the cat",
                             .agent_again = "anna",
                             .patient_again = "the cat"};
      CAPTURE(chase_event(one), chase_event(other));
      CHECK(sorted_words(chase_event(one)) == sorted_words(chase_event(other)));
      CHECK(chase_event(one) != chase_event(other));
      CHECK(chase_outcome(one) != chase_outcome(other));
    }
}

TEST_CASE("chase: passive and active tell the same", "[unit]") {
  const ChaseEvent active{.verb = 0,
                          .form = 0,
                          .place = 0,
                          .agent = "the grey cat",
                          .patient = "anna",
                          .agent_again = "the cat",
                          .patient_again = "anna"};
  ChaseEvent passive = active;
  passive.form = 1;
  CHECK(chase_event(active) == "the grey cat chased anna past the old barn");
  CHECK(chase_event(passive) == "anna was chased by the grey cat past the old barn");
  CHECK(chase_outcome(active) == "so anna ran away from the cat");
  CHECK(chase_outcome(passive) == chase_outcome(active));
}

TEST_CASE("chase: a line is a function of its key and number alone", "[unit]") {
  const auto longer = chase(7, 50, 5)->text(Split::train), shorter = chase(7, 20, 9)->text(Split::train);
  CHECK(longer.substr(0, shorter.size()) == shorter);
  CHECK(chase_line(3, 4) == chase_line(3, 4));
  CHECK(chase(8, 50, 5)->text(Split::train) != longer);
}

TEST_CASE("chase: the two of a line are told apart by what the outcome calls them", "[unit]") {
  for (uint64_t index = 0; index < 3000; ++index) {
    const auto line = chase_line(1, index);
    auto words = sorted_words(line.substr(line.find(" . so ") + 3));
    words.erase(std::remove(words.begin(), words.end(), "the"), words.end());
    CAPTURE(line);
    CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
  }
}

TEST_CASE("chase: held-out lines are hardly ever training lines", "[unit]") {
  const auto source = chase(1, 5000, 1000);
  const auto train = lines_of(source->text(Split::train)), validation = lines_of(source->text(Split::validation)),
             test = lines_of(source->text(Split::test));
  std::vector<std::string> shared;
  std::set_intersection(train.begin(), train.end(), validation.begin(), validation.end(), std::back_inserter(shared));
  std::set_intersection(validation.begin(), validation.end(), test.begin(), test.end(), std::back_inserter(shared));
  CHECK(validation.size() > 990);
  CHECK(shared.size() <= 20);
}

TEST_CASE("chase: the default text has one to two megabytes of lower-case words, points and commas", "[unit]") {
  const auto text = text_sources().build("chase", {.seed = 1})->text(Split::train);
  CHECK(text.size() > 1'000'000);
  CHECK(text.size() < 2'500'000);
  CHECK(std::all_of(text.begin(), text.end(),
                    [](char c) { return (c >= 'a' && c <= 'z') || c == ' ' || c == '.' || c == ',' || c == '\n'; }));
}

}  // namespace ordo::test
