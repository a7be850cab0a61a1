#include "dewpoint/experiments/head_capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "dewpoint/checkpoint/head_dump_writer.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/head_study.hpp"
#include "dewpoint/models/layer_scheme.hpp"

namespace dewpoint::experiments {
namespace {

// Keys that a mask ever shows to a query; 0: all before it.
std::size_t window_of(const attention::Mask& mask) {
  constexpr std::size_t far = std::size_t{1} << 62;
  const std::size_t seen = mask.visible(far, far + 1).size();
  return seen > far ? 0 : seen;
}

using Schemes = std::vector<models::LayerScheme>;

double applied_multiplier(const Schemes& schemes, std::size_t dimension) {
  const auto of_layer = [&](const models::LayerScheme& scheme) {
    const models::Rotation& rotation = scheme.rotation;
    return rotation.rotary_dimension() == dimension ? rotation.factor * rotation.factor : 1.0;
  };
  const double first = of_layer(schemes.front());
  const bool alike = std::all_of(schemes.begin(), schemes.end(),
                                 [&](const auto& scheme) { return of_layer(scheme) == first; });
  return alike ? first : 1.0;
}

bool turns(const Schemes& schemes) {
  return std::any_of(schemes.begin(), schemes.end(), [](const models::LayerScheme& scheme) {
    return !scheme.rotation.frequencies.empty();
  });
}

checkpoint::DumpFacts facts_of(const attention::Head& head, const Schemes& schemes,
                               const CaptureNotes& notes) {
  checkpoint::DumpFacts facts;
  facts.scale = head.scale;
  facts.m_applied = applied_multiplier(schemes, head.keys.cols());
  facts.rope = turns(schemes) ? "post" : "none";
  facts.causal = !head.mask.hides_nothing();
  facts.window = window_of(head.mask);
  facts.softcap = head.softcap;
  facts.model = notes.model;
  facts.text_sha256 = notes.text_sha256;
  return facts;
}

checkpoint::DumpPlan plan_of(const models::Decoder& decoder, const attention::Head& head,
                             checkpoint::ElementType type) {
  checkpoint::DumpPlan plan;
  plan.layers = decoder.config().layers;
  plan.shape.heads = decoder.config().attention.heads;
  plan.shape.key_heads = decoder.config().attention.key_heads;
  plan.shape.queries = head.queries.rows();
  plan.shape.keys = head.keys.rows();
  plan.shape.dimension = head.keys.cols();
  plan.shape.first_position = head.first_position;
  plan.shape.sinks = head.sink.has_value();
  plan.type = type;
  return plan;
}

// A dump has one mask, one scale and one cap.
class Conformity {
 public:
  explicit Conformity(const attention::Head& first)
      : mask_(first.mask), scale_(first.scale), softcap_(first.softcap) {}

  void check(std::size_t layer, const attention::Head& head) const {
    if (head.mask == mask_ && head.scale == scale_ && head.softcap == softcap_) return;
    throw Error(Code::bad_value,
                fmt::format("dump: found mask {}, scale {} and cap {} in layer {}, allowed: those "
                            "of layer 0, mask {}, scale {} and cap {}",
                            head.mask.name(), head.scale, head.softcap, layer, mask_.name(), scale_,
                            softcap_));
  }

 private:
  attention::Mask mask_;
  double scale_, softcap_;
};

}  // namespace

void capture_heads(const models::Decoder& decoder, std::span<const int> tokens,
                   const models::ForwardOptions& options, const CaptureNotes& notes,
                   checkpoint::ElementType type, const OutputFile& output,
                   const RunContext& context) {
  std::optional<checkpoint::HeadDumpWriter> writer;
  std::optional<Conformity> conformity;
  const Schemes schemes = models::layer_schemes(decoder.config(), options.rope, tokens.size());
  heads_of(decoder, tokens, options)
      .show(
          [&](std::size_t layer, std::size_t head, const attention::Head& scores) {
            if (!writer) {
              writer.emplace(output, plan_of(decoder, scores, type),
                             facts_of(scores, schemes, notes));
              conformity.emplace(scores);
            }
            conformity->check(layer, scores);
            writer->write(layer, head, scores.queries, scores.keys, scores.sink);
          },
          context);
  DEWPOINT_EXPECTS(writer.has_value());
  writer->finish();
}

}  // namespace dewpoint::experiments
