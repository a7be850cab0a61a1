// Why the kernels bring their own exponential: ours (float32, x ≤ 0) against Highway's.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/exp_bench.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstdlib>

#include "dewpoint/core/kernels.hpp"
#include "support/timing.hpp"

HWY_BEFORE_NAMESPACE();
namespace dewpoint::HWY_NAMESPACE {
namespace {

void highway_exp(const float* in, float* out, std::size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> f;
  for (std::size_t j = 0; j < n; j += hn::Lanes(f)) {
    hn::Store(hn::Exp(f, hn::Neg(hn::Load(f, in + j))), f, out + j);
  }
}

}  // namespace
}  // namespace dewpoint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dewpoint {
HWY_EXPORT(highway_exp);
}

int main() {
  using namespace dewpoint;
  constexpr std::size_t n = 1 << 16;
  Matrix<float> gaps(1, n), ours(1, n), theirs(1, n);
  for (std::size_t j = 0; j < n; ++j) gaps(0, j) = 40.0F * static_cast<float>(j) / n;

  kernels::exp_gaps(gaps, 1.0F, ours);
  HWY_DYNAMIC_DISPATCH(highway_exp)(gaps.data(), theirs.data(), n);
  double worst_ours = 0.0, worst_theirs = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    const double truth = std::exp(-static_cast<double>(gaps(0, j)));
    worst_ours = std::max(worst_ours, std::abs(ours(0, j) / truth - 1.0) / 0x1p-23);
    worst_theirs = std::max(worst_theirs, std::abs(theirs(0, j) / truth - 1.0) / 0x1p-23);
  }
  if (worst_ours > kernels::kExpUlp + 40.0 * kernels::kExpUlpPerUnit) {
    fmt::print("the kernel's exponential is off by {} ulp: not timed\n", worst_ours);
    return EXIT_FAILURE;
  }
  std::vector<bench::Contestant> race = {{"ours", [&] { kernels::exp_gaps(gaps, 1.0F, ours); }},
                                         {"Highway contrib Exp", [&] {
                                            HWY_DYNAMIC_DISPATCH(highway_exp)
                                            (gaps.data(), theirs.data(), n);
                                          }}};
  bench::race(race, 200);
  fmt::print("exp of {} floats on {}, one thread\n", n, simd_target());
  for (const auto& contestant : race) bench::print(contestant);
  fmt::print("  largest error in [-40, 0]: ours {:.2f} ulp, Highway {:.2f} ulp\n", worst_ours,
             worst_theirs);
  fmt::print("  ratio: {:.2f} times Highway's speed\n", race[1].best() / race[0].best());
}
#endif  // HWY_ONCE
