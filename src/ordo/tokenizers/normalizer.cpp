// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/normalizer.h"

#include <algorithm>
#include <array>

#include "ordo/tokenizers/charsmap.h"
#include "ordo/tokenizers/unicode.h"

namespace ordo {

namespace {

// Bytes that stand for themselves; the others become U+0100 and on, in their order.
bool is_visible(unsigned byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174; }

struct ByteAlphabet {
  std::array<std::string, 256> text;
  std::array<int, 0x144> byte{};  // by code point; -1: none
  ByteAlphabet() {
    byte.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const char32_t code = is_visible(b) ? b : next++;
      append_utf8(text[b], code);
      byte[code] = static_cast<int>(b);
    }
  }
};
const ByteAlphabet& byte_alphabet() {
  static const ByteAlphabet alphabet;
  return alphabet;
}

template <class Keep>
std::string filtered(std::string_view text, const Keep& keep) {
  std::string made;
  made.reserve(text.size());
  each_character(text, [&](char32_t code, std::string_view bytes) {
    if (keep(code)) made += bytes;
  });
  return made;
}

template <NormalForm form>
Normalizer normalizer_form(const JsonView&) {
  return [](const std::string& text) { return normal_form(text, form); };
}

Normalizer normalizer_sequence(const JsonView& part) {
  std::vector<Normalizer> steps;
  for (const JsonView& step : part.at("normalizers").items()) steps.push_back(read_normalizer(step));
  return [steps](std::string text) {
    for (const auto& step : steps) text = step(std::move(text));
    return text;
  };
}

Normalizer normalizer_lowercase(const JsonView&) {
  return [](const std::string& text) { return lower_case(text); };
}

std::string stripped(std::string_view text, bool left, bool right) {
  size_t from = text.size(), to = 0, at = 0;
  each_character(text, [&](char32_t code, std::string_view bytes) {
    if (!is_space(code)) {
      from = std::min(from, at);
      to = at + bytes.size();
    }
    at += bytes.size();
  });
  if (!left) from = 0;
  if (!right) to = text.size();
  return from < to ? std::string(text.substr(from, to - from)) : "";
}

Normalizer normalizer_strip(const JsonView& part) {
  return [left = part.boolean("strip_left", true), right = part.boolean("strip_right", true)](const std::string& text) {
    return stripped(text, left, right);
  };
}

Normalizer normalizer_strip_accents(const JsonView&) {
  return [](const std::string& text) { return filtered(text, [](char32_t code) { return !is_mark(code); }); };
}

Normalizer normalizer_replace(const JsonView& part) {
  return [pattern = read_pattern(part.at("pattern")), content = part.at("content").text()](const std::string& text) {
    return replaced(text, pattern, content);
  };
}

Normalizer normalizer_prepend(const JsonView& part) {
  return [before = part.at("prepend").text()](std::string text) { return text.empty() ? text : before + text; };
}

// CJK ideographs as the BERT tokenizer counts them. One of its blocks begins later than Unicode's (U+2B820).
bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string cleaned(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  each_character(text, [&](char32_t code, std::string_view bytes) {
    const bool line = code == '\t' || code == '\n' || code == '\r';
    if (code == 0 || code == 0xFFFD || (!line && is_other(code))) return;
    made += is_space(code) ? " " : bytes;
  });
  return made;
}

std::string spaced_ideographs(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  each_character(text, [&](char32_t code, std::string_view bytes) {
    if (is_ideograph(code))
      made.append(" ").append(bytes).append(" ");
    else
      made += bytes;
  });
  return made;
}

Normalizer normalizer_bert(const JsonView& part) {
  const bool lower = part.boolean("lowercase", true);
  return [clean = part.boolean("clean_text", true), ideographs = part.boolean("handle_chinese_chars", true),
          accents = part.boolean("strip_accents", lower), lower](std::string text) {
    if (clean) text = cleaned(text);
    if (ideographs) text = spaced_ideographs(text);
    if (accents)
      text = filtered(normal_form(text, NormalForm::nfd), [](char32_t code) { return !is_nonspacing_mark(code); });
    return lower ? lower_case(text) : text;
  };
}

// The rules of SentencePiece's nmt normalisation that concern control characters and odd spaces.
Normalizer normalizer_nmt(const JsonView&) {
  return [](const std::string& text) {
    std::string made;
    each_character(text, [&](char32_t c, std::string_view bytes) {
      const bool dropped =
          (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
      const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
                         c == 0xFFFD;
      if (!dropped) made += space ? " " : bytes;
    });
    return made;
  };
}

std::string from_base64(const JsonView& part) {
  const std::string& text = part.text();
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : std::string_view(text).substr(0, text.find('='))) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    part.require(value >= 0, "it is not base64");
    bits = (bits << 6U) | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xFFU);
  }
  return bytes;
}

