// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/associative_recall.h"

#include <map>
#include <set>

#include "ordo/ops/fused_loss.h"
#include "support/thrown.h"
#include "tasks/labels.h"

namespace ordo::test {

TEST_CASE("associative_recall: what is asked of a key that comes again stood behind it", "[unit]") {
  for (const int64_t queries : {0, 1, 2}) {
    const AssociativeRecall task({.keys = 20, .values = 4, .queries = queries}, {.seed = 1});
    for (const int64_t size : {2, 7, 20}) {
      std::set<size_t> sought;  // places asked for
      for (uint64_t i = 0; i < 300; ++i) {
        const Example e = task.held_out(3, i, size);
        const auto pairs = static_cast<size_t>(2 * size);
        REQUIRE(std::ssize(e.given) == 2 * size + (queries == 0 ? size : queries));
        std::map<int64_t, size_t> places;  // of each key
        for (size_t at = 0; at < pairs; at += 2) {
          REQUIRE(e.given[at] >= 4);
          REQUIRE(e.given[at + 1] < 4);
          REQUIRE(places.emplace(e.given[at], at).second);  // no key twice
          REQUIRE((e.asked[at] == kIgnore && e.asked[at + 1] == kIgnore));
        }
        std::set<int64_t> asked;
        for (size_t at = pairs; at < e.given.size(); ++at) {
          REQUIRE(asked.insert(e.given[at]).second);
          const size_t place = places.at(e.given[at]);
          REQUIRE(e.asked[at] == e.given[place + 1]);
          sought.insert(place);
        }
      }
      CHECK(std::ssize(sought) == size);  // every pair is asked for
    }
  }
}

TEST_CASE("associative_recall: no value is favoured, and keys are asked for in any order", "[unit]") {
  const AssociativeRecall task({.values = 4}, {});
  for (const int64_t size : {1, 8}) CHECK(share_of_favourite(task, size, 2000) < share_by_chance(4, 2000));
  double same_order = 0.0;
  for (uint64_t i = 0; i < 2000; ++i) {
    const Example e = task.held_out(3, i, 2);
    same_order += e.given[0] == e.given[4] ? 1.0 / 2000 : 0.0;
  }
  CHECK(std::abs(same_order - 0.5) < 0.05);
}

TEST_CASE("associative_recall: more pairs or queries than keys are refused, with the settings", "[unit]") {
  const AssociativeRecall task({.keys = 20, .queries = 3}, {});
  CHECK(task.row_length(20) == 44);
  CHECK(task.least_size() == 3);
  CHECK(contains(thrown<ConfigError>([&] { (void)task.row_length(21); }),
                 "21 pairs need as many different keys, and task.keys is 20; raise it"));
  CHECK(contains(thrown<ConfigError>([] { AssociativeRecall({.keys = 2, .queries = 3}, {}); }),
                 "task.queries (3) are of different keys, and task.keys is 2"));
}

TEST_CASE("associative_recall: a task with few keys can be summed up and told from others", "[unit]") {
  const AssociativeRecall task({.drawn = {.shortest = 2}, .keys = 2}, {});
  CHECK(task.summary().size() > 2);
  CHECK(task.fingerprint() != AssociativeRecall({.drawn = {.shortest = 2}, .keys = 2}, {.seed = 1}).fingerprint());
}

TEST_CASE("associative_recall: an example by hand, which never changes", "[unit]") {
  const AssociativeRecall task({}, {});
  CHECK(task.text(task.held_out(1, 0, 3)) == "ae 1 aa 1 y 4 y ae aa -> . . . . . . 4 1 1");
}

}  // namespace ordo::test
