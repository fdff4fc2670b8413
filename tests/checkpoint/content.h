// SPDX-License-Identifier: Apache-2.0
// A small checkpoint with every kind of file, for the tests of this folder.
#pragma once
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/core/errors.h"
#include "ordo/ops/draw.h"
#include "support/thrown.h"

namespace ordo::test {

inline CheckpointContent small_content(uint64_t key = 1) {
  const auto drawn = [&](at::IntArrayRef shape, uint64_t number) {
    at::Tensor t = at::zeros(shape);
    draw_normal(t, 1.0, mix(key, number));
    return t;
  };
  CheckpointContent content;
  content.model = {{"embedding.weight", drawn({6, 4}, 1)}, {"norm.weight", drawn({4}, 2)}};
  content.optimizer = {{"embedding.weight.m", drawn({6, 4}, 3)}, {"step", at::zeros({})}};
  content.ema = {{"embedding.weight", drawn({6, 4}, 4)}};
  content.memory = {{"blocks.0000", drawn({2, 3, 4}, 5)}};
  content.state = R"({"format": 1, "step": 12})";
  content.config = "task: {kind: lm}\n";
  content.tokenizer = [](const fs::path& folder) {
    write_file(folder / "tokenizer.json", "{}");
    fs::create_directory(folder / "pieces");
    write_file(folder / "pieces" / "a.txt", "abc");
  };
  return content;
}

// Every regular file below folder, by its name relative to it.
inline std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(folder).generic_string());
  std::sort(names.begin(), names.end());
  return names;
}

// What opening the checkpoint throws.
inline std::string opening(const fs::path& folder, Verify verify = Verify::checksums) {
  return thrown<CheckpointError>([&] { Checkpoint checkpoint(folder, verify); });
}

inline void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace ordo::test