Normalizer normalizer_precompiled(const JsonView& part) {
  const JsonView table = part.at("precompiled_charsmap");
  const std::string bytes = from_base64(table);
  if (bytes.empty()) return [](std::string text) { return text; };
  try {
    return [map = std::make_shared<const Charsmap>(bytes)](const std::string& text) { return map->replaced(text); };
  } catch (const DataError& error) {
    table.refuse(error.what());
  }
}

Normalizer normalizer_byte_level(const JsonView&) {
  return [](const std::string& text) { return visible_bytes(text); };
}

}  // namespace

std::string visible_bytes(std::string_view bytes) {
  const ByteAlphabet& alphabet = byte_alphabet();
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 4);
  for (const char c : bytes) text += alphabet.text[static_cast<unsigned char>(c)];
  return text;
}

std::string bytes_of_visible(std::string_view token) {
  const ByteAlphabet& alphabet = byte_alphabet();
  std::string bytes;
  bool whole = true;
  each_character(token, [&](char32_t code, std::string_view) {
    const int byte = code < alphabet.byte.size() ? alphabet.byte[code] : -1;
    whole = whole && byte >= 0;
    bytes += static_cast<char>(byte);
  });
  return whole ? bytes : std::string(token);
}

Regex read_pattern(const JsonView& part) {
  const auto text = part.find("String");
  const JsonView given = text ? *text : part.at("Regex");
  given.require(!given.text().empty(), "the pattern is empty");
  try {
    return text ? Regex::literal(given.text()) : Regex::from_oniguruma(given.text());
  } catch (const DataError& error) {
    given.refuse(error.what());
  }
}

std::string replaced(std::string_view text, const Regex& pattern, std::string_view content) {
  constexpr size_t kLongest = size_t{1} << 31;  // replacements that feed each other grow without end
  std::string made;
  size_t kept = 0;
  Matches matches(pattern, text);
  while (const auto match = matches.next()) {
    made += text.substr(kept, match->from - kept);
    made += content;
    require<DataError>(made.size() <= kLongest, "the replacements of a normaliser make more than {} bytes of a text",
                       kLongest);
    kept = match->to;
  }
  return made += text.substr(kept);
}

Normalizer read_normalizer(const JsonView& part) {
  using Builder = Normalizer (*)(const JsonView&);
  static constexpr std::pair<std::string_view, Builder> kBuilders[] = {{"Sequence", normalizer_sequence},
                                                                       {"NFC", normalizer_form<NormalForm::nfc>},
                                                                       {"NFD", normalizer_form<NormalForm::nfd>},
                                                                       {"NFKC", normalizer_form<NormalForm::nfkc>},
                                                                       {"NFKD", normalizer_form<NormalForm::nfkd>},
                                                                       {"Lowercase", normalizer_lowercase},
                                                                       {"Strip", normalizer_strip},
                                                                       {"StripAccents", normalizer_strip_accents},
                                                                       {"Replace", normalizer_replace},
                                                                       {"Prepend", normalizer_prepend},
                                                                       {"BertNormalizer", normalizer_bert},
                                                                       {"Nmt", normalizer_nmt},
                                                                       {"Precompiled", normalizer_precompiled},
                                                                       {"ByteLevel", normalizer_byte_level}};
  return named(part.at("type"), "type", kBuilders)(part);
}

}  // namespace ordo
