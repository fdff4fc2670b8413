// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/audio_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

// Numbers low byte first.
template <class T>
std::string little(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

constexpr uint16_t kPcm = 1, kFloat = 3;

struct Wav {
  std::string data;
  uint16_t bits = 16, channels = 1, format = kPcm;
  uint32_t rate = 8000;
};

std::string wav_of(const Wav& w) {
  const auto frame = static_cast<uint16_t>(w.channels * w.bits / 8);
  const std::string header = little<uint16_t>({w.format, w.channels}) + little<uint32_t>({w.rate, w.rate * frame}) +
                             little<uint16_t>({frame, w.bits});
  const std::string chunks = "WAVEfmt " + little<uint32_t>({16}) + header + "data" +
                             little<uint32_t>({static_cast<uint32_t>(w.data.size())}) + w.data;
  return "RIFF" + little<uint32_t>({static_cast<uint32_t>(chunks.size())}) + chunks;
}

Audio audio_in(const Scratch& scratch, const std::string& bytes) { return read_audio(scratch.write("a.wav", bytes)); }

std::vector<float> samples_in(const Scratch& scratch, const std::string& bytes) {
  const auto samples = audio_in(scratch, bytes).samples;
  const auto* values = samples.const_data_ptr<float>();
  return {values, values + samples.numel()};
}

std::string audio_refusal(const Scratch& scratch, const std::string& bytes, int64_t most = kMostSamples) {
  const auto path = scratch.write("a.wav", bytes);
  const auto message = thrown<DataError>([&] { read_audio(path, most); });
  CHECK(contains(message, path.string()));
  return message;
}

std::string sound_wav() { return wav_of({.data = little<int16_t>({0, 16384, -32768, 32767})}); }

at::Tensor tone(double hertz, int64_t rate, int64_t samples) {
  return (at::arange(samples, at::kDouble) * (2.0 * M_PI * hertz / static_cast<double>(rate))).sin().to(at::kFloat);
}

}  // namespace

TEST_CASE("audio files: samples of any width become floats, channels their mean", "[unit]") {
  const Scratch scratch;
  CHECK(samples_in(scratch, sound_wav()) == std::vector<float>{0.0F, 0.5F, -1.0F, 32767.0F / 32768.0F});
  CHECK(samples_in(scratch, wav_of({.data = {"\x80\xC0\x00", 3}, .bits = 8})) == std::vector<float>{0.0F, 0.5F, -1.0F});
  CHECK(samples_in(scratch, wav_of({.data = {"\0\0\x40\0\0\xC0", 6}, .bits = 24})) == std::vector<float>{0.5F, -0.5F});
  CHECK(samples_in(scratch, wav_of({.data = little<float>({0.25F, -1.5F}), .bits = 32, .format = kFloat})) ==
        std::vector<float>{0.25F, -1.5F});
  CHECK(samples_in(scratch, wav_of({.data = little<int16_t>({16384, 0, -16384, -16384}), .channels = 2})) ==
        std::vector<float>{0.25F, -0.5F});
  CHECK(audio_in(scratch, wav_of({.data = "abcd", .rate = 44100})).sample_rate == 44100);
}

