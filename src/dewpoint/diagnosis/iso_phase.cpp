#include "dewpoint/diagnosis/iso_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "dewpoint/core/error.hpp"
#include "dewpoint/diagnosis/dew_curve.hpp"
#include "dewpoint/diagnosis/robust_location.hpp"
#include "dewpoint/diagnosis/row_bootstrap.hpp"

namespace dewpoint::diagnosis {
namespace {

constexpr Bootstrap kHeadBootstrap{400, 1};
constexpr double kOutlyingDeviations = 3.0;
constexpr double kOutlyingFactor = 1.2;

// ---- heads ----------------------------------------------------------------------------------

using HeadName = std::pair<double, double>;  // layer, head

std::map<HeadName, std::size_t> places_of(const Frame& frame) {
  const std::vector<double>& layers = frame.dimension("layer").coordinates;
  const std::vector<double>& heads = frame.dimension("head").coordinates;
  std::map<HeadName, std::size_t> places;
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (std::size_t j = 0; j < heads.size(); ++j)
      places[{layers[i], heads[j]}] = i * heads.size() + j;
  return places;
}

/// One head in both frames.
struct CurvePair {
  HeadName name;
  DewCurve deployed, trained;
};

std::vector<CurvePair> common_heads(const Frame& deployed, const Frame& trained,
                                    bool without_first) {
  const auto there = places_of(trained);
  std::vector<CurvePair> pairs;
  for (const auto& [name, place] : places_of(deployed)) {
    const auto found = there.find(name);
    if (found == there.end()) continue;
    pairs.push_back({name, DewCurve(deployed, place, without_first),
                     DewCurve(trained, found->second, without_first)});
  }
  if (pairs.empty())
    throw Error(Code::bad_value, "heads: the two results have no layer and head in common");
  return pairs;
}

IsoPhaseHead factors_of(const CurvePair& pair, const IsoPhaseQuestion& question, bool same) {
  IsoPhaseHead head{
      static_cast<std::size_t>(pair.name.first), static_cast<std::size_t>(pair.name.second), {}};
  const auto train = pair.trained.read(static_cast<double>(question.train_length));
  for (const double target : question.targets) {
    const auto reading = pair.deployed.read(target);
    head.factors.emplace_back();
    if (!train || !reading) continue;
    head.factors.back() = IsoPhaseFactor{
        log_ratio(pair.deployed, *reading, pair.trained, *train, same), reading->extrapolated};
  }
  return head;
}

void check_training_length(const std::vector<CurvePair>& pairs, const IsoPhaseQuestion& question) {
  const auto length = static_cast<double>(question.train_length);
  const bool any = std::any_of(pairs.begin(), pairs.end(), [&](const CurvePair& pair) {
    const auto reading = pair.trained.read(length);
    return reading && !reading->extrapolated;
  });
  if (any) return;
  throw Error(Code::bad_value,
              fmt::format("train-length: no head has a dew point at {} keys in the trained result",
                          question.train_length));
}

// ---- layers and all heads -------------------------------------------------------------------

/// The robust centre of some heads at one target, with its redrawn values.
struct Centre {
  std::optional<IsoPhaseFactor> factor;
  std::vector<double> replicates;
  double spread = std::numeric_limits<double>::quiet_NaN();
};

Centre centre_of(const std::vector<const IsoPhaseHead*>& heads, std::size_t target) {
  std::vector<Estimate> values;
  std::size_t extrapolated = 0;
  for (const IsoPhaseHead* head : heads) {
    if (!head->factors[target]) continue;
    values.push_back(head->factors[target]->log_factor);
    extrapolated += head->factors[target]->extrapolated ? 1 : 0;
  }
  Centre centre;
  if (values.empty()) return centre;
  const RowBootstrap bootstrap(values.size(), kHeadBootstrap);
  const Estimate mean = robust_mean(values, bootstrap, centre.replicates);
  centre.factor = IsoPhaseFactor{mean, 2 * extrapolated > values.size()};
  std::vector<double> logarithms;
  for (const Estimate& value : values) logarithms.push_back(value.mean);
  centre.spread = robust_deviation(logarithms);
  return centre;
}

std::vector<IsoPhaseLayer> layers_of(const std::vector<IsoPhaseHead>& heads, std::size_t targets) {
  std::map<std::size_t, std::vector<const IsoPhaseHead*>> members;
  for (const IsoPhaseHead& head : heads) members[head.layer].push_back(&head);
  std::vector<IsoPhaseLayer> layers;
  for (const auto& [layer, list] : members) {
    layers.push_back({layer, {}});
    for (std::size_t t = 0; t < targets; ++t)
      layers.back().factors.push_back(centre_of(list, t).factor);
  }
  return layers;
}

// ---- schedules ------------------------------------------------------------------------------

/// Slope of m = 1 + slope log(n/n_train) through the factors, weighted by their errors.
class AffineFit {
 public:
  explicit AffineFit(const IsoPhaseFit& fit) {
    const bool measured = std::any_of(fit.global.begin(), fit.global.end(), [](const auto& factor) {
      return factor && !factor->extrapolated;
    });
    const auto train = static_cast<double>(fit.question.train_length);
    for (std::size_t t = 0; t < fit.global.size(); ++t) {
      const auto& factor = fit.global[t];
      if (!factor || fit.question.targets[t] <= train || (measured && factor->extrapolated))
        continue;
      const double error = std::max(factor->value() * factor->log_factor.standard_error, 1e-12);
      used_.push_back({t, std::log(fit.question.targets[t] / train), 1.0 / (error * error)});
    }
  }

