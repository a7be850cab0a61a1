#include "cli/dew_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "dewpoint/checkpoint/score_file.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/diagnosis/growth.hpp"
#include "dewpoint/diagnosis/tail_estimators.hpp"
#include "dewpoint/observables/dew_point.hpp"

namespace dewpoint::cli {
namespace {

using diagnosis::Growth;
using diagnosis::GrowthPoint;
using diagnosis::RowBootstrap;

// ---- input ----------------------------------------------------------------------------------

Matrix<double> read_input(const DewScoresQuestion& q, const Given& arrays) {
  if (arrays.scores != nullptr) return *arrays.scores;
  if (q.scores) return checkpoint::read_scores(*q.scores);
  return checkpoint::read_query_key_scores(*q.queries, *q.keys, *q.scale);
}

/// The kept column of every row; empty for none.
std::vector<std::size_t> kept_columns(const std::optional<std::string>& kept,
                                      const Matrix<double>& scores) {
  if (!kept) return {};
  const std::string& text = *kept;
  std::vector<std::size_t> columns(scores.rows());
  if (text == "self") {
    if (scores.rows() > scores.cols()) {
      throw Error(
          Code::bad_value,
          fmt::format("keep-column: self needs a key per query, found {} queries and {} keys",
                      scores.rows(), scores.cols()));
    }
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i;
    return columns;
  }
  std::size_t column = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, column);
  if (error != std::errc{} || rest != end || column >= scores.cols()) {
    throw Error(Code::bad_value,
                fmt::format("keep-column: '{}' is neither self nor a column from 0 to {}", text,
                            scores.cols() - 1));
  }
  std::fill(columns.begin(), columns.end(), column);
  return columns;
}

// ---- estimates ------------------------------------------------------------------------------

/// A scale from its logarithm.
Estimate scale_of(const Estimate& logarithm) {
  const double value = std::exp(logarithm.mean);
  return {value, value * logarithm.standard_error, logarithm.samples};
}

/// As to_json, with "inf" for a scale that ties make infinite.
Json scale_json(const Estimate& logarithm) {
  Json json = to_json(scale_of(logarithm));
  if (std::isinf(logarithm.mean)) json["mean"] = "inf";
  return json;
}

diagnosis::GrowthData growth_data(const Growth& growth, diagnosis::Scale scale,
                                  const RowBootstrap& bootstrap) {
  diagnosis::GrowthData data;
  const bool pooled = scale == diagnosis::Scale::participation;
  for (const GrowthPoint& point : growth.points) {
    data.log_n.push_back(std::log(static_cast<double>(point.keys)));
    data.log_beta.push_back((pooled ? point.log_participation : point.log_dew_median).mean);
  }
  data.covariance =
      bootstrap.covariance(pooled ? growth.participation_replicates : growth.median_replicates);
  data.replicates = bootstrap.replicates();
  return data;
}

/// Four inverse temperatures per octave from far above the scores' scale to beyond β_PR.
std::vector<double> capacity_grid(double participation_beta) {
  std::vector<double> betas;
  for (int k = -56; k <= 4; ++k) betas.push_back(participation_beta * std::exp2(0.25 * k));
  return betas;
}

/// Scores so small that no gap between them counts would all seem tied.
void require_size(const Matrix<double>& scores) {
  double largest = 0.0;
  for (std::size_t k = 0; k < scores.size(); ++k) {
    largest = std::max(largest, std::abs(scores.data()[k]));
  }
  if (largest == 0.0 || largest >= observables::kSmallestGap) return;
  throw Error(Code::bad_value,
              fmt::format("scores: the largest is {:.3g} in size; allowed: {:g} to {:g}", largest,
                          observables::kSmallestGap, observables::kLargestScore));
}

struct HeadReport {
  std::size_t queries, keys;
  Growth growth;
  std::vector<Estimate> slopes;   // of β_PR from each length to the next
  std::optional<Estimate> slope;  // over the last factor of eight
  diagnosis::GrowthVerdict participation, dew;
  diagnosis::EdgeFit edge;
  std::optional<diagnosis::EndpointFit> endpoint;
  std::optional<diagnosis::HeatCapacity> heat;
};

HeadReport measure(const Matrix<double>& scores, const DewScoresQuestion& q, const Common& common,
                   const RunContext& context) {
  require_size(scores);
  const std::vector<std::size_t> kept = kept_columns(q.keep, scores);
  const RowBootstrap bootstrap(scores.rows(), {q.replicates, common.seed});
  HeadReport head{};
  head.queries = scores.rows();
  head.keys = scores.cols();
  head.growth = diagnosis::measure_growth(scores, {q.halvings, q.least_keys, kept, common.seed},
                                          bootstrap, context);
  const auto slope = [&](std::size_t from, std::size_t to) {
    return growth_slope(head.growth, diagnosis::Scale::participation, from, to, bootstrap);
  };
  const std::size_t lengths = head.growth.points.size();
  for (std::size_t i = 0; i + 1 < lengths; ++i) head.slopes.push_back(slope(i, i + 1));
  if (lengths > 1) head.slope = slope(lengths < 4 ? 0 : lengths - 4, lengths - 1);
  head.participation =
      diagnosis::judge_growth(growth_data(head.growth, diagnosis::Scale::participation, bootstrap));
  head.dew =
      diagnosis::judge_growth(growth_data(head.growth, diagnosis::Scale::dew_median, bootstrap));

  const Matrix<double> others = kept.empty() ? scores : diagnosis::without_columns(scores, kept);
  const RunContext silent{context.threads, context.stop, {}};
  const std::size_t tail =
      std::clamp<std::size_t>(q.tail, 4, std::max<std::size_t>(others.cols() - 1, 4));
  if (others.cols() > 4) {
    head.edge = diagnosis::fit_edge(others, tail, bootstrap, silent);
  } else {
    head.edge.refusal = fmt::format("{} keys are too few", others.cols());
  }
  if (q.endpoint)
    head.endpoint =
        diagnosis::fit_known_endpoint(others, *q.endpoint, std::min(tail, others.cols() - 1));
  const double log_participation = head.growth.points.back().log_participation.mean;
  if (std::isfinite(log_participation))
    head.heat =
        diagnosis::heat_capacity(others, capacity_grid(std::exp(log_participation)), {}, silent);
  return head;
}

// ---- json -----------------------------------------------------------------------------------

Json points_json(const HeadReport& head) {
  Json points = Json::array();
  for (std::size_t i = 0; i < head.growth.points.size(); ++i) {
    const GrowthPoint& point = head.growth.points[i];
    points.push_back(
        {{"n", point.keys},
         {"hands", point.hands},
         {"tied_share", point.tied_share},
         {"beta_dew_lower", scale_json(point.log_dew_lower)},
         {"beta_dew_median", scale_json(point.log_dew_median)},
         {"beta_dew_upper", scale_json(point.log_dew_upper)},
         {"beta_dew_geometric_mean", scale_json(point.log_dew_mean)},
         {"beta_pr", scale_json(point.log_participation)},
         {"accumulation", scale_json(point.log_accumulation)},
         {"slope_to_next", i < head.slopes.size() ? to_json(head.slopes[i]) : Json()}});
  }
  return points;
}

Json edge_json(const diagnosis::EdgeFit& edge) {
  if (!edge.refusal.empty()) return {{"refusal", edge.refusal}, {"tied_share", edge.tied_share}};
  return {{"top", edge.top},
          {"tied_share", edge.tied_share},
          {"shape", to_json(edge.shape)},
          {"scale", to_json(edge.scale)},
          {"beta_edge", scale_json(edge.log_edge_beta)},
          {"depth_change", to_json(edge.depth_change)}};
}

Json endpoint_json(const diagnosis::EndpointFit& fit) {
  if (!fit.refusal.empty()) return {{"refusal", fit.refusal}};
  return {{"top", fit.top},
          {"exponent", to_json(fit.exponent)},
          {"beta_star", scale_json(fit.log_critical_beta)},
          {"dispersion", fit.dispersion}};
}

Json heat_json(const diagnosis::HeatCapacity& heat) {
  Json capacity = Json::array();
  for (const Estimate& value : heat.capacity) capacity.push_back(to_json(value));
  Json json = {{"beta", heat.betas},
               {"capacity", capacity},
               {"effective_keys", heat.effective_keys},
               {"plateau", nullptr}};
  if (heat.plateau) {
    json["plateau"] = {{"exponent", to_json(heat.plateau->exponent)},
                       {"lowest_beta", heat.plateau->lowest_beta},
                       {"highest_beta", heat.plateau->highest_beta}};
  }
  return json;
}

Json head_json(const HeadReport& head, const DewScoresQuestion& q, std::uint64_t seed) {
  return {{"experiment", "dew"},
          {"version", version()},
          {"seed", seed},
          {"parameters",
           parameters_json(question::fields_of<DewScoresQuestion>(), {}, question::point_of(q))},
          {"rows", head.queries},
          {"columns", head.keys},
          {"lengths", points_json(head)},
          {"slope", head.slope ? to_json(*head.slope) : Json()},
          {"growth",
           {{"beta_pr", diagnosis::to_json(head.participation)},
            {"beta_dew", diagnosis::to_json(head.dew)}}},
          {"edge", edge_json(head.edge)},
          {"endpoint", head.endpoint ? endpoint_json(*head.endpoint) : Json()},
          {"heat_capacity", head.heat ? heat_json(*head.heat) : Json()}};
}

// ---- text -----------------------------------------------------------------------------------

std::string quartile_text(const Estimate& logarithm) {
  return short_text({std::exp(logarithm.mean), kUnknown, logarithm.samples});
}

std::string lengths_text(const HeadReport& head) {
  Json records = Json::array();
  for (std::size_t i = 0; i < head.growth.points.size(); ++i) {
    const GrowthPoint& point = head.growth.points[i];
    records.push_back({{"n", fmt::format("{}", point.keys)},
                       {"dew", short_text(scale_of(point.log_dew_median))},
                       {"quartiles", fmt::format("{} .. {}", quartile_text(point.log_dew_lower),
                                                 quartile_text(point.log_dew_upper))},
                       {"pr", short_text(scale_of(point.log_participation))},
                       {"accumulation", short_text(scale_of(point.log_accumulation))},
                       {"slope", i < head.slopes.size() ? short_text(head.slopes[i]) : ""}});
  }
  return to_text(records, {{"n", "n"},
                           {"dew", "β_dew median"},
                           {"quartiles", "quartiles"},
                           {"pr", "β_PR"},
                           {"accumulation", "Λ median"},
                           {"slope", "slope to next"}});
}

std::string edge_text(const diagnosis::EdgeFit& edge) {
  if (!edge.refusal.empty())
    return fmt::format("edge            not applicable: {}\n", edge.refusal);
  const double change = edge.depth_change.mean / edge.depth_change.standard_error;
  return fmt::format("edge            β_edge = {}, shape {}, from the best {} keys{}\n",
                     short_text(scale_of(edge.log_edge_beta)), short_text(edge.shape), edge.top,
                     std::abs(change) > 4.0
                         ? fmt::format("; no single Pareto tail: {:+.2f} from the best {} alone",
                                       -edge.depth_change.mean, edge.top / 4)
                         : std::string());
}

std::string endpoint_text(const diagnosis::EndpointFit& fit) {
  if (!fit.refusal.empty()) return fmt::format("endpoint        not applicable: {}\n", fit.refusal);
  return fmt::format(
      "endpoint        a = {}, β* = {}; rows scatter by {:.2f} of what the law says\n",
      short_text(fit.exponent), short_text(scale_of(fit.log_critical_beta)),
      std::sqrt(fit.dispersion));
}

std::string heat_text(const diagnosis::HeatCapacity& heat) {
  if (!heat.plateau) return "heat capacity   no plateau\n";
  return fmt::format("heat capacity   plateau a = {} for β from {:.3g} to {:.3g}\n",
                     short_text(heat.plateau->exponent), heat.plateau->lowest_beta,
                     heat.plateau->highest_beta);
}

std::string head_text(const HeadReport& head) {
  const GrowthPoint& whole = head.growth.points.back();
  std::string text = fmt::format(
      "{} queries, {} keys; shorter lengths are random hands of them\n\n", head.queries, head.keys);
  text += lengths_text(head) + "\n";
  if (whole.tied_share > 0.0) {
    text += fmt::format("{:.3g}% of queries have a tied maximum and never condense\n",
                        100.0 * whole.tied_share);
  }
  if (head.slope)
    text += fmt::format("slope           {} over the last lengths\n", short_text(*head.slope));
  text += edge_text(head.edge);
  if (head.endpoint) text += endpoint_text(*head.endpoint);
  if (head.heat) text += heat_text(*head.heat);
  return text + verdict_text("β_PR ", head.participation) + verdict_text("β_dew", head.dew);
}

}  // namespace

Answer dew_of_scores(DewScoresQuestion question, const Given& arrays, const Common& common,
                     const RunContext& context) {
  if (question.queries) question.scale = question.scale.value_or(1.0);
  const HeadReport head = measure(read_input(question, arrays), question, common, context);
  return {head_json(head, question, common.seed), head_text(head)};
}

std::string verdict_text(const std::string& scale, const diagnosis::GrowthVerdict& verdict) {
  if (!verdict.law) return fmt::format("{} growth    cannot tell: {}\n", scale, verdict.reason);
  return fmt::format("{} growth    {}: {}\n", scale, name_of(*verdict.law), verdict.reason);
}

std::string short_text(const Estimate& estimate) {
  if (estimate.samples == 0 || std::isnan(estimate.mean)) return "-";
  if (std::isinf(estimate.mean)) return "never";
  if (!std::isfinite(estimate.standard_error)) return fmt::format("{:.4g}", estimate.mean);
  if (estimate.standard_error == 0.0) return fmt::format("{:.10g}", estimate.mean);
  return fmt::format("{:.4g} ± {:.2g}", estimate.mean, estimate.standard_error);
}

}  // namespace dewpoint::cli
