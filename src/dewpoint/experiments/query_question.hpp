// What can be asked of one query over uniform keys on a sphere: one number of keys, one
// temperature. The sampler (query.hpp) takes many of each at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dewpoint/experiments/query.hpp"
#include "dewpoint/question/asked.hpp"

namespace dewpoint::experiments {

struct QueryQuestion {
  std::size_t d = 5;
  double n = 1e6;
  std::optional<double> theta;
  std::optional<double> beta;
  std::optional<double> edge;
  std::size_t draws = 4000;
  std::optional<std::size_t> top;
  std::optional<double> bound;
  std::size_t ranks = 8;
};

template <class Visitor>
void describe(Visitor& visit, QueryQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("d", q.d, in(2.0, 512.0), "dimension of query and keys, on the sphere S^(d-1)");
  visit("n", q.n, in(2.0, 1e300), "keys, rounded to a whole number; at most 1e145 where d is 2",
        grid("1e3,1e6,1e15"));
  visit("theta", q.theta, above(0.0), "multiple of beta* = (c_d n)^(2/(d-1))", grid("0.2,1,5"),
        otherwise("1"), live(1e-6, 1e6));
  visit("beta", q.beta, above(0.0, kLargestInverseTemperature), "inverse temperature itself",
        instead_of("theta"), listed);
  visit("edge", q.edge, above(0.0), "multiple of beta_edge = n F'(t_n), the unit for large d",
        instead_of("theta"), listed, live(1e-6, 1e6));
  visit("draws", q.draws, in(2.0, 1e8), "sets of keys to average over", fixed, live(20000.0));
  visit("top", q.top, in(1.0, 1e6), "nearest keys drawn one by one", fixed,
        otherwise("64; at least ranks, at most n"), live(4096.0));
  visit("bound", q.bound, above(0.0), "draw so many that the law of log Z is right to this", fixed,
        instead_of("top"));
  visit("ranks", q.ranks, in(1.0, 4096.0), "ordered weights that are kept", fixed, live(64.0));
}

/// Complete but for k, which top_count() knows: n whole, the temperature as β. Throws
/// Error{bad_value} for what the sampler does not take.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] QueryQuestion resolved(QueryQuestion question);

/// The same for the sampler, with one of each.
[[nodiscard]] Query query_of(const QueryQuestion& question);
/// All cells of a grid over n and temperature at once, whose fields are allowed and fit together.
/// Throws Error{bad_value} naming the field.
[[nodiscard]] Query query_of(const question::Asked& asked, std::uint64_t seed);

}  // namespace dewpoint::experiments
