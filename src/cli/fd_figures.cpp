// The figures of FD: one training run by Adam, its stages and what happens in them; and runs of
// models with more layers and heads.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "cli/console.hpp"
#include "cli/figure_study.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/experiments/layer_dynamics.hpp"
#include "dewpoint/experiments/train_question.hpp"
#include "dewpoint/report/layer_figures.hpp"
#include "dewpoint/report/training_figures.hpp"

namespace dewpoint::cli {
namespace {

store::StudyRecord measure_training(const StudyEffort& effort) {
  experiments::TrainQuestion asked;
  asked.steps = effort.quick ? 2000 : 3000;
  const experiments::Training training = training_of(asked, effort.seed);
  ProgressLine progress("fd-training");
  const RunContext context{effort.threads, stop_token(), progress.callback()};
  experiments::TrainingRun run(training.run, 0, context);
  run.advance(context);
  const training::Stages stages = training::find_stages(run.records(), training.thresholds);
  run.revisit(stages, context);
  return train_study(training, run, stages, effort.command);
}

// The models of Figures 4 and 5. Eight layers of eight heads take minutes.
std::vector<transformer::Shape> layer_shapes(std::size_t vocabulary, bool quick) {
  std::vector<transformer::Shape> shapes;
  const auto add = [&](std::size_t layers, std::size_t heads) {
    shapes.push_back(
        {.vocabulary = vocabulary, .layers = layers, .heads = heads, .residual = true});
  };
  add(1, 1);
  add(2, 1);
  add(2, 4);
  add(8, 1);
  if (!quick) add(8, 8);
  return shapes;
}

store::StudyRecord measure_layers(const StudyEffort& effort) {
  experiments::LayerQuestion question;
  question.chain = training::named_chain("lambda", {0.75, 0.19, 0.05, 0.01}, 0.8);
  question.batch = 128;
  question.steps = effort.quick ? 300 : 800;
  question.seed = effort.seed;
  const std::size_t runs = effort.quick ? 1 : 3;
  ProgressLine progress("fd-layers");
  const auto models =
      experiments::layer_runs(question, layer_shapes(question.chain.vocabulary(), effort.quick),
                              runs, {effort.threads, stop_token(), progress.callback()});
  store::StudyRecord study = begin_study("train layers", effort.seed, effort.command);
  study.parameters = {{"chain", "lambda"},
                      {"pi", "0.75,0.19,0.05,0.01"},
                      {"lambda", "0.8"},
                      {"s", fmt::format("{}", question.context)},
                      {"m", fmt::format("{}", models[0].shape.width)},
                      {"batch", fmt::format("{}", question.batch)},
                      {"steps", fmt::format("{}", question.steps)},
                      {"rate", fmt::format("{:g}", question.adam.rate)},
                      {"runs", fmt::format("{}", runs)}};
  study.frames = {experiments::layer_runs_frame(models)};
  return study;
}

// ---- what there is to see -----------------------------------------------------------------------

struct Caption {
  std::string see;
  std::string paper;
  std::vector<std::string> claims;
};

Caption glance() {
  return {
      .see =
          "One run of Adam on a Markov chain of four tokens, by step; dashed lines begin stages "
          "II, III and IV. Follow the third panel: the share of their attention that rarer "
          "tokens give to token 0 rises to almost 1 (focus) and falls to 0 (dilution), then the "
          "same happens to token 1 and to token 2.",
      .paper =
          "Section 5.1 and Figure 2: four stages, then the cycle repeats for the next token. So "
          "it does, earlier than printed (erratum 45), for settings that are not all given "
          "(erratum 44). But this much focus is Adam's: in the gradient flow of the theorems "
          "attention to token 0 rises from 0.25 to 0.26 only.",
      .claims = {"fd.figure-2-stages", "fd.figure-2-bands", "fd.gradient-flow-focus"}};
}

Caption losses() {
  return {.see =
              "Cross-entropy by step for contexts that end in each token, and for all (dashed). "
              "Token 0 is learnt at the expense of the others: their losses rise until stage IV is "
              "near, and then come down one after the other, token 1 first and token 3 last.",
          .paper =
              "Figure 2(A) has such curves for three of the tokens, and Figure 1 marks the four "
              "stages on them. Batch size and number of steps are not given, and matter for what "
              "follows the first cycle (erratum 44).",
          .claims = {"fd.figure-2-stages"}};
}

Caption cosines() {
  return {
      .see =
          "Cosines between all pairs of units of a weight matrix, red for +1 and blue for −1, in "
          "an order that shows blocks: a row per matrix, a column per moment. Blocks of two "
          "plain colours mean rank one. W0 and W1 have them while WQ and WK are still noise, a "
          "thin diagonal on white; at the peak of focus all four do.",
      .paper =
          "Section 5.1 and Figure 2(A): W0 and W1 condense in stage I, WQ and WK in stage II "
          "while the outer weights stay largely invariant. The order holds; but the outer "
          "weights grow in stage II, by 1.7 and 2.1 (erratum 46).",
      .claims = {"fd.figure-2-condensation", "fd.stage-2-outer"}};
}

Caption paths() {
  return {
      .see =
          "Embeddings in the plane in which they vary most; a disc ends each path. Until focus "
          "peaks all tokens move in one direction, and the rarer ones begin to turn. In dilution "
          "tokens 1 to 3 run back while token 0 goes on; in stage IV they leave the line, token "
          "1 on a way of its own, tokens 2 and 3 together before they part as well.",
      .paper =
          "Section 5.1 and Figure 2(B): growth in one direction, retraction of all tokens but "
          "token 0, expansion into new directions. All three are seen here.",
      .claims = {"fd.figure-2-retraction", "fd.figure-2-stages"}};
}

Caption attention() {
  return {
      .see =
          "Attention between tokens by step: a panel per key, a curve per query. In the panels "
          "of tokens 0, 1 and 2, in this order, all rarer queries rise with the key's own and "
          "then let go, while its own stays at 1. Dotted in the first panel: the same with "
          "tokens counted as often as in a context.",
      .paper =
          "Figure 2(C) has attention on the first token grow between steps 350 and 550; with the "
          "settings given it does from step 100 to 205, whatever the batch (erratum 45). In "
          "Theorem 4.5 it tends to that token, a limit that needs W0 held fixed (erratum 32).",
      .claims = {"fd.figure-2-window", "fd.theorem-4.5", "fd.gradient-flow-focus"}};
}

Caption attention_maps() {
  return {
      .see =
          "A row per query, a column per key, the weight written into the cell, at the moments "
          "of the stages. All weights begin as 1/4; at the peak of focus everybody looks at "
          "token 0. Then the rarer queries look at token 1, after that at token 2, and in the "
          "end everybody looks at itself.",
      .paper =
          "Figure 2(C) shows maps that go from focus to dilution. It leaves open what attention "
          "to a token is; here every token counts once, however frequent it is (erratum 44).",
      .claims = {"fd.figure-2-stages", "fd.figure-2-window"}};
}

Caption embeddings() {
  return {
      .see =
          "Above, by token: entropy of attention, norm of the embedding, and its parts across "
          "and along token 0. Below: shares of rank one, norms of the weights, singular values "
          "of W0. Look at the norms: tokens 1 to 3 shrink during stage III while token 0 grows "
          "on; and at the singular values, which rise one after the other, a new direction each.",
      .paper =
          "Section 5.1 and Figure 2(D): in stage III the embeddings of rarer tokens shrink, in "
          "stage IV their part across token 0 grows, and tokens 2 and 3 then repeat it for token "
          "1. Outer weights that stay largely invariant in stage II are not seen (erratum 46).",
      .claims = {"fd.figure-2-retraction", "fd.figure-2-condensation", "fd.stage-2-outer"}};
}

// By the names of report::training_figures().
std::map<std::string, Caption> captions() {
  return {{"training", glance()},
          {"training-losses", losses()},
          {"training-cosines", cosines()},
          {"training-paths", paths()},
          {"training-attention", attention()},
          {"training-attention-maps", attention_maps()},
          {"training-embeddings", embeddings()}};
}

StudyFigure layer_norms() {
  return {
      "fd-layer-norms",
      "Embeddings with more layers and heads",
      "Norms of the embeddings by step, a panel per model, all with a residual connection: L "
      "layers of H heads. With one and two layers the norms of the rarer tokens rise, fall and "
      "rise again, whatever the number of heads. With eight layers they hardly fall.",
      "Figures 4 and 5: a residual connection and more layers keep retraction, eight layers of "
      "one head \"remarkably well\", and it becomes less pronounced with more heads. Residual and "
      "two layers do, four heads do not weaken it; from the initial weights stated, eight layers "
      "do not show it.",
      {"fd.figure-4-residual", "fd.figure-5-heads", "fd.figure-5-eight-layers"},
      report::figure_of_layer_norms};
}

StudyFigure layer_focus() {
  return {
      "fd-layer-focus",
      "Focus with more layers and heads",
      "Attention of the rarest token to token 0 by step, a curve per layer, mean over heads. One "
      "head focuses nearly entirely before it lets go, four heads less on average. While models "
      "of one and two layers go through this, eight layers only look away from token 0, the last "
      "one first.",
      "Figures 4 and 5 show attention that rises and falls with two layers and four heads, too.",
      {"fd.figure-4-residual", "fd.figure-5-heads"},
      report::figure_of_layer_focus};
}

}  // namespace

std::vector<FigureStudy> fd_figures() {
  const std::map<std::string, Caption> texts = captions();
  std::vector<StudyFigure> figures;
  for (const report::TrainingFigure& figure : report::training_figures()) {
    const auto& [see, paper, claims] = texts.at(figure.name);
    figures.push_back({"fd-" + figure.name, figure.title, see, paper, claims, figure.figure_of});
  }
  const std::string group = "Focus and dilution (FD)";
  return {{"fd-training", group, {2.5, 3.0}, measure_training, figures},
          {"fd-layers", group, {12.0, 170.0}, measure_layers, {layer_norms(), layer_focus()}}};
}

}  // namespace dewpoint::cli
