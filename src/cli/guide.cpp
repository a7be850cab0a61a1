#include "cli/guide.hpp"

#include <fmt/format.h>

#include "dewpoint/core/build_info.hpp"

namespace dewpoint::cli {

int print_guide() {
  fmt::print(
      R"(Dewpoint {}: where does softmax attention condense, and how does that move with length?

Try
  dewpoint phase point --n 512 --rho 0.5 --gamma 2 --replicas 16
      one self-attention layer at one temperature: how far do tokens collapse?
  dewpoint phase map --n 512 --d 8,64 -o map.study
      the phase diagram over correlation and temperature, as a figure and a study file
  dewpoint reproduce --quick
      every figure and every claim of the papers, measured anew, in one page

Ask
  dewpoint dew              where a law of scores, or a file of them, condenses as n grows
  dewpoint condense         Gaussian scores, a planted key; query point: keys on a sphere
  dewpoint heads            real heads, from a dump or a checkpoint; scale: what engines do to logits
  dewpoint train            one layer learns a Markov chain: focus, dilution; phase depth: many layers
  dewpoint predict          theory at any length; verify: are the papers right?
  dewpoint run STUDY.toml   any of it over a grid, resumable, on threads or MPI; report: as a page
  dewpoint doctor           what this build and this machine have
  dewpoint VERB --help      options, and an example to paste; after make install: man dewpoint
)",
      version());
  return 0;
}

}  // namespace dewpoint::cli
