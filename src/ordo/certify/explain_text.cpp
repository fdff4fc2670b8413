// SPDX-License-Identifier: Apache-2.0
// The worked example in words and tables, and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ordo/certify/explain.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr double kEqual = 1e-9;  // in fp64: sums in another order
constexpr int64_t kShownNumbers = 8;

std::string both_names(size_t word) {
  return fmt::format("{} {}", kWorkedWords.at(word).english, kWorkedWords.at(word).chinese);
}

std::string sentence(const std::vector<size_t>& words) {
  std::string english, chinese;
  for (const size_t word : words) {
    english += (english.empty() ? "" : " ") + std::string(kWorkedWords.at(word).english);
    chinese += kWorkedWords.at(word).chinese;
  }
  return fmt::format("{} / {}", english, chinese);
}

std::string indented(const std::string& text) {
  std::string all;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    all += "    " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return all;
}

// A word a row, its numbers beside it; of wide heads those channels where the words' numbers stand.
std::string vectors(const WorkedOrder& order, const Rows64& rows) {
  const auto width = static_cast<int64_t>(rows[0].size());
  std::vector<int64_t> channels = worked_channels(width);
  if (width <= kShownNumbers)
    for (channels.clear(); static_cast<int64_t>(channels.size()) < width;)
      channels.push_back(static_cast<int64_t>(channels.size()));
  Table table({});
  for (size_t t = 0; t < rows.size(); ++t) {
    std::vector<std::string> cells{both_names(order.words[t])};
    for (const int64_t c : channels) cells.push_back(decimal_text(rows[t][static_cast<size_t>(c)]));
    table.row(cells);
  }
  return indented(table.text());
}

// A query a row, a key a column.
std::string matrix(const WorkedOrder& order, const Rows64& rows, bool causal) {
  std::vector<std::string> header{"query \\ key"};
  for (const size_t word : order.words) header.push_back(both_names(word));
  Table table(header);
  for (size_t t = 0; t < rows.size(); ++t) {
    std::vector<std::string> cells{both_names(order.words[t])};
    for (size_t s = 0; s < rows[t].size(); ++s) cells.push_back(causal && s > t ? "-" : decimal_text(rows[t][s]));
    table.row(cells);
  }
  return indented(table.text());
}

std::string order_text(const WorkedExample& example, const WorkedPass& pass, const WorkedOrder& order) {
  std::string all = fmt::format("  {}\n\n", sentence(order.words));
  const bool moved = order.inputs != order.queries || order.inputs != order.keys;
  if (moved)
    all += "  queries\n" + vectors(order, order.queries) + "  keys\n" + vectors(order, order.keys) + "  values\n" +
           vectors(order, order.values);
  else
    all += "  vectors (queries, keys and values)\n" + vectors(order, order.inputs);
  all += "  scores: query · key\n" + matrix(order, order.scores, pass.causal);
  all +=
      fmt::format("  scaled: scores / √d, with d = {}\n", example.head_dim) + matrix(order, order.scaled, pass.causal);
  if (!order.bias.empty()) all += "  added by the encoding\n" + matrix(order, order.bias, pass.causal);
  all += "  weights: softmax of each row\n" + matrix(order, order.weights, pass.causal);
  return all + "  outputs: weighted sums of the values\n" + vectors(order, order.outputs) + "\n";
}

std::string three(const std::vector<double>& values) {
  return fmt::format("{:>9} {:>9} {:>9}", decimal_text(values[0]), decimal_text(values[1]), decimal_text(values[2]));
}

std::string widths_text(const WorkedExample& example) {
  std::string table = fmt::format("{:>6}   {:>29}   {:>29}   {:>29}\n", "d", "scores of one query",
                                  "softmax without scaling", "softmax of scores / √d");
  for (const WorkedWidth& w : example.widths)
    table += fmt::format("{:>6}   {}   {}   {}\n", w.width, three(w.scores), three(w.unscaled), three(w.scaled));
  return "Why 1/√d: numbers of variance 1 give scores of variance d. Without the scaling softmax soon puts all weight "
         "on "
         "one key,\nand its gradient vanishes; with it the rows stay soft at any width:\n\n" +
         indented(table);
}

