#include "dewpoint/theory/asymmetry.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>

#include "dewpoint/core/error.hpp"
#include "dewpoint/theory/three_tokens.hpp"

namespace dewpoint::theory {

namespace {

using namespace three_tokens;

Triple<double> triple(const std::vector<double>& x) { return {x[0], x[1], x[2]}; }

// ---- Newton's method -------------------------------------------------------------------------

// Derivatives are Im f(x + ih e_j)/h, exact to rounding because nothing is subtracted. Steps are
// taken while they shrink. A root counts when the last step was at most 1e-12 of 1 + |x|: far above
// what rounding leaves, far below where quadratic convergence begins.
template <std::size_t N, class Function>
std::optional<std::array<double, N>> newton(const Function& function, std::array<double, N> x) {
  constexpr double kComplexStep = 1e-100, kSmall = 1e-12, kLargest = 1e6;
  constexpr int kIterations = 60, n = static_cast<int>(N);
  using Column = Eigen::Matrix<double, n, 1>;
  Eigen::Map<Column> unknown(x.data());
  bool close = false;
  double last = 0.0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Eigen::Matrix<double, n, n> jacobian;
    for (int j = 0; j < n; ++j) {
      std::array<Complex, N> moved;
      std::copy(x.begin(), x.end(), moved.begin());
      moved[j] += Complex(0.0, kComplexStep);
      const std::array<Complex, N> value = function(moved);
      for (int i = 0; i < n; ++i) jacobian(i, j) = value[i].imag() / kComplexStep;
    }
    const std::array<double, N> value = function(x);
    const Column step = jacobian.partialPivLu().solve(Eigen::Map<const Column>(value.data()));
    const double size = step.norm();
    if (!(size < kLargest)) return std::nullopt;
    if (close && size >= last) return x;
    unknown -= step;
    last = size;
    close = size <= kSmall * (1.0 + unknown.norm());
  }
  return close ? std::optional(x) : std::nullopt;
}

// ---- points ----------------------------------------------------------------------------------

[[maybe_unused]] bool is_focused(const DegeneratePoint& point) {
  return point.groups.tokens == 3 && point.attention.of_low <= kFocusedAttention;
}

ThreeTokens tokens_of(const DegeneratePoint& point, double asymmetry) {
  return {triple(asymmetric_law(point.groups.top, asymmetry)), point.groups.persistence};
}

AsymmetricPoint assemble(const DegeneratePoint& point, double asymmetry,
                         const Triple<double>& gamma, const Triple<double>& beta) {
  return {asymmetric_law(point.groups.top, asymmetry),
          point.groups.persistence,
          {{gamma.begin(), gamma.end()},
           {beta.begin(), beta.end()},
           point.state.attention,
           point.state.attention}};
}

/// P_11, P_21, p_1 and p_2 of the header.
struct Probabilities {
  double after_top, after_low, rare_top, rare_low;

  explicit Probabilities(const TwoGroups& groups)
      : after_top(groups.persistence + (1.0 - groups.persistence) * groups.top),
        after_low((1.0 - groups.persistence) * groups.top),
        rare_top(0.5 * (1.0 - after_top)),
        rare_low(0.5 * (1.0 - after_low)) {}
};

/// F = λm_2 + (1 − λ)(π_1m_1 + (1 − π_1)m_2).
double drive(const TwoGroups& groups, double top_reading, double low_reading) {
  return groups.persistence * low_reading +
         (1.0 - groups.persistence) * (groups.top * top_reading + (1.0 - groups.top) * low_reading);
}

// ---- the equations ---------------------------------------------------------------------------

/// R_i·β, the part of Σπ_i m_i R_i along (0, 1, −1), and the surplus; unknowns γ, β_2, β_3.
struct CriticalEquations {
  ThreeTokens tokens;
  double amplitude;
  double surplus;

  template <class T>
  std::array<T, 5> operator()(const std::array<T, 5>& x) const {
    const Triple<T> gamma{x[0], x[1], x[2]}, beta{-x[3] - x[4], x[3], x[4]};
    const auto [m, residuals] =
        predictions(tokens, attention_rows(tokens, gamma, amplitude), gamma, beta);
    T output = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      output += tokens.law[i] * m[i] * (residuals[i][1] - residuals[i][2]);
    }
    return {dot(residuals[0], beta), dot(residuals[1], beta), dot(residuals[2], beta), output,
            dot(gamma, gamma) - dot(beta, beta) - surplus};
  }
};

/// Q_Rᵀ∇L at θ + Σ ζ_k q_k; attention stays focused because every q has γ_2 = γ_3.
struct RangeEquations {
  ThreeTokens tokens;
  RankOneState origin;
  LyapunovSchmidtBasis basis;

