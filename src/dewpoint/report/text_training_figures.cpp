#include "dewpoint/report/text_training_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "dewpoint/core/error.hpp"
#include "dewpoint/core/unknown.hpp"
#include "dewpoint/report/study_frames.hpp"
#include "dewpoint/report/training_run.hpp"

namespace dewpoint::report {
namespace {

// Tokens have colours; what is of no token has none.
constexpr Colour kInkBlack = 0x000000;
constexpr Colour kInkGrey = 0x8c8c8c;
const Range kWholeShare{-0.03, 1.03};

const Names& labels_of(const Frame& frame, const std::string& dimension) {
  const Dimension& found = frame.dimension(dimension);
  if (found.labels.empty()) {
    throw Error(Code::bad_value, fmt::format("dimension '{}' of the frame '{}' has no names",
                                             dimension, frame.name()));
  }
  return found.labels;
}

// Punctuation alone would look like dust.
std::string quoted(const std::string& token) { return "“" + token + "”"; }

// ---- a run ----------------------------------------------------------------------------------

/// The frame, its steps and its tokens.
class TextRunView {
 public:
  explicit TextRunView(const store::StudyRecord& study)
      : study_(&study),
        frame_(&study.frame("text run")),
        steps_(&increasing(*frame_, "step")),
        keys_(&labels_of(*frame_, "key")) {
    if (labels_of(*frame_, "query") != *keys_) {
      throw Error(Code::bad_value, "frame 'text run' has other queries than keys");
    }
    if (keys_->size() < 2) throw Error(Code::bad_value, "frame 'text run' has a single token");
  }

  [[nodiscard]] const Frame& frame() const { return *frame_; }
  [[nodiscard]] const std::vector<double>& steps() const { return *steps_; }
  [[nodiscard]] const Names& keys() const { return *keys_; }
  /// The first of the medium queries, which go on to the last one.
  [[nodiscard]] std::size_t first_medium() const { return (keys_->size() + 1) / 2; }

  /// Number `offset` of a variable over (step) or (step, other), where it was measured.
  [[nodiscard]] Series curve(const std::string& variable, const Names& others = {},
                             std::size_t offset = 0) const {
    Names dimensions{"step"};
    dimensions.insert(dimensions.end(), others.begin(), others.end());
    const auto& cells = variable_over(*frame_, variable, dimensions).cells;
    const std::size_t stride = cells.size() / steps_->size();
    Series series;
    for (std::size_t k = 0; k < steps_->size(); ++k) {
      const double value = cells[k * stride + offset].mean;
      if (std::isnan(value)) continue;
      series.x.push_back((*steps_)[k]);
      series.y.push_back(value);
    }
    return series;
  }

  /// Attention of these queries on a key, mean over them and over layers and heads.
  [[nodiscard]] Series attention(std::size_t first_query, std::size_t beyond_query,
                                 std::size_t key) const {
    const auto& cells =
        variable_over(*frame_, "attention", {"step", "layer", "head", "query", "key"}).cells;
    const std::size_t size = keys_->size();
    const std::size_t maps = cells.size() / (steps_->size() * size * size);
    Series series{"", SeriesStyle::solid, kInkBlack, *steps_, {}, {}};
    for (std::size_t k = 0; k < steps_->size(); ++k) {
      double sum = 0.0;
      for (std::size_t map = k * maps; map < (k + 1) * maps; ++map) {
        for (std::size_t query = first_query; query < beyond_query; ++query) {
          sum += cells[(map * size + query) * size + key].mean;
        }
      }
      series.y.push_back(sum / static_cast<double>(maps * (beyond_query - first_query)));
    }
    return series;
  }

  /// In the colour of this token: of the probe by its place there, others by `place` after them.
  [[nodiscard]] Series in_look_of(Series series, const std::string& token,
                                  std::size_t place = 0) const {
    const auto found = std::find(keys_->begin(), keys_->end(), token);
    const std::size_t number = found != keys_->end()
                                   ? static_cast<std::size_t>(found - keys_->begin())
                                   : keys_->size() + place;
    series.label = quoted(token);
    series.colour = token_colour(number);
    series.style = number < kMostTokensShown ? SeriesStyle::solid : SeriesStyle::dashed;
    return series;
  }

  [[nodiscard]] std::string caption(const std::string& note) const {
    const std::string rest = caption_of(*study_, {}, nullptr);
    return note.empty() ? rest : note + " " + rest;
  }

