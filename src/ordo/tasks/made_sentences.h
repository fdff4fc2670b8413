// SPDX-License-Identifier: Apache-2.0
// Sentences that are made, for trying a classification without files: who did something where. The class is that of who
// did it, a person or an animal, whichever of the two is named first; words that name somebody or a place are tagged.
//   anna was chased by a grey dog near the old mill -> animal
//   B-PER O O O O B-ANI I-ANI O O B-LOC I-LOC
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ordo/data/batch.h"

namespace ordo {

class Fields;

struct MadeSentencesConfig {
  int64_t sentences = 1000;  // of training
  int64_t held_out = 200;    // of validation and of test
};
void fields(Fields& f, MadeSentencesConfig& c);

struct MadeSentence {
  std::vector<std::string> words, tags;  // tags: BIO, of PER, ANI and LOC
  std::string did;                       // person | animal
};
// A function of seed, split and index alone.
MadeSentence made_sentence(uint64_t seed, Split split, uint64_t index);

}  // namespace ordo
