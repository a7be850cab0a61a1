#include "cli/commands.hpp"

#include <fmt/format.h>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/studies/mpi_workers.hpp"

namespace dewpoint::cli {
namespace {

std::string version_text() {
  const std::string mpi = studies::mpi_version();
  return fmt::format("dewpoint {} (commit {})\nSIMD  {}\nBLAS  {}\nMPI   {}", version(), commit(),
                     simd_target(), blas_description(), mpi.empty() ? "not in this build" : mpi);
}

}  // namespace

void add_commands(Program& program) {
  program.app.name("dewpoint");
  program.app.set_version_flag("--version", version_text, "Print version, commit, SIMD, BLAS, MPI");
  program.app.get_formatter()->column_width(34);
  program.app.require_subcommand(0, 1);
  add_phase(program);
  add_condense(program);
  add_query(program);
  add_dew(program);
  add_train(program);
  add_heads(program);
  add_scale(program);
  add_checkpoint(program);
  add_predict(program);
  add_run(program);
  add_runs(program);
  add_show(program);
  add_export(program);
  add_merge(program);
  add_figure(program);
  add_report(program);
  add_reproduce(program);
  add_verify(program);
  add_serve(program);
  add_doctor(program);
  add_manual(program);
}

void add_common(CLI::App& verb, CommonOptions& options) {
  verb.add_option("--seed", options.seed, "Seed of all random streams; random: a fresh one")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb.add_option("--threads", options.threads, "Threads, 0 for all; never changes a result")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  verb.add_flag("--json", options.json, "One JSON object on standard output");
}

void add_example(CLI::App& verb, const std::string& command) {
  verb.footer("Example:\n  " + command);
}

}  // namespace dewpoint::cli
