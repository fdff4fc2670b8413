// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/streams.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/ops/fused_loss.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;
using Tokens = std::shared_ptr<const TokenSequence>;

// Documents of these sizes; the id of each token is its place in the whole.
Tokens counted(const std::vector<int64_t>& sizes) {
  const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  Ids ids(static_cast<size_t>(total));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  const auto store = TokenStore::of("count.txt", ids, total + 1);
  TokenSequence sequence;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    sequence.add(store, begin, begin + size);
    begin += size;
  }
  return std::make_shared<const TokenSequence>(std::move(sequence));
}

Ids values(const Tensor& t) { return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()}; }

// The first token of each row of the next `batches` batches.
std::vector<Ids> starts(BatchStream& stream, int64_t batches) {
  std::vector<Ids> found;
  for (int64_t i = 0; i < batches; ++i) found.push_back(values(stream.next()->ids.select(1, 0).contiguous()));
  return found;
}

// 300 tokens in parts of 40, 200 and 60, which have 4, 22 and 6 windows of 9; half of the windows are of the first, and
// a quarter each of the others.
TrainingWindows mixed_windows(Sampling sampling, int64_t batch_size, const Ranks& ranks = {}) {
  return {.sampling = sampling,
          .batch_size = batch_size,
          .length = 9,
          .seed = 11,
          .ranks = ranks,
          .parts = {{"a", 2.0, 40}, {"b", 1.0, 200}, {"c", 1.0, 60}}};
}
size_t part_of(int64_t token) { return token < 40 ? 0 : token < 240 ? 1 : 2; }
Tokens in_parts() { return counted({25, 15, 200, 60}); }

std::string sampling_name(Sampling sampling) { return sampling == Sampling::random ? "random" : "packed"; }

// How often each target was asked for, over a whole evaluation; checks the rest of each batch on the way.
std::map<int64_t, int> judged_in(BatchStream& stream, int64_t stride, int64_t length) {
  std::map<int64_t, int> judged;
  while (const auto batch = stream.next()) {
    double weight = 0.0;
    for (int64_t row = 0; row < batch->ids.size(0); ++row) {
      const Ids ids = values(batch->ids[row]), targets = values(batch->targets[row]);
      for (size_t i = 0; i < ids.size(); ++i) {
        if (targets[i] == kIgnore) continue;
        CHECK(targets[i] == ids[i] + 1);
        const bool at_start = ids[0] == 0;
        CHECK((at_start || static_cast<int64_t>(i) >= length - stride));
        ++judged[targets[i]];
        ++weight;
      }
    }
    CHECK(batch->weight == weight);
  }
  return judged;
}

}  // namespace

TEST_CASE("training windows: targets are the inputs moved by one, and rows say where they come from", "[unit]") {
  for (const Sampling sampling : {Sampling::random, Sampling::packed}) {
    const auto batch = training_stream(counted({100}), {sampling, 3, 8, 1})->next();
    REQUIRE(batch->ids.sizes() == at::IntArrayRef({3, 8}));
    CHECK(same_bytes(batch->targets, batch->ids + 1));
    CHECK(batch->weight == 24.0);
    CHECK(batch->at.start == 0);
    CHECK(batch->mask.positional());
    for (int64_t row = 0; row < 3; ++row)
      CHECK(batch->examples[static_cast<size_t>(row)] ==
            fmt::format("count.txt, offset {}", batch->ids[row][0].item<int64_t>()));
  }
}

TEST_CASE("training windows: stopped anywhere and gone on from the state, the order is that of no stop", "[unit]") {
  const auto tokens = counted({100});
  for (const Sampling sampling : {Sampling::random, Sampling::packed})
    for (const int64_t ahead : {0, 1, 4}) {
      const TrainingWindows windows{sampling, 4, 9, 11};  // 11 windows: two full batches and a smaller one an epoch
      const auto whole = starts(*training_stream(tokens, windows), 20);
      for (int64_t stop = 0; stop <= 10; ++stop) {
        CAPTURE(sampling_name(sampling), ahead, stop);
        const auto before = prefetched(training_stream(tokens, windows), ahead);
        CHECK(starts(*before, stop) == std::vector<Ids>(whole.begin(), whole.begin() + stop));
        const auto after = prefetched(training_stream(tokens, windows), ahead);
        after->restore(before->state());
        CHECK(after->epoch() == before->epoch());
        CHECK(starts(*after, 20 - stop) == std::vector<Ids>(whole.begin() + stop, whole.end()));
      }
    }
}

