#include "dewpoint/studies/chain_parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {
namespace {

std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  const char* next = text.data();
  const char* end = next + text.size();
  while (true) {
    double value = 0.0;
    const auto [stop, error] = std::from_chars(next, end, value);
    if (error != std::errc() || (stop != end && *stop != ',')) {
      throw Error(Code::bad_value, fmt::format("pi: '{}' is not numbers with commas between them, "
                                               "\"0.75,0.19,0.05,0.01\"",
                                               text));
    }
    numbers.push_back(value);
    if (stop == end) return numbers;
    next = stop + 1;
  }
}

}  // namespace

std::vector<Field> chain_parameters(const std::vector<Field>& others) {
  using enum Kind;
  std::vector<Field> all = {
      {"pi", word, Value("0.75,0.19,0.05,0.01"), "stationary law of the tokens, as a text"},
      {"lambda", number, Value(0.8), "how often a token repeats, for the chain lambda; in (0, 1)"},
      {"chain", word, Value("lambda"), "lambda, metropolis, birth-death or cycle", true,
       training::chain_names()}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

training::Chain chain_at(const Point& point) {
  return training::named_chain(word_of(point, "chain"), numbers_in(word_of(point, "pi")),
                               number_of(point, "lambda"));
}

void sort_law(Point& point) {
  std::vector<double> law = numbers_in(word_of(point, "pi"));
  std::sort(law.begin(), law.end(), std::greater<>());
  point["pi"] = fmt::format("{}", fmt::join(law, ","));
}

Dimension token_dimension(const training::Chain& chain) {
  Dimension token{"token", {}, {}};
  for (std::size_t k = 0; k < chain.vocabulary(); ++k) {
    token.coordinates.push_back(static_cast<double>(k));
  }
  return token;
}

}  // namespace dewpoint::studies
