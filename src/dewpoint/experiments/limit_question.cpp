#include "dewpoint/experiments/limit_question.hpp"

#include <fmt/format.h>

#include "dewpoint/experiments/option_checks.hpp"

namespace dewpoint::experiments {
namespace {

constexpr double kMostWeights = 1e8;  // held in memory, draws times top

}  // namespace

LimitQuestion resolved(LimitQuestion q) {
  if (q.d) q.law.exponent = 0.5 * (static_cast<double>(*q.d) - 1.0);
  q.d.reset();
  const auto draws = static_cast<double>(q.law.draws), top = static_cast<double>(q.law.top);
  require_option(draws * top <= kMostWeights, "draws", draws,
                 fmt::format("at most {:g} weights over top = {}", kMostWeights, q.law.top));
  require_option(q.law.ranks <= q.law.top, "ranks", static_cast<double>(q.law.ranks),
                 fmt::format("at most top = {}", q.law.top));
  return q;
}

}  // namespace dewpoint::experiments
