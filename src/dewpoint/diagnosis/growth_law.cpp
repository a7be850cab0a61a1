#include "dewpoint/diagnosis/growth_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "dewpoint/core/error.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// L + b below this is no asymptotics of anything.
constexpr double kLeastLength = 0.25;

// ---- χ² -------------------------------------------------------------------------------------

/// Lower triangular factor of a covariance.
Matrix<double> cholesky(const Matrix<double>& covariance) {
  const std::size_t n = covariance.rows();
  Matrix<double> factor(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double left = covariance(i, j);
      for (std::size_t k = 0; k < j; ++k) left -= factor(i, k) * factor(j, k);
      factor(i, j) = i == j ? std::sqrt(left) : left / factor(j, j);
    }
  return factor;
}

/// χ² of a shape, with the constant c at its best.
class ChiSquare {
 public:
  explicit ChiSquare(const GrowthData& data) : data_(data) {
    const std::size_t n = data.log_n.size();
    Matrix<double> covariance = data.covariance;
    for (std::size_t i = 0; i < n; ++i) covariance(i, i) += kFormError * kFormError;
    factor_ = cholesky(covariance);
    if (data.replicates > n + 2) {
      const auto draws = static_cast<double>(data.replicates);
      factor_of_estimate_ = (draws - static_cast<double>(n) - 2.0) / (draws - 1.0);
    }
    ones_ = whitened(std::vector<double>(n, 1.0));
  }

  /// For the logarithm of a shape at every length.
  double operator()(const std::vector<double>& log_shape) const {
    std::vector<double> residual = data_.log_beta;
    for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= log_shape[i];
    residual = whitened(std::move(residual));
    double square = 0.0, along = 0.0, unit = 0.0;
    for (std::size_t i = 0; i < residual.size(); ++i) {
      square += residual[i] * residual[i];
      along += residual[i] * ones_[i];
      unit += ones_[i] * ones_[i];
    }
    return factor_of_estimate_ * std::max(0.0, square - along * along / unit);
  }

 private:
  std::vector<double> whitened(std::vector<double> values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) values[i] -= factor_(i, k) * values[k];
      values[i] /= factor_(i, i);
    }
    return values;
  }

  const GrowthData& data_;
  Matrix<double> factor_;
  double factor_of_estimate_ = 1.0;
  std::vector<double> ones_;
};

// ---- integrals over a prior -----------------------------------------------------------------

/// Integral of e^{−χ²/2} over a stretch, with moments of two functions under it.
struct Integral {
  double logarithm = -kInfinity;
  double least_chi_square = kInfinity;
  double offset = 0.0, squared_offset = 0.0, exponent = 0.0, squared_exponent = 0.0;
};

using Integrand = std::function<Integral(double)>;

/// Weighted mean of parts, weights step · e^{logarithm}.
Integral joined(const std::vector<Integral>& parts, double step) {
  Integral whole;
  double most = -kInfinity, sum = 0.0;
  for (const Integral& part : parts) {
    most = std::max(most, part.logarithm);
    whole.least_chi_square = std::min(whole.least_chi_square, part.least_chi_square);
  }
  if (std::isinf(most)) return whole;
  for (const Integral& part : parts) {
    const double weight = std::exp(part.logarithm - most);
    sum += weight;
    whole.offset += weight * part.offset;
    whole.squared_offset += weight * part.squared_offset;
    whole.exponent += weight * part.exponent;
    whole.squared_exponent += weight * part.squared_exponent;
  }
  for (double* moment :
       {&whole.offset, &whole.squared_offset, &whole.exponent, &whole.squared_exponent})
    *moment /= sum;
  whole.logarithm = most + std::log(sum * step);
  return whole;
}

/// Integral over [lower, upper] of a function with one peak: a grid closes in on where it is within
/// e^{−kDrop} of the peak, then midpoints are summed.
Integral integrate(double lower, double upper, const Integrand& integrand) {
  constexpr int kPoints = 40;
  constexpr double kDrop = 25.0;
  for (int zoom = 0;; ++zoom) {
    const double step = (upper - lower) / kPoints;
    std::vector<Integral> parts;
    for (int k = 0; k < kPoints; ++k) parts.push_back(integrand(lower + (k + 0.5) * step));
    const auto higher = [](const Integral& x, const Integral& y) {
      return x.logarithm < y.logarithm;
    };
    const double peak = std::max_element(parts.begin(), parts.end(), higher)->logarithm;
    int first = kPoints, last = -1;
    for (int k = 0; k < kPoints; ++k) {
      if (parts[k].logarithm < peak - kDrop) continue;
      first = std::min(first, k);
      last = k;
    }
    if (last - first > kPoints / 3 || last < 0 || zoom == 40) return joined(parts, step);
    upper = std::min(upper, lower + (last + 2.0) * step);
    lower += std::max(0.0, first - 1.0) * step;
  }
}

