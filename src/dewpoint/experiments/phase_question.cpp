#include "dewpoint/experiments/phase_question.hpp"

#include <utility>

namespace dewpoint::experiments {

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

}  // namespace dewpoint::experiments
