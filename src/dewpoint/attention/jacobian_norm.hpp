// How much of a small change of the tokens survives one layer, on average over directions: the
// Jacobian norm η = ‖J‖_F²/(n d) of [CAS], Eq 27. J and its blocks are those of
// jacobian_reference.hpp, the plain version of what is here.
//
// The blocks off the diagonal need only products of n x n x d. A block on the diagonal holds the
// covariance C_j of the keys under the weights of query j, seen by directions tangent at the query,
//
//     τ_j = tr(C_j P_j)   and   φ_j = ‖C_j P_j‖_F²,
//
// and φ_j either costs a wider product (exact; second_moment.hpp) or is sampled: E‖C_j P_j ξ‖² =
// φ_j for random signs ξ. As every query has signs of its own, the errors of n queries average out,
// and one probe leaves η uncertain by at most √(2/n) of the part that φ has in it.
//
//   method       off the diagonal   on the diagonal             error
//   exact        exact              exact                       rounding
//   mixed        exact              sampled, or bounded where   measured from the probes, or
//                                   bounds are close enough     the width of the bounds
//   hutchinson   ‖J ξ‖² for signs ξ on all tokens at once       measured; needs two probes or more
//   automatic    exact or mixed, whichever costs less for the error that is asked for
//
// Colder than products of float32 can tell (trusts_products), exact and mixed sum over the few keys
// that have a weight, one by one and in double, seen from the query: nothing is subtracted there
// that is nearly equal, and the sums keep their digits at any β.
//
// Hutchinson's probe costs as much as the whole part off the diagonal, and its error does not fall
// with n: it is here to be compared with, and serves chains of layers (jacobian_products.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/attention/second_moment.hpp"
#include "dewpoint/core/centred_cloud.hpp"
#include "dewpoint/core/estimate.hpp"
#include "dewpoint/core/gradient_kernels.hpp"
#include "dewpoint/core/kernels.hpp"
#include "dewpoint/core/random.hpp"

namespace dewpoint::attention {

/// The Jacobian norm, split so that other norms and another residual need no new pass.
struct JacobianNorm {
  /// η = off_diagonal + diagonal: what comes from other tokens, and from the token itself.
  struct Parts {
    double off_diagonal;
    double diagonal;
    double standard_error = 0.0;  // of their sum, from sampled diagonals; 0: exact
    [[nodiscard]] double total() const { return off_diagonal + diagonal; }
  };

  std::size_t dimension = 0;
  std::vector<double> from_others;  // T_i = r_i² Σ_{j≠i} ‖J_ji‖_F²
  std::vector<double> from_self;  // r_j² ‖J_jj − α I‖_F² = A_jj²(d−1) + 2β A_jj τ_j + β² φ_j
  std::vector<double> self_trace;     // r_j tr(J_jj − α I)   = A_jj(d−1) + β τ_j
  std::vector<double> self_variance;  // of from_self, from its probes; empty: exact

  /// η for tokens of the same directions with these norms, and this residual,
  ///
  ///     η(α) = η(0) + α² + (2α/(n d)) Σ_j [A_jj(d−1) + β τ_j]/r_j.
  ///
  ///   Domain      one positive norm for each token, any α.
  ///   Properties  (1) equals η of a Jacobian taken at those norms and that residual.
  [[nodiscard]] Parts at(std::span<const double> norms, double residual) const;
};

enum class NormMethod { automatic, exact, mixed, hutchinson };

/// "auto", "exact", "mixed", "hutchinson".
[[nodiscard]] std::string name_of(NormMethod method);

struct NormOptions {
  NormMethod method = NormMethod::automatic;
  double target_error = 0.01;  // of η, relative: probes are added until it is met
  std::size_t probes = 0;      // 0: as the target asks for; else exactly so many
  std::uint64_t seed = 1;      // of the probes
  std::uint64_t replica = 0;
};

/// Throws Error{bad_value} naming the field when a number is out of range.
void check(const NormOptions& options);

/// Whether gaps from products of offsets, which are off by their resolution, leave every weight
/// right to kTrustedRounding.
[[nodiscard]] bool trusts_products(const GapSource& gaps, double inverse_temperature);
inline constexpr double kTrustedRounding = 1e-4;

/// Probes are added up to this many when a target asks for them.
inline constexpr std::size_t kMostProbes = 64;

/// The method that `automatic` stands for at n tokens in dimension d: a probe is two products with
/// d columns and two passes over the weights, each worth about kPassColumns columns.
[[nodiscard]] NormMethod cheaper_norm_method(std::size_t n, std::size_t d);
inline constexpr std::size_t kPassColumns = 16;

/// Rows of attention of some queries, complete over their keys.
struct AttentionStrip {
  std::span<const std::size_t> queries;  // tokens
  MatrixView<const float> gaps;         // padded; kFarGap on the query itself, hidden keys, padding
  MatrixView<const float> weights;      // exp(−β gap): 0 there
  std::span<const RowMoments> moments;  // the query itself included
  MatrixView<const float> mixed;        // μ_j = Σ_i A_ji o_i, the query itself included
};

/// What the norm needs to know of a cloud at any temperature.
class NormGeometry {
 public:
  /// `cloud` must outlive it. The squared overlaps of an exact diagonal are made here, once.
  NormGeometry(const CentredCloud& cloud, std::span<const double> norms,
               const NormOptions& options);

