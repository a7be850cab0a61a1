#include "dewpoint/tokens/cloud.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "dewpoint/checkpoint/npy.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/tokens/equicorrelated.hpp"

namespace dewpoint::tokens {
namespace {

bool is_file(const std::string& law) { return law.ends_with(".npy"); }

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

CloudParameters resolved_file(CloudParameters p) {
  const Matrix<double> tokens = checkpoint::read_npy_matrix(p.law);
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

// two_level with the basis vectors replaced by Gaussian ones, N(0, I/d).
Matrix<double> clustered(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica) {
  const EquicorrelatedNoise centres(p.n / p.cluster_size, p.d, p.common, seed, replica);
  const TokenCloud cluster =
      centres.cloud(p.rho_inner > 0.0 ? p.rho / p.rho_inner : 0.0, Norm::gauss_per_d);
  const Stream own(seed, "tokens/own/d=" + std::to_string(p.d), replica);
  Matrix<double> tokens(p.n, p.d);
  const double scale = std::sqrt((1.0 - p.rho_inner) / static_cast<double>(p.d));
  for (std::size_t i = 0; i < p.n; ++i) {
    const std::size_t c = i / p.cluster_size;
    const auto row = tokens.row(i);
    own.normals(i * p.d, row);
    for (std::size_t k = 0; k < p.d; ++k) {
      const double centre = cluster.norms[c] * cluster.directions(c, k);
      row[k] = std::sqrt(p.rho_inner) * centre + scale * row[k];
    }
  }
  return tokens;
}

Matrix<double> sphere(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica) {
  Matrix<double> tokens(p.n, p.d);
  const Stream stream(seed, "tokens/sphere/d=" + std::to_string(p.d), replica);
  stream.normals(0, {tokens.data(), tokens.size()});
  for (std::size_t i = 0; i < p.n && p.law == "half-sphere"; ++i) {
    tokens(i, 0) = std::abs(tokens(i, 0));
  }
  for (std::size_t k = 0; k < tokens.size(); ++k)
    tokens.data()[k] /= std::sqrt(static_cast<double>(p.d));
  return tokens;
}

// Raw tokens in units where Gaussian laws have mean square norm 1.
Matrix<double> raw_tokens(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica) {
  if (p.law == "simplex") return simplex(p);
  if (p.law == "two-level") return two_level(p);
  if (p.law == "clustered") return clustered(p, seed, replica);
  if (p.law == "sphere" || p.law == "half-sphere") return sphere(p, seed, replica);
  DEWPOINT_EXPECTS(is_file(p.law));
  return checkpoint::read_npy_matrix(p.law);
}

struct NormName {
  Norm norm;
  const char* name;
};
constexpr NormName kNormNames[] = {
    {Norm::unit, "unit"}, {Norm::gauss_per_d, "gauss/d"}, {Norm::gauss, "gauss"}};

}  // namespace

const std::vector<std::string>& law_names() {
  static const std::vector<std::string> names = {"equicorrelated", "simplex", "two-level",
                                                 "clustered",      "sphere",  "half-sphere"};
  return names;
}

CloudParameters resolved(CloudParameters p) {
  if (is_file(p.law)) return resolved_file(std::move(p));
  if (std::find(law_names().begin(), law_names().end(), p.law) == law_names().end()) {
    refuse("tokens: '{}' is not a token law; allowed: {}, or a file ending in .npy", p.law,
           fmt::join(law_names(), ", "));
  }
  if (p.n < 2) refuse("n: {} is below 2; attention needs at least two tokens", p.n);
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
  return p.law == "simplex" || p.law == "two-level" || is_file(p.law);
}

bool has_clusters(const CloudParameters& p) { return p.law == "two-level" || p.law == "clustered"; }

bool has_correlation(const CloudParameters& p) {
  return p.law == "equicorrelated" || p.law == "simplex" || has_clusters(p);
}

TokenCloud make_cloud(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica) {
  if (p.law == "equicorrelated") {
    return EquicorrelatedNoise(p.n, p.d, p.common, seed, replica).cloud(p.rho, p.norm);
  }
  TokenCloud cloud = split_norms(raw_tokens(p, seed, replica));
  if (p.norm == Norm::unit) set_unit_norms(cloud);
  if (p.norm == Norm::gauss && !is_file(p.law)) {
    for (double& r : cloud.norms) r *= std::sqrt(static_cast<double>(p.d));
  }
  if (has_clusters(p)) cloud.cluster_size = p.cluster_size;
  return cloud;
}

Norm parse_norm(const std::string& name) {
  for (const NormName& entry : kNormNames) {
    if (name == entry.name) return entry.norm;
  }
  refuse("norm: '{}' is unknown; allowed: unit, gauss/d, gauss", name);
}

std::string name_of(Norm norm) {
  for (const NormName& entry : kNormNames) {
    if (norm == entry.norm) return entry.name;
  }
  return "?";
}

Common parse_common(const std::string& name) {
  if (name == "random") return Common::random;
  if (name == "fixed") return Common::fixed;
  refuse("common: '{}' is unknown; allowed: random, fixed", name);
}

std::string name_of(Common common) { return common == Common::random ? "random" : "fixed"; }

}  // namespace dewpoint::tokens
