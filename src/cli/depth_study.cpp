#include "cli/depth_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/studies/depth_theory.hpp"

namespace dewpoint::cli {
namespace {

std::vector<std::pair<std::string, std::string>> parameters_of(const experiments::PhaseDepth& p) {
  std::vector<std::pair<std::string, std::string>> parameters = {
      {"tokens", p.cloud.law},
      {"n", fmt::format("{}", p.cloud.n)},
      {"d", fmt::format("{}", p.cloud.d)},
      {"rho", fmt::format("{}", p.cloud.rho)},
      {"gamma", fmt::format("{}", fmt::join(p.gamma, ","))},
      {"layers", fmt::format("{}", p.layers)},
      {"rescale", p.rescaled ? "yes" : "no"},
      {"alpha", fmt::format("{}", p.residual)},
      {"layer", attention::name_of(p.form)},
      {"norm", question::word_for(p.cloud.norm)},
      {"common", question::word_for(p.cloud.common)},
      {"replicas", fmt::format("{}", p.replication.replicas)},
      {"eta", p.norm ? attention::name_of(p.norm->method) : "none"}};
  if (tokens::has_clusters(p.cloud)) {
    parameters.emplace_back("rho-inner", fmt::format("{}", p.cloud.rho_inner));
    parameters.emplace_back("cluster-size", fmt::format("{}", p.cloud.cluster_size));
  }
  if (p.end_to_end) {
    parameters.emplace_back("singular-values", fmt::format("{}", p.end_to_end->singular_values));
    parameters.emplace_back("probes", fmt::format("{}", p.end_to_end->probes));
  }
  return parameters;
}

}  // namespace

store::StudyRecord depth_study(const experiments::PhaseDepth& parameters, int threads,
                               const std::string& command) {
  const experiments::PhaseDepth p = experiments::resolved(parameters);
  store::StudyRecord study = begin_study(kPhaseDepth, p.seed, command);
  study.parameters = parameters_of(p);
  ProgressLine progress("phase depth");
  study.frames.push_back(experiments::phase_depth(p, {threads, stop_token(), progress.callback()}));
  if (auto theory = studies::depth_theory(p)) study.frames.push_back(std::move(*theory));
  return study;
}

}  // namespace dewpoint::cli
