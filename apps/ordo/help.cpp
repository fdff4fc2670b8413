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
  1    anything that is not below: a certificate or replay that does not hold, results that could not be written, a bug
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
  events.out.tfevents… for TensorBoard: loss, rate, gradient norm, speed, and the metrics of evaluations
  step-00002000/       a checkpoint: weights, optimiser, state, tokenizer, checksums
  best, last           one line each: a checkpoint's name
  certificate.json     what ordo certify, or train.certify, found of the model
  lock                 held while a training runs in the folder

Commands that take a RUN take the folder or one of its checkpoints. The same `ordo train` command goes on from the newest checkpoint that
verifies; a damaged one is passed over with a warning.
)"},
    {"surgery", "trained weights under other positions",
     R"(`ordo eval`, `ordo generate` and `ordo train --init RUN` take a run's weights under other position settings:
  ordo eval RUN model.position.scaling.kind=yarn model.position.scaling.factor=4     the original length is the run's
  ordo eval RUN model.position.theta=500000
  ordo eval RUN model.max_length=256      a learned table is extended, or stretched (model.position.on_resize=interpolate)
  ordo eval RUN model.position=none       or another kind; entries of a list keep their tensors by kind and order
  ordo train RUN/config.yaml --init RUN --run DIR model.position.kind=alibi          goes on at step 0 with a fresh optimiser
Each tensor of the encoding that is not simply kept is named: resized, new, dropped. All other tensors must fit (exit 4). The config
of a run begun with --init notes the length its first weights were trained at, train.trained_length.
)"},
    {"certificate", "what ordo certify proves",
     R"(`ordo certify CONFIG|RUN` runs the assembled model, with the run's weights where there are any, and measures:

  permutation_equivariance  two-sided, without an encoding a shuffled row gives the shuffled output; with one it must not
  order_sensitivity         the encoding changes the output at all, against the same weights without it
  shift_invariance          a common shift of all positions changes nothing, if the encoding claims it
  causality                 a later token changes nothing earlier
  cache_equals_full         decoding through the cache, at any split, equals one pass
  padding_invariance        pads on the left or on the right change no real token
  batch_invariance          nor do other rows
  packing_equals_separate   nor other documents in the row
  kernels_agree             every kernel that takes the call gives the reference's outputs and gradients
  recompute_equals_plain    gradients of replayed blocks are the plain ones, dropout included
  finite_beyond_length      longer rows stay finite and leave shorter ones as they were, or are refused in words
  rows_sum_to_one           attention weights sum to one over what is visible
  masked_rows_are_zero      who sees nothing gets nothing
  low_precision_error       bf16 and fp16 stay near fp32, and so do the angles of turns
  save_load_round_trip      the saved weights are all there is
  gradients                 they are those of finite differences in fp64, and reach all of the encoding

What an encoding cannot have by its nature is "not applicable", with the reason. Exit 0 only if all others pass, else 1; a run's certificate
is written to its folder as certificate.json. `train.certify: true` asks for it before the first step. `ordo certify CONFIG --explain` shows
by hand how attention sees "cat chases mouse" and "mouse chases cat".
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

constexpr std::string_view kTop = "config";

Words segments(const std::string& path) {
  Words list;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    list.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

// The manual names the kind at each choice (model.decoder.position.rope); people write paths as they stand in YAML
// (model.position.rope). The shortest path of the manual that holds the given one in order, from its first segment to
// its last; "" when there is none.
std::string manual_path(const std::string& topic) {
  const Words asked = segments(topic);
  std::string best;
  for (const auto& path : manual_paths(config_walk())) {
    const Words full = segments(path);
    if (full.front() != asked.front() || full.back() != asked.back() ||
        (!best.empty() && full.size() >= segments(best).size()))
      continue;
    size_t met = 0;
    for (const auto& segment : full)
      if (met < asked.size() && segment == asked[met]) ++met;
    if (met == asked.size()) best = path;
  }
  return best;
}

// "model.postion" -> "model.position": the nearest key below the part of the path that is known.
std::string nearest_path(const std::string& topic) {
  const size_t dot = topic.rfind('.');
  if (dot == topic.npos) return "";
  const std::string parent = topic.substr(0, dot), known = manual_path(parent);
  if (known.empty()) return nearest_path(parent);
  Words keys;
  for (const auto& path : manual_paths(config_walk()))
    if (path.starts_with(known + ".")) keys.push_back(segments(path).back());
  const std::string near = nearest(topic.substr(dot + 1), keys);
  return near.empty() ? "" : parent + "." + near;
}

ConfigError unknown_topic(const std::string& topic) {
  Words names;
  for (const auto& command : commands()) names.emplace_back(command.name);
  for (const auto& page : kPages) names.emplace_back(page.name);
  for (const auto& path : manual_paths(config_walk()))
    if (path.find('.') == path.npos) names.push_back(path);
  const std::string path = nearest_path(topic), near = path.empty() ? nearest(topic, names) : path;
  return ConfigError(
      fmt::format("no help on '{}'{}; 'ordo help' lists commands and pages, 'ordo help --paths' the keys of a config",
                  topic, near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
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
  options.positional("TOPIC", topic, "a command, a page, or a config path: model.position.rope; config for its top",
                     false);
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
  bool known = false;
  for (const auto& command : commands())
    if (command.name == topic) {
      command.run({"--help"});
      known = true;
    }
  const std::string path = topic == kTop ? "" : manual_path(topic);
  const bool section = topic == kTop || !path.empty();
  if (known && section) print("\nIn a config:\n\n");
  if (section) print(manual(config_walk(), path));
  if (!known && !section) throw unknown_topic(topic);
  return kDone;
}

}  // namespace ordo::cli
