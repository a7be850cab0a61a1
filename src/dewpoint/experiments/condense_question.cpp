#include "dewpoint/experiments/condense_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/option_checks.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kStandardBound = 1e-3;
constexpr double kMostLoad = 1000.0;

void resolve_load(CondenseQuestion& q) {
  if (q.beta) {
    q.t = *q.beta / inverse_temperature(condense_of(q), q.n, 1.0);
    if (!(*q.t > 0.0 && *q.t <= kMostLoad)) {
      throw Error(Code::bad_value, fmt::format("beta: found {:g}, which is the load {:g}; allowed: "
                                               "a load above 0, at most {:g}",
                                               *q.beta, *q.t, kMostLoad));
    }
    q.beta.reset();
  }
  q.t = q.t.value_or(1.0);
}

void resolve_top(CondenseQuestion& q) {
  if (!q.top) {
    q.bound = q.bound.value_or(kStandardBound);
    return;
  }
  const double least = std::min(q.n, static_cast<double>(kOrderedWeights));
  const auto top = static_cast<double>(*q.top);
  if (top >= least && top <= q.n) return;
  throw Error(Code::bad_value, fmt::format("top: found {}; allowed: {:g} to {:g} of {:g} scores",
                                           *q.top, least, std::min(q.n, 1e6), q.n));
}

}  // namespace

CondenseQuestion resolved(CondenseQuestion q) {
  q.n = whole_length(q.n);
  if (!q.keys_dimension) {
    q.unscaled.reset();
  } else {
    q.unscaled = q.unscaled.value_or(false);
  }
  resolve_load(q);
  if (q.signal) {
    q.planted = planted_score(condense_of(q), q.n, 0);
    q.signal.reset();
  }
  resolve_top(q);
  return q;
}

Condense condense_of(const CondenseQuestion& q) {
  Condense condense;
  condense.n = {q.n};
  condense.loads = {q.t.value_or(1.0)};
  if (q.signal) condense.signals = {*q.signal};
  if (q.planted) condense.planted = {*q.planted};
  condense.deviation = q.sigma;
  if (q.keys_dimension) {
    condense.query_keys = QueryKeys{*q.keys_dimension, !q.unscaled.value_or(false)};
  }
  condense.draws = q.draws;
  condense.top = q.top.value_or(0);
  condense.bound = q.bound.value_or(kStandardBound);
  return condense;
}

Condense condense_of(const question::Asked& asked, std::uint64_t seed) {
  const auto first = asked.first<CondenseQuestion>();
  Condense all = condense_of(first);
  all.seed = seed;
  all.n = asked.numbers("n");
  std::transform(all.n.begin(), all.n.end(), all.n.begin(), whole_length);
  if (first.beta && all.n.size() > 1) {
    throw Error(Code::bad_value, "beta: several n have several loads; allowed: one n, or t");
  }
  const double unit = first.beta ? inverse_temperature(all, first.n, 1.0) : 1.0;
  all.loads = asked.numbers(first.beta ? "beta" : "t");
  for (double& load : all.loads) load /= unit;
  all.signals = asked.numbers("signal");
  all.planted = asked.numbers("planted");
  check(all);
  return all;
}

}  // namespace dewpoint::experiments
