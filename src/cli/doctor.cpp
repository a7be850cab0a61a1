// dewpoint doctor: what this build and this machine have, and what is missing for what.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/verbs.hpp"
#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/report/gnuplot.hpp"
#include "dewpoint/studies/mpi_workers.hpp"

namespace dewpoint::cli {
namespace {

nlohmann::ordered_json findings() {
  const auto gnuplot = report::gnuplot_version();
  const std::string mpi = studies::mpi_version();
  return {
      {"version", version()},
      {"commit", commit()},
      {"compiler", compiler()},
      {"processor", processor_name()},
      {"cores", std::thread::hardware_concurrency()},
      {"memory_gib", memory_bytes() / (1024.0 * 1024.0 * 1024.0)},
      {"simd", simd_target()},
      {"simd_available", simd_targets()},
      {"blas", blas_description()},
      {"mpi", mpi.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(mpi)},
      {"gnuplot", gnuplot ? nlohmann::ordered_json(*gnuplot) : nlohmann::ordered_json(nullptr)}};
}

std::string findings_text(const nlohmann::ordered_json& found) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& what) {
    text += fmt::format("{:<11}{}\n", name, what);
  };
  line("dewpoint", fmt::format("{} (commit {}), built with {}", version(), commit(), compiler()));
  line("processor",
       fmt::format("{}, {} core(s)", processor_name(), found["cores"].get<unsigned>()));
  line("memory", fmt::format("{:.1f} GiB", found["memory_gib"].get<double>()));
  line("SIMD", fmt::format("{} (of {})", simd_target(), fmt::join(simd_targets(), ", ")));
  line("BLAS", blas_description());
  line("MPI", found["mpi"].is_null()
                  ? "not in this build: studies run on the threads of one machine"
                  : found["mpi"].get<std::string>() + ": mpirun -n RANKS dewpoint run STUDY");
  line("gnuplot", found["gnuplot"].is_null()
                      ? "missing: figures cannot be drawn; install the package gnuplot-nox"
                      : found["gnuplot"].get<std::string>() + ": figures as SVG, PNG and PDF");
  return text;
}

struct DoctorVerb {};

template <class Visitor>
void describe(Visitor&, DoctorVerb&) {}

Answer doctor_answer(const DoctorVerb&) {
  const nlohmann::ordered_json found = findings();
  return {found, findings_text(found)};
}

}  // namespace

Verb doctor_verb() {
  return verb_of<DoctorVerb>("doctor", "What this build and this machine have", "dewpoint doctor",
                             doctor_answer);
}

}  // namespace dewpoint::cli
