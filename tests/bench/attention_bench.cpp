// SPDX-License-Identifier: Apache-2.0
// Times attention on the CPU, forward and backward, contestants taking turns. One JSON line per contestant: median and
// least milliseconds of a call, its time as a multiple of the first contestant's in the same round (median, least,
// largest), and the peak memory that a call adds, alone and beyond the first contestant's.
//   bench_attention [B=12] [H=6] [G=H] [L=256] [Lq=L] [E=64] [threads=1] [rounds=9] [dtype=fp32|bf16] [backward=1]
//   [causal=1] [dropout=0] [clock=wall|cpu] [table=0] [trained=0]
//                   [contestants=sdpa,tiled,tiled_offset]
// L counts keys, Lq queries: the last ones. A contestant is
//   a kernel's kind (without bias), which may be followed by a form of bias: _offset (learned, over offsets), _fixed
//   (the same without gradient), _key (learned, over keys), or _queries, _keys, _values (a learned table over offsets
//   that meets them); or a position encoding's kind: queries and keys turned, bias and value term made and their
//   gradients taken, under the kernel that `auto` chooses; its own settings are the defaults.
// trained: the length that an encoding takes itself to be trained for; 0: L. clock=cpu counts processor time, for
// machines with other work. Memory is LibTorch's own count of what one thread allocates during a call, its inputs left
// out. table=1 prints lines of a Markdown table instead of JSON.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>

#include "ordo/attention/kernel.h"
#include "ordo/nn/module.h"

namespace {
using ordo::Tensor;

using Options = std::map<std::string, std::string>;
Options read_options(int count, char** words) {
  Options options{{"B", "12"},       {"H", "6"},        {"G", ""},        {"L", "256"},
                  {"Lq", ""},        {"E", "64"},       {"threads", "1"}, {"rounds", "9"},
                  {"dtype", "fp32"}, {"backward", "1"}, {"causal", "1"},  {"dropout", "0"},
                  {"trained", "0"},  {"clock", "wall"}, {"table", "0"},   {"contestants", "sdpa,tiled,tiled_offset"}};
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
// Tables over offsets, for kernels that take them as such.
struct Tables final : ordo::ScoreBias {
  explicit Tables(ordo::ContentForm f) : form(std::move(f)) {}
  Tensor tile(const ordo::Tile&, const Tensor&, const Tensor&) const override { return {}; }
  std::optional<ordo::ContentForm> by_content() const override { return form; }
  bool reads_content() const override { return true; }
  ordo::ContentForm form;
};
struct ValueTable final : ordo::ValueTerm {
  explicit ValueTable(Tensor t) : table(std::move(t)) {}
  Tensor tile(const ordo::Tile&, const Tensor&) const override { return {}; }
  std::optional<Tensor> by_offset() const override { return table; }
  Tensor table;
};

struct Contestant {
  std::string name;
  std::shared_ptr<ordo::AttentionKernel> kernel;
  std::shared_ptr<const ordo::ScoreBias> bias = {};
  std::shared_ptr<const ordo::ValueTerm> value_term = {};
  std::shared_ptr<ordo::PositionEncoding> encoding = {};
};

bool listed(const ordo::Kinds& kinds, const std::string& kind) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const ordo::KindInfo& k) { return k.kind == kind; });
}

// The largest amount of memory held at once on this thread while it is alive.
class MemoryWatch {
 public:
  MemoryWatch() : count_(std::make_shared<Count>()), guard_(c10::DebugInfoKind::PROFILER_STATE, count_) {}
  int64_t peak() const { return count_->peak; }