TEST_CASE("training windows: a state is its epoch and its window, nothing else", "[unit]") {
  const auto stream = training_stream(counted({100}), {Sampling::packed, 4, 9, 11});
  starts(*stream, 4);
  CHECK(json_line(stream->state()) == R"({"epoch":1,"cursor":4})");
  starts(*stream, 2);
  CHECK(json_line(stream->state()) == R"({"epoch":2,"cursor":0})");
}

TEST_CASE("training windows: another batch size goes on with the windows that are left", "[unit]") {
  const auto tokens = counted({101});  // 20 windows of 5
  const auto small = training_stream(tokens, {Sampling::packed, 2, 5, 3}),
             large = training_stream(tokens, {Sampling::packed, 9, 5, 3});
  std::set<int64_t> seen;
  for (const auto& rows : starts(*small, 3)) seen.insert(rows.begin(), rows.end());
  large->restore(small->state());
  for (const auto& rows : starts(*large, 2)) seen.insert(rows.begin(), rows.end());
  CHECK(seen.size() == 20);
  CHECK(large->epoch() == 1);
}

TEST_CASE("training windows: a state that does not fit the data is refused", "[unit]") {
  const auto stream = training_stream(counted({100}), {Sampling::packed, 4, 9, 11});
  for (const auto* text : {"{}", "[]", R"({"epoch": 1})", R"({"epoch": -1, "cursor": 0})",
                           R"({"epoch": 0, "cursor": 1.5})", R"({"epoch": 0, "cursor": 12})"})
    CHECK(contains(thrown<CheckpointError>([&] { stream->restore(parse_json(text, "state")); }),
                   "the place in the data"));
}

TEST_CASE("random windows: every start is equally likely", "[unit]") {
  const auto stream = training_stream(counted({30}), {Sampling::random, 50, 10, 5});
  std::map<int64_t, int64_t> counts;
  const int64_t batches = 2000, draws = 50 * batches;
  for (const auto& rows : starts(*stream, batches))
    for (const int64_t start : rows) ++counts[start];
  REQUIRE(counts.size() == 20);  // 0 … 19: the last target is token 29
  double chi_square = 0.0;
  const double expected = static_cast<double>(draws) / 20.0;
  for (const auto& [start, count] : counts) chi_square += std::pow(static_cast<double>(count) - expected, 2) / expected;
  CHECK(chi_square < 43.8);  // 19 degrees of freedom: exceeded once in a thousand
}

TEST_CASE("random windows: all batches are full", "[unit]") {
  const auto stream = training_stream(counted({100}), {Sampling::random, 4, 9, 11});
  CHECK(stream->batches_per_epoch() == 3.0);
  for (const auto& rows : starts(*stream, 7)) CHECK(rows.size() == 4);
  CHECK(stream->epoch() == 2);
}

TEST_CASE("packed windows: each is taken once an epoch, side by side, in another order each time", "[unit]") {
  const auto stream = training_stream(counted({100}), {Sampling::packed, 4, 9, 11});
  CHECK(stream->batches_per_epoch() == 3.0);
  std::vector<Ids> orders;
  for (int64_t epoch = 0; epoch < 6; ++epoch) {
    CHECK(stream->epoch() == epoch);
    Ids order;
    for (const auto& rows : starts(*stream, 3)) order.insert(order.end(), rows.begin(), rows.end());
    orders.push_back(order);
    std::sort(order.begin(), order.end());
    REQUIRE(order.size() == 11);
    for (size_t i = 1; i < order.size(); ++i) CHECK(order[i] == order[i - 1] + 9);
    CHECK(order.front() <= 0);  // 99 inputs fill 11 windows exactly
  }
  CHECK(orders[0] != orders[1]);
}

