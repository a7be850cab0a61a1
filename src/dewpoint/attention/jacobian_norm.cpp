#include "dewpoint/attention/jacobian_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/vectors.hpp"

namespace dewpoint::attention {
namespace {

double square(double x) { return x * x; }

using dewpoint::inner;

double inner(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  }
  return sum;
}

double inner(std::span<const double> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * static_cast<double>(b[k]);
  return sum;
}

constexpr std::array<std::pair<NormMethod, const char*>, 4> kMethodNames = {
    {{NormMethod::automatic, "auto"},
     {NormMethod::exact, "exact"},
     {NormMethod::mixed, "mixed"},
     {NormMethod::hutchinson, "hutchinson"}}};

// Keys whose weight is below this share of that of all other keys are left out where the rest is
// taken one by one.
constexpr double kFaintWeight = 1e-10;

// One query and the keys that have a weight, as they are seen from the query:
// e_i = y_i − y_j, δ = m_j − y_j = Σ A e.
struct NearKeys {
  std::vector<std::size_t> tokens;
  std::vector<double> shares;  // A_ji
  std::vector<double> gaps;    // Δ_ji = ½‖e_i‖²
  Matrix<double> differences;  // e_i
  std::vector<double> move;    // δ
  double mean_gap = 0.0;       // Σ A Δ = −⟨δ, y_j⟩
};

NearKeys near_keys(const CentredCloud& cloud, std::size_t query, double own_share,
                   std::span<const float> weights) {
  const double faint = kFaintWeight * (1.0 / own_share - 1.0);
  NearKeys near;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    if (static_cast<double>(weights[i]) > faint) near.tokens.push_back(i);
  }
  near.differences = Matrix<double>(near.tokens.size(), cloud.dimension());
  near.move.assign(cloud.dimension(), 0.0);
  const auto own = cloud.offsets().row(query);
  for (std::size_t a = 0; a < near.tokens.size(); ++a) {
    const auto offset = cloud.offsets().row(near.tokens[a]);
    const auto e = near.differences.row(a);
    const double share = own_share * static_cast<double>(weights[near.tokens[a]]);
    for (std::size_t k = 0; k < e.size(); ++k) {
      e[k] = static_cast<double>(offset[k]) - static_cast<double>(own[k]);
      near.move[k] += share * e[k];
    }
    near.shares.push_back(share);
    near.gaps.push_back(0.5 * inner(e, e));
    near.mean_gap += share * near.gaps.back();
  }
  return near;
}

// φ_j = ‖C_j‖_F² − ‖C_j y_j‖² with C_j = Σ A e eᵀ − δ δᵀ and C_j y_j = −Σ A Δ e + (Σ A Δ) δ.
double covariance_square(const NearKeys& near) {
  std::vector<double> along = near.move;
  for (double& x : along) x *= near.mean_gap;
  double frobenius = square(inner(near.move, near.move));
  for (std::size_t a = 0; a < near.tokens.size(); ++a) {
    const auto e = near.differences.row(a);
    for (std::size_t k = 0; k < e.size(); ++k) along[k] -= near.shares[a] * near.gaps[a] * e[k];
    frobenius -= 2.0 * near.shares[a] * square(inner(e, near.move));
    for (std::size_t b = 0; b < near.tokens.size(); ++b) {
      frobenius += near.shares[a] * near.shares[b] * square(inner(e, near.differences.row(b)));
    }
  }
  return std::max(frobenius - inner(along, along), 0.0);
}

// Queries in a strip below which one probe each says too little about its own error.
constexpr std::size_t kEnoughQueries = 64;

}  // namespace

std::string name_of(NormMethod method) {
  return std::find_if(kMethodNames.begin(), kMethodNames.end(),
                      [&](const auto& entry) { return entry.first == method; })
      ->second;
}

void check(const NormOptions& options) {
  if (!(options.target_error > 0.0) || !std::isfinite(options.target_error)) {
    throw Error(Code::bad_value,
                fmt::format("eta-error: {} is not a finite number > 0", options.target_error));
  }
  if (options.method == NormMethod::hutchinson && options.probes == 1) {
    throw Error(Code::bad_value,
                "eta-probes: 1 gives no error bar for hutchinson; 0 (as the error asks for) or "
                "at least 2");
  }
}

bool trusts_products(const GapSource& gaps, double inverse_temperature) {
  return inverse_temperature * static_cast<double>(gaps.resolution()) <= kTrustedRounding;
}

