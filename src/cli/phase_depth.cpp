// dewpoint phase depth.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/depth_study.hpp"
#include "cli/number_options.hpp"
#include "cli/phase_options.hpp"
#include "cli/study_record.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/report/depth.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/studies/depth_theory.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DepthOptions {
  CommonOptions common;
  CloudOptions cloud;
  NormCliOptions norm;
  double n = 256.0;
  double d = 0.0;
  std::string gamma = "1.6,2,2.4";
  std::size_t layers = 12;
  FormOptions form;
  bool rescale = false;
  bool exact = false;
  std::size_t singular_values = 0;
  std::size_t probes = 32;
  std::string output;
  bool force = false;
};

// A number that may be written as 1e4 but must be whole.
std::size_t whole(const char* field, double value) {
  if (!(value >= 0.0) || value > 0x1p53 || value != std::floor(value)) {
    throw Error(Code::bad_value,
                fmt::format("{}: {} is not a whole number; only --exact takes lengths beyond 2^53",
                            field, value));
  }
  return static_cast<std::size_t>(value);
}

experiments::PhaseDepth measured_parameters(DepthOptions& o, const Given& given) {
  o.cloud.resolve(given);
  experiments::PhaseDepth p;
  p.cloud = o.cloud.cloud;
  p.cloud.n = whole("n", o.n);
  p.cloud.d = whole("d", o.d);
  p.gamma = parse_grid("gamma", o.gamma);
  p.layers = o.layers;
  p.rescaled = o.rescale;
  p.residual = o.cloud.residual;
  p.form = o.form.resolved();
  p.norm = o.norm.resolved();
  if (o.singular_values > 0) p.end_to_end = experiments::EndToEnd{o.singular_values, o.probes};
  p.replication = o.cloud.replication;
  p.seed = o.common.seed;
  return experiments::resolved(p);
}

studies::ExactDepth exact_parameters(const DepthOptions& o) {
  if (o.rescale || o.form.resolved() != attention::LayerForm{} || o.singular_values > 0) {
    throw Error(Code::bad_value,
                "exact: the recursions know plain softmax over all keys, and neither --rescale nor "
                "--singular-values");
  }
  studies::ExactDepth p;
  const bool unnamed = o.cloud.cloud.law == tokens::CloudParameters{}.law;
  p.law = unnamed ? "simplex" : o.cloud.cloud.law;
  p.n = o.n;
  p.d = o.d == 0.0 ? o.n : o.d;
  p.rho = o.cloud.cloud.rho;
  p.rho_inner = o.cloud.cloud.rho_inner;
  p.cluster_size = o.cloud.cluster_size;
  p.gamma = parse_grid("gamma", o.gamma);
  p.residual = o.cloud.residual;
  p.layers = o.layers;
  return p;
}

struct Column {
  const char* variable;
  const char* title;
  const char* format;  // of one number
};
constexpr Column kColumns[] = {
    {"log10_gap", "log10 gap", "{:.3f}"},   {"log10_inner_gap", "inner", "{:.3f}"},
    {"mean_cosine", "mean cos", "{:.6f}"},  {"effective_rank", "eff. rank", "{:.3f}"},
    {"contraction", "λ", "{:.4g}"},         {"jacobian_norm", "η", "{:.4g}"},
    {"end_to_end_norm", "η all", "{:.3g}"}, {"singular_value", "σ₁ all", "{:.3g}"},
    {"inverse_temperature", "β", "{:.4g}"}};

// The first of its cells at (gamma, layer): a variable with ranks shows its largest.
const Estimate& cell_at(const Frame& frame, const Variable& variable, std::size_t row) {
  const std::size_t rows =
      frame.dimension("gamma").coordinates.size() * frame.dimension("layer").coordinates.size();
  return variable.cells[row * (variable.cells.size() / rows)];
}

// Blank where nothing is known; a gap of 0 has no logarithm.
std::string cell_text(const Column& column, double mean) {
  if (std::isnan(mean)) return "";
  return std::isinf(mean) ? "gap 0" : fmt::format(fmt::runtime(column.format), mean);
}

std::string table_text(const Frame& frame) {
  std::string text;
  const auto& gammas = frame.dimension("gamma").coordinates;
  const auto& layers = frame.dimension("layer").coordinates;
  for (std::size_t g = 0; g < gammas.size(); ++g) {
    text += fmt::format("\ngamma = {}\n  layer", gammas[g]);
    for (const Column& column : kColumns) {
      if (frame.find_variable(column.variable)) text += fmt::format(" {:>11}", column.title);
    }
    text += "\n";
    for (std::size_t l = 0; l < layers.size(); ++l) {
      text += fmt::format("  {:>5}", layers[l]);
      for (const Column& column : kColumns) {
        const Variable* variable = frame.find_variable(column.variable);
        if (variable == nullptr) continue;
        const double mean = cell_at(frame, *variable, g * layers.size() + l).mean;
        text += fmt::format(" {:>11}", cell_text(column, mean));
      }
      text += "\n";
    }
  }
  return text +
         "\nlog10 gap: of the mean of 1 - cos over pairs. λ, η, β: of the layer that made the "
         "row.\n";
}

