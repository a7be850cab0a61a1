// What runs with several layers come to: numbers and frames.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/experiments/layer_dynamics.hpp"
#include "dewpoint/experiments/retraction.hpp"

namespace dewpoint::experiments {
namespace {

// ---- frames -------------------------------------------------------------------------------------

std::vector<double> counted(std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

// Those of the longest run: the others are as far along or ended earlier.
std::vector<double> steps_of(std::span<const LayerRuns> models) {
  std::vector<double> steps;
  for (const LayerRuns& model : models) {
    for (const std::vector<LayerLook>& run : model.runs) {
      for (std::size_t i = steps.size(); i < run.size(); ++i) steps.push_back(run[i].step);
    }
  }
  return steps;
}

void add_dimensions(std::span<const LayerRuns> models, Frame& frame) {
  std::vector<std::string> names;
  std::size_t runs = 0, tokens = 0, layers = 0;
  for (const LayerRuns& model : models) {
    names.push_back(transformer::name_of(model.shape));
    runs = std::max(runs, model.runs.size());
    tokens = std::max(tokens, model.shape.vocabulary);
    layers = std::max(layers, model.shape.layers);
  }
  frame.add_labelled_dimension("model", std::move(names));
  frame.add_dimension("run", counted(runs));
  frame.add_dimension("step", steps_of(models));
  frame.add_dimension("token", counted(tokens));
  frame.add_dimension("layer", counted(layers));
}

// Calls fill(look, model, position of the look in the frame) for all looks.
template <class Fill>
void each_look(std::span<const LayerRuns> models, const Fill& fill) {
  for (std::size_t model = 0; model < models.size(); ++model) {
    const LayerRuns& of = models[model];
    for (std::size_t run = 0; run < of.runs.size(); ++run) {
      for (std::size_t step = 0; step < of.runs[run].size(); ++step) {
        fill(of.runs[run][step], of, std::vector<std::size_t>{model, run, step});
      }
    }
  }
}

void set(Frame& frame, const char* name, const std::vector<std::size_t>& position, double value) {
  Variable& variable = frame.variable(name);
  variable.cells[frame.cell_index(variable, position)] = {value, 0.0, 1};
}

}  // namespace

double rare_focus(const LayerLook& look, std::size_t layer, std::size_t heads) {
  double sum = 0.0;
  for (std::size_t head = 0; head < heads; ++head) {
    const Matrix<double>& attention = look.attention[layer * heads + head];
    sum += attention(attention.rows() - 1, 0);
  }
  return sum / static_cast<double>(heads);
}

LayerNumbers layer_numbers(std::span<const LayerLook> looks, std::size_t layers,
                           std::size_t heads) {
  if (looks.empty()) {
    return {.final_loss = kUnknown,
            .retraction = kUnknown,
            .retractions = {},
            .focus_peak = std::vector<double>(layers, kUnknown),
            .focus_end = std::vector<double>(layers, kUnknown)};
  }
  DEWPOINT_EXPECTS(looks.front().attention.size() == layers * heads);
  LayerNumbers numbers;
  numbers.final_loss = looks.back().loss;
  const std::size_t tokens = looks.front().norms.size();
  for (std::size_t token = 0; token < tokens; ++token) {
    const auto deepest = deepest_retraction(looks, token);
    numbers.retractions.push_back(deepest ? deepest->depth() : 0.0);
  }
  numbers.retraction =
      std::accumulate(numbers.retractions.begin() + 1, numbers.retractions.end(), 0.0) /
      static_cast<double>(tokens - 1);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    double peak = 0.0;
    for (const LayerLook& look : looks) peak = std::max(peak, rare_focus(look, layer, heads));
    numbers.focus_peak.push_back(peak);
    numbers.focus_end.push_back(rare_focus(looks.back(), layer, heads));
  }
  return numbers;
}

Frame layer_runs_frame(std::span<const LayerRuns> models) {
  DEWPOINT_EXPECTS(!models.empty());
  Frame frame("layer runs");
  add_dimensions(models, frame);
  frame.add_variable("loss", {"model", "run", "step"});
  frame.add_variable("norm", {"model", "run", "step", "token"});
  frame.add_variable("focus", {"model", "run", "step", "layer"});
  each_look(models,
            [&](const LayerLook& look, const LayerRuns& model, std::vector<std::size_t> position) {
              set(frame, "loss", position, look.loss);
              position.push_back(0);
              for (std::size_t token = 0; token < look.norms.size(); ++token) {
                position.back() = token;
                set(frame, "norm", position, look.norms[token]);
              }
              for (std::size_t layer = 0; layer < model.shape.layers; ++layer) {
                position.back() = layer;
                set(frame, "focus", position, rare_focus(look, layer, model.shape.heads));
              }
            });
  return frame;
}

}  // namespace dewpoint::experiments
