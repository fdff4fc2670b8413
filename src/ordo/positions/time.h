// SPDX-License-Identifier: Apache-2.0
// Times of tokens: the one axis of `coords` (fp64 seconds, or whatever unit the data has), else the index. What all
// encodings of time share.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

#include "ordo/config/fields.h"
#include "ordo/ops/sequence.h"

namespace ordo {

// Whether each token begins another document than the token before it: bool [1|B, L], the first column always. A
// document goes on as long as positions grow, moved ones too; a padding token is a document of its own.
Tensor document_begins(const Positions& at);
// The column at which each token's document starts, int64 [1|B, L]. A row that goes on from an earlier call starts at
// its first column.
Tensor document_starts(const Positions& at);
// The column at which it ends.
Tensor document_ends(const Positions& at);

// The length of a step, which all encodings of time have.
void unit_field(Fields& f, double& unit);
// Settings of encodings that count time from somewhere, in steps of some length.
struct ClockSettings {
  double unit = 1.0;
  std::optional<double> origin = {};
};
void fields(Fields& f, ClockSettings& c);
// (t - t0) / unit as fp64 [1|B, L], subtracted before anything is rounded; t0 is the origin, else the first time of the
// token's document (0 for the index). Throws ConfigError, "<kind>: …", for stamps of a row that goes on from an earlier
// call, whose first time is not known, when there is no origin.
Tensor clock_times(const Positions& at, const ClockSettings& clock, std::string_view kind);
// Refuses rows with stamps that go on from an earlier call.
void require_row_starts(const Positions& at, std::string_view kind, std::string_view advice);

// A range of time scales, in units: from one step to the whole span.
struct ScaleSettings {
  double step = 1.0, span = 0.0;
};
void fields(Fields& f, ScaleSettings& c);
// The span, max_length steps unless given. Throws ConfigError, "<kind>: …", when it is below the step.
double resolved_span(const ScaleSettings& scales, int64_t max_length, std::string_view kind);

}  // namespace ordo
