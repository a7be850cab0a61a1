#include "dewpoint/claims/almost_simplex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dewpoint/claims/algebra.hpp"
#include "dewpoint/claims/compare.hpp"

namespace dewpoint::claims {

double AlmostCase::log_n() const { return std::log(static_cast<double>(tokens.rows())); }

double AlmostCase::norm(std::size_t token) const {
  return std::sqrt(inner(tokens.row(token), tokens.row(token)));
}

double AlmostCase::subcritical(double scale) const {
  return scale * log_n() / (1.0 - cosines.smallest);
}

double AlmostCase::supercritical(double scale) const {
  return scale * log_n() / (1.0 - cosines.largest);
}

theory::AlmostSimplex AlmostCase::at(double inverse_temperature) const {
  return {log_n(), inverse_temperature, cosines.smallest, cosines.largest};
}

double AlmostCase::rounding(double inverse_temperature) const {
  return layer_rounding(tokens.rows(), tokens.cols(), inverse_temperature) + theory::kBoundRounding;
}

std::vector<AlmostCase> almost_simplices(const CloudFamily& family, std::uint64_t seed) {
  std::vector<AlmostCase> clouds;
  for (std::uint64_t replica = 0; replica < family.clouds; ++replica) {
    auto tokens = experiments::gaussian_tokens(family.tokens, family.dimension, 0.5, seed, replica);
    for (std::size_t k = 0; k < tokens.size(); ++k) tokens.data()[k] *= family.scale;
    const auto cosines = experiments::cosine_interval(tokens);
    const auto squares = experiments::square_interval(tokens);
    clouds.push_back({std::move(tokens), cosines, squares});
  }
  return clouds;
}

std::string text_of(const std::vector<AlmostCase>& clouds) {
  experiments::Interval cosines = clouds.front().cosines;
  for (const AlmostCase& cloud : clouds) {
    cosines.smallest = std::min(cosines.smallest, cloud.cosines.smallest);
    cosines.largest = std::max(cosines.largest, cloud.cosines.largest);
  }
  const Matrix<double>& tokens = clouds.front().tokens;
  return fmt::format("{} Gaussian clouds n = {}, d = {}, cosines in [{:.2f}, {:.2f}]",
                     clouds.size(), tokens.rows(), tokens.cols(), cosines.smallest,
                     cosines.largest);
}

}  // namespace dewpoint::claims
