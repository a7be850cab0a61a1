#include "dewpoint/text/normalizer.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "dewpoint/core/error.hpp"
#include "dewpoint/text/composed_form.hpp"
#include "dewpoint/text/replacement.hpp"

namespace dewpoint::text {
namespace {

void expect_composed(const std::string& text, std::size_t) {
  const std::size_t place = first_unsettled(text);
  if (place == text.size()) return;
  throw Error(Code::bad_value,
              fmt::format("text: found a character at byte {} (counted from 0, from the last "
                          "special token on) that may change under NFC, which the tokenizer asks "
                          "for, allowed: text composed beforehand, without combining characters",
                          place));
}

Normalizer read_sequence(const JsonField& field) {
  std::vector<Normalizer> steps;
  for (const JsonField& step : field["normalizers"].list()) steps.push_back(read_normalizer(step));
  return [steps = std::move(steps)](std::string& text, std::size_t most) {
    for (const Normalizer& step : steps) step(text, most);
  };
}

Normalizer read_prepend(const JsonField& field) {
  return [prefix = field["prepend"].text()](std::string& text, std::size_t most) {
    if (text.empty()) return;
    expect_bounded(text.size() + prefix.size(), most);
    text.insert(0, prefix);
  };
}

Normalizer read_replace(const JsonField& field) {
  return [pattern = read_pattern(field["pattern"]), content = field["content"].text()](
             std::string& text, std::size_t most) {
    text = replaced(text, pattern.matches(text), content, most);
  };
}

}  // namespace

Normalizer read_normalizer(const JsonField& field) {
  if (field.is_null()) return [](std::string&, std::size_t) {};
  const std::string type = field.type();
  if (type == "Sequence") return read_sequence(field);
  if (type == "Prepend") return read_prepend(field);
  if (type == "Replace") return read_replace(field);
  if (type == "NFC") return expect_composed;
  field["type"].refuse("the normalizers Sequence, Prepend, Replace and NFC");
}

}  // namespace dewpoint::text
