#include "dewpoint/diagnosis/dew_curve.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "dewpoint/core/error.hpp"
#include "dewpoint/diagnosis/head_growth.hpp"

namespace dewpoint::diagnosis {
namespace {

/// N with 3N/4 + 1/2 = mean keys.
double length_of(double mean_keys) { return (mean_keys - 0.5) / 0.75; }

Estimate cell_of(const Frame& frame, const std::string& name, std::size_t place) {
  const Variable* variable = frame.find_variable(name);
  return variable == nullptr ? Estimate{} : variable->cells[place];
}

/// The law that a frame names for a head: along the rows, or else by thinning.
std::optional<LawFit> law_of(const Frame& frame, std::size_t place) {
  for (const std::string& source : {std::string("along_rows"), std::string("thinned")}) {
    const Estimate law = cell_of(frame, "law_" + source, place);
    if (!std::isfinite(law.mean)) continue;
    LawFit fit{static_cast<GrowthLaw>(static_cast<int>(law.mean))};
    fit.offset = cell_of(frame, "law_offset_" + source, place);
    fit.exponent = cell_of(frame, "law_exponent_" + source, place);
    return fit;
  }
  return {};
}

Estimate slope_of(const Frame& frame, std::size_t place) {
  const Estimate along = cell_of(frame, "slope_along_rows", place);
  return std::isfinite(along.mean) ? along : cell_of(frame, "slope_thinned", place);
}

}  // namespace

DewCurve::DewCurve(const Frame& frame, std::size_t place, bool without_first)
    : law_(law_of(frame, place)), slope_(slope_of(frame, place)) {
  const std::size_t bins = frame.dimension("n").coordinates.size();
  const Variable& points = frame.variable(without_first ? "dew_point_without_sink" : "dew_point");
  const Variable& keys = frame.variable("keys");
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const Estimate& point = points.cells[place * bins + bin];
    const Estimate& mean_keys = keys.cells[place * bins + bin];
    if (!std::isfinite(point.mean) || point.mean <= 0.0 || !std::isfinite(mean_keys.mean)) continue;
    if (!std::isfinite(point.standard_error)) continue;
    nodes_.push_back({std::log(length_of(mean_keys.mean)), std::log(point.mean),
                      std::pow(point.standard_error / point.mean, 2)});
  }
}

double DewCurve::longest() const {
  DEWPOINT_EXPECTS(!nodes_.empty());
  return std::exp(nodes_.back().log_length);
}

std::optional<DewReading> DewCurve::read(double length) const {
  if (nodes_.empty()) return {};
  const double log_length = std::log(length), same = std::log(kSameLength);
  DewReading reading{std::vector<double>(nodes_.size(), 0.0)};
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (std::abs(nodes_[i].log_length - log_length) > same) continue;
    reading.weights[i] = 1.0;
    return reading;
  }
  if (log_length < nodes_.front().log_length) return beyond(log_length, 0);
  if (log_length > nodes_.back().log_length) return beyond(log_length, nodes_.size() - 1);
  std::size_t right = 1;
  while (nodes_[right].log_length < log_length) ++right;
  const Node &from = nodes_[right - 1], &to = nodes_[right];
  const double share = (log_length - from.log_length) / (to.log_length - from.log_length);
  reading.weights[right - 1] = 1.0 - share;
  reading.weights[right] = share;
  return reading;
}

std::optional<DewReading> DewCurve::beyond(double log_length, std::size_t nearest) const {
  if (!law_ && !std::isfinite(slope_.mean)) return {};
  const double distance = log_length - nodes_[nearest].log_length;
  DewReading reading{std::vector<double>(nodes_.size(), 0.0)};
  reading.weights[nearest] = 1.0;
  reading.extrapolated = true;
  const bool lawful = law_ && log_length + law_->offset.mean > 0.0 &&
                      nodes_[nearest].log_length + law_->offset.mean > 0.0;
  if (!lawful && !std::isfinite(slope_.mean)) return {};
  reading.added = lawful ? log_growth_shape(law_->law, *law_, log_length) -
                               log_growth_shape(law_->law, *law_, nodes_[nearest].log_length)
                         : slope_.mean * distance;
  const double slope_error =
      std::isfinite(slope_.standard_error) ? slope_.standard_error : std::abs(slope_.mean);
  reading.added_error =
      std::isfinite(slope_error) ? std::abs(slope_error * distance) : std::abs(reading.added);
  return reading;
}

double DewCurve::value(const DewReading& reading) const {
  double sum = reading.added;
  for (std::size_t i = 0; i < nodes_.size(); ++i) sum += reading.weights[i] * nodes_[i].log_beta;
  return sum;
}

Estimate log_ratio(const DewCurve& deployed, const DewReading& target, const DewCurve& trained,
                   const DewReading& train, bool same) {
  double variance = std::pow(target.added_error, 2) + std::pow(train.added_error, 2);
  for (std::size_t i = 0; i < target.weights.size(); ++i) {
    const double weight = target.weights[i] - (same ? train.weights[i] : 0.0);
    variance += weight * weight * deployed.node_variance(i);
  }
  for (std::size_t i = 0; i < train.weights.size() && !same; ++i)
    variance += train.weights[i] * train.weights[i] * trained.node_variance(i);
  return {deployed.value(target) - trained.value(train), std::sqrt(variance), 1};
}

}  // namespace dewpoint::diagnosis
