#include "cli/version.hpp"

#include <fmt/format.h>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/studies/mpi_workers.hpp"

namespace dewpoint::cli {

Answer version_answer() {
  const std::string mpi = studies::mpi_version();
  return {
      {{"version", version()},
       {"commit", commit()},
       {"simd", simd_target()},
       {"blas", blas_description()},
       {"mpi", mpi.empty() ? Json() : Json(mpi)}},
      fmt::format("dewpoint {} (commit {})\nSIMD  {}\nBLAS  {}\nMPI   {}\n", version(), commit(),
                  simd_target(), blas_description(), mpi.empty() ? "not in this build" : mpi)};
}

}  // namespace dewpoint::cli