NormMethod cheaper_norm_method(std::size_t n, std::size_t d) {
  const std::size_t exact = second_moment_columns(cheaper_second_moment(n, d), n, d);
  return exact <= 2 * (d + kPassColumns) ? NormMethod::exact : NormMethod::mixed;
}

JacobianNorm::Parts JacobianNorm::at(std::span<const double> norms, double residual) const {
  DEWPOINT_EXPECTS(norms.size() == from_others.size());
  Parts sum{0.0, 0.0};
  double variance = 0.0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    sum.off_diagonal += from_others[i] / square(norms[i]);
    sum.diagonal += from_self[i] / square(norms[i]) + 2.0 * residual * self_trace[i] / norms[i];
    if (!self_variance.empty()) variance += self_variance[i] / square(square(norms[i]));
  }
  const double entries = static_cast<double>(norms.size() * dimension);
  return {sum.off_diagonal / entries, sum.diagonal / entries + square(residual),
          std::sqrt(variance) / entries};
}

NormGeometry::NormGeometry(const CentredCloud& cloud, std::span<const double> norms,
                           const NormOptions& options)
    : cloud_(&cloud),
      norms_(norms),
      options_(options),
      half_square_(padded(cloud.size()), 0.0F),
      along_centre_(half_square_),
      inverse_square_norm_(half_square_) {
  DEWPOINT_EXPECTS(norms.size() == cloud.size());
  DEWPOINT_EXPECTS(options.method != NormMethod::hutchinson);
  const std::size_t n = cloud.size();
  if (options_.method == NormMethod::automatic) {
    options_.method = cheaper_norm_method(n, cloud.dimension());
  }
  centre_square_ = inner(cloud.centre(), cloud.centre());
  for (std::size_t i = 0; i < n; ++i) {
    half_square_[i] = cloud.half_squares()[i];
    along_centre_[i] = static_cast<float>(inner(cloud.centre(), cloud.offsets().row(i)));
    inverse_square_norm_[i] = static_cast<float>(1.0 / square(norms[i]));
  }
  if (options_.method == NormMethod::exact) {
    second_moments_ =
        std::make_unique<SecondMoments>(cloud, cheaper_second_moment(n, cloud.dimension()));
  }
}

kernels::KeyTerms NormGeometry::keys() const {
  return {half_square_, along_centre_, inverse_square_norm_};
}

// One query of a strip, all sums with the query itself included.
struct JacobianNormSum::Query {
  std::size_t token;
  double share;         // 1/Z_j = A_jj
  double mean_gap;      // 1 − ⟨m_j, y_j⟩
  double mixed_square;  // ‖μ_j‖²
  double overlap;       // ⟨o_j, μ_j⟩
  kernels::QuerySums sums;
  double along_query = 0.0;  // ‖C_j y_j‖²
  double square = 0.0;       // φ_j
  double variance = 0.0;     // of φ_j

  [[nodiscard]] double trace() const { return sums.spread - sums.along; }  // τ_j

  // What holds for any covariance: τ²/(d−1) ≤ φ ≤ tr(C) τ.
  [[nodiscard]] std::pair<double, double> bounds(std::size_t dimension) const {
    const double positive = std::max(trace(), 0.0);
    const auto tangents = static_cast<double>(dimension) - 1.0;
    const double least = tangents > 0.0 ? positive * positive / tangents : 0.0;
    return {least, std::max(sums.spread * positive, least)};
  }
};

MatrixView<float> NormWorkspace::overlaps(std::size_t rows, std::size_t cols) {
  if (overlaps_.rows() < rows || overlaps_.cols() != cols) overlaps_ = Matrix<float>(rows, cols);
  return overlaps_.view().row_range({0, rows});
}

MatrixView<float> NormWorkspace::scores(std::size_t rows, std::size_t cols) {
  if (scores_.rows() < rows || scores_.cols() != cols) scores_ = Matrix<float>(rows, cols);
  return scores_.view().row_range({0, rows});
}

JacobianNormSum::JacobianNormSum(const NormGeometry& geometry, double inverse_temperature,
                                 double strips)
    : geometry_(&geometry),
      beta_(inverse_temperature),
      strips_(std::max(strips, 1.0)),
      columns_(geometry.cloud().size(), 0.0) {}

