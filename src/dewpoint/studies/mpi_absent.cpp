#include "dewpoint/core/error.hpp"
#include "dewpoint/studies/mpi_workers.hpp"

// Stands in for mpi_workers.cpp where MPI was not found: the constructor refuses, so nothing else
// is ever called.

namespace dewpoint::studies {

class MpiPost {};

std::string mpi_version() { return {}; }

MpiJob::MpiJob() {
  throw Error(Code::missing_tool,
              "MPI: this program was built without it; run it without mpirun, or build it where "
              "Open MPI is installed");
}

MpiJob::~MpiJob() = default;

std::string MpiJob::share(const std::string& text) { return text; }

std::unique_ptr<Workers> MpiJob::workers(const Experiment&, std::uint64_t, int) { return nullptr; }

void MpiJob::serve(const Experiment&, std::uint64_t, int, std::stop_token) {}

}  // namespace dewpoint::studies
