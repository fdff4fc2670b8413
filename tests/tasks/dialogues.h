// SPDX-License-Identifier: Apache-2.0
// Dialogues as files of each format.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ordo/core/json.h"
#include "ordo/tasks/recall_dialogues.h"

namespace ordo::test {

using Spoken = std::vector<SpokenTurn>;

// Of unequal length: dialogue i has 2 + i mod 4 exchanges.
inline std::vector<Spoken> english_dialogues(int64_t count) {
  std::vector<Spoken> made;
  for (int64_t i = 0; i < count; ++i) made.push_back(recall_dialogue(5, static_cast<uint64_t>(i), 2 + i % 4).turns);
  return made;
}

inline std::vector<Spoken> chinese_dialogues(int64_t count) {
  const std::vector<std::string> places{"长城", "故宫", "颐和园", "北海公园"};
  std::vector<Spoken> made;
  for (int64_t i = 0; i < count; ++i) {
    Spoken turns;
    for (int64_t j = 0; j < 2 + i % 4; ++j) {
      const auto& place = places[static_cast<size_t>((i + j) % 4)];
      turns.push_back({Speaker::user, j % 2 == 0 ? "你好，我想去" + place + "玩。" : "那里的门票是多少？"});
      turns.push_back(
          {Speaker::system, j % 2 == 0 ? "推荐您去" + place + "。" : "门票是" + std::to_string(20 + i) + "元。"});
    }
    made.push_back(std::move(turns));
  }
  return made;
}

inline std::string sgd_text(const std::vector<Spoken>& dialogues) {
  Json all = Json::array();
  for (size_t i = 0; i < dialogues.size(); ++i) {
    Json turns = Json::array();
    for (const auto& [speaker, text] : dialogues[i])
      turns.push_back({{"frames", Json::array({{{"service", "Keys_1"}}})},
                       {"speaker", speaker == Speaker::user ? "USER" : "SYSTEM"},
                       {"utterance", text}});
    all.push_back({{"dialogue_id", "7_" + std::to_string(i)}, {"services", {"Keys_1"}}, {"turns", turns}});
  }
  return json_text(all);
}

inline std::string crosswoz_text(const std::vector<Spoken>& dialogues) {
  Json all = Json::object();
  for (size_t i = 0; i < dialogues.size(); ++i) {
    Json messages = Json::array();
    for (const auto& [speaker, text] : dialogues[i])
      messages.push_back(
          {{"content", text}, {"role", speaker == Speaker::user ? "usr" : "sys"}, {"dialog_act", Json::array()}});
    all[std::to_string(100 + i)] = {{"goal", Json::array({1, "x"})}, {"messages", messages}, {"type", "单领域"}};
  }
  return json_text(all);
}

inline std::string jsonl_text(const std::vector<Spoken>& dialogues) {
  std::string lines;
  for (const auto& dialogue : dialogues) {
    Json turns = Json::array();
    for (const auto& [speaker, text] : dialogue)
      turns.push_back({{"role", speaker == Speaker::user ? "user" : "system"}, {"text", text}});
    lines += json_line({{"turns", turns}}) + "\n";
  }
  return lines;
}

}  // namespace ordo::test
