// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/checkpoint/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

SafetensorsHeader parsed(const std::string& json, size_t data_size) {
  return parse_safetensors_header(json, data_size, "some.safetensors");
}
std::string refusal(const std::string& json, size_t data_size) {
  return thrown<CheckpointError>([&] { parsed(json, data_size); });
}

// One tensor "a" of two floats (8 bytes of data), with one of its fields replaced or others added.
std::string one(const std::string& dtype = R"("F32")", const std::string& shape = "[2]",
                const std::string& offsets = "[0,8]", const std::string& more = "") {
  return fmt::format(R"({{"a":{{"dtype":{},"shape":{},"data_offsets":{}{}}}}})", dtype, shape, offsets, more);
}
std::string two(const std::string& first, const std::string& second) {
  return fmt::format(
      R"({{"a":{{"dtype":"F32","shape":[2],"data_offsets":{}}},"b":{{"dtype":"F32","shape":[2],"data_offsets":{}}}}})",
      first, second);
}

std::string ones_of(int count) {
  std::string shape = "[1";
  for (int i = 1; i < count; ++i) shape += ",1";
  return shape + "]";
}

struct BadHeader {
  std::string json;
  size_t data_size;
  std::string reason;
};

std::vector<BadHeader> bad_headers() {
  const std::string deep(200'000, '['), tensor = one().substr(1, one().size() - 2);
  return {
      {"", 0, "not valid JSON"},
      {"null", 0, "expected an object"},
      {"[]", 0, "expected an object"},
      {"7", 0, "expected an object"},
      {"\"a\"", 0, "expected an object"},
      {"{", 0, "not valid JSON"},
      {"{}}", 0, "not valid JSON"},
      {"{} x", 0, "not valid JSON"},
      {"{} {}", 0, "not valid JSON"},
      {std::string("{}\0", 3), 0, "NUL"},
      {std::string("{}\0\0\0\0\0\0", 8), 0, "NUL"},
      {"\xEF\xBB\xBF{}", 0, "byte order mark"},
      {"{'a':1}", 0, "not valid JSON"},
      {"{\"a\xFF\":1}", 8, "not valid JSON"},
      {"{\"a\\ud800\":1}", 8, "not valid JSON"},
      {one() + "// note", 8, "not valid JSON"},
      {deep, 0, "expected an object"},
      {"{\"a\":" + deep, 0, "'a' is a list"},
      {one(R"("F32")", "[2]", "[0,8]", ",\"x\":" + deep), 8, "nests deeper"},
      {R"({"a":3})", 0, "'a' is 3"},
      {R"({"a":null})", 0, "'a' is null"},
      {R"({"a":"F32"})", 0, "'a' is text"},
      {R"({"a":{}})", 0, "lacks dtype, shape or data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "lacks"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8, "lacks"},
      {R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, "lacks"},
      {one("3"), 8, "has 3 in dtype"},
      {one("[]"), 8, "has a list in dtype"},
      {one("null"), 8, "has null in dtype"},
      {one(R"("f32")"), 8, "unknown type 'f32'"},
      {one(R"("F31")"), 8, "unknown type 'F31'"},
      {one(R"("F32")", "2"), 8, "has 2 in shape"},
      {one(R"("F32")", "{}"), 8, "has an object in shape"},
      {one(R"("F32")", "[-2]"), 8, "has -2 in shape"},
      {one(R"("F32")", "[2.0]"), 8, "has 2.0 in shape"},
      {one(R"("F32")", "[\"2\"]"), 8, "has text in shape"},
      {one(R"("F32")", "[[2]]"), 8, "has a list in shape"},
      {one(R"("F32")", "[18446744073709551616]"), 8, "in shape"},
      {one(R"("F32")", "[9223372036854775808]"), 8, "a size of 9223372036854775808"},
      {one(R"("F32")", "[4294967296,4294967296]"), 8, "no countable size"},
      {one(R"("F32")", "[4611686018427387906]"), 8, "no countable size"},
      {one(R"("F32")", "[3]"), 8, "needs 12 bytes"},
      {one(R"("F32")", ones_of(1001)), 8, "more than 1000 numbers"},
      {one(R"("F4")", "[3]", "[0,1]"), 1, "no countable size"},
      {one(R"("F32")", "[2]", "[0]"), 8, "has 1 data_offsets"},
      {one(R"("F32")", "[2]", "[0,8,8]"), 8, "has 3 data_offsets"},
      {one(R"("F32")", "[2]", "[8,0]"), 8, "range is 8 to 0"},
      {one(R"("F32")", "[2]", "[-8,0]"), 8, "has -8 in data_offsets"},
      {one(R"("F32")", "[2]", "[0,8.5]"), 8, "has 8.5 in data_offsets"},
      {one(R"("F32")", "[2]", "[0,1e1]"), 8, "in data_offsets"},
      {one(R"("F32")", "[2]", "[18446744073709551608,0]"), 8, "range is"},
      {one(R"("F32")", "[2]", "[4,12]"), 12, "a hole"},
      {one(), 7, "the file holds 7"},
      {one(), 9, "the file holds 9"},
      {"{}", 1, "the file holds 1"},
      {two("[0,8]", "[4,12]"), 12, "overlaps"},
      {two("[0,8]", "[0,8]"), 8, "overlaps"},
      {two("[0,8]", "[16,24]"), 24, "a hole"},
      {"{" + tensor + "," + tensor + "}", 8, "overlaps"},
      {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
       0, "'a' appears twice"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "has dtype twice"},
      {R"({"a":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})", 8, "has shape twice"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"data_offsets":[0,8]}})", 8, "has data_offsets twice"},
      {R"({"__metadata__":{"k":1}})", 0, "expected text"},
      {R"({"__metadata__":{"k":null}})", 0, "expected text"},
      {R"({"__metadata__":{"k":{}}})", 0, "expected text"},
      {R"({"__metadata__":{"k":["v"]}})", 0, "expected text"},
      {R"({"__metadata__":"pt"})", 0, "'__metadata__' is text"},
      {R"({"__metadata__":[]})", 0, "'__metadata__' is a list"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "appears twice"},
      {R"({"__metadata__":{"k":"v","k":"w"}})", 0, "'k' twice"},
  };
}

}  // namespace

