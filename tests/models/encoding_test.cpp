// SPDX-License-Identifier: Apache-2.0
// What every position encoding must be, whatever the kernel: exact gradients, parameters that are saved whole, settings
// that read back, and forms of one bias that agree.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>

#include "ordo/attention/strips.h"
#include "ordo/config/config.h"
#include "support/conformance.h"
#include "support/devices.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr int64_t kTokens = 9;

// Calls check(case) for each encoding of the catalogue, with all its settings that are tested, on the sides that it
// serves.
template <class Check>
void for_every_encoding(const Check& check) {
  for (const std::string& encoding : catalogue_encodings(Scope::whole))
    for (const bool causal : {true, false}) {
      if (!serves_side(encoding, causal)) continue;
      const ConformingCase c{.encoding = encoding, .causal = causal};
      INFO(c.text());
      check(c);
    }
}

Tensor hidden_of(Model& model) {
  return model.forward({.ids = mixed_ids(kTokens), .at = consecutive(0, kTokens, at::kCPU)});
}

void check_against_differences(Model& model) {
  const Tensor weight = noise({1, kTokens, model.dim()}, 4, at::kDouble);
  const auto loss = [&] { return (hidden_of(model) * weight).sum(); };
  loss().backward();
  const at::NoGradGuard plain;
  uint64_t key = 20;
  for (const auto& p : model.named_parameters()) {
    if (!p.value().grad().defined()) continue;  // of a layer in which the encoding does not act
    INFO(p.key());
    constexpr double kStep = 1e-6;  // small: some encodings have kinks, and a longer step may cross one
    const Tensor direction = noise(p.value().sizes(), ++key, at::kDouble);
    const double along = (p.value().grad() * direction).sum().item<double>();
    p.value().add_(direction, kStep);
    const double above = loss().item<double>();
    p.value().add_(direction, -2.0 * kStep);
    const double below = loss().item<double>();
    p.value().add_(direction, kStep);
    CHECK((above - below) / (2.0 * kStep) == Approx(along).epsilon(1e-5).margin(1e-5));
  }
}

// A pass of one layer over consecutive positions, with what the encoding keeps.
AttentionPass pass_of(PositionEncoding& encoding, bool causal, int64_t past) {
  const Tensor x = noise({1, kTokens, 32}, 31);
  const Positions all = consecutive(0, kTokens, at::kCPU);
  return {.q = consecutive(past, kTokens - past, at::kCPU),
          .k = all,
          .scale = 0.4,
          .x = x.slice(1, past),
          .kept = encoding.keeps() > 0 ? encoding.keep(x, all, 0) : Tensor(),
          .mask = {.causal = causal, .offset = past}};
}

struct TilePair {
  Tensor q = noise({1, 4, kTokens, 8}, 32), k = noise({1, 4, kTokens, 8}, 33);
};

Tensor visible_part(const Tensor& tile, const Mask& mask, const Tile& t) {
  return tile.expand({-1, -1, t.rows(), t.columns()}).masked_fill(mask.tile(t, at::kCPU).logical_not(), 0.0);
}

// The whole tile of a content form, by its definition.
Tensor dense_content(const ContentForm& form, const AttentionPass& pass, const Tensor& q, const Tensor& k) {
  const int64_t Lq = q.size(2), Lk = k.size(2);
  std::vector<Tensor> rows;
  for (int64_t r = 0; r < Lq; ++r) {
    const int64_t from = Lq - 1 - r;
    Tensor row = at::zeros({1, 4, Lk});
    if (form.queries.defined())
      row =
          row + pass.scale * at::matmul(form.queries.slice(1, from, from + Lk), q.select(2, r).unsqueeze(3)).squeeze(3);
    if (form.keys.defined()) row = row + pass.scale * (form.keys.slice(1, from, from + Lk) * k).sum(3);
    if (form.offsets.defined()) row = row + form.offsets.slice(1, from, from + Lk);
    rows.push_back(row);
  }
  return at::stack(rows, 2);
}

// Up to a constant in each row, which softmax does not see.
Tensor without_row_constants(const Tensor& scores, const Tensor& seen) {
  const Tensor count = seen.sum(-1, /*keepdim=*/true);
  return (scores - scores.masked_fill(seen.logical_not(), 0.0).sum(-1, /*keepdim=*/true) / count)
      .masked_fill(seen.logical_not(), 0.0);
}

}  // namespace

TEST_CASE("encodings: in fp64 gradients are those of finite differences", "[conformance]") {
  for_every_encoding([](const ConformingCase& c) {
    const auto model = conforming_model(c);
    model->to(at::kDouble);
    check_against_differences(*model);
  });
}

TEST_CASE("encodings, whole: in fp64 gradients are those of finite differences under every kernel", "[slow]") {
  for (const std::string& encoding : catalogue_encodings(Scope::whole))
    for (const bool causal : {true, false})
      for (const auto& kernel : kernels().kinds())
        for (const int64_t kv_heads : {1, 4}) {
          if (!serves_side(encoding, causal)) continue;
          const ConformingCase c{encoding, std::string(kernel.kind), causal, kv_heads};
          INFO(c.text());
          try {
            const auto model = conforming_model(c);
            model->to(at::kDouble);
            hidden_of(*model);  // outside of assertions: a kernel may refuse
            check_against_differences(*model);
          } catch (const KernelRefusal&) {
            continue;
          }
        }
}

