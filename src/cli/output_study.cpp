#include <cmath>
#include <functional>
#include <numbers>

#include "cli/console.hpp"
#include "cli/sl_studies.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/experiments/query.hpp"
#include "dewpoint/scores/sphere_output.hpp"
#include "dewpoint/theory/critical_sphere.hpp"
#include "dewpoint/theory/sphere_clt.hpp"

namespace dewpoint::cli {
namespace {

using Values = std::vector<double>;

constexpr std::size_t kTop = 256;
constexpr std::size_t kAngles = 181;

Values counted(std::size_t count) {
  Values all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i));
  return all;
}

Values angles() {
  Values all = counted(kAngles);
  for (double& angle : all) angle *= 2.0 * std::numbers::pi / (kAngles - 1.0);
  return all;
}

// ATT in the frame of the query: first along it, then across. One draw of n keys.
Values draw_output(const scores::SphereOutput& sampler, double log_n, double beta,
                   const Stream& stream) {
  const auto top = scores::draw_top_scores(sampler.law(), log_n, kTop, stream);
  const scores::OutputSample sample = sampler.weigh(top, beta, stream);
  Values output{1.0 - sample.radial_gap};
  output.insert(output.end(), sample.across.begin(), sample.across.end());
  return output;
}

/// Draws and the ellipse of two standard deviations, one block per temperature.
struct Cloud {
  Frame draws, ellipse;
};

Cloud empty_cloud(const std::string& name, const std::string& parameter, const Values& values,
                  std::size_t draws, const char* x, const char* y) {
  Cloud cloud{Frame(name + "_cloud"), Frame(name + "_ellipse")};
  cloud.draws.add_dimension(parameter, values);
  cloud.draws.add_dimension("draw", counted(draws));
  cloud.ellipse.add_dimension(parameter, values);
  cloud.ellipse.add_dimension("angle", angles());
  for (const char* variable : {x, y}) {
    cloud.draws.add_variable(variable, {parameter, "draw"});
    cloud.ellipse.add_variable(variable, {parameter, "angle"});
  }
  return cloud;
}

// ---- uniform keys ---------------------------------------------------------------------------

constexpr double kKeys = 1e5;

theory::SphereQuery sphere_query(int d, double theta) {
  const double log_n = std::log(kKeys);
  return {d, theta * theory::sphere_unit(log_n, d), log_n, 0.0};
}

void add_cloud(Cloud& cloud, std::size_t block, const theory::SphereQuery& query,
               std::uint64_t seed) {
  const auto constants = theory::sphere_fluctuations(query);
  const double root = std::sqrt(kKeys);
  const scores::SphereOutput sampler(query.dimension);
  const std::size_t draws = cloud.draws.dimension("draw").coordinates.size();
  for (std::size_t i = 0; i < draws; ++i) {
    const Values output = draw_output(sampler, query.log_n, query.inverse_temperature,
                                      Stream(seed, "figures/output", i));
    cloud.draws.variable("along").cells[block * draws + i] = {
        root * (output[0] - 1.0 + constants.mean_gap), 0.0, 1};
    cloud.draws.variable("across").cells[block * draws + i] = {root * output[1], 0.0, 1};
  }
  const Values turn = angles();
  for (std::size_t i = 0; i < turn.size(); ++i) {
    const double along = 2.0 * std::exp(0.5 * constants.log_variance_along) * std::sin(turn[i]);
    const double across = 2.0 * std::exp(0.5 * constants.log_variance_across) * std::cos(turn[i]);
    cloud.ellipse.variable("along").cells[block * turn.size() + i] =
        exact_value(along - std::exp(constants.log_bias) / root);
    cloud.ellipse.variable("across").cells[block * turn.size() + i] = exact_value(across);
  }
}

Estimate divided(Estimate estimate, double by) {
  return {estimate.mean / by, estimate.standard_error / by, estimate.samples};
}

// θ so that n_eff = 2^a Γ(a+1) θ^{−a} takes the same values in every dimension.
double theta_of_keys(int d, double keys) {
  const double a = 0.5 * (d - 1.0);
  return std::exp((std::lgamma(a + 1.0) - std::log(keys)) / a) * 2.0;
}

Frame ratios(std::size_t draws, std::uint64_t seed, const RunContext& context) {
  const Values dimensions{3, 5, 8}, keys{300, 100, 30, 10, 4, 2};
  Frame frame("output_ratio");
  frame.add_dimension("d", dimensions);
  frame.add_dimension("theta", counted(keys.size()));  // by position: they differ with d
  for (const char* name : {"effective_keys", "radial_variance", "across_variance", "bias"}) {
    frame.add_variable(name, {"d", "theta"});
  }
  for (std::size_t k = 0; k < dimensions.size(); ++k) {
    const int d = static_cast<int>(dimensions[k]);
    experiments::Query question;
    question.dimension = d;
    question.n = {kKeys};
    question.temperatures.clear();
    for (const double n : keys) question.temperatures.push_back(theta_of_keys(d, n));
    question.draws = draws;
    question.seed = seed;
    const Frame means = experiments::query(question, context).means;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto c = theory::sphere_fluctuations(sphere_query(d, question.temperatures[i]));
      const std::size_t cell = k * keys.size() + i;
      frame.variable("effective_keys").cells[cell] = exact_value(std::exp(c.log_keys));
      frame.variable("radial_variance").cells[cell] =
          divided(means.variable("radial_variance").cells[i], std::exp(c.log_variance_along));
      frame.variable("across_variance").cells[cell] =
          divided(means.variable("across_variance").cells[i], std::exp(c.log_variance_across));
      Estimate bias = means.variable("bias").cells[i];
      bias.mean -= c.mean_gap;
      frame.variable("bias").cells[cell] = divided(bias, std::exp(c.log_bias) / kKeys);
    }
  }
  return frame;
}

