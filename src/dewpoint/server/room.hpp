// A room of the explorer: one verb of the command line as a live question.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/server/json_body.hpp"
#include "dewpoint/server/question.hpp"
#include "dewpoint/store/study.hpp"

namespace dewpoint::server {

class StudyFolder;

/// Many numbers that are fetched apart from the result, row by row.
struct Array {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<double> numbers;
};

/// One level of an answer: whole, and replaced by the next.
struct Result {
  std::size_t level = 1;
  std::size_t levels = 1;  // 0: not known yet
  Json json;
  std::vector<Array> arrays = {};
  std::optional<store::StudyRecord> study = {};  // what `save` keeps; of the last level only
};

using Publish = std::function<void(Result&&)>;

class Room {
 public:
  Room(std::string name, std::string verb, std::string title, RoomFields fields)
      : name_(std::move(name)),
        verb_(std::move(verb)),
        title_(std::move(title)),
        fields_(std::move(fields)) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  virtual ~Room() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& verb() const { return verb_; }
  [[nodiscard]] const RoomFields& fields() const { return fields_; }
  /// {"room", "verb", "title", "fields"}.
  [[nodiscard]] Json to_json() const;

  /// Throws Refusal or Error{bad_value} for a question whose fields are right one by one but not
  /// together, or which is too large to be answered live. Takes no time.
  virtual void check(const Question& question) const = 0;

  /// The command line that prints the answer's numbers.
  [[nodiscard]] virtual std::string command(const Question& question) const {
    return question.command();
  }

  /// What the answer depends on beside the question: the state of a file. Part of the cache's key.
  [[nodiscard]] virtual std::string input_state(const Question& /*question*/) const { return {}; }

  /// Publishes every level, coarse to fine; the last is what the verb prints. Stops with
  /// Error{stopped} when the context says so. Called from any thread, several at a time.
  /// Publishing returns when it is this job's turn again, and may change the context's threads.
  virtual void answer(const Question& question, const RunContext& context,
                      const Publish& publish) const = 0;

 private:
  std::string name_;
  std::string verb_;
  std::string title_;
  RoomFields fields_;
};

/// All rooms, in the order of the page. The folder is that of `heads`, and outlives them.
[[nodiscard]] std::vector<std::unique_ptr<Room>> make_rooms(const StudyFolder& folder);

[[nodiscard]] std::unique_ptr<Room> make_phase_room();
[[nodiscard]] std::unique_ptr<Room> make_phase_cell_room();
[[nodiscard]] std::unique_ptr<Room> make_phase_depth_room();
[[nodiscard]] std::unique_ptr<Room> make_condense_room();
[[nodiscard]] std::unique_ptr<Room> make_query_room();
[[nodiscard]] std::unique_ptr<Room> make_dew_room();
[[nodiscard]] std::unique_ptr<Room> make_cycle_room();
[[nodiscard]] std::unique_ptr<Room> make_heads_room(const StudyFolder& folder);

/// Throws TooLarge naming the field unless the work, in floating-point operations, can be done
/// live.
void require_live_work(double work, const std::string& field);
inline constexpr double kMostLiveWork = 4e12;

/// A study of the question with these frames, as the verb would keep it.
[[nodiscard]] store::StudyRecord study_of(const Room& room, const Question& question,
                                          std::vector<Frame> frames);

/// A frame without errors and samples, for what is exact.
[[nodiscard]] Json means_json(const Frame& frame);

}  // namespace dewpoint::server
