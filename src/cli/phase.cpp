// dewpoint phase point, dewpoint phase map.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/frame_json.hpp"
#include "cli/grid.hpp"
#include "cli/phase_study.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/experiments/phase.hpp"
#include "dewpoint/scaling/law.hpp"
#include "dewpoint/theory/critical_line.hpp"
#include "dewpoint/theory/simplex.hpp"

namespace dewpoint::cli {
namespace {

using Json = nlohmann::ordered_json;

// Options of the cloud and of replication, shared by point and map.
struct CloudOptions {
  tokens::CloudParameters cloud;
  std::string norm = "unit";
  std::string common = "random";
  double residual = 0.0;
  experiments::Replication replication;

  void add_to(CLI::App& verb) {
    verb.add_option("--tokens", cloud.law,
                    fmt::format("Token law: {}, or a file ending in .npy",
                                fmt::join(tokens::law_names(), ", ")))
        ->capture_default_str();
    verb.add_option("--rho-inner", cloud.rho_inner,
                    "Correlation within a cluster (two-level, clustered)")
        ->capture_default_str();
    verb.add_option("--cluster-size", cloud.cluster_size,
                    "Tokens per cluster (two-level, clustered); divides n")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    verb.add_option("--norm", norm, "Norms of the tokens: unit, gauss/d, gauss")
        ->capture_default_str();
    verb.add_option("--common", common,
                    "Length of the common vector: random (as in the paper) or fixed to 1 (far less "
                    "noise)")
        ->capture_default_str();
    verb.add_option("--alpha", residual, "Residual strength in x' = ATT(N(x)) + alpha x")
        ->capture_default_str();
    verb.add_option("--replicas", replication.replicas, "Clouds to average over")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    verb.add_option("--target-error", replication.target_error,
                    "Double the clouds until the standard error of lambda is this small");
  }

