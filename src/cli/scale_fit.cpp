// dewpoint scale fit: the multiplier of the logits that keeps heads in the phase they were trained
// in, how far known schedules are from it, and how to tell an engine.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/scale.hpp"
#include "cli/scale_heads.hpp"
#include "cli/terminal_style.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/frame_json.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/diagnosis/iso_phase.hpp"
#include "dewpoint/scaling/engine_syntax.hpp"

namespace dewpoint::cli {
namespace {

using diagnosis::IsoPhaseFactor;
using diagnosis::IsoPhaseFit;

struct FitVerb {
  std::string deployed;
  std::string trained;  // empty: the same study
  std::size_t train_length = 0;
  question::Grid targets;
  std::string config;
  bool with_sink = false;
  bool heads = false;
};

template <class Visitor>
void describe(Visitor& visit, FitVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("study", q.deployed, positional, required, file("study"),
        "study of dewpoint heads: the model as deployed");
  visit("trained", q.trained, file("study"), "study of the model as trained, at its own length",
        otherwise("the same study"));
  visit("train-length", q.train_length, at_least(2.0), "length it was trained for", required);
  visit("target", q.targets, at_least(1.0), "lengths to be served: a list", required);
  visit("config", q.config, file("config"), suggest(preset_words()),
        "config.json, .gguf or preset: what the exported settings start from");
  visit("with-sink", q.with_sink, "count the first key among the others");
  visit("heads", q.heads, "a line per head too");
}

/// The settings of one engine, to paste.
struct Export {
  std::string target;
  scaling::EngineExport syntax;
};

struct Fitted {
  IsoPhaseFit fit;
  std::vector<Export> exports;
  std::string no_settings;  // why there are no exports; empty where there are
};

/// Where the loss was lowest, as a share of the log m that keeps the phase: between these, on the
/// one model that was measured (docs/guide/heads.md, "What does a multiplier do to a model?").
constexpr double kLeastShare = 1.0 / 7.0, kMostShare = 2.0 / 5.0;

// ---- asking ---------------------------------------------------------------------------------

/// A model about which nothing is known but the length it was trained for.
scaling::AttentionConfig plain_config(std::size_t train_length) {
  scaling::AttentionConfig config;
  config.max_positions = train_length;
  return config;
}

/// Says so also where no schedule was fitted, and an export cannot know.
void mark_extrapolated(scaling::EngineExport& one, double target) {
  const auto marked = [](const std::string& warning) {
    return warning.starts_with("extrapolated");
  };
  if (std::any_of(one.warnings.begin(), one.warnings.end(), marked)) return;
  one.warnings.push_back(
      fmt::format("extrapolated: {:g} keys lie outside the lengths that were measured", target));
}

/// For every engine the factor at the longest target; Llama 4's keys for the fitted schedule.
std::vector<Export> exports_of(const IsoPhaseFit& fit, const scaling::AttentionConfig& config) {
  std::vector<Export> exports;
  scaling::ExportRequest request;
  request.schedule.value = fit.global.back()->value();
  request.schedule.static_factor = true;
  request.target_length = fit.question.targets.back();
  request.fitted_from = fit.fitted_from;
  request.fitted_to = fit.fitted_to;
  for (scaling::EngineExport& one : scaling::export_schedules(config, request)) {
    exports.push_back({name_of(one.engine), std::move(one)});
  }
  if (fit.fitted) {
    request.schedule = *fit.fitted;
    exports.push_back({"keys of Llama 4", scaling::export_llama4_keys(config, request)});
  }
  if (fit.global.back()->extrapolated) {
    for (Export& one : exports) mark_extrapolated(one.syntax, request.target_length);
  }
  return exports;
}

/// m belongs to the rotation that it was measured with: settings that turn otherwise do not carry
/// it. They know one way to stretch a rotation, YaRN's.
std::string why_no_settings(const HeadsStudy& deployed, const scaling::AttentionConfig& config,
                            double target) {
  const std::string kind = deployed.rope.substr(0, deployed.rope.find(':'));
  const std::string instead = "for settings measure with dewpoint heads --rope yarn-bare";
  if (kind == "ntk" || kind == "linear" || kind == "dynamic") {
    return fmt::format(
        "this m belongs to the rotation of the run, --rope {}, and settings would turn by YaRN; {}",
        deployed.rope, instead);
  }
  if (kind == "yarn" || deployed.m_applied != 1.0) {
    return fmt::format("the logits of the run were multiplied already, and this m is on top; {}",
                       instead);
  }
  if (kind == "own" && target > static_cast<double>(config.max_positions)) {
    return fmt::format(
        "this m belongs to the model's own rotation, and settings for {:g} tokens would stretch it "
        "by YaRN; {} --length {:g}",
        target, instead, target);
  }
  return "";
}

void add_exports(const FitVerb& o, const HeadsStudy& deployed, Fitted& fitted) {
  scaling::AttentionConfig attention = plain_config(o.train_length);
  if (!o.config.empty()) {
    const checkpoint::ModelConfig config = config_of(o.config);
    require_same_model(facts_of(config), deployed.model);
    attention = config.attention;
  }
  const double target = fitted.fit.question.targets.back();
  fitted.no_settings = fitted.fit.global.back()
                           ? why_no_settings(deployed, attention, target)
                           : fmt::format("no head has a dew point at {:g} keys", target);
  if (fitted.no_settings.empty()) fitted.exports = exports_of(fitted.fit, attention);
}

Fitted fit_of(const FitVerb& o) {
  const HeadsStudy deployed = read_heads_study(o.deployed);
  const HeadsStudy trained = o.trained.empty() ? deployed : read_heads_study(o.trained);
  require_same_model(trained.model, deployed.model);
  // The same frame twice is told by its address: the growth inside one run.
  const Frame& reference = o.trained.empty() ? deployed.heads : trained.heads;
  Fitted fitted{diagnosis::fit_iso_phase(deployed.heads, reference,
                                         {o.train_length, o.targets.values(), !o.with_sink}),
                {},
                {}};
  add_exports(o, deployed, fitted);
  return fitted;
}

// ---- telling --------------------------------------------------------------------------------

std::string factor_text(const std::optional<IsoPhaseFactor>& factor) {
  if (!factor) return "-";
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]{}", factor->value(), factor->lower(), factor->upper(),
                     factor->extrapolated ? " extrapolated" : "");
}

