#include "dewpoint/scores/law_names.hpp"

#include <fmt/format.h>

#include "dewpoint/core/error.hpp"
#include "dewpoint/scores/clustered_law.hpp"
#include "dewpoint/scores/gaussian_law.hpp"
#include "dewpoint/scores/keys.hpp"
#include "dewpoint/scores/mixture_law.hpp"
#include "dewpoint/scores/random_query_law.hpp"
#include "dewpoint/scores/simplex_law.hpp"
#include "dewpoint/scores/sphere_law.hpp"
#include "dewpoint/scores/subsphere_law.hpp"

namespace dewpoint::scores {
namespace {

bool yes_or_no(const LawText& text, const std::string& key) {
  const double value = text.number(key);
  if (value != 0.0 && value != 1.0) {
    throw Error(Code::bad_value, fmt::format("{}: {} is not 0 or 1", key, value));
  }
  return value == 1.0;
}

std::unique_ptr<TopLaw> clustered_law(const LawText& text) {
  const int size = text.whole("size");
  return std::make_unique<ClusteredLaw>(
      ClusteredLaw::Shape{.inner = text.number("inner"),
                          .outer = text.number("outer"),
                          .size = size < 1 ? 0 : static_cast<std::size_t>(size)});
}

std::unique_ptr<TopLaw> make_law(const LawText& text) {
  const std::string& name = text.name();
  if (name == "gaussian") return std::make_unique<GaussianLaw>(text.number("sigma"));
  if (name == "sphere") return std::make_unique<SphereLaw>(text.whole("d"));
  if (name == "simplex") return std::make_unique<SimplexLaw>(text.number("rho"));
  if (name == "clustered") return clustered_law(text);
  if (name == "vmf") return std::make_unique<MixtureLaw>(text.whole("d"), sphere_components(text));
  if (name == "gaussian-keys") {
    return std::make_unique<RandomQueryLaw>(text.whole("d"), yes_or_no(text, "scaled"));
  }
  return std::make_unique<SubsphereLaw>(subsphere_shape(text));
}

}  // namespace

const std::vector<LawForm>& score_law_names() {
  static const std::vector<LawForm> names = {
      {"gaussian", {{"sigma", 1.0}}, "independent normal scores of deviation sigma"},
      {"sphere", {{"d", {}}}, "unit keys, uniform on the sphere of R^d"},
      {"vmf",
       {{"d", {}}, {"kappa", {}, true}, {"angle", 0.0, true}, {"share", 1.0, true}},
       "von Mises-Fisher keys, mean direction at an angle from the query; mixtures with +"},
      {"subsphere",
       {{"dim", {}}, {"ambient", {}}, {"angle", 0.0}, {"noise", 0.0}},
       "keys on a great subsphere of dimension dim at an angle from the query; noise is 0"},
      {"gaussian-keys",
       {{"d", {}}, {"scaled", 1.0}},
       "normal query and keys of R^d; scaled=1 divides scores by sqrt(d), scaled=0 does not"},
      {"simplex", {{"rho", 0.5}}, "1 with itself, rho with every other token"},
      {"clustered",
       {{"inner", 0.8}, {"outer", 0.2}, {"size", 16.0}},
       "1 with itself, inner with size - 1 mates, outer with the rest"}};
  return names;
}

std::unique_ptr<TopLaw> score_law(std::string_view name) try {
  return make_law(LawText(name, score_law_names()));
} catch (const Error& error) {
  refuse_law(name, error.what());
}

}  // namespace dewpoint::scores
