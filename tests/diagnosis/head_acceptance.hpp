// Synthetic heads through diagnose_head: how often phase and law come out right.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/diagnosis/head_diagnosis.hpp"
#include "support/synthetic_heads.hpp"

namespace dewpoint::diagnosis {

/// Temperatures at which every head is judged, and what it is there.
inline constexpr std::array kPhases = {1.0, 0.4, 2.5};
inline constexpr std::array kExpectedPhases = {Phase::critical, Phase::diffuse, Phase::condensed};

struct Tally {
  int right = 0, wrong = 0, undecided = 0;
  [[nodiscard]] int total() const { return right + wrong + undecided; }

  template <class Answer>
  void count(const std::optional<Answer>& answer, bool is_right) {
    ++(!answer ? undecided : is_right ? right : wrong);
  }
};

struct AcceptedHead {
  HeadDiagnosis diagnosis;
  test::SyntheticHead truth;
};

inline AcceptedHead diagnose_synthetic(const std::string& law, std::size_t keys,
                                       std::size_t queries, std::uint64_t seed,
                                       std::size_t replicates) {
  AcceptedHead result{HeadDiagnosis(), test::synthetic_head(law, keys, queries, kPhases[0], seed)};
  HeadData data;
  data.scores = test::score_rows(result.truth);
  for (const ScoreRow& row : data.scores)
    data.rows.push_back(test::plain_head_row(row, {kPhases[1], kPhases[2]}));
  HeadOptions options;
  options.multipliers = {"1", "0.4", "2.5"};
  options.bins = octave_bins(keys, 64);
  options.bootstrap = {replicates, seed};
  result.diagnosis = diagnose_head(data, options);
  return result;
}

inline void count_phases(const HeadDiagnosis& head, Tally& tally) {
  for (std::size_t k = 0; k < kPhases.size(); ++k) {
    const PhaseVerdict& verdict = head.verdicts_without_first[k];
    tally.count(verdict.phase, verdict.phase == kExpectedPhases[k]);
  }
}

/// The law of thinning, the exponent of a uniform sphere within four of its deviations.
inline void count_law(const AcceptedHead& head, Tally& tally) {
  const std::optional<GrowthLaw> law =
      head.diagnosis.thinned ? head.diagnosis.thinned->verdict.law : std::nullopt;
  bool right = law && name_of(*law) == head.truth.growth;
  if (right && head.truth.exponent > 0.0) {
    const Estimate& exponent =
        head.diagnosis.thinned->verdict.fits[static_cast<std::size_t>(*law)].exponent;
    right = std::abs(exponent.mean - head.truth.exponent) < 4.0 * exponent.standard_error;
  }
  tally.count(law, right);
}

}  // namespace dewpoint::diagnosis
