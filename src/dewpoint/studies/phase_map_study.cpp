#include "dewpoint/studies/phase_map_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/phase_question.hpp"
#include "dewpoint/experiments/phase_replica.hpp"
#include "dewpoint/tokens/cloud.hpp"

namespace dewpoint::studies {
namespace {

using experiments::PhaseQuestion;
using experiments::Replicated;

std::vector<double> numbers_or(const question::Asked& asked, const char* name,
                               std::size_t otherwise) {
  std::vector<double> numbers = asked.numbers(name);
  return numbers.empty() ? std::vector{static_cast<double>(otherwise)} : numbers;
}

// The least that serves every cloud of the map; d = 0: the law's own.
double common_dimension(tokens::CloudParameters cloud, double d, const std::vector<double>& lengths,
                        const std::vector<double>& correlations) {
  std::size_t largest = 0;
  cloud.d = static_cast<std::size_t>(d);
  for (const double n : lengths) {
    for (const double rho : correlations) {
      cloud.n = static_cast<std::size_t>(n);
      cloud.rho = rho;
      largest = std::max(largest, tokens::resolved(cloud).d);
    }
  }
  return static_cast<double>(largest);
}

std::vector<double> known_correlations(const tokens::CloudParameters& cloud,
                                       std::vector<double> correlations) {
  const auto is_known = [&](double rho) { return rho <= cloud.rho_inner; };
  const bool some = tokens::has_clusters(cloud) && std::ranges::any_of(correlations, is_known);
  if (some) std::erase_if(correlations, std::not_fn(is_known));
  return correlations;
}

}  // namespace

StudyText phase_map_study(const question::Asked& asked, std::uint64_t seed,
                          std::shared_ptr<const Matrix<double>> rows) {
  const auto [question, replication] = asked.first<Replicated<PhaseQuestion>>();
  tokens::CloudParameters cloud = cloud_of(question.layer.cloud);
  cloud.rows = std::move(rows);
  const std::vector<double> lengths = numbers_or(asked, "n", cloud.n);
  const std::vector<double> correlations = known_correlations(cloud, asked.numbers("rho"));
  std::vector<double> dimensions = numbers_or(asked, "d", cloud.d);
  for (double& d : dimensions) d = common_dimension(cloud, d, lengths, correlations);
  std::ranges::sort(dimensions);
  dimensions.erase(std::ranges::unique(dimensions).begin(), dimensions.end());
  if (!tokens::has_correlation(cloud)) {
    throw Error(
        Code::bad_value,
        fmt::format("tokens: '{}' has no correlation rho to map over; use phase point", cloud.law));
  }
  StudyText study;
  study.experiment = "phase";
  study.seed = seed;
  study.precision.replicas = replication.replicas;
  if (replication.target_error) {
    const std::uint64_t fewest = std::max<std::uint64_t>(replication.replicas, kFewestForTarget);
    study.precision = {fewest, *replication.target_error, "contraction"};
  }
  study.fixed = asked.fixed;
  for (const char* name : {"n", "d", "rho", "gamma", "replicas", "target-error"}) {
    study.fixed.erase(name);
  }
  study.grid = {
      {"n", lengths}, {"d", dimensions}, {"rho", correlations}, {"gamma", asked.numbers("gamma")}};
  return study;
}

bool measures_norm(const StudyText& map) {
  return has(map.fixed, "eta") && word_of(map.fixed, "eta") != "none";
}

double work_of_map(const StudyText& map) {
  double work = 0.0;
  for (const double n : map.grid[0].values) {
    for (const double d : map.grid[1].values) {
      work += experiments::phase_cell_work(static_cast<std::size_t>(n), static_cast<std::size_t>(d),
                                           measures_norm(map));
    }
  }
  const std::size_t cells = map.grid[2].size() * map.grid[3].size();
  return work * static_cast<double>(cells) * static_cast<double>(map.precision.replicas);
}

}  // namespace dewpoint::studies
