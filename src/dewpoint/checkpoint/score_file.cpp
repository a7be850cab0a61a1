#include "dewpoint/checkpoint/score_file.hpp"

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
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr std::string_view kArrayMagic = "\x93NUMPY";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr const char* kAllowedNumber = "finite decimal numbers such as -1.5 or 1e3";

// --- text ----------------------------------------------------------------------------------------

// A text, fed in pieces that may end anywhere. Throws a Refusal at the first thing that is wrong.
class ScoreText {
 public:
  void feed(std::string_view piece) {
    for (const char c : piece) take(c);
  }

  Matrix<double> finish() {
    end_line();
    if (values_.empty()) throw Refusal{"file", "no numbers", "one line of scores per query"};
    const bool column = per_line_ == 1;
    const std::size_t rows = column ? 1 : lines_, keys = column ? lines_ : per_line_;
    if (keys < kFewestKeys) {
      throw Refusal{"keys", fmt::format("{} per query", keys),
                    fmt::format("at least {} keys", kFewestKeys)};
    }
    Matrix<double> scores(rows, keys);
    std::copy(values_.begin(), values_.end(), scores.data());
    return scores;
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
      throw Refusal{fmt::format("line {}", line_), numbers(found_),
                    fmt::format("{}, as in line {}", numbers(per_line_), first_line_)};
    }
    ++lines_;
  }

  [[noreturn]] void refuse_word(std::string_view reason) const {
    throw Refusal{place(), fmt::format("'{}'{}", excerpt(word_), reason), kAllowedNumber};
  }

  [[noreturn]] void refuse_missing() const {
    throw Refusal{place(), "nothing beside a comma", kAllowedNumber};
  }

  static std::string numbers(std::size_t count) {
    return fmt::format("{} number{}", count, count == 1 ? "" : "s");
  }

  // Of the number that is being read.
  [[nodiscard]] std::string place() const {
    return fmt::format("line {}, number {}", line_, found_ + 1);
  }

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

Matrix<double> with_enough_keys(Matrix<double> scores, std::string_view name) {
  if (scores.cols() >= kFewestKeys) return scores;
  throw to_error(Code::malformed_file, name,
                 {"shape", fmt::format("({}, {})", scores.rows(), scores.cols()),
                  fmt::format("(queries, keys) or (keys,) with at least {} keys", kFewestKeys)});
}

bool is_array(std::string_view beginning, std::string_view name) {
  return beginning.starts_with(kArrayMagic) || name.ends_with(".npy");
}

// --- files ---------------------------------------------------------------------------------------

// Up to kScoreFilePiece further bytes of the file, in `piece`; empty at its end.
std::string_view next_piece(std::ifstream& file, std::vector<char>& piece,
                            const std::filesystem::path& path) {
  file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  if (file.bad()) {
    throw to_error(Code::unreadable_file, path.string(),
                   {"file", "an error while reading", "a readable file of scores"});
  }
  return {piece.data(), static_cast<std::size_t>(file.gcount())};
}

// --- queries and keys ----------------------------------------------------------------------------

void check_shapes(const Matrix<double>& queries, const Matrix<double>& keys,
                  const std::string& keys_name) {
  const std::string shape = fmt::format("({}, {})", keys.rows(), keys.cols());
  if (queries.cols() != keys.cols()) {
    throw to_error(
        Code::malformed_file, keys_name,
        {"shape", shape, fmt::format("(keys, {}), as the queries have", queries.cols())});
  }
  if (keys.rows() < kFewestKeys) {
    throw to_error(Code::malformed_file, keys_name,
                   {"shape", shape, fmt::format("at least {} keys", kFewestKeys)});
  }
}

void check_memory(const Matrix<double>& queries, const Matrix<double>& keys,
                  std::uint64_t most_bytes) {
  const auto rows = static_cast<double>(queries.rows());
  const auto cols = static_cast<double>(keys.rows()), d = static_cast<double>(keys.cols());
  const double bytes = sizeof(double) * (rows * cols + (rows + cols) * d);
  if (bytes <= static_cast<double>(most_bytes)) return;
  throw Error(Code::bad_value,
              fmt::format("scores: {} queries and {} keys of dimension {} take {:.3g} GiB, not at "
                          "most {:.3g} GiB",
                          queries.rows(), keys.rows(), keys.cols(), bytes * 0x1p-30,
                          static_cast<double>(most_bytes) * 0x1p-30));
}

void scale_scores(Matrix<double>& scores, double scale, const std::string& name) {
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    for (std::size_t j = 0; j < scores.cols(); ++j) {
      scores(i, j) *= scale;
      if (std::isfinite(scores(i, j))) continue;
      throw to_error(
          Code::malformed_file, name,
          {"data",
           fmt::format("a score of {} for query {}, key {} (counted from 0)", scores(i, j), i, j),
           "queries and keys with finite scores"});
    }
  }
}

}  // namespace

Matrix<double> parse_scores(std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_array(text, name)) return with_enough_keys(parse_npy_rows(bytes, name), name);
  try {
    ScoreText scores;
    scores.feed(without_mark(text));
    return scores.finish();
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

Matrix<double> read_scores(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::ifstream file = open_regular_file(path, "a readable file of scores");
  std::vector<char> memory(kScoreFilePiece);
  std::string_view piece = next_piece(file, memory, path);
  if (is_array(piece, name)) return with_enough_keys(read_npy_rows(path), name);
  try {
    ScoreText scores;
    for (piece = without_mark(piece); !piece.empty(); piece = next_piece(file, memory, path)) {
      scores.feed(piece);
    }
    return scores.finish();
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

Matrix<double> read_query_key_scores(const std::filesystem::path& queries,
                                     const std::filesystem::path& keys, double scale,
                                     std::uint64_t most_bytes) {
  if (!(scale > 0.0) || std::isinf(scale)) {
    throw Error(Code::bad_value, fmt::format("scale: {} is not a positive number", scale));
  }
  const Matrix<double> q = read_npy_matrix(queries), k = read_npy_matrix(keys);
  check_shapes(q, k, keys.string());
  check_memory(q, k, most_bytes);
  Matrix<double> scores(q.rows(), k.rows());
  multiply_abt(q, k, scores);
  scale_scores(scores, scale, keys.string());
  return scores;
}

}  // namespace dewpoint::checkpoint
