// SPDX-License-Identifier: Apache-2.0
// How a report looks: light and dark, on a telephone and on paper.
#pragma once
#include <string>

namespace ordo::report {

std::string style_sheet();

}  // namespace ordo::report
