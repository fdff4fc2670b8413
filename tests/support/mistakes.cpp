// SPDX-License-Identifier: Apache-2.0
#include "support/mistakes.h"

#include "support/catch.h"

namespace ordo::test {

namespace {

// How the message names the place in a file of this name.
std::string shown_place(const std::string& file, const Mistake& mistake) {
  if (mistake.place == kCommandLine) return std::string(kCommandLine);
  return file + ":" + std::string(mistake.place) + (mistake.place.ends_with(':') ? "" : ":");
}

void check_says(const std::string& message, std::string_view part) {
  INFO("must say: " << part);
  CHECK(message.find(part) != std::string::npos);
}

}  // namespace

std::string with_mistake(std::string_view right, const Mistake& mistake) {
  if (mistake.found.empty()) return std::string(mistake.overrides.empty() ? mistake.replaced : right);
  std::string text(right);
  const size_t at = text.find(mistake.found);
  INFO("the right text has no: " << mistake.found);
  REQUIRE(at != std::string::npos);
  return text.replace(at, mistake.found.size(), mistake.replaced);
}

void check_refused(std::string_view right, std::span<const Mistake> mistakes, const Refusal& refusal) {
  CHECK(refusal(std::string(right), {}).empty());  // so that each refusal below is for its own mistake
  for (const auto& mistake : mistakes) {
    const std::string message = refusal(with_mistake(right, mistake), mistake.overrides);
    INFO("mistake: " << mistake.replaced << (mistake.overrides.empty() ? "" : mistake.overrides.front())
                     << "\nmessage: " << message);
    check_says(message, shown_place("wrong.yaml", mistake));
    for (const auto word : mistake.words) check_says(message, word);
  }
}

void check_exits(const Scratch& folder, std::string_view right, std::span<const Mistake> mistakes,
                 const Arguments& words) {
  constexpr size_t kSample = 9;  // each takes the program's start
  for (size_t i = 0; i < mistakes.size(); i += kSample) {
    const auto file = folder.write("wrong.yaml", with_mistake(right, mistakes[i])).string();
    Arguments all = words;
    all.push_back(file);
    all.insert(all.end(), mistakes[i].overrides.begin(), mistakes[i].overrides.end());
    const Outcome outcome = run_ordo(all, {.folder = folder.path()});
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find("error: ") == 0);
    check_says(outcome.err, shown_place(file, mistakes[i]));
  }
}

}  // namespace ordo::test
