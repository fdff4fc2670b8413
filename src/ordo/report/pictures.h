// SPDX-License-Identifier: Apache-2.0
// What the position encodings of a study do, as pictures: with first weights, from the resolved configs of its runs.
#pragma once
#include <string>
#include <vector>

#include "ordo/report/arms.h"
#include "ordo/views/svg.h"

namespace ordo::report {

struct EncodingPictures {
  std::string name;                // the arms that have it: "rope", "lr 0.001, lr 0.002"
  std::string title;               // "rope, theta 500000"
  std::vector<std::string> notes;  // what it does in words, or why there is no picture
  std::vector<Panel> panels;
};
struct AllPictures {
  std::vector<EncodingPictures> encodings;  // each different one once
  std::vector<Panel> together;              // scores of all over the distance
};
AllPictures encoding_pictures(const StudyReport& study, const Arms& arms);

}  // namespace ordo::report
