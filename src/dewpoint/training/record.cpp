#include "dewpoint/training/record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/training/scaled_loss.hpp"

namespace dewpoint::training {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double frobenius_norm(const Matrix<double>& weights) {
  const std::span<const double> all(weights.data(), weights.size());
  return std::sqrt(inner(all, all));
}

double norm(std::span<const double> vector) { return std::sqrt(inner(vector, vector)); }

/// Σ weight · loss over the groups that have sequences.
double mean_loss(const std::vector<double>& losses, const std::vector<double>& weights) {
  double sum = 0.0;
  for (std::size_t k = 0; k < losses.size(); ++k) {
    if (weights[k] > 0.0) sum += weights[k] * losses[k];
  }
  return sum;
}

/// Row q: ∝ prior_j exp(scores_qj).
void attend(const Matrix<double>& scores, std::span<const double> prior, Matrix<double>& result) {
  for (std::size_t q = 0; q < scores.rows(); ++q) {
    const auto from = scores.row(q);
    const auto to = result.row(q);
    const double top = *std::max_element(from.begin(), from.end());
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = prior[j] * std::exp(from[j] - top);
    const double sum = std::accumulate(to.begin(), to.end(), 0.0);
    for (double& weight : to) weight /= sum;
  }
}

double entropy_of(std::span<const double> law) {
  double sum = 0.0;
  for (const double p : law) {
    if (p != 0.0) sum -= p * std::log(p);
  }
  return sum;
}

void entropies(const Matrix<double>& attention, std::vector<double>& result) {
  for (std::size_t q = 0; q < result.size(); ++q) result[q] = entropy_of(attention.row(q));
}

void split_along_first(Record& record) {
  const Matrix<double>& rows = record.embedding;
  const auto first = rows.row(0);
  const double length = norm(first);
  record.embedding_norm[0] = record.parallel[0] = length;
  std::vector<double> across(rows.cols());
  for (std::size_t i = 1; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    record.embedding_norm[i] = norm(row);
    record.parallel[i] = length == 0.0 ? 0.0 : inner(row, first) / length;
    const double share = length == 0.0 ? 0.0 : record.parallel[i] / length;
    for (std::size_t k = 0; k < across.size(); ++k) across[k] = row[k] - share * first[k];
    record.perpendicular[i] = norm(across);
  }
}

/// Into `values`, which may be longer than there are any: the rest is 0, or unknown with all of
/// them when the matrix is not finite.
void store_singular_values(const Matrix<double>& weights, std::vector<double>& values) {
  const std::vector<double> found = singular_values(weights);
  if (std::isnan(found.front())) std::fill(values.begin(), values.end(), kNaN);
  std::copy(found.begin(), found.end(), values.begin());
}

double rank_one_fraction(const std::vector<double>& values) {
  if (values[0] == 0.0) return 0.0;
  double sum = 0.0;  // in units of the largest: nothing over- or underflows
  for (const double value : values) sum += (value / values[0]) * (value / values[0]);
  return 1.0 / sum;
}

}  // namespace

Record::Record(std::size_t vocabulary, std::size_t width)
    : group_loss(vocabulary),
      attention(vocabulary, vocabulary),
      weighted_attention(vocabulary, vocabulary),
      entropy(vocabulary),
      weighted_entropy(vocabulary),
      embedding_norm(vocabulary),
      parallel(vocabulary),
      perpendicular(vocabulary),
      embedding_singular_values(vocabulary),
      unembedding_singular_values(vocabulary),
      embedding(vocabulary, width) {}

Record record_of(double time, const Parameters<double>& parameters, const TokenLoss& loss,
                 std::span<const double> stationary) {
  DEWPOINT_EXPECTS(stationary.size() == parameters.vocabulary());
  Record record(parameters.vocabulary(), parameters.width());
  record.time = time;
  const TokenMaps maps = token_maps(parameters);
  record.group_loss = loss.group_losses(maps);
  record.loss = mean_loss(record.group_loss, loss.group_weights());

  const std::vector<double> equal(stationary.size(), 1.0);
  const Matrix<double> attention_scores = scores(loss, maps);
  attend(attention_scores, equal, record.attention);
  attend(attention_scores, stationary, record.weighted_attention);
  entropies(record.attention, record.entropy);
  entropies(record.weighted_attention, record.weighted_entropy);

  record.embedding = parameters.embedding;
  split_along_first(record);
  store_singular_values(parameters.embedding, record.embedding_singular_values);
  store_singular_values(parameters.unembedding, record.unembedding_singular_values);
  record.embedding_rank_one = rank_one_fraction(record.embedding_singular_values);
  record.unembedding_rank_one = rank_one_fraction(record.unembedding_singular_values);

  record.embedding_size = frobenius_norm(parameters.embedding);
  record.unembedding_size = frobenius_norm(parameters.unembedding);
  record.query_size = frobenius_norm(parameters.query);
  record.key_size = frobenius_norm(parameters.key);
  record.conserved_drift = kNaN;
  return record;
}

}  // namespace dewpoint::training