TEST_CASE("encodings: everything learned gets a gradient", "[conformance]") {
  for_every_encoding([](const ConformingCase& c) {
    if (c.encoding.find("layers:") != std::string::npos) return;  // not every layer's own is used
    const auto model = conforming_model(c);
    for (const auto& p : model->position().named_parameters())  // a product of two starts with one of them at zero
      p.value().detach().add_(noise(p.value().sizes(), 6), 0.1);
    const Tensor out =
        model->forward({.ids = mixed_ids(kConformingLength), .at = consecutive(0, kConformingLength, at::kCPU)});
    out.backward(noise(out.sizes(), 4));
    for (const auto& p : model->position().named_parameters()) {
      INFO(p.key());
      REQUIRE(p.value().grad().defined());
      CHECK(p.value().grad().abs().max().item<double>() > 0.0);
    }
  });
}

TEST_CASE("encodings: a model is its config and its named parameters, nothing besides", "[conformance]") {
  for_every_encoding([](const ConformingCase& c) {
    const at::NoGradGuard plain;
    const auto saved = conforming_model(c), loaded = conforming_model(c, /*seed=*/4);
    CHECK_FALSE(close(hidden_of(*loaded), hidden_of(*saved), Tolerance::fp32));
    const auto into = loaded->named_parameters();
    for (const auto& p : saved->named_parameters()) into[p.key()].copy_(p.value());
    CHECK(same_bytes(hidden_of(*loaded), hidden_of(*saved)));
  });
}

TEST_CASE("encodings: a config that is written and read again is the same", "[conformance]") {
  for_every_encoding([](const ConformingCase& c) {
    Decoder::Config written = conforming_config(c), read;
    const std::string text = dump_yaml(walk_of(written));
    load_config_text(text, walk_of(read), {});
    CHECK(dump_yaml(walk_of(read)) == text);
  });
}

TEST_CASE("encodings: any tile of a bias is that part of the whole", "[conformance]") {
  const TilePair pair;
  for_every_encoding([&](const ConformingCase& c) {
    const at::NoGradGuard plain;
    const auto model = conforming_model(c);
    const AttentionPass pass = pass_of(model->position(), c.causal, 0);
    const auto bias = model->position().scores(pass);
    if (!bias) return;
    const Tile all{0, kTokens, 0, kTokens};
    const Tensor whole = visible_part(bias->tile(all, pair.q, pair.k), pass.mask, all);
    for (const auto& [q0, q1] : {std::pair<int64_t, int64_t>{0, 4}, {4, 9}, {8, 9}}) {
      const auto [k0, k1] = pass.mask.visible(q0, q1, kTokens);
      const Tile part{q0, q1, k0, k1};
      const Tensor found = bias->tile(part, pair.q.slice(2, q0, q1), pair.k.slice(2, k0, k1));
      CHECK(close(visible_part(found, pass.mask, part), whole.slice(2, q0, q1).slice(3, k0, k1).expand({1, 4, -1, -1}),
                  Tolerance::fp32));
    }
  });
}

TEST_CASE("encodings: the cheap forms of a bias say what its tile says, from the first token and from a later one",
          "[conformance]") {
  const TilePair pair;
  for (const int64_t past : {int64_t{0}, int64_t{5}})
    for_every_encoding([&](const ConformingCase& c) {
      const at::NoGradGuard plain;
      const auto model = conforming_model(c);
      const AttentionPass pass = pass_of(model->position(), c.causal, past);
      const auto bias = model->position().scores(pass);
      if (!bias) return;
      const Tile all{0, kTokens - past, 0, kTokens};
      const Tensor q = pair.q.slice(2, past), seen = pass.mask.tile(all, at::kCPU);
      const Tensor whole = visible_part(bias->tile(all, q, pair.k), pass.mask, all);
      if (const auto vector = bias->by_offset())
        CHECK(close(visible_part(strip_of_vector(*vector, all, all.rows()), pass.mask, all), whole, Tolerance::fp32));
      if (const auto form = bias->by_content())
        CHECK(close(visible_part(dense_content(*form, pass, q, pair.k), pass.mask, all), whole, Tolerance::fp32));
      if (const auto keys = bias->by_key())
        CHECK(close(without_row_constants(keys->expand_as(whole), seen), without_row_constants(whole, seen),
                    Tolerance::fp32));
    });
}

TEST_CASE("encodings: outputs and gradients on the GPU are those of the CPU", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  const Tensor ids = mixed_ids(kConformingLength);
  for_every_encoding([&](const ConformingCase& c) {
    const auto here = conforming_model(c), there = conforming_model(c);
    there->to(*gpu);
    const auto run = [&](Model& model, at::Device device) {
      const Tensor out = model.forward({.ids = ids.to(device), .at = consecutive(0, kConformingLength, device)});
      out.backward(noise(out.sizes(), 4).to(device));
      return out.detach().cpu();
    };
    CHECK(close(run(*there, *gpu), run(*here, at::kCPU), Tolerance{1e-4, 1e-3}));
    const auto wanted = here->named_parameters();
    for (const auto& p : there->named_parameters()) {
      INFO(p.key());
      REQUIRE(p.value().grad().defined() == wanted[p.key()].grad().defined());
      if (p.value().grad().defined()) CHECK(close_gradient(p.value().grad().cpu(), wanted[p.key()].grad(), 1e-3, 1e-2));
    }
  });
}

}  // namespace ordo::test
