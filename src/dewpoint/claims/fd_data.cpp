// Focus and dilution, Section 3: the data, and the gradient for long contexts.
//
// The paper states both for the chain λI + (1 − λ)1πᵀ. They are measured for all four chains with
// the law of its experiments.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"
#include "dewpoint/claims/fd_support.hpp"
#include "dewpoint/claims/lists.hpp"
#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/training/histograms.hpp"
#include "dewpoint/training/sequences.hpp"

namespace dewpoint::claims {
namespace {

using training::Chain;
using training::TokenMaps;

// ---- Proposition A.1 ---------------------------------------------------------------------------

/// ½ Σ|μ_t − π| for t = 0 .. last, from the rarest token.
std::vector<double> total_variation(const Chain& chain, std::size_t last) {
  const std::size_t d = chain.vocabulary();
  std::vector<double> law(d, 0.0), distances;
  law[d - 1] = 1.0;
  for (std::size_t t = 0; t <= last; ++t) {
    double sum = 0.0;
    for (std::size_t i = 0; i < d; ++i) sum += std::abs(law[i] - chain.stationary[i]);
    distances.push_back(0.5 * sum);
    std::vector<double> next(d, 0.0);
    for (std::size_t i = 0; i < d; ++i) add(next, law[i], chain.transition.row(i));
    law = next;
  }
  return distances;
}

/// The slowest decaying part of μ_t − π, and the largest share that faster ones have in it after a
/// time: e_dᵀ P^t = Σ_k |λ_k|^t (r_k)_d l_k with right and left eigenvectors r_k, l_k.
struct SlowMode {
  double rate = 0.0;
  double others = 0.0;
};
SlowMode slow_mode(const Chain& chain, double time) {
  const EigenModes all = eigen_modes(chain.transition).value();
  const std::size_t last = all.values.size() - 1;
  std::vector<std::pair<double, double>> modes;  // |λ_k|, weight
  for (std::size_t k = 0; k <= last; ++k) {
    double size = 0.0;
    for (const Complex& entry : all.left.row(k)) size += std::abs(entry);
    modes.emplace_back(std::abs(all.values[k]), std::abs(all.right(last, k)) * size);
  }
  std::sort(modes.rbegin(), modes.rend());
  SlowMode result{modes[1].first, 0.0};
  for (std::size_t k = 2; k < modes.size(); ++k) {
    result.others +=
        modes[k].second / modes[1].second * std::pow(modes[k].first / result.rate, time);
  }
  return result;
}

/// λI + (1 − λ)1πᵀ forgets by the factor λ at every step, from every start. Other chains do so by
/// their second eigenvalue, once faster parts are gone: a share x of them moves the mean factor of
/// `steps` steps by 2x/steps at either end.
void compare_marginals(const Chain& chain, std::vector<Comparison>& into) {
  constexpr std::size_t from = 60, steps = 40;
  const std::vector<double> distances = total_variation(chain, from + steps);
  // Each entry of μ_t − π carries some roundings of numbers up to 1.
  const auto rounding = [&](std::size_t t) { return 64.0 * kEpsilon / distances[t]; };
  if (chain.name == "lambda") {
    const double law = std::pow(kPersistence, 20.0) * (1.0 - chain.stationary.back());
    into.push_back(
        equal("‖μ_20 − π‖, λI + (1−λ)1πᵀ: λ²⁰ (1 − π_d)", law, distances[20], law * rounding(20)));
    return;
  }
  const SlowMode mode = slow_mode(chain, double{from});
  const double measured = std::pow(distances[from + steps] / distances[from], 1.0 / double{steps});
  into.push_back(equal(fmt::format("‖μ_t − π‖ per step, t = 60 to 100, {}: |λ_2|", chain.name),
                       mode.rate, measured,
                       mode.rate * (4.0 * mode.others + 2.0 * rounding(from + steps)) / steps));
}

/// Z = (I − P + 1πᵀ)⁻¹.
Matrix<double> fundamental_matrix(const Chain& chain) {
  Matrix<double> rest(chain.vocabulary(), chain.vocabulary());
  for (std::size_t i = 0; i < rest.rows(); ++i) {
    for (std::size_t j = 0; j < rest.cols(); ++j) {
      rest(i, j) = (i == j ? 1.0 : 0.0) - chain.transition(i, j) + chain.stationary[j];
    }
  }
  return lu_inverse(rest);
}

/// Frequencies along one trajectory. By the central limit theorem of Markov chains the frequency of
/// token k has the variance π_k(2Z_kk − 1 − π_k)/s, and the uniform start shifts its mean by
/// ((μ_0 − π)Z)_k/s.
void compare_frequencies(const Chain& chain, const Setting& setting,
                         std::vector<Comparison>& into) {
  const std::size_t d = chain.vocabulary(), length = draws_of(setting, 12'000'000);
  const auto sequence =
      training::sample_sequences(chain, length - 1, 1, setting.seed, 0, setting.context);
  std::vector<double> counts(d, 0.0);
  for (const std::uint8_t token : sequence.tokens) counts[token] += 1.0;

  const Matrix<double> fundamental = fundamental_matrix(chain);
  std::vector<double> shift(d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    add(shift, 1.0 / static_cast<double>(d) - chain.stationary[i], fundamental.row(i));
  }
  for (std::size_t k = 0; k < d; ++k) {
    const double p = chain.stationary[k], n = static_cast<double>(length);
    const double variance = p * (2.0 * fundamental(k, k) - 1.0 - p);
    into.push_back({fmt::format("frequency of token {}, {}: π_{}", k + 1, chain.name, k + 1),
                    p,
                    Relation::equals,
                    {counts[k] / n, std::sqrt(variance / n), length},
                    std::abs(shift[k]) / n});
  }
}

Evidence markov_properties(const Setting& setting) {
  Evidence evidence;
  evidence.parameters = fmt::format(
      "π = (.75, .19, .05, .01), λ = 0.8 and three other chains; trajectories of {:.2g} tokens",
      static_cast<double>(draws_of(setting, 12'000'000)));
  for (const std::string& name : training::chain_names()) {
    const Chain chain = training::named_chain(name, kExperimentLaw, kPersistence);
    compare_marginals(chain, evidence.statement);
    compare_frequencies(chain, setting, evidence.statement);
  }
  return evidence;
}

// ---- Proposition 3.3 ---------------------------------------------------------------------------

const std::vector<double> kContextLaw{0.6, 0.3, 0.1};
constexpr double kContextSize = 0.4;  // of the weights: Φ below 1, where few orders in 1/s matter

/// Eq (5), as it stands.
TokenMaps printed_slope(const Chain& chain, const TokenMaps& at) {
  const std::size_t d = chain.vocabulary();
  TokenMaps slope(d);
  for (std::size_t i = 0; i < d; ++i) {
    Vector weights(d), logits(d, 0.0), prediction(d), residual(d), pulled(d);
    double total = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
      total += weights[j] = chain.stationary[j] * std::exp(at.attention(i, j));
    }
    for (double& weight : weights) weight /= total;
    for (std::size_t j = 0; j < d; ++j) add(logits, weights[j], at.value.row(j));
    total = 0.0;
    for (std::size_t j = 0; j < d; ++j) total += prediction[j] = std::exp(logits[j]);
    for (std::size_t j = 0; j < d; ++j) {
      residual[j] = chain.transition(i, j) - prediction[j] / total;
    }
    add_outer(slope.value, -chain.stationary[i], weights, residual);
    for (std::size_t j = 0; j < d; ++j) pulled[j] = inner(residual, at.value.row(j));
    const double mean = inner(weights, pulled);
    for (std::size_t j = 0; j < d; ++j) {
      slope.attention(i, j) = -chain.stationary[i] * weights[j] * (pulled[j] - mean);
    }
  }
  return slope;
}

Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> result(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < b.rows(); ++k) add(result.row(i), a(i, k), b.row(k));
  }
  return result;
}

