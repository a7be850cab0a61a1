#include "dewpoint/training/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "dewpoint/checkpoint/number_table.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/training/ergodicity.hpp"

namespace dewpoint::training {
namespace {

using Law = std::vector<double>;
using Order = std::vector<std::size_t>;

// --- the four chains -----------------------------------------------------------------------------

// P(i, j) = off_diagonal(i, j), and on the diagonal what is left of 1. To be used where much is
// left: the difference has an absolute error, not a relative one.
Matrix<double> lazy(std::size_t d,
                    const std::function<double(std::size_t, std::size_t)>& off_diagonal) {
  Matrix<double> transition(d, d);
  for (std::size_t i = 0; i < d; ++i) {
    double leaves = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
      if (j != i) leaves += transition(i, j) = off_diagonal(i, j);
    }
    transition(i, i) = 1.0 - leaves;
  }
  return transition;
}

// Every entry is a sum of positive terms, so it keeps its digits however small λ and π_i are.
Matrix<double> persistent(const Law& pi, double persistence) {
  Matrix<double> transition(pi.size(), pi.size());
  for (std::size_t i = 0; i < pi.size(); ++i) {
    for (std::size_t j = 0; j < pi.size(); ++j) {
      transition(i, j) = (i == j ? persistence : 0.0) + (1.0 - persistence) * pi[j];
    }
  }
  return transition;
}

Matrix<double> metropolis(const Law& pi) {
  const auto others = static_cast<double>(pi.size() - 1);
  return lazy(pi.size(), [&](std::size_t i, std::size_t j) {
    return 0.4 * std::min(1.0, pi[j] / pi[i]) / others;
  });
}

Matrix<double> birth_death(const Law& pi) {
  return lazy(pi.size(), [&](std::size_t i, std::size_t j) {
    if (j == i + 1) return 0.2 * (pi[j] / pi[i]);
    return j + 1 == i ? 0.2 : 0.0;
  });
}

Matrix<double> cycle(const Law& pi) {
  const double flow = 0.15 * pi.back();
  return lazy(pi.size(), [&](std::size_t i, std::size_t j) {
    const bool next = j == (i + 1) % pi.size();
    return (next ? 0.75 * flow / pi[i] : 0.0) + 0.125 * pi[j];
  });
}

// --- laws that a user gives ----------------------------------------------------------------------

double checked_sum(const Law& pi) {
  if (pi.size() < 2 || pi.size() > kMostTokens) {
    throw Error(Code::bad_value,
                fmt::format("pi: the number of tokens is {}, not 2 to {}", pi.size(), kMostTokens));
  }
  double sum = 0.0;
  for (std::size_t k = 0; k < pi.size(); ++k) {
    if (!(pi[k] >= kLeastProbability) || std::isinf(pi[k])) {
      throw Error(Code::bad_value, fmt::format("pi: entry {} (counted from 0) is {}, not a number "
                                               "above 0, at least {}",
                                               k, pi[k], kLeastProbability));
    }
    sum += pi[k];
  }
  if (!(std::abs(sum - 1.0) <= kSumTolerance)) {
    throw Error(Code::bad_value,
                fmt::format("pi: the sum is {:.12g}, not 1 within {}", sum, kSumTolerance));
  }
  return sum;
}

void check_persistence(double persistence) {
  if (persistence > 0.0 && persistence < 1.0) return;
  throw Error(Code::bad_value, fmt::format("lambda: {} is not above 0 and below 1", persistence));
}

// Numbers of the tokens by decreasing probability, equals as they were.
Order decreasing(const Law& pi) {
  Order order(pi.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pi[a] > pi[b]; });
  return order;
}

Law reordered(const Law& pi, const Order& order) {
  Law result;
  for (const std::size_t k : order) result.push_back(pi[k]);
  return result;
}

void divide(std::span<double> law, double sum) {
  for (double& p : law) p /= sum;
}

Matrix<double> named_transition(std::string_view name, const Law& pi, double persistence) {
  if (name == "lambda") {
    check_persistence(persistence);
    return persistent(pi, persistence);
  }
  if (name == "metropolis") return metropolis(pi);
  if (name == "birth-death") return birth_death(pi);
  DEWPOINT_EXPECTS(name == "cycle");
  return cycle(pi);
}

void check_name(std::string_view name) {
  const auto& names = chain_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw Error(Code::bad_value, fmt::format("chain: '{}' is unknown{}", checkpoint::excerpt(name),
                                           instead_of(name, names)));
}

// --- matrices that a user gives ------------------------------------------------------------------

// Something in a matrix that makes it no chain; `where` is empty when it is the whole of it.
[[noreturn]] void refuse(std::string_view source, std::string where, std::string found,
                         std::string allowed) {
  throw checkpoint::to_error(Code::bad_value, source,
                             {std::move(where), std::move(found), std::move(allowed)});
}

void check_shape(const Matrix<double>& p, std::string_view source) {
  if (p.rows() == p.cols() && p.rows() >= 2 && p.rows() <= kMostTokens) return;
  refuse(source, "shape", fmt::format("({}, {})", p.rows(), p.cols()),
         fmt::format("a square matrix of 2 to {} rows", kMostTokens));
}