JacobianNormSum::Query JacobianNormSum::query_of(const AttentionStrip& strip,
                                                 std::size_t row) const {
  const auto mixed = strip.mixed.row(row);
  const std::size_t token = strip.queries[row];
  Query query{};
  query.token = token;
  query.share = 1.0 / strip.moments[row].partition;
  query.mean_gap = strip.moments[row].gap * query.share;
  query.mixed_square = inner(mixed, mixed);
  query.overlap = inner(geometry_->cloud().offsets().row(token), mixed);
  return query;
}

std::vector<NormRow> JacobianNormSum::add(const AttentionStrip& strip, NormWorkspace& workspace) {
  std::vector<Query> queries;
  for (std::size_t q = 0; q < strip.queries.size(); ++q) queries.push_back(query_of(strip, q));
  if (!trusts_products(geometry_->cloud(), beta_)) {
    for (std::size_t q = 0; q < queries.size(); ++q) add_near(strip, q, queries[q]);
  } else {
    add_blocks(strip, workspace, queries);
    if (geometry_->second_moments() != nullptr) {
      add_exact_diagonal(strip, queries);
    } else if (!bound_diagonal(queries)) {
      add_sampled_diagonal(strip, workspace, queries);
    }
  }
  std::vector<NormRow> rows;
  for (const Query& query : queries) rows.push_back(row_of(query));
  return rows;
}

// As the kernels do (gradient_kernels.hpp), with x_i = y_i − m_j = e_i − δ and
//     ⟨x_i, P_i y_j⟩ = ⟨δ, e_i⟩ − Δ − Δ (1 − Δ + ⟨δ, y_j + e_i⟩).
void JacobianNormSum::add_near(const AttentionStrip& strip, std::size_t row, Query& query) {
  const NearKeys near =
      near_keys(geometry_->cloud(), query.token, query.share, strip.weights.row(row));
  const double tangents = static_cast<double>(geometry_->cloud().dimension()) - 1.0;
  const double move_square = inner(near.move, near.move);
  query.sums.spread = query.share * move_square;
  query.sums.along = query.share * square(near.mean_gap);
  for (std::size_t a = 0; a < near.tokens.size(); ++a) {
    const double share = near.shares[a], gap = near.gaps[a];
    const double overlap = inner(near.move, near.differences.row(a));
    const double distance = std::max(2.0 * gap + move_square - 2.0 * overlap, 0.0);
    const double lean = overlap - gap - gap * (1.0 - gap - near.mean_gap + overlap);
    const double block = square(share) * (tangents + 2.0 * beta_ * lean +
                                          square(beta_) * distance * gap * (2.0 - gap));
    columns_[near.tokens[a]] += block;
    query.sums.blocks += block / square(geometry_->norm(near.tokens[a]));
    query.sums.spread += share * distance;
    query.sums.along += share * square(near.mean_gap - gap);
  }
  query.square = covariance_square(near);
}

// Blocks off the diagonal, the sums over keys, and C_j y_j = Σ_i A_ji ⟨y_i − m_j, y_j⟩ o_i (its
// part along μ_j has the factor Σ_i A_ji ⟨y_i − m_j, y_j⟩ = 0).
void JacobianNormSum::add_blocks(const AttentionStrip& strip, NormWorkspace& workspace,
                                 std::vector<Query>& queries) {
  const CentredCloud& cloud = geometry_->cloud();
  const std::size_t rows = queries.size();
  const auto overlaps = workspace.overlaps(rows, strip.weights.cols());
  const auto real = overlaps.block({0, rows}, {0, cloud.size()});
  multiply_abt(strip.mixed, cloud.offsets(), real);

  std::vector<kernels::QueryTerms> terms;
  for (std::size_t q = 0; q < rows; ++q) terms.push_back(terms_of(queries[q], strip.mixed.row(q)));
  std::vector<kernels::QuerySums> sums(rows);
  const kernels::BlockScale scale{static_cast<float>(beta_),
                                  static_cast<float>(cloud.dimension() - 1)};
  kernels::jacobian_rows(strip.gaps, strip.weights, scale, geometry_->keys(), terms, overlaps, sums,
                         columns_);
  Matrix<float> along(rows, cloud.dimension());
  multiply_ab(real, cloud.offsets(), along);
  for (std::size_t q = 0; q < rows; ++q) {
    Query& query = queries[q];
    const double distance =
        2.0 * half_square(query) + query.mixed_square - 2.0 * query.overlap;  // ‖y_j − m_j‖²
    query.sums = sums[q];
    query.sums.spread += query.share * distance;
    query.sums.along += query.share * square(query.mean_gap);
    query.sums.squared_overlap += query.share * square(query.overlap);
    query.along_query = self_added_square(query, query.mean_gap, along.row(q));
  }
}

