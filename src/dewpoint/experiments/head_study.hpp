// All heads of a model, one after the other, out of a dump or out of a forward pass.
//
// Either way one layer is in memory at a time, and each head is measured as soon as it is met, so
// what is kept is what the callback keeps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "dewpoint/attention/head.hpp"
#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/experiments/heads.hpp"
#include "dewpoint/models/decoder.hpp"

namespace dewpoint::experiments {

/// Something that shows heads to a visitor, layer by layer; what it shows is valid during the call.
struct HeadSource {
  std::size_t heads = 0;  // how many there will be, for progress
  std::function<void(const models::HeadVisitor& visit, const RunContext& context)> show;
};

/// Heads of a dump, which must outlive the source. `show` reads the numbers and throws what
/// HeadDump::layer throws.
[[nodiscard]] HeadSource heads_of(const checkpoint::HeadDump& dump);

/// Heads that a decoder has over a text; decoder and tokens must outlive the source. Options may
/// bend the rotation or multiply the logits of the run; their own visitor is not used. Heads are
/// shown before a multiplier of the run: m = 1 stands for the logits without it, and a plan that
/// wants to see them with it names it among its multipliers.
[[nodiscard]] HeadSource heads_of(const models::Decoder& decoder, std::span<const int> tokens,
                                  const models::ForwardOptions& options = {});

/// Head h of a layer in memory, under the mask, scale and cap of the dump; views into the layer.
[[nodiscard]] attention::Head head_of(const checkpoint::DumpedLayer& layer,
                                      const checkpoint::DumpFacts& facts, std::size_t head);

using HeadCallback =
    std::function<void(std::size_t layer, std::size_t head, MeasuredHead&& measured)>;

/// Measures every head and hands it on, in the order of the source, from the calling thread.
/// Progress counts heads.
///
///   Properties  (1) equal bytes for any number of threads.
void measure_heads(const HeadSource& source, const HeadPlan& plan, const HeadCallback& callback,
                   const RunContext& context = {});

/// measure_heads of heads_of.
void measure_dump(const checkpoint::HeadDump& dump, const HeadPlan& plan,
                  const HeadCallback& callback, const RunContext& context = {});
void measure_decoder(const models::Decoder& decoder, std::span<const int> tokens,
                     const models::ForwardOptions& options, const HeadPlan& plan,
                     const HeadCallback& callback, const RunContext& context = {});

/// The largest n of any query, the end of the last bin of a plan.
[[nodiscard]] std::size_t longest_context(const checkpoint::HeadDump& dump);

}  // namespace dewpoint::experiments