void normalise_row(std::span<double> row, std::size_t i, std::string_view source) {
  double sum = 0.0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (!std::isfinite(row[j]) || row[j] < 0.0) {
      refuse(source, fmt::format("row {}, column {} (counted from 0)", i, j),
             fmt::format("{}", row[j]), "a probability, at least 0");
    }
    sum += row[j];
  }
  if (!(std::abs(sum - 1.0) <= kSumTolerance)) {
    refuse(source, fmt::format("row {} (counted from 0)", i), fmt::format("the sum {:.12g}", sum),
           fmt::format("probabilities that sum to 1 within {}", kSumTolerance));
  }
  divide(row, sum);
}

void check_ergodic(const Matrix<double>& p, std::string_view source) {
  if (const auto gap = find_gap(p)) {
    refuse(source, fmt::format("row {} (counted from 0)", gap->from),
           fmt::format("no path from token {} to token {}", gap->from, gap->to),
           "an irreducible chain, where every token leads to every other");
  }
  if (const std::size_t steps = period(p); steps > 1) {
    refuse(source, "chain",
           fmt::format("a return to a token only after multiples of {} steps", steps),
           "an aperiodic chain, such as one with a number above 0 on its diagonal");
  }
}

// Takes the tokens away one by one, from the last: watched on the others alone, the chain moves
// from i to j directly or through the token that is gone. Then puts them back, each with what flows
// into it from those before. The exponents of a long double leave room for products of many tiny
// probabilities; what is too small even for them ends as 0, NaN or infinity.
Law stationary_by_reduction(const Matrix<double>& transition) {
  using Wide = long double;
  const std::size_t d = transition.rows();
  Matrix<Wide> p(d, d);
  std::copy_n(transition.data(), p.size(), p.data());
  for (std::size_t gone = d - 1; gone > 0; --gone) {
    const std::span<const Wide> out = p.row(gone).first(gone);
    const Wide leaves = std::accumulate(out.begin(), out.end(), Wide{0});
    for (std::size_t i = 0; i < gone; ++i) {
      p(i, gone) /= leaves;
      for (std::size_t j = 0; j < gone; ++j) p(i, j) += p(i, gone) * out[j];
    }
  }
  std::vector<Wide> pi(d, 0);
  pi[0] = 1;
  for (std::size_t k = 1; k < d; ++k) {
    for (std::size_t i = 0; i < k; ++i) pi[k] += pi[i] * p(i, k);
  }
  const Wide sum = std::accumulate(pi.begin(), pi.end(), Wide{0});
  Law law;
  for (const Wide probability : pi) law.push_back(static_cast<double>(probability / sum));
  return law;
}

void check_representable(const Law& pi, std::string_view source) {
  for (std::size_t k = 0; k < pi.size(); ++k) {
    if (pi[k] >= kLeastProbability) continue;
    refuse(source, fmt::format("token {} (counted from 0)", k),
           "a stationary probability too small for a double",
           fmt::format("at least {}", kLeastProbability));
  }
}

// As decreasing(), but probabilities that differ by rounding are equal.
Order decreasing_but_for_rounding(const Law& pi) {
  Order order = decreasing(pi);
  for (auto first = order.begin(); first != order.end();) {
    auto end = first + 1;
    while (end != order.end() && pi[*(end - 1)] - pi[*end] <= kTie * pi[*end]) ++end;
    std::sort(first, end);
    first = end;
  }
  return order;
}

Matrix<double> reordered(const Matrix<double>& p, const Order& order) {
  Matrix<double> result(p.rows(), p.cols());
  for (std::size_t i = 0; i < p.rows(); ++i) {
    for (std::size_t j = 0; j < p.cols(); ++j) result(i, j) = p(order[i], order[j]);
  }
  return result;
}

}  // namespace

const std::vector<std::string>& chain_names() {
  static const std::vector<std::string> names{"lambda", "metropolis", "birth-death", "cycle"};
  return names;
}

Chain named_chain(std::string_view name, std::vector<double> stationary, double persistence) {
  check_name(name);
  divide(stationary, checked_sum(stationary));
  const Order order = decreasing(stationary);
  Chain chain{std::string(name), reordered(stationary, order), {}, order};
  chain.transition = named_transition(name, chain.stationary, persistence);
  return chain;
}

Chain chain_of(Matrix<double> transition, std::string_view source) {
  check_shape(transition, source);
  for (std::size_t i = 0; i < transition.rows(); ++i) {
    normalise_row(transition.row(i), i, source);
  }
  check_ergodic(transition, source);
  const Law stationary = stationary_by_reduction(transition);
  check_representable(stationary, source);
  const Order order = decreasing_but_for_rounding(stationary);
  return {std::string(source), reordered(stationary, order), reordered(transition, order), order};
}

Chain read_chain(const std::filesystem::path& file) {
  checkpoint::NumberTable table =
      checkpoint::read_number_table(file, {.numbers = "probabilities", .row = "token"});
  Chain chain = chain_of(std::move(table.numbers), file.string());
  chain.name = file.filename().string();
  return chain;
}

}  // namespace dewpoint::training
