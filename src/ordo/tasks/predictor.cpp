// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/predictor.h"

#include <cmath>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/data/table_file.h"

namespace ordo {

std::vector<float> listed_numbers(const PredictorInput& input, int64_t count) {
  std::vector<float> numbers;
  for (const auto& cell : split(input.text, ',')) {
    const auto number = finite_number(cell);
    require<DataError>(number.has_value(), "{}: expected numbers apart by commas, found '{}'", input.where, cell);
    const auto single = static_cast<float>(*number);
    require<DataError>(std::isfinite(single), "{}: {} is more than a model can read", input.where, cell);
    numbers.push_back(single);
  }
  require<DataError>(std::ssize(numbers) == count, "{}: expected {} numbers, as in training, found {}", input.where,
                     count, numbers.size());
  return numbers;
}

}  // namespace ordo
