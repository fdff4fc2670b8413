// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/decoder.h"

#include <algorithm>

#include "ordo/core/text.h"
#include "ordo/tokenizers/metaspace.h"
#include "ordo/tokenizers/normalizer.h"
#include "ordo/tokenizers/unicode.h"
#include "ordo/tokenizers/vocabulary.h"

namespace ordo {

namespace {

// English as one writes it, from words with a space between each.
std::string tidied(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) text = with_replaced(std::move(text), from, to);
  return text;
}

Decoder decoder_sequence(const JsonView& part) {
  std::vector<Decoder> steps;
  for (const JsonView& step : part.at("decoders").items()) steps.push_back(read_decoder(step));
  return [steps](Decoding& d) {
    for (const auto& step : steps) step(d);
  };
}

Decoder decoder_byte_level(const JsonView&) {
  return [](Decoding& d) {
    for (auto& token : d.tokens) token = bytes_of_visible(token);
    if (!d.apart) d.tokens = {repaired_utf8(join(d.tokens, ""))};
    d.fused = true;
  };
}

Decoder decoder_word_piece(const JsonView& part) {
  return [prefix = part.text("prefix", "##"), tidies = part.boolean("cleanup", true)](Decoding& d) {
    for (size_t i = 0; i < d.tokens.size(); ++i) {
      std::string& token = d.tokens[i];
      if (i > 0) token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
      if (tidies) token = tidied(std::move(token));
    }
  };
}

Decoder decoder_metaspace(const JsonView& part) {
  return [settings = read_metaspace(part)](Decoding& d) {
    for (size_t i = 0; i < d.tokens.size(); ++i) {
      const bool dropped = i == 0 && settings.prepend != Metaspace::Prepend::never;
      d.tokens[i] = with_replaced(std::move(d.tokens[i]), settings.replacement, dropped ? "" : " ");
    }
  };
}

Decoder decoder_bpe(const JsonView& part) {
  const std::string suffix = part.text("suffix", "</w>");
  part.require(!suffix.empty(), "'suffix' is empty");
  return [suffix](Decoding& d) {
    for (size_t i = 0; i < d.tokens.size(); ++i)
      d.tokens[i] = with_replaced(std::move(d.tokens[i]), suffix, i + 1 == d.tokens.size() ? "" : " ");
  };
}

Decoder decoder_byte_fallback(const JsonView&) {
  return [](Decoding& d) {
    std::vector<std::string> made;
    std::string bytes;
    const auto put_bytes = [&] {
      if (bytes.empty()) return;
      std::string text = bytes;
      if (!valid_utf8(bytes)) {
        text.clear();  // one for each byte, as the tokenizers library has it here, and not as repaired_utf8
        for (size_t i = 0; i < bytes.size(); ++i) text += "\uFFFD";
      }
      made.push_back(text);
      bytes.clear();
    };
    for (auto& token : d.tokens) {
      const auto byte = byte_of(token);
      if (!byte) {
        put_bytes();
        made.push_back(std::move(token));
      } else if (d.apart) {
        made.emplace_back(1, *byte);
      } else {
        bytes += *byte;
      }
    }
    put_bytes();
    d.tokens = std::move(made);
  };
}

Decoder decoder_fuse(const JsonView&) {
  return [](Decoding& d) {
    if (!d.apart) d.tokens = {join(d.tokens, "")};
    d.fused = true;
  };
}

Decoder decoder_strip(const JsonView& part) {
  constexpr int64_t kMost = 1 << 20;
  std::string content;
  append_utf8(content, part.at("content").character());
  const int64_t left = part.at("start").integer(0, kMost), right = part.at("stop").integer(0, kMost);
  return [content, left, right](Decoding& d) {
    if (d.apart && d.fused) return;
    for (auto& token : d.tokens) {
      std::string_view kept = token;
      for (int64_t i = 0; i < left && kept.starts_with(content); ++i) kept.remove_prefix(content.size());
      for (int64_t i = 0; i < right && kept.ends_with(content); ++i) kept.remove_suffix(content.size());
      token = std::string(kept);
    }
  };
}

Decoder decoder_replace(const JsonView& part) {
  return [pattern = read_pattern(part.at("pattern")), content = part.at("content").text()](Decoding& d) {
    for (auto& token : d.tokens) token = replaced(token, pattern, content);
  };
}

// Of a network that names a token for each frame: repetitions and pads go.
Decoder decoder_ctc(const JsonView& part) {
  return [pad = part.text("pad_token", "<pad>"), delimiter = part.text("word_delimiter_token", "|"),
          tidies = part.boolean("cleanup", true)](Decoding& d) {
    if (!d.apart) d.tokens.erase(std::unique(d.tokens.begin(), d.tokens.end()), d.tokens.end());
    for (auto& token : d.tokens) {
      if (!pad.empty()) token = with_replaced(std::move(token), pad, "");
      if (!tidies) continue;
      token = tidied(std::move(token));
      if (!delimiter.empty()) token = with_replaced(std::move(token), delimiter, " ");
    }
  };
}

}  // namespace

Decoder read_decoder(const JsonView& part) {
  using Builder = Decoder (*)(const JsonView&);
  static constexpr std::pair<std::string_view, Builder> kBuilders[] = {{"Sequence", decoder_sequence},
                                                                       {"ByteLevel", decoder_byte_level},
                                                                       {"WordPiece", decoder_word_piece},
                                                                       {"Metaspace", decoder_metaspace},
                                                                       {"BPEDecoder", decoder_bpe},
                                                                       {"ByteFallback", decoder_byte_fallback},
                                                                       {"Fuse", decoder_fuse},
                                                                       {"Strip", decoder_strip},
                                                                       {"Replace", decoder_replace},
                                                                       {"CTC", decoder_ctc}};
  return named(part.at("type"), "type", kBuilders)(part);
}

}  // namespace ordo
