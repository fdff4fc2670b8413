// SPDX-License-Identifier: Apache-2.0
#include "support/hostile_corpora.h"

namespace ordo::test {

std::string with_folder(std::string text, const Scratch& folder) {
  constexpr std::string_view kFolder = "FOLDER";
  for (size_t at = 0; (at = text.find(kFolder, at)) != text.npos;)
    text.replace(at, kFolder.size(), folder.path().string());
  return text;
}

void write_corpus(const Scratch& folder, const HostileCorpus& corpus) {
  for (const auto& [name, bytes] : corpus.files)
    if (name.ends_with('/'))
      fs::create_directories(folder / name);
    else
      folder.write(name, bytes);
}

std::vector<HostileFamily> hostile_families() {
  return {hostile_texts(),     hostile_columns(), hostile_pairs(),  hostile_labelled_texts(), hostile_tagged_texts(),
          hostile_dialogues(), hostile_series(),  hostile_images(), hostile_sounds()};
}

}  // namespace ordo::test
