#include "cli/train_resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/stored_question.hpp"

namespace dewpoint::cli {
namespace {

using experiments::TrainQuestion;
using experiments::TrainTextQuestion;
using Texts = std::map<std::string, std::string>;

/// Gives an entry of an earlier version the name that it has now.
template <class Change>
void read_as(Texts& texts, const std::string& from, const std::string& to, const Change& change) {
  if (const auto entry = texts.extract(from)) texts.insert_or_assign(to, change(entry.mapped()));
}

/// `until` for steps or time, and the precision by its name.
void read_earlier(Texts& texts, const TrainQuestion& /*question*/) {
  const std::string end = texts["optimiser"] == "flow" ? "time" : "steps";
  read_as(texts, "until", end, [](const std::string& text) { return text; });
  read_as(texts, "precision", "double",
          [](const std::string& text) { return text == "double" ? "true" : "false"; });
}

/// The number that, divided by m, is the deviation to the last bit.
double start_for(double deviation, double m) {
  const double start = deviation * m;
  for (const double near : {start, std::nextafter(start, 0.0), std::nextafter(start, HUGE_VAL)}) {
    if (near / m == deviation) return near;
  }
  return start;
}

/// The deviation in place of start, and flags for the value matrix and the norm.
void read_earlier(Texts& texts, const TrainTextQuestion& /*question*/) {
  const auto flag = [](const char* word) {
    return [word](const std::string& text) {
      return text == "true" ? std::string(word) : text == "false" ? std::string("none") : text;
    };
  };
  read_as(texts, "value", "value", flag("matrix"));
  read_as(texts, "pre-norm", "norm", flag("pre"));
  const auto m = question::number_in(texts["m"]);
  read_as(texts, "init", "start", [&](const std::string& text) {
    const auto deviation = question::number_in(text);
    return deviation && m ? question::number_text(start_for(*deviation, *m)) : text;
  });
}

template <class Question>
Question question_from(const store::StudyRecord& study, const std::string& file,
                       const question::Point& given) {
  try {
    Texts texts(study.parameters.begin(), study.parameters.end());
    read_earlier(texts, Question{});
    auto question = experiments::stored_question<Question>(texts);
    question::Write write(given);
    describe(write, question);
    return question;
  } catch (const Error& error) {
    throw Error(Code::malformed_file, fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace

TrainQuestion chain_question_from(const store::StudyRecord& study, const std::string& file,
                                  const question::Point& given) {
  return question_from<TrainQuestion>(study, file, given);
}

TrainTextQuestion text_question_from(const store::StudyRecord& study, const std::string& file,
                                     const question::Point& given) {
  return question_from<TrainTextQuestion>(study, file, given);
}

void require_free(const std::vector<std::string>& given, const std::vector<std::string>& free,
                  const std::string& file, const std::string& may_be_new) {
  for (const std::string& name : given) {
    if (std::find(free.begin(), free.end(), name) != free.end()) continue;
    throw Error(Code::bad_value, fmt::format("resume: '{}' brings its own --{}; only {} may be new",
                                             file, name, may_be_new));
  }
}

bool has_attachment(const store::StudyRecord& study, const std::string& name) {
  return std::any_of(study.attachments.begin(), study.attachments.end(),
                     [&](const store::Attachment& one) { return one.name == name; });
}

training::Chain chain_from(const store::StudyRecord& study, const std::string& name) {
  const Frame& data = study.frame("data");
  const std::size_t d = data.dimension("token").coordinates.size();
  Matrix<double> transition(d, d);
  const auto& cells = data.variable("transition").cells;
  for (std::size_t i = 0; i < cells.size(); ++i) transition.data()[i] = cells[i].mean;
  training::Chain chain = training::chain_of(std::move(transition), "frame 'data'");
  for (std::size_t k = 0; k < d; ++k) {
    chain.stationary[k] = data.variable("stationary").cells[k].mean;
    for (std::size_t j = 0; j < d; ++j) chain.transition(k, j) = cells[k * d + j].mean;
  }
  chain.name = std::filesystem::path(name).filename().string();
  return chain;
}

}  // namespace dewpoint::cli
