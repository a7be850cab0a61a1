#include "dewpoint/experiments/depth_question.hpp"

#include <utility>

namespace dewpoint::experiments {
namespace {

// Whether the product of the Jacobians is looked at.
bool is_end_to_end(const DepthQuestion& q) {
  return q.singular_values > 0 || q.end_to_end.value_or(false);
}

DepthQuestion checked(DepthQuestion q) {
  const bool end_to_end = is_end_to_end(q);
  if (q.singular_values > 0 || !end_to_end) q.end_to_end.reset();
  if (!end_to_end) q.probes.reset();
  (void)resolved(phase_depth_of(q, 0));
  return q;
}

}  // namespace

DepthQuestion completed(DepthQuestion q) {
  q.layer = completed(std::move(q.layer), is_end_to_end(q));
  return checked(std::move(q));
}

DepthQuestion resolved(DepthQuestion q) {
  q.layer = resolved(std::move(q.layer), is_end_to_end(q));
  return checked(std::move(q));
}

PhaseDepth phase_depth_of(const DepthQuestion& q, std::uint64_t seed) {
  PhaseDepth p;
  p.cloud = cloud_of(q.layer.cloud);
  p.gamma = {gamma_of(q.layer)};
  p.rescaled = q.rescale;
  p.residual = q.layer.alpha;
  p.form = form_of(q.layer.form);
  p.layers = q.layers;
  p.norm = norm_of(q.layer.norm);
  if (is_end_to_end(q)) {
    p.end_to_end = EndToEnd{q.singular_values, q.probes.value_or(EndToEnd{}.probes)};
  }
  p.seed = seed;
  return p;
}

const std::vector<question::Field>& depth_fields() {
  static const std::vector<question::Field> fields =
      with_lists(question::fields_of<Replicated<DepthQuestion>>(),
                 {{"gamma", "1.6,2,2.4"}, {"c", ""}, {"beta", ""}});
  return fields;
}

}  // namespace dewpoint::experiments
