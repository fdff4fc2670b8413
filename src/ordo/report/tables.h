// SPDX-License-Identifier: Apache-2.0
// The tables of a report. One without rows has nothing to say and is left out.
#pragma once
#include "ordo/report/arms.h"
#include "ordo/report/table.h"

namespace ordo::report {

ReportTable overview_table(const StudyReport& study, const Arms& arms);  // arms × lengths of the compared metric
// Every cell of a metric: n, mean ± half the interval, the interval, solved, every value, verdict.
ReportTable cells_table(const StudyReport& study, const Arms& arms, const std::string& metric);
ReportTable pairs_table(const StudyReport& study, const Arms& arms);
ReportTable curves_table(const StudyReport& study, const Arms& arms);  // area and first failing length
ReportTable ranks_table(const StudyReport& study);
ReportTable variance_table(const StudyReport& study, const Arms& arms);
ReportTable references_table(const StudyReport& study);
ReportTable cost_table(const StudyReport& study, const Arms& arms);
ReportTable tuning_table(const StudyReport& study);
ReportTable left_out_table(const StudyReport& study);
ReportTable runs_table(const StudyReport& study, const Arms& arms);

std::string run_link(const StudyReport& study, const std::string& run, const std::string& text,
                     const std::string& title = "");  // HTML

}  // namespace ordo::report
