// What can be asked of softmax over Gaussian scores: one number of scores, one load, at most one
// planted key. The sampler (condense.hpp) takes many of each at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "dewpoint/experiments/condense.hpp"
#include "dewpoint/question/asked.hpp"

namespace dewpoint::experiments {

struct CondenseQuestion {
  double n = 1e6;
  std::optional<double> t;
  std::optional<double> beta;
  std::optional<double> signal;
  std::optional<double> planted;
  double sigma = 1.0;
  std::optional<std::size_t> keys_dimension;
  std::optional<bool> unscaled;
  std::size_t draws = 2000;
  std::optional<std::size_t> top;
  std::optional<double> bound;
};

template <class Visitor>
void describe(Visitor& visit, CondenseQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("n", q.n, in(2.0, 1e300), "scores per query, rounded to a whole number",
        grid("1e2,1e6,1e30"));
  visit("t", q.t, above(0.0, 1000.0), "load beta/beta_c: the random energy model freezes at 1",
        grid("0.2:3:15"), otherwise("1"), live(1e-6, 100.0));
  visit("beta", q.beta, above(0.0), "inverse temperature itself", instead_of("t"), listed);
  visit("signal", q.signal, in(-1e6, 1e6), "plant a key of score s sigma sqrt(2 log n)", listed,
        live(-10.0, 10.0));
  visit("planted", q.planted, in(-1e100, 1e100), "plant a key of this score", instead_of("signal"),
        listed, live(-1e6, 1e6));
  visit("sigma", q.sigma, in(1e-50, 1e50), "standard deviation of a score");
  visit("keys-dimension", q.keys_dimension, in(1.0, 1e6),
        "scores <q,k>/sqrt(d) of Gaussian keys and a Gaussian query, new per draw, in this d");
  visit("unscaled", q.unscaled, "without the factor 1/sqrt(d)", only_with("keys-dimension"));
  visit("draws", q.draws, in(2.0, 1e7), "rows of scores to average over", fixed, live(20000.0));
  visit("top", q.top, in(1.0, 1e6), "largest scores drawn one by one", fixed,
        otherwise("as many as bound asks for"));
  visit("bound", q.bound, above(0.0, 1.0), "draw so many that the law of log Z is right to this",
        fixed, instead_of("top"), otherwise("1e-3"), live(1e-6, 1.0));
}

/// Complete: t for beta, the score of a planted key for its signal, a bound where no top is given;
/// `unscaled` only with keys. Throws Error{bad_value} for a load above 1000 and a top beyond n.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] CondenseQuestion resolved(CondenseQuestion question);

/// The same for the sampler, with one of each.
[[nodiscard]] Condense condense_of(const CondenseQuestion& question);
/// All cells of a grid over n, load and key at once, whose fields are allowed and fit together.
/// Throws Error{bad_value} naming the field.
[[nodiscard]] Condense condense_of(const question::Asked& asked, std::uint64_t seed);

}  // namespace dewpoint::experiments
