#include "dewpoint/experiments/query_question.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/experiments/option_checks.hpp"

namespace dewpoint::experiments {
namespace {

TemperatureUnit unit_of(const QueryQuestion& q) {
  if (q.beta) return TemperatureUnit::beta;
  return q.edge ? TemperatureUnit::edge : TemperatureUnit::theta;
}

double temperature_of(const QueryQuestion& q) {
  if (q.beta) return *q.beta;
  return q.edge ? *q.edge : q.theta.value_or(1.0);
}

}  // namespace

QueryQuestion resolved(QueryQuestion q) {
  q.n = whole_length(q.n);
  const Query query = resolved(query_of(q));
  q.beta = inverse_temperature(query.unit, query.temperatures[0],
                               query_scales(query.dimension, std::log(q.n)));
  q.theta.reset();
  q.edge.reset();
  return q;
}

Query query_of(const QueryQuestion& q) {
  Query query;
  query.dimension = static_cast<int>(q.d);
  query.n = {q.n};
  query.unit = unit_of(q);
  query.temperatures = {temperature_of(q)};
  query.draws = q.draws;
  query.top = q.top.value_or(0);
  query.bound = q.bound.value_or(0.0);
  query.ranks = q.ranks;
  return query;
}

Query query_of(const question::Asked& asked, std::uint64_t seed) {
  Query all = query_of(asked.first<QueryQuestion>());
  all.seed = seed;
  all.n = asked.numbers("n");
  std::transform(all.n.begin(), all.n.end(), all.n.begin(), whole_length);
  all.temperatures = asked.numbers(name_of(all.unit));
  return resolved(all);
}

}  // namespace dewpoint::experiments
