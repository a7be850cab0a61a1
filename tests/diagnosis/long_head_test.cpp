// The promise of diagnose_head: 204 synthetic heads of 16384 keys and 256 queries, 34 of each law,
// every one at three temperatures.
//
// Allowed are 5 % of wrong and 20 % of undecided answers. A law whose true rates are half of that
// passes: of 34 answers with a rate of 2.5 % four or more are wrong once in 100 runs, which is why
// the bound on laws counts all 204 together, and per law only the 20 % are asked for.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "diagnosis/head_acceptance.hpp"
#include "support/test_seed.hpp"

namespace dewpoint::diagnosis {
namespace {

TEST(SyntheticHeads, HaveTheirPhaseAndTheirLaw) {
  constexpr std::uint64_t heads = 34;
  Tally phases, laws;
  for (const std::string& law : test::synthetic_laws()) {
    Tally one;
    for (std::uint64_t head = 0; head < heads; ++head) {
      const AcceptedHead result =
          diagnose_synthetic(law, 16384, 256, test::seed() * 1000 + head, 200);
      count_phases(result.diagnosis, phases);
      count_law(result, one);
    }
    RecordProperty(law + " wrong", one.wrong);
    RecordProperty(law + " undecided", one.undecided);
    EXPECT_LE(one.undecided, 0.2 * one.total()) << law;
    laws.wrong += one.wrong;
    laws.undecided += one.undecided;
    laws.right += one.right;
  }
  RecordProperty("phases wrong", phases.wrong);
  RecordProperty("phases undecided", phases.undecided);
  EXPECT_LE(phases.wrong, 0.05 * phases.total());
  EXPECT_LE(phases.undecided, 0.2 * phases.total());
  EXPECT_LE(laws.wrong, 0.05 * laws.total());
}

}  // namespace
}  // namespace dewpoint::diagnosis
