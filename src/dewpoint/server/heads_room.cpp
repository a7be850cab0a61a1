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

std::vector<Field> heads_fields() {
  Field input = word_field("input", nullptr, {}, "A dump (.safetensors, .npz) or a study of heads");
  input.kind = FieldKind::file;
  input.option.clear();
  return {input,
          only_here(whole_field("layer", nullptr, 0.0, 1e4, "One head, opened; with head")),
          only_here(whole_field("head", nullptr, 0.0, 1e4, "One head, opened; with layer")),
          list_field("beta", nullptr, 0.01, 100.0, 4, "Multipliers beside 1"),
          words_field("schedule", Json::array(), 6, "Schedules by name"),
          whole_field("train-length", nullptr, 16.0, 1e9, "Length that schedules start from"),
          live(whole_field("rows", 512, 16.0, 4096.0, "Queries per octave of n")),
          live(whole_field("replicates", 400, 20.0, 2000.0, "Redrawn heads for the errors")),
          word_field("layout", nullptr, {"HND", "NHD", "BHND", "BNHD"}, "Axes of a dump"),
          number_field("scale", nullptr, 1e-6, 1e6, "Factor of <q,k>; default 1/sqrt(d)"),
          flag_field("no-causal", "Every query sees every key"),
          seed_field()};
}

class HeadsRoom final : public Room {
 public:
  explicit HeadsRoom(const StudyFolder& folder)
      : Room("heads", "heads", "Real heads", heads_fields()), folder_(folder) {}

  void check(const Question& question) const override {
    if (!question.given("input")) {
      throw Refusal(400, "input: a dump or a study of heads is needed", "input");
    }
    if (question.given("layer") != question.given("head")) {
      const char* missing = question.given("layer") ? "head" : "layer";
      throw Refusal(400, fmt::format("{}: layer and head go together", missing), missing);
    }
    for (const std::string& name : question.words("schedule")) {
      (void)scaling::named_schedule(name, 1024.0);
    }
    const auto file = file_of(question);
    if (file.extension() != ".study") return;
    for (const char* field : {"layer", "beta"}) {
      if (!question.given(field)) continue;
      throw Refusal(400,
                    fmt::format("{}: a study has what it was measured with; open the dump", field),
                    field);
    }
  }

  /// The verb reads dumps; a study is shown.
  std::string command(const Question& question) const override {
    if (file_of(question).extension() != ".study") return question.command();
    return fmt::format("dewpoint show {} --observable phase --rows 0",
                       shell_word(folder_.prefix() + question.text("input")));
  }

  std::string input_state(const Question& question) const override {
    const auto file = file_of(question);
    const auto written = std::filesystem::last_write_time(file).time_since_epoch().count();
    return fmt::format("{} {}", std::filesystem::file_size(file), written);
  }

  void answer(const Question& question, const RunContext& context,
              const Publish& publish) const override {
    if (file_of(question).extension() == ".study") {
      publish(stored(question));
    } else {
      survey(question, context, publish);
    }
  }

 private:
  [[nodiscard]] std::filesystem::path file_of(const Question& question) const {
    return folder_.existing(question.text("input"), {".safetensors", ".npz", ".study"});
  }

  // ---- a study ----------------------------------------------------------------------------------

  [[nodiscard]] Result stored(const Question& question) const {
    const store::StudyRecord study = store::read_study(file_of(question));
    if (study.experiment != "heads") {
      throw Refusal(
          400,
          fmt::format("input: '{}' holds {}, not heads", question.text("input"), study.experiment),
          "input");
    }
    const Frame& frame = study.frame("heads");
    std::size_t numbers = 0;
    for (const Variable& variable : frame.variables()) numbers += variable.cells.size();
    if (numbers > kMostStudyNumbers) {
      throw Refusal(400,
                    fmt::format("input: '{}' has {} numbers, more than the {} that are shown; use "
                                "dewpoint figure",
                                question.text("input"), numbers, kMostStudyNumbers),
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
             {"schedules", schedules_json(question, lengths)}}};
  }

  [[nodiscard]] static Json schedules_json(const Question& question,
                                           const std::vector<double>& lengths) {
    const double train =
        question.given("train-length") ? question.number("train-length") : lengths.back();
    return means_json(schedules_frame(question.words("schedule"), train, lengths));
  }

  // ---- a dump -----------------------------------------------------------------------------------

  [[nodiscard]] checkpoint::HeadDump opened(const Question& question) const {
    checkpoint::DumpOptions options;
    if (question.given("layout")) options.layout = question.text("layout");
    options.scale = question.optional_number("scale");
    if (question.flag("no-causal")) options.causal = false;
    return checkpoint::HeadDump::open(file_of(question), options);
  }

  void survey(const Question& question, const RunContext& context, const Publish& publish) const {
    const checkpoint::HeadDump dump = opened(question);
    const std::size_t longest = experiments::longest_context(dump);
    if (static_cast<double>(longest) > kMostDumpTokens) {
      throw TooLarge(fmt::format("input: {} keys are more than the {} that are measured live",
                                 longest, kMostDumpTokens),
                     "input");
    }
    if (question.given("layer")) {
      const HeadSurvey whole =
          survey_of(question, longest, question.whole("rows"), question.whole("replicates"));
      const HeadDiagnosis head = diagnosis::survey_head(dump, question.whole("layer"),
                                                        question.whole("head"), whole, context);
      publish({1, 1, json_of(question, dump, {head}, whole)});
      return;
    }
    const HeadSurvey coarse = survey_of(question, longest, 32, 40);
    publish({1, 2,
             json_of(question, dump,
                     diagnosis::survey_dump(dump, coarse, {context.threads, context.stop, {}}),
                     coarse)});
    const HeadSurvey whole =
        survey_of(question, longest, question.whole("rows"), question.whole("replicates"));
    const std::vector<HeadDiagnosis> heads = diagnosis::survey_dump(dump, whole, context);
    Result result{2, 2, json_of(question, dump, heads, whole)};
    result.study = study_of(*this, question,
                            {diagnosis::frame_of_heads(heads, whole.options).renamed("heads")});
    publish(std::move(result));
  }

  [[nodiscard]] static HeadSurvey survey_of(const Question& question, std::size_t longest,
                                            std::size_t rows, std::size_t replicates) {
    diagnosis::SurveyQuestion survey;
    if (question.given("beta")) survey.betas = question.text("beta");
    survey.schedules = question.words("schedule");
    survey.rows = std::min(rows, question.whole("rows"));
    survey.replicates = std::min(replicates, question.whole("replicates"));
    survey.seed = question.whole("seed");
    const std::size_t train =
        question.given("train-length") ? question.whole("train-length") : longest;
    return diagnosis::head_survey(survey, longest, train, question.text("input"));
  }

  [[nodiscard]] static Json json_of(const Question& question, const checkpoint::HeadDump& dump,
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
            {"schedules", schedules_json(question, lengths)}};
  }

  const StudyFolder& folder_;
};

}  // namespace

std::unique_ptr<Room> make_heads_room(const StudyFolder& folder) {
  return std::make_unique<HeadsRoom>(folder);
}

}  // namespace dewpoint::server
