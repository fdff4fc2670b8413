// SPDX-License-Identifier: Apache-2.0
// Who chased whom, in sentences of a given number of words:
//   today near the river a small cat is followed by the old dog quietly at night   -> dog
//   today near the river a small dog is followed by the old cat quietly at night   -> cat
// Agent and patient swap places and every word stays: a reader that is blind to order sees the same bag of words twice,
// and can be right once. Articles, adjectives and the marks of the passive stand where they stood, so none of them
// tells the two apart. Held-out sentences come as such twins, training draws either of a pair with equal chance.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

enum class Language { english, chinese };

class Chase final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    Language language = Language::english;
    bool bare = false;  // agent, verb, patient: "cat chases mouse"; then one of two twins is the other read backwards
  };
  static constexpr std::string_view kKind = "chase", kSummary = "who chased whom: agent and patient swap places";
  Chase(const Config& config, const TaskFacts& facts);
  ~Chase() override;
  std::string_view kind() const override { return kKind; }
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t twins() const override { return 2; }
  Example held_out(uint64_t key, uint64_t index, int64_t size) const override;
  int64_t given_length(int64_t size) const override;
  int64_t asked_length(int64_t size) const override;
  int64_t least_size() const override;
  // The mean of the three words says nothing of who stands on which side.
  bool mirror() const override { return config_.bare && config_.drawn.read != ReadAt::end; }

 private:
  struct Grammar;
  struct Sentence;
  Chase(const Config& config, const TaskFacts& facts, std::unique_ptr<const Grammar> grammar);
  Sentence draw_sentence(KeyedSequence& draw, int64_t size) const;
  Example said(const Sentence& sentence) const;
  Config config_;
  std::unique_ptr<const Grammar> grammar_;
};
void fields(Fields& f, Chase::Config& c);

}  // namespace ordo
