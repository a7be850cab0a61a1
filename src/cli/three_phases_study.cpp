#include "cli/three_phases_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/study_record.hpp"
#include "cli/study_run.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/theory/two_level_simplex.hpp"

namespace dewpoint::cli {
namespace {

constexpr const char* kCurveGammas = "0:4:161";
constexpr const char* kMeasuredGammas = "0:4:17";
constexpr std::array<const char*, 3> kMasses = {"self_mass", "cluster_mass", "rest_mass"};

Frame empty_frame(const std::string& name, std::vector<double> n, std::vector<double> gamma) {
  Frame frame(name);
  frame.add_dimension("n", std::move(n));
  frame.add_dimension("gamma", std::move(gamma));
  for (const char* mass : kMasses) frame.add_variable(mass, {"n", "gamma"});
  return frame;
}

// The measured length has whole clusters, the others n^τ neighbours.
theory::TwoLevelSimplex geometry(const ThreePhases& p, double n) {
  if (n != static_cast<double>(p.measured_length)) {
    return theory::two_level_simplex(std::log(n), p.cluster_exponent, p.rho_cluster, p.rho_rest);
  }
  const auto size = static_cast<double>(p.cluster_size);
  return {std::log(size - 1.0), std::log(n - size), p.rho_cluster, p.rho_rest};
}

Frame exact_masses(const ThreePhases& p) {
  std::vector<double> lengths = p.lengths;
  lengths.push_back(static_cast<double>(p.measured_length));
  std::sort(lengths.begin(), lengths.end());
  const std::vector<double> gammas = parse_grid("gamma", kCurveGammas);
  Frame frame = empty_frame("three_phases", lengths, gammas);
  for (std::size_t cell = 0; cell < lengths.size() * gammas.size(); ++cell) {
    const double n = lengths[cell / gammas.size()];
    const double beta = gammas[cell % gammas.size()] * std::log(n);
    const auto masses = theory::two_level_masses(geometry(p, n), beta);
    frame.variable("self_mass").cells[cell] = exact_value(masses.self);
    frame.variable("cluster_mass").cells[cell] = exact_value(masses.cluster);
    frame.variable("rest_mass").cells[cell] = exact_value(masses.rest);
  }
  return frame;
}

Frame measured_masses(const ThreePhases& p, int threads) {
  const std::vector<double> gammas = parse_grid("gamma", kMeasuredGammas);
  studies::StudyText study;
  study.experiment = "phase";
  study.seed = p.seed;
  study.fixed = {{"tokens", std::string("two-level")},
                 {"n", static_cast<double>(p.measured_length)},
                 {"rho", p.rho_rest},
                 {"rho-inner", p.rho_cluster},
                 {"cluster-size", static_cast<double>(p.cluster_size)}};
  study.grid = {{"gamma", gammas}};
  const Frame cells = run_in_memory(study, threads, {}, "three phases").frames.at(0);
  Frame frame =
      empty_frame("three_phases_measured", {static_cast<double>(p.measured_length)}, gammas);
  for (const char* mass : kMasses) frame.variable(mass).cells = cells.variable(mass).cells;
  return frame;
}

Frame thresholds(const ThreePhases& p) {
  const auto phase = theory::cluster_phase(p.cluster_exponent, p.rho_cluster, p.rho_rest);
  DEWPOINT_EXPECTS(phase.has_value());
  Frame frame("cluster_thresholds");
  frame.add_variable("rest_to_cluster").cells = {exact_value(phase->rest_to_cluster)};
  frame.add_variable("cluster_to_self").cells = {exact_value(phase->cluster_to_self)};
  return frame;
}

}  // namespace

store::StudyRecord three_phases_study(const ThreePhases& p, int threads,
                                      const std::string& command) {
  store::StudyRecord study = begin_study("three phases", p.seed, command);
  study.parameters = {
      {"tokens", "two-level"},
      {"n", fmt::format("{},{}", p.measured_length, fmt::join(p.lengths, ","))},
      {"rho", fmt::format("{}", p.rho_rest)},
      {"rho-inner", fmt::format("{}", p.rho_cluster)},
      {"cluster-exponent", fmt::format("{}", p.cluster_exponent)},
      {"cluster-size", fmt::format("{} at n = {}", p.cluster_size, p.measured_length)}};
  study.frames = {exact_masses(p), measured_masses(p, threads), thresholds(p)};
  return study;
}

}  // namespace dewpoint::cli
