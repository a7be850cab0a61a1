#include "dewpoint/training/step_trainer.hpp"

#include <algorithm>
#include <cmath>

#include "dewpoint/core/error.hpp"

namespace dewpoint::training {
namespace {

// Steps between two looks at the stop token.
constexpr std::uint64_t kStepsPerLook = 64;

bool all_finite(const Matrix<double>& matrix) {
  return std::all_of(matrix.data(), matrix.data() + matrix.size(),
                     [](double x) { return std::isfinite(x); });
}

}  // namespace

bool StepTrainer::advance(double time, const RunContext& run) {
  DEWPOINT_EXPECTS(time == std::floor(time) && time >= this->time());
  const auto end = static_cast<std::uint64_t>(time);
  for (std::uint64_t taken = 0; done_ < end; ++taken) {
    if (taken % kStepsPerLook == 0) run.throw_if_stopped();
    const bool finite = step(done_);
    ++done_;
    if (!finite) return false;
  }
  return true;
}

bool is_finite(const TokenMaps& maps) {
  return all_finite(maps.attention) && all_finite(maps.value);
}

}  // namespace dewpoint::training