// ‖row + A_jj · score · o_j‖²: a sum over the other keys, with the query's own term.
double JacobianNormSum::self_added_square(const Query& query, double score,
                                          std::span<const float> row) const {
  const auto offset = geometry_->cloud().offsets().row(query.token);
  double sum = 0.0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    sum +=
        square(static_cast<double>(row[k]) + query.share * score * static_cast<double>(offset[k]));
  }
  return sum;
}

double JacobianNormSum::half_square(const Query& query) const {
  return static_cast<double>(geometry_->cloud().half_squares()[query.token]);
}

kernels::QueryTerms JacobianNormSum::terms_of(const Query& query,
                                              std::span<const float> mixed) const {
  const double mixed_on_centre = inner(geometry_->cloud().centre(), mixed);
  const double self = geometry_->along_centre(query.token) + query.overlap;
  return {static_cast<float>(query.share), static_cast<float>(0.5 * query.mixed_square),
          static_cast<float>(self),
          static_cast<float>(geometry_->centre_square() + mixed_on_centre),
          static_cast<float>(query.mean_gap)};
}

// ‖C_j‖_F² − ‖C_j y_j‖² is a difference of larger numbers where C_j is small; its bounds keep its
// rounding in place then.
void JacobianNormSum::add_exact_diagonal(const AttentionStrip& strip, std::vector<Query>& queries) {
  std::vector<double> moments(queries.size());
  geometry_->second_moments()->of_strip(strip.weights, strip.queries, moments);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    Query& query = queries[q];
    const double frobenius = moments[q] * square(query.share) - 2.0 * query.sums.squared_overlap +
                             square(query.mixed_square);
    const auto [least, most] = query.bounds(geometry_->cloud().dimension());
    query.square = std::clamp(frobenius - query.along_query, least, most);
  }
}

// Takes the middle of the bounds of every φ_j if together they are as close as the target asks for,
// which is the case once weights have condensed. Such errors need not be independent: variances are
// set so that the stated error is the sum of all half widths, over queries and strips.
bool JacobianNormSum::bound_diagonal(std::vector<Query>& queries) const {
  if (geometry_->options().probes > 0) return false;
  std::vector<double> half_widths;
  double weighed = 0.0;
  for (Query& query : queries) {
    const auto [least, most] = query.bounds(geometry_->cloud().dimension());
    query.square = 0.5 * (least + most);
    half_widths.push_back(0.5 * (most - least));
    weighed += half_widths.back() / square(geometry_->norm(query.token));
  }
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const double square_norm = square(geometry_->norm(queries[q].token));
    queries[q].variance = half_widths[q] * square_norm * weighed * strips_;
  }
  // The stated error of this strip is √S times the sum of its half widths.
  return meets_target(queries);
}

void JacobianNormSum::add_sampled_diagonal(const AttentionStrip& strip, NormWorkspace& workspace,
                                           std::vector<Query>& queries) {
  const NormOptions& options = geometry_->options();
  const std::size_t fewest = (kEnoughQueries + queries.size() - 1) / queries.size();
  const std::size_t most = options.probes > 0 ? options.probes : std::max(fewest, kMostProbes);
  std::vector<RunningMoments> squares(queries.size());
  for (std::size_t k = 0; k < most; ++k) {
    const std::vector<double> values = probe(strip, workspace, queries, k);
    for (std::size_t q = 0; q < values.size(); ++q) squares[q].add(values[q]);
    set_squares(squares, queries);
    if (options.probes == 0 && k + 1 >= fewest && meets_target(queries)) break;
  }
}

