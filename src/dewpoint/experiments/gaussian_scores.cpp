#include "dewpoint/experiments/gaussian_scores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::experiments {
namespace {

struct SoftmaxValues {
  double log_partition;
  double largest_weight;
  double planted_weight;
};

struct Draw {
  std::vector<double> top;  // decreasing
  std::vector<SoftmaxValues> softmaxes;
};

double log_tail(double score) { return std::log(0.5 * std::erfc(score / std::numbers::sqrt2)); }

// Weights relative to the largest score, so that nothing overflows.
SoftmaxValues weigh(const std::vector<double>& scores, double largest,
                    const ScoreSoftmax& softmax) {
  const double beta = softmax.inverse_temperature;
  double sum = 0.0;
  for (const double score : scores) sum += std::exp(beta * (score - largest));
  const double log_partition = beta * largest + std::log(sum);
  return {log_partition, 1.0 / sum,
          1.0 / (1.0 + std::exp(log_partition - beta * softmax.planted_score))};
}

Draw draw_scores(const GaussianScores& question, std::size_t replica) {
  std::vector<double> scores(question.scores);
  Stream(question.seed, "gaussian-scores", replica).normals(0, scores);
  Draw draw;
  draw.top.resize(question.top);
  std::partial_sort_copy(scores.begin(), scores.end(), draw.top.begin(), draw.top.end(),
                         std::greater<>());
  for (const ScoreSoftmax& softmax : question.softmaxes) {
    draw.softmaxes.push_back(weigh(scores, draw.top.front(), softmax));
  }
  return draw;
}

Estimate mean_of(const std::vector<Draw>& draws, const std::function<double(const Draw&)>& value) {
  RunningMoments moments;
  for (const Draw& draw : draws) moments.add(value(draw));
  return moments.estimate();
}

}  // namespace

GaussianScoreMeans gaussian_scores(const GaussianScores& question, const RunContext& context) {
  DEWPOINT_EXPECTS(question.top >= 1 && question.top <= question.scores);
  std::vector<Draw> draws(question.draws);
  parallel_for(draws.size(), context, [&](std::size_t i) { draws[i] = draw_scores(question, i); });

  GaussianScoreMeans means;
  means.largest = mean_of(draws, [](const Draw& draw) { return draw.top.front(); });
  for (std::size_t k = 1; k < question.top; ++k) {
    means.gaps.push_back(
        mean_of(draws, [k](const Draw& draw) { return draw.top.front() - draw.top[k]; }));
    means.tail_gaps.push_back(mean_of(draws, [k](const Draw& draw) {
      return log_tail(draw.top[k]) - log_tail(draw.top.front());
    }));
  }
  for (std::size_t s = 0; s < question.softmaxes.size(); ++s) {
    const auto mean_softmax = [&](double SoftmaxValues::*value) {
      return mean_of(draws, [=](const Draw& draw) { return draw.softmaxes[s].*value; });
    };
    means.softmaxes.push_back({mean_softmax(&SoftmaxValues::log_partition),
                               mean_softmax(&SoftmaxValues::largest_weight),
                               mean_softmax(&SoftmaxValues::planted_weight)});
  }
  return means;
}

}  // namespace dewpoint::experiments