  template <class T>
  std::array<Triple<T>, 2> moved(const Triple<T>& zeta) const {
    std::array<Triple<T>, 2> theta;
    for (std::size_t i = 0; i < 3; ++i) {
      theta[0][i] = origin.embedding[i];
      theta[1][i] = origin.output[i];
      for (std::size_t k = 0; k < 3; ++k) {
        theta[0][i] += zeta[k] * basis.range[k][i];
        theta[1][i] += zeta[k] * basis.range[k][3 + i];
      }
    }
    return theta;
  }

  template <class T>
  Triple<T> operator()(const Triple<T>& zeta) const {
    const auto [gamma, beta] = moved(zeta);
    const Rows<double> attention = focused_rows(tokens);
    const Rows<T> gradient =
        readout(tokens, attention, predictions(tokens, attention, gamma, beta).residuals);
    Triple<T> projected{};
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t i = 0; i < 3; ++i) {
        const Triple<T> column{gradient[0][i], gradient[1][i], gradient[2][i]};
        projected[k] += basis.range[k][i] * dot(gradient[i], beta);
        projected[k] += basis.range[k][3 + i] * dot(column, gamma);
      }
    }
    return projected;
  }
};

double squared_norm(const std::vector<double>& x) { return dot(triple(x), triple(x)); }

}  // namespace

std::vector<double> asymmetric_law(double top, double asymmetry) {
  const double half = 0.5 * (1.0 - top);
  DEWPOINT_EXPECTS(0.0 < top && top < 1.0 && std::abs(asymmetry) < half);
  return {top, half + asymmetry, half - asymmetry};
}

AsymmetrySlopes asymmetry_slopes(const DegeneratePoint& point) {
  const TwoGroups& groups = point.groups;
  DEWPOINT_EXPECTS(groups.tokens == 3 && point.sensitivity > 0.0);
  const Probabilities p(groups);
  const double lambda = groups.persistence, gap = point.state.output_gap;
  const double contrast = point.state.top - point.state.low, margin = stability_margin(groups);
  const double top = point.state.low + point.attention.of_top * contrast;  // m_1
  const double low = point.state.low + point.attention.of_low * contrast;  // m_2
  const double force = drive(groups, top, low);

  AsymmetrySlopes slopes;
  slopes.output = force * p.after_low * (1.0 - p.after_low) * gap * gap / margin;
  slopes.embedding = force * lambda / (point.sensitivity * margin);
  const double from_top = groups.top * (1.0 - lambda - top * slopes.output * p.rare_top);
  const double from_low =
      lambda + (1.0 - groups.top) * (1.0 - lambda - low * slopes.output * p.rare_low);
  const double moved = 0.5 * (1.0 - groups.top) * lambda * lambda * force / (margin * contrast);
  slopes.gradient[0] =
      -(from_top * point.attention.of_top + from_low * point.attention.of_low + moved);
  slopes.gradient[1] = slopes.gradient[2] =
      -0.5 * (from_top * (1.0 - point.attention.of_top) +
              from_low * (1.0 - point.attention.of_low) - moved);
  slopes.transverse = std::sqrt(2.0 * dot(slopes.gradient, slopes.gradient));
  return slopes;
}

std::optional<AsymmetricPoint> asymmetric_point(const DegeneratePoint& point, double asymmetry) {
  DEWPOINT_EXPECTS(point.groups.tokens == 3 && std::isfinite(point.state.attention));
  if (point.sensitivity <= 0.0) return std::nullopt;
  const RankOneState origin = spread_out(point.groups, point.state);
  const AsymmetrySlopes slopes = asymmetry_slopes(point);
  // Steps that move γ by a twentieth, so that Newton's method stays on the branch.
  const double travel = std::abs(asymmetry * slopes.embedding / point.state.low);
  if (!(travel < kLongestBranch)) return std::nullopt;
  const int steps = 1 + static_cast<int>(20.0 * travel);
  const double part = asymmetry / steps;

  CriticalEquations equations{
      {}, origin.amplitude(), squared_norm(origin.embedding) - squared_norm(origin.output)};
  const double split = part * slopes.embedding, tilt = part * slopes.output;
  std::array<double, 5> x{origin.embedding[0], origin.embedding[1], origin.embedding[2],
                          origin.output[1], origin.output[2]};
  std::array<double, 5> move{0.0, split, -split, tilt, -tilt};
  for (int step = 1; step <= steps; ++step) {
    equations.tokens = tokens_of(point, step == steps ? asymmetry : step * part);
    std::array<double, 5> start = x;
    for (std::size_t k = 0; k < 5; ++k) start[k] += move[k];
    const auto root = newton<5>(equations, start);
    if (!root) return std::nullopt;
    for (std::size_t k = 0; k < 5; ++k) move[k] = (*root)[k] - x[k];
    x = *root;
  }
  return assemble(point, asymmetry, {x[0], x[1], x[2]}, {-x[3] - x[4], x[3], x[4]});
}