Json factor_json(const std::optional<IsoPhaseFactor>& factor) {
  if (!factor) return nullptr;
  return {{"multiplier", factor->value()},
          {"lower", factor->lower()},
          {"upper", factor->upper()},
          {"log", to_json(factor->log_factor)},
          {"extrapolated", factor->extrapolated}};
}

Json factors_json(const std::vector<std::optional<IsoPhaseFactor>>& factors) {
  Json list = Json::array();
  for (const auto& factor : factors) list.push_back(factor_json(factor));
  return list;
}

std::string global_text(const IsoPhaseFit& fit) {
  Json records = Json::array();
  for (std::size_t i = 0; i < fit.question.targets.size(); ++i) {
    records.push_back({{"n", fmt::format("{:g}", fit.question.targets[i])},
                       {"m", factor_text(fit.global[i])},
                       {"spread", fmt::format("× {:.3f}", std::exp(fit.spread[i]))}});
  }
  return to_text(
      records,
      {{"n", "target n"}, {"m", "m of all heads [2 s.e.]", true}, {"spread", "heads differ by"}});
}

/// Factors at the last target, one line per layer or head.
std::string layers_text(const IsoPhaseFit& fit) {
  Json records = Json::array();
  for (const diagnosis::IsoPhaseLayer& layer : fit.layers) {
    records.push_back(
        {{"layer", fmt::format("{}", layer.layer)}, {"m", factor_text(layer.factors.back())}});
  }
  return fmt::format("\nby layer, at n = {:g}:\n", fit.question.targets.back()) +
         to_text(records, {{"layer", "layer"}, {"m", "m [2 s.e.]", true}});
}

std::string heads_text(const IsoPhaseFit& fit) {
  Json records = Json::array();
  for (const diagnosis::IsoPhaseHead& head : fit.heads) {
    records.push_back({{"layer", fmt::format("{}", head.layer)},
                       {"head", fmt::format("{}", head.head)},
                       {"m", factor_text(head.factors.back())}});
  }
  return fmt::format("\nby head, at n = {:g}:\n", fit.question.targets.back()) +
         to_text(records, {{"layer", "layer"}, {"head", "head"}, {"m", "m [2 s.e.]", true}});
}

/// Of what the table gives beside it: a schedule as a change from the training length on, where
/// some, as Llama 4's, are not 1 already.
std::string formula_from_training(const scaling::Schedule& schedule, const IsoPhaseFit& fit) {
  const double there =
      scaling::multiplier(schedule, static_cast<double>(fit.question.train_length));
  const std::string formula = scaling::formula(schedule);
  return there == 1.0 ? formula : fmt::format("({})/{:.6g}", formula, there);
}

std::string size_note(const IsoPhaseFit& fit) {
  const auto& factor = fit.global.back();
  std::string note =
      "on the one model measured the loss was lowest at a seventh to two fifths of this log m";
  if (factor && factor->value() != 1.0) {
    note += fmt::format(", which here is m = {:.4g} to {:.4g}",
                        std::exp(kLeastShare * factor->log_factor.mean),
                        std::exp(kMostShare * factor->log_factor.mean));
  }
  return note + "; dewpoint heads sweep measures yours";
}

