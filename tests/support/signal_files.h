// SPDX-License-Identifier: Apache-2.0
// Small files of images and sounds, byte by byte.
#pragma once
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

namespace ordo::test {

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> static_cast<unsigned>(shift) & 255U);
  return bytes;
}

// An IDX file of bytes: labels (one size) or images (three).
inline std::string idx_file(const std::vector<uint32_t>& sizes, const std::string& values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes) bytes += big_endian(size);
  return bytes + values;
}

// One part of a PNG file: its size, type, data and checksum.
inline std::string png_part(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body + big_endian(static_cast<uint32_t>(sum));
}

// Its beginning: 8 bits a channel; 1 channel is grey, 3 are colours.
inline std::string png_header(uint32_t width, uint32_t height, uint32_t channels) {
  const char colour = channels == 3 ? 2 : 0;
  return "\x89PNG\r\n\x1A\n" +
         png_part("IHDR", big_endian(width) + big_endian(height) + std::string{'\x08', colour, '\0', '\0', '\0'});
}

// A whole PNG file, its pixels row by row.
inline std::string png_file(uint32_t width, uint32_t height, uint32_t channels, const std::string& pixels) {
  std::string lines;
  for (uint32_t row = 0; row < height; ++row) lines += '\0' + pixels.substr(row * width * channels, width * channels);
  uLongf size = compressBound(lines.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(lines.data()), lines.size());
  packed.resize(size);
  return png_header(width, height, channels) + png_part("IDAT", packed) + png_part("IEND", "");
}

// A WAV file, 16 bits, one channel.
inline std::string wav_file(const std::vector<int16_t>& samples, uint32_t rate = 8000) {
  const auto little = [](auto value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  std::string data(samples.size() * sizeof(int16_t), '\0');
  if (!data.empty()) std::memcpy(data.data(), samples.data(), data.size());
  const std::string form = "WAVEfmt " + little(uint32_t{16}) + little(uint16_t{1}) + little(uint16_t{1}) +
                           little(rate) + little(rate * 2) + little(uint16_t{2}) + little(uint16_t{16}) + "data" +
                           little(static_cast<uint32_t>(data.size())) + data;
  return "RIFF" + little(static_cast<uint32_t>(form.size())) + form;
}

// A tone of so many hertz.
inline std::vector<int16_t> tone(double hertz, size_t samples, double rate = 8000.0) {
  std::vector<int16_t> made(samples);
  for (size_t i = 0; i < samples; ++i)
    made[i] = static_cast<int16_t>(8000.0 * std::sin(2.0 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  return made;
}

// A table of images of 64 pixels, the digits 0 to 9 in turns.
inline std::string digits_table(int rows) {
  std::string lines;
  for (int i = 0; i < rows; ++i) {
    for (int p = 0; p < 64; ++p) lines += std::to_string((i * p) % 17) + ",";
    lines += std::to_string(i % 10) + "\n";
  }
  return lines;
}

// Calls write(name, content) for tones called as recordings of digits are: 0_jackson_0.wav, …, three takes of three
// speakers.
template <class Write>
void write_spoken_digits(const Write& write) {
  for (int digit = 0; digit < 10; ++digit)
    for (const std::string speaker : {"jackson", "nicolas", "theo"})
      for (const std::string take : {"0", "1", "5"})
        write(std::to_string(digit) + "_" + speaker + "_" + take + ".wav", wav_file(tone(300.0 + 50.0 * digit, 800)));
}

}  // namespace ordo::test
