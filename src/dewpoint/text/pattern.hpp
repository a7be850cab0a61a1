// Regular expressions of tokenizer.json files, through PCRE2.
//
// Those files are written for Oniguruma with Ruby's syntax. What both read alike is accepted; what
// PCRE2 would read differently, or not at all, is refused, so that a text is never split otherwise
// than its model was trained on. One known difference stays: to PCRE2 \s holds U+180E too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace dewpoint::text {

struct Span {
  std::size_t begin;
  std::size_t end;
};

class Pattern {
 public:
  /// Throws Refusal with the field.
  Pattern(std::string_view expression, std::string_view field);

  /// All matches from left to right, none of them empty, no two overlapping.
  ///
  ///   Domain      text is UTF-8.
  ///   Properties  (1) time is at most proportional to the text, whatever the expression: a match
  ///                   may take kMostSteps, and few of them more than kFewSteps.
  ///
  /// Throws Error{bad_value} where an expression takes more.
  [[nodiscard]] std::vector<Span> matches(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

/// Steps of PCRE2's matcher for one match. The expressions of real tokenizers need about as many as
/// a match has bytes, so the second number is for runs of thousands of blanks: one such match is
/// allowed for every kBytesPerLongMatch bytes.
inline constexpr unsigned kFewSteps = 10'000;
inline constexpr unsigned kMostSteps = 10'000'000;
inline constexpr std::size_t kBytesPerLongMatch = 1000;

}  // namespace dewpoint::text
