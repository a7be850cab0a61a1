// One replica of a phase diagram: one cloud of tokens, at one temperature or at many.
//
// phase.hpp averages replicas; whoever keeps the moments himself, or computes replicas on other
// machines, takes them from here one by one. Replica r is a function of (parameters, seed, r).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/experiments/phase_cell.hpp"
#include "dewpoint/tokens/equicorrelated.hpp"

namespace dewpoint::experiments {

/// What one cloud shows at one temperature.
struct PointSample {
  PhaseValues values;
  double row_sampling_error = 0.0;   // of λ, from the sampling of rows; 0: all rows
  double norm_sampling_error = 0.0;  // of η, from its probes; 0: exact; NaN: not asked for
  double effective_rank = kUnknown;  // of the first rank_rows outputs; NaN: not asked for
};

/// Whether only some of the rows are looked at.
[[nodiscard]] bool samples_rows(const PhasePoint& point);

/// The queries of one replica, increasing: all, or `rows` of them, drawn without replacement.
[[nodiscard]] std::vector<std::size_t> rows_of_replica(const PhasePoint& point,
                                                       std::uint64_t replica);

/// The effective rank (observables/effective_rank.hpp) of the first point.rank_rows of the outputs
/// base + deviations; NaN where it is not asked for.
[[nodiscard]] double rank_of_outputs(const PhasePoint& point, MatrixView<const double> deviations);

/// One replica of a point, which must be resolved.
[[nodiscard]] PointSample sample_point(const PhasePoint& point, std::uint64_t replica,
                                       const RunContext& context);

/// One replica of points that differ in ρ and γ alone: all ρ share their noise where the law allows
/// it, all γ their exponentials.
class MapReplica {
 public:
  /// `point` is resolved, of a plain layer on all rows of tokens with a correlation; its ρ and β do
  /// not matter.
  MapReplica(const PhasePoint& point, std::uint64_t replica);

  /// The cells at one ρ, for every γ.
  ///
  ///   Properties  (1) the bytes of a cell depend neither on the other γ nor on other ρ.
  [[nodiscard]] std::vector<PhaseValues> row(double rho, std::span<const double> gammas,
                                             const RunContext& context) const;

 private:
  [[nodiscard]] std::vector<PhaseValues> swept_cells(const TokenCloud& cloud, const GapSource& gaps,
                                                     std::span<const double> gammas,
                                                     const RunContext& context) const;
  [[nodiscard]] PhaseValues point_cell(double rho, double beta, const RunContext& context) const;
  [[nodiscard]] TokenCloud cloud_at(double rho) const;
  [[nodiscard]] std::unique_ptr<GapSource> gaps_at(double rho, const TokenCloud& cloud) const;

  PhasePoint point_;
  std::uint64_t replica_;
  std::unique_ptr<tokens::EquicorrelatedNoise> noise_;
};

/// Drawing a number of a token takes as long as so many floating-point operations of a product:
/// 33 ns against 45 Gflop/s per core (16 November 2026, n = 1e6, d = 64, 256 rows).
inline constexpr double kEmpiricalDrawWork = 1500.0;

/// Floating-point operations of one cell, by its matrix products: gaps and weights times tokens,
/// and for the Jacobian norm three more of that size and its diagonal.
[[nodiscard]] double phase_cell_work(std::size_t n, std::size_t d, bool norm);

/// The same for one replica of a point: all rows, or those that are sampled with the keys that are
/// drawn for them. `point` is resolved.
[[nodiscard]] double phase_point_work(const PhasePoint& point);

}  // namespace dewpoint::experiments