Matrix<double> transposed(const Matrix<double>& a) {
  Matrix<double> result(a.cols(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.cols(); ++j) result(j, i) = a(i, j);
  }
  return result;
}

/// The gradient of Eq (4) from that by M and Φ, as it stands; W_QK = W_Q W_Kᵀ.
std::vector<double> printed_gradient(const Weights& w, const TokenMaps& slope) {
  const Matrix<double> inner_weights = product(w.query, transposed(w.key));
  const Matrix<double> by_query = product(transposed(w.embedding), slope.attention);
  const Matrix<double> by_key = product(transposed(w.embedding), transposed(slope.attention));
  Weights result;
  result.embedding = product(slope.value, transposed(w.unembedding));
  const Matrix<double> left =
      product(product(slope.attention, w.embedding), transposed(inner_weights));
  const Matrix<double> right =
      product(product(transposed(slope.attention), w.embedding), inner_weights);
  for (std::size_t k = 0; k < left.size(); ++k) {
    result.embedding.data()[k] += left.data()[k] + right.data()[k];
  }
  result.unembedding = product(transposed(w.embedding), slope.value);
  result.query = product(product(by_query, w.embedding), w.key);
  result.key = product(product(by_key, w.embedding), w.query);
  return flat(result);
}

/// ∇L by central differences of the loss: their error is h²|L'''|/6 and the rounding of L over h.
std::vector<double> difference_gradient(const training::TokenLoss& loss, const Weights& weights,
                                        double h) {
  std::vector<double> values = flat(weights), result(values.size());
  training::TokenMaps unused(loss.vocabulary());
  const auto at = [&](std::size_t k, double x) {
    std::vector<double> moved = values;
    moved[k] = x;
    return loss.slope(0, training::token_maps(unflat(moved, weights.vocabulary(), weights.width())),
                      unused);
  };
  for (std::size_t k = 0; k < values.size(); ++k) {
    result[k] = (at(k, values[k] + h) - at(k, values[k] - h)) / (2.0 * h);
  }
  return result;
}

