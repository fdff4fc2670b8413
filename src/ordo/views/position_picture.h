// SPDX-License-Identifier: Apache-2.0
// Pictures, text and files of what position encodings do.
#pragma once
#include <string>
#include <vector>

#include "ordo/core/json.h"
#include "ordo/views/position_view.h"
#include "ordo/views/svg.h"

namespace ordo {

// `plain`: the same kind with its default settings, whose frequencies are drawn beside; may be null.
std::string position_picture(const PositionView& view, const PositionView* plain);
std::string comparison_picture(const std::vector<PositionView>& views);
// Panels for other pages: what is an encoding's own (tables, wavelengths, biases), and the scores between equal tokens
// of several, drawn over each other and as maps.
std::vector<Panel> position_panels(const PositionView& view, const PositionView* plain);
std::vector<Panel> comparison_panels(const std::vector<PositionView>& views);

std::string position_text(const PositionView& view);  // for a terminal; ends in a line break
std::string comparison_text(const std::vector<PositionView>& views);

// Everything but what is kept of every pair of positions; that stands in the tensors.
Json position_json(const PositionView& view);
NamedTensors position_tensors(const PositionView& view);

}  // namespace ordo
