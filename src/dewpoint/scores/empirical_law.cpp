#include "dewpoint/scores/empirical_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint::scores {
namespace {

// The row's own number, apart from those of the subset, which begin at 0.
constexpr std::uint64_t kRowIndex = std::uint64_t{1} << 62;

}  // namespace

EmpiricalLaw::EmpiricalLaw(Matrix<double> scores)
    : scores_(std::move(scores)), largest_(-std::numeric_limits<double>::infinity()) {
  if (scores_.rows() < 1 || scores_.cols() < 2) {
    throw Error(Code::bad_value, fmt::format("scores: {} x {} is not at least 1 row and 2 columns",
                                             scores_.rows(), scores_.cols()));
  }
  for (std::size_t i = 0; i < scores_.rows(); ++i) {
    for (std::size_t j = 0; j < scores_.cols(); ++j) {
      const double score = scores_(i, j);
      if (!std::isfinite(score)) {
        throw Error(Code::bad_value, fmt::format("scores: row {}, column {}: {} is not finite",
                                                 i + 1, j + 1, score));
      }
      largest_ = std::max(largest_, score);
    }
  }
}

std::string EmpiricalLaw::name() const {
  return fmt::format("empirical:rows={},columns={}", scores_.rows(), scores_.cols());
}

std::vector<double> EmpiricalLaw::sample(std::size_t count, const Stream& stream) const {
  if (count > scores_.cols()) {
    throw Error(Code::bad_value, fmt::format("n: {} is not at most {}, the number of measured keys",
                                             count, scores_.cols()));
  }
  const auto row =
      static_cast<std::size_t>(stream.uniform(kRowIndex) * static_cast<double>(scores_.rows()));
  std::vector<double> depths;
  depths.reserve(count);
  for (const std::size_t key : sample_without_replacement(scores_.cols(), count, stream)) {
    depths.push_back(largest_ - scores_(row, key));
  }
  return depths;
}

}  // namespace dewpoint::scores
