// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/config/writer.h"
#include "ordo/models/stack.h"
#include "ordo/positions/encoding.h"

namespace ordo {

namespace {
constexpr NamedValue kNormPlacementNames[] = {{"pre", static_cast<int>(NormPlacement::pre)},
                                              {"post", static_cast<int>(NormPlacement::post)},
                                              {"sandwich", static_cast<int>(NormPlacement::sandwich)},
                                              {"parallel", static_cast<int>(NormPlacement::parallel)}};
}  // namespace

constinit const std::span<const NamedValue> kNormPlacements(kNormPlacementNames);

void fields(Fields& f, NormConfig& c) {
  f("kind", c.kind, "LayerNorm or RMSNorm", kNormKinds);
  f("placement", c.placement, "before, after, or around each half of a block; parallel: one norm feeds both halves",
    kNormPlacements);
  f("eps", c.eps, "added to the variance", above(0.0));
}

void fields(Fields& f, StackConfig& c) {
  f("dim", c.dim, "width of the hidden states", required(within(1, 1 << 20)));
  f("layers", c.layers, "number of blocks", required(within(1, 10000)));
  f("max_length", c.max_length, "longest sequence it is built for; 0: train.length", within(0, 1 << 30));
  f("attention", c.attention, "self-attention of every block");
  f("feed_forward", c.feed_forward, "feed-forward of every block");
  f("norm", c.norm, "norms of every block");
  f("position", c.position, "position encoding, or a list of several that act together; absent: none");
  f("dropout", c.dropout, "after the embedding, attention and feed-forward, and inside the feed-forward", below_one());
  f("drop_path", c.drop_path, "stochastic depth of the last block; the blocks before rise linearly to it", below_one());
  f("bias", c.bias, "linear layers and norms have biases");
  f("init", c.init, "first values of the weights");
  f("tie_embeddings", c.tie_embeddings, "the head uses the embedding's weight");
  f("scale_embedding", c.scale_embedding, "multiply token embeddings by sqrt(dim)");
  f("embedding_norm", c.embedding_norm, "a norm after embedding and position");
  f("softcap", c.softcap, "output logits become cap * tanh(logit / cap)", above(0.0));
}

void check(const StackConfig& c, const std::string& path, Problems& problems) {
  const AttentionConfig& a = c.attention;
  if (c.dim < 1 || c.layers < 1 || a.heads < 1) {  // of a config made in code; the reader has reported it already
    if (problems.empty())
      problems.add(path, "{}.dim ({}), {}.layers ({}) and {}.attention.heads ({}) must be at least 1", path, c.dim,
                   path, c.layers, path, a.heads);
    return;
  }
  if (a.head_dim == 0 && c.dim % a.heads != 0)
    problems.add(path + ".attention.heads",
                 "{}.attention.heads ({}) must divide {}.dim ({}); make dim {} or {}, or give {}.attention.head_dim",
                 path, a.heads, path, c.dim, std::max(c.dim / a.heads, int64_t{1}) * a.heads,
                 (c.dim / a.heads + 1) * a.heads, path);
  if (a.kv_heads > 0 && a.heads % a.kv_heads != 0) {
    int64_t below = std::min(a.kv_heads, a.heads);
    while (a.heads % below != 0) --below;
    problems.add(path + ".attention.kv_heads",
                 "{}.attention.kv_heads ({}) must divide {}.attention.heads ({}); the next smaller one that does is {}",
                 path, a.kv_heads, path, a.heads, below);
  }
  if (static_cast<int64_t>(a.window.size()) > c.layers)
    problems.add(path + ".attention.window",
                 "{}.attention.window has {} entries, but there are only {}.layers ({}) to share them", path,
                 a.window.size(), path, c.layers);
  check(c.init, path + ".init", problems);
  if (c.tie_embeddings && c.init.kind == InitKind::lecun_normal && !c.init.embedding_std)
    problems.add(
        path + ".init.kind",
        "{}.init.kind: lecun_normal gives embeddings a standard deviation of 1, far too much for a head that "
        "shares them ({}.tie_embeddings); give {}.init.embedding_std, 1 / sqrt({}.dim) say, or tie_embeddings: "
        "false",
        path, path, path, path);
  check_layers(c.position, c.layers, path, "position", problems);
}

void check_layers(const std::vector<Choice<PositionEncoding>>& list, int64_t layers, const std::string& path,
                  const std::string& key, Problems& problems) {
  for (size_t n = 0; n < list.size(); ++n) {
    const auto& choice = list[n];
    if (choice.config == nullptr) continue;  // of a config made in code: all defaults
    const Json settings = json_of(positions().find(choice.kind).info, choice.config);
    if (!settings.contains("layers") || static_cast<int64_t>(settings["layers"].size()) <= layers) continue;
    problems.add(fmt::format("{}.{}.{}.layers", path, key, n),
                 "{}.{}.layers has {} entries, but there are only {}.layers ({}) to share them", path,
                 list.size() == 1 ? key : fmt::format("{}.{}", key, n), settings["layers"].size(), path, layers);
  }
}

void complete(StackConfig& c, const ModelFacts& facts) {
  if (c.max_length == 0) c.max_length = facts.max_length;
  require<ConfigError>(c.max_length > 0, "model.max_length is 0 and no train.length is known; give one of them");
}

std::shared_ptr<Head> make_head(const StackConfig& c, const Tensor& embedding) {
  return c.tie_embeddings ? std::make_shared<Head>(embedding, c.softcap)
                          : std::make_shared<Head>(c.dim, embedding.size(0), c.softcap);
}

std::vector<BlockConfig> resolve_blocks(const StackConfig& c) {
  AttentionConfig attention = c.attention;
  if (attention.kv_heads == 0) attention.kv_heads = attention.heads;
  if (attention.head_dim == 0) attention.head_dim = c.dim / attention.heads;
  FeedForwardConfig feed_forward = c.feed_forward;
  feed_forward.hidden = FeedForward::width(c.feed_forward, c.dim);
  std::vector<BlockConfig> blocks;
  for (int64_t i = 0; i < c.layers; ++i) {
    BlockConfig block{
        .attention = {.config = attention, .dim = c.dim, .layer = i, .bias = c.bias, .norm_eps = c.norm.eps},
        .feed_forward = feed_forward,
        .norm = c.norm,
        .dropout = c.dropout,
        .bias = c.bias,
        .dim = c.dim};
    const auto& pattern = attention.window;
    const int64_t window = pattern.empty() ? 0 : pattern[static_cast<size_t>(i) % pattern.size()];
    if (window > 0) block.attention.window = window;
    block.drop_path =
        c.layers == 1 ? c.drop_path : c.drop_path * static_cast<double>(i) / static_cast<double>(c.layers - 1);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace ordo
