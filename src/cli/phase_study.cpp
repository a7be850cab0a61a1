#include "cli/phase_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/report/heatmap.hpp"
#include "dewpoint/report/phase_map.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/studies/phase_theory.hpp"

namespace dewpoint::cli {
namespace {

std::vector<std::pair<std::string, std::string>> parameters_of(const experiments::PhaseMap& map) {
  std::vector<std::pair<std::string, std::string>> parameters = {
      {"tokens", map.cloud.law},
      {"n", fmt::format("{}", fmt::join(map.n, ","))},
      {"d", fmt::format("{}", fmt::join(map.d, ","))},
      {"rho", fmt::format("{}", fmt::join(map.rho, ","))},
      {"gamma", fmt::format("{}", fmt::join(map.gamma, ","))},
      {"norm", question::word_for(map.cloud.norm)},
      {"common", question::word_for(map.cloud.common)},
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

OutputFile eta_stem(const OutputFile& stem) {
  return stem.beside(std::filesystem::path(stem.path) += "-eta");
}

}  // namespace

store::StudyRecord phase_map_study(const experiments::PhaseMap& parameters, int threads,
                                   const std::string& command) {
  const experiments::PhaseMap map = experiments::resolved(parameters);
  store::StudyRecord study = begin_study(kPhaseMap, map.seed, command);
  study.parameters = parameters_of(map);
  {
    ProgressLine progress("phase map");
    study.frames.push_back(
        experiments::phase_map(map, {threads, stop_token(), progress.callback()}));
  }
  {
    ProgressLine progress("critical lines");
    study.frames.push_back(
        studies::critical_lines(map, {threads, stop_token(), progress.callback()}));
  }
  return study;
}

std::vector<std::string> draw_phase_map(const store::StudyRecord& study, const OutputFile& stem) {
  std::vector<std::string> files;
  const auto draw = [&](report::PhaseQuantity quantity, const OutputFile& base) {
    report::draw(report::heatmap_of_phase_map(study, quantity), base);
    for (const OutputFile& file : report::both_files(base)) files.push_back(file.path.string());
  };
  draw(report::PhaseQuantity::contraction, stem);
  if (study.frame("phase_map").find_variable("jacobian_norm") != nullptr) {
    draw(report::PhaseQuantity::jacobian_norm, eta_stem(stem));
  }
  return files;
}

void require_phase_map_places(const experiments::PhaseMap& map, const OutputFile& stem) {
  report::require_both_files(stem);
  if (map.norm) report::require_both_files(eta_stem(stem));
}

}  // namespace dewpoint::cli
