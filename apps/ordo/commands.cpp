// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "command.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo::cli {

std::span<const Command> commands() {
  static constexpr std::array<Command, 17> kCommands{{
      {"train", "CONFIG", "train a model; goes on from the run folder's newest checkpoint", train},
      {"eval", "RUN…", "evaluate trained models over a whole split, at any lengths", eval},
      {"ablate", "STUDY",
       "run a study: settings against each other on several seeds, with the answer and its uncertainty", ablate},
      {"report", "RUN…|STUDY", "the answer of a study, or of any runs, as one page and as tables", report},
      {"generate", "RUN", "continue a text, answer one, or chat", generate_text},
      {"predict", "RUN INPUT…", "say what a trained model makes of new texts, images, sounds or series", predict},
      {"check", "CONFIG", "read and assemble a config without training: parameters, memory, kernels, data",
       check_config},
      {"certify", "CONFIG|RUN", "prove properties of the assembled model; --explain shows how order is seen",
       certify_model},
      {"config", "show|schema|diff", "the resolved config, its JSON Schema, differences between two", config},
      {"data", "tokenize", "a corpus made into tokens once, as a file that trainings map", data},
      {"tokenizer", "train|encode|decode", "a vocabulary from texts; texts as ids and back", tokenizer},
      {"list", "KINDS", "position encodings, kernels, models, tasks, … that a config may name", list},
      {"positions", "KIND", "what a position encoding does: tables, angles, biases, decay with the distance",
       show_positions},
      {"bench", "CONFIG", "measure training speed and memory", bench},
      {"replay", "RUN", "re-execute a run from a checkpoint and compare it bit for bit", replay},
      {"doctor", "", "what this machine offers and what is missing", doctor},
      {"help", "[TOPIC]", "the manual: a command, a config path such as model.position.rope, a page", help},
  }};
  return kCommands;
}

const Command& find_command(const std::string& name) {
  Words names;
  for (const auto& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  const std::string near = nearest(name, names);
  throw ConfigError(fmt::format("unknown command '{}'{}; the commands are {}", name,
                                near.empty() ? "" : fmt::format(": did you mean '{}'?", near), join(names, ", ")));
}

int run_part(std::string_view command, std::string_view summary, std::span<const Command> parts, const Words& words) {
  if (words.empty() || words[0] == "-h" || words[0] == "--help") {
    Table table({});
    for (const auto& part : parts)
      table.row({fmt::format("  ordo {} {} {}", command, part.name, part.arguments), std::string(part.summary)});
    print(fmt::format("{}\n\n{}", summary, table.text()));
    return kDone;
  }
  Words names;
  for (const auto& part : parts) {
    if (part.name == words[0]) return part.run({words.begin() + 1, words.end()});
    names.emplace_back(part.name);
  }
  const std::string near = nearest(words[0], names);
  throw ConfigError(fmt::format("unknown 'ordo {} {}'{}; there are {}", command, words[0],
                                near.empty() ? "" : fmt::format(": did you mean '{}'?", near), join(names, ", ")));
}

std::string overview() {
  Table table({});
  for (const auto& command : commands())
    table.row({fmt::format("  {} {}", command.name, command.arguments), std::string(command.summary)});
  return fmt::format(
      "Ordo {} trains, compares and evaluates transformers described in YAML.\n\n"
      "Usage: ordo COMMAND [ARGUMENTS] [a.b.c=value …]\n\n{}\n"
      "ordo COMMAND --help tells a command's options; ordo help TOPIC is the manual; ordo --version.\n\n"
      "  ordo train configs/shakespeare_char.yaml task.data.train=input.txt\n"
      "  ordo eval runs/shakespeare_char --lengths 64,128\n"
      "  ordo generate runs/shakespeare_char --prompt \"First Citizen:\"\n",
      ORDO_VERSION, table.text());
}

namespace {
int output_error = 0;  // the first errno of stdout; said once, at the end
}

void print(std::string_view text) {
  if (output_error != 0) return;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) output_error = errno != 0 ? errno : EIO;
}

bool output_open() { return output_error == 0; }

void print_json(const Json& document) { print(json_text(document)); }

void finish_output() {
  if (output_error != 0 && output_error != EPIPE)
    throw Error(fmt::format("cannot write the results to standard output: {}", std::strerror(output_error)));
}

}  // namespace ordo::cli
