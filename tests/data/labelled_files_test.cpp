// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/labelled_files.h"

#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

TEST_CASE("labelled files: sub-folders are the classes, all in the order of their names", "[unit]") {
  const Scratch scratch;
  for (const auto* name : {"dog/b.png", "dog/a.png", "cat/z.png", "10/x.png", "2/x.png", "README", ".git/config",
                           "cat/.hidden", "cat/.thumbs/t.png"})
    scratch.write(name, "x");
  const auto all = labelled_files(scratch.path());
  CHECK(all.classes == std::vector<std::string>{"10", "2", "cat", "dog"});
  std::vector<std::pair<fs::path, int64_t>> files;
  for (const auto& [path, label] : all.files) files.emplace_back(path.lexically_relative(scratch.path()), label);
  CHECK(files == std::vector<std::pair<fs::path, int64_t>>{
                     {"10/x.png", 0}, {"2/x.png", 1}, {"cat/z.png", 2}, {"dog/a.png", 3}, {"dog/b.png", 3}});
}

TEST_CASE("labelled files: a folder that holds no classes is refused with its path", "[unit]") {
  const Scratch scratch;
  const auto refusal = [](const fs::path& folder) { return thrown<DataError>([&] { labelled_files(folder); }); };
  CHECK(contains(refusal(scratch / "absent"), "absent: there is no such folder"));
  CHECK(contains(refusal(scratch.path()), scratch.path().string() + " has no sub-folders"));
  CHECK(contains(refusal(scratch.write("file", "x")), "a folder is expected"));
  CHECK(contains(refusal(scratch.path()), "has no sub-folders"));

  fs::create_directory(scratch / "empty");
  CHECK(contains(refusal(scratch.path()), "the class 'empty' has no files"));
  scratch.write("empty/inner/x.png", "x");
  CHECK(contains(refusal(scratch.path()), "empty/inner is no file"));
  fs::remove_all(scratch / "empty");
  fs::create_directory(scratch / "links");
  fs::create_symlink(scratch / "nowhere", scratch / "links/gone.png");
  CHECK(contains(refusal(scratch.path()), "gone.png is no file"));
}

}  // namespace ordo::test
