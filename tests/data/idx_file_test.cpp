// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/idx_file.h"

#include <ATen/core/Tensor.h>

#include <initializer_list>

#include "ordo/core/errors.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

std::string idx_of(std::initializer_list<uint32_t> sizes, const std::string& values, char type = 8) {
  std::string bytes{'\0', '\0', type, static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(size >> static_cast<unsigned>(shift) & 0xFFU);
  return bytes + values;
}

}  // namespace

TEST_CASE("IDX files: images and labels are read, packed or not", "[unit]") {
  const Scratch scratch;
  const auto images = idx_of({2, 1, 3}, std::string("\0\1\2\xFD\xFE\xFF", 6)),
             labels = idx_of({300}, std::string(300, '\7'));
  for (const auto& [ending, pack] : {std::pair{"", +[](const std::string& bytes) { return bytes; }},
                                     std::pair{".gz", +[](const std::string& bytes) { return gzip_of(bytes); }},
                                     std::pair{".zst", +[](const std::string& bytes) { return zstd_of(bytes); }}}) {
    CAPTURE(ending);
    const auto seen = read_idx_images(scratch.write(std::string("images-idx3-ubyte") + ending, pack(images)));
    REQUIRE(seen.sizes() == at::IntArrayRef{2, 1, 3});
    REQUIRE(seen.scalar_type() == at::kByte);
    const auto* values = seen.const_data_ptr<uint8_t>();
    CHECK(std::vector<int>(values, values + 6) == std::vector<int>{0, 1, 2, 253, 254, 255});
    const auto classes = read_idx_labels(scratch.write(std::string("labels-idx1-ubyte") + ending, pack(labels)));
    REQUIRE(classes.sizes() == at::IntArrayRef{300});
    CHECK(classes.const_data_ptr<uint8_t>()[299] == 7);
  }
}

TEST_CASE("IDX files: what is no IDX file of bytes is refused with path and reason", "[unit]") {
  struct Case {
    std::string what, bytes, reason;
  };
  constexpr uint32_t kHuge = 0xFFFFFFFF;
  const auto sound = idx_of({2, 2, 2}, std::string(8, 'x'));
  const std::vector<Case> cases{
      {"empty", "", "is no IDX file"},
      {"three bytes", std::string("\0\0\x08", 3), "is no IDX file"},
      {"text", "hello, this is text", "is no IDX file"},
      {"gzip without its name", gzip_of(sound), "its name must end in .gz"},
      {"floats", idx_of({2, 2, 2}, std::string(32, 'x'), 0x0D), "IDX type 0x0D; only bytes (0x08)"},
      {"labels in place of images", idx_of({8}, std::string(8, 'x')), "has 1 dimensions, expected 3"},
      {"cut in the header", sound.substr(0, 10), "cut off in its header"},
      {"cut in the values", sound.substr(0, sound.size() - 1), "its header says 2 x 2 x 2 bytes of values, found 7"},
      {"a byte more", sound + "x", "2 x 2 x 2 bytes of values, found 9"},
      {"no images", idx_of({0, 28, 28}, ""), "holds nothing: its header says 0 x 28 x 28"},
      {"images without rows", idx_of({5, 0, 28}, ""), "holds nothing"},
      {"sizes that overflow", idx_of({kHuge, kHuge, kHuge}, "x"), "found 1"},
      {"sizes whose product is 2^64", idx_of({0x80000000, 0x80000000, 4}, ""), "found 0"},
      {"huge and nothing", idx_of({kHuge, kHuge, 0}, ""), "found 0"},
  };
  const Scratch scratch;
  for (const auto& [what, bytes, reason] : cases) {
    CAPTURE(what);
    const auto path = scratch.write("images-idx3-ubyte", bytes);
    const auto message = thrown<DataError>([&, file = path] { read_idx_images(file); });
    CHECK(contains(message, reason));
    CHECK(contains(message, path.string()));
  }
  CHECK(
      contains(thrown<DataError>([&] { read_idx_labels(scratch.write("l", sound)); }), "has 3 dimensions, expected 1"));
  CHECK(contains(thrown<DataError>([&] { read_idx_images(scratch.path()); }), "it is a folder"));
}

}  // namespace ordo::test
