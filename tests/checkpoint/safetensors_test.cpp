// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/checkpoint/safetensors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <sys/stat.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/core/json.h"
#include "support/devices.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

using at::Tensor;

const std::map<std::string, std::string> kNoMetadata;

std::string opened(const fs::path& path) {
  return thrown<CheckpointError>([&] { SafetensorsFile file(path); });
}

// The bytes of a file: the length, the header, the data.
std::string file_bytes(const std::string& header, const std::string& data) {
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return bytes + header + data;
}

// tests/goldens, or what ORDO_GOLDENS names; empty when there is none.
fs::path golden_folder() {
  const char* other = std::getenv("ORDO_GOLDENS");
  const fs::path folder =
      (other != nullptr && *other != '\0' ? fs::path(other) : fs::path(ORDO_SOURCE_DIR) / "tests" / "goldens") /
      "safetensors";
  return fs::exists(folder / "manifest.json") ? folder : fs::path();
}

NamedTensors one_of_each_type() {
  NamedTensors tensors;
  for (const auto type :
       {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf, at::kLong, at::kInt, at::kShort, at::kChar, at::kByte,
        at::kBool, at::kUInt16, at::kUInt32, at::kUInt64, at::kComplexFloat, at::kFloat8_e5m2, at::kFloat8_e4m3fn})
    tensors.emplace_back(std::string("a.") + c10::toString(type), at::arange(6).view({2, 3}).to(type));
  return tensors;
}

}  // namespace

TEST_CASE("safetensors: verdicts and values are those of the reference library", "[golden][safetensors]") {
  const fs::path folder = golden_folder();
  if (folder.empty()) {
    WARN("skipped: ORDO_GOLDENS has no safetensors/");
    return;
  }
  const Json manifest = parse_json(read_file(folder / "manifest.json"), "manifest.json");
  for (const auto& [name, entry] : manifest.at("cases").items()) {
    const fs::path path = folder / (name + ".safetensors");
    INFO(name << ": " << entry.at("why"));
    if (!entry.at("accepted").get<bool>()) {
      CHECK(contains(opened(path), path.string()));
      continue;
    }
    const SafetensorsFile file(path);
    CHECK(file.tensors().size() == entry.at("tensors").size());
    CHECK(file.metadata().size() == (entry.at("metadata").is_null() ? 0 : entry.at("metadata").size()));
    for (const auto& [key, expected] : entry.at("tensors").items()) {
      const Tensor tensor = file.tensor(key);
      CHECK(tensor.sizes() == at::IntArrayRef(expected.at("shape").get<std::vector<int64_t>>()));
      std::vector<double> values;
      for (const Json& value : expected.at("values"))
        values.push_back(value.is_boolean() ? value.get<bool>() : value.get<double>());
      CHECK(close(tensor.to(at::kDouble), at::tensor(values, at::kDouble).view(tensor.sizes()), Tolerance::exact));
    }
  }
}

TEST_CASE("safetensors: every type comes back to the bit", "[unit]") {
  const Scratch scratch;
  const NamedTensors tensors = one_of_each_type();
  write_safetensors(scratch / "all.safetensors", tensors, {{"format", "pt"}, {"k\"ey", "völlig\n"}});
  const SafetensorsFile file(scratch / "all.safetensors");
  CHECK(file.tensors().size() == tensors.size());
  CHECK(file.metadata().at("k\"ey") == "völlig\n");
  for (const auto& [name, tensor] : tensors) CHECK(same_bytes(file.tensor(name), tensor));
}

TEST_CASE("safetensors: odd shapes, views and names come back", "[unit]") {
  const Scratch scratch;
  const Tensor base = at::randn({4, 6});
  const NamedTensors tensors{{"scalar", at::tensor(2.5)},
                             {"empty", at::zeros({0, 7})},
                             {"across", base.t()},
                             {"größe/中 \"x\"\n", at::randn({3})},
                             {"", at::randn({2})},
                             {"flat.first", base.view({-1}).slice(0, 0, 5)},
                             {"flat.second", base.view({-1}).slice(0, 5, 9)}};
  write_safetensors(scratch / "odd.safetensors", tensors, kNoMetadata);
  const SafetensorsFile file(scratch / "odd.safetensors");
  for (const auto& [name, tensor] : tensors) CHECK(same_bytes(file.tensor(name), tensor));
}

