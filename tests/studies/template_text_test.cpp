#include "dewpoint/studies/template_text.hpp"

#include <gtest/gtest.h>

#include "dewpoint/studies/plan.hpp"
#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::studies {
namespace {

TEST(TemplateText, OfEveryExperimentParsesAndPlans) {
  for (const Experiment* experiment : experiments()) {
    const StudyText study = parse_study_text(template_text(*experiment), experiment->name());
    EXPECT_EQ(study.experiment, experiment->name());
    EXPECT_GE(grid_plan(study, *experiment).cells.size(), 3u) << experiment->name();
  }
}

TEST(TemplateText, NamesEveryParameter) {
  for (const Experiment* experiment : experiments()) {
    const std::string text = template_text(*experiment);
    for (const Field& parameter : experiment->parameters()) {
      EXPECT_NE(text.find(parameter.name + " = "), std::string::npos)
          << experiment->name() << ": " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace dewpoint::studies