TEST_CASE("safetensors: broken headers are refused, with the file and the reason", "[unit]") {
  for (const BadHeader& bad : bad_headers()) {
    const std::string message = refusal(bad.json, bad.data_size);
    INFO(bad.json.substr(0, 200) << "\n" << message.substr(0, 300));
    CHECK(contains(message, bad.reason));
    CHECK(contains(message, "some.safetensors: "));
  }
}

TEST_CASE("safetensors: a header cut anywhere is refused", "[unit]") {
  const std::string whole =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":{"y":[1]}}})";
  CHECK(parsed(whole, 8).tensors.size() == 1);
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK(contains(refusal(whole.substr(0, length), 8), "some.safetensors"));
}

TEST_CASE("safetensors: messages stay short and printable whatever the file says", "[unit]") {
  const std::string name(1'000'000, 'n');
  std::vector<std::string> messages{refusal("{\"" + name + "\":3}", 0),
                                    refusal("{\"" + name + "\":{}}", 0),
                                    refusal("{\"" + name, 0),
                                    refusal(one("\"" + name + "\""), 8),
                                    refusal("{\"a\xFF\":1}", 0),
                                    refusal("{\"a\\u0000\\u001b[31m\":1}", 0),
                                    refusal("{\"a\":" + std::string(1000, '9') + "}", 0),
                                    refusal(two("[0,8]", "[4,12]"), 12)};
  messages.push_back(refusal(one(R"("F32")", ones_of(900)), 8));
  for (const std::string& message : messages) {
    CHECK(contains(message, "some.safetensors: "));
    CHECK(message.size() < 400);
    CHECK(valid_utf8(message));
    CHECK(std::none_of(message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
  }
}

TEST_CASE("safetensors: what the format allows is taken", "[unit]") {
  CHECK(parsed("{}", 0).tensors.empty());
  CHECK(parsed(" \n{}\t ", 0).tensors.empty());
  CHECK(parsed(R"({"__metadata__":null})", 0).metadata.empty());
  CHECK(parsed(R"({"__metadata__":{"format":"pt"}})", 0).metadata.at("format") == "pt");
  CHECK(
      parsed(one(R"("F32")", "[2]", "[0,8]", R"(,"note":{"a":[1,{"b":null}],"c":-1.5,"dtype":true},"note":"twice")"), 8)
          .tensors.size() == 1);
  CHECK(parsed(one(R"("F32")", "[0,9223372036854775807,9223372036854775807]", "[0,0]"), 0).tensors[0].shape.size() ==
        3);
  CHECK(parsed(one(R"("F4")", "[4]", "[0,2]"), 2).tensors[0].dtype == "F4");
  CHECK(parsed(R"({"":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1).tensors[0].name.empty());
  CHECK(parsed(R"({"../x/y":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1).tensors[0].name == "../x/y");
}

TEST_CASE("safetensors: tensors come in the order of their bytes, empty ones anywhere", "[unit]") {
  const auto header = parsed(
      R"({"z":{"dtype":"U8","shape":[2],"data_offsets":[2,4]},"e":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},
                                 "a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
      4);
  REQUIRE(header.tensors.size() == 3);
  CHECK((header.tensors[0].name == "a" && header.tensors[1].name == "e" && header.tensors[2].name == "z"));
}

TEST_CASE("safetensors: a long header of many tensors is read in one pass", "[unit]") {
  std::string json = "{";
  const size_t count = 50'000;
  for (size_t i = 0; i < count; ++i)
    json += fmt::format(R"({}"layer.{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})", i == 0 ? "" : ",", i, i,
                        i + 1);
  CHECK(parsed(json + "}", count).tensors.size() == count);
  CHECK(contains(refusal(json + "}", count - 1), "the file holds"));
}

}  // namespace ordo::test
