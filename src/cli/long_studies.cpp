#include "cli/long_studies.hpp"

#include <sstream>

#include "dewpoint/studies/study_text.hpp"

namespace dewpoint::cli {
namespace {

struct NamedText {
  const char* name;
  const char* text;
};

// One entry per file, written by CMake.
constexpr NamedText kTexts[] = {
#include "long_study_texts.inc"
};

// Lines "# like this", up to the first that is not, or has nothing behind its mark.
std::string first_paragraph(const std::string& text) {
  std::istringstream lines(text);
  std::string paragraph;
  for (std::string line; std::getline(lines, line) && line.starts_with("# ");) {
    paragraph += (paragraph.empty() ? "" : " ") + line.substr(2);
  }
  return paragraph;
}

}  // namespace

std::vector<std::string> long_study_names() {
  std::vector<std::string> names;
  for (const NamedText& one : kTexts) names.emplace_back(one.name);
  return names;
}

const std::vector<LongStudy>& long_studies() {
  static const std::vector<LongStudy> all = [] {
    std::vector<LongStudy> list;
    for (const auto& [name, text] : kTexts) {
      const studies::StudyText study = studies::parse_study_text(text, name);
      list.push_back({name, study.title, first_paragraph(text), text});
    }
    return list;
  }();
  return all;
}

}  // namespace dewpoint::cli
