// dewpoint merge: several studies of one experiment as one.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/answer.hpp"
#include "cli/study_record.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/store/sweep_file.hpp"

namespace dewpoint::cli {
namespace {

struct MergeVerb {
  std::vector<std::string> studies;
  std::string output;
  bool force = false;
};

template <class Visitor>
void describe(Visitor& visit, MergeVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("studies", q.studies, positional, required, file("study"), "study files");
  visit("output", q.output, letter('o'), required, file("study"),
        "study file to write; one of the same experiment is replaced");
  describe_force(visit, q.force);
}

Answer merge_answer(const MergeVerb& o) {
  const OutputFile output(o.output, o.force);
  require_study_place(output);
  store::merge({o.studies.begin(), o.studies.end()}, output);
  const store::StudySummary made = store::summarise(o.output);
  return {{{"study", o.output},
           {"experiment", made.experiment},
           {"planned", made.planned},
           {"measured", made.measured}},
          fmt::format("{} studies joined: {} cells, {} of them measured\nstudy   {}\n",
                      o.studies.size(), made.planned, made.measured, o.output),
          {},
          true};
}

}  // namespace

Verb merge_verb() {
  return verb_of<MergeVerb>(
      "merge", "Joins studies of one experiment; of a cell that several have, the most replicas",
      "dewpoint merge phase.study phase.study -o both.study", merge_answer);
}

}  // namespace dewpoint::cli
