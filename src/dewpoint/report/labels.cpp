#include "dewpoint/report/labels.hpp"

#include <algorithm>
#include <array>

#include "dewpoint/report/number_text.hpp"

namespace dewpoint::report {
namespace {

struct Label {
  std::string_view name;
  std::string_view text;
  std::string_view symbol;
  bool fraction = false;
};

constexpr auto kLabels = std::to_array<Label>({
    // sizes and temperatures
    {"n", "context length n", "n"},
    {"d", "dimension d", "d"},
    {"beta", "inverse temperature β", "β"},
    {"gamma", "scaling γ = β / ln n", "γ"},
    {"c", "reduced scale c = γ (1 − ρ)", "c"},
    {"scaling_variable", "scaling variable x = (c − 1) ln n", "x"},
    {"theta", "θ = β / β*", "θ"},
    {"t", "load t = β / β_c", "t"},
    {"load", "load t = β / β_c", "t"},
    {"edge_load", "edge load t_e = β / b_N", "t_e"},
    {"relative_beta", "β / β_heat", "β/β_heat"},
    {"tau", "phase τ = β / β_dew", "τ"},
    {"phase", "phase τ = β / β_dew", "τ"},
    {"sigma", "deviation of the scores σ", "σ"},
    {"signal", "signal s", "s"},
    // tokens
    {"size", "size (W, K, B or M)", "size"},
    {"rho", "token overlap ρ", "ρ"},
    {"alpha", "residual α", "α"},
    {"residual", "residual α", "α"},
    {"squared_norm", "squared norm q", "q"},
    {"concentration", "concentration κ", "κ"},
    {"layer", "layer", ""},
    {"head", "head", ""},
    {"rank", "rank", ""},
    // what a layer does
    {"contraction", "contraction λ", "λ", true},
    {"jacobian_norm", "Jacobian norm η", "η"},
    {"loss", "loss in nats per token", ""},
    {"loss_change", "loss above that at m = 1", ""},
    {"longer_loss", "loss in nats per token", ""},
    {"longer_change", "loss above that at the length of training", ""},
    {"factor", "context / length of training", ""},
    {"mean_phase", "phase τ, geometric mean of heads", ""},
    {"gradient_norm", "norm of the gradient", ""},
    {"multiplier", "multiplier m of the logits", "m"},
    {"log10_gap", "log₁₀ of the mean gap 1 − cos", ""},
    {"end_to_end_norm", "norm from end to end", ""},
    {"singular_value", "singular value of the product", ""},
    // weights of one query
    {"self_mass", "weight on itself a", "a", true},
    {"cluster_mass", "weight on the cluster", "", true},
    {"rest_mass", "weight on the rest", "", true},
    {"largest_weight", "largest weight w_max", "w_max", true},
    {"planted_weight", "weight of the planted key w_*", "w_*", true},
    {"weight", "weight w", "w", true},
    {"ordered_weight", "ordered weight w", "w", true},
    {"participation", "participation Σw²", "Σw²", true},
    {"entropy", "entropy H", "H"},
    {"log_partition", "log Z", "log Z"},
    {"log_mean_partition", "log E Z", "log E Z"},
    {"effective_keys", "effective keys n_eff", "n_eff"},
    {"effective_share", "share of keys read, n_eff / n", "n_eff/n", true},
    {"first_mass", "weight on the first key", "", true},
    {"sink_mass", "weight on the learned sink", "", true},
    // where attention condenses
    {"beta_dew", "dew point β_dew", "β_dew"},
    {"dew_point", "dew point β_dew", "β_dew"},
    {"dew_in_log_keys", "dew point over log of the keys in view", ""},
    {"without_dew", "share of queries without a dew point", "", true},
    {"best_key", "share of winners with the best score", "", true},
    {"beta_dew_median", "median dew point β_dew", "β_dew"},
    {"beta_pr", "participation point β_PR", "β_PR"},
    {"beta_edge", "edge β_edge", "β_edge"},
    {"beta_heat", "β_heat", "β_heat"},
    {"beta_star", "β*", "β*"},
});

const Label* find_label(std::string_view name) {
  const auto found = std::find_if(kLabels.begin(), kLabels.end(),
                                  [&](const Label& label) { return label.name == name; });
  return found == kLabels.end() ? nullptr : &*found;
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

std::string long_label(std::string_view name) {
  const Label* label = find_label(name);
  return label != nullptr ? std::string(label->text) : with_spaces(name);
}

std::string short_label(std::string_view name) {
  const Label* label = find_label(name);
  return label != nullptr && !label->symbol.empty() ? std::string(label->symbol) : long_label(name);
}

std::string value_label(std::string_view name, double value) {
  return short_label(name) + " = " + (name == "n" ? length_text(value) : number_text(value));
}

bool is_fraction(std::string_view name) {
  const Label* label = find_label(name);
  return label != nullptr && label->fraction;
}

}  // namespace dewpoint::report