 private:
  const store::StudyRecord* study_;
  const Frame* frame_;
  const std::vector<double>* steps_;
  const Names* keys_;
};

LinePanel panel_over_steps(const std::string& title, const std::string& y,
                           std::optional<Range> range = std::nullopt) {
  return {
      title, {"step", AxisScale::logarithmic, std::nullopt}, {y, AxisScale::linear, range}, {}, {}};
}

Series in_look(Series series, const std::string& label, SeriesStyle style, Colour colour) {
  series.label = label;
  series.style = style;
  series.colour = colour;
  return series;
}

// ---- panels ---------------------------------------------------------------------------------

std::optional<double> unigram_entropy(const store::StudyRecord& study) {
  const Frame* vocabulary = find_frame(study, "vocabulary");
  if (vocabulary == nullptr || vocabulary->find_variable("unigram_entropy") == nullptr) return {};
  return variable_over(*vocabulary, "unigram_entropy", {}).cells.front().mean;
}

// From the first step that has a place on the axis to the last one.
Series level(const TextRunView& run, double value) {
  std::vector<double> ends;
  for (const double step : run.steps()) {
    if (step > 0.0) ends.push_back(step);
  }
  if (ends.size() > 2) ends = {ends.front(), ends.back()};
  const std::vector<double> values(ends.size(), value);
  return as_theory({"law of the tokens alone", SeriesStyle::dotted, kInkBlack, ends, values, {}});
}

LinePanel losses(const TextRunView& run, const store::StudyRecord& study) {
  LinePanel panel = panel_over_steps("loss", "loss (nats per token)");
  panel.series.push_back(in_look(run.curve("loss"), "training", SeriesStyle::solid, kInkGrey));
  panel.series.push_back(
      in_look(run.curve("validation_loss"), "validation", SeriesStyle::line_and_points, kInkBlack));
  if (const auto entropy = unigram_entropy(study)) panel.series.push_back(level(run, *entropy));
  return panel;
}

LinePanel attention_of(const TextRunView& run, std::size_t first_query, std::size_t beyond_query,
                       const std::string& title) {
  LinePanel panel = panel_over_steps(title, "attention weight", kWholeShare);
  for (std::size_t key = 0; key < run.keys().size(); ++key) {
    panel.series.push_back(
        run.in_look_of(run.attention(first_query, beyond_query, key), run.keys()[key]));
  }
  return panel;
}

LinePanel shares(const TextRunView& run) {
  LinePanel panel =
      panel_over_steps("on " + quoted(run.keys().front()) + " (solid), on themselves (dotted)",
                       "attention weight", kWholeShare);
  panel.series = {in_look(run.curve("focus"), "", SeriesStyle::solid, kInkBlack),
                  in_look(run.curve("self_share"), "", SeriesStyle::dotted, kInkBlack)};
  return panel;
}

LinePanel norms(const TextRunView& run) {
  LinePanel panel = panel_over_steps("embedding norms", "norm");
  const Names& tokens = labels_of(run.frame(), "token");
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    panel.series.push_back(run.in_look_of(run.curve("norms", {"token"}, k), tokens[k], k));
  }
  return panel;
}

LinePanel rank_one_share(const TextRunView& run) {
  LinePanel panel = panel_over_steps("rank-one share of W0, σ₁²/Σσ²", "share", kWholeShare);
  panel.series = {in_look(run.curve("rank_one"), "", SeriesStyle::solid, kInkBlack)};
  return panel;
}

// Of WQ and WK, those of all layers together.
Series size_of_layers(const TextRunView& run, const std::string& variable) {
  const Variable& sizes = variable_over(run.frame(), variable, {"step", "layer"});
  const std::size_t layers = run.frame().dimension("layer").coordinates.size();
  Series total{"", SeriesStyle::solid, kInkGrey, run.steps(), {}, {}};
  for (std::size_t k = 0; k < run.steps().size(); ++k) {
    double squares = 0.0;
    for (const double size : block_of_means(sizes, k, layers)) squares += size * size;
    total.y.push_back(std::sqrt(squares));
  }
  return total;
}

LinePanel sizes(const TextRunView& run) {
  LinePanel panel = panel_over_steps("Frobenius norms of the weights", "norm");
  panel.series = {in_look(run.curve("embedding_size"), "W0", SeriesStyle::solid, kInkBlack),
                  in_look(run.curve("unembedding_size"), "W1", SeriesStyle::dashed, kInkBlack),
                  in_look(size_of_layers(run, "query_size"), "WQ", SeriesStyle::solid, kInkGrey),
                  in_look(size_of_layers(run, "key_size"), "WK", SeriesStyle::dashed, kInkGrey)};
  return panel;
}

// ---- the sentence ---------------------------------------------------------------------------

/// Positions of steps above 0, evenly over their logarithms, the last among them, each once.
std::vector<std::size_t> chosen_steps(const std::vector<double>& steps) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] > 0.0) places.push_back(k);
  }
  if (places.size() <= kMostSentenceSteps) return places;
  const double low = std::log(steps[places.front()]), high = std::log(steps[places.back()]);
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < kMostSentenceSteps; ++k) {
    const double wanted =
        low + (high - low) * static_cast<double>(k) / double(kMostSentenceSteps - 1);
    const auto nearer = [&](std::size_t a, std::size_t b) {
      return std::abs(std::log(steps[a]) - wanted) < std::abs(std::log(steps[b]) - wanted);
    };
    const std::size_t place = *std::min_element(places.begin(), places.end(), nearer);
    if (chosen.empty() || chosen.back() != place) chosen.push_back(place);
  }
  return chosen;
}