/// With weights and derivatives of order 1 the two errors per entry at h = 1e-5 are some 1e-10 and
/// 1e-10; over √n entries, a factor of 10 is allowed.
void compare_gradients(const Setting& setting, std::vector<Comparison>& into) {
  for (const std::string& name : training::chain_names()) {
    const Population data = population(kExperimentLaw, name);
    const Weights weights = drawn_weights(4, 3, 0.6, setting.seed, 0);
    const std::vector<double> printed =
        printed_gradient(weights, printed_slope(data.chain, training::token_maps(weights)));
    const std::vector<double> measured = difference_gradient(*data.loss, weights, 1e-5);
    const double scale = norm(printed);
    const double bound = 1e-9 * std::sqrt(static_cast<double>(printed.size())) / scale;
    into.push_back(at_most(fmt::format("∇L by differences against Eq (4) with (5), {}", name),
                           bound, distance(printed, measured) / scale, 0.0));
    into.push_back(equal(fmt::format("‖∇L‖, {}", name), scale, norm(measured), scale * bound));
  }
}

std::vector<double> entries(const TokenMaps& maps) {
  std::vector<double> values(maps.value.data(), maps.value.data() + maps.value.size());
  values.insert(values.end(), maps.attention.data(), maps.attention.data() + maps.attention.size());
  return values;
}

std::vector<double> finite_slope(const Chain& chain, std::size_t context, const TokenMaps& at) {
  const auto loss = training::histogram_loss(training::exact_rows(chain, context), {});
  TokenMaps slope(chain.vocabulary());
  loss->slope(0, at, slope);
  return entries(slope);
}

/// From values at s and 2s that approach their limit as s^{−power}, values that do so faster.
using Sequence = std::vector<std::vector<double>>;
Sequence extrapolated(const Sequence& values, double power) {
  const double factor = std::exp2(power);
  Sequence result;
  for (std::size_t n = 0; n + 1 < values.size(); ++n) {
    std::vector<double> next(values[n].size());
    for (std::size_t k = 0; k < next.size(); ++k) {
      next[k] = (factor * values[n + 1][k] - values[n][k]) / (factor - 1.0);
    }
    result.push_back(next);
  }
  return result;
}

