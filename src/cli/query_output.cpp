// dewpoint query output: what a query reads from n keys through a value matrix.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/predict_options.hpp"
#include "cli/score_law_option.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/checkpoint/npy.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/experiments/output_question.hpp"
#include "dewpoint/theory/backward_heat.hpp"
#include "dewpoint/theory/sphere_clt.hpp"

namespace dewpoint::cli {
namespace {

using experiments::OutputQuestion;

struct OutputVerb {
  OutputQuestion question;
  std::optional<std::string> values;
  std::optional<question::Numbers> scales;
  std::optional<double> rotation;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, OutputVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe(visit, q.question);
  visit("values", q.values, file("npy"), "value matrix V, a .npy file with a row per output");
  visit("value-scale", q.scales, "V diagonal, a number for each coordinate", instead_of("values"));
  visit("rotation", q.rotation, "V turns the query by this angle", instead_of("values"));
  describe(visit, q.common);
}

// ---- the value matrix -----------------------------------------------------------------------

Matrix<double> diagonal(const std::vector<double>& entries) {
  Matrix<double> matrix(entries.size(), entries.size());
  for (std::size_t k = 0; k < entries.size(); ++k) matrix(k, k) = entries[k];
  return matrix;
}

// Turns q = e_1 towards e_2.
Matrix<double> rotation(double angle, std::size_t dimension) {
  Matrix<double> matrix = diagonal(std::vector<double>(dimension, 1.0));
  matrix(0, 0) = matrix(1, 1) = std::cos(angle);
  matrix(1, 0) = std::sin(angle);
  matrix(0, 1) = -std::sin(angle);
  return matrix;
}

Matrix<double> value_matrix(const OutputVerb& o, std::size_t dimension) {
  if (o.values) return checkpoint::read_npy_matrix(*o.values);
  if (o.rotation) return rotation(*o.rotation, dimension);
  if (!o.scales) return diagonal(std::vector<double>(dimension, 1.0));
  const std::vector<double>& scales = o.scales->values;
  require(scales.size() == dimension, "value-scale", static_cast<double>(scales.size()),
          fmt::format("the number of coordinates of a key, {}", dimension));
  return diagonal(scales);
}

std::string value_name(const OutputVerb& o) {
  return o.values ? *o.values : o.rotation ? "rotation" : o.scales ? "diagonal" : "identity";
}

// ---- theory ---------------------------------------------------------------------------------

constexpr double kLargestPredicted = 3e11;  // the largest β that theory takes

bool is_uniform(const scores::KeyLaw& law) {
  return dynamic_cast<const scores::SphereKeys*>(&law) != nullptr;
}

// log f(q) of laws that have a density on the sphere; nothing for others.
std::optional<double> log_density_of(const scores::KeyLaw& law) {
  if (is_uniform(law)) return 0.0;
  const auto* mixture = dynamic_cast<const scores::VonMisesFisherKeys*>(&law);
  if (mixture == nullptr) return {};
  return log_density_at_query(static_cast<int>(law.dimension()), mixture->components());
}

// The output of infinitely many keys, known for one centre; it lies in the plane of e_1 and e_2.
std::optional<theory::PopulationOutput> population(const scores::KeyLaw& law, double beta) {
  const auto dimension = static_cast<int>(law.dimension());
  if (is_uniform(law)) return theory::population_output({dimension, beta, 0.0, 0.0});
  const auto* mixture = dynamic_cast<const scores::VonMisesFisherKeys*>(&law);
  if (mixture == nullptr || mixture->components().size() != 1) return {};
  const SphereComponent& part = mixture->components().front();
  return theory::population_output({dimension, beta, part.concentration, part.angle});
}

// Constants and covariance hold for uniform keys at any β, for others as β grows.
struct Prediction {
  theory::SphereFluctuations constants;
  bool uniform;
  std::vector<double> mean;   // empty: not known
  Matrix<double> covariance;  // n times that of the output
};

std::vector<double> through(const Matrix<double>& values, const theory::PopulationOutput& output) {
  std::vector<double> result;
  for (std::size_t r = 0; r < values.rows(); ++r)
    result.push_back(values(r, 0) * output.along + values(r, 1) * output.across);
  return result;
}

std::optional<Prediction> predicted(const scores::KeyLaw& law, const experiments::KeyOutput& asked,
                                    double beta) {
  const auto log_density = log_density_of(law);
  if (!log_density || beta > kLargestPredicted) return {};
  const theory::SphereQuery query{static_cast<int>(law.dimension()), beta,
                                  std::log(static_cast<double>(asked.keys)), *log_density};
  std::vector<double> direction(law.dimension(), 0.0);
  direction[0] = 1.0;
  Prediction prediction{theory::sphere_fluctuations(query), is_uniform(law), {}, {}};
  prediction.covariance =
      theory::value_output(asked.values, direction, query, prediction.constants).covariance;
  for (double& entry : std::span(prediction.covariance.data(), prediction.covariance.size()))
    entry *= static_cast<double>(asked.keys);
  if (const auto limit = population(law, beta)) prediction.mean = through(asked.values, *limit);
  return prediction;
}

// ---- answer ---------------------------------------------------------------------------------

Json square(std::size_t side, const std::function<double(std::size_t, std::size_t)>& entry) {
  Json rows = Json::array();
  for (std::size_t r = 0; r < side; ++r) {
    Json row = Json::array();
    for (std::size_t s = 0; s < side; ++s) row.push_back(entry(r, s));
    rows.push_back(row);
  }
  return rows;
}

Json estimates_json(const std::vector<Estimate>& estimates) {
  Json list = Json::array();
  for (const Estimate& estimate : estimates) list.push_back(to_json(estimate));
  return list;
}

Json prediction_json(const std::optional<Prediction>& p) {
  if (!p) return nullptr;
  return {{"effective_keys", std::exp(p->constants.log_keys)},
          {"scaled_bias", -std::exp(p->constants.log_bias)},
          {"parallel_variance", std::exp(p->constants.log_variance_along)},
          {"tangential_variance", std::exp(p->constants.log_variance_across)},
          {"mean", p->mean.empty() ? Json() : Json(p->mean)},
          {"covariance", square(p->covariance.rows(), [&](std::size_t r, std::size_t s) {
             return p->covariance(r, s);
           })}};
}

// The largest distance of an entry of the covariance from its prediction, in the standard errors
// that Gaussian outputs with the predicted covariance C would have: ((C_rr C_ss + C_rs²)/N)^{1/2}.
double worst_z(const experiments::KeyOutputMoments& m, const Matrix<double>& predicted) {
  double worst = 0.0;
  const std::size_t side = m.mean.size();
  for (std::size_t r = 0; r < side; ++r) {
    for (std::size_t s = 0; s < side; ++s) {
      const Estimate& entry = m.covariance[r * side + s];
      const double product = predicted(r, r) * predicted(s, s) + predicted(r, s) * predicted(r, s);
      const double error = std::sqrt(product / static_cast<double>(entry.samples - 1));
      if (error > 0.0) worst = std::max(worst, std::abs(entry.mean - predicted(r, s)) / error);
    }
  }
  return worst;
}

Json record_of(const experiments::KeyOutputMoments& m, const std::optional<Prediction>& p) {
  const std::size_t side = m.mean.size();
  const auto field = [&](double Estimate::*part) {
    return square(
        side, [&, part](std::size_t r, std::size_t s) { return m.covariance[r * side + s].*part; });
  };
  return {
      {"beta", m.inverse_temperature},
      {"mean", estimates_json(m.mean)},
      {"bias", estimates_json(m.bias)},
      {"covariance",
       {{"mean", field(&Estimate::mean)}, {"standard_error", field(&Estimate::standard_error)}}},
      {"gap", to_json(m.gap)},
      {"parallel_variance", to_json(m.parallel_variance)},
      {"tangential_variance", to_json(m.tangential_variance)},
      {"tangential_square", to_json(m.tangential_square)},
      {"participation", to_json(m.participation)},
      {"largest_weight", to_json(m.largest_weight)},
      {"entropy", to_json(m.entropy)},
      {"prediction", prediction_json(p)},
      {"worst_covariance_z", p ? Json(worst_z(m, p->covariance)) : Json()}};
}

constexpr std::size_t kMostCoordinatesShown = 16;

std::string coordinates_table(const experiments::KeyOutputMoments& m,
                              const std::optional<Prediction>& p) {
  Json lines = Json::array();
  const std::size_t side = m.mean.size();
  for (std::size_t k = 0; k < std::min(side, kMostCoordinatesShown); ++k) {
    lines.push_back({{"coordinate", k + 1},
                     {"mean", to_string(m.mean[k])},
                     {"limit", p && !p->mean.empty() ? Json(digits(p->mean[k])) : Json()},
                     {"bias", to_string(m.bias[k])},
                     {"variance", to_string(m.covariance[k * side + k])},
                     {"law", p ? Json(digits(p->covariance(k, k))) : Json()}});
  }
  return to_text(lines, {{"coordinate", "output"},
                         {"mean", "mean"},
                         {"limit", "n = ∞"},
                         {"bias", "bias"},
                         {"variance", "n Var"},
                         {"law", "theory"}});
}

std::string text_of(const experiments::KeyOutputMoments& m, const std::optional<Prediction>& p) {
  std::string text =
      fmt::format("β = {:.6g}: Σw² {}, largest weight {}, entropy {}\n", m.inverse_temperature,
                  to_string(m.participation), to_string(m.largest_weight), to_string(m.entropy));
  text += coordinates_table(m, p);
  if (m.mean.size() > kMostCoordinatesShown)
    text += fmt::format("  ... and {} more: --json\n", m.mean.size() - kMostCoordinatesShown);
  if (p) {
    text += fmt::format(
        "n_eff = {:.4g} keys share the weight. Covariance: no entry is farther than {:.2g} "
        "standard "
        "errors from V(V_∥ qqᵀ + V_⊥(I − qqᵀ))Vᵀ{}\n",
        std::exp(p->constants.log_keys), worst_z(m, p->covariance),
        p->uniform ? "" : ", which takes the density of keys as constant around q: for large β");
  }
  return text + "\n";
}

Answer output_answer(const OutputVerb& o, const question::Asked& given, const Program&) {
  std::vector<OutputQuestion> tile = given.all<OutputQuestion>();
  for (OutputQuestion& question : tile) question = resolved(std::move(question));
  Json parameters = parameters_json(question::fields_of<OutputQuestion>(), given,
                                    question::point_of(tile.front()));
  parameters["values"] = value_name(o);
  const auto law = scores::key_law(tile.front().keys);
  experiments::KeyOutput asked = experiments::output_of(tile);
  asked.values = value_matrix(o, law->dimension());
  asked.seed = o.common.seed;
  std::vector<experiments::KeyOutputMoments> moments;
  {
    ProgressLine progress("query output");
    moments =
        experiments::key_output(*law, asked, {o.common.threads, stop_token(), progress.callback()});
  }
  Answer result;
  result.json = {{"experiment", "query output"},
                 {"version", version()},
                 {"seed", o.common.seed},
                 {"parameters", std::move(parameters)},
                 {"outputs", Json::array()}};
  result.text = fmt::format("{} keys {}, values {} ({} x {}); {} draws, seed {}\n\n", asked.keys,
                            law->name(), value_name(o), asked.values.rows(), asked.values.cols(),
                            asked.draws, o.common.seed);
  for (const experiments::KeyOutputMoments& m : moments) {
    const auto prediction = predicted(*law, asked, m.inverse_temperature);
    result.json["outputs"].push_back(record_of(m, prediction));
    result.text += text_of(m, prediction);
  }
  return result;
}

}  // namespace

Verb query_output_verb() {
  return verb_of<OutputVerb>(
      "query output", "What a query reads through a value matrix: mean, covariance",
      "dewpoint query output --keys sphere:d=5 --n 1e4 --beta 5,20 --draws 50 --rotation 0.5",
      output_answer);
}

}  // namespace dewpoint::cli
