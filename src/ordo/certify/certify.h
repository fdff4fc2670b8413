// SPDX-License-Identifier: Apache-2.0
// Proves properties of an assembled model by running it: what a position encoding must not break, whatever it is.
// What an encoding cannot have by its nature is found from what it declares (traits, refused lengths, frequencies that
// change with the length), never from its name.
#pragma once
#include <c10/core/Device.h>

#include <functional>
#include <string_view>
#include <vector>

#include "ordo/certify/certificate.h"
#include "ordo/certify/subject.h"

namespace ordo {

// `watch` is told each property before it is looked at.
Certificate certify(const Subject& subject, at::Device device, const std::function<void(std::string_view)>& watch = {});
// The names of the properties, in the order of a certificate.
std::vector<std::string_view> certified_properties();

}  // namespace ordo
