// SPDX-License-Identifier: Apache-2.0
// Files that are right but for one mistake: each is refused at its place, in words that help.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/program.h"

namespace ordo::test {

inline constexpr std::string_view kCommandLine = "command line";

struct Mistake {
  std::string_view found, replaced;      // this part of the right text becomes that one; `found` empty: all of it
  std::string_view place;                // "line:column", "line:" for a place anywhere in it, or kCommandLine
  std::vector<std::string_view> words;   // what the message must say
  std::vector<std::string> overrides{};  // of the command line; with them an empty `found` leaves the text as it is
};
std::string with_mistake(std::string_view right, const Mistake& mistake);

// What is said of a text that stands in a file called wrong.yaml; "" when all is well.
using Refusal = std::function<std::string(const std::string& text, const std::vector<std::string>& overrides)>;
// The right text is not refused, and each mistake is, at its place.
void check_refused(std::string_view right, std::span<const Mistake> mistakes, const Refusal& refusal);

// The program is given every ninth mistake in `folder`, as `ordo WORDS FILE OVERRIDES`: it ends with exit 2, says the
// place on standard error and nothing on standard output.
void check_exits(const Scratch& folder, std::string_view right, std::span<const Mistake> mistakes,
                 const Arguments& words);

}  // namespace ordo::test
