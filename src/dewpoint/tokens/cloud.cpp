#include "dewpoint/tokens/cloud.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "dewpoint/checkpoint/npy.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/tokens/equicorrelated.hpp"
#include "dewpoint/tokens/token_block.hpp"

namespace dewpoint::tokens {
namespace {

bool is_file(const CloudParameters& p) { return p.rows != nullptr || p.law.ends_with(".npy"); }

Matrix<double> read_rows(const CloudParameters& p) {
  return p.rows != nullptr ? *p.rows : checkpoint::read_npy_matrix(p.law);
}

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Code::bad_value, fmt::format(text, std::forward<Args>(args)...));
}

void check_correlation(const char* field, double value) {
  if (!(value >= 0.0 && value < 1.0)) refuse("{}: {} is outside [0, 1)", field, value);
}

void check_clusters(const CloudParameters& p) {
  check_correlation("rho-inner", p.rho_inner);
  if (p.rho_inner < p.rho) {
    refuse("rho-inner: {} is below rho = {}; tokens of a cluster are at least as close as others",
           p.rho_inner, p.rho);
  }
  if (p.cluster_size < 1 || p.n % p.cluster_size != 0) {
    refuse("cluster-size: {} does not divide n = {}", p.cluster_size, p.n);
  }
}

// The least dimension a law can live in, and the one it gets when none is asked for.
std::size_t least_dimension(const CloudParameters& p) {
  if (p.law == "simplex") return p.n;
  if (p.law == "two-level") return p.n + p.n / p.cluster_size + 1;
  return 2;
}

std::size_t default_dimension(const CloudParameters& p) {
  const bool exact = p.law == "simplex" || p.law == "two-level";
  return exact ? least_dimension(p) : 64;
}

void check_norms(const std::string& file, const std::vector<double>& norms) {
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (norms[i] >= kLeastNorm && norms[i] <= kLargestNorm) continue;
    refuse("{}: row {} has norm {:.3g}; allowed: {:g} to {:g}, or --norm unit", file, i, norms[i],
           kLeastNorm, kLargestNorm);
  }
}

CloudParameters resolved_file(CloudParameters p) {
  const Matrix<double> tokens = read_rows(p);
  if (tokens.rows() < 2)
    refuse("{}: {} row(s); at least 2 tokens are needed", p.law, tokens.rows());
  for (std::size_t i = 0; i < tokens.rows(); ++i) {
    const auto row = tokens.row(i);
    if (std::all_of(row.begin(), row.end(), [](double x) { return x == 0.0; })) {
      refuse("{}: row {} is zero; a token needs a direction", p.law, i);
    }
  }
  p.n = tokens.rows();
  p.d = tokens.cols();
  if (p.norm != Norm::unit) check_norms(p.law, split_norms(tokens).norms);
  return p;
}

// y_i = √(1−ρ) e_i + t (1, ..., 1): t makes the norm 1 and the inner products ρ.
Matrix<double> simplex(const CloudParameters& p) {
  const auto n = static_cast<double>(p.n);
  const double own = std::sqrt(1.0 - p.rho);
  const double t = p.rho / (own + std::sqrt(1.0 - p.rho + n * p.rho));
  Matrix<double> tokens(p.n, p.d);
  for (std::size_t i = 0; i < p.n; ++i) {
    for (std::size_t k = 0; k < p.n; ++k) tokens(i, k) = (i == k ? own : 0.0) + t;
  }
  return tokens;
}

// √ρ e_0 + √(ρ_inner − ρ) e_cluster + √(1 − ρ_inner) e_own: a basis vector per cluster and per
// token.
Matrix<double> two_level(const CloudParameters& p) {
  Matrix<double> tokens(p.n, p.d);
  const std::size_t clusters = p.n / p.cluster_size;
  for (std::size_t i = 0; i < p.n; ++i) {
    tokens(i, 0) = std::sqrt(p.rho);
    tokens(i, 1 + i / p.cluster_size) = std::sqrt(p.rho_inner - p.rho);
    tokens(i, 1 + clusters + i) = std::sqrt(1.0 - p.rho_inner);
  }
  return tokens;
}

// Raw tokens of the laws that are not random.
Matrix<double> exact_tokens(const CloudParameters& p) {
  if (p.law == "simplex") return simplex(p);
  if (p.law == "two-level") return two_level(p);
  DEWPOINT_EXPECTS(is_file(p));
  return read_rows(p);
}

}  // namespace

const std::vector<std::string>& law_names() {
  static const std::vector<std::string> names = {"equicorrelated", "simplex", "two-level",
                                                 "clustered",      "sphere",  "half-sphere"};
  return names;
}

CloudParameters resolved(CloudParameters p) {
  if (is_file(p)) return resolved_file(std::move(p));
  if (std::find(law_names().begin(), law_names().end(), p.law) == law_names().end()) {
    refuse("tokens: '{}' is not a token law; allowed: {}, or a file ending in .npy", p.law,
           fmt::join(law_names(), ", "));
  }
  if (p.n < 2) refuse("n: {} is below 2; attention needs at least two tokens", p.n);
  if (p.n > kMostTokens) refuse("n: {} is above {}", p.n, kMostTokens);
  if (p.d > kMostDimensions) refuse("d: {} is above {}", p.d, kMostDimensions);
  if (has_correlation(p)) check_correlation("rho", p.rho);
  if (has_clusters(p)) check_clusters(p);
  if (p.d == 0) p.d = default_dimension(p);
  if (p.d < least_dimension(p)) {
    refuse("d: {} is below {}, the least dimension of '{}' tokens with n = {}", p.d,
           least_dimension(p), p.law, p.n);
  }
  return p;
}

bool is_deterministic(const CloudParameters& p) {
  return p.law == "simplex" || p.law == "two-level" || is_file(p);
}

bool has_clusters(const CloudParameters& p) { return p.law == "two-level" || p.law == "clustered"; }

bool has_correlation(const CloudParameters& p) {
  return p.law == "equicorrelated" || p.law == "simplex" || has_clusters(p);
}

TokenCloud make_cloud(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica) {
  TokenCloud cloud;
  if (has_blocks(p)) {
    cloud = make_block(p, seed, replica, {0, p.n});
  } else {
    cloud = split_norms(exact_tokens(p));
    // A file has its own norms.
    set_norms(cloud, is_file(p) && p.norm == Norm::gauss ? Norm::gauss_per_d : p.norm);
  }
  if (has_clusters(p)) cloud.cluster_size = p.cluster_size;
  return cloud;
}

const std::vector<std::pair<std::string, Norm>>& words_of(Norm) {
  static const std::vector<std::pair<std::string, Norm>> words = {
      {"unit", Norm::unit}, {"gauss/d", Norm::gauss_per_d}, {"gauss", Norm::gauss}};
  return words;
}

const std::vector<std::pair<std::string, Common>>& words_of(Common) {
  static const std::vector<std::pair<std::string, Common>> words = {{"random", Common::random},
                                                                    {"fixed", Common::fixed}};
  return words;
}

}  // namespace dewpoint::tokens
