// SPDX-License-Identifier: Apache-2.0
#include "support/goldens.h"

#include <ATen/ops/empty.h>

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "ordo/core/errors.h"

namespace ordo::test {

namespace fs = std::filesystem;

namespace {

std::string whole_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.good(), "goldens: cannot open {}", file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

at::ScalarType type_named(const std::string& name) {
  if (name == "F32") return at::kFloat;
  if (name == "F64") return at::kDouble;
  if (name == "BF16") return at::kBFloat16;
  if (name == "F16") return at::kHalf;
  if (name == "I64") return at::kLong;
  if (name == "I32") return at::kInt;
  if (name == "BOOL") return at::kBool;
  throw Error("goldens: unknown type " + name);
}

const char* elsewhere() {
  const char* other = std::getenv("ORDO_GOLDENS");
  return other == nullptr || *other == '\0' ? nullptr : other;
}

std::vector<GoldenCase> left_out(const std::string& set, std::string_view family) {
  fmt::print(stderr, "goldens: {} holds no {} of {}: left out\n", elsewhere(), set, family);
  return {};
}

// $ORDO_GOLDENS may hold the sets, or be the set.
fs::path goldens_folder(const std::string& set) {
  const char* other = elsewhere();
  if (other == nullptr) return fs::path(__FILE__).parent_path().parent_path() / "goldens" / set;
  return fs::exists(fs::path(other) / set / "manifest.json") ? fs::path(other) / set : fs::path(other);
}

}  // namespace

bool goldens_elsewhere() { return elsewhere() != nullptr; }

std::map<std::string, at::Tensor> read_golden_file(const fs::path& file) {
  const std::string bytes = whole_file(file);
  uint64_t header = 0;
  require(bytes.size() >= sizeof header, "goldens: {} is too short", file.string());
  std::memcpy(&header, bytes.data(), sizeof header);
  require(header <= bytes.size() - sizeof header, "goldens: the header of {} is cut off", file.string());
  const Json index = parse_json(std::string_view(bytes).substr(sizeof header, header), file.string());
  const char* data = bytes.data() + sizeof header + header;
  std::map<std::string, at::Tensor> all;
  for (const auto& [name, entry] : index.items()) {
    if (name == "__metadata__") continue;
    const auto shape = entry.at("shape").get<std::vector<int64_t>>();
    const auto span = entry.at("data_offsets").get<std::vector<size_t>>();
    at::Tensor t = at::empty(shape, type_named(entry.at("dtype")));
    require(span.size() == 2 && span[1] - span[0] == t.nbytes() && sizeof header + header + span[1] <= bytes.size(),
            "goldens: {} in {} does not fit its bytes", name, file.string());
    std::memcpy(t.mutable_data_ptr(), data + span[0], t.nbytes());
    all.emplace(name, std::move(t));
  }
  return all;
}

std::vector<std::string> GoldenCase::outputs() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entry_.at("tensors").items())
    if (entry.at("role") == "output") names.push_back(name);
  return names;
}

at::Tensor GoldenCase::tensor(const std::string& name) const {
  require(has(name), "goldens: {} has no tensor {}", id(), name);
  const std::string key = entry_.at("tensors").at(name).at("key");
  return read_golden_file(folder_ / entry_.at("file").get<std::string>()).at(key);
}

Tolerance GoldenCase::tolerance(const std::string& tensor) const {
  const Json& own = entry_.at("tensors").at(tensor);
  const Json& found = own.contains("tolerance") ? own.at("tolerance") : entry_.at("tolerance");
  return {found.at("atol").get<double>(), found.at("rtol").get<double>()};
}

std::vector<GoldenCase> goldens(const std::string& set, std::string_view family) {
  const fs::path folder = goldens_folder(set);
  if (elsewhere() && !fs::exists(folder / "manifest.json")) return left_out(set, family);
  const Json manifest = parse_json(whole_file(folder / "manifest.json"), (folder / "manifest.json").string());
  std::vector<GoldenCase> found;
  for (const Json& entry : manifest.at("cases"))
    if (entry.at("pe") == family) found.emplace_back(entry, folder);
  if (elsewhere() && found.empty()) return left_out(set, family);
  require(!found.empty(), "goldens: {} holds no case of {}", folder.string(), family);
  return found;
}

}  // namespace ordo::test
