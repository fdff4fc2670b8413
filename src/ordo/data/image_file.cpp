// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/image_file.h"

#include <ATen/ops/empty.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// After <cstdio>, whose FILE it takes as known.
#include <jpeglib.h>

#include <jerror.h>
#include <png.h>

#include "ordo/core/errors.h"
#include "ordo/data/packed_file.h"

namespace ordo {

namespace {

constexpr uint64_t kMostImageBytes = 1'000'000'000;
constexpr size_t kLongestReason = 200;

// Both libraries leave by longjmp. It may pass over frames that own nothing only: a step has no local and no temporary
// with a destructor.
template <class Step>
bool finishes(std::jmp_buf& back, const Step& step) {
  if (setjmp(back) != 0) return false;
  step();
  return true;
}

[[noreturn]] void refuse_image(const std::string& file, const char* format, const char* reason) {
  throw DataError(fmt::format("{}: this {} cannot be read: {}; the file is damaged or cut off", file, format, reason));
}

void require_pixels(const std::string& file, uint64_t width, uint64_t height, int64_t most) {
  require<DataError>(width * height <= static_cast<uint64_t>(most),
                     "{}: {} x {} pixels, more than the {} that are read; make it smaller first", file, width, height,
                     most);
}

// Row i of pixels [H, W, C].
uint8_t* image_row(const at::Tensor& pixels, int64_t i) { return pixels.data_ptr<uint8_t>() + i * pixels.stride(0); }

at::Tensor channels_first(const at::Tensor& pixels) { return pixels.permute({2, 0, 1}).contiguous(); }

class PngImage {
 public:
  PngImage(std::string_view bytes, std::string file) : rest_(bytes), file_(std::move(file)) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &PngImage::fail, [](png_structp, png_const_charp) {});
    require(png_ != nullptr, "libpng cannot be used: it is not the one that this program was built with");
    info_ = png_create_info_struct(png_);
    require(info_ != nullptr, "no memory to read {}", file_);
    png_set_read_fn(png_, this, &PngImage::take);
  }
  ~PngImage() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  at::Tensor read(int64_t most_pixels) {
    guard([&] { png_read_info(png_, info_); });
    require_pixels(file_, png_get_image_width(png_, info_), png_get_image_height(png_, info_), most_pixels);
    guard([&] {
      png_set_expand(png_);
      png_set_scale_16(png_);
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    const int64_t height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_),
                  channels = png_get_channels(png_, info_);
    const at::Tensor pixels = at::empty({height, width, channels}, at::kByte);
    std::vector<png_bytep> rows;
    for (int64_t i = 0; i < height; ++i) rows.push_back(image_row(pixels, i));
    guard([&] {
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);  // looks at what follows: a file without its end was cut off
    });
    return channels_first(without_alpha(pixels));
  }

 private:
  template <class Step>
  void guard(const Step& step) {
    if (!finishes(png_jmpbuf(png_), step)) refuse_image(file_, "PNG", reason_.data());
  }

  static void fail(png_structp png, png_const_charp reason) {
    auto& self = *static_cast<PngImage*>(png_get_error_ptr(png));
    std::snprintf(self.reason_.data(), self.reason_.size(), "%s", reason);
    png_longjmp(png, 1);
  }

  static void take(png_structp png, png_bytep into, size_t size) {
    auto& rest = static_cast<PngImage*>(png_get_io_ptr(png))->rest_;
    if (size > rest.size()) png_error(png, "it ends too early");
    std::memcpy(into, rest.data(), size);
    rest.remove_prefix(size);
  }

  at::Tensor without_alpha(const at::Tensor& pixels) const {
    const int64_t channels = pixels.size(2);
    if (channels % 2 == 1) return pixels;  // grey or colour; with alpha there are 2 or 4
    constexpr uint8_t kOpaque = 255;
    const auto* alpha = pixels.const_data_ptr<uint8_t>();
    for (int64_t i = channels - 1; i < pixels.numel(); i += channels)
      require<DataError>(alpha[i] == kOpaque,
                         "{}: pixel {}, {} (column, row) is transparent; put a colour behind the image first: convert "
                         "in.png -background white -flatten out.png",
                         file_, i / channels % pixels.size(1), i / channels / pixels.size(1));
    return pixels.narrow(2, 0, channels - 1);
  }