TEST_CASE("audio files: a long sound is read whole", "[unit]") {
  const Scratch scratch;
  std::vector<int16_t> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(static_cast<int16_t>(i % 30'000));
  const auto samples = samples_in(scratch, wav_of({.data = little(values)}));
  REQUIRE(samples.size() == values.size());
  for (size_t i = 0; i < values.size(); i += 777) REQUIRE(samples[i] == static_cast<float>(values[i]) / 32768.0F);
}

TEST_CASE("audio files: a WAV header that was written before its length was known is taken", "[unit]") {
  const Scratch scratch;
  for (const uint32_t unknown : {0U, 0xFFFFFFFFU, 0x7FFFF024U}) {
    CAPTURE(unknown);
    std::string bytes = sound_wav();
    bytes.replace(4, 4, little<uint32_t>({unknown}));
    CHECK(samples_in(scratch, bytes).size() == 4);
  }
}

TEST_CASE("audio files: what is no whole sound is refused with path and reason", "[unit]") {
  const Scratch scratch;
  const std::string sound = sound_wav();
  CHECK(contains(audio_refusal(scratch, ""), "is empty; a sound is expected"));
  CHECK(contains(audio_refusal(scratch, "hello, this is text"), "this is no sound that can be read"));
  CHECK(contains(audio_refusal(scratch, "\x89PNG\r\n\x1A\n…"), "this is no sound that can be read"));
  for (size_t size = 1; size < sound.size(); ++size) {
    CAPTURE(size);
    CHECK(contains(audio_refusal(scratch, sound.substr(0, size)), size < 12 ? "no sound" : "the file is cut off"));
  }
  CHECK(contains(audio_refusal(scratch, wav_of({.data = ""})), "has no samples"));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {kNan, kInfinity, -kInfinity})
    CHECK(contains(audio_refusal(scratch, wav_of({.data = little<float>({0.0F, odd}), .bits = 32, .format = kFloat})),
                   "sample 1 is not a finite number"));
  CHECK(contains(audio_refusal(scratch, sound, 3), "4 samples, more than the 3 that are read"));
  CHECK(contains(thrown<DataError>([&] { read_audio(scratch.path()); }), "it is a folder"));
  CHECK(contains(thrown<DataError>([&] { read_audio(scratch / "absent.wav"); }), "no such file"));
}

TEST_CASE("resampling: a tone stays the tone it was, up and down", "[unit]") {
  struct Rates {
    int64_t from, to;
  };
  for (const auto& [from, to] : {Rates{8000, 16000}, Rates{16000, 8000}, Rates{44100, 16000}, Rates{8000, 11025}}) {
    CAPTURE(from, to);
    const auto made = resampled(tone(440.0, from, from / 4), from, to);
    REQUIRE(made.size(0) == (from / 4 * to + from - 1) / from);
    const int64_t edge = to / 100, inside = made.size(0) - 2 * edge;
    const auto error = made.narrow(0, edge, inside) - tone(440.0, to, made.size(0)).narrow(0, edge, inside);
    CHECK(error.abs().max().item<double>() < 1e-3);
  }
}

TEST_CASE("resampling: what the lower rate cannot hold is gone, and a constant stays", "[unit]") {
  for (const double hertz : {4400.0, 6000.0, 7900.0}) {
    CAPTURE(hertz);
    const auto high = resampled(tone(hertz, 16000, 4000), 16000, 8000).narrow(0, 100, 1800);
    CHECK(high.abs().max().item<double>() < 2e-3);
  }
  const auto near = resampled(tone(3300.0, 16000, 4000), 16000, 8000) - tone(3300.0, 8000, 2000);
  CHECK(near.narrow(0, 100, 1800).abs().max().item<double>() < 1e-2);
  const auto constant = resampled(at::ones({4000}), 44100, 16000).narrow(0, 50, 1300);
  CHECK(close(constant, at::ones({1300}), Tolerance::fp32_sum));
}

TEST_CASE("resampling: the same rate changes nothing, short sounds and odd rates are taken", "[unit]") {
  const auto few = tone(440.0, 8000, 5);
  CHECK(resampled(few, 8000, 8000).is_same(few));
  CHECK(resampled(few, 8000, 16000).size(0) == 10);
  CHECK(resampled(few, 44100, 16001).size(0) == 2);
  CHECK(resampled(at::zeros({0}), 8000, 16000).size(0) == 0);
  for (const int64_t rate : {0, -8000, 999, 384'001})
    CHECK(contains(thrown<DataError>([&] { resampled(few, 8000, rate); }), "1000 to 384000 Hz are known"));
}

}  // namespace ordo::test