 private:
  struct Count : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override {
      now += size;
      peak = std::max(peak, now);
    }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t now = 0, peak = 0;
  };
  std::shared_ptr<Count> count_;
  c10::DebugInfoGuard guard_;
};

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
    const auto leaf = [&](int64_t L, int64_t width) { return at::randn({B_, L, width}).to(type).requires_grad_(true); };
    q_ = leaf(Lq_, H_ * E_), k_ = leaf(L_, G_ * E_), v_ = leaf(L_, G_ * E_), x_ = leaf(L_, H_ * E_);
    dout_ = at::randn({B_, Lq_, H_ * E_}).to(type);
  }

  Contestant contestant(const std::string& name) const {
    if (listed(ordo::kinds_of<ordo::PositionEncoding>(), name)) return with_encoding(name);
    const size_t cut = name.find('_');
    Contestant made{name, ordo::kernels().build(name.substr(0, cut), kernel_facts())};
    const std::string form = cut == std::string::npos ? "" : name.substr(cut + 1);
    if (form == "offset" || form == "fixed")
      made.bias =
          std::make_shared<OffsetVector>((at::randn({H_, Lq_ + L_ - 1}) * 0.5).requires_grad_(form == "offset"));
    if (form == "key") made.bias = std::make_shared<KeyVector>((at::randn({1, H_, 1, L_}) * 0.5).requires_grad_(true));
    const auto table = [&] { return (at::randn({H_, Lq_ + L_ - 1, E_}) * 0.1).requires_grad_(true); };
    if (form == "queries") made.bias = std::make_shared<Tables>(ordo::ContentForm{.queries = table()});
    if (form == "keys") made.bias = std::make_shared<Tables>(ordo::ContentForm{.keys = table()});
    if (form == "values") made.value_term = std::make_shared<ValueTable>(table());
    return made;
  }

  // One call; its milliseconds.
  double once(const Contestant& c) const {
    const bool backward = o_.at("backward") == "1";
    const at::AutoGradMode mode(backward);
    forget_gradients(c);
    const double begin = now();
    const Tensor out = c.kernel->run(call(c)).out.transpose(1, 2).reshape({B_, Lq_, H_ * E_});
    if (backward) out.backward(dout_);
    return (now() - begin) * 1e3;
  }
  int64_t peak_bytes(const Contestant& c) const {
    forget_gradients(c);
    const MemoryWatch watch;
    once(c);
    return watch.peak();
  }
  int64_t number(const std::string& key) const { return std::stoll(o_.at(key)); }
  const Options& options() const { return o_; }

 private:
  ordo::KernelFacts kernel_facts() const { return {.dim = H_ * E_, .heads = H_, .kv_heads = G_, .head_dim = E_}; }
  Contestant with_encoding(const std::string& kind) const {
    const auto encoding = ordo::positions().build(kind, {.dim = H_ * E_,
                                                         .heads = H_,
                                                         .kv_heads = G_,
                                                         .head_dim = E_,
                                                         .layers = 1,
                                                         .max_length = L_,
                                                         .causal = o_.at("causal") == "1",
                                                         .trained_length = number("trained")});
    ordo::initialise(*encoding, /*seed=*/7, {}, /*layers=*/1);
    return {kind, ordo::kernels().build("auto", kernel_facts()), nullptr, nullptr, encoding};
  }
  double now() const {
    if (o_.at("clock") == "cpu") return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  void forget_gradients(const Contestant& c) const {
    for (const Tensor& t : {q_, k_, v_, x_}) t.mutable_grad() = Tensor();
    if (c.encoding) c.encoding->zero_grad();
  }

  ordo::AttentionCall call(const Contestant& c) const {
    const auto heads = [&](const Tensor& t, int64_t n) { return t.view({B_, t.size(1), n, E_}).transpose(1, 2); };
    ordo::AttentionCall call{.q = heads(q_, H_),
                             .k = heads(k_, G_),
                             .v = heads(v_, G_),
                             .mask = {.causal = o_.at("causal") == "1", .offset = L_ - Lq_},
                             .bias = c.bias,
                             .value_term = c.value_term,
                             .scale = 0.125,
                             .dropout = std::stod(o_.at("dropout"))};
    if (!c.encoding) return call;
    const ordo::Positions at = ordo::consecutive(L_ - Lq_, Lq_, at::kCPU), of_keys = ordo::consecutive(0, L_, at::kCPU);
    call.q = c.encoding->query(call.q, at, 0);
    call.k = c.encoding->key(call.k, of_keys, 0);
    call.v = c.encoding->value(call.v, of_keys, 0);
    const ordo::AttentionPass pass{.q = at,
                                   .k = of_keys,
                                   .scale = call.scale,
                                   .x = x_.slice(1, L_ - Lq_),
                                   .kept = c.encoding->keep(x_, of_keys, 0),
                                   .mask = call.mask};
    call.bias = c.encoding->scores(pass);
    call.value_term = c.encoding->values(pass);
    return call;
  }

  Options o_;
  int64_t B_, H_, G_, Lq_, L_, E_;
  Tensor q_, k_, v_, x_, dout_;
};

struct Spread {
  explicit Spread(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    median = x[x.size() / 2], least = x.front(), largest = x.back();
  }
  double median, least, largest;
};

void print_row(const Bench& bench, const Contestant& c, const Spread& ms, const Spread& ratio, double mb,
               double extra) {
  if (bench.number("table") != 0) {
    fmt::print("| {} | {} | {:.0f} | {:.2f} ({:.2f}-{:.2f}) | {:.0f} | {:+.0f} |\n", c.name, bench.number("L"),
               ms.median, ratio.median, ratio.least, ratio.largest, mb, extra);
    return;
  }
  std::string settings;
  for (const auto& [key, value] : bench.options())
    if (key != "contestants" && key != "table") settings += fmt::format("\"{}\": \"{}\", ", key, value);
  fmt::print(
      "{{\"bench\": \"attention\", \"contestant\": \"{}\", {}\"ms\": {:.3f}, \"least_ms\": {:.3f}, "
      "\"times_the_first\": [{:.3f}, {:.3f}, {:.3f}], \"peak_mb\": {:.1f}, \"extra_mb\": {:.1f}}}\n",
      c.name, settings, ms.median, ms.least, ratio.median, ratio.least, ratio.largest, mb, extra);
}

void measure(const Bench& bench) {
  std::vector<Contestant> contestants;
  std::string names = bench.options().at("contestants") + ",";
  for (size_t comma; (comma = names.find(',')) != std::string::npos; names.erase(0, comma + 1))
    contestants.push_back(bench.contestant(names.substr(0, comma)));
  std::vector<double> mb;
  for (const Contestant& c : contestants) {
    bench.once(c);  // tables that an encoding keeps from call to call are there now
    mb.push_back(static_cast<double>(bench.peak_bytes(c)) / 1e6);
  }
  std::vector<std::vector<double>> times(contestants.size());
  for (int64_t round = 0; round < bench.number("rounds"); ++round)
    for (size_t i = 0; i < contestants.size(); ++i) times[i].push_back(bench.once(contestants[i]));
  if (bench.number("table") != 0)
    fmt::print(
        "| contestant | L | ms | time, of {}'s: median (least-largest) | peak MB | beyond {}'s "
        "|\n|---|---|---|---|---|---|\n",
        contestants[0].name, contestants[0].name);
  for (size_t i = 0; i < contestants.size(); ++i) {
    std::vector<double> ratio;
    for (size_t r = 0; r < times[i].size(); ++r) ratio.push_back(times[i][r] / times[0][r]);
    print_row(bench, contestants[i], Spread(times[i]), Spread(ratio), mb[i], mb[i] - mb[0]);
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
