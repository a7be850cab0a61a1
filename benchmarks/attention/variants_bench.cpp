// Every kind of attention and every mask with all row statistics, against the identical BLAS calls
// alone: scores of a strip of queries with the keys that they see, and weights times values.
//
// d = 64, one thread; n = 8192 where all keys are seen, n = 65536 where a window of 1024 is. What
// is measured is the share of the matrix products in the time of the whole: the rest is
// exponentials, statistics, gathering the keys of a mask and choosing the largest of top:K. Linear
// kinds have products in double and no pairs; their share is that of the products which sum keys.
#include <cmath>
#include <cstdlib>
#include <string>
#include <variant>

#include "dewpoint/attention/variants/kernel_sums.hpp"
#include "dewpoint/attention/variants/linear_attention.hpp"
#include "dewpoint/attention/variants/score_strip.hpp"
#include "dewpoint/attention/variants/variant_reference.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/random.hpp"
#include "support/timing.hpp"

namespace dewpoint {
namespace {

using namespace attention;

constexpr std::size_t kDimension = 64;

struct Case {
  const char* kind;
  const char* mask;
  std::size_t tokens;
  double claimed;  // share of the products in the whole
};
constexpr Case kCases[] = {{"softmax", "none", 8192, 0.6},
                           {"sink:8", "none", 8192, 0.6},
                           {"top:64", "none", 8192, 0.2},
                           {"softmax", "causal", 8192, 0.6},
                           {"softmax", "window:1024", 65536, 0.6},
                           {"softmax", "global:1024:64", 65536, 0.6},
                           {"softmax", "dilated:1024:4", 65536, 0.6}};

AttentionMatrices unit_inputs(std::size_t n) {
  const auto rows = [&](const char* name) {
    Matrix<double> result(n, kDimension);
    Stream(1, name).normals(0, {result.data(), result.size()});
    for (std::size_t k = 0; k < result.size(); ++k) result.data()[k] /= 8.0;  // length near 1
    return result;
  };
  return {rows("bench/queries"), rows("bench/keys"), rows("bench/values")};
}

AttentionVariant variant_of(const Case& one) {
  const double beta = 2.0 * std::log(static_cast<double>(one.tokens));
  return {beta, parse_key_pattern(one.mask), parse_attention_kind(one.kind), 1, 0};
}

Matrix<float> rounded(const Matrix<double>& from) {
  Matrix<float> to(from.rows(), from.cols());
  for (std::size_t k = 0; k < from.size(); ++k) to.data()[k] = static_cast<float>(from.data()[k]);
  return to;
}

// The products of softmax_attention.cpp and nothing else.
class ProductsAlone {
 public:
  ProductsAlone(const AttentionMatrices& inputs, const AttentionVariant& variant)
      : mask_(variant.mask),
        queries_(rounded(inputs.queries)),
        keys_(rounded(inputs.keys)),
        values_(rounded(inputs.values)) {}

  void run() const {
    const std::size_t n = keys_.rows();
    for (std::size_t s = 0; s < strips_of<float>(n); ++s) {
      const Range strip = strip_of<float>(s, n);
      const KeyColumns columns(mask_.ranges_seen(strip, n));
      Matrix<float> weights(strip.size(), columns.size());
      Matrix<float> part(strip.size(), values_.cols());
      columns.for_each_range([&](Range keys, Range place) {
        multiply_abt(queries_.view().row_range(strip), keys_.view().row_range(keys),
                     columns_of(weights.view(), place));
      });
      columns.for_each_range(kMixedKeys, [&](Range keys, Range place) {
        multiply_ab(columns_of(weights.view(), place), values_.view().row_range(keys), part);
      });
    }
  }

 private:
  KeyPattern mask_;
  Matrix<float> queries_, keys_, values_;
};

// The sums over keys of linear_attention.cpp alone, without features.
void sums_alone(const AttentionMatrices& inputs, const Matrix<double>& values, SummedRows summed) {
  (void)kernel_sums(summed, inputs.queries, inputs.keys, values, {1, {}, {}});
}

// Largest difference of an output from the reference, on a prefix that the reference can take.
double largest_error(const Case& one) {
  const AttentionMatrices inputs = unit_inputs(1500);
  const AttentionVariant variant = variant_of(one);
  const auto fast = variant_attention(inputs.views(), variant);
  const auto truth = reference_outputs(inputs.views(), variant);
  double worst = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    worst = std::max(worst, std::abs(fast.outputs.data()[k] - truth.data()[k]));
  }
  return worst;
}

bool is_right(const Case& one) {
  // float32 logits up to 30; of top:K a key at the edge may be another one, with a weight of 1e-2.
  const double allowed = std::string(one.kind).starts_with("top") ? 2e-2 : 2e-4;
  const double error = largest_error(one);
  if (error > allowed) fmt::print("{} under {} is off by {}\n", one.kind, one.mask, error);
  return error <= allowed;
}

void time_softmax(const Case& one) {
  const AttentionMatrices inputs = unit_inputs(one.tokens);
  const AttentionVariant variant = variant_of(one);
  const ProductsAlone products(inputs, variant);
  const RunContext one_thread{1, {}, {}};
  std::vector<bench::Contestant> race = {
      {fmt::format("{}, {}, n = {}", one.kind, one.mask, one.tokens),
       [&] { (void)variant_attention(inputs.views(), variant, one_thread); }},
      {"identical BLAS calls alone", [&] { products.run(); }}};
  bench::race(race, 5);
  for (const auto& contestant : race) bench::print(contestant);
  bench::claim("BLAS alone / whole", race[1].best() / race[0].best(), one.claimed);
}

// Without a mask the features themselves, one exponential each, take longer than their sums.
void time_linear(const char* mask, double claimed) {
  const Case one{"linear", mask, 65536, claimed};
  const AttentionMatrices inputs = unit_inputs(one.tokens);
  const AttentionVariant variant = variant_of(one);
  Matrix<double> values(one.tokens, kDimension + 1);
  const auto summed = std::string(mask) == "none" ? SummedRows::all : SummedRows::up_to_own;
  const RunContext one_thread{1, {}, {}};
  std::vector<bench::Contestant> race = {
      {fmt::format("linear, {}, n = {}", mask, one.tokens),
       [&] { (void)variant_attention(inputs.views(), variant, one_thread); }},
      {"its sums over keys alone", [&] { sums_alone(inputs, values, summed); }}};
  bench::race(race, 5);
  for (const auto& contestant : race) bench::print(contestant);
  bench::claim("sums alone / whole", race[1].best() / race[0].best(), one.claimed);
}

}  // namespace
}  // namespace dewpoint

int main() {
  using namespace dewpoint;
  for (const Case& one : kCases) {
    if (!is_right(one)) return EXIT_FAILURE;
  }
  fmt::print("attention of every kind, d = {}, one thread, {}, {}\n", kDimension, simd_target(),
             blas_description());
  for (const Case& one : kCases) time_softmax(one);
  time_linear("none", 0.2);
  time_linear("causal", 0.4);
}