std::string unresolved_text(const Frame& frame) {
  const auto& cells = frame.variable("unresolved_pairs").cells;
  const bool any =
      std::any_of(cells.begin(), cells.end(), [](const Estimate& cell) { return cell.mean > 0.0; });
  return any ? "Some pairs came so close that rounding hides their gap: λ leaves them out, and "
               "with "
               "all of them\nthe gap is unknown; see unresolved_pairs in --json.\n"
             : "";
}

OutputFile depth_stem(const OutputFile& output) {
  return output.beside(std::filesystem::path(output.path).replace_extension());
}

std::vector<std::string> save(const store::StudyRecord& study, const OutputFile& output) {
  store::write_study(output, study);
  std::vector<std::string> files{output.path.string()};
  try {
    report::draw(report::figure_of_depth(study), depth_stem(output));
  } catch (const Error& error) {
    if (error.code() != Code::missing_tool) throw;
    tell(fmt::format("dewpoint: no figure: {}", error.what()));
    return files;
  }
  for (const OutputFile& file : report::both_files(depth_stem(output))) {
    files.push_back(file.path.string());
  }
  return files;
}

Answer exact_answer(const DepthOptions& o) {
  const studies::ExactDepth p = exact_parameters(o);
  const Frame frame = studies::exact_depth(p);
  const std::string text =
      fmt::format("Exact recursion: {} of {:.6g} tokens, d = {:.6g}, rho = {}, alpha = {}\n", p.law,
                  p.n, p.d, p.rho, p.residual);
  return {{{"experiment", "phase depth"},
           {"version", version()},
           {"exact", true},
           {"tokens", p.law},
           {"n", p.n},
           {"result", to_json(frame)}},
          text + table_text(frame),
          {},
          true};
}

Answer measured_answer(DepthOptions& o, const Program& program) {
  const experiments::PhaseDepth p = measured_parameters(o, program.given);
  const OutputFile output(o.output, o.force);
  if (!o.output.empty()) {
    require_study_place(output, kPhaseDepth);
    report::require_both_files(depth_stem(output));
  }
  const store::StudyRecord study = depth_study(p, o.common.threads, program.command_line);
  const std::vector<std::string> files =
      o.output.empty() ? std::vector<std::string>{} : save(study, output);
  Json frames = Json::object();
  for (const Frame& frame : study.frames) frames[frame.name()] = to_json(frame);
  const Frame& frame = study.frames[0];
  std::string text =
      fmt::format("{} tokens, n = {}, d = {}, rho = {}; alpha = {}, {}; {} replica(s), seed {}\n",
                  p.cloud.law, p.cloud.n, p.cloud.d, p.cloud.rho, p.residual,
                  attention::name_of(p.form), frame.variable("log10_gap").cells[0].samples, p.seed);
  text += table_text(frame) + unresolved_text(frame);
  for (const std::string& file : files) text += fmt::format("wrote  {}\n", file);
  return {{{"experiment", "phase depth"},
           {"version", version()},
           {"seed", p.seed},
           {"files", files},
           {"frames", frames}},
          text,
          {},
          true};
}

}  // namespace

void add_phase_depth(Program& program, CLI::App& phase) {
  CLI::App* verb = phase.add_subcommand(
      "depth", "Many layers: when tokens collapse, and what is left of a gradient");
  const auto o = std::make_shared<DepthOptions>();
  verb->add_option("--n", o->n, "Tokens; with --exact up to 1e300")->capture_default_str();
  verb->add_option("--d", o->d, "Dimension; 0: 64, or the least an exact law needs")
      ->capture_default_str();
  verb->add_option("--rho", o->cloud.cloud.rho, "Correlation of two tokens")->capture_default_str();
  verb->add_option("--gamma", o->gamma, "beta = gamma log n: a list, or first:last:count[:log]")
      ->capture_default_str();
  verb->add_option("--layers", o->layers, "Layers")->capture_default_str();
  verb->add_flag("--rescale", o->rescale,
                 "Before each layer, raise beta so that beta (1 - mean cosine) stays");
  o->form.add_to(*verb);
  verb->add_option("--singular-values", o->singular_values,
                   "Of the end-to-end Jacobian: its norm and so many of the largest")
      ->capture_default_str();
  verb->add_option("--probes", o->probes, "Random probes for the norm of the end-to-end Jacobian")
      ->transform(whole_number(question::at_least(1.0)))
      ->capture_default_str();
  verb->add_flag("--exact", o->exact,
                 "No tokens: the exact recursion of a simplex or of two levels, n up to 1e300");
  verb->add_option("-o,--output", o->output, "Study file; the figure gets its name");
  add_force(*verb, o->force);
  o->norm.add_to(*verb);
  o->cloud.add_to(*verb);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint phase depth --n 256 --d 64 --rho 0.5 --gamma 1.6,2,2.4 --layers 8");
  verb->callback([&program, o] {
    set_answer(program, o->common.json, [&program, o] {
      return o->exact ? exact_answer(*o) : measured_answer(*o, program);
    });
  });
}

}  // namespace dewpoint::cli
