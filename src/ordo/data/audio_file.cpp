// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/audio_file.h"

#include <ATen/ops/empty.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/data/packed_file.h"
#include "ordo/ops/sequence.h"

namespace ordo {

namespace {

constexpr uint64_t kMostAudioBytes = 4'000'000'000;

// A file in memory, as libsndfile wants to read it.
struct AudioBytes {
  std::string_view bytes;
  sf_count_t at = 0;
  sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }
};

SF_VIRTUAL_IO audio_io() {
  return {.get_filelen = [](void* data) { return static_cast<AudioBytes*>(data)->size(); },
          .seek = [](sf_count_t offset, int whence, void* data) -> sf_count_t {
            auto& file = *static_cast<AudioBytes*>(data);
            const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.size();
            return file.at = base + std::clamp<sf_count_t>(offset, -base, file.size() - base);
          },
          .read = [](void* into, sf_count_t wanted, void* data) -> sf_count_t {
            auto& file = *static_cast<AudioBytes*>(data);
            const sf_count_t got = std::clamp<sf_count_t>(wanted, 0, file.size() - file.at);
            std::memcpy(into, file.bytes.data() + file.at, static_cast<size_t>(got));
            file.at += got;
            return got;
          },
          .write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; },
          .tell = [](void* data) { return static_cast<AudioBytes*>(data)->at; }};
}

// libsndfile reads what is there of a WAV file that was cut off, and says nothing.
void require_whole_wav(const std::string& file, std::string_view bytes) {
  constexpr size_t kHeader = 12, kSizeAt = 4;
  if (bytes.size() < kHeader || !bytes.starts_with("RIFF") || bytes.substr(8, 4) != "WAVE") return;
  uint64_t claimed = 0;
  for (size_t i = 0; i < 4; ++i)
    claimed |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[kSizeAt + i])) << (8 * i);
  constexpr uint64_t kUnknownFrom = 0x7FFFF000;  // what is written where the length is not known yet
  // An odd length is followed by a byte of padding, which some writers leave out.
  const uint64_t whole = claimed + 8, found = bytes.size() + claimed % 2;
  require<DataError>(claimed == 0 || claimed >= kUnknownFrom || found >= whole,
                     "{}: its header says {} bytes, found {}; the file is cut off", file, whole, bytes.size());
}

std::vector<float> mono_samples(SNDFILE* sound, const SF_INFO& info, const std::string& file, int64_t most) {
  constexpr sf_count_t kFrames = 1 << 14;
  std::vector<float> block(static_cast<size_t>(kFrames * info.channels)), mono;
  for (sf_count_t got = 0; (got = sf_readf_float(sound, block.data(), kFrames)) > 0;) {
    for (sf_count_t i = 0; i < got; ++i) {
      const float* frame = block.data() + i * info.channels;
      const double sum = std::accumulate(frame, frame + info.channels, 0.0);
      require<DataError>(std::isfinite(sum), "{}: sample {} is not a finite number", file, mono.size());
      mono.push_back(static_cast<float>(sum / info.channels));
    }
    require<DataError>(static_cast<int64_t>(mono.size()) <= most,
                       "{}: more than the {} samples that are read; cut it into pieces", file, most);
  }
  require<DataError>(sf_error(sound) == SF_ERR_NO_ERROR, "{}: this sound cannot be read: {}; the file is damaged", file,
                     sf_strerror(sound));
  return mono;
}

// What resampling multiplies by: row p for the outputs p, p + phases, …, over `taps` inputs.
struct SincRows {
  int64_t taps = 0;
  std::vector<float> weights;  // [rows, taps]
};

constexpr double kZeroCrossings = 16.0, kPassed = 0.95;

SincRows sinc_rows(int64_t rows, int64_t from, int64_t to) {
  const double cutoff = kPassed * std::min(1.0, static_cast<double>(to) / static_cast<double>(from));
  const auto reach = static_cast<int64_t>(std::ceil(kZeroCrossings / cutoff));
  SincRows made{.taps = 2 * reach + 1, .weights = {}};
  std::vector<double> row(static_cast<size_t>(made.taps));
  for (int64_t p = 0; p < rows; ++p) {
    const double inside = static_cast<double>(p * from % to) / static_cast<double>(to);  // behind the input before it
    for (int64_t i = 0; i < made.taps; ++i) {
      const double x = cutoff * (static_cast<double>(i - reach) - inside) * std::numbers::pi;
      const double window =
          std::abs(x) < kZeroCrossings * std::numbers::pi ? 0.5 + 0.5 * std::cos(x / kZeroCrossings) : 0.0;
      row[static_cast<size_t>(i)] = window * (x == 0.0 ? 1.0 : std::sin(x) / x);
    }
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (const double weight : row) made.weights.push_back(static_cast<float>(weight / sum));
  }
  return made;
}

}  // namespace

Audio read_audio(const fs::path& path, int64_t most_samples) {
  const std::string bytes = read_packed(path, kMostAudioBytes), file = path.string();
  require<DataError>(!bytes.empty(), "{} is empty; a sound is expected", file);
  require_whole_wav(file, bytes);
  AudioBytes source{.bytes = bytes};
  SF_VIRTUAL_IO io = audio_io();
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> sound(sf_open_virtual(&io, SFM_READ, &info, &source), sf_close);
  require<DataError>(sound != nullptr, "{}: this is no sound that can be read (WAV, FLAC, Ogg, AIFF, …): {}", file,
                     sf_strerror(nullptr));
  require<DataError>(info.frames == SF_COUNT_MAX || info.frames <= most_samples,
                     "{}: {} samples, more than the {} that are read; cut it into pieces", file, info.frames,
                     most_samples);
  const std::vector<float> mono = mono_samples(sound.get(), info, file, most_samples);
  require<DataError>(!mono.empty(), "{} has no samples", file);
  const auto found = static_cast<int64_t>(mono.size());
  require<DataError>(info.frames == SF_COUNT_MAX || found >= info.frames,
                     "{}: its header says {} samples, found {}; the file is damaged or cut off", file, info.frames,
                     found);
  const at::Tensor samples = at::empty({found}, at::kFloat);
  std::copy(mono.begin(), mono.end(), samples.data_ptr<float>());
  return {.samples = samples, .sample_rate = info.samplerate};
}

at::Tensor resampled(const at::Tensor& samples, int64_t from, int64_t to) {
  const auto [N] = sizes<1>(samples, "samples [N]");
  require(samples.scalar_type() == at::kFloat, "samples must be float");
  constexpr int64_t kLowest = 1000, kHighest = 384'000;
  for (const int64_t rate : {from, to})
    require<DataError>(rate >= kLowest && rate <= kHighest, "sound of {} Hz cannot be resampled; {} to {} Hz are known",
                       rate, kLowest, kHighest);
  if (from == to) return samples;
  const int64_t common = std::gcd(from, to), down = from / common, up = to / common;
  const int64_t outputs = (N * up + down - 1) / down;
  const SincRows rows = sinc_rows(std::min(up, outputs), down, up);
  const at::Tensor source = samples.contiguous(), made = at::empty({outputs}, at::kFloat);
  const auto* in = source.const_data_ptr<float>();
  auto* out = made.data_ptr<float>();
  for (int64_t n = 0; n < outputs; ++n) {
    const float* row = rows.weights.data() + n % up * rows.taps;
    const int64_t first = n * down / up - rows.taps / 2;
    float sum = 0.0F;
    for (int64_t i = std::max<int64_t>(-first, 0); i < std::min(rows.taps, N - first); ++i)
      sum += row[i] * in[first + i];
    out[n] = sum;
  }
  return made;
}

}  // namespace ordo
