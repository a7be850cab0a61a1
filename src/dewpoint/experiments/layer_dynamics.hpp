// Training of a small transformer with several layers and heads on a Markov chain: what becomes of
// focus, dilution and retraction, [FD, Figures 4 and 5].
//
// The model is that of transformer/shape.hpp, by transformer/network.hpp and Adam. Data and batches
// are those of training/layered_adam.hpp, which collapses models with one head and without value
// matrix further and trains the same path many times faster; here every shape is possible.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dewpoint/core/frame.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/run_context.hpp"
#include "dewpoint/training/chain.hpp"
#include "dewpoint/training/trainer.hpp"
#include "dewpoint/transformer/shape.hpp"

namespace dewpoint::experiments {

struct LayerQuestion {
  training::Chain chain;
  transformer::Shape shape;  // vocabulary is the chain's
  double deviation = 0.0;    // of the initial weights; 0: 1/m
  std::size_t context = 19;
  std::size_t sequences = 100'000;  // more of them are nearer to the chain itself
  std::size_t batch = 256;          // more of them make quieter, slower steps
  training::AdamOptions adam;
  std::uint64_t steps = 1500;
  std::uint64_t every = 10;  // between two looks; fewer find retractions more precisely
  std::uint64_t seed = 1;
};

/// Throws Error{bad_value} naming the option, its value and what is allowed.
void check(const LayerQuestion& question);

/// One look at a run. The context shows every token once, in their order.
struct LayerLook {
  double step = 0.0;
  double loss = 0.0;                      // over all sequences; with a causal mask a sample of them
  std::vector<double> norms;              // |W0_i|
  std::vector<Matrix<double>> attention;  // per layer and head, layer-major: d x d
};

/// The run of (question, replica): looks at multiples of `every` and at the end; fewer where it
/// diverges (a loss that is not finite, or above kDiverged times that of guessing). A stop on
/// request throws Error{stopped} between two steps.
///
///   Properties  (1) without value matrix, norm and mask, with one head and branch 1, it is the run
///                   of training::LayeredAdam<float> up to rounding: same sequences, batches and
///                   initial weights.
///               (2) equal bytes for any number of threads.
[[nodiscard]] std::vector<LayerLook> layer_run(const LayerQuestion& question, std::uint64_t replica,
                                               const RunContext& context);

/// Attention of the last (rarest) query to token 0 in a layer, mean over heads.
[[nodiscard]] double rare_focus(const LayerLook& look, std::size_t layer, std::size_t heads);

/// What a run comes to: the loss at the end; the deepest retraction of each token (0: none falls by
/// 10 %) and their mean over tokens after the first; the largest attention of the last (rarest)
/// query to token 0, mean over heads, per layer, and what is left of it at the end. Unknown where
/// there are no looks.
struct LayerNumbers {
  double final_loss = 0.0;
  double retraction = 0.0;
  std::vector<double> retractions;            // per token
  std::vector<double> focus_peak, focus_end;  // per layer
};
[[nodiscard]] LayerNumbers layer_numbers(std::span<const LayerLook> looks, std::size_t layers,
                                         std::size_t heads);

struct LayerRuns {
  transformer::Shape shape;
  std::vector<std::vector<LayerLook>> runs;  // by replica
};

/// Replicas 0, 1, ... of the question with each of these shapes, in their order. Runs are made side
/// by side, one thread each.
[[nodiscard]] std::vector<LayerRuns> layer_runs(const LayerQuestion& question,
                                                const std::vector<transformer::Shape>& shapes,
                                                std::size_t replicas, const RunContext& context);

/// Frame "layer runs" of the replicas of several shapes: dimensions model (labels: name_of(shape)),
/// run, step, token, layer (up to the most layers; beyond a model's own there are no samples):
/// "loss" (model, run, step), "norm" (model, run, step, token), "focus" (model, run, step, layer):
/// attention of the rarest query to token 0, mean over heads.
///
///   Domain      all runs look at the same steps, as far as they go.
[[nodiscard]] Frame layer_runs_frame(std::span<const LayerRuns> models);

}  // namespace dewpoint::experiments