TEST_CASE("packed windows: what is left at the ends differs between epochs", "[unit]") {
  const auto stream = training_stream(counted({107}), {Sampling::packed, 11, 9, 11});  // seven tokens to spare
  std::set<int64_t> firsts;
  for (const auto& rows : starts(*stream, 100)) firsts.insert(*std::min_element(rows.begin(), rows.end()));
  CHECK(firsts == std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("packed windows: every window is equally likely at every place of the order", "[unit]") {
  const auto stream = training_stream(counted({81}), {Sampling::packed, 1, 10, 2});  // 8 windows
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;
  const int64_t epochs = 4000;
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (int64_t place = 0; place < 8; ++place) ++counts[{place, (*stream->next()).ids[0][0].item<int64_t>() / 10}];
  double chi_square = 0.0;
  for (int64_t place = 0; place < 8; ++place)
    for (int64_t window = 0; window < 8; ++window)
      chi_square += std::pow(static_cast<double>(counts[{place, window}]) - epochs / 8.0, 2) / (epochs / 8.0);
  CHECK(chi_square < 85.4);  // 49 degrees of freedom, once in a thousand
}

TEST_CASE("training windows: processes share out the batch of one process", "[unit]") {
  const auto tokens = counted({100});
  for (const Sampling sampling : {Sampling::random, Sampling::packed}) {
    const auto alone = training_stream(tokens, {sampling, 4, 9, 11});
    const auto first = training_stream(tokens, {sampling, 2, 9, 11, {0, 2}}),
               second = training_stream(tokens, {sampling, 2, 9, 11, {1, 2}});
    CHECK(first->batches_per_epoch() == alone->batches_per_epoch());
    for (int i = 0; i < 9; ++i) {
      Ids both = starts(*first, 1)[0];
      const Ids others = starts(*second, 1)[0];
      CHECK_FALSE(others.empty());
      both.insert(both.end(), others.begin(), others.end());
      CHECK(both == starts(*alone, 1)[0]);
      CHECK(first->state() == alone->state());
    }
  }
}

TEST_CASE("packed windows: fewer than processes are left out, so that no process has an empty batch", "[unit]") {
  for (int64_t rank = 0; rank < 5; ++rank) {
    const auto stream =
        training_stream(counted({100}), {Sampling::packed, 2, 9, 11, {rank, 5}});  // 11 windows: 10 and 1
    CHECK(stream->batches_per_epoch() == 1.0);
    for (const auto& rows : starts(*stream, 6)) CHECK(rows.size() == 2);
    CHECK(stream->epoch() == 6);
  }
}

TEST_CASE("windows of weighted parts: an epoch has each part's share, and none leaves its part", "[unit]") {
  for (const Sampling sampling : {Sampling::random, Sampling::packed}) {
    const auto stream = training_stream(in_parts(), mixed_windows(sampling, 8));
    CHECK(stream->batches_per_epoch() == 4.0);  // 32 windows
    for (int64_t epoch = 0; epoch < 20; ++epoch) {
      CAPTURE(sampling_name(sampling), epoch);
      std::vector<int64_t> windows(3, 0);
      for (int i = 0; i < 4; ++i) {
        const auto batch = stream->next();
        for (int64_t row = 0; row < 8; ++row) {
          const int64_t first = batch->ids[row][0].item<int64_t>();
          ++windows[part_of(first)];
          CHECK(part_of(first + 9) == part_of(first));  // the last target
        }
      }
      CHECK(windows == Ids{16, 8, 8});
      CHECK(stream->epoch() == epoch + 1);
    }
  }
}

TEST_CASE("packed windows of weighted parts: a part is passed whole, side by side, before it begins anew", "[unit]") {
  const auto stream = training_stream(in_parts(), mixed_windows(Sampling::packed, 4));
  const std::vector<size_t> windows{4, 22, 6};
  std::vector<Ids> passes(3);
  std::set<int64_t> firsts;
  std::vector<int64_t> done(3, 0);
  for (const auto& rows : starts(*stream, 8 * 22))
    for (const int64_t start : rows) {
      const size_t part = part_of(start);
      passes[part].push_back(start);
      if (passes[part].size() < windows[part]) continue;
      std::sort(passes[part].begin(), passes[part].end());
      for (size_t i = 1; i < passes[part].size(); ++i) CHECK(passes[part][i] == passes[part][i - 1] + 9);
      if (part == 0) firsts.insert(passes[part].front());
      ++done[part];
      passes[part].clear();
    }
  CHECK(done == Ids{88, 8, 29});
  CHECK(firsts == std::set<int64_t>{0, 1, 2, 3});  // three tokens to spare: each pass starts anew
}

TEST_CASE("random windows of weighted parts: every start in a part is equally likely", "[unit]") {
  const auto stream = training_stream(in_parts(), mixed_windows(Sampling::random, 32));
  std::map<int64_t, int64_t> counts;
  for (const auto& rows : starts(*stream, 2000))
    for (const int64_t start : rows)
      if (part_of(start) == 0) ++counts[start];
  REQUIRE(counts.size() == 31);  // 0 … 30: the last target is token 39
  const double expected = 32000.0 / 31.0;
  double chi_square = 0.0;
  for (const auto& [start, count] : counts) chi_square += std::pow(static_cast<double>(count) - expected, 2) / expected;
  CHECK(chi_square < 59.7);  // 30 degrees of freedom: exceeded once in a thousand
}

TEST_CASE("windows of weighted parts: stopped anywhere and gone on from the state, the order is that of no stop",
          "[unit]") {
  const auto tokens = in_parts();
  for (const Sampling sampling : {Sampling::random, Sampling::packed}) {
    const auto whole = starts(*training_stream(tokens, mixed_windows(sampling, 5)), 30);
    for (int64_t stop = 0; stop <= 20; ++stop) {
      CAPTURE(sampling_name(sampling), stop);
      const auto before = training_stream(tokens, mixed_windows(sampling, 5));
      starts(*before, stop);
      const auto after = training_stream(tokens, mixed_windows(sampling, 5));
      after->restore(before->state());
      CHECK(starts(*after, 30 - stop) == std::vector<Ids>(whole.begin() + stop, whole.end()));
    }
  }
}

TEST_CASE("packed windows of weighted parts: another batch size goes on with the windows that are left", "[unit]") {
  const auto tokens = in_parts();
  const auto in_one_row = [](BatchStream& stream, int64_t batches) {
    Ids all;
    for (const auto& rows : starts(stream, batches)) all.insert(all.end(), rows.begin(), rows.end());
    return all;
  };
  const Ids whole = in_one_row(*training_stream(tokens, mixed_windows(Sampling::packed, 1)), 3 * 32);
  for (int64_t stop = 0; stop <= 64; ++stop) {
    const auto before = training_stream(tokens, mixed_windows(Sampling::packed, 1));
    starts(*before, stop);
    const auto after = training_stream(tokens, mixed_windows(Sampling::packed, 7));
    after->restore(before->state());
    const Ids rest = in_one_row(*after, 4);
    CAPTURE(stop);
    CHECK(std::equal(rest.begin(), rest.end(), whole.begin() + stop));
  }
}

TEST_CASE("windows of weighted parts: processes share out the batch of one process", "[unit]") {
  const auto tokens = in_parts();
  for (const Sampling sampling : {Sampling::random, Sampling::packed}) {
    const auto alone = training_stream(tokens, mixed_windows(sampling, 6));
    const auto first = training_stream(tokens, mixed_windows(sampling, 3, {0, 2})),
               second = training_stream(tokens, mixed_windows(sampling, 3, {1, 2}));
    for (int i = 0; i < 20; ++i) {
      Ids both = starts(*first, 1)[0];
      const Ids others = starts(*second, 1)[0];
      both.insert(both.end(), others.begin(), others.end());
      CHECK(both == starts(*alone, 1)[0]);
      CHECK(first->state() == alone->state());
    }
  }
}

TEST_CASE("windows of weighted parts: a part too short for one is named", "[unit]") {
  TrainingWindows windows = mixed_windows(Sampling::packed, 1);
  windows.parts = {{"long.txt", 1.0, 291}, {"short.txt", 1.0, 9}};
  CHECK(contains(thrown<DataError>([&] { training_stream(in_parts(), windows); }),
                 "short.txt has 9 training tokens; a window of 9 needs at least 10"));
}

TEST_CASE("consecutive windows: each row reads a part of the text in order, and all parts are read once an epoch",
          "[unit]") {
  const auto stream = training_stream(counted({107}), {Sampling::consecutive, 3, 5, 4});  // 7 steps, one token to spare
  CHECK(stream->batches_per_epoch() == 7.0);
  std::set<int64_t> firsts;
  for (int64_t epoch = 0; epoch < 8; ++epoch) {
    CHECK(stream->epoch() == epoch);
    std::set<int64_t> seen;
    Ids next;
    for (int64_t step = 0; step < 7; ++step) {
      const auto batch = stream->next();
      CHECK(batch->continues == (step > 0));
      CHECK(batch->weight == 15.0);
      for (int64_t row = 0; row < 3; ++row) {
        const Ids ids = values(batch->ids[row]);
        if (step > 0) CHECK(ids.front() == next[static_cast<size_t>(row)]);
        seen.insert(ids.begin(), ids.end());
      }
      next = values(batch->ids.select(1, 4) + 1);
    }
    CHECK(seen.size() == 105);
    firsts.insert(*seen.begin());
  }
  CHECK(firsts == std::set<int64_t>{0, 1});  // what is left at the ends differs between epochs
}

TEST_CASE("consecutive windows: processes share out the rows of one process", "[unit]") {
  const auto tokens = counted({100});
  const auto alone = training_stream(tokens, {Sampling::consecutive, 4, 5, 9});
  const auto first = training_stream(tokens, {Sampling::consecutive, 2, 5, 9, {0, 2}}),
             second = training_stream(tokens, {Sampling::consecutive, 2, 5, 9, {1, 2}});
  for (int i = 0; i < 9; ++i) {
    Ids both = starts(*first, 1)[0];
    const Ids others = starts(*second, 1)[0];
    both.insert(both.end(), others.begin(), others.end());
    CHECK(both == starts(*alone, 1)[0]);
    CHECK(first->state() == alone->state());
  }
}

TEST_CASE("consecutive windows: stopped anywhere and gone on, the order is that of no stop", "[unit]") {
  const auto tokens = counted({103});
  const TrainingWindows windows{Sampling::consecutive, 4, 5, 11};  // 5 steps
  const auto whole = starts(*training_stream(tokens, windows), 12);
  for (int64_t stop = 0; stop <= 7; ++stop) {
    CAPTURE(stop);
    const auto before = prefetched(training_stream(tokens, windows), 2);
    starts(*before, stop);
    const auto after = prefetched(training_stream(tokens, windows), 2);
    after->restore(before->state());
    const auto next = after->next();
    CHECK(next->continues == (stop % 5 != 0));
    CHECK(values(next->ids.select(1, 0).contiguous()) == whole[static_cast<size_t>(stop)]);
  }
  const auto stream = training_stream(tokens, windows);
  CHECK(contains(thrown<CheckpointError>([&] { stream->restore(parse_json(R"({"epoch":0,"cursor":6})", "state")); }),
                 "the batch size has changed"));
  CHECK(contains(thrown<DataError>([&] {
                   training_stream(tokens, {Sampling::consecutive, 21, 5, 1});
                 }),
                 "need at least 106"));
}

TEST_CASE("reading: documents from their start, a window at a time, that goes on but at a document's start", "[unit]") {
  const auto tokens = counted({7, 1, 4});
  const auto stream = reading_stream(tokens, 3, {});
  std::vector<Ids> rows;
  std::vector<bool> continues;
  std::set<int64_t> judged;
  while (const auto batch = stream->next()) {
    rows.push_back(values(batch->ids));
    continues.push_back(batch->continues);
    CHECK(batch->mask.positional());
    for (const int64_t target : values(batch->targets)) judged.insert(target);
  }
  CHECK(rows == std::vector<Ids>{{0, 1, 2}, {3, 4, 5}, {8, 9, 10}});
  CHECK(continues == std::vector<bool>{false, true, false});
  CHECK(judged == std::set<int64_t>{1, 2, 3, 4, 5, 6, 9, 10, 11});
  const auto second = reading_stream(tokens, 3, {1, 2});
  CHECK_FALSE(second->next().has_value());  // document 1, a single token
  CHECK(contains(thrown<DataError>([&] { reading_stream(counted({1, 1}), 3, {}); }), "no document of two tokens"));
}

TEST_CASE("training windows: a seed gives the order, and another seed another one", "[unit]") {
  const auto tokens = counted({1000});
  for (const Sampling sampling : {Sampling::random, Sampling::packed}) {
    const auto order = starts(*training_stream(tokens, {sampling, 4, 9, 1}), 5);
    CHECK(order == starts(*training_stream(tokens, {sampling, 4, 9, 1}), 5));
    CHECK(order != starts(*training_stream(tokens, {sampling, 4, 9, 2}), 5));
  }
}

TEST_CASE("training windows: data too short for one window says how many tokens it needs", "[unit]") {
  CHECK(training_stream(counted({10}), {Sampling::random, 4, 9, 1})->next()->ids.size(0) == 4);
  const auto message = thrown<DataError>([] { training_stream(counted({9}), {Sampling::random, 4, 9, 1}); });
  CHECK(contains(message, "has 9 tokens"));
  CHECK(contains(message, "at least 10"));
  CHECK(contains(thrown<DataError>([] { training_stream(counted({}), {Sampling::packed, 4, 9, 1}); }), "has 0 tokens"));
}

TEST_CASE("windows that cross documents: segments, positions that restart, no target across the border", "[unit]") {
  const auto tokens = counted({3, 1, 6});
  const Batch batch = batch_of(*tokens, {{.begin = 1, .end = 6, .judged = 1}, {.begin = 4, .end = 9, .judged = 4}});
  CHECK(values(batch.ids) == Ids{1, 2, 3, 4, 5, 4, 5, 6, 7, 8});
  CHECK(values(batch.targets) == Ids{2, kIgnore, kIgnore, 5, 6, 5, 6, 7, 8, 9});
  CHECK(batch.weight == 8.0);
  CHECK(values(batch.mask.q_segment) == Ids{0, 0, 1, 2, 2, 2, 2, 2, 2, 2});
  CHECK(same_bytes(batch.mask.k_segment, batch.mask.q_segment));
  CHECK(values(batch.at.index) == Ids{0, 1, 0, 0, 1, 0, 1, 2, 3, 4});
  CHECK_FALSE(batch.at.start);
}

TEST_CASE("windows within one document: no segments, though there are more documents", "[unit]") {
  const Batch batch =
      batch_of(*counted({6, 6}), {{.begin = 1, .end = 6, .judged = 1}, {.begin = 6, .end = 11, .judged = 6}});
  CHECK(batch.mask.positional());
  CHECK(batch.at.start == 0);
  CHECK(values(batch.targets) == Ids{2, 3, 4, 5, kIgnore, 7, 8, 9, 10, 11});  // token 6 begins a document
}

TEST_CASE("evaluation windows: every token but the first is judged exactly once, with the context that was promised",
          "[unit]") {
  for (const int64_t size : {2, 3, 7, 8, 9, 10, 16, 17, 18, 40, 41, 47})
    for (const int64_t length : {1, 4, 8})
      for (int64_t stride = 1; stride <= length; ++stride)
        for (const int64_t batch_size : {1, 3}) {
          CAPTURE(size, length, stride, batch_size);
          const auto judged =
              judged_in(*evaluation_stream(counted({size}), {batch_size, length, stride}), stride, length);
          CHECK(static_cast<int64_t>(judged.size()) == size - 1);
          for (const auto& [target, times] : judged) CHECK(times == 1);
        }
}

TEST_CASE("evaluation windows: a stride of 0 is windows side by side, the last as long as what is left", "[unit]") {
  const auto stream = evaluation_stream(counted({12}), {.batch_size = 2, .length = 4});
  std::vector<Ids> batches;
  while (const auto batch = stream->next()) batches.push_back(values(batch->ids));
  CHECK(batches == std::vector<Ids>{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10}});
  CHECK_FALSE(stream->next());
}

TEST_CASE("evaluation windows: the first token of each document is not judged, all others once", "[unit]") {
  for (const int64_t stride : {1, 2, 5}) {
    std::map<int64_t, int> judged = judged_in(*evaluation_stream(counted({4, 1, 9, 2}), {2, 5, stride}), stride, 5);
    std::set<int64_t> targets;
    for (const auto& [target, times] : judged) {
      CHECK(times == 1);
      targets.insert(target);
    }
    CHECK(targets == std::set<int64_t>{1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 15});
  }
}

TEST_CASE("evaluation windows: processes judge disjoint shares that make up the whole", "[unit]") {
  for (const int64_t count : {2, 3, 7}) {
    std::map<int64_t, int> judged;
    double batches = 0.0;
    for (int64_t rank = 0; rank < count; ++rank) {
      const auto stream = evaluation_stream(counted({43}), {2, 5, 3, {rank, count}});
      batches += stream->batches_per_epoch();
      for (const auto& [target, times] : judged_in(*stream, 3, 5)) judged[target] += times;
    }
    CHECK(judged.size() == 42);
    CHECK(std::all_of(judged.begin(), judged.end(), [](const auto& one) { return one.second == 1; }));
    CHECK(std::abs(batches - 8.0) < 1e-9);  // 13 whole windows and a shorter one
  }
}

TEST_CASE("evaluation windows: what cannot be evaluated is refused with the numbers", "[unit]") {
  CHECK(contains(thrown<DataError>([] { evaluation_stream(counted({1}), {1, 5}); }), "1 token(s); two are needed"));
  CHECK(contains(thrown<ConfigError>([] { evaluation_stream(counted({20}), {1, 5, 6}); }), "a stride of 6"));
  CHECK(contains(thrown<ConfigError>([] { evaluation_stream(counted({20}), {1, 0}); }), "at least 1"));
  CHECK(contains(thrown<ConfigError>([] { training_stream(counted({20}), {Sampling::packed, 0, 5}); }), "at least 1"));
}

}  // namespace ordo::test
