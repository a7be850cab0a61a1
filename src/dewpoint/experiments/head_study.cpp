#include "dewpoint/experiments/head_study.hpp"

#include <algorithm>
#include <utility>

namespace dewpoint::experiments {
namespace {

attention::Mask mask_of(const checkpoint::DumpFacts& facts) {
  if (!facts.causal) return attention::Mask::none();
  return facts.window == 0 ? attention::Mask::causal() : attention::Mask::window(facts.window);
}

void show_dump(const checkpoint::HeadDump& dump, const models::HeadVisitor& visit,
               const RunContext& context) {
  for (const std::size_t number : dump.layers()) {
    context.throw_if_stopped();
    const checkpoint::DumpedLayer layer = dump.layer(number);
    for (std::size_t head = 0; head < layer.queries.size(); ++head) {
      visit(number, head, head_of(layer, dump.facts(), head));
    }
  }
}

}  // namespace

HeadSource heads_of(const checkpoint::HeadDump& dump) {
  HeadSource source;
  for (const checkpoint::DumpShape& shape : dump.shapes()) source.heads += shape.heads;
  source.show = [&dump](const models::HeadVisitor& visit, const RunContext& context) {
    show_dump(dump, visit, context);
  };
  return source;
}

HeadSource heads_of(const models::Decoder& decoder, std::span<const int> tokens,
                    const models::ForwardOptions& options) {
  HeadSource source;
  source.heads = decoder.config().layers * decoder.config().attention.heads;
  source.show = [&decoder, tokens, options](const models::HeadVisitor& visit,
                                            const RunContext& context) {
    models::ForwardOptions watched = options;
    watched.visit = visit;
    watched.attend = false;
    static_cast<void>(decoder.hidden_states(tokens, watched, {context.threads, context.stop, {}}));
  };
  return source;
}

attention::Head head_of(const checkpoint::DumpedLayer& layer, const checkpoint::DumpFacts& facts,
                        std::size_t head) {
  attention::Head result;
  result.queries = layer.queries[head];
  result.keys = layer.keys[layer.key_head(head)];
  if (!layer.values.empty()) result.values = layer.values[layer.key_head(head)];
  result.first_position = layer.first_position;
  result.mask = mask_of(facts);
  result.scale = facts.scale;
  result.softcap = facts.softcap;
  if (!layer.sinks.empty()) result.sink = layer.sinks[head];
  return result;
}

void measure_heads(const HeadSource& source, const HeadPlan& plan, const HeadCallback& callback,
                   const RunContext& context) {
  const RunContext quiet{context.threads, context.stop, {}};
  ProgressTally tally(context.progress, static_cast<double>(source.heads));
  source.show(
      [&](std::size_t layer, std::size_t head, const attention::Head& scores) {
        context.throw_if_stopped();
        callback(layer, head, measure_head(scores, plan, quiet));
        tally.finish(1.0);
      },
      quiet);
}

void measure_dump(const checkpoint::HeadDump& dump, const HeadPlan& plan,
                  const HeadCallback& callback, const RunContext& context) {
  measure_heads(heads_of(dump), plan, callback, context);
}

void measure_decoder(const models::Decoder& decoder, std::span<const int> tokens,
                     const models::ForwardOptions& options, const HeadPlan& plan,
                     const HeadCallback& callback, const RunContext& context) {
  measure_heads(heads_of(decoder, tokens, options), plan, callback, context);
}

std::size_t longest_context(const checkpoint::HeadDump& dump) {
  std::size_t longest = 0;
  for (const checkpoint::DumpShape& shape : dump.shapes()) {
    const std::size_t last = shape.first_position + shape.queries - 1;
    longest = std::max(longest, mask_of(dump.facts()).visible(last, shape.keys).size());
  }
  return longest;
}

}  // namespace dewpoint::experiments
