// SPDX-License-Identifier: Apache-2.0
// What becomes of the cells of a series before anybody reads them.
#pragma once
#include "ordo/data/series.h"

namespace ordo {

// Fills missing cells (NaN), of which with MissingCells::stop there is none, and marks them. `where`: of the series,
// for messages. Throws DataError for a channel of which all are.
void fill_missing(Series& series, const std::vector<std::string>& channels, MissingCells how, const std::string& where);
bool takes_logarithm(SeriesValues values);
std::string no_logarithm(double value);  // why a value cannot be read then
// Logarithms and changes; a change is missing where one of its two values is, and takes the first row away.
void transform_values(Series& series, const std::vector<std::string>& channels, SeriesValues values,
                      const std::string& where);

}  // namespace ordo
