// SPDX-License-Identifier: Apache-2.0
// ordo help [TOPIC]: a command, a config path, or a page.
#include <fmt/core.h>

#include <algorithm>

#include "options.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/train/run_config.h"

namespace ordo::cli {
namespace {

struct Page {
  std::string_view name, summary, text;
};
constexpr Page kPages[] = {
    {"overrides", "how the command line changes a config",
     R"(Words of the form a.b.c=value after a command's arguments change the config that it reads:

  ordo train lm.yaml model.position.kind=alibi train.optimizer.lr=3e-4 'evaluate.lengths=[64, 128]'

The value is YAML and gets the same checks as the file; errors name its place as "command line". Where a list is due, one value is
a list of one, and model.position.0.theta=500000 reaches into a list. Setting a `kind` to another kind drops what the file set for the
former one, and the log says so. Paths on the command line are relative to the current folder, paths in a file to that file.
)"},
    {"exit-codes", "what a script can rely on",
     R"(  0    done
  1    anything that is not below: a replay that does not hold, results that could not be written, a bug
  2    usage or config
  3    data
  4    checkpoint
  5    numbers that are not finite
  6    device or memory
  75   stopped by a signal after writing a checkpoint; the same command goes on from there
  130  a second interrupt: stopped at once
)"},
    {"run-folder", "what a training run writes",
     R"(  config.yaml          the config with every default
  metrics.jsonl        one JSON object a line: {"kind":"train","step":…} and {"kind":"eval","step":…}; steps increase strictly, also after a resume
  log.txt              the log
  events.out.tfevents… the same numbers for TensorBoard
  step-00002000/       a checkpoint: weights, optimiser, state, tokenizer, checksums
  best, last           one line each: a checkpoint's name
  lock                 held while a training runs in the folder

Commands that take a RUN take the folder or one of its checkpoints. The same `ordo train` command goes on from the newest checkpoint that
verifies; a damaged one is passed over with a warning.
)"},
    {"signals", "how to stop a training run",
     R"(SIGTERM, SIGINT (Ctrl-C), SIGUSR1 and SIGHUP let the running step finish, write a checkpoint and exit with 75: the same command goes on from
there, to the same bytes as a run that was never stopped (same number of threads, on the CPU). A second SIGINT quits at once (exit 130);
the checkpoints stay valid.
)"},
};

Walk config_walk() {
  static RunConfig config;
  return walk_of(config);
}

int show_contents() {
  print(overview());
  Table pages({});
  for (const auto& page : kPages) pages.row({fmt::format("  ordo help {}", page.name), std::string(page.summary)});
  pages.row({"  ordo help PATH", "the keys of a config below a path: train, model.attention, model.position.rope, …"});
  print("\nPages:\n" + pages.text());
  return kDone;
}

}  // namespace

int help(const Words& words) {
  Options options("help", "The manual.");
  std::string topic;
  bool paths = false;
  options.positional("TOPIC", topic, "a command, a config path (model.position.rope; 'config' for its top), a page", false);
  options.flag("--paths", paths, "every config path that the manual knows");
  if (!options.parse(words)) return kDone;

  if (paths) {
    for (const auto& path : manual_paths(config_walk()))
      if (!path.empty()) print(path + "\n");
    return kDone;
  }
  if (topic.empty()) return show_contents();
  for (const auto& page : kPages)
    if (page.name == topic) {
      print(page.text);
      return kDone;
    }
  const auto known_path = manual_paths(config_walk());
  if (std::find(known_path.begin(), known_path.end(), topic) != known_path.end()) {
    print(manual(config_walk(), topic));
    return kDone;
  }
  for (const auto& command : commands())
    if (command.name == topic && topic != "help") return command.run({"--help"});

  Words names(known_path);
  for (const auto& command : commands()) names.emplace_back(command.name);
  for (const auto& page : kPages) names.emplace_back(page.name);
  const std::string near = nearest(topic, names);
  throw ConfigError(fmt::format("no help on '{}'{}; 'ordo help' lists commands and pages, 'ordo help --paths' the keys of a config", topic,
                                near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
}

}  // namespace ordo::cli