// A little inside the cell, so that frames of neighbours do not touch; NaN lifts the pen.
void add_frame(Curve& curve, const Range& x, const Range& y) {
  constexpr double kInset = 0.07;
  const double dx = kInset * (x.high - x.low), dy = kInset * (y.high - y.low);
  const double left = std::pow(10.0, x.low + dx), right = std::pow(10.0, x.high - dx);
  const double middle = std::pow(10.0, 0.5 * (x.low + x.high));
  const double above = y.low + dy, below = y.high - dy;
  for (const double corner : {middle, right, right, left, left, middle, kUnknown}) {
    curve.x.push_back(corner);
  }
  for (const double corner : {above, above, below, below, above, above, kUnknown}) {
    curve.y.push_back(corner);
  }
}

Curve frames_of(const HeatmapPanel& panel) {
  std::vector<double> logarithms;
  for (const double step : panel.x) logarithms.push_back(std::log10(step));
  const std::vector<double> x = cell_edges(logarithms), y = cell_edges(panel.y);
  Curve frames{fmt::format("at least {:g}", kStrongSelfAttention), CurveStyle::solid, {}, {}};
  for (std::size_t i = 0; i < panel.x.size(); ++i) {
    for (std::size_t j = 0; j < panel.y.size(); ++j) {
      if (!(panel.z[i * panel.y.size() + j] >= kStrongSelfAttention)) continue;
      add_frame(frames, {x[i], x[i + 1]}, {y[j], y[j + 1]});
    }
  }
  return frames;
}

HeatmapPanel sentence_panel(const TextRunView& run) {
  const Variable& self = variable_over(run.frame(), "self_attention", {"step", "position"});
  const std::size_t positions = labels_of(run.frame(), "position").size();
  HeatmapPanel panel;
  panel.y_names = labels_of(run.frame(), "position");
  for (std::size_t j = 0; j < positions; ++j) panel.y.push_back(static_cast<double>(j));
  for (const std::size_t k : chosen_steps(run.steps())) {
    panel.x.push_back(run.steps()[k]);
    const std::vector<double> column = block_of_means(self, k, positions);
    panel.z.insert(panel.z.end(), column.begin(), column.end());
  }
  if (panel.x.empty()) throw Error(Code::bad_value, "frame 'text run' has no step above 0");
  Curve frames = frames_of(panel);
  if (!frames.x.empty()) panel.curves.push_back(std::move(frames));
  return panel;
}

std::string medium_note(const TextRunView& run) {
  std::string tokens;
  for (std::size_t k = run.first_medium(); k < run.keys().size(); ++k) {
    tokens += (tokens.empty() ? "" : ", ") + quoted(run.keys()[k]);
  }
  return "Medium-frequency queries: " + tokens + ".";
}

}  // namespace

LineFigure figure_of_text_run(const store::StudyRecord& study) {
  const TextRunView run(study);
  LineFigure figure;
  figure.panels = {losses(run, study),
                   attention_of(run, run.first_medium(), run.keys().size(),
                                "attention of medium-frequency queries"),
                   shares(run),
                   norms(run),
                   rank_one_share(run),
                   sizes(run)};
  figure.caption = run.caption(medium_note(run));
  figure.stretch = 1.15;
  return figure;
}

LineFigure figure_of_text_attention(const store::StudyRecord& study) {
  const TextRunView run(study);
  LineFigure figure;
  for (std::size_t query = run.first_medium(); query < run.keys().size(); ++query) {
    figure.panels.push_back(
        attention_of(run, query, query + 1, "query " + quoted(run.keys()[query])));
  }
  figure.caption = run.caption("");
  figure.stretch = 1.15;
  return figure;
}

LineFigure figure_of_text_norms(const store::StudyRecord& study) {
  const TextRunView run(study);
  LinePanel panel = norms(run);
  panel.title.clear();
  panel.y.label = "norm of the embedding";
  return {"", {panel}, 1, run.caption(""), 2.0};
}

HeatmapFigure figure_of_text_sentence(const store::StudyRecord& study) {
  const TextRunView run(study);
  HeatmapFigure figure;
  figure.x_label = "step";
  figure.y_label = "position in the sentence";
  figure.z_label = "attention to itself";
  figure.x_scale = AxisScale::logarithmic;
  figure.panels = {sentence_panel(run)};
  figure.columns = 1;
  figure.caption = run.caption("");
  return figure;
}

std::vector<TrainingFigure> text_training_figures(const store::StudyRecord& study) {
  std::vector<TrainingFigure> all = {
      {"text-run", "A training run on text at a glance", figure_of_text_run},
      {"text-attention", "Attention of medium-frequency tokens", figure_of_text_attention},
      {"text-norms", "Norms of embeddings", figure_of_text_norms}};
  if (study.frame("text run").find_variable("self_attention") != nullptr) {
    all.push_back({"text-sentence", "Self attention in a sentence", figure_of_text_sentence});
  }
  return all;
}

}  // namespace dewpoint::report
