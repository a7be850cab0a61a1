#include "dewpoint/checkpoint/number_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "dewpoint/checkpoint/npy.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr std::string_view kArrayMagic = "\x93NUMPY";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr const char* kAllowedNumber = "finite decimal numbers such as -1.5 or 1e3";

// A text, fed in pieces that may end anywhere. Throws a Refusal at the first thing that is wrong.
class TableText {
 public:
  explicit TableText(const TableWords& words) : words_(words) {}

  void feed(std::string_view piece) {
    for (const char c : piece) take(c);
  }

  Matrix<double> finish() {
    end_line();
    if (values_.empty()) {
      throw Refusal{"file", "no numbers",
                    fmt::format("one line of {} per {}", words_.numbers, words_.row)};
    }
    Matrix<double> numbers(lines_, per_line_);
    std::copy(values_.begin(), values_.end(), numbers.data());
    return numbers;
  }

 private:
  void take(char c) {
    if (c == '\n') return end_line();
    if (comment_) return;
    if (carriage_return_) {
      throw Refusal{fmt::format("line {}", line_), "a carriage return inside",
                    "lines that end with \\n or \\r\\n"};
    }
    switch (c) {
      case ' ':
      case '\t':
        return end_word();
      case ',':
        return take_comma();
      case '#':
        comment_ = true;
        return end_word();
      case '\r':
        carriage_return_ = true;
        return end_word();
      default:
        return take_letter(c);
    }
  }

  void take_letter(char c) {
    word_ += c;
    if (word_.size() > kLongestNumber) {
      refuse_word(fmt::format(", more than {} characters", kLongestNumber));
    }
  }

  void take_comma() {
    end_word();
    if (comma_ || found_ == 0) refuse_missing();
    comma_ = true;
  }

  void end_word() {
    if (word_.empty()) return;
    values_.push_back(number());
    word_.clear();
    comma_ = false;
    ++found_;
  }

  // What the word spells.
  [[nodiscard]] double number() const {
    const bool plus = word_.starts_with('+') && !word_.starts_with("+-");
    const char* end = word_.data() + word_.size();
    double value = 0.0;
    const auto [stop, error] = std::from_chars(word_.data() + (plus ? 1 : 0), end, value);
    if (error == std::errc::result_out_of_range && stop == end) {
      refuse_word(", which no double can hold");
    }
    if (error != std::errc{} || stop != end || !std::isfinite(value)) refuse_word("");
    return value;
  }

  void end_line() {
    end_word();
    if (comma_) refuse_missing();
    if (found_ > 0) count_line();
    found_ = 0;
    comment_ = carriage_return_ = false;
    ++line_;
  }

  void count_line() {
    if (lines_ == 0) {
      per_line_ = found_;
      first_line_ = line_;
    } else if (found_ != per_line_) {
      throw Refusal{fmt::format("line {}", line_), counted(found_),
                    fmt::format("{}, as in line {}", counted(per_line_), first_line_)};
    }
    ++lines_;
  }

  [[noreturn]] void refuse_word(std::string_view reason) const {
    throw Refusal{place(), fmt::format("'{}'{}", excerpt(word_), reason), kAllowedNumber};
  }

  [[noreturn]] void refuse_missing() const {
    throw Refusal{place(), "nothing beside a comma", kAllowedNumber};
  }

  static std::string counted(std::size_t count) {
    return fmt::format("{} number{}", count, count == 1 ? "" : "s");
  }

  // Of the number that is being read.
  [[nodiscard]] std::string place() const {
    return fmt::format("line {}, number {}", line_, found_ + 1);
  }

  TableWords words_;
  std::deque<double> values_;
  std::string word_;
  std::size_t line_ = 1;
  std::size_t found_ = 0;  // numbers of this line
  bool comma_ = false;     // since the last of them
  bool comment_ = false;   // has begun in this line
  bool carriage_return_ = false;
  std::size_t lines_ = 0;     // that have numbers
  std::size_t per_line_ = 0;  // numbers of each
  std::size_t first_line_ = 0;
};

std::string_view without_mark(std::string_view beginning) {
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  return beginning;
}

bool is_array(std::string_view beginning, std::string_view name) {
  return beginning.starts_with(kArrayMagic) || name.ends_with(".npy");
}

// A file, a piece at a time.
class Pieces {
 public:
  Pieces(const std::filesystem::path& path, std::string_view numbers)
      : allowed_(fmt::format("a readable file of {}", numbers)),
        name_(path.string()),
        file_(open_regular_file(path, allowed_)),
        memory_(kTablePiece) {}

  // Up to kTablePiece further bytes, until the next call; empty at the end.
  std::string_view next() {
    file_.read(memory_.data(), static_cast<std::streamsize>(memory_.size()));
    if (file_.bad()) {
      throw to_error(Code::unreadable_file, name_, {"file", "an error while reading", allowed_});
    }
    return {memory_.data(), static_cast<std::size_t>(file_.gcount())};
  }

 private:
  std::string allowed_;
  std::string name_;
  std::ifstream file_;
  std::vector<char> memory_;
};

}  // namespace

NumberTable parse_number_table(std::span<const std::byte> bytes, std::string_view name,
                               const TableWords& words) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_array(text, name)) return {parse_npy_rows(bytes, name), false};
  try {
    TableText table(words);
    table.feed(without_mark(text));
    return {table.finish(), true};
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

NumberTable read_number_table(const std::filesystem::path& path, const TableWords& words) {
  const std::string name = path.string();
  Pieces pieces(path, words.numbers);
  std::string_view piece = pieces.next();
  if (is_array(piece, name)) return {read_npy_rows(path), false};
  try {
    TableText table(words);
    for (piece = without_mark(piece); !piece.empty(); piece = pieces.next()) table.feed(piece);
    return {table.finish(), true};
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::checkpoint
