// Small studies with everything that is hard to export. exports_test.py knows the same numbers by
// heart: whoever changes one changes the other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "dewpoint/store/study.hpp"

namespace dewpoint::test {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kTiniest = std::numeric_limits<double>::denorm_min();

inline store::StudyRecord study_of(std::vector<Frame> frames) {
  return {"phase",
          {{"tokens", "equicorrelated"}, {"note", "a \"b\", c"}},
          std::numeric_limits<std::uint64_t>::max(),
          "0.1.0+a1b2c3d4e5",
          "dewpoint run phase.toml",
          "2026-01-31T12:00:00Z",
          std::move(frames)};
}

/// Variables over (n, law), over (n, law, rank), over (n) and over nothing. The last of the laws
/// with n = 128 has samples without a mean; n = 512 with the second was never computed, and with
/// the third only predicted.
inline Frame phase_frame() {
  Frame frame("phase");
  frame.add_dimension("n", {128.0, 512.0});
  frame.add_labelled_dimension("law", {"plain", "a, b", "say \"dew\""});
  frame.add_dimension("rank", {1.0, 2.0});
  frame.add_variable("top_count", {"n"}).cells = {{3.0, 0.5, 16}, {7.25, 0.25, 8}};
  frame.add_variable("contraction", {"n", "law"}).cells = {
      {0.1, 0.01, 16}, {-0.0, 0.0, 16}, {kUnknown, kUnknown, 16}, {1e-300, kTiniest, 1}, {}, {}};
  frame.add_variable("beta_dew", {"n", "law"}).cells = {{kInfinity, kUnknown, 16},
                                                        {-kInfinity, kInfinity, 16},
                                                        {2.0, 1.0 / 3.0, 16},
                                                        {1e22, kUnknown, 1},
                                                        {},
                                                        {}};
  frame.add_variable("contraction_theory", {"n", "law"}).cells = {
      {0.125, 0.0, 0}, {-1.5, 0.0, 0}, {}, {0.3, 0.0, 0}, {}, {0.7, 0.0, 0}};
  auto& weight = frame.add_variable("weight", {"n", "law", "rank"}).cells;
  for (std::size_t k = 0; k < 4; ++k) weight[k] = {1.0 / static_cast<double>(k + 1), 0.5, k + 1};
  frame.add_variable("total").cells = {{42.0, kUnknown, 1}};
  return frame;
}

/// A curve of theory: values without errors and samples.
inline Frame critical_frame() {
  Frame frame("critical_lines");
  frame.add_dimension("rho", {0.0, 0.5, 0.75});
  frame.add_variable("simplex_gamma", {"rho"}).cells = {
      {1.0, 0.0, 0}, {2.0, 0.0, 0}, {4.0, 0.0, 0}};
  return frame;
}

/// Names that clash, that no netCDF file allows, and that are not UTF-8; axes in another order; a
/// dimension without a place.
inline Frame odd_frame() {
  Frame frame("odd/frame");
  frame.add_dimension("a/b", {1.0, 2.0});
  frame.add_labelled_dimension("\xce\xbc", {"\xc3\xa9t\xc3\xa9", "\xff", ""});
  frame.add_dimension("nowhere", {});
  frame.add_variable("a/b", {"a/b"}).cells = {{1.0, 0.5, 2}, {2.0, 0.5, 3}};
  frame.add_variable("2x", {"a/b", "\xce\xbc"}).cells = {
      {0.0, 0.0, 1}, {1.0, 0.0, 1}, {2.0, 0.0, 1}, {3.0, 0.0, 1}, {4.0, 0.0, 1}, {5.0, 0.0, 1}};
  frame.add_variable("y", {"\xce\xbc", "a/b"}).cells = {{0.0, 0.0, 1},  {10.0, 0.0, 1},
                                                        {20.0, 0.0, 1}, {30.0, 0.0, 1},
                                                        {40.0, 0.0, 1}, {50.0, 0.0, 2}};
  frame.add_variable("y_se", {"\xce\xbc", "a/b"});
  frame.add_variable("none", {"nowhere"});
  return frame;
}

}  // namespace dewpoint::test
