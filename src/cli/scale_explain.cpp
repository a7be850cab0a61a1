// dewpoint scale explain: the logit multiplier that each serving engine really applies to a model.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/scale.hpp"
#include "cli/study_record.hpp"
#include "cli/terminal_style.hpp"
#include "cli/verbs.hpp"
#include "dewpoint/core/build_info.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/grid.hpp"
#include "dewpoint/report/figure_file.hpp"
#include "dewpoint/report/terminal_figure.hpp"
#include "dewpoint/scaling/engine.hpp"

namespace dewpoint::cli {
namespace {

using scaling::Divergence;
using scaling::EngineScale;
using scaling::LayerScale;

struct ExplainVerb {
  std::string config;
  std::vector<std::string> engines = {"all"};
  question::Grid n;
  std::size_t deployed = 0;
  std::string figure;
  bool force = false;
  bool presets = false;
};

std::vector<std::string> engine_words() {
  std::vector<std::string> words;
  for (const scaling::Engine engine : scaling::engines()) words.push_back(name_of(engine));
  words.emplace_back("all");
  return words;
}

template <class Visitor>
void describe(Visitor& visit, ExplainVerb& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  visit("config", q.config, positional, file("config"), suggest(preset_words()),
        "config.json of Hugging Face, a folder with one, a .gguf file, or a preset");
  visit("engine", q.engines, commas, one_of(engine_words()), "engines, several if wanted");
  visit("n", q.n, at_least(1.0), "lengths: a list, or first:last:count[:log]",
        otherwise("powers of four"));
  visit("deployed", q.deployed, at_least(0.0),
        "longest context served (some engines switch on it); 0: the model's own");
  visit("output", q.figure, letter('o'), file("figure"), "the plot as x.svg, x.png or x.pdf");
  describe_force(visit, q.force);
  visit("presets", q.presets, "list the presets");
}

/// One table: a type of layers and a part of its coordinates.
struct Part {
  std::string type;
  std::string name;  // "rotary" or "other"
  std::vector<std::size_t> layers;
  std::vector<double> n;            // lengths, no longer than what such a layer sees
  std::vector<double> base_scales;  // τ, one per engine
  std::optional<double> softcap;
  std::vector<scaling::Schedules> schedules;  // one per engine
};

struct Explanation {
  checkpoint::ModelConfig config;
  std::vector<scaling::Engine> engines;
  std::vector<EngineScale> scales;
  std::vector<double> n;
  std::vector<Part> parts;
  std::vector<Divergence> divergences;
};

// ---- asking ---------------------------------------------------------------------------------

std::vector<scaling::Engine> engines_of(const std::vector<std::string>& names) {
  std::vector<scaling::Engine> engines;
  for (const std::string& name : names) {
    if (name == "all") return scaling::engines();
    engines.push_back(scaling::parse_engine(name));
  }
  return engines;
}

/// Lengths worth seeing: powers of four up to the longest context, and where something changes.
std::vector<double> default_lengths(const scaling::AttentionConfig& config, std::size_t deployed) {
  const std::size_t longest = std::max({config.max_positions, deployed, std::size_t{4096}});
  std::set<double> lengths;
  for (double n = 1024.0; n < static_cast<double>(longest); n *= 4.0) lengths.insert(n);
  lengths.insert(static_cast<double>(longest));
  if (config.rope.original_length > 1) {
    lengths.insert(static_cast<double>(config.rope.original_length));
  }
  return {lengths.begin(), lengths.end()};
}

/// Behind a window there is nothing to tabulate: its last length is the window.
std::vector<double> lengths_within(std::vector<double> n, std::size_t most_keys) {
  const auto most = static_cast<double>(most_keys);
  if (most_keys == 0 || n.back() <= most) return n;
  std::erase_if(n, [most](double length) { return length >= most; });
  n.push_back(most);
  return n;
}

/// Engines see the same layers; a part that no engine has is left out.
std::vector<Part> parts_of(const std::vector<EngineScale>& scales, const std::vector<double>& n) {
  std::vector<Part> parts;
  const auto add = [&](std::size_t type, const char* name, bool LayerScale::*has,
                       scaling::Schedules LayerScale::*schedules) {
    const LayerScale& first = scales.front().layers[type];
    if (!(first.*has)) return;
    Part part{first.type,    name, first.layers, lengths_within(n, first.most_keys), {},
              first.softcap, {}};
    for (const EngineScale& scale : scales) {
      DEWPOINT_EXPECTS(scale.layers.size() == scales.front().layers.size());
      part.base_scales.push_back(scale.layers[type].base_scale);
      part.schedules.push_back(scale.layers[type].*schedules);
    }
    parts.push_back(std::move(part));
  };
  for (std::size_t type = 0; type < scales.front().layers.size(); ++type) {
    add(type, "rotary", &LayerScale::has_rotary, &LayerScale::rotary);
    add(type, "other", &LayerScale::has_other, &LayerScale::other);
  }
  return parts;
}

/// A disagreement is told to whoever asked for both sides of it.
bool concerns(const Divergence& one, const std::vector<scaling::Engine>& asked) {
  const auto common = std::count_if(one.engines.begin(), one.engines.end(), [&](auto engine) {
    return std::find(asked.begin(), asked.end(), engine) != asked.end();
  });
  return static_cast<std::size_t>(common) >= std::min<std::size_t>(2, one.engines.size()) ||
         (common > 0 && asked.size() == 1);
}

Explanation explain(const ExplainVerb& o) {
  Explanation answer;
  answer.config = config_of(o.config);
  const scaling::AttentionConfig& attention = answer.config.attention;
  answer.engines = engines_of(o.engines);
  answer.n = o.n.empty() ? default_lengths(attention, o.deployed) : o.n.values();
  for (const scaling::Engine engine : answer.engines) {
    answer.scales.push_back(scaling::engine_scale(attention, engine, o.deployed));
  }
  answer.parts = parts_of(answer.scales, answer.n);
  for (const Divergence& one : scaling::divergences(attention, o.deployed)) {
    if (concerns(one, answer.engines)) answer.divergences.push_back(one);
  }
  return answer;
}

// ---- telling --------------------------------------------------------------------------------

std::string formula_of(const scaling::Schedules& schedules) {
  if (schedules.empty()) return "1";
  std::vector<std::string> formulas;
  for (const scaling::Schedule& one : schedules) {
    const std::string text = scaling::formula(one);
    formulas.push_back(schedules.size() == 1 ? text : "(" + text + ")");
  }
  return fmt::format("{}", fmt::join(formulas, " "));
}

/// Nothing is claimed of what was not read in the engine.
Json engine_json(const EngineScale& scale, const Part& part, std::size_t k) {
  if (!scale.unverified.empty()) {
    return {{"verified", false},
            {"base_scale", nullptr},
            {"formula", nullptr},
            {"multiplier", nullptr}};
  }
  Json values = Json::array();
  for (const double n : part.n) values.push_back(scaling::multiplier(part.schedules[k], n));
  return {{"verified", true},
          {"base_scale", part.base_scales[k]},
          {"formula", formula_of(part.schedules[k])},
          {"multiplier", values}};
}

Json part_json(const Explanation& answer, const Part& part) {
  Json engines = Json::object();
  for (std::size_t k = 0; k < answer.engines.size(); ++k) {
    engines[name_of(answer.engines[k])] = engine_json(answer.scales[k], part, k);
  }
  return {{"layers", part.type},
          {"layer_numbers", part.layers},
          {"coordinates", part.name},
          {"n", part.n},
          {"softcap", part.softcap ? Json(*part.softcap) : Json()},
          {"engines", engines}};
}

Json divergence_json(const Divergence& one) {
  Json engines = Json::array();
  for (const scaling::Engine engine : one.engines) engines.push_back(name_of(engine));
  return {
      {"id", one.id}, {"engines", engines}, {"title", one.title}, {"explanation", one.explanation}};
}

Json explanation_json(const Explanation& answer) {
  Json parts = Json::array(), warnings = Json::array(), notes = Json::object(),
       unverified = Json::object();
  for (const Part& part : answer.parts) parts.push_back(part_json(answer, part));
  for (const Divergence& one : answer.divergences) warnings.push_back(divergence_json(one));
  for (const EngineScale& scale : answer.scales) {
    notes[name_of(scale.engine)] = scale.notes;
    if (!scale.unverified.empty()) unverified[name_of(scale.engine)] = scale.unverified;
  }
  return {{"answer", "scale explain"},
          {"version", version()},
          {"config", answer.config.file},
          {"model_type", answer.config.model_type},
          {"max_positions", answer.config.attention.max_positions},
          {"n", answer.n},
          {"parts", parts},
          {"warnings", warnings},
          {"notes", notes},
          {"not_verified", unverified}};
}

std::string heading_of(const Explanation& answer) {
  const scaling::AttentionConfig& a = answer.config.attention;
  return fmt::format(
      "{}: {}, {} layers, {} heads of {} coordinates, trained for {} positions\n"
      "logits s = m(n) τ <q, k>; n is the number of keys that the query sees\n",
      answer.config.file, answer.config.model_type, a.layers, a.heads, a.head_dimension,
      a.max_positions);
}

Json engine_record(const EngineScale& scale, const Part& part, std::size_t k) {
  const bool known = scale.unverified.empty();
  Json record = {{"engine", name_of(scale.engine)},
                 {"tau", known ? fmt::format("{:.6g}", part.base_scales[k]) : "?"},
                 {"formula", known ? formula_of(part.schedules[k]) : "not verified"}};
  for (std::size_t i = 0; i < part.n.size(); ++i) {
    record[std::to_string(i)] =
        known ? fmt::format("{:.5g}", scaling::multiplier(part.schedules[k], part.n[i])) : "?";
  }
  return record;
}

std::string part_text(const Explanation& answer, const Part& part) {
  std::string text =
      fmt::format("\n{} ({} of {} layers), {} coordinates{}\n", part.type, part.layers.size(),
                  answer.config.attention.layers, part.name,
                  part.softcap ? fmt::format(", capped at {:g}", *part.softcap) : std::string());
  Json records = Json::array();
  std::vector<Column> columns = {{"engine", "engine", true}, {"tau", "τ"}};
  for (std::size_t i = 0; i < part.n.size(); ++i) {
    columns.push_back({std::to_string(i), fmt::format("n={:g}", part.n[i])});
  }
  columns.push_back({"formula", "m(n)", true});
  for (std::size_t k = 0; k < answer.engines.size(); ++k) {
    records.push_back(engine_record(answer.scales[k], part, k));
  }
  return text + to_text(records, columns);
}

std::string warnings_text(const Explanation& answer) {
  std::string text;
  if (answer.divergences.empty()) text += "\nno known disagreement between engines concerns it\n";
  for (const Divergence& one : answer.divergences) {
    text +=
        fmt::format("\nwarning {}: {}\n{}\n", one.id, one.title, indented(one.explanation, 4, 92));
  }
  for (const EngineScale& scale : answer.scales) {
    for (const std::string& note : scale.notes) {
      text += fmt::format("\nnote {}: {}\n", name_of(scale.engine), note);
    }
    if (!scale.unverified.empty()) {
      text += fmt::format("\nnot verified {}: {}\n", name_of(scale.engine), scale.unverified);
    }
  }
  return text;
}

// ---- drawing --------------------------------------------------------------------------------

std::vector<double> fine_lengths(const std::vector<double>& n) {
  constexpr std::size_t kPoints = 161;
  const double low = std::log(std::max(2.0, n.front())), high = std::log(std::max(4.0, n.back()));
  std::vector<double> lengths;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double share = static_cast<double>(i) / (kPoints - 1);
    lengths.push_back(std::exp(low + share * (high - low)));
  }
  return lengths;
}

/// Engines that agree share a line.
report::LinePanel panel_of(const Explanation& answer, const Part& part) {
  report::LinePanel panel{
      answer.parts.size() > 1 ? fmt::format("{}, {}", part.type, part.name) : part.type,
      {"visible keys n", report::AxisScale::logarithmic, std::nullopt},
      {"multiplier m(n)", report::AxisScale::linear, std::nullopt},
      {},
      {}};
  const std::vector<double> lengths = fine_lengths(part.n);
  for (std::size_t k = 0; k < answer.engines.size(); ++k) {
    if (!answer.scales[k].unverified.empty()) continue;
    std::vector<double> values;
    for (const double n : lengths) values.push_back(scaling::multiplier(part.schedules[k], n));
    const auto same = std::find_if(panel.series.begin(), panel.series.end(),
                                   [&](const report::Series& s) { return s.y == values; });
    if (same != panel.series.end()) {
      same->label += fmt::format(", {}", name_of(answer.engines[k]));
      continue;
    }
    panel.series.push_back({name_of(answer.engines[k]),
                            report::SeriesStyle::solid,
                            report::kind_colour(panel.series.size()),
                            lengths,
                            values,
                            {}});
  }
  return panel;
}

/// One multiplier for all engines and lengths: a number, not worth a plot.
bool is_plain(const report::LinePanel& panel) {
  if (panel.series.size() != 1) return false;
  const std::vector<double>& values = panel.series.front().y;
  return std::all_of(values.begin(), values.end(), [&](double m) { return m == values.front(); });
}

report::LineFigure figure_of(const Explanation& answer) {
  report::LineFigure figure;
  figure.title = fmt::format("Logit multiplier of {}", answer.config.model_type);
  figure.columns = 2;
  for (const Part& part : answer.parts) {
    report::LinePanel panel = panel_of(answer, part);
    if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
  }
  figure.caption = fmt::format("{} · Dewpoint {}", answer.config.file, full_version());
  return figure;
}

// ---- the verb -------------------------------------------------------------------------------

Answer preset_list() {
  Json records = Json::array();
  for (const checkpoint::Preset& preset : checkpoint::presets()) {
    records.push_back({{"name", preset.name}, {"description", preset.description}});
  }
  return {{{"answer", "scale explain"}, {"version", version()}, {"presets", records}},
          to_text(records, {{"name", "preset", true}, {"description", "what", true}})};
}

Answer explain_answer(const ExplainVerb& o) {
  if (o.presets) return preset_list();
  if (o.config.empty()) {
    throw Error(Code::bad_value,
                "config: a config.json, a .gguf file or a preset is needed; --presets lists them");
  }
  const OutputFile output(o.figure, o.force);
  if (!o.figure.empty()) report::require_figure_places(output);
  const Explanation answer = explain(o);
  const report::LineFigure figure = figure_of(answer);
  if (!o.figure.empty() && figure.panels.empty()) {
    throw Error(Code::bad_value,
                fmt::format("output: {} would be empty: no engine that was asked for is verified "
                            "for this model",
                            o.figure));
  }
  if (!o.figure.empty()) report::write_figure(figure, output);
  Json json = explanation_json(answer);
  json["figure"] = o.figure.empty() ? Json() : Json(o.figure);
  std::string text = heading_of(answer);
  for (const Part& part : answer.parts) text += part_text(answer, part);
  report::LineFigure worth_seeing = figure;
  std::erase_if(worth_seeing.panels, is_plain);
  if (!worth_seeing.panels.empty()) {
    text += "\n" + report::terminal_text(worth_seeing, terminal_style());
  }
  text += warnings_text(answer);
  if (!o.figure.empty()) text += fmt::format("\nfigure  {}\n", o.figure);
  return {json, text};
}

}  // namespace

Verb scale_explain_verb() {
  return verb_of<ExplainVerb>(
      "scale explain", "The logit multiplier that each serving engine really applies to a model",
      "dewpoint scale explain deepseek-v3 --engine hf,vllm --n 4096,32768,163840", explain_answer);
}

}  // namespace dewpoint::cli
