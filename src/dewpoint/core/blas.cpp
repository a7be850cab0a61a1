#include "dewpoint/core/blas.hpp"

#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <sstream>

namespace dewpoint {
namespace {

// A call of OpenBLAS for which there is room.
//
// Calls at the same time take a buffer each, which is kept for later calls. Where the system gives
// no memory, OpenBLAS asks again for ever; so whoever makes one call more than there were before
// first tries whether a buffer could be had. Memory that somebody else takes in the microseconds
// between the two is not seen.
class BlasCall {
 public:
  BlasCall() {
    static std::once_flag once;
    std::call_once(once, [] { openblas_set_num_threads(1); });
    if (under_way.fetch_add(1) + 1 > most_so_far.load()) find_room();
  }
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;
  ~BlasCall() { under_way.fetch_sub(1); }

 private:
  static void find_room() {
    const std::lock_guard lock(mutex);
    const int all = under_way.load(), more = all - most_so_far.load();
    if (more <= 0) return;
    if (!memory_is_left(static_cast<std::size_t>(more) * kBlasBufferBytes)) {
      under_way.fetch_sub(1);
      throw std::bad_alloc();
    }
    most_so_far.store(all);
  }

  static inline std::atomic<int> under_way = 0;
  static inline std::atomic<int> most_so_far = 0;
  static inline std::mutex mutex;
};

blasint dim(std::size_t n) { return static_cast<blasint>(n); }

// c = a b + keep c
void sgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::size_t inner, MatrixView<const float> a,
           MatrixView<const float> b, float keep, MatrixView<float> c) {
  const BlasCall call;
  cblas_sgemm(CblasRowMajor, ta, tb, dim(c.rows()), dim(c.cols()), dim(inner), 1.0F, a.data(),
              dim(a.stride()), b.data(), dim(b.stride()), keep, c.data(), dim(c.stride()));
}

void dgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::size_t inner, MatrixView<const double> a,
           MatrixView<const double> b, double keep, MatrixView<double> c) {
  const BlasCall call;
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

bool memory_is_left(std::size_t bytes) {
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return address != MAP_FAILED && ::munmap(address, bytes) == 0;
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
