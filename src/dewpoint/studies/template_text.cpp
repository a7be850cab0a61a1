#include "dewpoint/studies/template_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "dewpoint/core/error.hpp"

namespace dewpoint::studies {
namespace {

struct Sample {
  std::string_view experiment;
  int replicas;
  std::string_view fixed;
  std::string_view grid;
};

constexpr auto kSamples = std::to_array<Sample>({
    {"phase", 4, "eta = \"none\"\n",
     "n = [64, 256]\n"
     "gamma = { from = 0.25, to = 2.0, count = 8, unit = \"critical\" }  # 1: 1/(1 - rho)\n"},
    {"depth", 4, "n = 64\nd = 32\nlayers = 6\neta = \"none\"\n", "gamma = [1.6, 2.0, 2.4]\n"},
    {"lengths", 4, "d = 32\nn0 = 256\n",
     "law = [\"constant\", \"ssmax\", \"yarn\"]\n"
     "n = { from = 64, to = 1024, count = 5, scale = \"log\" }\n"},
    {"variants", 4, "d = 32\nrows = 64\n",
     "attention = [\"softmax\", \"sink:16\", \"top:64\", \"linear\"]\n"
     "n = { from = 256, to = 4096, count = 5, scale = \"log\" }\n"},
    {"condense", 8, "draws = 100\n",
     "n = [1e3, 1e12, 1e100]\n"
     "t = { from = 0.25, to = 2.0, count = 8 }\n"},
    {"query", 8, "draws = 100\n",
     "n = [1e3, 1e9]\n"
     "beta = { from = 0.1, to = 10, count = 5, scale = \"log\", unit = \"star\" }\n"},
    {"output", 2, "draws = 10\n",
     "n = [1e3, 1e4]\n"
     "beta = { from = 1, to = 100, count = 5, scale = \"log\" }\n"},
    {"heat", 2, "draws = 10\n",
     "n = [1e3, 1e4]\n"
     "beta = { from = 5, to = 50, count = 5, scale = \"log\" }\n"},
    {"harmonics", 1, "particles = 1000\n", "degree = [1, 2, 3]\nbeta = [20, 50]\n"},
    {"dew", 4, "draws = 50\n",
     "law = [\"simplex:rho=0.5\", \"gaussian:sigma=1\", \"sphere:d=5\"]\n"
     "n = { from = 1e2, to = 1e10, count = 5, scale = \"log\" }\n"},
    {"train", 2, "steps = 400\nm = 64\n", "rate = [1e-4, 1.5e-4, 3e-4]\n"},
    {"train-layers", 2, "steps = 400\nm = 64\n", "layers = [1, 2, 4]\n"},
    {"train-text", 1, "corpus = \"text.txt\"\nvocabulary = 500\nm = 64\nsteps = 2000\n",
     "rate = [1.5e-4, 3e-4, 6e-4]\n"},
    {"train-scaling", 1,
     "corpus = \"text.txt\"\nvocabulary = 500\nm = 64\ntokens = 1024\nsteps = 200\n",
     "s = [16, 64]\nscaling = [\"constant\", \"sqrt-log\", \"ssmax\"]\n"},
    {"limit", 8, "draws = 200\n", "theta = { from = 0.25, to = 4, count = 5, scale = \"log\" }\n"},
});

const Sample& sample_of(const std::string& experiment) {
  const auto* found = std::find_if(kSamples.begin(), kSamples.end(), [&](const Sample& sample) {
    return sample.experiment == experiment;
  });
  DEWPOINT_EXPECTS(found != kSamples.end());
  return *found;
}

// Whether a line of the sample sets this parameter.
bool sets(std::string_view lines, const std::string& name) {
  const std::string begin = name + " = ";
  return lines.substr(0, begin.size()) == begin || lines.find("\n" + begin) != lines.npos;
}

std::string toml_value(const Field& parameter) {
  if (!parameter.standard) return "...";
  const bool word = std::holds_alternative<std::string>(*parameter.standard);
  return word ? fmt::format("\"{}\"", std::get<std::string>(*parameter.standard))
              : value_text(*parameter.standard);
}

std::string meaning_of(const Field& parameter) {
  if (parameter.otherwise.empty()) return parameter.meaning;
  return fmt::format("{} [{}]", parameter.meaning, parameter.otherwise);
}

std::string others(const Experiment& experiment, const Sample& sample) {
  std::string lines;
  for (const Field& parameter : experiment.parameters()) {
    if (sets(sample.fixed, parameter.name) || sets(sample.grid, parameter.name)) continue;
    lines += fmt::format("# {:<24}  # {}\n", parameter.name + " = " + toml_value(parameter),
                         meaning_of(parameter));
  }
  return lines;
}

}  // namespace

std::string template_text(const Experiment& experiment) {
  const Sample& sample = sample_of(experiment.name());
  return fmt::format(
      "# {}\ntitle = \"{}: a first study\"\nexperiment = \"{}\"\nseed = 1\nreplicas = {}\n\n"
      "[parameters]\n{}{}\n[grid]  # any of them may be an axis, unless it says otherwise\n{}",
      experiment.summary(), experiment.name(), experiment.name(), sample.replicas, sample.fixed,
      others(experiment, sample), sample.grid);
}

}  // namespace dewpoint::studies
