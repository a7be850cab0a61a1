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

void sgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::size_t inner, MatrixView<const float> a,
           MatrixView<const float> b, MatrixView<float> c) {
  keep_to_one_thread();
  cblas_sgemm(CblasRowMajor, ta, tb, dim(c.rows()), dim(c.cols()), dim(inner), 1.0F, a.data(),
              dim(a.stride()), b.data(), dim(b.stride()), 0.0F, c.data(), dim(c.stride()));
}

}  // namespace

void multiply_abt(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.cols() == b.cols() && c.rows() == a.rows() && c.cols() == b.rows());
  sgemm(CblasNoTrans, CblasTrans, a.cols(), a, b, c);
}

void multiply_ab(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols());
  sgemm(CblasNoTrans, CblasNoTrans, a.cols(), a, b, c);
}

void multiply_atb(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  DEWPOINT_EXPECTS(a.rows() == b.rows() && c.rows() == a.cols() && c.cols() == b.cols());
  sgemm(CblasTrans, CblasNoTrans, a.rows(), a, b, c);
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