// ---- the three laws -------------------------------------------------------------------------

/// log √(N(N − 1)) for N = e^x, without overflow.
double log_power_shape(double x) { return x + 0.5 * std::log(-std::expm1(-x)); }

class Laws {
 public:
  Laws(const GrowthData& data, const GrowthPrior& prior)
      : data_(data), prior_(prior), chi_square_(data) {}

  LawFit fit(GrowthLaw law) const {
    const double least = std::max(kLeastOffset, kLeastLength - data_.log_n.front());
    const bool bent = law == GrowthLaw::root_logarithm || law == GrowthLaw::crossover;
    const double tail = bent ? prior_.most_bent_offset : prior_.most_log_offset;
    const double most = law == GrowthLaw::power ? kMostOffset : tail;
    const Integral whole =
        integrate(least, most, [&](double offset) { return at_offset(law, offset); });
    LawFit fit{law};
    fit.chi_square = whole.least_chi_square;
    fit.log_evidence = whole.logarithm - std::log(most - least);
    fit.offset = {whole.offset, deviation(whole.offset, whole.squared_offset), 0};
    fit.exponent = {whole.exponent, deviation(whole.exponent, whole.squared_exponent), 0};
    if (law == GrowthLaw::logarithm || law == GrowthLaw::root_logarithm) fit.exponent = {};
    const double parameters = law == GrowthLaw::logarithm ? 2.0 : 3.0;
    const double freedom = static_cast<double>(data_.log_n.size()) - parameters;
    fit.fit_probability =
        freedom > 0.0 ? boost::math::gamma_q(0.5 * freedom, 0.5 * fit.chi_square) : 1.0;
    return fit;
  }

 private:
  static double deviation(double mean, double mean_square) {
    return std::sqrt(std::max(0.0, mean_square - mean * mean));
  }

  Integral point(const std::vector<double>& log_shape, double offset, double exponent) const {
    const double chi_square = chi_square_(log_shape);
    return {-0.5 * chi_square, chi_square, offset, offset * offset, exponent, exponent * exponent};
  }

  /// At a fixed b. The exponents that belong to each law are told by log N at the longest length.
  Integral at_offset(GrowthLaw law, double offset) const {
    const double longest = data_.log_n.back() + offset;
    const double middle = longest / kGaussianWindow;
    switch (law) {
      case GrowthLaw::logarithm:
        return logarithms(1.0, offset);
      case GrowthLaw::power:
        return over_exponents(kLeastGrowthExponent, longest, offset);
      case GrowthLaw::crossover:
        return over_exponents(longest, middle, offset);
      case GrowthLaw::root_logarithm:
        break;
    }
    return joined({logarithms(0.5, offset), over_exponents(middle, 10.0 * middle, offset)}, 0.5);
  }

  /// (L + b)^power.
  Integral logarithms(double power, double offset) const {
    std::vector<double> shape;
    for (const double length : data_.log_n) shape.push_back(power * std::log(length + offset));
    return point(shape, offset, 0.0);
  }

  /// The third form with log a uniform.
  Integral over_exponents(double lowest, double highest, double offset) const {
    const double lower = std::log(lowest), upper = std::log(highest);
    if (upper <= lower) return {};
    Integral whole = integrate(lower, upper, [&](double log_exponent) {
      std::vector<double> shape;
      for (const double length : data_.log_n)
        shape.push_back(log_power_shape((length + offset) * std::exp(-log_exponent)));
      return point(shape, offset, std::exp(log_exponent));
    });
    whole.logarithm -= std::log(upper - lower);
    return whole;
  }

  const GrowthData& data_;
  const GrowthPrior& prior_;
  ChiSquare chi_square_;
};

/// A winner that is always there comes from no tail: only the first law has one.
void share_probabilities(std::array<LawFit, 4>& fits, const GrowthPrior& prior) {
  double most = -kInfinity, sum = 0.0;
  if (prior.fixed_winner) {
    for (LawFit& fit : fits) fit.probability = fit.law == GrowthLaw::logarithm ? 1.0 : 0.0;
    return;
  }
  for (const LawFit& fit : fits) most = std::max(most, fit.log_evidence);
  for (LawFit& fit : fits) sum += fit.probability = std::exp(fit.log_evidence - most);
  for (LawFit& fit : fits) fit.probability /= sum;
}

