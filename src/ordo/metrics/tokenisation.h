// SPDX-License-Identifier: Apache-2.0
// How a metric cuts a text into words. These decide the value: BLEU of one system under two tokenisations may differ by
// more than two systems do (Post 2018), so they are those of the reference implementations, their oddities included.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ordo {

enum class Tokenisation {
  none,        // split at white space
  western,     // "13a", of mteval-v13a.pl as sacreBLEU has it: ASCII punctuation apart, . and , but within numbers
  characters,  // "char": every character but white space
  chinese,     // "zh" of sacreBLEU: Chinese characters and full-width forms one by one, the rest as western
  rouge,       // of rouge-score: lower case, then the runs of a-z and 0-9; there is nothing else, no é and no 中
};
std::string_view tokenisation_name(Tokenisation kind);  // none | 13a | char | zh | rouge
std::vector<std::string> tokenised(std::string_view text, Tokenisation kind);

}  // namespace ordo