// ---- a value matrix -------------------------------------------------------------------------

constexpr int kValueDimension = 5;
constexpr double kValueKeys = 1e9;

// Two outputs of five coordinates, neither a rotation nor symmetric.
Matrix<double> value_matrix() {
  const double entries[2][kValueDimension] = {{1.0, 0.8, 0.0, -0.5, 0.2},
                                              {-0.3, 0.6, 0.5, 0.4, 0.0}};
  Matrix<double> values(2, kValueDimension);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < kValueDimension; ++j) values(i, j) = entries[i][j];
  }
  return values;
}

// Points of the ellipse: mean of second order plus 2 L (cos, sin) with L Lᵀ = covariance.
void add_value_ellipse(Cloud& cloud, std::size_t block, const theory::ValueOutput& law,
                       const Values& centre) {
  const auto& c = law.covariance;
  const double l11 = std::sqrt(c(0, 0)), l21 = c(1, 0) / l11;
  const double l22 = std::sqrt(c(1, 1) - l21 * l21);
  const Values turn = angles();
  for (std::size_t i = 0; i < turn.size(); ++i) {
    const double u = 2.0 * std::cos(turn[i]), v = 2.0 * std::sin(turn[i]);
    const std::size_t cell = block * turn.size() + i;
    const double root = std::sqrt(kValueKeys);
    cloud.ellipse.variable("first").cells[cell] = exact_value(root * (centre[0] + l11 * u));
    cloud.ellipse.variable("second").cells[cell] =
        exact_value(root * (centre[1] + l21 * u + l22 * v));
  }
}

void add_value_cloud(Cloud& cloud, std::size_t block, const theory::SphereQuery& query,
                     std::uint64_t seed) {
  const Matrix<double> values = value_matrix();
  const auto constants = theory::sphere_fluctuations(query);
  const Values direction{1.0, 0.0, 0.0, 0.0, 0.0};
  const theory::ValueOutput law = theory::value_output(values, direction, query, constants);
  const scores::SphereOutput sampler(query.dimension);
  const std::size_t draws = cloud.draws.dimension("draw").coordinates.size();
  const char* const names[] = {"first", "second"};
  for (std::size_t i = 0; i < draws; ++i) {
    const Values output = draw_output(sampler, query.log_n, query.inverse_temperature,
                                      Stream(seed, "figures/values", i));
    for (std::size_t row = 0; row < 2; ++row) {
      double value = -law.mean[row];
      for (std::size_t j = 0; j < output.size(); ++j) value += values(row, j) * output[j];
      cloud.draws.variable(names[row]).cells[block * draws + i] = {std::sqrt(kValueKeys) * value,
                                                                   0.0, 1};
    }
  }
  const double bias = -std::exp(constants.log_bias) / kValueKeys;  // along the query
  add_value_ellipse(cloud, block, law, {bias * values(0, 0), bias * values(1, 0)});
}

}  // namespace

store::StudyRecord output_study(const StudyEffort& effort) {
  store::StudyRecord study = begin_study("output fluctuations", effort.seed, effort.command);
  study.parameters = {{"d", "3"}, {"n", "1e5"}};
  const Values thetas{0.001, 0.03, 0.5};
  Cloud cloud = empty_cloud("output", "theta", thetas, 500, "across", "along");
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    add_cloud(cloud, k, sphere_query(3, thetas[k]), effort.seed);
  }
  ProgressLine progress("output fluctuations");
  const RunContext context{effort.threads, stop_token(), progress.callback()};
  study.frames = {cloud.draws, cloud.ellipse,
                  ratios(effort.quick ? 8000 : 80'000, effort.seed, context)};
  return study;
}

store::StudyRecord values_study(const StudyEffort& effort) {
  store::StudyRecord study = begin_study("output with values", effort.seed, effort.command);
  study.parameters = {{"d", "5"}, {"n", "1e9"}};
  const Values betas{1.0, 10.0, 1000.0};
  Cloud cloud = empty_cloud("value", "beta", betas, 500, "first", "second");
  for (std::size_t k = 0; k < betas.size(); ++k) {
    add_value_cloud(cloud, k, {kValueDimension, betas[k], std::log(kValueKeys), 0.0}, effort.seed);
  }
  study.frames = {cloud.draws, cloud.ellipse};
  return study;
}

}  // namespace dewpoint::cli
