// The claims of each file of this module, which claim.cpp puts in order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dewpoint/claims/claim.hpp"

namespace dewpoint::claims {

// Critical attention scaling in long-context transformers (CAS).
[[nodiscard]] std::vector<Claim> cas_layer_claims();     // Theorems 2.1, 2.3, Lemmas A.1-A.4
[[nodiscard]] std::vector<Claim> cas_gradient_claims();  // Theorems 2.4, 2.5, Lemmas B.1-B.5
[[nodiscard]] std::vector<Claim> cas_simplex_gradient_claims();  // Lemmas B.6-B.10
[[nodiscard]] std::vector<Claim> cas_cluster_claims();           // Lemma C.1, Theorem C.2
[[nodiscard]] std::vector<Claim> cas_table_claims();             // Table 1
[[nodiscard]] std::vector<Claim> cas_gaussian_claims();          // Appendix D

// A condensation crossover in softmax attention (CC).
[[nodiscard]] std::vector<Claim> cc_claims();            // Eq (5)-(12)
[[nodiscard]] std::vector<Claim> cc_retrieval_claims();  // Eq (13), (14)

// Scaling limits of long-context transformers (SL), abstract.
[[nodiscard]] std::vector<Claim> sl_scale_claims();   // the critical scale
[[nodiscard]] std::vector<Claim> sl_weight_claims();  // ordered weights
[[nodiscard]] std::vector<Claim> sl_output_claims();  // output in three regimes
[[nodiscard]] std::vector<Claim> sl_heat_claims();    // backward heat equation

// Focus and dilution: multi-stage learning of attention (FD).
[[nodiscard]] std::vector<Claim> fd_data_claims();              // Propositions A.1, 3.3
[[nodiscard]] std::vector<Claim> fd_origin_claims();            // Lemma 4.1, Theorem 4.2
[[nodiscard]] std::vector<Claim> fd_times_claims();             // Eq (75), (14), Proposition B.6
[[nodiscard]] std::vector<Claim> fd_critical_point_claims();    // Propositions 4.3, 4.4, B.7
[[nodiscard]] std::vector<Claim> fd_focus_claims();             // Theorem 4.5
[[nodiscard]] std::vector<Claim> fd_rank_one_claims();          // Proposition 4.6, Theorem 4.7
[[nodiscard]] std::vector<Claim> fd_excursion_claims();         // Section 4.3, Proposition C.1
[[nodiscard]] std::vector<Claim> fd_asymmetry_claims();         // Proposition 4.8, Theorem 4.9
[[nodiscard]] std::vector<Claim> fd_training_claims();          // Section 5.1, Figure 2
[[nodiscard]] std::vector<Claim> fd_training_weights_claims();  // Section 5.1, stages I and II
[[nodiscard]] std::vector<Claim> fd_heads_claims();             // Figures 4, 5
[[nodiscard]] std::vector<Claim> fd_layers_claims();            // Figure 5, eight layers

// Results of our own.
[[nodiscard]] std::vector<Claim> length_claims();   // multipliers over context lengths
[[nodiscard]] std::vector<Claim> variant_claims();  // dew points of masks, sinks, linear attention

// Rows of docs/errata.md.
[[nodiscard]] std::vector<Claim> cas_jacobian_errata();
[[nodiscard]] std::vector<Claim> cas_layer_errata();
[[nodiscard]] std::vector<Claim> cc_errata();
[[nodiscard]] std::vector<Claim> fd_origin_errata();
[[nodiscard]] std::vector<Claim> fd_critical_point_errata();
[[nodiscard]] std::vector<Claim> fd_flow_errata();
[[nodiscard]] std::vector<Claim> fd_asymmetry_errata();

}  // namespace dewpoint::claims