LyapunovSchmidtBasis lyapunov_schmidt_basis(const DegeneratePoint& point) {
  DEWPOINT_EXPECTS(point.groups.tokens == 3);
  const RankOneState theta = spread_out(point.groups, point.state);
  const auto& gamma = theta.embedding;
  const auto& beta = theta.output;
  const double ratio = std::sqrt(squared_norm(beta) / squared_norm(gamma));  // g
  const double total = std::sqrt(squared_norm(gamma) + squared_norm(beta));
  const double across = std::sqrt(4.0 * gamma[1] * gamma[1] + 2.0 * gamma[0] * gamma[0]);
  const double half = std::sqrt(0.5), third = std::sqrt(1.0 / 3.0);

  LyapunovSchmidtBasis basis;
  basis.kernel[0] = {0.0, half, -half, 0.0, 0.0, 0.0};
  basis.kernel[1] = {0.0, 0.0, 0.0, third, third, third};
  basis.range[0] = {-2.0 * gamma[1] / across, gamma[0] / across, gamma[0] / across, 0.0, 0.0, 0.0};
  basis.range[1] = {0.0, 0.0, 0.0, 0.0, half, -half};
  for (std::size_t i = 0; i < 3; ++i) {
    basis.kernel[2][i] = -gamma[i] / total;
    basis.kernel[2][3 + i] = beta[i] / total;
    basis.range[2][i] = ratio * gamma[i] / total;
    basis.range[2][3 + i] = beta[i] / (ratio * total);
  }
  return basis;
}

FocusedSlopes focused_slopes(const DegeneratePoint& point) {
  DEWPOINT_EXPECTS(is_focused(point));
  const TwoGroups& groups = point.groups;
  const Probabilities p(groups);
  const double top = point.state.top, low = point.state.low, rest = 1.0 - groups.top;
  const double stiffness =
      groups.top * top * top * p.rare_top + rest * low * low * p.rare_low;  // C
  FocusedSlopes slopes;
  slopes.output = drive(groups, top, low) / stiffness;
  slopes.mismatch = slopes.output * rest * low * p.rare_low -
                    (groups.persistence + rest * (1.0 - groups.persistence));
  slopes.transverse =
      std::sqrt(2.0) * std::abs(slopes.mismatch) * std::hypot(low / top, std::sqrt(0.5));
  return slopes;
}

AsymmetricPoint leading_order_point(const DegeneratePoint& point, double asymmetry) {
  const double tilt = asymmetry * focused_slopes(point).output;
  const RankOneState origin = spread_out(point.groups, point.state);
  return assemble(point, asymmetry, triple(origin.embedding),
                  {origin.output[0], origin.output[1] + tilt, origin.output[2] - tilt});
}

std::optional<AsymmetricPoint> range_point(const DegeneratePoint& point, double asymmetry) {
  const double tilt = asymmetry * focused_slopes(point).output;
  const RangeEquations equations{tokens_of(point, asymmetry), spread_out(point.groups, point.state),
                                 lyapunov_schmidt_basis(point)};
  const auto zeta = newton<3>(equations, {0.0, std::sqrt(2.0) * tilt, 0.0});
  if (!zeta) return std::nullopt;
  const auto [gamma, beta] = equations.moved(*zeta);
  return assemble(point, asymmetry, gamma, beta);
}

Matrix<double> readout_gradient(const AsymmetricPoint& point) {
  const ThreeTokens tokens{triple(point.law), point.persistence};
  const Triple<double> gamma = triple(point.state.embedding), beta = triple(point.state.output);
  const double amplitude = point.state.amplitude();
  const Rows<double> attention =
      std::isinf(amplitude) ? focused_rows(tokens) : attention_rows(tokens, gamma, amplitude);
  const Rows<double> gradient =
      readout(tokens, attention, predictions(tokens, attention, gamma, beta).residuals);
  Matrix<double> result(3, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    std::copy(gradient[i].begin(), gradient[i].end(), result.row(i).begin());
  }
  return result;
}

double transverse_rate(const AsymmetricPoint& point) {
  const Matrix<double> gradient = readout_gradient(point);
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (const double x : gradient.row(i)) sum += x * x;
  }
  return std::sqrt(sum);
}

}  // namespace dewpoint::theory
