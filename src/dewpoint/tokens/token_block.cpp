#include "dewpoint/tokens/token_block.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/random.hpp"
#include "dewpoint/tokens/equicorrelated.hpp"

namespace dewpoint::tokens {
namespace {

// √ρ z_0 + √(ρ_inner − ρ) z_cluster + √(1 − ρ_inner) z_own with Gaussian z ~ N(0, I/d).
Matrix<double> clustered(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica,
                         Range tokens) {
  const Range clusters{tokens.begin / p.cluster_size,
                       (tokens.end + p.cluster_size - 1) / p.cluster_size};
  const double centre_rho = p.rho_inner > 0.0 ? p.rho / p.rho_inner : 0.0;
  const TokenCloud centres =
      equicorrelated_block(clusters, p.d, {centre_rho, Norm::gauss_per_d, p.common}, seed, replica);
  const Stream own(seed, "tokens/own/d=" + std::to_string(p.d), replica);
  Matrix<double> raw(tokens.size(), p.d);
  own.normals(tokens.begin * p.d, {raw.data(), raw.size()});
  const double scale = std::sqrt((1.0 - p.rho_inner) / static_cast<double>(p.d));
  for (std::size_t i = 0; i < raw.rows(); ++i) {
    const std::size_t c = (tokens.begin + i) / p.cluster_size - clusters.begin;
    const auto row = raw.row(i);
    for (std::size_t k = 0; k < p.d; ++k) {
      const double centre = centres.norms[c] * centres.directions(c, k);
      row[k] = std::sqrt(p.rho_inner) * centre + scale * row[k];
    }
  }
  return raw;
}

Matrix<double> sphere(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica,
                      Range tokens) {
  Matrix<double> raw(tokens.size(), p.d);
  const Stream stream(seed, "tokens/sphere/d=" + std::to_string(p.d), replica);
  stream.normals(tokens.begin * p.d, {raw.data(), raw.size()});
  for (std::size_t i = 0; i < raw.rows() && p.law == "half-sphere"; ++i) {
    raw(i, 0) = std::abs(raw(i, 0));
  }
  for (std::size_t k = 0; k < raw.size(); ++k) raw.data()[k] /= std::sqrt(static_cast<double>(p.d));
  return raw;
}

}  // namespace

bool has_blocks(const CloudParameters& p) {
  return p.law == "equicorrelated" || p.law == "clustered" || p.law == "sphere" ||
         p.law == "half-sphere";
}

TokenCloud make_block(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica,
                      Range tokens) {
  DEWPOINT_EXPECTS(has_blocks(p) && tokens.begin <= tokens.end && tokens.end <= p.n);
  if (p.law == "equicorrelated") {
    return equicorrelated_block(tokens, p.d, {p.rho, p.norm, p.common}, seed, replica);
  }
  TokenCloud block = split_norms(p.law == "clustered" ? clustered(p, seed, replica, tokens)
                                                      : sphere(p, seed, replica, tokens));
  set_norms(block, p.norm);
  return block;
}

TokenCloud make_tokens(const CloudParameters& p, std::uint64_t seed, std::uint64_t replica,
                       std::span<const std::size_t> tokens) {
  TokenCloud cloud;
  cloud.directions = Matrix<double>(tokens.size(), p.d);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const TokenCloud one = make_block(p, seed, replica, {tokens[i], tokens[i] + 1});
    std::copy_n(one.directions.data(), p.d, cloud.directions.row(i).data());
    cloud.norms.push_back(one.norms[0]);
  }
  return cloud;
}

}  // namespace dewpoint::tokens
