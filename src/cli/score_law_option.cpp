#include "cli/score_law_option.hpp"

#include <fmt/format.h>

#include <cmath>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scores/law_names.hpp"
#include "dewpoint/theory/sphere_moments.hpp"

namespace dewpoint::cli {

std::string score_law_help() {
  return "Law of the scores: " + scores::usage_of(scores::score_law_names());
}

std::vector<std::string> score_law_words() {
  std::vector<std::string> words;
  for (const scores::LawForm& form : scores::score_law_names()) words.push_back(form.name);
  return words;
}

double log_density_at_query(int dimension, const std::vector<SphereComponent>& components) {
  double density = 0.0;
  for (const SphereComponent& part : components) {
    density += part.share * std::exp(theory::log_von_mises_fisher_density(
                                dimension, part.concentration, part.angle));
  }
  return std::log(density);
}

ContinuousLaw continuous_law(const std::string& text) {
  const std::unique_ptr<scores::TopLaw> law = scores::score_law(text);
  const auto* tail = dynamic_cast<const scores::TailLaw*>(law.get());
  if (tail == nullptr) {
    throw Error(Code::bad_value,
                fmt::format("law: '{}' has no density of a single score; allowed: gaussian, "
                            "sphere, vmf, subsphere",
                            text));
  }
  return {law->name(), tail->distribution(), law->origin()};
}

}  // namespace dewpoint::cli
