#include "cli/phase_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/phase_map.hpp"
#include "dewpoint/theory/critical_line.hpp"

namespace dewpoint::cli {
namespace {

// ρ of the lines: every fiftieth up to a little beyond the largest ρ of the map.
std::vector<double> line_rhos(const std::vector<double>& map_rhos) {
  std::vector<double> rhos;
  for (int k = 0; k < 50 && k / 50.0 <= map_rhos.back() + 0.03; ++k) rhos.push_back(k / 50.0);
  return rhos;
}

double finite_dimension_gamma(std::size_t n, std::size_t d, double rho) {
  const auto scale =
      theory::annealed_critical_scale(std::log(static_cast<double>(n)), static_cast<int>(d), rho);
  return scale ? *scale * theory::critical_gamma(rho) : kUnknown;
}

// Both lines are those of softmax over all keys.
bool is_plain(const experiments::PhaseMap& map) { return map.form == attention::LayerForm{}; }

// The annealed line is computed where its formula is defined and for the tokens it describes.
bool has_finite_dimension_line(const experiments::PhaseMap& map, std::size_t n, std::size_t d) {
  return map.cloud.law == "equicorrelated" && is_plain(map) && n >= 3 && d <= 4096;
}

std::vector<std::pair<std::string, std::string>> parameters_of(const experiments::PhaseMap& map) {
  std::vector<std::pair<std::string, std::string>> parameters = {
      {"tokens", map.cloud.law},
      {"n", fmt::format("{}", fmt::join(map.n, ","))},
      {"d", fmt::format("{}", fmt::join(map.d, ","))},
      {"rho", fmt::format("{}", fmt::join(map.rho, ","))},
      {"gamma", fmt::format("{}", fmt::join(map.gamma, ","))},
      {"norm", tokens::name_of(map.cloud.norm)},
      {"common", tokens::name_of(map.cloud.common)},
      {"alpha", fmt::format("{}", map.residual)},
      {"layer", attention::name_of(map.form)},
      {"replicas", fmt::format("{}", map.replication.replicas)}};
  if (tokens::has_clusters(map.cloud)) {
    parameters.emplace_back("rho-inner", fmt::format("{}", map.cloud.rho_inner));
    parameters.emplace_back("cluster-size", fmt::format("{}", map.cloud.cluster_size));
  }
  if (map.replication.target_error > 0.0) {
    parameters.emplace_back("target-error", fmt::format("{}", map.replication.target_error));
  }
  return parameters;
}

}  // namespace

Frame critical_lines(const experiments::PhaseMap& map, const RunContext& context) {
  Frame frame("critical_lines");
  frame.add_dimension("n", {map.n.begin(), map.n.end()});
  frame.add_dimension("d", {map.d.begin(), map.d.end()});
  const std::vector<double> rhos = line_rhos(map.rho);
  frame.add_dimension("rho", rhos);
  frame.add_variable("simplex_gamma", {"n", "d", "rho"});
  frame.add_variable("finite_dimension_gamma", {"n", "d", "rho"});
  auto& simplex = frame.variable("simplex_gamma").cells;
  auto& finite = frame.variable("finite_dimension_gamma").cells;
  parallel_for(simplex.size(), context, [&](std::size_t cell) {
    const double rho = rhos[cell % rhos.size()];
    const std::size_t d = map.d[cell / rhos.size() % map.d.size()];
    const std::size_t n = map.n[cell / rhos.size() / map.d.size()];
    simplex[cell] = exact_value(is_plain(map) ? theory::critical_gamma(rho) : kUnknown);
    const bool known = has_finite_dimension_line(map, n, d);
    finite[cell] = exact_value(known ? finite_dimension_gamma(n, d, rho) : kUnknown);
  });
  return frame;
}

store::StudyRecord phase_map_study(const experiments::PhaseMap& parameters, int threads,
                                   const std::string& command) {
  const experiments::PhaseMap map = experiments::resolved(parameters);
  store::StudyRecord study = begin_study("phase map", map.seed, command);
  study.parameters = parameters_of(map);
  {
    ProgressLine progress("phase map");
    study.frames.push_back(
        experiments::phase_map(map, {threads, stop_on_signals(), progress.callback()}));
  }
  {
    ProgressLine progress("critical lines");
    study.frames.push_back(critical_lines(map, {threads, stop_on_signals(), progress.callback()}));
  }
  return study;
}

std::vector<std::string> draw_phase_map(const store::StudyRecord& study,
                                        const std::filesystem::path& stem) {
  std::vector<std::string> files;
  const auto draw = [&](report::PhaseQuantity quantity, const std::string& base) {
    report::draw(report::heatmap_of_phase_map(study, quantity), base);
    files.insert(files.end(), {base + ".svg", base + ".png"});
  };
  draw(report::PhaseQuantity::contraction, stem.string());
  if (study.frame("phase_map").find_variable("jacobian_norm") != nullptr) {
    draw(report::PhaseQuantity::jacobian_norm, stem.string() + "-eta");
  }
  return files;
}

}  // namespace dewpoint::cli
