// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/pre_tokenizer.h"

#include <algorithm>

#include "ordo/tokenizers/metaspace.h"
#include "ordo/tokenizers/normalizer.h"
#include "ordo/tokenizers/unicode.h"

namespace ordo {

namespace {

// What becomes of the parts of a text that match a pattern.
enum class Behavior { removed, isolated, with_previous, with_next, contiguous };

// Takes the parts of a text in order, matching and not, and gives pieces.
class Cutter {
 public:
  Cutter(std::string_view text, bool first, Behavior behavior, const PieceSink& sink)
      : text_(text), first_(first), behavior_(behavior), sink_(sink) {}

  void part(Span span, bool match) {
    if (behavior_ == Behavior::removed) {
      if (!match) emit(span);
      return;
    }
    const bool joins = held_ && ((behavior_ == Behavior::contiguous && match == held_match_) ||
                                 (behavior_ == Behavior::with_previous && match && !held_match_) ||
                                 (behavior_ == Behavior::with_next && !match && held_match_));
    if (joins) {
      held_->to = span.to;
    } else {
      flush();
      held_ = span;
    }
    held_match_ = match;
  }
  void flush() {
    if (held_) emit(*held_);
    held_.reset();
  }

 private:
  void emit(Span span) {
    if (span.from < span.to) sink_(text_.substr(span.from, span.to - span.from), first_ && span.from == 0);
  }
  std::string_view text_;
  bool first_;
  Behavior behavior_;
  const PieceSink& sink_;
  std::optional<Span> held_;
  bool held_match_ = false;
};

struct Cut {
  Behavior behavior;
  bool invert = false;  // what matches the pattern is what does not
};

void cut_by_pattern(std::string_view text, bool first, const Regex& pattern, Cut cut, const PieceSink& sink) {
  Cutter cutter(text, first, cut.behavior, sink);
  Matches matches(pattern, text);
  size_t done = 0;
  while (const auto match = matches.next()) {
    if (done < match->from) cutter.part({done, match->from}, cut.invert);
    cutter.part(*match, !cut.invert);
    done = match->to;
  }
  if (done < text.size()) cutter.part({done, text.size()}, cut.invert);
  cutter.flush();
}

// By characters of a class: each of them is a match, what stands between is one part.
template <class Class>
void cut_by_class(std::string_view text, bool first, const Class& in_class, Behavior behavior, const PieceSink& sink) {
  Cutter cutter(text, first, behavior, sink);
  size_t done = 0, at = 0;
  each_character(text, [&](char32_t code, std::string_view bytes) {
    if (in_class(code)) {
      if (done < at) cutter.part({done, at}, false);
      cutter.part({at, at + bytes.size()}, true);
      done = at + bytes.size();
    }
    at += bytes.size();
  });
  if (done < at) cutter.part({done, at}, false);
  cutter.flush();
}

bool is_bert_punctuation(char32_t code) { return is_ascii_punctuation(code) || is_punctuation(code); }

Behavior read_behavior(const JsonView& part) {
  static constexpr std::pair<std::string_view, Behavior> kNames[] = {{"Removed", Behavior::removed},
                                                                     {"Isolated", Behavior::isolated},
                                                                     {"MergedWithPrevious", Behavior::with_previous},
                                                                     {"MergedWithNext", Behavior::with_next},
                                                                     {"Contiguous", Behavior::contiguous}};
  return named(part, "behavior", kNames);
}

PreTokenizer cut_sequence(const JsonView& part) {
  // From the last to the first: each hands its pieces to the one after it.
  PreTokenizer chain = [](std::string_view text, bool first, const PieceSink& sink) { sink(text, first); };
  const auto steps = part.at("pretokenizers").items();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    chain = [one = read_pre_tokenizer(*step), rest = std::move(chain)](std::string_view text, bool first,
                                                                       const PieceSink& sink) {
      one(text, first, [&](std::string_view piece, bool piece_first) { rest(piece, piece_first, sink); });
    };
  return chain;
}

PreTokenizer cut_byte_level(const JsonView& part) {
  // GPT-2's (Radford et al. 2019): contractions, letters, numbers, the rest, white space.
  constexpr std::string_view kPattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  const bool cuts = part.boolean("use_regex", true);
  return [space = part.boolean("add_prefix_space", true), cuts, pattern = Regex::from_oniguruma(kPattern)](
             std::string_view text, bool first, const PieceSink& sink) {
    std::string spaced;
    if (space && !text.starts_with(' ')) {
      spaced.append(" ").append(text);
      text = spaced;
    }
    const auto put = [&](std::string_view piece, bool piece_first) { sink(visible_bytes(piece), piece_first); };
    if (!cuts) return put(text, first);
    cut_by_pattern(text, first, pattern, {Behavior::isolated}, put);
  };
}

PreTokenizer cut_whitespace(const JsonView&) {
  const std::string pattern = fmt::format(R"([{0}]+|[^{0}\p{{White_Space}}]+)", kWordClass);
  return [regex = Regex(pattern)](std::string_view text, bool first, const PieceSink& sink) {
    cut_by_pattern(text, first, regex, {Behavior::removed, /*invert=*/true}, sink);
  };
}

PreTokenizer cut_whitespace_split(const JsonView&) {
  return [](std::string_view text, bool first, const PieceSink& sink) {
    cut_by_class(text, first, is_space, Behavior::removed, sink);
  };
}

PreTokenizer cut_bert(const JsonView&) {
  return [](std::string_view text, bool first, const PieceSink& sink) {
    cut_by_class(text, first, is_space, Behavior::removed, [&](std::string_view word, bool word_first) {
      cut_by_class(word, word_first, is_bert_punctuation, Behavior::isolated, sink);
    });
  };
}

PreTokenizer cut_metaspace(const JsonView& part) {
  const Metaspace settings = read_metaspace(part);
  const Regex space = Regex::literal(" "), mark = Regex::literal(settings.replacement);
  return [settings, space, mark](std::string_view text, bool first, const PieceSink& sink) {
    std::string marked = replaced(text, space, settings.replacement);
    const bool wanted =
        settings.prepend == Metaspace::Prepend::always || (settings.prepend == Metaspace::Prepend::first && first);
    if (wanted && !marked.starts_with(settings.replacement)) marked.insert(0, settings.replacement);
    if (!settings.split) return sink(marked, first);
    cut_by_pattern(marked, first, mark, {Behavior::with_next}, sink);
  };
}

PreTokenizer cut_punctuation(const JsonView& part) {
  const auto behavior = part.find("behavior");
  return [cut = behavior ? read_behavior(*behavior) : Behavior::isolated](std::string_view text, bool first,
                                                                          const PieceSink& sink) {
    cut_by_class(text, first, is_bert_punctuation, cut, sink);
  };
}

PreTokenizer cut_digits(const JsonView& part) {
  const Behavior cut = part.boolean("individual_digits", false) ? Behavior::isolated : Behavior::contiguous;
  return [cut](std::string_view text, bool first, const PieceSink& sink) {
    cut_by_class(text, first, is_number, cut, sink);
  };
}

PreTokenizer cut_split(const JsonView& part) {
  const Cut cut{read_behavior(part.at("behavior")), part.boolean("invert", false)};
  return [cut, pattern = read_pattern(part.at("pattern"))](std::string_view text, bool first, const PieceSink& sink) {
    cut_by_pattern(text, first, pattern, cut, sink);
  };
}

PreTokenizer cut_delimiter(const JsonView& part) {
  return [delimiter = part.at("delimiter").character()](std::string_view text, bool first, const PieceSink& sink) {
    cut_by_class(
        text, first, [&](char32_t code) { return code == delimiter; }, Behavior::removed, sink);
  };
}

}  // namespace

PreTokenizer read_pre_tokenizer(const JsonView& part) {
  using Builder = PreTokenizer (*)(const JsonView&);
  static constexpr std::pair<std::string_view, Builder> kBuilders[] = {{"Sequence", cut_sequence},
                                                                       {"ByteLevel", cut_byte_level},
                                                                       {"Whitespace", cut_whitespace},
                                                                       {"WhitespaceSplit", cut_whitespace_split},
                                                                       {"BertPreTokenizer", cut_bert},
                                                                       {"Metaspace", cut_metaspace},
                                                                       {"Punctuation", cut_punctuation},
                                                                       {"Digits", cut_digits},
                                                                       {"Split", cut_split},
                                                                       {"CharDelimiterSplit", cut_delimiter}};
  return named(part.at("type"), "type", kBuilders)(part);
}

}  // namespace ordo
