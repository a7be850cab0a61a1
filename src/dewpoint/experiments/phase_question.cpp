#include "dewpoint/experiments/phase_question.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace dewpoint::experiments {
namespace {

std::vector<std::size_t> counts(const question::Asked& asked, const char* name,
                                std::size_t otherwise) {
  std::vector<std::size_t> all;
  for (const double number : asked.numbers(name)) all.push_back(static_cast<std::size_t>(number));
  return all.empty() ? std::vector{otherwise} : all;
}

}  // namespace

PhaseQuestion completed(PhaseQuestion q) {
  q.layer = completed(std::move(q.layer));
  (void)resolved(phase_point_of(q, 0));
  return q;
}

PhaseQuestion resolved(PhaseQuestion q) {
  q.layer = resolved(std::move(q.layer));
  (void)resolved(phase_point_of(q, 0));
  return q;
}

PhasePoint phase_point_of(const PhaseQuestion& q, std::uint64_t seed) {
  PhasePoint p;
  p.cloud = cloud_of(q.layer.cloud);
  p.inverse_temperature = inverse_temperature_of(q.layer);
  p.residual = q.layer.alpha;
  p.rows = q.rows;
  p.form = form_of(q.layer.form);
  p.norm = norm_of(q.layer.norm);
  p.seed = seed;
  return p;
}

const std::vector<question::Field>& map_fields() {
  static const std::vector<question::Field> fields =
      with_lists(without(question::fields_of<Replicated<PhaseQuestion>>(),
                         {"c", "beta", "law", "strength", "rows"}),
                 {{"n", ""}, {"d", ""}, {"rho", "0:0.95:20"}, {"gamma", "0.25:8:32"}});
  return fields;
}

PhaseMap phase_map_of(const question::Asked& asked, std::uint64_t seed,
                      std::shared_ptr<const Matrix<double>> rows) {
  const auto q = asked.first<Replicated<PhaseQuestion>>();
  const LayerQuestion& layer = q.question.layer;
  PhaseMap map;
  map.cloud = cloud_of(layer.cloud);
  map.cloud.rows = std::move(rows);
  map.n = counts(asked, "n", layer.cloud.n);
  map.d = counts(asked, "d", layer.cloud.d);
  map.rho = asked.numbers("rho");
  map.gamma = asked.numbers("gamma");
  map.residual = layer.alpha;
  map.form = form_of(layer.form);
  map.norm = norm_of(layer.norm);
  map.replication = replication_of(q.replication);
  map.seed = seed;
  if (tokens::has_clusters(map.cloud)) {
    const auto is_known = [&](double rho) { return rho <= map.cloud.rho_inner; };
    if (std::ranges::any_of(map.rho, is_known)) std::erase_if(map.rho, std::not_fn(is_known));
  }
  return resolved(map);
}

}  // namespace dewpoint::experiments
