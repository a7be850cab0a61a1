#include "dewpoint/checkpoint/score_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "dewpoint/checkpoint/npy.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr TableWords kWords{.numbers = "scores", .row = "query"};

// --- tables --------------------------------------------------------------------------------------

// A text of one number per line is one query.
Matrix<double> laid_flat(Matrix<double> text) {
  if (text.cols() > 1) return text;
  Matrix<double> query(1, text.rows());
  std::copy_n(text.data(), text.size(), query.data());
  return query;
}

Matrix<double> scores_of_text(Matrix<double> text, std::string_view name) {
  Matrix<double> scores = laid_flat(std::move(text));
  if (scores.cols() >= kFewestKeys) return scores;
  throw to_error(Code::malformed_file, name,
                 {"keys", fmt::format("{} per query", scores.cols()),
                  fmt::format("at least {} keys", kFewestKeys)});
}

Matrix<double> scores_of_array(Matrix<double> scores, std::string_view name) {
  if (scores.cols() >= kFewestKeys) return scores;
  throw to_error(Code::malformed_file, name,
                 {"shape", fmt::format("({}, {})", scores.rows(), scores.cols()),
                  fmt::format("(queries, keys) or (keys,) with at least {} keys", kFewestKeys)});
}

Matrix<double> scores_of(NumberTable table, std::string_view name) {
  return table.is_text ? scores_of_text(std::move(table.numbers), name)
                       : scores_of_array(std::move(table.numbers), name);
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
  return scores_of(parse_number_table(bytes, name, kWords), name);
}

Matrix<double> read_scores(const std::filesystem::path& path) {
  return scores_of(read_number_table(path, kWords), path.string());
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
