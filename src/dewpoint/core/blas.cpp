#include "dewpoint/core/blas.hpp"

#include <cblas.h>

#include <mutex>
#include <sstream>

namespace dewpoint {
namespace {

void keep_to_one_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

blasint dim(std::size_t n) { return static_cast<blasint>(n); }

// c = a b + keep c
void sgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::size_t inner, MatrixView<const float> a,
           MatrixView<const float> b, float keep, MatrixView<float> c) {
  keep_to_one_thread();
  cblas_sgemm(CblasRowMajor, ta, tb, dim(c.rows()), dim(c.cols()), dim(inner), 1.0F, a.data(),
              dim(a.stride()), b.data(), dim(b.stride()), keep, c.data(), dim(c.stride()));
}

void dgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::size_t inner, MatrixView<const double> a,
           MatrixView<const double> b, double keep, MatrixView<double> c) {
  keep_to_one_thread();
  cblas_dgemm(CblasRowMajor, ta, tb, dim(c.rows()), dim(c.cols()), dim(inner), 1.0, a.data(),
              dim(a.stride()), b.data(), dim(b.stride()), keep, c.data(), dim(c.stride()));
}

}  // namespace

void multiply_abt(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows());
  sgemm(CblasNoTrans, CblasTrans, a.cols(), a, b, 0.0F, c);
}

void multiply_ab(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols());
  sgemm(CblasNoTrans, CblasNoTrans, a.cols(), a, b, 0.0F, c);
}

void multiply_atb(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.rows() == b.rows() && c.rows() == a.cols() && c.cols() == b.cols());
  sgemm(CblasTrans, CblasNoTrans, a.rows(), a, b, 0.0F, c);
}

void add_abt(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows());
  sgemm(CblasNoTrans, CblasTrans, a.cols(), a, b, 1.0F, c);
}

void add_ab(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols());
  sgemm(CblasNoTrans, CblasNoTrans, a.cols(), a, b, 1.0F, c);
}

void add_atb(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.rows() == b.rows() && c.rows() == a.cols() && c.cols() == b.cols());
  sgemm(CblasTrans, CblasNoTrans, a.rows(), a, b, 1.0F, c);
}

void multiply_abt(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  DEWPOINT_EXPECTS(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows());
  dgemm(CblasNoTrans, CblasTrans, a.cols(), a, b, 0.0, c);
}

void multiply_ab(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  DEWPOINT_EXPECTS(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols());
  dgemm(CblasNoTrans, CblasNoTrans, a.cols(), a, b, 0.0, c);
}

void multiply_atb(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  DEWPOINT_EXPECTS(a.rows() == b.rows() && c.rows() == a.cols() && c.cols() == b.cols());
  dgemm(CblasTrans, CblasNoTrans, a.rows(), a, b, 0.0, c);
}

void add_abt(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  DEWPOINT_EXPECTS(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows());
  dgemm(CblasNoTrans, CblasTrans, a.cols(), a, b, 1.0, c);
}

void add_ab(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  DEWPOINT_EXPECTS(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols());
  dgemm(CblasNoTrans, CblasNoTrans, a.cols(), a, b, 1.0, c);
}

void add_atb(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
  DEWPOINT_EXPECTS(a.rows() == b.rows() && c.rows() == a.cols() && c.cols() == b.cols());
  dgemm(CblasTrans, CblasNoTrans, a.rows(), a, b, 1.0, c);
}

std::string blas_description() {
  // openblas_get_config() begins with "OpenBLAS <version> <options...>".
  std::istringstream config(openblas_get_config());
  std::string library;
  std::string version;
  config >> library >> version;
  return library + " " + version + " (" + openblas_get_corename() + ")";
}

}  // namespace dewpoint
