// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/certified.h"

#include <algorithm>

#include "ordo/certify/certify.h"
#include "ordo/checkpoint/weights.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"

namespace ordo {

void require_certificate(const RunConfig& config, const TrainerParts& parts, int64_t step) {
  const ModelFacts facts = parts.task->complete(
      {.max_length = config.train.length, .seed = config.seed(), .trained_length = config.train.trained_length});
  const ConfigSubject subject(config.name, config.model, facts,
                              step > 0 ? copies_of(weights_of(*parts.model)) : NamedTensors());
  const Certificate certificate =
      certify(subject, parts.device, [](std::string_view name) { log::progress(fmt::format("certify: {}", name)); });
  log::progress("");
  std::string where;
  if (!parts.run.empty()) where = write_certificate(parts.run, certificate).string();
  std::vector<std::string> broken;
  for (const Property& p : certificate.properties)
    if (p.verdict == Verdict::fail) broken.push_back(fmt::format("{} ({})", p.name, p.why));
  require(broken.empty(), "train.certify: the certificate does not hold, so no step is made: {}{}", join(broken, "; "),
          where.empty() ? "" : "; see " + where);
  const auto passed = std::count_if(certificate.properties.begin(), certificate.properties.end(),
                                    [](const Property& p) { return p.verdict == Verdict::pass; });
  log::info("certificate: holds, {} properties{}", passed, where.empty() ? "" : ", " + where);
}

}  // namespace ordo
