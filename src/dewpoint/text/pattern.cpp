#include "dewpoint/text/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <string>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/text/pattern_dialect.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;
using checkpoint::Refusal;

constexpr std::size_t kMostExpression = 16'384;
constexpr unsigned kMostHeapKibibytes = 65'536;
constexpr unsigned kMostDepth = 100'000;

struct Freed {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
template <class T>
using Owned = std::unique_ptr<T, Freed>;

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

// Ruby's ^ and $ stand at every line.
Owned<pcre2_code> compile(std::string_view expression, std::string_view field) {
  constexpr unsigned options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE place = 0;
  Owned<pcre2_code> code(
      pcre2_compile(units(expression), expression.size(), options, &error, &place, nullptr));
  if (code) return code;
  throw Refusal{std::string(field),
                fmt::format("'{}' ({} at byte {})", excerpt(expression), message_of(error), place),
                "an expression that PCRE2 can read"};
}

Owned<pcre2_match_context> limits(unsigned steps) {
  Owned<pcre2_match_context> context(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(context.get(), steps);
  pcre2_set_depth_limit(context.get(), kMostDepth);
  pcre2_set_heap_limit(context.get(), kMostHeapKibibytes);
  return context;
}

// The matches of one text, one after the other.
class Search {
 public:
  Search(const pcre2_code* code, std::string_view text)
      : code_(code),
        text_(text),
        data_(pcre2_match_data_create(1, nullptr)),
        few_steps_(limits(kFewSteps)),
        most_steps_(limits(kMostSteps)),
        long_matches_(1 + text.size() / kBytesPerLongMatch) {}

  std::vector<Span> run() {
    std::vector<Span> found;
    std::size_t from = 0;
    while (from < text_.size() && matches_from(from)) {
      const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_.get());
      if (ends[0] < from || ends[1] <= ends[0]) {
        from = next_character(from);
        continue;
      }
      found.push_back({ends[0], ends[1]});
      from = ends[1];
    }
    return found;
  }

 private:
  bool matches_from(std::size_t from) {
    int outcome = match(from, few_steps_);
    if (outcome == PCRE2_ERROR_MATCHLIMIT && long_matches_ > 0) {
      --long_matches_;
      outcome = match(from, most_steps_);
    }
    if (outcome >= 0) return true;
    if (outcome == PCRE2_ERROR_NOMATCH) return false;
    throw Error(Code::bad_value,
                fmt::format("text: the tokenizer's expression gives up behind byte {} of a piece "
                            "({}), allowed: texts that it can split in at most {} steps per match",
                            from, message_of(outcome), kMostSteps));
  }

  int match(std::size_t from, const Owned<pcre2_match_context>& context) {
    return pcre2_match(code_, units(text_), text_.size(), from, PCRE2_NO_UTF_CHECK, data_.get(),
                       context.get());
  }

  // Behind an empty match the search goes on one character further.
  std::size_t next_character(std::size_t place) const {
    do {
      ++place;
    } while (place < text_.size() && (static_cast<unsigned char>(text_[place]) & 0xc0U) == 0x80U);
    return place;
  }

  const pcre2_code* code_;
  std::string_view text_;
  Owned<pcre2_match_data> data_;
  Owned<pcre2_match_context> few_steps_;
  Owned<pcre2_match_context> most_steps_;
  std::size_t long_matches_;
};

}  // namespace

struct Pattern::Compiled {
  Owned<pcre2_code> code;
};

Pattern::Pattern(std::string_view expression, std::string_view field) {
  if (expression.empty() || expression.size() > kMostExpression) {
    throw Refusal{std::string(field), fmt::format("an expression of {} bytes", expression.size()),
                  fmt::format("1 to {} bytes", kMostExpression)};
  }
  if (const auto foreign = foreign_construct(expression)) {
    throw Refusal{std::string(field), fmt::format("'{}' with {}", excerpt(expression), *foreign),
                  "expressions that Oniguruma and PCRE2 read alike"};
  }
  compiled_ = std::make_shared<const Compiled>(Compiled{compile(expression, field)});
}

std::vector<Span> Pattern::matches(std::string_view text) const {
  return Search(compiled_->code.get(), text).run();
}

}  // namespace dewpoint::text
