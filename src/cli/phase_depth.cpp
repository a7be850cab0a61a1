// dewpoint phase depth.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/depth_study.hpp"
#include "cli/study_record.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/report/depth.hpp"
#include "dewpoint/report/sheet.hpp"
#include "dewpoint/studies/depth_theory.hpp"
#include "dewpoint/studies/layer_theory.hpp"

namespace dewpoint::cli {
namespace {

using DepthAsked = experiments::Replicated<experiments::DepthQuestion>;

struct DepthVerb {
  bool exact = false;
  WrittenStudy output;
  Common common;
};

template <class Visitor>
void describe(Visitor& visit, DepthVerb& q) {
  visit("exact", q.exact,
        "no tokens: the exact recursion of a simplex or of two levels, n up to 1e300");
  describe(visit, q.output, "study file; the figure gets its name");
  describe(visit, q.common);
}

const std::vector<question::Field>& measured_fields() {
  static const std::vector<question::Field> fields =
      experiments::of_verb(experiments::depth_fields());
  return fields;
}

const std::vector<question::Field>& exact_fields() {
  static const std::vector<question::Field> fields =
      experiments::with_lists(question::fields_of<studies::ExactDepth>(), {{"gamma", "1.6,2,2.4"}});
  return fields;
}

const std::vector<question::Field>& depth_verb_fields() {
  static const std::vector<question::Field> fields =
      joined(measured_fields(), question::fields_of<DepthVerb>());
  return fields;
}

void refuse_beside_exact(const QuestionOptions& options, const DepthVerb& o,
                         const studies::ExactDepth& q) {
  options.refuse_others(
      joined(exact_fields(), question::fields_of<DepthVerb>()),
      "is given beside --exact, which knows plain softmax over all keys at one temperature");
  if (q.law == studies::RecursionLaw::simplex) {
    const std::vector<std::string> given = options.given();
    for (const char* name : {"rho-inner", "cluster-size"}) {
      if (std::ranges::count(given, name) == 0) continue;
      throw Error(Code::bad_value, fmt::format("{}: is given, but a simplex has none; see --tokens "
                                               "two-level",
                                               name));
    }
  }
  if (!o.output.wanted()) return;
  throw Error(Code::bad_value, "output: is given beside --exact, which keeps no study");
}

void refuse_idle(const std::vector<std::string>& given, const experiments::DepthQuestion& q) {
  experiments::refuse_idle(given, q.layer);
  if (q.probes || std::find(given.begin(), given.end(), "probes") == given.end()) return;
  throw Error(Code::bad_value,
              "probes: is given, but nothing is probed; see --singular-values and --end-to-end");
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

Answer exact_answer(const QuestionOptions& options, const DepthVerb& o) {
  const question::Asked asked = options.asked(exact_fields());
  const studies::ExactDepth p = resolved(asked.first<studies::ExactDepth>());
  refuse_beside_exact(options, o, p);
  const Frame frame = studies::exact_depth(p, asked.numbers("gamma"));
  const std::string law = question::word_for(p.law);
  const std::string text =
      fmt::format("Exact recursion: {} of {:.6g} tokens, d = {:.6g}, rho = {}, alpha = {}\n", law,
                  p.n, p.d.value(), p.rho, p.alpha);
  return {{{"experiment", "phase depth"},
           {"version", version()},
           {"exact", true},
           {"parameters", parameters_json(exact_fields(), asked, question::point_of(p))},
           {"result", to_json(frame)}},
          text + table_text(frame),
          {},
          true};
}

// Complete, with the temperature as it was asked for.
DepthAsked asked_depth(const question::Asked& asked, const Given& given) {
  auto q = asked.first<DepthAsked>();
  q.question.layer.cloud.rows = given.tokens;
  q.question.layer = studies::with_gamma(std::move(q.question.layer));
  q.question = experiments::completed(std::move(q.question));
  return q;
}

std::string layers_heading(const experiments::PhaseDepth& p, const Frame& frame) {
  std::string text = fmt::format("{} tokens, n = {}, d = {}", p.cloud.law, p.cloud.n, p.cloud.d);
  if (tokens::has_correlation(p.cloud)) text += fmt::format(", rho = {}", p.cloud.rho);
  return text + fmt::format("; alpha = {}, {}; {} replica(s), seed {}\n", p.residual,
                            attention::name_of(p.form),
                            frame.variable("log10_gap").cells[0].samples, p.seed);
}

Answer measured_answer(const QuestionOptions& options, const DepthVerb& o, const Program& program) {
  const question::Asked asked = options.asked(measured_fields());
  const DepthAsked q = asked_depth(asked, program.given);
  refuse_idle(options.given(), q.question);
  const experiments::PhaseDepth p =
      studies::phase_depth_of(asked, o.common.seed, program.given.tokens);
  const OutputFile output(o.output.file, o.output.force);
  if (o.output.wanted()) {
    require_study_place(output, kPhaseDepth);
    report::require_both_files(depth_stem(output));
  }
  const store::StudyRecord study = depth_study(p, o.common.threads, program.command_line);
  const std::vector<std::string> files =
      o.output.wanted() ? save(study, output) : std::vector<std::string>{};
  Json frames = Json::object();
  for (const Frame& frame : study.frames) frames[frame.name()] = to_json(frame);
  const Frame& frame = study.frames[0];
  std::string text = layers_heading(p, frame);
  text += table_text(frame) + unresolved_text(frame);
  for (const std::string& file : files) text += fmt::format("wrote  {}\n", file);
  return {{{"experiment", "phase depth"},
           {"version", version()},
           {"seed", p.seed},
           {"parameters", parameters_json(measured_fields(), asked, question::point_of(q))},
           {"files", files},
           {"frames", frames}},
          text,
          {},
          true};
}

Answer depth_answer(const QuestionOptions& options, const Program& program) {
  const auto o = options.asked(question::fields_of<DepthVerb>()).first<DepthVerb>();
  return o.exact ? exact_answer(options, o) : measured_answer(options, o, program);
}

}  // namespace

Verb phase_depth_verb() {
  return verb_of("phase depth", "Many layers: when tokens collapse, and what is left of a gradient",
                 "dewpoint phase depth --n 256 --d 64 --rho 0.5 --gamma 1.6,2,2.4 --layers 8",
                 depth_verb_fields(), depth_answer);
}

}  // namespace dewpoint::cli