TEST_CASE("safetensors: a file without tensors is a file", "[unit]") {
  const Scratch scratch;
  write_safetensors(scratch / "none.safetensors", {}, kNoMetadata);
  CHECK(SafetensorsFile(scratch / "none.safetensors").tensors().empty());
}

TEST_CASE("safetensors: data begin at a multiple of eight, wide types first, then by name", "[unit]") {
  const Scratch scratch;
  write_safetensors(scratch / "x.safetensors",
                    {{"b", at::zeros({3}, at::kByte)},
                     {"z", at::zeros({1})},
                     {"y", at::zeros({1})},
                     {"w", at::zeros({1}, at::kDouble)}},
                    kNoMetadata);
  const std::string bytes = read_file(scratch / "x.safetensors");
  CHECK(static_cast<unsigned char>(bytes[0]) % 8 == 0);
  const SafetensorsFile file(scratch / "x.safetensors");
  std::string order;
  for (const TensorInfo& info : file.tensors()) order += info.name;
  CHECK(order == "wyzb");
}

TEST_CASE("safetensors: the sums told while writing are those of the file", "[unit]") {
  const Scratch scratch;
  const auto sums = write_safetensors(scratch / "x.safetensors", one_of_each_type(), kNoMetadata);
  const SafetensorsFile file(scratch / "x.safetensors");
  CHECK(sums.header == file.header_checksum());
  CHECK(sums.file_size == fs::file_size(scratch / "x.safetensors"));
  REQUIRE(sums.tensors.size() == file.tensors().size());
  for (size_t i = 0; i < sums.tensors.size(); ++i) {
    CHECK(sums.tensors[i].name == file.tensors()[i].name);
    CHECK(sums.tensors[i].xxh3 == file.checksum(sums.tensors[i].name));
  }
}

TEST_CASE("safetensors: a parameter under training is written like any tensor", "[unit]") {
  const Scratch scratch;
  const Tensor parameter = at::randn({3}).requires_grad_(true);
  write_safetensors(scratch / "x.safetensors", {{"p", parameter}}, kNoMetadata);
  CHECK(same_bytes(SafetensorsFile(scratch / "x.safetensors").tensor("p"), parameter.detach()));
}

TEST_CASE("safetensors: a type that LibTorch lacks opens, and is refused when it is asked for", "[unit]") {
  const Scratch scratch;
  const fs::path path = scratch.write(
      "f4.safetensors",
      file_bytes(
          R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
          "xyz"));
  const SafetensorsFile file(path);
  CHECK(file.tensor("b").item<int64_t>() == 'z');
  CHECK_NOTHROW(file.checksum("a"));
  CHECK(contains(thrown<CheckpointError>([&] { file.tensor("a"); }), "type F4"));
}

TEST_CASE("safetensors: a type that the format lacks is refused before anything is written", "[unit]") {
  const Scratch scratch;
  const fs::path path = scratch / "x.safetensors";
  CHECK(contains(thrown<CheckpointError>([&] {
                   write_safetensors(path, {{"a", at::zeros({2}, at::kComplexDouble)}}, kNoMetadata);
                 }),
                 "'a'"));
  CHECK(contains(thrown<CheckpointError>([&] {
                   write_safetensors(path, {{"a\xFF", at::zeros({2})}}, kNoMetadata);
                 }),
                 "UTF-8"));
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("safetensors: a name that is not there is told with the file", "[unit]") {
  const Scratch scratch;
  write_safetensors(scratch / "x.safetensors", {{"a", at::zeros({2})}}, kNoMetadata);
  const SafetensorsFile file(scratch / "x.safetensors");
  CHECK((file.has("a") && !file.has("b")));
  const std::string message = thrown<CheckpointError>([&] { file.tensor("b"); });
  CHECK((contains(message, "x.safetensors") && contains(message, "'b'")));
}

TEST_CASE("safetensors: a bool is true or false whatever its byte", "[unit]") {
  const Scratch scratch;
  const fs::path path =
      scratch.write("b.safetensors",
                    file_bytes(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", std::string("\0\1\7", 3)));
  CHECK(same_bytes(SafetensorsFile(path).tensor("a"), at::tensor({0, 1, 1}).to(at::kBool)));
}

TEST_CASE("safetensors: misaligned data are read", "[unit]") {
  const Scratch scratch;
  const fs::path path = scratch.write(
      "m.safetensors",
      file_bytes(
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}} )",
          std::string("\1\0\0\xC0\x3F", 5)));
  CHECK(SafetensorsFile(path).tensor("b").item<float>() == 1.5F);
}