std::string plain_end(const WorkedExample& example) {
  return fmt::format(
      "Each word has the same output in both orders (largest difference {:.1g}): the outputs are only "
      "permuted.\nWithout an encoding attention cannot tell who chases whom.\n\n",
      example.plain.difference);
}

std::string encoded_end(const WorkedExample& example) {
  std::string all = fmt::format("The encoding changes the outputs by up to {:.2g}, order and mask being equal.\n",
                                example.encoding_alone);
  if (example.encoded.difference > kEqual)
    all += fmt::format("Each word's output depends on the order: up to {:.4f} between the two.\n",
                       example.encoded.difference);
  else
    all +=
        "Between these two orders the outputs are the same: the second is the first reversed, and this encoding tells "
        "how far a word\nis, not on which side. Other orders differ.\n";
  if (example.encoded.causal)
    all += fmt::format("(This model is causal: a word sees itself and those before it. The mask alone makes {:.4f}.)\n",
                       example.mask_alone);
  return all;
}

Json order_json(const WorkedOrder& order) {
  Json words = Json::array(), chinese = Json::array();
  for (const size_t word : order.words) {
    words.push_back(kWorkedWords.at(word).english);
    chinese.push_back(kWorkedWords.at(word).chinese);
  }
  Json all{{"words", std::move(words)}, {"words_zh", std::move(chinese)},
           {"inputs", order.inputs},    {"queries", order.queries},
           {"keys", order.keys},        {"values", order.values},
           {"scores", order.scores},    {"scaled", order.scaled},
           {"bias", nullptr},           {"weights", order.weights},
           {"outputs", order.outputs}};
  if (!order.bias.empty()) all["bias"] = order.bias;
  return all;
}

Json pass_json(const WorkedPass& pass) {
  return {{"causal", pass.causal},
          {"orders", {order_json(pass.orders[0]), order_json(pass.orders[1])}},
          {"difference", pass.difference}};
}

}  // namespace

std::string worked_text(const WorkedExample& example) {
  std::string all =
      "Three words, one head. Query, key and value of a word are its vector itself, so that all can be done by "
      "hand.\n\n"
      "1. Without an encoding\n\n";
  if (example.head_dim > kShownNumbers)
    all.insert(all.find("1. "),
               fmt::format("Heads are {} wide; the channels {} are shown, the others are 0 in the words.\n\n",
                           example.head_dim, fmt::join(worked_channels(example.head_dim), ", ")));
  for (const auto& order : example.plain.orders) all += order_text(example, example.plain, order);
  all += plain_end(example);
  if (example.title == "none")
    return all +
           (example.layer_note.empty() ? "The config has no encoding: that is all there is.\n\n"
                                       : example.layer_note + "\n\n") +
           widths_text(example);
  all += fmt::format("2. With {}{}\n\n", example.title,
                     example.encoded.causal ? ", as this causal model sees: each word itself and those before it" : "");
  if (!example.layer_note.empty()) all += example.layer_note + "\n\n";
  for (const auto& order : example.encoded.orders) all += order_text(example, example.encoded, order);
  return all + encoded_end(example) + "\n" + widths_text(example);
}

Json as_json(const WorkedExample& example) {
  Json widths = Json::array();
  for (const WorkedWidth& w : example.widths)
    widths.push_back({{"d", w.width}, {"scores", w.scores}, {"unscaled", w.unscaled}, {"scaled", w.scaled}});
  return {{"encoding", example.encoding},
          {"title", example.title},
          {"layer", example.layer},
          {"layer_note", example.layer_note.empty() ? Json(nullptr) : Json(example.layer_note)},
          {"fresh_weights", true},
          {"d", example.head_dim},
          {"plain", pass_json(example.plain)},
          {"encoded", pass_json(example.encoded)},
          {"mask_alone", example.mask_alone},
          {"encoding_alone", example.encoding_alone},
          {"widths", std::move(widths)}};
}

}  // namespace ordo
