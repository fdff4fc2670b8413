// SPDX-License-Identifier: Apache-2.0
// Times attention kernels on the CPU, forward and backward, contestants taking turns. One JSON line per contestant:
// median and least milliseconds of a call, and the ratio to the first contestant in the same round (median, least,
// largest).
//   bench_attention [B=12] [H=6] [G=H] [L=256] [Lq=L] [E=64] [threads=1] [rounds=9] [dtype=fp32|bf16] [backward=1]
//   [causal=1] [dropout=0]
//                   [contestants=sdpa,tiled,tiled_offset]
// L counts keys, Lq queries: the last ones. Contestants: a kernel's kind, for a bias followed by _offset (learned, over
// offsets), _fixed (the same without gradient) or _key.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include "ordo/attention/kernel.h"

namespace {
using ordo::Tensor;

using Options = std::map<std::string, std::string>;
Options read_options(int count, char** words) {
  Options options{{"B", "12"},
                  {"H", "6"},
                  {"G", ""},
                  {"L", "256"},
                  {"Lq", ""},
                  {"E", "64"},
                  {"threads", "1"},
                  {"rounds", "9"},
                  {"dtype", "fp32"},
                  {"backward", "1"},
                  {"causal", "1"},
                  {"dropout", "0"},
                  {"contestants", "sdpa,tiled,tiled_offset"}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const size_t equal = word.find('=');
    ordo::require<ordo::ConfigError>(equal != std::string::npos && options.contains(word.substr(0, equal)),
                                     "unknown option '{}'", word);
    options[word.substr(0, equal)] = word.substr(equal + 1);
  }
  if (options["G"].empty()) options["G"] = options["H"];
  if (options["Lq"].empty()) options["Lq"] = options["L"];
  return options;
}

struct OffsetVector final : ordo::ScoreBias {
  explicit OffsetVector(Tensor w) : w(std::move(w)) {}
  Tensor tile(const ordo::Tile& t, const Tensor& q, const Tensor&) const override {
    (void)q;
    const Tensor offset = at::arange(t.k0, t.k1).unsqueeze(0) - at::arange(t.q0, t.q1).unsqueeze(1);
    return w.index_select(1, offset.reshape({-1}) + (w.size(1) - 1) / 2).view({1, w.size(0), t.rows(), t.columns()});
  }
  std::optional<Tensor> by_offset() const override { return w; }
  std::vector<Tensor> inputs() const override { return {w}; }
  Tensor w;
};
struct KeyVector final : ordo::ScoreBias {
  explicit KeyVector(Tensor c) : c(std::move(c)) {}
  Tensor tile(const ordo::Tile& t, const Tensor&, const Tensor&) const override { return c.slice(3, t.k0, t.k1); }
  std::optional<Tensor> by_key() const override { return c; }
  std::vector<Tensor> inputs() const override { return {c}; }
  Tensor c;
};

struct Contestant {
  std::string name;
  std::shared_ptr<ordo::AttentionKernel> kernel;
  std::shared_ptr<const ordo::ScoreBias> bias;
};

Contestant make_contestant(const std::string& name, int64_t H, int64_t L) {
  const size_t cut = name.find('_');
  Contestant made{name, ordo::kernels().build(name.substr(0, cut), {}), nullptr};
  const std::string form = cut == std::string::npos ? "" : name.substr(cut + 1);
  if (form == "offset" || form == "fixed")
    made.bias = std::make_shared<OffsetVector>((at::randn({H, 2 * L - 1}) * 0.5).requires_grad_(form == "offset"));
  if (form == "key") made.bias = std::make_shared<KeyVector>((at::randn({1, H, 1, L}) * 0.5).requires_grad_(true));
  return made;
}

class Bench {
 public:
  explicit Bench(Options options)
      : o_(std::move(options)),
        B_(number("B")),
        H_(number("H")),
        G_(number("G")),
        Lq_(number("Lq")),
        L_(number("L")),
        E_(number("E")) {
    const auto type = o_["dtype"] == "bf16" ? at::kBFloat16 : at::kFloat;
    const auto leaf = [&](int64_t L, int64_t heads) {
      return at::randn({B_, L, heads * E_}).to(type).requires_grad_(true);
    };
    q_ = leaf(Lq_, H_), k_ = leaf(L_, G_), v_ = leaf(L_, G_), dout_ = at::randn({B_, Lq_, H_ * E_}).to(type);
  }
  double once(const Contestant& c) const {
    const bool backward = o_.at("backward") == "1";
    const at::AutoGradMode mode(backward);
    const auto heads = [&](const Tensor& t, int64_t n) { return t.view({B_, t.size(1), n, E_}).transpose(1, 2); };
    for (const Tensor& t : {q_, k_, v_}) t.mutable_grad() = Tensor();
    const auto begin = std::chrono::steady_clock::now();
    ordo::AttentionCall call{.q = heads(q_, H_),
                             .k = heads(k_, G_),
                             .v = heads(v_, G_),
                             .mask = {.causal = o_.at("causal") == "1", .offset = L_ - Lq_},
                             .bias = c.bias,
                             .scale = 0.125,
                             .dropout = std::stod(o_.at("dropout"))};
    const Tensor out = c.kernel->run(call).out.transpose(1, 2).reshape({B_, Lq_, H_ * E_});
    if (backward) out.backward(dout_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e3;
  }
  int64_t number(const std::string& key) const { return std::stoll(o_.at(key)); }
  const Options& options() const { return o_; }

 private:
  Options o_;
  int64_t B_, H_, G_, Lq_, L_, E_;
  Tensor q_, k_, v_, dout_;
};

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

void measure(const Bench& bench) {
  std::vector<Contestant> contestants;
  std::string names = bench.options().at("contestants") + ",";
  for (size_t comma; (comma = names.find(',')) != std::string::npos; names.erase(0, comma + 1))
    contestants.push_back(make_contestant(names.substr(0, comma), bench.number("H"), bench.number("L")));
  std::vector<std::vector<double>> times(contestants.size());
  for (int64_t round = -2; round < bench.number("rounds"); ++round) {  // two rounds to warm up
    for (size_t i = 0; i < contestants.size(); ++i) {
      const double ms = bench.once(contestants[i]);
      if (round >= 0) times[i].push_back(ms);
    }
  }
  for (size_t i = 0; i < contestants.size(); ++i) {
    std::vector<double> ratio;
    for (size_t r = 0; r < times[i].size(); ++r) ratio.push_back(times[0][r] / times[i][r]);
    std::string settings;
    for (const auto& [key, value] : bench.options())
      if (key != "contestants") settings += fmt::format("\"{}\": \"{}\", ", key, value);
    fmt::print(
        "{{\"bench\": \"attention\", \"contestant\": \"{}\", {}\"ms\": {:.3f}, \"least_ms\": {:.3f}, "
        "\"speed_to_first\": [{:.3f}, {:.3f}, {:.3f}]}}\n",
        contestants[i].name, settings, median(times[i]), *std::min_element(times[i].begin(), times[i].end()),
        median(ratio), *std::min_element(ratio.begin(), ratio.end()), *std::max_element(ratio.begin(), ratio.end()));
  }
}
}  // namespace

int main(int count, char** words) {
  try {
    at::globalContext().setFlushDenormal(true);
    const Bench bench(read_options(count, words));
    at::set_num_threads(static_cast<int>(bench.number("threads")));
    measure(bench);
  } catch (const ordo::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return e.exit_code();
  }
  return 0;
}
