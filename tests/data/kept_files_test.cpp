// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/kept_files.h"

#include "ordo/core/errors.h"
#include "support/program.h"

namespace ordo::test {

namespace {

// What was made of a folder and how often that was done.
struct Made {
  const Scratch& scratch;
  int times = 0;
  std::shared_ptr<const int> get(const std::string& name = "numbers") {
    return kept_files<int>(name, {scratch.path()}, [this] { return ++times; });
  }
};

}  // namespace

TEST_CASE("kept files: one thing is made once of the same files in the same way", "[unit]") {
  const Scratch scratch;
  scratch.write("a/1.txt", "one");
  Made made{scratch};
  const auto first = made.get();
  CHECK(made.get() == first);
  CHECK(made.times == 1);
  CHECK(made.get("other") != first);
  CHECK(*kept_files<std::string>("numbers", {scratch.path()}, [] { return std::string("of another type"); }) ==
        "of another type");
}

TEST_CASE("kept files: a file that changed, came or went makes it anew", "[unit]") {
  const Scratch scratch;
  scratch.write("a/1.txt", "one");
  Made made{scratch};
  made.get();
  scratch.write("a/1.txt", "longer");
  CHECK(*made.get() == 2);
  scratch.write("a/2.txt", "two");
  CHECK(*made.get() == 3);
  fs::remove(scratch / "a/1.txt");
  CHECK(*made.get() == 4);
  CHECK(*made.get() == 4);
}

TEST_CASE("kept files: what was asked for last is kept, and no more than a few", "[unit]") {
  const Scratch scratch;
  Made made{scratch};
  const std::weak_ptr<const int> first = made.get("0");
  for (size_t i = 1; i < kKeptValues; ++i) made.get(std::to_string(i));
  CHECK_FALSE(first.expired());
  made.get("0");
  made.get("one more");
  CHECK_FALSE(first.expired());
  for (size_t i = 0; i < kKeptValues; ++i) made.get(fmt::format("more {}", i));
  CHECK(first.expired());
}

TEST_CASE("kept files: what fails is not kept, and one may be made of another", "[unit]") {
  const Scratch scratch;
  Made made{scratch};
  const auto fail = [&] { return kept_files<int>("f", {}, []() -> int { throw DataError("no"); }); };
  CHECK_THROWS_AS(fail(), DataError);
  CHECK_THROWS_AS(fail(), DataError);
  CHECK(*kept_files<int>("outer", {scratch.path()}, [&] { return 10 * *made.get(); }) == 10);
}

}  // namespace ordo::test
