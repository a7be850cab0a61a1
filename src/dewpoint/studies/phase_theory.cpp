#include "dewpoint/studies/phase_theory.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "dewpoint/core/unknown.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/simplex.hpp"
#include "dewpoint/theory/simplex_gradient.hpp"

namespace dewpoint::studies {
namespace {

double annealed_gamma(std::size_t n, std::size_t d, double rho) {
  const bool defined = 3 <= n && n <= 1'000'000'000 && 2 <= d && d <= 4096 && rho <= 0.99;
  if (!defined) return kUnknown;
  const auto scale =
      theory::annealed_critical_scale(std::log(static_cast<double>(n)), static_cast<int>(d), rho);
  return scale ? *scale * theory::critical_gamma(rho) : kUnknown;
}

}  // namespace

// All temperatures of a study, its residuals and its replicas ask for the same few values.
double finite_dimension_gamma(std::size_t n, std::size_t d, double rho) {
  using Place = std::tuple<std::size_t, std::size_t, double>;
  constexpr std::size_t most = 4096;
  static std::mutex mutex;
  static std::map<Place, double> known;
  const Place place{n, d, rho};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(place); found != known.end()) return found->second;
  }
  const double gamma = annealed_gamma(n, d, rho);
  const std::lock_guard lock(mutex);
  if (known.size() == most) known.clear();
  known.emplace(place, gamma);
  return gamma;
}

std::optional<SimplexPoint> simplex_point(const experiments::PhasePoint& p) {
  if (p.cloud.law != "equicorrelated" && p.cloud.law != "simplex") return {};
  if (p.form != attention::LayerForm{}) return {};
  const double log_n = std::log(static_cast<double>(p.cloud.n));
  const double gamma = p.inverse_temperature / log_n;
  const double norm =
      p.cloud.norm == tokens::Norm::gauss ? std::sqrt(static_cast<double>(p.cloud.d)) : 1.0;
  const auto output =
      theory::simplex_output(log_n, p.inverse_temperature, p.cloud.rho, p.residual * norm);
  const double gradient =
      theory::simplex_gradient(log_n, p.inverse_temperature, p.cloud.rho,
                               {static_cast<double>(p.cloud.d), norm * norm, p.residual});
  return SimplexPoint{gamma, theory::critical_gamma(p.cloud.rho), gamma * (1.0 - p.cloud.rho),
                      std::exp(output.log_contraction), gradient};
}

nlohmann::ordered_json simplex_json(const experiments::PhasePoint& point) {
  const auto simplex = simplex_point(point);
  if (!simplex) return nullptr;
  return {{"gamma", simplex->gamma},
          {"critical_gamma", simplex->critical_gamma},
          {"reduced_scale", simplex->reduced_scale},
          {"simplex_contraction", simplex->simplex_contraction},
          {"simplex_jacobian_norm", simplex->simplex_jacobian_norm}};
}

}  // namespace dewpoint::studies
