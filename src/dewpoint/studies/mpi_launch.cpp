#include <cstdlib>

#include "dewpoint/studies/mpi_workers.hpp"

namespace dewpoint::studies {
namespace {

bool above_one(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strtol(value, nullptr, 10) > 1;
}

}  // namespace

// Slurm counts the tasks of a batch script as well; only what srun starts has a rank of PMIx.
bool under_mpi() {
  return above_one("OMPI_COMM_WORLD_SIZE") || above_one("PMI_SIZE") ||
         (std::getenv("PMIX_RANK") != nullptr && above_one("SLURM_NTASKS"));
}

}  // namespace dewpoint::studies