std::string schedules_text(const IsoPhaseFit& fit) {
  Json records = Json::array();
  for (const diagnosis::ScheduleMisfit& one : fit.schedules) {
    records.push_back({{"name", one.schedule.name},
                       {"m", fmt::format("{:.4g}", one.factors.back())},
                       {"rms", fmt::format("{:.1f} %", 100.0 * one.root_mean_square)},
                       {"deviations", fmt::format("{:.1f}", one.deviations)},
                       {"formula", formula_from_training(one.schedule, fit) +
                                       (one.schedule.confirmed ? "" : "  (not confirmed)")}});
  }
  return "\nknown schedules, nearest first:\n" + to_text(records, {{"name", "schedule", true},
                                                                   {"m", "m at target"},
                                                                   {"rms", "off by"},
                                                                   {"deviations", "errors"},
                                                                   {"formula", "m(n)", true}});
}

std::string exports_text(const Fitted& fitted) {
  std::string text;
  if (!fitted.no_settings.empty())
    text += "\nno settings for engines:\n" + indented(fitted.no_settings, 4, 92) + "\n";
  for (const auto& [target, syntax] : fitted.exports) {
    text += fmt::format("\n{}{}:\n{}\n", target, syntax.exact ? "" : " (not exact)",
                        syntax.text.empty() ? "    cannot be said" : syntax.text);
    for (const std::string& warning : syntax.warnings) {
      text += indented("warning: " + warning, 4, 92) + "\n";
    }
  }
  return text;
}

std::string fit_text(const FitVerb& o, const Fitted& fitted) {
  const IsoPhaseFit& fit = fitted.fit;
  std::string text =
      fmt::format("multiplier m that puts the heads of {} into the phase of {} at {} tokens\n\n",
                  o.deployed, o.trained.empty() ? "the same run" : o.trained, o.train_length);
  text += global_text(fit) + "note    " + size_note(fit) + "\n" + layers_text(fit);
  if (o.heads) text += heads_text(fit);
  if (fit.fitted) {
    text += fmt::format("\nfitted   m(n) = {}, slope {:.3g} ± {:.2g}, seen from n = {:g} to {:g}\n",
                        scaling::formula(*fit.fitted), fit.fitted_slope.mean,
                        fit.fitted_slope.standard_error, fit.fitted_from, fit.fitted_to);
  }
  text += schedules_text(fit) + exports_text(fitted);
  for (const std::string& warning : fit.warnings) text += fmt::format("\nwarning {}\n", warning);
  return text;
}

Json schedules_json(const IsoPhaseFit& fit) {
  Json list = Json::array();
  for (const diagnosis::ScheduleMisfit& one : fit.schedules) {
    list.push_back({{"name", one.schedule.name},
                    {"formula", formula_from_training(one.schedule, fit)},
                    {"confirmed", one.schedule.confirmed},
                    {"multipliers", one.factors},
                    {"root_mean_square", one.root_mean_square},
                    {"deviations", one.deviations}});
  }
  return list;
}

Json exports_json(const Fitted& fitted) {
  Json list = Json::array();
  for (const auto& [target, syntax] : fitted.exports) {
    list.push_back({{"target", target},
                    {"text", syntax.text},
                    {"exact", syntax.exact},
                    {"warnings", syntax.warnings}});
  }
  return list;
}

Json fit_json(const FitVerb& o, const Fitted& fitted) {
  const IsoPhaseFit& fit = fitted.fit;
  Json heads = Json::array(), layers = Json::array();
  for (const auto& head : fit.heads) {
    heads.push_back(
        {{"layer", head.layer}, {"head", head.head}, {"factors", factors_json(head.factors)}});
  }
  for (const auto& layer : fit.layers) {
    layers.push_back({{"layer", layer.layer}, {"factors", factors_json(layer.factors)}});
  }
  return {{"answer", "scale fit"},
          {"version", version()},
          {"deployed", o.deployed},
          {"trained", o.trained.empty() ? o.deployed : o.trained},
          {"train_length", o.train_length},
          {"targets", fit.question.targets},
          {"global", factors_json(fit.global)},
          {"spread", fit.spread},
          {"layers", layers},
          {"heads", heads},
          {"fitted", fit.fitted ? Json(scaling::formula(*fit.fitted)) : Json()},
          {"fitted_slope", to_json(fit.fitted_slope)},
          {"fitted_range", {fit.fitted_from, fit.fitted_to}},
          {"schedules", schedules_json(fit)},
          {"exports", exports_json(fitted)},
          {"no_exports", fitted.no_settings.empty() ? Json() : Json(fitted.no_settings)},
          {"note", size_note(fit)},
          {"warnings", fit.warnings}};
}

Answer fit_answer(const FitVerb& o) {
  const Fitted fitted = fit_of(o);
  return {fit_json(o, fitted), fit_text(o, fitted)};
}

}  // namespace

Verb scale_fit_verb() {
  return verb_of<FitVerb>(
      "scale fit", "The multiplier that keeps heads in the phase they were trained in",
      "dewpoint scale fit long.study --trained short.study --train-length 512 --target 2048",
      fit_answer);
}

}  // namespace dewpoint::cli
