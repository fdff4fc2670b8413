// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/image_file.h"

#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include <jpeglib.h>

#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

std::string four_bytes(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> static_cast<unsigned>(shift) & 255U);
  return bytes;
}

std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return four_bytes(static_cast<uint32_t>(data.size())) + body + four_bytes(static_cast<uint32_t>(sum));
}

constexpr char kGrey = 0, kColour = 2, kPalette = 3, kGreyAlpha = 4, kColourAlpha = 6;

struct Png {
  uint32_t width, height;
  char bits, colour;
  std::string rows;         // without the filter byte before each
  std::string before = {};  // chunks before the rows
};

std::string png_of(const Png& image) {
  const size_t stride = image.height == 0 ? 0 : image.rows.size() / image.height;
  std::string lines;
  for (size_t i = 0; i < image.height && stride > 0; ++i) lines += '\0' + image.rows.substr(i * stride, stride);
  uLongf size = compressBound(lines.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(lines.data()), lines.size());
  packed.resize(size);
  const std::string header =
      four_bytes(image.width) + four_bytes(image.height) + std::string{image.bits, image.colour, '\0', '\0', '\0'};
  return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header) + image.before + png_chunk("IDAT", packed) +
         png_chunk("IEND", "");
}

// Of one colour, a byte a channel; `adjust` sets more before it is written.
std::string jpeg_of(int width, int height, const std::string& colour, J_COLOR_SPACE space,
                    const std::function<void(j_compress_ptr)>& adjust = {}) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = static_cast<int>(colour.size());
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (adjust) adjust(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::string row;
  for (int i = 0; i < width; ++i) row += colour;
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* at = reinterpret_cast<JSAMPROW>(row.data());
    jpeg_write_scanlines(&jpeg, &at, 1);
  }
  jpeg_finish_compress(&jpeg);
  const std::string made(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return made;
}

// Each channel in a scan of its own, the last one again and again.
std::string jpeg_of_scans(size_t scans) {
  static constexpr jpeg_scan_info kApart[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  std::string bytes = jpeg_of(8, 8, "\x10\x20\x30", JCS_RGB, [](j_compress_ptr jpeg) {
    jpeg->scan_info = kApart;
    jpeg->num_scans = 3;
  });
  const size_t last = bytes.rfind("\xFF\xDA");
  const std::string scan = bytes.substr(last, bytes.size() - 2 - last);
  for (size_t i = 3; i < scans; ++i) bytes.insert(last, scan);
  return bytes;
}

struct Seen {
  std::vector<int64_t> shape;
  std::vector<int> values;
  bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << Catch::Detail::stringify(seen.shape) << ' ' << Catch::Detail::stringify(seen.values);
}

Seen seen_in(const Scratch& scratch, const std::string& bytes) {
  const auto image = read_image(scratch.write("image", bytes));
  REQUIRE(image.scalar_type() == at::kByte);
  REQUIRE(image.is_contiguous());
  const auto* values = image.const_data_ptr<uint8_t>();
  return {image.sizes().vec(), {values, values + image.numel()}};
}

std::string image_refusal(const Scratch& scratch, const std::string& bytes, int64_t most = kMostPixels) {
  const auto path = scratch.write("image", bytes);
  const auto message = thrown<DataError>([&] { read_image(path, most); });
  CHECK(contains(message, path.string()));
  return message;
}

const std::string& sound_png() {
  static const std::string bytes = png_of({.width = 2, .height = 2, .bits = 8, .colour = kGrey, .rows = "abcd"});
  return bytes;
}

}  // namespace

