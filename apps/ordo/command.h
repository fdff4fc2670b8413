// SPDX-License-Identifier: Apache-2.0
// What a sub-command of `ordo` is, and how commands speak: results to stdout, everything else to the log on stderr.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/json.h"

namespace ordo::cli {

using Words = std::vector<std::string>;

struct Command {
  std::string_view name, arguments, summary;
  int (*run)(const Words& words);  // the words after the command's name; returns the exit code
};
std::span<const Command> commands();                   // commands.cpp: the only list
const Command& find_command(const std::string& name);  // throws ConfigError with the nearest name

// Each in a file of its name.
int ablate(const Words& words);
int bench(const Words& words);
int certify_model(const Words& words);
int check_config(const Words& words);
int config(const Words& words);
int doctor(const Words& words);
int eval(const Words& words);
int generate_text(const Words& words);
int help(const Words& words);
int list(const Words& words);
int predict(const Words& words);
int show_positions(const Words& words);
int replay(const Words& words);
int report(const Words& words);
int data(const Words& words);
int tokenizer(const Words& words);
int train(const Words& words);

// A command that is several: the first word names one of `parts`, which gets the others; without words, or for help, a
// list of them is printed.
int run_part(std::string_view command, std::string_view summary, std::span<const Command> parts, const Words& words);

std::string overview();  // what `ordo --help` prints

// Standard output. A closed pipe is the reader's wish; a full disk is an Error, told at the end by finish_output().
void print(std::string_view text);
void print_json(const Json& document);  // one document and a line break
bool output_open();                     // false once nothing more can be written
void finish_output();

inline constexpr int kDone = 0, kStopped = 75, kInterrupted = 130;  // exit codes beside those of errors.h

}  // namespace ordo::cli