  void resolve() {
    cloud.norm = tokens::parse_norm(norm);
    cloud.common = tokens::parse_common(common);
  }
};

struct PointOptions {
  CommonOptions common;
  CloudOptions cloud;
  std::size_t rows = 0;
  double gamma = 1.0;
  double beta = 0.0;
  scaling::Law law;
  bool has_beta = false;
  bool has_law = false;
};

double inverse_temperature(const PointOptions& o, const tokens::CloudParameters& cloud) {
  if (o.has_beta) return o.beta;
  if (o.has_law) return scaling::inverse_temperature(o.law, cloud.n, cloud.d);
  if (!(o.gamma >= 0.0) || !std::isfinite(o.gamma)) {
    throw Error(Code::bad_value, fmt::format("gamma: {} is not a finite number >= 0", o.gamma));
  }
  return o.gamma * std::log(static_cast<double>(cloud.n));
}

// What the theory of the exact simplex says at the same place; null for laws that are no simplex.
Json point_theory(const experiments::PhasePoint& p) {
  if (p.cloud.law != "equicorrelated" && p.cloud.law != "simplex") return nullptr;
  const double log_n = std::log(static_cast<double>(p.cloud.n));
  const double gamma = p.inverse_temperature / log_n;
  const double norm =
      p.cloud.norm == tokens::Norm::gauss ? std::sqrt(static_cast<double>(p.cloud.d)) : 1.0;
  const auto output =
      theory::simplex_output(log_n, p.inverse_temperature, p.cloud.rho, p.residual * norm);
  return {{"gamma", gamma},
          {"critical_gamma", theory::critical_gamma(p.cloud.rho)},
          {"reduced_scale", gamma * (1.0 - p.cloud.rho)},
          {"simplex_contraction", std::exp(output.log_contraction)}};
}

Json parameters_json(const experiments::PhasePoint& p) {
  return {{"tokens", p.cloud.law},
          {"n", p.cloud.n},
          {"d", p.cloud.d},
          {"rho", p.cloud.rho},
          {"rho_inner", p.cloud.rho_inner},
          {"cluster_size", p.cloud.cluster_size},
          {"norm", tokens::name_of(p.cloud.norm)},
          {"common", tokens::name_of(p.cloud.common)},
          {"beta", p.inverse_temperature},
          {"alpha", p.residual},
          {"rows", p.rows}};
}

struct Line {
  const char* variable;
  const char* text;
};
constexpr Line kLines[] = {
    {"contraction", "contraction λ      gaps 1 − cos after / before; 0 collapsed, 1 unchanged"},
    {"mean_cosine", "mean cosine        between outputs"},
    {"smallest_cosine", "smallest cosine"},
    {"largest_cosine", "largest cosine"},
    {"entropy", "entropy            of a row of weights, nats"},
    {"participation", "participation      Σ w², 1/n diffuse, 1 condensed"},
    {"largest_weight", "largest weight     w_max"},
    {"self_mass", "self mass          weight of a token on itself"},
    {"cluster_mass", "cluster mass       on the rest of its cluster"},
    {"rest_mass", "rest mass          on all other tokens"}};

void print_point(const experiments::PhasePoint& p, const Frame& frame, const Json& theory) {
  fmt::print("{} tokens, n = {}, d = {}", p.cloud.law, p.cloud.n, p.cloud.d);
  if (tokens::has_correlation(p.cloud)) fmt::print(", rho = {}", p.cloud.rho);
  fmt::print("; beta = {:.6g}, alpha = {}; {} replica(s), seed {}\n", p.inverse_temperature,
             p.residual, frame.variable("contraction").cells[0].samples, p.seed);
  for (const Line& line : kLines) {
    if (!tokens::has_clusters(p.cloud) && line.variable == std::string_view("cluster_mass"))
      continue;
    fmt::print("  {:<24} {}\n", to_string(frame.variable(line.variable).cells[0]), line.text);
  }
  if (const Variable* error = frame.find_variable("row_sampling_error")) {
    fmt::print("{} of {} rows sampled: this alone leaves λ uncertain by {:.2g} per cloud.\n",
               p.rows, p.cloud.n, error->cells[0].mean);
  }
  if (!theory.is_null()) {
    fmt::print("Exact simplex: λ = {:.6g} here; critical gamma {:.4g}, this is gamma {:.4g}.\n",
               theory["simplex_contraction"].get<double>(), theory["critical_gamma"].get<double>(),
               theory["gamma"].get<double>());
  }
  if (std::isnan(frame.variable("contraction").cells[0].standard_error)) {
    fmt::print("One random cloud has no error bar: use --replicas 16.\n");
  }
}

int run_point(PointOptions& o) {
  o.cloud.resolve();
  experiments::PhasePoint p;
  p.cloud = tokens::resolved(o.cloud.cloud);
  p.inverse_temperature = inverse_temperature(o, p.cloud);
  p.residual = o.cloud.residual;
  p.rows = o.rows;
  p.replication = o.cloud.replication;
  p.seed = o.common.seed;

  Frame frame;
  {
    ProgressLine progress("phase point");
    frame = experiments::phase_point(p, {o.common.threads, stop_on_signals(), progress.callback()});
  }
  const Json theory = point_theory(p);
  if (!o.common.json) {
    print_point(p, frame, theory);
    return 0;
  }
  Json observables = Json::object();
  for (const Variable& v : frame.variables()) observables[v.name] = to_json(v.cells[0]);
  const Json out = {
      {"experiment", "phase point"},      {"version", version()}, {"seed", p.seed},
      {"parameters", parameters_json(p)}, {"theory", theory},     {"observables", observables}};
  fmt::print("{}\n", out.dump(2));
  return 0;
}

void add_point(Program& program, CLI::App& phase) {
  CLI::App* verb = phase.add_subcommand("point", "One layer on one token cloud at one temperature");
  const auto o = std::make_shared<PointOptions>();
  verb->add_option("--n", o->cloud.cloud.n, "Tokens")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--d", o->cloud.cloud.d, "Dimension; 0: 64, or the least an exact law needs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--rho", o->cloud.cloud.rho, "Correlation of two tokens")->capture_default_str();
  auto* gamma = verb->add_option("--gamma", o->gamma, "beta = gamma log n")->capture_default_str();
  auto* beta = verb->add_option("--beta", o->beta, "Inverse temperature itself");
  auto* law = verb->add_option(
      "--law", o->law.name,
      fmt::format("beta(n) by name: {}; see --strength", fmt::join(scaling::law_names(), ", ")));
  auto* strength = verb->add_option("--strength", o->law.strength, "Factor of the named law")
                       ->capture_default_str();
  beta->excludes(gamma);
  law->excludes(gamma)->excludes(beta);
  strength->needs(law);
  verb->add_option("--rows", o->rows, "Queries sampled per cloud, for large n; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  o->cloud.add_to(*verb);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint phase point --n 512 --d 64 --rho 0.5 --gamma 2 --replicas 16");
  verb->callback([&program, o, beta, law] {
    o->has_beta = beta->count() > 0;
    o->has_law = law->count() > 0;
    program.action = [o] { return run_point(*o); };
  });
}

struct MapOptions {
  CommonOptions common;
  CloudOptions cloud;
  std::string n = "512";
  std::string d = "64";
  std::string rho = "0:0.95:20";
  std::string gamma = "0.25:8:32";
  std::string output = "phase-map.study";
  bool no_figure = false;
};

experiments::PhaseMap map_parameters(MapOptions& o) {
  o.cloud.resolve();
  experiments::PhaseMap map;
  map.cloud = o.cloud.cloud;
  map.n = parse_counts("n", o.n);
  map.d = parse_counts("d", o.d);
  map.rho = parse_grid("rho", o.rho);
  map.gamma = parse_grid("gamma", o.gamma);
  map.residual = o.cloud.residual;
  map.replication = o.cloud.replication;
  map.seed = o.common.seed;
  return experiments::resolved(map);
}

// Draws the figure if it can; a missing gnuplot is said, not fatal: the study is complete.
std::vector<std::string> draw_if_possible(const store::StudyRecord& study,
                                          const std::filesystem::path& output) {
  const std::filesystem::path stem = std::filesystem::path(output).replace_extension();
  try {
    draw_phase_map(study, stem);
  } catch (const Error& error) {
    if (error.code() != Code::missing_tool) throw;
    fmt::print(stderr, "dewpoint: no figure: {}\n", error.what());
    return {};
  }
  return {stem.string() + ".svg", stem.string() + ".png"};
}

int run_map(MapOptions& o, const std::string& command) {
  const experiments::PhaseMap map = map_parameters(o);
  require_writable(o.output);
  const store::StudyRecord study = phase_map_study(map, o.common.threads, command);
  store::write_study(o.output, study);
  const std::vector<std::string> figures =
      o.no_figure ? std::vector<std::string>{} : draw_if_possible(study, o.output);
  if (o.common.json) {
    const Json out = {{"experiment", "phase map"},
                      {"version", version()},
                      {"seed", map.seed},
                      {"study", o.output},
                      {"figures", figures},
                      {"result", to_json(study.frames[0])},
                      {"theory", to_json(study.frames[1])}};
    fmt::print("{}\n", out.dump());
    return 0;
  }
  fmt::print("{} cells, {} replica(s) each\nstudy   {}\n",
             study.frames[0].variable("contraction").cells.size(),
             study.frames[0].variable("contraction").cells[0].samples, o.output);
  for (const std::string& figure : figures) fmt::print("figure  {}\n", figure);
  return 0;
}

void add_map(Program& program, CLI::App& phase) {
  CLI::App* verb =
      phase.add_subcommand("map", "The phase diagram over rho and gamma: a study and a figure");
  const auto o = std::make_shared<MapOptions>();
  verb->add_option("--n", o->n, "Tokens, a list: 512,1024")->capture_default_str();
  verb->add_option("--d", o->d, "Dimensions, a list; 0: the law's own")->capture_default_str();
  verb->add_option("--rho", o->rho, "Correlations: a list, or first:last:count")
      ->capture_default_str();
  verb->add_option("--gamma", o->gamma,
                   "beta = gamma log n: a list, or first:last:count; multiples of 1/4 are fastest")
      ->capture_default_str();
  verb->add_option("-o,--output", o->output, "Study file; the figure gets its name")
      ->capture_default_str();
  verb->add_flag("--no-figure", o->no_figure, "Write the study only");
  o->cloud.add_to(*verb);
  add_common(*verb, o->common);
  add_example(*verb, "dewpoint phase map --n 512 --d 8,64 --replicas 2 -o map.study");
  verb->callback([&program, o] {
    program.action = [&program, o] { return run_map(*o, program.command_line); };
  });
}

}  // namespace

void add_phase(Program& program) {
  CLI::App* phase = program.app.add_subcommand(
      "phase", "One self-attention layer on a token cloud: does it collapse, or freeze?");
  phase->require_subcommand(0, 1);
  phase->callback([&program, phase] {
    if (!phase->get_subcommands().empty()) return;
    program.action = [phase] {
      fmt::print("{}", phase->help("dewpoint"));
      return 0;
    };
  });
  add_point(program, *phase);
  add_map(program, *phase);
}

}  // namespace dewpoint::cli
