// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/chase.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr NamedValue kChaseLanguages[] = {{"english", static_cast<int>(Language::english)},
                                          {"chinese", static_cast<int>(Language::chinese)}};

using ChaseWords = std::span<const std::string_view>;

// Forms: A and B are who does it and to whom it is done, each with an article and perhaps an adjective; ~ is where an
// adverb may stand, V and P are the verb's forms, all else are words.
struct Lexicon {
  ChaseWords nouns, articles, adjectives, adverbs, verbs, participles;
  std::string_view active, passive;
  ChaseWords fillers;  // phrases, the shorter ones first
};

// Any article fits any noun, with and without any adjective: else it would tell who stands where.
constexpr std::string_view kEnglishNouns[] = {"cat",   "mouse", "dog",  "fox",  "hen",   "goat",
                                              "horse", "bear",  "wolf", "hare", "sheep", "pig"};
constexpr std::string_view kEnglishArticles[] = {"the", "a"};
constexpr std::string_view kEnglishAdjectives[] = {"small", "big", "young", "brown", "white", "quick", "brave", "shy"};
constexpr std::string_view kEnglishAdverbs[] = {"quickly", "quietly", "slowly", "often", "boldly", "gladly"};
constexpr std::string_view kEnglishVerbs[] = {"chases", "follows", "watches", "finds", "greets", "pushes"};
constexpr std::string_view kEnglishParticiples[] = {"chased", "followed", "watched", "found", "greeted", "pushed"};
constexpr std::string_view kEnglishFillers[] = {"today",          "outside",         "here",        "again",
                                                "at night",       "in town",         "this autumn", "after lunch",
                                                "near the river", "behind the mill", "in the snow", "on the hill"};

constexpr std::string_view kChineseNouns[] = {"猫",   "老鼠", "狗",   "鸡",   "鸭子", "羊",
                                              "猴子", "兔子", "老虎", "狐狸", "青蛙", "乌龟"};
constexpr std::string_view kChineseArticles[] = {"那只", "一只"};
constexpr std::string_view kChineseAdjectives[] = {"小",     "大",     "年轻的", "棕色的",
                                                   "白色的", "敏捷的", "勇敢的", "害羞的"};
constexpr std::string_view kChineseAdverbs[] = {"飞快地", "悄悄地", "慢慢地", "常常", "大胆地", "高兴地"};
constexpr std::string_view kChineseVerbs[] = {"追", "跟踪", "盯住", "找到", "叫住", "推开"};
constexpr std::string_view kChineseFillers[] = {"今天",     "外面",         "这里",      "又",
                                                "在 夜里",  "在 城里",      "这个 秋天", "午饭 以后",
                                                "在 河 边", "在 磨坊 后面", "在 雪 里",  "在 山 上"};

constexpr Lexicon kEnglish{.nouns = kEnglishNouns,
                           .articles = kEnglishArticles,
                           .adjectives = kEnglishAdjectives,
                           .adverbs = kEnglishAdverbs,
                           .verbs = kEnglishVerbs,
                           .participles = kEnglishParticiples,
                           .active = "A V B ~",
                           .passive = "B is P by A ~",
                           .fillers = kEnglishFillers};
constexpr Lexicon kChinese{.nouns = kChineseNouns,
                           .articles = kChineseArticles,
                           .adjectives = kChineseAdjectives,
                           .adverbs = kChineseAdverbs,
                           .verbs = kChineseVerbs,
                           .participles = kChineseVerbs,
                           .active = "~ A V B",
                           .passive = "~ B 被 A P",
                           .fillers = kChineseFillers};

const Lexicon& lexicon_of(Language language) { return language == Language::english ? kEnglish : kChinese; }

}  // namespace

// The words of a language by their ids, and the forms made of them.
struct Chase::Grammar {
  enum class Part { agent, patient, adverb, verb, participle, word };
  struct Slot {
    Part part;
    int64_t word = 0;
  };
  std::vector<std::string> words;  // nouns first
  std::vector<int64_t> nouns, articles, adjectives, adverbs, verbs, participles;
  std::vector<Slot> active, passive;
  std::vector<std::vector<int64_t>> fillers;

  explicit Grammar(const Lexicon& l)
      : nouns(ids(l.nouns)),
        articles(ids(l.articles)),
        adjectives(ids(l.adjectives)),
        adverbs(ids(l.adverbs)),
        verbs(ids(l.verbs)),
        participles(ids(l.participles)),
        active(form(l.active)),
        passive(form(l.passive)) {
    for (const auto phrase : l.fillers) fillers.push_back(ids(split(phrase, ' ')));
  }

  // Words of a form without adjectives and adverb: an actor is an article and a noun.
  static int64_t least(const std::vector<Slot>& form) {
    int64_t count = 0;
    for (const Slot& slot : form)
      count += slot.part == Part::adverb ? 0 : (slot.part == Part::agent || slot.part == Part::patient) ? 2 : 1;
    return count;
  }

 private:
  int64_t id(std::string_view word) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found != words.end()) return found - words.begin();
    words.emplace_back(word);
    return static_cast<int64_t>(words.size()) - 1;
  }
  template <class List>
  std::vector<int64_t> ids(const List& list) {
    std::vector<int64_t> found;
    for (const auto& word : list) found.push_back(id(word));
    return found;
  }
  std::vector<Slot> form(std::string_view pattern) {
    constexpr std::string_view kMarks = "AB~VP";  // in the order of Part
    std::vector<Slot> slots;
    for (const auto& word : split(pattern, ' ')) {
      const size_t mark = word.size() == 1 ? kMarks.find(word[0]) : kMarks.npos;
      slots.push_back(mark != kMarks.npos ? Slot{static_cast<Part>(mark)} : Slot{Part::word, id(word)});
    }
    return slots;
  }
};

