// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/study.h"

#include <algorithm>

#include "ordo/config/numbers.h"
#include "ordo/config/overrides.h"
#include "ordo/config/parse.h"
#include "ordo/config/reader.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/study/checks.h"
#include "ordo/study/factors.h"

namespace ordo {

namespace {

// The comment that a file begins with, but for its license line.
std::string opening_comment(const std::string& text) {
  std::string comment;
  for (const auto& line : split(text, '\n')) {
    if (!line.starts_with('#')) break;
    if (line.find("SPDX-License-Identifier") != std::string::npos) continue;
    const size_t start = line.find_first_not_of("# ");
    comment += (comment.empty() ? "" : " ") + (start == std::string::npos ? "" : line.substr(start));
  }
  return comment;
}

// A path as short as it can be said from here: what messages show.
fs::path shown_path(const fs::path& path) {
  const fs::path near = path.lexically_proximate(fs::current_path());
  return near.string().size() < path.string().size() ? near : path;
}

void read_base(const fs::path& base, const Source& named_at, StudyFiles& files) {
  if (files.bases.contains(base.string())) return;
  try {
    if (auto tree = read_tree(shown_path(base), files.folders, files.read))
      files.bases.emplace(base.string(), std::move(*tree));
  } catch (const ConfigError& error) {
    files.read.add_at(named_at, error.what(), "paths are relative to the file that names them");
  }
}

void read_bases(const StudyConfig& study, StudyFiles& files) {
  if (!study.base.empty()) {
    const Source* at = files.read.find("base");
    read_base(study.base, at == nullptr ? Source{} : *at, files);
  }
  bool everywhere = false;
  for (const auto& factor : study.vary) {
    bool always = !factor.levels.empty();
    for (const auto& level : factor.levels) {
      if (level.base) read_base(*level.base, level.at, files);
      always = always && level.base.has_value();
    }
    everywhere = everywhere || always;
  }
  if (study.base.empty() && !everywhere)
    add_at_key(files.read, study, "", "missing key 'base'",
               "the training config that all runs start from; else every level of one factor gives a `base`");
}

// What the file says in words of its own.
void settle_words(StudyConfig& study) {
  const auto& instances = study.instances_as_written;
  study.instances = instances == "per_seed" ? Instances::per_seed
                    : instances == "fixed"  ? Instances::fixed
                                            : Instances::crossed;
  study.instance_count = study.instances == Instances::crossed ? read_whole(instances).value.value_or(0) : 0;
  study.compare.area = study.compare.length_as_written == "area";
  if (!study.compare.area) study.compare.length = read_whole(study.compare.length_as_written).value;
  if (!study.tune) return;
  if (study.tune->per_as_written)
    study.tune->per = *study.tune->per_as_written;
  else
    for (const auto& factor : study.vary) study.tune->per.push_back(factor.name);
}

void check_name(const StudyConfig& study, Problems& problems) {
  if (study.name.empty() || study.name.find_first_of("/\\") != std::string::npos || study.name.starts_with('.'))
    add_at_key(problems, study, "name",
               fmt::format("'{}' names a folder, so it must not start with a dot or hold / or \\", study.name));
}

}  // namespace

StudyConfig load_study(const fs::path& file, std::span<const std::string> overrides) {
  const auto files = std::make_shared<StudyFiles>();
  Problems& problems = files->read;
  StudyConfig study;
  study.name = file.stem().string();
  study.file = fs::absolute(file).lexically_normal();
  study.overrides.assign(overrides.begin(), overrides.end());
  study.files = files;
  auto root = read_tree(file, files->folders, problems);
  if (!root) problems.throw_if_any();
  require<ConfigError>(
      root->find("task") == nullptr || root->find("model") == nullptr,
      "{} is a training config, not a study: `ordo train {}` trains it; a study names it as its `base`", file.string(),
      file.string());
  study.expected = opening_comment(plain_lines(read_file(file)));
  apply_overrides(*root, overrides, problems, sets_runs);
  read_into(*root, walk_of(study), files->folders, problems);
  read_factors(study, *files);
  set_from_command_line(study);
  settle_words(study);
  check_name(study, problems);
  read_bases(study, *files);
  check_settings(study, problems);
  settle_questions(study, problems);
  check_evaluations(study, resolve_arms(study, problems), problems);
  problems.throw_if_any();
  return study;
}

}  // namespace ordo
