// SPDX-License-Identifier: Apache-2.0
// What a certificate says: properties of an assembled model, each with what was expected, measured and allowed.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/core/json.h"

namespace ordo {

enum class Verdict { pass, fail, not_applicable };

struct Property {
  std::string name = {};
  bool expected = true;    // the property is to hold; false: it must not
  bool more_than = false;  // measured must lie above the limit; else at or below it
  std::optional<double> measured = {}, limit = {};
  Verdict verdict = Verdict::not_applicable;
  std::string why = {};
};

struct Certificate {
  std::string subject;                   // a config or a run, as the user named it
  std::vector<std::string> scaled = {};  // what was made smaller for the checks, and with which weights, in words
  std::vector<Property> properties = {};

  bool holds() const { return failed().empty(); }
  std::vector<std::string> failed() const;  // names
  // A table for people; its last line is "holds: …" or "DOES NOT HOLD: …".
  std::string text() const;
};

Json as_json(const Certificate& certificate);
// Writes <folder>/certificate.json whole or not at all, and returns its path.
fs::path write_certificate(const fs::path& folder, const Certificate& certificate);

}  // namespace ordo