TEST_CASE("image files: every kind of PNG becomes grey or colour of eight bits", "[unit]") {
  const Scratch scratch;
  const auto seen = [&](const Png& png) { return seen_in(scratch, png_of(png)); };
  CHECK(seen({2, 2, 8, kGrey, {"\x01\x02\xFE\xFF", 4}}) == Seen{{1, 2, 2}, {1, 2, 254, 255}});
  CHECK(seen({1, 2, 8, kColour, {"\x01\x02\x03\x04\x05\x06", 6}}) == Seen{{3, 2, 1}, {1, 4, 2, 5, 3, 6}});
  CHECK(seen({4, 1, 2, kGrey, "\x1B"}) == Seen{{1, 1, 4}, {0, 85, 170, 255}});
  CHECK(seen({8, 1, 1, kGrey, "\xA0"}) == Seen{{1, 1, 8}, {255, 0, 255, 0, 0, 0, 0, 0}});
  CHECK(seen({2, 1, 16, kGrey, {"\x12\xFF\xFF\xFF", 4}}) == Seen{{1, 1, 2}, {19, 255}});
  CHECK(seen({2, 1, 8, kPalette, {"\x01\x00", 2}, png_chunk("PLTE", {"\x01\x02\x03\x07\x08\x09", 6})}) ==
        Seen{{3, 1, 2}, {7, 1, 8, 2, 9, 3}});
  CHECK(seen({1, 1, 8, kGrey, "\x40", png_chunk("gAMA", four_bytes(100'000))}) == Seen{{1, 1, 1}, {64}});
}

TEST_CASE("image files: an alpha channel is dropped where it is opaque and refused where it is not", "[unit]") {
  const Scratch scratch;
  const auto rgba = [](char alpha) {
    return png_of({2, 1, 8, kColourAlpha, std::string{1, 2, 3, '\xFF', 4, 5, 6, alpha}});
  };
  CHECK(seen_in(scratch, rgba('\xFF')) == Seen{{3, 1, 2}, {1, 4, 2, 5, 3, 6}});
  CHECK(contains(image_refusal(scratch, rgba('\xFE')), "pixel 1, 0 (column, row) is transparent"));
  CHECK(seen_in(scratch, png_of({1, 2, 8, kGreyAlpha, "\x05\xFF\x06\xFF"})) == Seen{{1, 2, 1}, {5, 6}});
  CHECK(contains(image_refusal(scratch, png_of({1, 2, 8, kGreyAlpha, "\x05\xFF\x06\x01"})), "pixel 0, 1"));
  const std::string clear_five = png_chunk("tRNS", {"\0\x05", 2});
  CHECK(contains(image_refusal(scratch, png_of({2, 1, 8, kGrey, "\x04\x05", clear_five})), "pixel 1, 0"));
  CHECK(seen_in(scratch, png_of({2, 1, 8, kGrey, "\x04\x06", clear_five})) == Seen{{1, 1, 2}, {4, 6}});
}

TEST_CASE("image files: JPEG is read in grey and colour, progressive too", "[unit]") {
  const Scratch scratch;
  CHECK(seen_in(scratch, jpeg_of(3, 1, "\x4D", JCS_GRAYSCALE)) == Seen{{1, 1, 3}, {77, 77, 77}});
  for (const bool progressive : {false, true}) {
    CAPTURE(progressive);
    const auto [shape, values] = seen_in(scratch, jpeg_of(17, 9, "\xC8\x64\x32", JCS_RGB, [&](j_compress_ptr jpeg) {
                                           if (progressive) jpeg_simple_progression(jpeg);
                                         }));
    REQUIRE(shape == std::vector<int64_t>{3, 9, 17});
    constexpr int kPlane = 9 * 17;
    for (int i = 0; i < kPlane; ++i) {
      REQUIRE(std::abs(values[static_cast<size_t>(i)] - 200) <= 1);
      REQUIRE(std::abs(values[static_cast<size_t>(kPlane + i)] - 100) <= 1);
      REQUIRE(std::abs(values[static_cast<size_t>(2 * kPlane + i)] - 50) <= 1);
    }
  }
}

TEST_CASE("image files: stray bytes between the segments of a JPEG harm nothing", "[unit]") {
  const Scratch scratch;
  std::string bytes = jpeg_of(3, 1, "\x4D", JCS_GRAYSCALE);
  bytes.insert(bytes.rfind("\xFF\xDA"), "stray");
  CHECK(seen_in(scratch, bytes) == Seen{{1, 1, 3}, {77, 77, 77}});
}

TEST_CASE("image files: a PNG that was damaged or cut off anywhere is refused", "[unit]") {
  const Scratch scratch;
  for (size_t size = 1; size < sound_png().size(); ++size) {
    CAPTURE(size);
    const auto message = image_refusal(scratch, sound_png().substr(0, size));
    CHECK(contains(message, size < 8 ? "neither PNG nor JPEG" : "the file is damaged or cut off"));
  }
  std::string flipped = sound_png();
  flipped[flipped.size() - 18] = static_cast<char>(flipped[flipped.size() - 18] ^ 1);
  CHECK(contains(image_refusal(scratch, flipped), "the file is damaged or cut off"));
  CHECK(contains(image_refusal(scratch, png_of({2, 3, 8, kGrey, "abc"})), "damaged or cut off"));
  CHECK(contains(image_refusal(scratch, png_of({0, 1, 8, kGrey, ""})), "damaged or cut off"));
}

TEST_CASE("image files: a JPEG that was cut off is refused, not filled with grey", "[unit]") {
  const Scratch scratch;
  const std::string sound = jpeg_of(64, 64, "\xC8\x64\x32", JCS_RGB);
  for (const size_t left : {size_t{4}, size_t{30}, sound.size() / 2, sound.size() - 40, sound.size() - 3}) {
    CAPTURE(left);
    CHECK(contains(image_refusal(scratch, sound.substr(0, left)), "this JPEG cannot be read"));
  }
}

TEST_CASE("image files: CMYK, other formats, text and nothing are refused by what they are", "[unit]") {
  const Scratch scratch;
  CHECK(contains(image_refusal(scratch, jpeg_of(8, 8, "abcd", JCS_CMYK)), "the colours of print (CMYK)"));
  CHECK(contains(image_refusal(scratch, jpeg_of(8, 8, "ab", JCS_UNKNOWN)), "2 channels of unknown meaning"));
  CHECK(contains(image_refusal(scratch, ""), "is empty"));
  CHECK(contains(image_refusal(scratch, "GIF89a…"), "neither PNG nor JPEG but GIF"));
  CHECK(contains(image_refusal(scratch, {"II*\0\0", 5}), "but TIFF"));
  CHECK(contains(image_refusal(scratch, "hello"), "but something else"));
}

TEST_CASE("image files: more pixels than allowed are refused before memory is taken for them", "[unit]") {
  const Scratch scratch;
  CHECK(contains(image_refusal(scratch, sound_png(), 3), "2 x 2 pixels, more than the 3 that are read"));
  CHECK(contains(image_refusal(scratch, jpeg_of(8, 8, "\x4D", JCS_GRAYSCALE), 63), "8 x 8 pixels, more than the 63"));
  CHECK(contains(image_refusal(scratch, png_of({1'000'000, 1'000'000, 8, kColour, "abc"})), "more than the 67108864"));
  CHECK(contains(image_refusal(scratch, jpeg_of_scans(300)), "more than 200 scans"));
  CHECK(seen_in(scratch, jpeg_of_scans(20)).shape == std::vector<int64_t>{3, 8, 8});
}

TEST_CASE("image files: folders, missing files and files that may not be read are refused", "[unit]") {
  const Scratch scratch;
  CHECK(contains(thrown<DataError>([&] { read_image(scratch.path()); }), "it is a folder"));
  CHECK(contains(thrown<DataError>([&] { read_image(scratch / "absent.png"); }), "no such file"));
  if (::geteuid() == 0) {
    WARN("without a file that may not be read: root reads them all");
    return;
  }
  const auto closed = scratch.write("closed.png", sound_png());
  fs::permissions(closed, fs::perms::none);
  CHECK(contains(thrown<DataError>([&] { read_image(closed); }), "Permission denied"));
}

}  // namespace ordo::test