TEST_CASE("safetensors: lengths that lie are refused", "[unit]") {
  const Scratch scratch;
  const auto with_length = [&](uint64_t length) {
    std::string bytes(16, '{');
    for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<char>(length >> (8 * i) & 0xFF);
    return opened(scratch.write("bad.safetensors", bytes));
  };
  CHECK(contains(with_length(0), "not valid JSON"));
  CHECK(contains(with_length(9), "a header of 9 bytes in a file of 16"));
  CHECK(contains(with_length(100'000'001), "expected at most 100000000"));
  CHECK(contains(with_length(uint64_t{1} << 63), "expected at most"));
  CHECK(contains(with_length(~uint64_t{0}), "expected at most"));
  CHECK(contains(opened(scratch.write("bad.safetensors", "1234567")), "too few"));
  CHECK(contains(opened(scratch.write("bad.safetensors", "")), "empty"));
}

TEST_CASE("safetensors: what is no file is refused at once", "[unit]") {
  const Scratch scratch;
  CHECK(contains(opened(scratch / "absent"), "is missing"));
  CHECK(contains(opened(scratch.path()), "is a folder"));
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  CHECK(contains(opened(scratch / "pipe"), "no regular file"));
  fs::create_symlink("loop", scratch / "loop");
  CHECK(contains(opened(scratch / "loop"), "loop"));
  CHECK(contains(opened("/dev/zero"), "no regular file"));
}

TEST_CASE("safetensors: every cut is noticed", "[unit]") {
  const Scratch scratch;
  write_safetensors(scratch / "x.safetensors", {{"a", at::randn({20})}, {"b", at::randn({5}).to(at::kBFloat16)}},
                    {{"format", "pt"}});
  const std::string whole = read_file(scratch / "x.safetensors");
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK(contains(opened(scratch.write("cut.safetensors", whole.substr(0, length))), "cut.safetensors"));
}

TEST_CASE("safetensors: a full disk is a CheckpointError, and leaves no file", "[unit]") {
  const std::string message = thrown<CheckpointError>([] {
    write_safetensors("/dev/full", {{"a", at::zeros({1000})}}, kNoMetadata);
  });
  CHECK(contains(message, "/dev/full"));
  CHECK(contains(message, "No space left"));
}

TEST_CASE("safetensors: random bytes never do harm", "[unit]") {
  const Scratch scratch;
  write_safetensors(scratch / "x.safetensors", one_of_each_type(), {{"format", "pt"}});
  const std::string whole = read_file(scratch / "x.safetensors");
  KeyedSequence draw(11);
  int64_t refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string bytes = whole;
    for (uint64_t changes = 1 + draw.below(4); changes > 0; --changes)
      bytes[draw.below(bytes.size())] = static_cast<char>(draw.below(256));
    const fs::path path = scratch.write("fuzz.safetensors", bytes);
    try {
      const SafetensorsFile file(path);
      for (const TensorInfo& info : file.tensors()) file.checksum(info.name);
    } catch (const CheckpointError&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("safetensors: tensors of the GPU are written one by one", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  const Scratch scratch;
  const Tensor host = at::randn({64, 3}).to(at::kBFloat16);
  write_safetensors(scratch / "x.safetensors", {{"a", host.to(*gpu)}}, kNoMetadata);
  CHECK(same_bytes(SafetensorsFile(scratch / "x.safetensors").tensor("a"), host));
}

}  // namespace ordo::test
