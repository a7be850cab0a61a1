#include "dewpoint/claims/claim.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "dewpoint/claims/lists.hpp"

namespace dewpoint::claims {
namespace {

std::vector<Claim> joined(std::initializer_list<std::vector<Claim>> lists) {
  std::vector<Claim> all;
  for (const std::vector<Claim>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// In the order of the page: by the number after the point.
std::vector<Claim> by_number(std::vector<Claim> errata) {
  const auto number = [](const Claim& claim) {
    return std::stoi(claim.id.substr(claim.id.rfind('.') + 1));
  };
  std::sort(errata.begin(), errata.end(),
            [&](const Claim& a, const Claim& b) { return number(a) < number(b); });
  return errata;
}

bool all_hold(const std::vector<Comparison>& comparisons) {
  return std::all_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& comparison) { return comparison.holds(); });
}

}  // namespace

// Written so that a NaN anywhere is a failure: every comparison with it is false.
bool Comparison::holds() const {
  const double allowed = kSigmas * measured.standard_error + tolerance;
  const double excess = measured.mean - predicted;
  switch (relation) {
    case Relation::equals:
      return std::abs(excess) <= allowed;
    case Relation::at_least:
      return excess >= -allowed;
    case Relation::at_most:
      return excess <= allowed;
  }
  return false;
}

Verdict verdict(const Evidence& evidence) {
  if (evidence.statement.empty() || !all_hold(evidence.statement)) return Verdict::fails;
  if (evidence.as_printed.empty()) return evidence.reproduces ? Verdict::holds : Verdict::fails;
  if (all_hold(evidence.as_printed)) return Verdict::fails;
  return evidence.reproduces ? Verdict::holds_as_corrected : Verdict::does_not_reproduce;
}

std::string name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::holds_as_corrected:
      return "holds as corrected";
    case Verdict::does_not_reproduce:
      return "does not reproduce";
    case Verdict::fails:
      return "fails";
  }
  return "unknown";
}

const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> claims = joined({cas_layer_claims(),
                                                   cas_gradient_claims(),
                                                   cas_simplex_gradient_claims(),
                                                   cas_cluster_claims(),
                                                   cas_table_claims(),
                                                   cas_gaussian_claims(),
                                                   cc_claims(),
                                                   cc_retrieval_claims(),
                                                   sl_scale_claims(),
                                                   sl_weight_claims(),
                                                   sl_output_claims(),
                                                   sl_heat_claims(),
                                                   fd_data_claims(),
                                                   fd_origin_claims(),
                                                   fd_times_claims(),
                                                   fd_critical_point_claims(),
                                                   fd_focus_claims(),
                                                   fd_rank_one_claims(),
                                                   fd_excursion_claims(),
                                                   fd_asymmetry_claims(),
                                                   fd_training_claims(),
                                                   fd_training_weights_claims(),
                                                   fd_heads_claims(),
                                                   fd_layers_claims(),
                                                   length_claims(),
                                                   variant_claims()});
  return claims;
}

const std::vector<Claim>& all_errata() {
  static const std::vector<Claim> errata =
      by_number(joined({cas_jacobian_errata(), cas_layer_errata(), cc_errata(), fd_origin_errata(),
                        fd_critical_point_errata(), fd_flow_errata(), fd_asymmetry_errata()}));
  return errata;
}

}  // namespace dewpoint::claims
