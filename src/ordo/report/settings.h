// SPDX-License-Identifier: Apache-2.0
// What the runs of a study have in common, and what differs between them.
#pragma once
#include "ordo/report/arms.h"
#include "ordo/report/table.h"

namespace ordo::report {

ReportTable differing_table(const StudyReport& study, const Arms& arms);
ReportTable common_table(const StudyReport& study);
// Which seeds' runs began with equal weights and saw equal data, by checksums.
ReportTable pairing_table(const StudyReport& study, const Arms& arms);
std::string versions_text();

}  // namespace ordo::report
