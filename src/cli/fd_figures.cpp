// The figures of FD: one training run by Adam, its stages and what happens in them.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"
#include "cli/figure_study.hpp"
#include "cli/train_question.hpp"
#include "cli/train_study.hpp"
#include "dewpoint/report/training_figures.hpp"

namespace dewpoint::cli {
namespace {

store::StudyRecord measure(const StudyEffort& effort) {
  TrainOptions options;
  options.steps = effort.quick ? 2000.0 : 3000.0;
  const TrainQuestion question = question_of(options, effort.seed);
  ProgressLine progress("fd-training");
  const RunContext context{effort.threads, stop_on_signals(), progress.callback()};
  experiments::TrainingRun run(question.run, 0, context);
  run.advance(context);
  const training::Stages stages = training::find_stages(run.records(), question.thresholds);
  run.revisit(stages, context);
  return train_study(question, run, stages, effort.command);
}

}  // namespace

std::vector<FigureStudy> fd_figures() {
  std::vector<StudyFigure> figures;
  for (const report::TrainingFigure& figure : report::training_figures()) {
    figures.push_back({"fd-" + figure.name, figure.title, figure.draw});
  }
  return {{"fd-training", measure, figures}};
}

}  // namespace dewpoint::cli