/// The exact gradient over contexts of s, 2s, 4s and 8s tokens: by how much it misses Eq (5), how
/// that falls, and its limit. The last extrapolation moves the limit by what the one before it
/// neglects; as much is allowed.
void compare_long_contexts(std::size_t context, const Setting& setting, Evidence& evidence) {
  const Chain chain = training::named_chain("lambda", kContextLaw, 0.5);
  const TokenMaps at = training::token_maps(drawn_weights(3, 3, kContextSize, setting.seed, 1));
  const std::vector<double> limit = entries(printed_slope(chain, at));
  Sequence values;
  for (std::size_t n = 1; n <= 8; n *= 2) values.push_back(finite_slope(chain, n * context, at));
  const Sequence first = extrapolated(values, 1.0), second = extrapolated(first, 2.0),
                 third = extrapolated(second, 3.0);
  const double scale = norm(limit), neglected = distance(second.back(), third.back());
  evidence.statement.push_back(
      at_most(fmt::format("gradient by (M, Φ), s = {} .. {} → ∞, off Eq (5)", context, 8 * context),
              neglected / scale, distance(third.back(), limit) / scale, 0.0));
  evidence.statement.push_back(
      equal("its norm over that of Eq (5)", 1.0, norm(third.back()) / scale, neglected / scale));
  // With errors x/s + y/s² the ratio is 2 up to 2‖y‖/(s‖x‖), s the longer context, and 2‖y‖/s² is
  // what the first extrapolation neglects. Twice that for the orders that follow.
  const double shorter = distance(values[2], limit), longer = distance(values[3], limit);
  evidence.statement.push_back(equal(fmt::format("error at s = {} over that at 2s", 4 * context),
                                     2.0, shorter / longer,
                                     2.0 * distance(first.back(), second.back()) / longer));
}

/// Sampled sequences, s = 128: what is left of 1/s is the error of the exact gradient there.
void compare_sampled(const Setting& setting, Evidence& evidence) {
  constexpr std::size_t context = 128, batches = 32;
  const Chain chain = training::named_chain("lambda", kContextLaw, 0.5);
  const TokenMaps at = training::token_maps(drawn_weights(3, 3, kContextSize, setting.seed, 1));
  const std::vector<double> limit = entries(printed_slope(chain, at));
  const double square = inner(limit, limit);
  RunningMoments moments;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const auto loss = training::histogram_loss(
        training::collapse(training::sample_sequences(chain, context, draws_of(setting, 2500),
                                                      setting.seed, batch, setting.context)),
        {});
    TokenMaps slope(chain.vocabulary());
    loss->slope(0, at, slope);
    moments.add(inner(entries(slope), limit) / square);
  }
  const double bias = inner(finite_slope(chain, context, at), limit) / square - 1.0;
  evidence.statement.push_back(
      {fmt::format("gradient of {} sampled sequences along Eq (5), s = 128",
                   batches * draws_of(setting, 2500)),
       1.0, Relation::equals, moments.estimate(), std::abs(bias)});
}

Evidence population_gradient(const Setting& setting) {
  const std::size_t context = setting.effort == Effort::quick ? 24 : 48;
  Evidence evidence;
  evidence.parameters = fmt::format(
      "four chains; π = (.6, .3, .1), λ = 0.5, contexts of {} to {} tokens", context, 8 * context);
  compare_gradients(setting, evidence.statement);
  compare_long_contexts(context, setting, evidence);
  compare_sampled(setting, evidence);
  return evidence;
}

}  // namespace

std::vector<Claim> fd_data_claims() {
  return {
      {"fd.proposition-a.1", "FD, Proposition A.1",
       "From any start the law of a token tends to π, as |λ_2|^t, and so do frequencies along one "
       "trajectory.",
       markov_properties},
      {"fd.proposition-3.3", "FD, Proposition 3.3",
       "The flow is Eq (4), and for long contexts the gradients by M and Φ tend to Eq (5), as 1/s.",
       population_gradient},
  };
}

}  // namespace dewpoint::claims