  [[nodiscard]] const CentredCloud& cloud() const { return *cloud_; }
  [[nodiscard]] const NormOptions& options() const { return options_; }
  [[nodiscard]] const SecondMoments* second_moments() const { return second_moments_.get(); }
  [[nodiscard]] kernels::KeyTerms keys() const;
  [[nodiscard]] double norm(std::size_t token) const { return norms_[token]; }
  [[nodiscard]] double along_centre(std::size_t token) const {
    return static_cast<double>(along_centre_[token]);
  }
  [[nodiscard]] double centre_square() const { return centre_square_; }

 private:
  const CentredCloud* cloud_;
  std::span<const double> norms_;
  NormOptions options_;
  double centre_square_ = 0.0;
  std::vector<float> half_square_;
  std::vector<float> along_centre_;
  std::vector<float> inverse_square_norm_;
  std::unique_ptr<SecondMoments> second_moments_;  // null: the diagonal is sampled
};

/// Memory that a thread uses again for every strip.
class NormWorkspace {
 public:
  /// Rows x padded(n) floats each. Their contents are left over from the last strip.
  [[nodiscard]] MatrixView<float> overlaps(std::size_t rows, std::size_t cols);
  [[nodiscard]] MatrixView<float> scores(std::size_t rows, std::size_t cols);

 private:
  Matrix<float> overlaps_;
  Matrix<float> scores_;
};

/// What one query adds to η.
struct NormRow {
  double from_keys = 0.0;  // Σ_{i≠j} ‖J_ji‖_F²
  double self = 0.0;       // as JacobianNorm::from_self
  double trace = 0.0;      // as JacobianNorm::self_trace
  double variance = 0.0;   // of `self`
};

/// Adds up strips at one temperature; one per thread.
class JacobianNormSum {
 public:
  /// `strips`: into how many strips all queries are cut; each is sampled so finely that together
  /// they meet the target.
  JacobianNormSum(const NormGeometry& geometry, double inverse_temperature, double strips);

  /// Returns what each query of the strip adds; what each key gets is kept in columns().
  [[nodiscard]] std::vector<NormRow> add(const AttentionStrip& strip, NormWorkspace& workspace);

  /// T_i of JacobianNorm for the queries added so far.
  [[nodiscard]] const std::vector<double>& columns() const { return columns_; }

 private:
  struct Query;
  [[nodiscard]] Query query_of(const AttentionStrip& strip, std::size_t row) const;
  [[nodiscard]] kernels::QueryTerms terms_of(const Query& query,
                                             std::span<const float> mixed) const;
  [[nodiscard]] NormRow row_of(const Query& query) const;
  [[nodiscard]] double half_square(const Query& query) const;
  [[nodiscard]] double self_added_square(const Query& query, double score,
                                         std::span<const float> row) const;

  void add_near(const AttentionStrip& strip, std::size_t row, Query& query);
  void add_blocks(const AttentionStrip& strip, NormWorkspace& workspace,
                  std::vector<Query>& queries);
  void add_exact_diagonal(const AttentionStrip& strip, std::vector<Query>& queries);
  [[nodiscard]] bool bound_diagonal(std::vector<Query>& queries) const;
  void add_sampled_diagonal(const AttentionStrip& strip, NormWorkspace& workspace,
                            std::vector<Query>& queries);

  [[nodiscard]] std::vector<double> probe(const AttentionStrip& strip, NormWorkspace& workspace,
                                          const std::vector<Query>& queries,
                                          std::uint64_t index) const;
  void fill_tangent_signs(std::size_t token, std::uint64_t probe, std::span<float> out) const;
  static void set_squares(const std::vector<RunningMoments>& squares, std::vector<Query>& queries);
  [[nodiscard]] bool meets_target(const std::vector<Query>& queries) const;

  const NormGeometry* geometry_;
  double beta_;
  double strips_;
  std::vector<double> columns_;
};

/// The norm from what every query, in order, and every key got.
[[nodiscard]] JacobianNorm jacobian_norm_of(const std::vector<NormRow>& rows,
                                            std::vector<double> columns, std::size_t dimension);

}  // namespace dewpoint::attention
