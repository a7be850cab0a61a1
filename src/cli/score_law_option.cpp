#include "cli/score_law_option.hpp"

#include <fmt/format.h>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scores/law_names.hpp"

namespace dewpoint::cli {

std::string score_law_help() {
  std::string text = "Law of the scores:";
  for (const scores::LawForm& form : scores::score_law_names()) {
    text += (text.back() == ':' ? " " : ", ") + form.usage();
  }
  return text;
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
