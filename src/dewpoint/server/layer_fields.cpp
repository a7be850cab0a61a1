#include "dewpoint/server/layer_fields.hpp"

#include <utility>

namespace dewpoint::server {
namespace {

// Of every room; what costs more than others is theirs to say.
const std::map<std::string, double> kMostLive = {{"rho", 0.999},
                                                 {"rho-inner", 0.999},
                                                 {"d", 2048.0},
                                                 {"cluster-size", 1024.0},
                                                 {"eta-probes", 64.0}};

}  // namespace

std::vector<question::Field> live_layer(std::vector<question::Field> fields,
                                        const std::vector<std::string>& laws,
                                        const std::map<std::string, double>& most) {
  fields =
      experiments::without(std::move(fields), {"mask", "attention", "projections", "rope", "c",
                                               "beta", "law", "strength", "rows", "singular-values",
                                               "end-to-end", "probes", "target-error"});
  for (question::Field& field : fields) {
    if (field.name == "tokens") field.words = laws;
    for (const auto* limits : {&kMostLive, &most}) {
      const auto found = limits->find(field.name);
      if (found != limits->end()) field.live = question::live(found->second);
    }
  }
  return fields;
}

std::string effective_command(const Question& question, const experiments::LayerQuestion& asked) {
  std::vector<std::string> idle;
  for (const auto& [name, why] : idle_fields(question.names(), completed(asked))) {
    idle.push_back(name);
  }
  return question.command(idle);
}

}  // namespace dewpoint::server
