// An experiment whose points are questions of its own type.
//
// The runner knows points: values by name. An experiment knows its question, a struct that is
// described once (question/field.hpp); this is the way from one to the other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "dewpoint/question/field.hpp"
#include "dewpoint/studies/experiment.hpp"

namespace dewpoint::studies {

template <class Question>
class ExperimentOf : public Experiment {
 public:
  [[nodiscard]] const std::vector<Field>& parameters() const final {
    return question::fields_of<Question>();
  }
  [[nodiscard]] Point resolved(const Point& given) const final {
    question::expect_consistent(parameters(), given);
    return question::point_of(completed(question::question_of<Question>(given)));
  }
  [[nodiscard]] std::vector<Observable> observables(const Point& point) const final {
    return observed(asked(point));
  }
  [[nodiscard]] std::vector<Observable> predictions(const Point& point) const final {
    return predicted(asked(point));
  }
  [[nodiscard]] std::vector<double> predict(const Point& point) const final {
    return forecast(asked(point));
  }
  [[nodiscard]] bool deterministic(const Point& point) const final {
    return is_deterministic(asked(point));
  }
  [[nodiscard]] double work(const Point& point) const final { return cost(asked(point)); }
  [[nodiscard]] std::vector<std::vector<double>> measure(std::span<const Point> tile,
                                                         std::uint64_t seed, std::uint64_t replica,
                                                         const RunContext& context) const final {
    std::vector<Question> questions;
    for (const Point& point : tile) questions.push_back(asked(point));
    return sample(questions, seed, replica, context);
  }

 protected:
  // What Experiment says of points, of questions. `completed` checks what no single field can.
  [[nodiscard]] virtual Question completed(Question question) const = 0;
  [[nodiscard]] virtual std::vector<Observable> observed(const Question& question) const = 0;
  [[nodiscard]] virtual std::vector<Observable> predicted(const Question& /*question*/) const {
    return {};
  }
  [[nodiscard]] virtual std::vector<double> forecast(const Question& /*question*/) const {
    return {};
  }
  [[nodiscard]] virtual bool is_deterministic(const Question& /*question*/) const { return false; }
  [[nodiscard]] virtual double cost(const Question& question) const = 0;
  [[nodiscard]] virtual std::vector<std::vector<double>> sample(
      std::span<const Question> tile, std::uint64_t seed, std::uint64_t replica,
      const RunContext& context) const = 0;

  /// The question of a resolved point.
  [[nodiscard]] static Question asked(const Point& point) {
    return question::restored<Question>(point);
  }
};

}  // namespace dewpoint::studies
