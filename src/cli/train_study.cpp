#include "cli/train_study.hpp"

#include "cli/study_record.hpp"

namespace dewpoint::cli {

store::StudyRecord train_study(const TrainQuestion& question, const experiments::TrainingRun& run,
                               const training::Stages& stages, const std::string& command) {
  store::StudyRecord study = begin_study("train", question.run.seed, command);
  study.parameters = parameters_of(question);
  study.frames = experiments::training_frames(question.run, run, stages);
  study.attachments = run.attachments();
  return study;
}

}  // namespace dewpoint::cli
