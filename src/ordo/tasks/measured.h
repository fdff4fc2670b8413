// SPDX-License-Identifier: Apache-2.0
// From metrics over examples (metrics/measure.h) to what an evaluation says of them.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ordo/metrics/measure.h"
#include "ordo/tasks/task.h"

namespace ordo {

// Adds the values of a metric. Those of single classes ("f1/spam") are told with options.details alone, and values that
// are undefined (NaN) not at all; `told`, where it is given, says of each name whether it is wanted. With
// options.details also their intervals, whose draws are the same for all models and all metrics of a split, and the
// metric's signature as a note.
using Told = std::function<bool(std::string_view name)>;
void measure(const ExampleMetric& metric, const StreamOptions& options, Evaluation& into, const Told& told = {});

// The intervals alone, of metrics that `into` has from sums of its own: they are not touched. The draws are those of
// measure().
void measure_intervals(const ExampleMetric& metric, Evaluation& into);

// A line of Evaluation.rows: {"example": 6, "from": "a.tsv: line 7", …}, then what the task says of it (an object),
// then the columns of each metric. What is not finite becomes null.
std::string example_line(uint64_t number, const std::string& from, const Json& told,
                         std::span<const ExampleMetric* const> metrics = {});

}  // namespace ordo
