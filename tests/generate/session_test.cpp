// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/session.h"

#include "ordo/core/errors.h"
#include "small_models.h"
#include "support/thrown.h"
#include "support/tolerance.h"
#include "table_model.h"

namespace ordo::test {

TEST_CASE("a session that is fed in pieces foretells what one fed at once does", "[unit]") {
  for (const auto* position : {"none", "sinusoidal", "learned", "rope", "alibi"}) {
    CAPTURE(position);
    const auto model = small_model(position);
    Session pieces(*model);
    pieces.append({{1, 2, 3}});
    pieces.append({{4}});
    const Tensor next = pieces.append({{5, 6}});
    CHECK(pieces.length(0) == 6);
    CHECK(close(next, Session(*model).append({{1, 2, 3, 4, 5, 6}}), Tolerance::fp32_sum));
  }
}

TEST_CASE("rows of a session grow unevenly, are dropped and repeated, each as if alone", "[unit]") {
  for (const auto* position : {"none", "sinusoidal", "learned", "rope", "alibi"}) {
    CAPTURE(position);
    const auto model = small_model(position);
    Session session(*model);
    session.append({{1, 2, 3}, {4}, {9, 9}});
    session.append({{5}, {6, 7, 8}, {1, 1}});
    session.keep_rows({1, 1, 0});
    const Tensor next = session.append({{2, 3}, {10}, {0}});
    const Rows texts{{4, 6, 7, 8, 2, 3}, {4, 6, 7, 8, 10}, {1, 2, 3, 5, 0}};
    REQUIRE(session.rows() == 3);
    for (int64_t row = 0; row < 3; ++row) {
      const Row& text = texts[static_cast<size_t>(row)];
      CHECK(session.length(row) == static_cast<int64_t>(text.size()));
      CHECK(close(next[row], Session(*model).append({text})[0], Tolerance::fp32_sum));
    }
  }
}

TEST_CASE("a session cut at a number of tokens goes on from there", "[unit]") {
  const auto model = small_model("rope");
  Session session(*model);
  session.append({{1, 2, 3, 4, 5}});
  session.truncate(2);
  CHECK(session.length(0) == 2);
  CHECK(close(session.append({{7, 8}}), Session(*model).append({{1, 2, 7, 8}}), Tolerance::fp32_sum));
  CHECK(contains(thrown<Error>([&] { session.truncate(5); }), "holds 4"));
  CHECK(contains(thrown<Error>([&] { session.truncate(0); }), "make another"));
  Session padded(*model);
  padded.append({{1, 2}, {3}});
  CHECK(contains(thrown<Error>([&] { padded.truncate(1); }), "padded"));
}

TEST_CASE("an encoder's source is read with the first tokens of a session, and kept", "[unit]") {
  TableModel model(7, drawn_rule(7, 3.0), /*reads_source=*/true);
  Session session(model, {{1, 2}, {3}});
  session.append({{0}, {0}});
  session.keep_rows({1});
  const Tensor next = session.append({{5}});
  CHECK(close(next, Session(model, {{3}}).append({{0, 5}}), Tolerance::exact));
}

TEST_CASE("what a session cannot take is refused, and it stays as it was", "[unit]") {
  const auto model = small_model("learned");  // 24 positions
  Session session(*model);
  session.append({{1, 2}, {3}});
  CHECK(contains(thrown<Error>([&] { session.append({{1}}); }), "has 2 row(s)"));
  CHECK(contains(thrown<ConfigError>([&] { session.append({{1}, {}}); }), "row 2 is empty"));
  CHECK(contains(thrown<ConfigError>([&] { session.append({{1}, {11}}); }), "token id 11"));
  CHECK(contains(thrown<ConfigError>([&] { session.append({{1}, Row(24, 1)}); }), "25 tokens"));
  CHECK(contains(thrown<Error>([&] { Session(*model).append({}); }), "at least one row"));
  CHECK(contains(thrown<ConfigError>([&] { Session(*model, {{1}}); }), "no encoder"));
  TableModel reader(7, drawn_rule(7, 3.0), /*reads_source=*/true);
  CHECK(contains(thrown<Error>([&] { Session(reader, {{1}}).append({{0}, {0}}); }), "1 source(s) for 2 row(s)"));
  CHECK(close(session.append({{4}, {5}})[0], Session(*model).append({{1, 2, 4}})[0], Tolerance::fp32_sum));
}

TEST_CASE("models are in evaluation mode while a session lives, and then as before", "[unit]") {
  const auto model = small_model("rope");
  model->train();
  {
    Session session(*model);
    CHECK_FALSE(model->is_training());
  }
  CHECK(model->is_training());
}

}  // namespace ordo::test