// All that was drawn. What stands at an actor's place (article, adjective) belongs to the place, not to the actor.
struct Chase::Sentence {
  struct Place {
    int64_t article = 0;
    std::optional<int64_t> adjective = {};
  };
  int64_t agent = 0, patient = 0;
  size_t verb = 0;
  bool passive = false;
  Place first, second;
  std::optional<int64_t> adverb = {};
  std::vector<int64_t> before, after;
};

namespace {

int64_t chase_word(const std::vector<int64_t>& words, KeyedSequence& draw) { return words[draw.below(words.size())]; }

// A word or none, while there is room for one.
std::optional<int64_t> chase_word_or_none(const std::vector<int64_t>& words, int64_t& room, KeyedSequence& draw) {
  if (room == 0 || draw.below(2) == 0) return std::nullopt;
  --room;
  return chase_word(words, draw);
}

// Phrases of exactly so many words in all.
std::vector<int64_t> chase_phrases(const std::vector<std::vector<int64_t>>& phrases, int64_t room,
                                   KeyedSequence& draw) {
  std::vector<int64_t> words;
  while (static_cast<int64_t>(words.size()) < room) {
    const auto left = static_cast<size_t>(room) - words.size();
    const auto too_long =
        std::find_if(phrases.begin(), phrases.end(), [&](const auto& phrase) { return phrase.size() > left; });
    const auto& phrase = phrases[draw.below(static_cast<uint64_t>(too_long - phrases.begin()))];
    words.insert(words.end(), phrase.begin(), phrase.end());
  }
  return words;
}

constexpr int64_t kBareWords = 3;

}  // namespace

void fields(Fields& f, Chase::Config& c) {
  f("language", c.language, "of the words", kChaseLanguages);
  f("bare", c.bare, "sentences of three words, agent, verb and patient; their swap is a reversal");
  drawn_fields(f, c.drawn, Asks::label);
}

Chase::Chase(const Config& config, const TaskFacts& facts)
    : Chase(config, facts, std::make_unique<Grammar>(lexicon_of(config.language))) {}

Chase::Chase(const Config& config, const TaskFacts& facts, std::unique_ptr<const Grammar> grammar)
    : DrawnTask(config.drawn, facts, Asks::label, grammar->words), config_(config), grammar_(std::move(grammar)) {}

Chase::~Chase() = default;

int64_t Chase::least_size() const {
  return config_.bare ? kBareWords : std::max(Grammar::least(grammar_->active), Grammar::least(grammar_->passive));
}

int64_t Chase::given_length(int64_t size) const {
  require<ConfigError>(!config_.bare || size == kBareWords,
                       "with task.bare every sentence has {} words, found a length of {}; set train.length and "
                       "evaluate.lengths to {}, or task.bare to false",
                       kBareWords, size, kBareWords);
  return size;
}

int64_t Chase::asked_length(int64_t size) const {
  (void)size;
  return 1;
}

Chase::Sentence Chase::draw_sentence(KeyedSequence& draw, int64_t size) const {
  const Grammar& g = *grammar_;
  Sentence s;
  const uint64_t agent = draw.below(g.nouns.size()), other = draw.below(g.nouns.size() - 1);
  s.agent = g.nouns[agent];
  s.patient = g.nouns[other + (other >= agent ? 1 : 0)];
  s.verb = draw.below(g.verbs.size());
  if (config_.bare) return s;
  s.passive = draw.below(2) == 1;
  int64_t room = size - Grammar::least(s.passive ? g.passive : g.active);
  ORDO_ASSERT(room >= 0);
  for (auto* place : {&s.first, &s.second}) {
    place->article = chase_word(g.articles, draw);
    place->adjective = chase_word_or_none(g.adjectives, room, draw);
  }
  s.adverb = chase_word_or_none(g.adverbs, room, draw);
  const auto before = static_cast<int64_t>(draw.below(static_cast<uint64_t>(room) + 1));
  s.before = chase_phrases(g.fillers, before, draw);
  s.after = chase_phrases(g.fillers, room - before, draw);
  return s;
}

Example Chase::said(const Sentence& s) const {
  const Grammar& g = *grammar_;
  if (config_.bare) return {.given = {s.agent, g.verbs[s.verb], s.patient}, .asked = {s.agent}};
  std::vector<int64_t> words = s.before;
  const Sentence::Place* place = &s.first;
  const auto actor = [&](int64_t noun) {
    words.push_back(place->article);
    if (place->adjective) words.push_back(*place->adjective);
    words.push_back(noun);
    place = &s.second;
  };
  for (const auto& [part, word] : s.passive ? g.passive : g.active) {
    using Part = Grammar::Part;
    if (part == Part::agent || part == Part::patient)
      actor(part == Part::agent ? s.agent : s.patient);
    else if (part != Part::adverb)
      words.push_back(part == Part::verb ? g.verbs[s.verb] : part == Part::participle ? g.participles[s.verb] : word);
    else if (s.adverb)
      words.push_back(*s.adverb);
  }
  words.insert(words.end(), s.after.begin(), s.after.end());
  return {.given = std::move(words), .asked = {s.agent}};
}

Example Chase::example(KeyedSequence& draw, int64_t size) const { return said(draw_sentence(draw, size)); }

Example Chase::held_out(uint64_t key, uint64_t index, int64_t size) const {
  KeyedSequence draw(mix(key, index / 2));
  Sentence sentence = draw_sentence(draw, size);
  if (index % 2 == 1) std::swap(sentence.agent, sentence.patient);
  return said(sentence);
}

}  // namespace ordo
