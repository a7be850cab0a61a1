// Real heads, from a dump or from a study of one: `dewpoint heads`.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/diagnosis/head_survey.hpp"
#include "dewpoint/diagnosis/verdict_json.hpp"
#include "dewpoint/experiments/head_study.hpp"
#include "dewpoint/scaling/schedule.hpp"
#include "dewpoint/server/refusal.hpp"
#include "dewpoint/server/room.hpp"
#include "dewpoint/server/study_folder.hpp"

namespace dewpoint::server {
namespace {

using diagnosis::HeadDiagnosis;
using diagnosis::HeadSurvey;
using diagnosis::SurveyQuestion;

constexpr std::size_t kCoarseRows = 32;
constexpr std::size_t kCoarseReplicates = 40;
constexpr double kLongestSchedule = 1048576.0;
constexpr double kMostDumpTokens = 16384.0;
constexpr std::size_t kMostStudyNumbers = 400'000;

/// m(n) of every schedule: at the lengths of the frame, and doubled on from there.
Frame schedules_frame(const std::vector<std::string>& names, double train_length,
                      std::vector<double> lengths) {
  while (!lengths.empty() && 2.0 * lengths.back() <= kLongestSchedule) {
    lengths.push_back(2.0 * lengths.back());
  }
  Frame frame("schedules");
  frame.add_labelled_dimension("schedule", names);
  frame.add_dimension("n", lengths);
  auto& cells = frame.add_variable("multiplier", {"schedule", "n"}).cells;
  std::size_t place = 0;
  for (const std::string& name : names) {
    const scaling::Schedule schedule = scaling::named_schedule(name, train_length);
    for (const double n : lengths) {
      cells[place++] = {scaling::multiplier(schedule, n), 0.0, 0};
    }
  }
  return frame;
}

struct HeadsQuestion {
  std::optional<std::string> input;
  SurveyQuestion survey;
  diagnosis::DumpQuestion dump;
};

template <class Visitor>
void describe(Visitor& visit, HeadsQuestion& q) {
  visit("input", q.input, question::positional, question::file("heads"),
        "a dump (.safetensors, .npz) or a study of heads");
  describe(visit, q.survey);
  describe(visit, q.dump);
}

/// One head, opened.
struct OneHead {
  std::optional<std::size_t> layer, head;
};

template <class Visitor>
void describe(Visitor& visit, OneHead& q) {
  visit("layer", q.layer, question::in(0.0, 1e4), "one head, opened; with head",
        question::only_with("head"));
  visit("head", q.head, question::in(0.0, 1e4), "one head, opened; with layer",
        question::only_with("layer"));
}

RoomFields heads_fields() {
  RoomFields fields{
      question::fields_of<HeadsQuestion>(), question::fields_of<OneHead>(), {{"beta", 4}}};
  for (question::Field& field : fields.question) {
    if (field.name == "layout") field.words = field.suggestions;
  }
  return fields;
}

class HeadsRoom final : public Room {
 public:
  explicit HeadsRoom(const StudyFolder& folder)
      : Room("heads", "heads", "Real heads", heads_fields()), folder_(folder) {}

  void check(const Question& question) const override {
    const auto asked = question.asked().first<HeadsQuestion>();
    if (!asked.input) throw Refusal(400, "input: a dump or a study of heads is needed", "input");
    for (const std::string& name : asked.survey.schedules) {
      (void)scaling::named_schedule(name, 1024.0);
    }
    if (!is_study(*asked.input)) return;
    const bool opened = question.here<OneHead>().layer.has_value();
    if (!opened && asked.survey.betas.empty()) return;
    const char* field = opened ? "layer" : "beta";
    throw Refusal(
        400, fmt::format("{}: a study has what it was measured with; open the dump", field), field);
  }

  /// The verb reads dumps; a study is shown.
  std::string command(const Question& question) const override {
    const std::string input = input_of(question);
    if (!is_study(input)) return question.command();
    return fmt::format("dewpoint show {} --observable phase --rows 0",
                       shell_word(folder_.prefix() + input));
  }

  std::string input_state(const Question& question) const override {
    const auto file = file_of(input_of(question));
    const auto written = std::filesystem::last_write_time(file).time_since_epoch().count();
    return fmt::format("{} {}", std::filesystem::file_size(file), written);
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    const auto asked = question.asked().first<HeadsQuestion>();
    if (is_study(*asked.input)) {
      publish(stored(asked));
    } else {
      survey(question, asked, context, publish);
    }
  }

 private:
  static std::string input_of(const Question& question) {
    return question.asked().first<HeadsQuestion>().input.value();
  }

  [[nodiscard]] std::filesystem::path file_of(const std::string& input) const {
    return folder_.existing(input, {".safetensors", ".npz", ".study"});
  }