// ‖C_j P_j ξ‖² with random signs ξ for each query.
std::vector<double> JacobianNormSum::probe(const AttentionStrip& strip, NormWorkspace& workspace,
                                           const std::vector<Query>& queries,
                                           std::uint64_t index) const {
  const CentredCloud& cloud = geometry_->cloud();
  const std::size_t d = cloud.dimension();
  const std::size_t rows = queries.size();
  Matrix<float> directions(rows, d);
  std::vector<float> shares;
  std::vector<float> shifts;
  for (std::size_t q = 0; q < rows; ++q) {
    fill_tangent_signs(queries[q].token, index, directions.row(q));
    shares.push_back(static_cast<float>(queries[q].share));
    shifts.push_back(static_cast<float>(inner(directions.row(q), strip.mixed.row(q))));
  }
  const auto scores = workspace.scores(rows, strip.weights.cols());
  const auto real = scores.block({0, rows}, {0, cloud.size()});
  multiply_abt(directions, cloud.offsets(), real);
  kernels::centre_and_weigh(strip.weights, shares, shifts, scores);
  Matrix<float> image(rows, d);
  multiply_ab(real, cloud.offsets(), image);

  std::vector<double> squares;
  for (std::size_t q = 0; q < rows; ++q) {
    const auto offset = cloud.offsets().row(queries[q].token);
    const double self = inner(directions.row(q), offset) - static_cast<double>(shifts[q]);
    squares.push_back(self_added_square(queries[q], self, image.row(q)));
  }
  return squares;
}

// P_j ξ
void JacobianNormSum::fill_tangent_signs(std::size_t token, std::uint64_t probe,
                                         std::span<float> out) const {
  const NormOptions& options = geometry_->options();
  const CentredCloud& cloud = geometry_->cloud();
  const Stream signs(options.seed, "jacobian/probes", options.replica);
  signs.rademachers((probe * cloud.size() + token) * out.size(), out);
  const auto offset = cloud.offsets().row(token);
  const double along = inner(cloud.centre(), out) + inner(offset, out);
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] -= static_cast<float>(along * (cloud.centre()[k] + static_cast<double>(offset[k])));
  }
}

// φ_j and its variance from the probes so far. One probe each: the spread between queries, which
// holds the variance of a probe and that of φ_j itself and so can only overstate the error. A lone
// probe of a lone query: its variance is at most 2 φ_j².
void JacobianNormSum::set_squares(const std::vector<RunningMoments>& squares,
                                  std::vector<Query>& queries) {
  RunningMoments between;
  for (const RunningMoments& one : squares) between.add(one.mean());
  const auto count = static_cast<double>(squares.size());
  const auto variance_of = [&](const RunningMoments& one) {
    if (one.samples() > 1) return one.variance() / static_cast<double>(one.samples());
    if (squares.size() == 1) return 2.0 * square(one.mean());
    return square(one.mean() - between.mean()) * count / (count - 1.0);
  };
  for (std::size_t q = 0; q < queries.size(); ++q) {
    queries[q].square = squares[q].mean();
    queries[q].variance = variance_of(squares[q]);
  }
}

// S strips with equal sums, each known to √S times the target, are together known to the target.
bool JacobianNormSum::meets_target(const std::vector<Query>& queries) const {
  double sum = 0.0;
  double variance = 0.0;
  for (const Query& query : queries) {
    const NormRow row = row_of(query);
    const double inverse_square_norm = 1.0 / square(geometry_->norm(query.token));
    sum += row.from_keys + row.self * inverse_square_norm;
    variance += row.variance * square(inverse_square_norm);
  }
  return std::sqrt(variance) <= std::sqrt(strips_) * geometry_->options().target_error * sum;
}

NormRow JacobianNormSum::row_of(const Query& query) const {
  const double tangents = static_cast<double>(geometry_->cloud().dimension()) - 1.0;
  const double trace = std::max(query.trace(), 0.0);
  NormRow row;
  row.from_keys = query.sums.blocks;
  row.self = square(query.share) * tangents + 2.0 * beta_ * query.share * trace +
             square(beta_) * query.square;
  row.trace = query.share * tangents + beta_ * trace;
  row.variance = square(square(beta_)) * query.variance;
  return row;
}

JacobianNorm jacobian_norm_of(const std::vector<NormRow>& rows, std::vector<double> columns,
                              std::size_t dimension) {
  JacobianNorm norm;
  norm.dimension = dimension;
  norm.from_others = std::move(columns);
  const bool sampled =
      std::any_of(rows.begin(), rows.end(), [](const NormRow& row) { return row.variance > 0.0; });
  for (const NormRow& row : rows) {
    norm.from_self.push_back(row.self);
    norm.self_trace.push_back(row.trace);
    if (sampled) norm.self_variance.push_back(row.variance);
  }
  return norm;
}

}  // namespace dewpoint::attention