  [[nodiscard]] bool empty() const { return used_.empty(); }
  [[nodiscard]] std::size_t last() const { return used_.back().target; }

  template <class Factor>
  [[nodiscard]] double slope(const Factor& factor_at) const {
    double product = 0.0, square = 0.0;
    for (const auto& [target, x, weight] : used_) {
      product += weight * x * (factor_at(target) - 1.0);
      square += weight * x * x;
    }
    return product / square;
  }

 private:
  struct Used {
    std::size_t target;
    double x, weight;
  };
  std::vector<Used> used_;
};

void fit_affine(IsoPhaseFit& fit, const std::vector<Centre>& centres) {
  const AffineFit affine(fit);
  if (affine.empty()) return;
  const auto train = static_cast<double>(fit.question.train_length);
  const double slope = affine.slope([&](std::size_t t) { return fit.global[t]->value(); });
  RunningMoments redrawn;
  for (std::size_t b = 0; b < kHeadBootstrap.replicates; ++b)
    redrawn.add(affine.slope([&](std::size_t t) { return std::exp(centres[t].replicates[b]); }));
  double least = 0.0;  // targets share their heads: all of them know no more than the best one
  for (std::size_t t = 0; t < fit.global.size(); ++t) {
    const double x = std::log(fit.question.targets[t] / train);
    if (!fit.global[t] || x <= 0.0) continue;
    const double error = fit.global[t]->value() * fit.global[t]->log_factor.standard_error / x;
    least = least == 0.0 ? error : std::min(least, error);
  }
  fit.fitted_slope = {slope, std::max(std::sqrt(redrawn.variance()), least), fit.heads.size()};
  scaling::Schedule schedule;
  schedule.name = "fitted";
  schedule.kind = scaling::ScheduleKind::affine_log;
  schedule.slope = slope;
  schedule.n0 = train;
  fit.fitted = schedule;
  fit.fitted_from = train;
  fit.fitted_to =
      fit.global[affine.last()]->extrapolated ? train : fit.question.targets[affine.last()];
}

ScheduleMisfit misfit_of(const scaling::Schedule& schedule, const IsoPhaseFit& fit) {
  ScheduleMisfit misfit{schedule, {}, 0.0, 0.0};
  const double there =
      scaling::multiplier(schedule, static_cast<double>(fit.question.train_length));
  double squares = 0.0, chi_square = 0.0;
  std::size_t targets = 0, judged = 0;
  for (std::size_t t = 0; t < fit.global.size(); ++t) {
    misfit.factors.push_back(scaling::multiplier(schedule, fit.question.targets[t]) / there);
    if (!fit.global[t]) continue;
    const Estimate& wanted = fit.global[t]->log_factor;
    const double missed = std::log(misfit.factors.back()) - wanted.mean;
    squares += missed * missed;
    ++targets;
    if (wanted.standard_error <= 0.0) continue;
    chi_square += std::pow(missed / wanted.standard_error, 2);
    ++judged;
  }
  if (targets > 0) misfit.root_mean_square = std::sqrt(squares / static_cast<double>(targets));
  if (judged > 0) misfit.deviations = std::sqrt(chi_square / static_cast<double>(judged));
  return misfit;
}

/// Every distinct formula in use once, under its first name, without those that only numbers make.
std::vector<ScheduleMisfit> misfits_of(const IsoPhaseFit& fit) {
  static const std::set<std::string> kGeneric = {"power", "affine-log", "linear-log"};
  std::vector<ScheduleMisfit> misfits;
  std::set<std::string> seen;
  for (const scaling::NamedSchedule& named : scaling::named_schedules()) {
    if (kGeneric.contains(named.name) || !seen.insert(named.formula).second) continue;
    const auto n0 = static_cast<double>(fit.question.train_length);
    misfits.push_back(misfit_of(scaling::named_schedule(named.name, n0), fit));
  }
  std::stable_sort(misfits.begin(), misfits.end(),
                   [](const ScheduleMisfit& x, const ScheduleMisfit& y) {
                     return x.root_mean_square < y.root_mean_square;
                   });
  return misfits;
}

// ---- warnings -------------------------------------------------------------------------------

void warn_about_outliers(IsoPhaseFit& fit) {
  for (std::size_t t = 0; t < fit.global.size(); ++t) {
    if (!fit.global[t]) continue;
    const Estimate& all = fit.global[t]->log_factor;
    for (const IsoPhaseHead& head : fit.heads) {
      if (!head.factors[t]) continue;
      const Estimate& one = head.factors[t]->log_factor;
      const double distance = std::abs(one.mean - all.mean);
      const double error = std::hypot(one.standard_error, all.standard_error);
      if (distance <= std::log(kOutlyingFactor) || distance <= kOutlyingDeviations * error)
        continue;
      fit.warnings.push_back(fmt::format(
          "outlying-head: layer {} head {} asks for {:.3g} at {:g} keys, all for {:.3g}",
          head.layer, head.head, std::exp(one.mean), fit.question.targets[t], std::exp(all.mean)));
    }
  }
}

void warn_about_gaps(IsoPhaseFit& fit) {
  for (std::size_t t = 0; t < fit.global.size(); ++t) {
    const auto missing = std::count_if(fit.heads.begin(), fit.heads.end(),
                                       [t](const IsoPhaseHead& head) { return !head.factors[t]; });
    if (missing > 0)
      fit.warnings.push_back(
          fmt::format("no-dew-points: {} of {} heads have no factor at {:g} keys", missing,
                      fit.heads.size(), fit.question.targets[t]));
    if (fit.global[t] && fit.global[t]->extrapolated)
      fit.warnings.push_back(
          fmt::format("extrapolated: {:g} keys lie outside the lengths that were measured",
                      fit.question.targets[t]));
  }
}

}  // namespace

double IsoPhaseFactor::value() const { return std::exp(log_factor.mean); }
double IsoPhaseFactor::lower(double deviations) const {
  return std::exp(log_factor.mean - deviations * log_factor.standard_error);
}
double IsoPhaseFactor::upper(double deviations) const {
  return std::exp(log_factor.mean + deviations * log_factor.standard_error);
}

IsoPhaseFit fit_iso_phase(const Frame& deployed, const Frame& trained,
                          const IsoPhaseQuestion& question) {
  const auto pairs = common_heads(deployed, trained, question.without_first);
  check_training_length(pairs, question);
  IsoPhaseFit fit;
  fit.question = question;
  std::vector<const IsoPhaseHead*> all;
  for (const CurvePair& pair : pairs)
    fit.heads.push_back(factors_of(pair, question, &deployed == &trained));
  for (const IsoPhaseHead& head : fit.heads) all.push_back(&head);
  fit.layers = layers_of(fit.heads, question.targets.size());
  std::vector<Centre> centres;
  for (std::size_t t = 0; t < question.targets.size(); ++t) {
    centres.push_back(centre_of(all, t));
    fit.global.push_back(centres.back().factor);
    fit.spread.push_back(centres.back().spread);
  }
  fit_affine(fit, centres);
  fit.schedules = misfits_of(fit);
  warn_about_outliers(fit);
  warn_about_gaps(fit);
  return fit;
}

}  // namespace dewpoint::diagnosis
