// SPDX-License-Identifier: Apache-2.0
// What a call throws, as text to look into.
#pragma once
#include <string>
#include <string_view>

namespace ordo::test {

// The message of the E that `call` throws; an exception of another class passes through and fails the test.
template <class E, class Call>
std::string thrown(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace ordo::test
