// SPDX-License-Identifier: Apache-2.0
// From what a study names freely to factors, settings and selections.
#pragma once
#include <string>
#include <vector>

#include "ordo/study/files.h"

namespace ordo {

// Reads vary, set, skip, only, tune.keys and the scalings of a study; what is wrong goes to files.read.
void read_factors(StudyConfig& study, StudyFiles& files);
// The settings that the command line gives to every run: those of its words that are no keys of a study.
bool sets_runs(const std::string& override);
void set_from_command_line(StudyConfig& study);

// Names of levels made from their values, the shortest that tell them apart: kinds, then settings that differ, then the
// whole value.
std::vector<std::string> value_names(const std::vector<const Node*>& values);

// Reads names of a factor's levels at `key` of the study, "!none" as all the others; names that it does not have go to
// the problems.
std::vector<std::string> read_levels(const Factor& factor, const std::vector<std::string>& names, const Source& at,
                                     Problems& problems);
// Of the form {FACTOR: LEVEL or [LEVEL, …]}; `factors` may hold the scalings as a factor of their own.
Selection read_selection(const Node& node, const std::vector<Factor>& factors, Problems& problems);
// The scalings, with the encoding as trained, as a factor; nothing when there are none.
std::optional<Factor> scaling_factor(const StudyConfig& study);
// The study's factors, and the scalings where there are some.
std::vector<Factor> all_factors(const StudyConfig& study);

}  // namespace ordo
