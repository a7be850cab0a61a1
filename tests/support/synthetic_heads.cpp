#include "support/synthetic_heads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/observables/dew_point.hpp"
#include "dewpoint/scores/keys.hpp"

namespace dewpoint::test {
namespace {

constexpr double kCorrelation = 0.3;  // ρ of the simplex
constexpr const char* kCluster = "vmf:d=9,kappa=60,angle=0";
constexpr const char* kClusteredKeys =
    "vmf:d=9,kappa=0,angle=0,share=0.98+kappa=60,angle=0,share=0.02";

Matrix<float> rounded(const Matrix<double>& exact) {
  Matrix<float> result(exact.rows(), exact.cols());
  std::transform(exact.data(), exact.data() + exact.size(), result.data(),
                 [](double x) { return static_cast<float>(x); });
  return result;
}

Matrix<float> drawn(const std::string& law, std::size_t count, const Stream& stream) {
  const auto keys = scores::key_law(law);
  Matrix<double> vectors(count, keys->dimension());
  keys->draw(0, vectors, stream);
  return rounded(vectors);
}

struct Recipe {
  std::string queries, keys;  // names of key laws; empty for the simplex
  std::string growth;
  double exponent;
  std::map<std::size_t, double> dew_scales;  // by the number of keys
};

// Empirical (November 2026): medians of β_dew over 6144 to 15360 queries of 24 to 60 heads, known
// to 1 %, those of the cluster at 1024 keys to 1.4 %. The Gaussian ones are from independent
// scores.
const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> table = {
      {"gaussian",
       {"sphere:d=128",
        "gaussian-keys:d=128",
        "sqrt(log n)",
        0.0,
        {{1024, 5.03}, {4096, 5.69}, {16384, 6.3}}}},
      {"sphere3",
       {"sphere:d=3", "sphere:d=3", "n^(1/a)", 1.0, {{1024, 404}, {4096, 1790}, {16384, 7220}}}},
      {"sphere5",
       {"sphere:d=5", "sphere:d=5", "n^(1/a)", 2.0, {{1024, 58.1}, {4096, 123.7}, {16384, 246}}}},
      {"sphere9",
       {"sphere:d=9", "sphere:d=9", "n^(1/a)", 4.0, {{1024, 31.2}, {4096, 47.5}, {16384, 69.1}}}},
      {"cluster",
       {kCluster, kClusteredKeys, "n^(1/a)", 0.0, {{1024, 75.1}, {4096, 140.5}, {16384, 226}}}}};
  return table;
}

/// ⟨q_i, k_j⟩ = 1 for the query's own key and ρ for every other one: one common direction, and one
/// direction per query.
SyntheticHead simplex_head(std::size_t keys, std::size_t queries) {
  SyntheticHead head;
  head.queries = Matrix<float>(queries, queries + 1);
  head.keys = Matrix<float>(keys, queries + 1);
  head.first_position = keys - queries;
  head.growth = "log n";
  head.dew_scale = std::log(static_cast<double>(keys) - 1.0) / (1.0 - kCorrelation);
  const auto common = static_cast<float>(std::sqrt(kCorrelation));
  const auto own = static_cast<float>(std::sqrt(1.0 - kCorrelation));
  for (std::size_t j = 0; j < keys; ++j) head.keys(j, 0) = common;
  for (std::size_t i = 0; i < queries; ++i) {
    head.queries(i, 0) = common;
    head.queries(i, i + 1) = own;
    head.keys(head.first_position + i, i + 1) = own;
  }
  return head;
}

SyntheticHead random_head(const std::string& law, std::size_t keys, std::size_t queries,
                          std::uint64_t seed) {
  const Recipe& recipe = recipes().at(law);
  SyntheticHead head;
  head.queries = drawn(recipe.queries, queries, Stream(seed, "synthetic head/queries/" + law));
  head.keys = drawn(recipe.keys, keys, Stream(seed, "synthetic head/keys/" + law));
  head.first_position = keys - queries;
  head.growth = recipe.growth;
  head.exponent = recipe.exponent;
  head.dew_scale = recipe.dew_scales.at(keys);
  return head;
}

SoftmaxRow plain_softmax(const ScoreRow& row, double multiplier) {
  SoftmaxRow softmax;
  const bool sees_first = row.first_key == 0;
  const auto begin = row.scores.begin() + (sees_first ? 1 : 0);
  if (sees_first) softmax.first = multiplier * row.scores.front();
  if (begin == row.scores.end()) return softmax;
  softmax.largest = multiplier * *std::max_element(begin, row.scores.end());
  for (auto score = begin; score != row.scores.end(); ++score) {
    const double gap = softmax.largest - multiplier * *score, weight = std::exp(-gap);
    softmax.rest += {weight, gap * weight, gap * gap * weight, weight * weight};
    softmax.plain_gap += gap;
    softmax.plain_squared_gap += gap * gap;
  }
  return softmax;
}

double dew_point_or_nan(std::span<const double> scores) {
  return observables::dew_point(scores).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

const std::vector<std::string>& synthetic_laws() {
  static const std::vector<std::string> names = {"simplex", "gaussian", "sphere3",
                                                 "sphere5", "sphere9",  "cluster"};
  return names;
}

SyntheticHead synthetic_head(const std::string& law, std::size_t keys, std::size_t queries,
                             double phase, std::uint64_t seed) {
  DEWPOINT_EXPECTS(queries < keys);
  SyntheticHead head =
      law == "simplex" ? simplex_head(keys, queries) : random_head(law, keys, queries, seed);
  head.name = law;
  head.scale = phase * head.dew_scale;
  return head;
}

std::vector<ScoreRow> score_rows(const SyntheticHead& head) {
  std::vector<ScoreRow> rows(head.queries.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].position = head.first_position + i;
    const auto query = head.queries.row(i);
    for (std::size_t j = 0; j <= rows[i].position; ++j) {
      const auto key = head.keys.row(j);
      double dot = 0.0;
      for (std::size_t k = 0; k < query.size(); ++k)
        dot += static_cast<double>(query[k]) * static_cast<double>(key[k]);
      rows[i].scores.push_back(head.scale * dot);
    }
  }
  return rows;
}

HeadRow plain_head_row(const ScoreRow& row, const std::vector<double>& multipliers) {
  HeadRow result;
  result.position = row.position;
  result.keys = row.scores.size();
  result.softmax.push_back(plain_softmax(row, 1.0));
  for (const double multiplier : multipliers)
    result.softmax.push_back(plain_softmax(row, multiplier));
  const std::span<const double> all = row.scores;
  result.dew_point = dew_point_or_nan(all);
  result.dew_point_without_first =
      row.first_key == 0 ? dew_point_or_nan(all.subspan(1)) : result.dew_point;
  return result;
}

}  // namespace dewpoint::test
