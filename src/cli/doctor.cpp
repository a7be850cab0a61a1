// dewpoint doctor: what this build and this machine have, and what is missing for what.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands.hpp"
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

void print_findings(const nlohmann::ordered_json& found) {
  const auto line = [](const char* name, const std::string& text) {
    fmt::print("{:<11}{}\n", name, text);
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
}

}  // namespace

void add_doctor(Program& program) {
  CLI::App* verb = program.app.add_subcommand("doctor", "What this build and this machine have");
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "One JSON object on standard output");
  add_example(*verb, "dewpoint doctor");
  verb->callback([&program, json] {
    program.action = [json] {
      const auto found = findings();
      if (*json) {
        fmt::print("{}\n", found.dump(2));
      } else {
        print_findings(found);
      }
      return 0;
    };
  });
}

}  // namespace dewpoint::cli
