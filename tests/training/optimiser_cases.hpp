// Losses, starts and comparisons for the tests of the step optimisers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/training/trainer.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::training::test {

struct Case {
  std::unique_ptr<TokenLoss> loss;
  Parameters<double> start;
};

/// Vocabularies that are unrolled and one that is not, widths of one, odd, beyond a line.
inline std::vector<std::pair<std::size_t, std::size_t>> sizes() {
  return {{2, 1}, {2, 6}, {3, 5}, {4, 16}, {4, 33}, {5, 7},
          {6, 8}, {7, 3}, {8, 9}, {9, 3},  {12, 17}};
}

/// π ∝ 1, 1/2, 1/3, ..., λ = 0.6, and weights of a size at which attention matters.
inline Case population_case(std::size_t d, std::size_t m) {
  std::vector<double> pi(d);
  double sum = 0.0;
  for (std::size_t k = 0; k < d; ++k) sum += pi[k] = 1.0 / static_cast<double>(k + 1);
  for (double& p : pi) p /= sum;
  return {
      population_loss(named_chain("lambda", pi, 0.6), {}),
      initial_parameters(d, m, 0.5 / std::sqrt(static_cast<double>(m)), dewpoint::test::seed(), d)};
}

/// The standard chain, 20,000 sequences, the start of the paper's experiment.
inline Case sampled_case(std::size_t m) {
  const Chain chain = named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8);
  return {histogram_loss(collapse(sample_sequences(chain, 19, 20000, 1, 0, {})), {}),
          initial_parameters(4, m, 1.0 / static_cast<double>(m), 1, 0)};
}

/// d = 3, m = 2, weight n = 0.4 sin(1 + 1.7 n) through W0, W1, WQ, WK.
inline Case sine_case() {
  Parameters<double> start(3, 2);
  double n = 0.0;
  for (auto* matrix : {&start.embedding, &start.unembedding, &start.query, &start.key}) {
    for (std::size_t e = 0; e < matrix->size(); ++e) {
      matrix->data()[e] = 0.4 * std::sin(1.0 + 1.7 * n++);
    }
  }
  return {population_loss(named_chain("lambda", {0.6, 0.3, 0.1}, 0.5), {}), start};
}

/// visit(entry, n) for every weight n of every matrix; entry(p) is the data of that matrix in p.
template <class Visit>
void for_each_weight(const Parameters<double>& p, const Visit& visit) {
  const auto all = [&](auto member) {
    const auto entry = [member](const Parameters<double>& q) { return (q.*member).data(); };
    for (std::size_t n = 0; n < (p.*member).size(); ++n) visit(entry, n);
  };
  all(&Parameters<double>::embedding);
  all(&Parameters<double>::unembedding);
  all(&Parameters<double>::query);
  all(&Parameters<double>::key);
}

inline double largest_difference(const Parameters<double>& a, const Parameters<double>& b) {
  double most = 0.0;
  for_each_weight(a, [&](auto entry, std::size_t n) {
    const double difference = std::abs(entry(a)[n] - entry(b)[n]);
    most = difference <= most ? most : difference;  // NaN is kept
  });
  return most;
}

inline double largest_entry(const Parameters<double>& a) {
  return largest_difference(a, Parameters<double>(a.vocabulary(), a.width()));
}

inline Parameters<double> gradient_at(const TokenLoss& loss, const Parameters<double>& at) {
  TokenMaps slope(loss.vocabulary());
  loss.slope(0, token_maps(at), slope);
  return weight_gradient(at, slope);
}

inline double loss_at(const TokenLoss& loss, const Trainer& trainer) {
  TokenMaps slope(loss.vocabulary());
  return loss.slope(0, token_maps(trainer.parameters()), slope);
}

/// Largest |eigenvalue| of the Hessian, from below by a few per cent: 40 power iterations.
inline double largest_curvature(const TokenLoss& loss, const Parameters<double>& at) {
  Parameters<double> v =
      initial_parameters(at.vocabulary(), at.width(), 1.0, dewpoint::test::seed(), 1);
  double length = 1.0;
  for (int k = 0; k < 40; ++k) {
    v = hessian_product(loss, at, v);
    double square = 0.0;
    for_each_weight(v, [&](auto entry, std::size_t n) { square += entry(v)[n] * entry(v)[n]; });
    length = std::sqrt(square);
    for (auto* matrix : {&v.embedding, &v.unembedding, &v.query, &v.key}) {
      for (std::size_t n = 0; n < matrix->size(); ++n) matrix->data()[n] /= length;
    }
  }
  return length;
}

/// Bytes that are no state any more: none, a piece of the header, cut short, too long, another
/// mark.
inline std::vector<std::vector<std::byte>> spoiled(const std::vector<std::byte>& good) {
  std::vector<std::vector<std::byte>> bad(5, good);
  bad[0].clear();
  bad[1].resize(10);
  bad[2].pop_back();
  bad[3].push_back(std::byte{0});
  bad[4][0] ^= std::byte{1};
  return bad;
}

template <class Work>
bool throws_code(const Work& work, Code code) {
  try {
    work();
  } catch (const Error& error) {
    return error.code() == code;
  }
  return false;
}

template <class Work>
bool is_malformed(const Work& work) {
  return throws_code(work, Code::malformed_file);
}

template <class Work>
bool is_stopped(const Work& work) {
  return throws_code(work, Code::stopped);
}

}  // namespace dewpoint::training::test
