#include "dewpoint/diagnosis/verdict_json.hpp"

#include <nlohmann/json.hpp>

#include "dewpoint/core/frame_json.hpp"

namespace dewpoint::diagnosis {
namespace {

using Json = nlohmann::ordered_json;

Json growth_json(const std::optional<HeadGrowth>& growth) {
  if (!growth) return nullptr;
  Json json = to_json(growth->verdict);
  json["slope"] = dewpoint::to_json(growth->slope);
  json["lengths"] = growth->lengths;
  return json;
}

}  // namespace

Json to_json(const GrowthVerdict& verdict) {
  Json fits = Json::array();
  for (const LawFit& fit : verdict.fits) {
    fits.push_back({{"law", name_of(fit.law)},
                    {"probability", fit.probability},
                    {"chi_square", fit.chi_square},
                    {"fit_probability", fit.fit_probability},
                    {"offset", dewpoint::to_json(fit.offset)},
                    {"exponent", dewpoint::to_json(fit.exponent)}});
  }
  return {{"law", verdict.law ? Json(name_of(*verdict.law)) : Json("cannot tell")},
          {"reason", verdict.reason},
          {"fits", fits}};
}

Json to_json(const PhaseVerdict& verdict) {
  return {{"phase", verdict.phase ? Json(name_of(*verdict.phase)) : Json("cannot tell")},
          {"probability", verdict.probability},
          {"reason", verdict.reason}};
}

Json to_json(const HeadDiagnosis& head, const std::vector<std::string>& multipliers) {
  Json verdicts = Json::object(), without = Json::object();
  for (std::size_t k = 0; k < multipliers.size(); ++k) {
    verdicts[multipliers[k]] = to_json(head.verdicts[k]);
    without[multipliers[k]] = to_json(head.verdicts_without_first[k]);
  }
  return {{"layer", head.layer},
          {"head", head.head},
          {"verdicts", verdicts},
          {"verdicts_without_sink", without},
          {"growth_along_rows", growth_json(head.along_rows)},
          {"growth_thinned", growth_json(head.thinned)},
          {"warnings", head.warnings}};
}

}  // namespace dewpoint::diagnosis
