#include "dewpoint/experiments/variants_question.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::experiments {
namespace {

// The place of a number that is a single capital letter: "W" of "dilated:W:4".
std::size_t place_of_letter(const std::string& name) {
  for (std::size_t k = 1; k < name.size(); ++k) {
    const bool alone = name[k - 1] == ':' && (k + 1 == name.size() || name[k + 1] == ':');
    if (alone && std::isupper(static_cast<unsigned char>(name[k])) != 0) return k;
  }
  return std::string::npos;
}

// Whether a letter of the name stands for the size.
bool set_size(std::string& name, const char* field, const std::optional<double>& size) {
  const std::size_t place = place_of_letter(name);
  if (place == std::string::npos) return false;
  if (!size) {
    throw Error(Code::bad_value, fmt::format("size: is missing; it stands for {} in {} {}",
                                             name[place], field, name));
  }
  name.replace(place, 1, question::number_text(*size));
  return true;
}

void resolve_size(VariantsQuestion& q) {
  const bool in_mask = set_size(q.form.mask, "mask", q.size);
  const bool in_attention = q.form.attention && set_size(*q.form.attention, "attention", q.size);
  if (q.size && !in_mask && !in_attention) {
    throw Error(Code::bad_value,
                fmt::format("size: {} stands for nothing; allowed: with a capital letter in mask "
                            "or attention, as window:W",
                            question::number_text(*q.size)));
  }
  q.size.reset();
}

}  // namespace

VariantsQuestion resolved(VariantsQuestion q) {
  q.cloud = resolved_known(std::move(q.cloud));
  resolve_size(q);
  q.form = resolved(q.form, q.cloud);
  return q;
}

VariantDew variant_dew_of(const VariantsQuestion& q, std::uint64_t seed) {
  return {cloud_of(q.cloud), form_of(q.form), q.rows, seed};
}

}  // namespace dewpoint::experiments
