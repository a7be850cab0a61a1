#include "support/dense_algebra.hpp"

#include <algorithm>
#include <limits>

namespace dewpoint::test {
namespace {

/// Turns the coordinates p and q so that the entry between them vanishes.
void rotate(Matrix<long double>& a, std::size_t p, std::size_t q) {
  const long double ratio = (a(q, q) - a(p, p)) / (2.0L * a(p, q));
  const long double tangent =
      std::copysign(1.0L, ratio) / (std::fabs(ratio) + std::sqrt(1.0L + ratio * ratio));
  const long double cosine = 1.0L / std::sqrt(1.0L + tangent * tangent);
  const long double sine = tangent * cosine;
  for (std::size_t k = 0; k < a.rows(); ++k) {
    const long double x = a(k, p), y = a(k, q);
    a(k, p) = cosine * x - sine * y;
    a(k, q) = sine * x + cosine * y;
  }
  for (std::size_t k = 0; k < a.rows(); ++k) {
    const long double x = a(p, k), y = a(q, k);
    a(p, k) = cosine * x - sine * y;
    a(q, k) = sine * x + cosine * y;
  }
  a(p, q) = a(q, p) = 0.0L;
}

/// One sweep. False where all entries off the diagonal are already rounding beside those on it.
bool sweep(Matrix<long double>& a) {
  constexpr long double kRounding = std::numeric_limits<long double>::epsilon();
  long double largest = 0.0L;
  for (std::size_t i = 0; i < a.rows(); ++i) largest = std::max(largest, std::fabs(a(i, i)));
  bool moved = false;
  for (std::size_t p = 0; p < a.rows(); ++p) {
    for (std::size_t q = p + 1; q < a.rows(); ++q) {
      if (std::fabs(a(p, q)) <= kRounding * largest / 64.0L) continue;
      rotate(a, p, q);
      moved = true;
    }
  }
  return moved;
}

}  // namespace

Matrix<long double> in_long_double(const Matrix<double>& a) {
  Matrix<long double> result(a.rows(), a.cols());
  std::copy_n(a.data(), a.size(), result.data());
  return result;
}

std::vector<long double> jacobi_eigenvalues(Matrix<long double> symmetric) {
  constexpr int kSweeps = 40;  // quadratic convergence ends after some ten
  for (int k = 0; k < kSweeps && sweep(symmetric); ++k) {
  }
  std::vector<long double> values;
  for (std::size_t i = 0; i < symmetric.rows(); ++i) values.push_back(symmetric(i, i));
  std::sort(values.begin(), values.end());
  return values;
}

Matrix<long double> orthonormal_columns(Matrix<long double> a) {
  const auto inner = [&](std::size_t k, std::size_t l) {
    long double sum = 0.0L;
    for (std::size_t i = 0; i < a.rows(); ++i) sum += a(i, k) * a(i, l);
    return sum;
  };
  for (std::size_t k = 0; k < a.cols(); ++k) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t l = 0; l < k; ++l) {
        const long double share = inner(k, l);
        for (std::size_t i = 0; i < a.rows(); ++i) a(i, k) -= share * a(i, l);
      }
    }
    const long double size = std::sqrt(inner(k, k));
    for (std::size_t i = 0; i < a.rows(); ++i) a(i, k) /= size;
  }
  return a;
}

}  // namespace dewpoint::test