  std::string_view rest_;  // what is still to be read
  std::string file_;
  std::array<char, kLongestReason> reason_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

class JpegImage {
 public:
  JpegImage(std::string_view bytes, std::string file) : file_(std::move(file)) {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = &JpegImage::fail;
    errors_.emit_message = &JpegImage::warn;
    jpeg_.client_data = this;
    guard([&] {
      jpeg_create_decompress(&jpeg_);
      jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      jpeg_read_header(&jpeg_, TRUE);
    });
    progress_.progress_monitor = &JpegImage::watch;
    jpeg_.progress = &progress_;
  }
  ~JpegImage() { jpeg_destroy_decompress(&jpeg_); }
  JpegImage(const JpegImage&) = delete;
  JpegImage& operator=(const JpegImage&) = delete;

  at::Tensor read(int64_t most_pixels) {
    require_pixels(file_, jpeg_.image_width, jpeg_.image_height, most_pixels);
    require_colours();
    const bool grey = jpeg_.jpeg_color_space == JCS_GRAYSCALE;
    jpeg_.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    const at::Tensor pixels = at::empty({jpeg_.image_height, jpeg_.image_width, grey ? 1 : 3}, at::kByte);
    guard([&] {
      jpeg_start_decompress(&jpeg_);
      while (jpeg_.output_scanline < jpeg_.output_height) {
        JSAMPROW row = image_row(pixels, jpeg_.output_scanline);
        jpeg_read_scanlines(&jpeg_, &row, 1);
      }
      jpeg_finish_decompress(&jpeg_);
    });
    return channels_first(pixels);
  }

 private:
  template <class Step>
  void guard(const Step& step) {
    if (finishes(back_, step)) return;
    // Not in the destructor alone: the constructor's guard throws before there is one to run.
    jpeg_destroy_decompress(&jpeg_);
    refuse_image(file_, "JPEG", reason_.data());
  }

  void require_colours() const {
    const auto space = jpeg_.jpeg_color_space;
    require<DataError>(space != JCS_CMYK && space != JCS_YCCK,
                       "{}: this JPEG has the colours of print (CMYK); convert it first: convert in.jpg -colorspace "
                       "sRGB out.jpg",
                       file_);
    require<DataError>(space == JCS_GRAYSCALE || space == JCS_YCbCr || space == JCS_RGB,
                       "{}: this JPEG has {} channels of unknown meaning; grey (1) or colour (3) is expected", file_,
                       jpeg_.num_components);
  }

  static JpegImage& of(j_common_ptr jpeg) { return *static_cast<JpegImage*>(jpeg->client_data); }

  static void fail(j_common_ptr jpeg) {
    auto& self = of(jpeg);
    std::array<char, JMSG_LENGTH_MAX> text{};
    self.errors_.format_message(jpeg, text.data());
    self.leave(text.data());
  }

  // Level -1 is damage that the library would patch over, the others are traces.
  static void warn(j_common_ptr jpeg, int level) {
    if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) fail(jpeg);
  }

  // Each scan passes over the whole image, and a few bytes make one.
  static void watch(j_common_ptr jpeg) {
    constexpr int kMostScans = 200;
    auto& self = of(jpeg);
    if (self.jpeg_.input_scan_number > kMostScans) self.leave("it has more than 200 scans");
  }

  [[noreturn]] void leave(const char* reason) {
    std::snprintf(reason_.data(), reason_.size(), "%s", reason);
    std::longjmp(back_, 1);
  }

  std::string file_;
  std::array<char, kLongestReason> reason_{};
  std::jmp_buf back_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct jpeg_{};
};

// What a file that is neither PNG nor JPEG may be, by its first bytes.
std::string_view other_format(std::string_view bytes) {
  constexpr std::pair<std::string_view, std::string_view> kFormats[] = {
      {"GIF8", "GIF"}, {"BM", "BMP"}, {{"II*\0", 4}, "TIFF"}, {{"MM\0*", 4}, "TIFF"}, {"RIFF", "WebP"}};
  for (const auto& [start, format] : kFormats)
    if (bytes.starts_with(start)) return format;
  return "something else";
}

}  // namespace

at::Tensor read_image(const fs::path& path, int64_t most_pixels) {
  const std::string bytes = read_packed(path, kMostImageBytes), file = path.string();
  require<DataError>(!bytes.empty(), "{} is empty; a PNG or JPEG image is expected", file);
  if (bytes.starts_with("\x89PNG\r\n\x1A\n")) return PngImage(bytes, file).read(most_pixels);
  if (bytes.starts_with("\xFF\xD8\xFF")) return JpegImage(bytes, file).read(most_pixels);
  throw DataError(fmt::format("{} is neither PNG nor JPEG but {} by its first bytes; convert it to PNG", file,
                              other_format(bytes)));
}

}  // namespace ordo