// ---- the verdict ----------------------------------------------------------------------------

/// Why the data cannot be judged at all; empty if they can.
std::string unusable(const GrowthData& data) {
  if (data.log_n.size() < 3) {
    return fmt::format("{} length(s) do not show a law; 3 are needed", data.log_n.size());
  }
  for (std::size_t i = 0; i < data.log_n.size(); ++i) {
    if (std::isinf(data.log_beta[i])) return "tied maxima make the scale infinite";
    if (!std::isfinite(data.log_beta[i]) || !std::isfinite(data.covariance(i, i))) {
      return "the error of a scale is unknown";
    }
  }
  return {};
}

std::string parameters_of(const LawFit& fit) {
  return fit.law == GrowthLaw::power ? fmt::format("a = {}", to_string(fit.exponent))
                                     : fmt::format("b = {}", to_string(fit.offset));
}

std::string form_of(GrowthLaw law) {
  if (law == GrowthLaw::logarithm) return "c (log n + b)";
  if (law == GrowthLaw::root_logarithm) return "c sqrt(log n + b)";
  return "c sqrt(N(N - 1)), N = n^(1/a)";
}

/// Whatever the data prefer, it is no law yet.
std::string crossover_reason(const LawFit& fit) {
  return fmt::format(
      "between sqrt(log n) and n^(1/a): a = {} and n^(1/a) is below e at every length here",
      to_string(fit.exponent));
}

std::string why_undecided(const GrowthData& data, const LawFit& best, const LawFit& second) {
  const double decades = (data.log_n.back() - data.log_n.front()) / std::log(10.0);
  return fmt::format("{} and {} are both possible ({:.0f}% and {:.0f}%){}", name_of(best.law),
                     name_of(second.law), 100.0 * best.probability, 100.0 * second.probability,
                     decades < 3.0 ? fmt::format(": {:.1f} decades of n are too short for these "
                                                 "errors",
                                                 decades)
                                   : std::string());
}

std::string why_decided(const GrowthData& data, const LawFit& best, const LawFit& second) {
  return fmt::format(
      "{} with {} fits (chi-square {:.1f} at {} lengths); next is {} with probability {:.2g}",
      form_of(best.law), parameters_of(best), best.chi_square, data.log_n.size(),
      name_of(second.law), second.probability);
}

std::string why_fixed(const LawFit& best) {
  return fmt::format("the same key wins at every length, and {} with {} fits", form_of(best.law),
                     parameters_of(best));
}

}  // namespace

const char* name_of(GrowthLaw law) {
  if (law == GrowthLaw::logarithm) return "log n";
  if (law == GrowthLaw::root_logarithm) return "sqrt(log n)";
  return law == GrowthLaw::power ? "n^(1/a)" : "between sqrt(log n) and n^(1/a)";
}

GrowthPrior GrowthPrior::fixed() { return {kMostOffset, kMostOffset, true}; }
GrowthPrior GrowthPrior::tail() { return {1.0, -0.5, false}; }

GrowthVerdict judge_growth(const GrowthData& data, const GrowthPrior& prior) {
  GrowthVerdict verdict{{},
                        unusable(data),
                        {LawFit{GrowthLaw::logarithm}, LawFit{GrowthLaw::root_logarithm},
                         LawFit{GrowthLaw::power}, LawFit{GrowthLaw::crossover}}};
  if (!verdict.reason.empty()) return verdict;
  DEWPOINT_EXPECTS(data.log_n.front() > 1.0 && data.log_beta.size() == data.log_n.size());
  const Laws laws(data, prior);
  for (LawFit& fit : verdict.fits) fit = laws.fit(fit.law);
  share_probabilities(verdict.fits, prior);

  std::array<LawFit, 4> ranked = verdict.fits;
  std::sort(ranked.begin(), ranked.end(),
            [](const LawFit& x, const LawFit& y) { return x.probability > y.probability; });
  const LawFit &best = ranked[0], &second = ranked[1];
  if (best.fit_probability < kPoorFit) {
    verdict.reason = fmt::format("none fits: the best, {}, misses the data by chi-square {:.1f}",
                                 form_of(best.law), best.chi_square);
  } else if (best.probability < kVerdictProbability) {
    verdict.reason = why_undecided(data, best, second);
  } else if (best.law == GrowthLaw::crossover) {
    verdict.reason = crossover_reason(best);
  } else {
    verdict.law = best.law;
    verdict.reason = prior.fixed_winner ? why_fixed(best) : why_decided(data, best, second);
  }
  return verdict;
}

}  // namespace dewpoint::diagnosis