  [[nodiscard]] bool is_study(const std::string& input) const {
    return file_of(input).extension() == ".study";
  }

  // ---- a study ----------------------------------------------------------------------------------

  [[nodiscard]] Result stored(const HeadsQuestion& asked) const {
    const store::StudyRecord study = store::read_study(file_of(*asked.input));
    if (study.experiment != "heads") {
      throw Refusal(400,
                    fmt::format("input: '{}' holds {}, not heads", *asked.input, study.experiment),
                    "input");
    }
    const Frame& frame = study.frame("heads");
    std::size_t numbers = 0;
    for (const Variable& variable : frame.variables()) numbers += variable.cells.size();
    if (numbers > kMostStudyNumbers) {
      throw Refusal(400,
                    fmt::format("input: '{}' has {} numbers, more than the {} that are shown; use "
                                "dewpoint figure",
                                *asked.input, numbers, kMostStudyNumbers),
                    "input");
    }
    const std::vector<double>& lengths = frame.dimension("n").coordinates;
    return {1,
            1,
            {{"source", "study"},
             {"layers", frame.dimension("layer").coordinates.size()},
             {"heads", frame.dimension("head").coordinates.size()},
             {"longest", lengths.back()},
             {"notes", Json::array()},
             {"frame", dewpoint::to_json(frame)},
             {"verdicts", nullptr},
             {"schedules", schedules_json(asked.survey, lengths)}}};
  }

  [[nodiscard]] static Json schedules_json(const SurveyQuestion& survey,
                                           const std::vector<double>& lengths) {
    const double train =
        survey.train_length ? static_cast<double>(*survey.train_length) : lengths.back();
    return means_json(schedules_frame(survey.schedules, train, lengths));
  }

  // ---- a dump -----------------------------------------------------------------------------------

  void survey(const Question& question, const HeadsQuestion& asked, const RunContext& context,
              const Publish& publish) const {
    const checkpoint::HeadDump dump =
        checkpoint::HeadDump::open(file_of(*asked.input), diagnosis::options_of(asked.dump));
    const std::size_t longest = experiments::longest_context(dump);
    if (static_cast<double>(longest) > kMostDumpTokens) {
      throw TooLarge(fmt::format("input: {} keys are more than the {} that are measured live",
                                 longest, kMostDumpTokens),
                     "input");
    }
    SurveyQuestion all = asked.survey;
    all.seed = question.seed();
    const HeadSurvey whole = diagnosis::head_survey(all, longest, longest, *asked.input);
    if (const auto one = question.here<OneHead>(); one.layer) {
      const HeadDiagnosis head =
          diagnosis::survey_head(dump, *one.layer, *one.head, whole, context);
      publish({1, 1, json_of(all, dump, {head}, whole)});
      return;
    }
    SurveyQuestion few = all;
    few.rows = std::min(all.rows, kCoarseRows);
    few.replicates = std::min(all.replicates, kCoarseReplicates);
    const HeadSurvey coarse = diagnosis::head_survey(few, longest, longest, *asked.input);
    publish({1, 2,
             json_of(few, dump,
                     diagnosis::survey_dump(dump, coarse, {context.threads, context.stop, {}}),
                     coarse)});
    const std::vector<HeadDiagnosis> heads = diagnosis::survey_dump(dump, whole, context);
    Result result{2, 2, json_of(all, dump, heads, whole)};
    result.study = study_of(*this, question,
                            {diagnosis::frame_of_heads(heads, whole.options).renamed("heads")});
    publish(std::move(result));
  }

  [[nodiscard]] static Json json_of(const SurveyQuestion& asked, const checkpoint::HeadDump& dump,
                                    const std::vector<HeadDiagnosis>& heads,
                                    const HeadSurvey& survey) {
    const Frame frame = diagnosis::frame_of_heads(heads, survey.options).renamed("heads");
    Json verdicts = Json::array();
    for (const HeadDiagnosis& head : heads) {
      verdicts.push_back(diagnosis::to_json(head, survey.options.multipliers));
    }
    std::size_t most_heads = 0;
    for (const checkpoint::DumpShape& shape : dump.shapes()) {
      most_heads = std::max(most_heads, shape.heads);
    }
    const std::vector<double>& lengths = frame.dimension("n").coordinates;
    return {{"source", "dump"},
            {"layers", dump.layers().size()},
            {"heads", most_heads},
            {"longest", experiments::longest_context(dump)},
            {"notes", diagnosis::dump_notes(dump)},
            {"frame", dewpoint::to_json(frame)},
            {"verdicts", verdicts},
            {"schedules", schedules_json(asked, lengths)}};
  }

  const StudyFolder& folder_;
};

}  // namespace

std::unique_ptr<Room> make_heads_room(const StudyFolder& folder) {
  return std::make_unique<HeadsRoom>(folder);
}

}  // namespace dewpoint::server
