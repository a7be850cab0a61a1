// dewpoint predict critical: where the transition is, by every model of the tokens we have.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "cli/predict_options.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/log_space.hpp"

namespace dewpoint::cli {
namespace {

struct CriticalTheory {
  double n = 0.0;
  int d = 64;
  double rho = 0.0;
};

template <class Visitor>
void describe(Visitor& visit, CriticalTheory& q) {
  describe_length(visit, q.n);
  visit("d", q.d, question::in(2.0, 1e6), "dimension of the tokens, or of a head");
  describe_correlation(visit, q.rho, question::required);
}

// A critical point given as a reduced scale c; nothing leaves the columns empty.
Row critical_row(const char* key, const char* symbol, std::optional<double> scale, double spread,
                 double log_n, const std::string& meaning) {
  if (!scale) return {key, symbol, {nullptr, nullptr, nullptr}, meaning};
  return {key, symbol, {*scale, *scale / spread, *scale / spread * log_n}, meaning};
}

Row gaussian_row(const CriticalTheory& o, double log_n) {
  const auto scale = theory::gaussian_critical_scale(log_n, o.d, o.rho);
  return critical_row("gaussian", "Gaussian", scale, 1.0 - o.rho, log_n,
                      scale ? "correlations fluctuate by √(1/d); first order in 1/d"
                            : "none: so many Gaussian scores freeze before the odds are even");
}

Row annealed_row(const CriticalTheory& o, double log_n) {
  const auto row = [&](std::optional<double> scale, const char* meaning) {
    return critical_row("annealed", "annealed", scale, 1.0 - o.rho, log_n, meaning);
  };
  if (o.n < 3.0 || o.n > 1e9 || o.d > 4096 || o.rho > 0.99) {
    return row({}, "none: computed for 3 <= n <= 1e9, d <= 4096, rho <= 0.99");
  }
  const auto scale = theory::annealed_critical_scale(log_n, o.d, o.rho);
  return row(scale, scale ? "tokens √ρ e + √(1-ρ) z, odds averaged exactly"
                          : "none: beyond the range of this average, beta grows as a power of n");
}

std::vector<Row> sphere_rows(const CriticalTheory& o, double log_n) {
  const auto row = [&](const char* key, const char* symbol, double beta, const char* meaning) {
    return critical_row(key, symbol, beta / log_n, 1.0, log_n, meaning);
  };
  if (o.n < 3.0 || log_n > 170.0 * (o.d - 1)) {
    return {critical_row("sphere", "sphere", {}, 1.0, log_n,
                         "none: computed for n >= 3 and log n <= 170 (d - 1)")};
  }
  return {
      row("sphere", "sphere", theory::sphere_critical_inverse_temperature(log_n, o.d),
          "tokens uniform on the sphere of R^d (rho is not used)"),
      row("sphere_power_law", "sphere, n^(2/(d-1))", theory::sphere_critical_power_law(log_n, o.d),
          "its leading law, good for n far beyond e^d")};
}

Answer critical_answer(const CriticalTheory& o) {
  const double log_n = std::log(o.n), spread = 1.0 - o.rho;
  Sheet sheet{{"c", "gamma", "beta"},
              {critical_row("simplex_limit", "simplex, n -> infinity", 1.0, spread, log_n,
                            "all correlations equal rho: gamma = 1/(1 - rho)"),
               critical_row("simplex", "simplex", theory::log_subtract(log_n, 0.0) / log_n, spread,
                            log_n, "even odds at this n: c = log(n - 1)/log n"),
               gaussian_row(o, log_n), annealed_row(o, log_n)}};
  sheet.append(sphere_rows(o, log_n));
  Json json = heading("critical", {{"n", o.n}, {"d", o.d}, {"rho", o.rho}});
  json["critical"] = to_json(sheet);
  return {json,
          fmt::format("Where a token gives half of its attention to itself: n = {:.12g}, d = {}, "
                      "rho = {}\nc = gamma (1 - rho), beta = gamma log n\n\n{}",
                      o.n, o.d, o.rho, to_text(sheet))};
}

}  // namespace

Verb predict_critical_verb() {
  return verb_of<CriticalTheory>(
      "predict critical", "Where the transition is, by several models of the tokens",
      "dewpoint predict critical --n 1024 --d 64 --rho 0.5", critical_answer);
}

}  // namespace dewpoint::cli
