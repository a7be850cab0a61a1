#include "dewpoint/report/training_figures.hpp"

#include <algorithm>

#include "dewpoint/report/training_run.hpp"

namespace dewpoint::report {
namespace {

constexpr Colour kBlack = 0x000000;
constexpr Colour kGreyMatrix = 0x8c8c8c;
const Range kShare{-0.03, 1.03};

LinePanel panel_over_time(const TrainingRun& run, const std::string& title, const std::string& y,
                          std::optional<Range> range = std::nullopt) {
  return {title, run.time_axis(), {y, AxisScale::linear, range}, {}, run.markers()};
}

// A curve per token, query or cycle of a variable over (time, other).
void add_each(LinePanel& panel, const TrainingRun& run, const std::string& role,
              const std::string& variable, const std::string& other) {
  const std::size_t count = run.trajectory().dimension(other).coordinates.size();
  for (std::size_t k = 0; k < std::min(count, run.tokens()); ++k) {
    panel.series.push_back(
        run.curve(run.label(role, k), SeriesStyle::solid, token_colour(k), variable, {other}, k));
  }
}

// An entry of the legend only.
Series sample(const std::string& label, SeriesStyle style) {
  return {label, style, kBlack, {}, {}, {}};
}

LinePanel losses(const TrainingRun& run, const std::string& role) {
  LinePanel panel = panel_over_time(run, "loss by last token of the context", "loss (nats)");
  add_each(panel, run, role, "group_loss", "token");
  panel.series.push_back(run.curve("all sequences", SeriesStyle::dashed, kBlack, "loss"));
  return panel;
}

void add_attention_to(LinePanel& panel, const TrainingRun& run, const std::string& role,
                      const std::string& variable, SeriesStyle style, std::size_t key) {
  for (std::size_t query = 0; query < run.tokens(); ++query) {
    const std::string label = style == SeriesStyle::solid ? run.label(role, query) : "";
    panel.series.push_back(run.curve(label, style, token_colour(query), variable, {"query", "key"},
                                     query * run.vocabulary() + key));
  }
}

LinePanel attention_to(const TrainingRun& run, const std::string& role, std::size_t key) {
  LinePanel panel =
      panel_over_time(run, "attention to " + run.label("token", key), "attention weight", kShare);
  add_attention_to(panel, run, role, "attention", SeriesStyle::solid, key);
  return panel;
}

LinePanel entropies(const TrainingRun& run) {
  LinePanel panel = panel_over_time(run, "entropy of attention by query", "entropy (nats)");
  add_each(panel, run, "token", "entropy", "query");
  return panel;
}

LinePanel norms(const TrainingRun& run) {
  LinePanel panel = panel_over_time(run, "embedding norms", "norm");
  add_each(panel, run, "token", "embedding_norm", "token");
  return panel;
}

// Token 0 itself is all along and not across.
LinePanel components(const TrainingRun& run) {
  LinePanel panel =
      panel_over_time(run, "across token 0 (solid), along it (dotted)", "part of the embedding");
  for (std::size_t k = 1; k < run.tokens(); ++k) {
    panel.series.push_back(
        run.curve("", SeriesStyle::dotted, token_colour(k), "parallel", {"token"}, k));
    panel.series.push_back(run.curve(run.label("token", k), SeriesStyle::solid, token_colour(k),
                                     "perpendicular", {"token"}, k));
  }
  return panel;
}

LinePanel focus_shares(const TrainingRun& run) {
  LinePanel panel = panel_over_time(run, "focus of rarer queries on each token", "share s", kShare);
  add_each(panel, run, "token", "focus", "cycle");
  return panel;
}

LinePanel rank_one_shares(const TrainingRun& run) {
  LinePanel panel = panel_over_time(run, "rank-one share σ₁²/Σσ²", "share", kShare);
  panel.series = {run.curve("W0", SeriesStyle::solid, kBlack, "embedding_rank_one"),
                  run.curve("W1", SeriesStyle::dashed, kBlack, "unembedding_rank_one")};
  return panel;
}

LinePanel sizes(const TrainingRun& run) {
  LinePanel panel = panel_over_time(run, "Frobenius norms of the weights", "norm");
  panel.series = {run.curve("W0", SeriesStyle::solid, kBlack, "embedding_size"),
                  run.curve("W1", SeriesStyle::dashed, kBlack, "unembedding_size"),
                  run.curve("WQ", SeriesStyle::solid, kGreyMatrix, "query_size"),
                  run.curve("WK", SeriesStyle::dashed, kGreyMatrix, "key_size")};
  return panel;
}

// In the look of W0; they come in order and need no names.
LinePanel singular_values(const TrainingRun& run) {
  LinePanel panel = panel_over_time(run, "largest singular values of W0", "σ");
  const std::size_t count = run.trajectory().dimension("rank").coordinates.size();
  for (std::size_t k = 0; k < std::min(count, kMostTokensShown); ++k) {
    panel.series.push_back(
        run.curve("", SeriesStyle::solid, kBlack, "embedding_singular_values", {"rank"}, k));
  }
  return panel;
}

}  // namespace

LineFigure figure_of_training(const store::StudyRecord& study) {
  const TrainingRun run(study);
  LineFigure figure;
  figure.panels = {losses(run, "token"), attention_to(run, "token", 0)};
  figure.panels.back().title = "attention to token 0 by query";
  if (run.trajectory().find_variable("focus") != nullptr) {
    figure.panels.push_back(focus_shares(run));
  }
  for (LinePanel& panel : std::vector{entropies(run), norms(run), components(run)}) {
    figure.panels.push_back(std::move(panel));
  }
  figure.caption = run.caption({run.token_note()});
  figure.stretch = 1.15;
  return figure;
}

LineFigure figure_of_training_losses(const store::StudyRecord& study) {
  const TrainingRun run(study);
  LinePanel panel = losses(run, "ends in token");
  panel.title.clear();
  return {"", {panel}, 1, run.caption({run.token_note()}), 2.0};
}

LineFigure figure_of_attention(const store::StudyRecord& study) {
  const TrainingRun run(study);
  LineFigure figure;
  for (std::size_t key = 0; key < run.tokens(); ++key) {
    figure.panels.push_back(attention_to(run, "query", key));
  }
  LinePanel& first = figure.panels.front();
  add_attention_to(first, run, "query", "weighted_attention", SeriesStyle::dotted, 0);
  first.series.push_back(sample("softmax(Φ): each type once", SeriesStyle::solid));
  first.series.push_back(sample("∝ π exp(Φ): as often as in a context", SeriesStyle::dotted));
  figure.columns = run.tokens() <= 4 ? 2 : 3;
  figure.stretch = run.tokens() <= 4 ? 1.3 : 1.0;
  figure.caption = run.caption({run.token_note()});
  return figure;
}

LineFigure figure_of_embeddings(const store::StudyRecord& study) {
  const TrainingRun run(study);
  LineFigure figure;
  figure.panels = {entropies(run),       norms(run), components(run),
                   rank_one_shares(run), sizes(run), singular_values(run)};
  figure.caption = run.caption({run.token_note()});
  figure.stretch = 1.15;
  return figure;
}

const std::vector<TrainingFigure>& training_figures() {
  static const std::vector<TrainingFigure> all = {
      {"training", "A training run at a glance", figure_of_training},
      {"training-losses", "Losses by last token", figure_of_training_losses},
      {"training-cosines", "Cosines between units of the weights", figure_of_weight_cosines},
      {"training-paths", "Paths of the embeddings", figure_of_embedding_paths},
      {"training-attention", "Attention between tokens", figure_of_attention},
      {"training-attention-maps", "Attention maps", figure_of_attention_maps},
      {"training-embeddings", "Embeddings and weights", figure_of_embeddings}};
  return all;
}

}  // namespace dewpoint::report
