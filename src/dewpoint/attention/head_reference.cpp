#include "dewpoint/attention/head_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dewpoint::attention {
namespace {

double score(const Head& head, std::size_t query, std::size_t key, double multiplier) {
  double product = 0.0;
  for (std::size_t k = 0; k < head.keys.cols(); ++k) {
    product += static_cast<double>(head.queries(query, k)) * static_cast<double>(head.keys(key, k));
  }
  const double logit = multiplier * head.scale * product;
  return head.softcap > 0.0 ? head.softcap * std::tanh(logit / head.softcap) : logit;
}

Range visible(const Head& head, std::size_t query) {
  return head.mask.visible(head.first_position + query, head.keys.rows());
}

SoftmaxRow reference_softmax(const Head& head, std::size_t query, double multiplier) {
  SoftmaxRow row;
  const Range keys = visible(head, query);
  if (keys.begin == 0) row.first = score(head, query, 0, multiplier);
  if (head.sink) row.sink = *head.sink;
  std::vector<double> scores;
  for (std::size_t j = std::max<std::size_t>(keys.begin, 1); j < keys.end; ++j) {
    scores.push_back(score(head, query, j, multiplier));
    row.largest = std::max(row.largest, scores.back());
  }
  for (const double s : scores) {
    const double gap = row.largest - s, weight = std::exp(-gap);
    row.rest += {weight, gap * weight, gap * gap * weight, weight * weight};
    row.plain_gap += gap;
    row.plain_squared_gap += gap * gap;
  }
  return row;
}

// Halves a bracket of log β until nothing is left of it. The equation is the one in which near ties
// do no harm.
double reference_dew_point(std::vector<double> scores) {
  const std::size_t n = scores.size();
  if (n < 3) return std::numeric_limits<double>::quiet_NaN();
  std::sort(scores.begin(), scores.end(), std::greater<>());
  const double runner_up = scores[0] - scores[1];
  if (runner_up == 0.0) return std::numeric_limits<double>::infinity();
  double lower = std::log(1e-3 / (scores[0] - scores[n - 1]));
  double upper = std::log(1.01 * std::log(static_cast<double>(n)) / runner_up);
  for (int halvings = 0; halvings < 100; ++halvings) {
    const double middle = 0.5 * (lower + upper), beta = std::exp(middle);
    double others = 0.0;
    for (std::size_t j = 2; j < n; ++j) others += std::exp(-beta * (scores[0] - scores[j]));
    (others > -std::expm1(-beta * runner_up) ? lower : upper) = middle;
  }
  return std::exp(lower);
}

std::vector<double> scores_from(const Head& head, std::size_t query, std::size_t first_key) {
  const Range keys = visible(head, query);
  std::vector<double> scores;
  for (std::size_t j = std::max(keys.begin, first_key); j < keys.end; ++j) {
    scores.push_back(score(head, query, j, 1.0));
  }
  return scores;
}

}  // namespace

std::vector<HeadRow> reference_rows(const Head& head, std::span<const std::size_t> queries,
                                    std::span<const LogitMultiplier> multipliers, bool dew_points) {
  std::vector<HeadRow> rows;
  for (const std::size_t query : queries) {
    HeadRow row;
    row.position = head.first_position + query;
    row.keys = visible(head, query).size();
    row.softmax.push_back(reference_softmax(head, query, 1.0));
    for (const LogitMultiplier& m : multipliers) {
      row.softmax.push_back(reference_softmax(head, query, m ? m(row.keys) : 1.0));
    }
    row.dew_point = row.dew_point_without_first = std::numeric_limits<double>::quiet_NaN();
    if (dew_points) {
      row.dew_point = reference_dew_point(scores_from(head, query, 0));
      row.dew_point_without_first = reference_dew_point(scores_from(head, query, 1));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Matrix<double> reference_attend(const Head& head, const LogitMultiplier& multiplier) {
  Matrix<double> out(head.queries.rows(), head.values.cols());
  for (std::size_t i = 0; i < out.rows(); ++i) {
    const Range keys = visible(head, i);
    const double m = multiplier ? multiplier(keys.size()) : 1.0;
    double best = head.sink.value_or(-std::numeric_limits<double>::infinity());
    for (std::size_t j = keys.begin; j < keys.end; ++j) best = std::max(best, score(head, i, j, m));
    double partition = head.sink ? std::exp(*head.sink - best) : 0.0;
    for (std::size_t j = keys.begin; j < keys.end; ++j) {
      const double weight = std::exp(score(head, i, j, m) - best);
      partition += weight;
      for (std::size_t k = 0; k < out.cols(); ++k) {
        out(i, k) += weight * static_cast<double>(head.values(j, k));
      }
    }
    for (double& x : out.row(i)) x /= partition;
  }
  return out;
}

}  // namespace dewpoint::attention
