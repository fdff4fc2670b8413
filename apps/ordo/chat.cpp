// SPDX-License-Identifier: Apache-2.0
#include "chat.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "command.h"
#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/data/text_checks.h"
#include "signals.h"

namespace ordo::cli {
namespace {

// Lines as they come, without their breaks and without a byte order mark before the first. A signal ends a read that
// waits, which a stream of the library would begin again.
class LineReader {
 public:
  LineReader(const std::optional<std::string>& file, const std::atomic<bool>& stop)
      : stop_(stop),
        name_(file.value_or("standard input")),
        descriptor_(file ? ::open(file->c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO),
        owned_(file.has_value()) {
    require<DataError>(descriptor_ >= 0, "cannot read {}: {}", name_, std::strerror(errno));
  }
  ~LineReader() {
    if (owned_) ::close(descriptor_);
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  std::optional<std::string> next() {
    size_t end = pending_.find('\n');
    while (end == std::string::npos && read_some()) end = pending_.find('\n');
    if (pending_.empty()) return std::nullopt;
    std::string line = pending_.substr(0, end);
    pending_.erase(0, end == std::string::npos ? end : end + 1);
    if (line.ends_with('\r')) line.pop_back();
    if (number_++ == 0 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    return line;
  }
  std::string place() const { return place_of(number_); }  // of the line read last: "turns.txt: line 2"

 private:
  bool read_some() {
    constexpr size_t kMostLine = 1 << 20;
    char block[4096];
    ssize_t count = 0;
    do count = ::read(descriptor_, block, sizeof block);
    while (count < 0 && errno == EINTR && !stop_);
    require<DataError>(count >= 0 || errno == EINTR, "cannot read {}: {}", name_, std::strerror(errno));
    if (count <= 0) return false;
    pending_.append(block, static_cast<size_t>(count));
    require<DataError>(pending_.size() <= kMostLine || pending_.find('\n') != std::string::npos,
                       "{}: a turn of more than {} bytes", place_of(number_ + 1), kMostLine);
    return true;
  }
  std::string place_of(int64_t number) const { return fmt::format("{}: line {}", name_, number); }

  const std::atomic<bool>& stop_;
  std::string name_;
  int descriptor_;
  bool owned_;
  std::string pending_;
  int64_t number_ = 0;
};

bool is_terminal(int descriptor) {
  const char* const kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

class Conversation {
 public:
  Conversation(const ChatCall& call, const std::atomic<bool>& stop)
      : call_(call),
        layout_(*call.writer.dialogue()),
        stop_(stop),
        chat_(call.models, layout_, call.config),
        lines_(call.file, stop),
        prompts_(!call.file && !call.json && is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO)) {}

  void run() {
    while (!stop_ && output_open()) {
      if (prompts_) print("> ");
      const auto line = lines_.next();
      if (!line || stop_) break;
      if (line->find_first_not_of(" \t") == std::string::npos) continue;
      if (hear(*line)) answer();
    }
    if (prompts_) print("\n");
    if (!call_.json) return;
    Json document = call_.about;
    document["turns"] = turns_;
    print_json(document);
  }

 private:
  // False: it was refused, and the user at the terminal may try again.
  bool hear(const std::string& line) {
    try {
      const Turn turn = turn_of(line);
      if (chat_.hear(turn))
        log::warn("the turn has {} tokens and is cut to its first {}", turn.ids.size(),
                  chat_.window().back().ids.size());
    } catch (const DataError& error) {
      if (!prompts_) throw DataError(fmt::format("{}: {}", lines_.place(), error.what()));
      log::warn("{}", error.what());
      return false;
    }
    turns_.push_back({{"role", name_of(layout_.asks())}, {"text", line}});
    return true;
  }

  Turn turn_of(const std::string& line) const {
    size_t bad = 0;
    require<DataError>(valid_utf8(line, &bad), "not valid UTF-8 at byte {}", bad);
    Turn turn{.speaker = layout_.asks(), .ids = layout_.encode(line)};
    const auto unknown = std::count_if(turn.ids.begin(), turn.ids.end(), [&](int64_t id) {
      return id == layout_.unknown() || layout_.tokenizer().is_special(id);
    });
    if (unknown > 0)
      log::warn("{} of the turn's {} tokens stand for what the model's vocabulary has not", unknown, turn.ids.size());
    return turn;
  }

  void answer() {
    const int64_t dropped = chat_.dropped();
    Utf8Joiner joiner;
    bool first = true;
    const Answer made = chat_.answer([&](int64_t, int64_t id) {
      if (!call_.json) print(joiner.add(call_.writer.piece(id, std::exchange(first, false))));
      return output_open() && !stop_;
    });
    if (!call_.json) print(joiner.finish() + "\n");
    if (dropped == 0 && chat_.dropped() > 0)
      log::info("the window of {} tokens is full: from here on the oldest turns are left out", call_.config.length);
    if (!call_.json) return;
    const std::string text = joiner.add(call_.writer.text(made.ids));
    turns_.push_back({{"role", name_of(layout_.answers())},
                      {"text", text + joiner.finish()},
                      {"tokens", made.ids},
                      {"log_probability", made.log_probability},
                      {"ended", made.ended},
                      {"dropped", chat_.dropped()}});
  }

  static const char* name_of(Speaker speaker) { return speaker == Speaker::user ? "user" : "system"; }

  const ChatCall& call_;
  const DialogueLayout& layout_;
  const std::atomic<bool>& stop_;
  Chat chat_;
  LineReader lines_;
  bool prompts_;
  Json turns_ = Json::array();
};

}  // namespace

int chat(const ChatCall& call) {
  const std::atomic<bool>& stop = stop_reading_on_interrupt();
  Conversation(call, stop).run();
  return stop ? kInterrupted : kDone;
}

}  // namespace ordo::cli
