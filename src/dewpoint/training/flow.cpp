#include "dewpoint/training/flow.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "dewpoint/core/blas.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/ode.hpp"
#include "dewpoint/training/flow_state.hpp"
#include "dewpoint/training/flow_system.hpp"
#include "dewpoint/training/flow_watch.hpp"

namespace dewpoint::training {
namespace {

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a.data()[i] - b.data()[i]));
  }
  return largest;
}

void subtract(const Matrix<double>& from, Matrix<double>& into) {
  for (std::size_t i = 0; i < into.size(); ++i) into.data()[i] -= from.data()[i];
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

std::vector<double> vector_of(const FlowSystem& system, const Parameters<double>& parameters) {
  std::vector<double> y(system.size());
  system.to_vector(parameters, y);
  return y;
}

// Lends a context to the right-hand side for the length of a call.
class Attached {
 public:
  Attached(const RunContext*& slot, const RunContext& run) : slot_(slot) { slot_ = &run; }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { slot_ = nullptr; }

 private:
  const RunContext*& slot_;
};

class Flow final : public GradientFlow {
 public:
  Flow(const TokenLoss& loss, const Parameters<double>& start, const FlowOptions& options)
      : options_(options),
        system_(loss, start.width()),
        at_start_(conserved(start)),
        watch_(system_, options.focus_rise, 0.0, vector_of(system_, start)) {
    restart(0.0, vector_of(system_, start));
  }

  [[nodiscard]] double time() const override { return solver_->time(); }
  [[nodiscard]] Parameters<double> parameters() const override {
    return system_.to_parameters(solver_->value());
  }
  [[nodiscard]] const FlowEvents& events() const override { return watch_.events(); }
  [[nodiscard]] FlowWork work() const override;
  [[nodiscard]] double conserved_drift() const override;
  [[nodiscard]] bool advance(double target, const RunContext& run) override;
  [[nodiscard]] std::vector<std::byte> state() const override;
  void restore(std::span<const std::byte> state) override;

 private:
  void restart(double t, std::span<const double> y);
  [[nodiscard]] OdeProblem problem();
  [[nodiscard]] bool stiff() const;
  [[nodiscard]] double exchange_time() const;
  void restart_here();
  void go_on(double target);

  FlowOptions options_;
  FlowSystem system_;
  Conserved at_start_;
  FlowWatch watch_;
  FlowWork earlier_;  // of solvers before this one
  std::unique_ptr<OdeSolver> solver_;
  const RunContext* run_ = nullptr;  // of the call of advance() that is under way
  bool left_numbers_ = false;        // the last slope was not finite
};

// A first step of √tolerance makes an error of the order of the tolerance at rates of order 1. To
// give it makes the path the same whatever times are asked for.
void Flow::restart(double t, std::span<const double> y) {
  auto next = std::make_unique<OdeSolver>(
      problem(), t, y,
      OdeOptions{.method = stiff() ? OdeMethod::bdf : OdeMethod::adams,
                 .relative_tolerance = options_.relative_tolerance,
                 .absolute_tolerance = options_.absolute_tolerance,
                 .first_step = 0.1 * std::sqrt(options_.relative_tolerance)});
  if (solver_) earlier_ = work();
  solver_ = std::move(next);
}

OdeProblem Flow::problem() {
  return {.slope =
              [this](double, std::span<const double> y, std::span<double> slope) {
                if (run_ != nullptr) run_->throw_if_stopped();
                system_.slope(y, slope);
                left_numbers_ = !all_finite(slope);
              },
          .jacobian_product =
              [this](double, std::span<const double> y, std::span<const double> v,
                     std::span<double> product) { system_.slope_change(y, v, product); },
          .roots = [this](double, std::span<const double> y,
                          std::span<double> values) { watch_.signals(system_, y, values); },
          .root_directions = watch_.directions()};
}

bool Flow::stiff() const {
  return options_.method == FlowMethod::bdf || earlier_.exchanged.has_value();
}

// A whole time, because that of a root may depend in its last bits on the times asked for.
double Flow::exchange_time() const {
  const auto& half = watch_.events().half_dilution;
  return half ? std::min(options_.adams_until, std::ceil(*half)) : options_.adams_until;
}

void Flow::restart_here() {
  const std::vector<double> y(solver_->value().begin(), solver_->value().end());
  restart(solver_->time(), y);
}

FlowWork Flow::work() const {
  FlowWork work = earlier_;
  work.evaluations += solver_->evaluations();
  work.hessian_products += solver_->jacobian_products();
  work.steps += solver_->steps();
  return work;
}

double Flow::conserved_drift() const {
  const Conserved now = conserved(parameters());
  return std::max(largest_difference(now.outer, at_start_.outer),
                  largest_difference(now.inner, at_start_.inner));
}

// To `target`, to the exchange or to an event, whichever comes first.
void Flow::go_on(double target) {
  const bool may_exchange = options_.method == FlowMethod::automatic && !stiff();
  const double until = may_exchange ? std::min(target, exchange_time()) : target;
  const std::vector<std::size_t> met = solver_->advance(std::max(until, solver_->time()));
  for (const std::size_t which : met) {
    watch_.note(which, system_, solver_->time(), solver_->value());
  }
  if (may_exchange && solver_->time() >= exchange_time()) {
    earlier_.exchanged = solver_->time();
    restart_here();
  }
}

// After an exception the solver cannot go on, but another one can from where it stopped.
bool Flow::advance(double target, const RunContext& run) {
  if (!all_finite(solver_->value())) return false;
  const Attached attached(run_, run);
  left_numbers_ = false;
  try {
    while (solver_->time() < target) go_on(target);
  } catch (...) {
    restart_here();
    if (left_numbers_ && !run.stop.stop_requested()) return false;
    throw;
  }
  return true;
}

std::vector<std::byte> Flow::state() const {
  const auto y = solver_->value();
  return to_bytes(FlowState{.time = solver_->time(),
                            .weights = {y.begin(), y.end()},
                            .at_start = at_start_,
                            .events = watch_.events(),
                            .single = watch_.single(),
                            .work = work()});
}

void Flow::restore(std::span<const std::byte> bytes) {
  FlowState state = flow_state(bytes, system_.vocabulary(), system_.width());
  at_start_ = std::move(state.at_start);
  watch_ = FlowWatch(std::move(state.events), state.single, options_.focus_rise);
  solver_.reset();
  earlier_ = state.work;
  restart(state.time, state.weights);
}

}  // namespace

const std::vector<std::pair<std::string, FlowMethod>>& words_of(FlowMethod) {
  static const std::vector<std::pair<std::string, FlowMethod>> words = {
      {"auto", FlowMethod::automatic}, {"adams", FlowMethod::adams}, {"bdf", FlowMethod::bdf}};
  return words;
}

std::unique_ptr<GradientFlow> gradient_flow(const TokenLoss& loss, const Parameters<double>& start,
                                            const FlowOptions& options) {
  DEWPOINT_EXPECTS(start.vocabulary() == loss.vocabulary());
  return std::make_unique<Flow>(loss, start, options);
}

Conserved conserved(const Parameters<double>& parameters) {
  const std::size_t width = parameters.width();
  Conserved matrices{Matrix<double>(width, width), Matrix<double>(width, width)};
  Matrix<double> product(width, width);
  add_atb(parameters.embedding, parameters.embedding, matrices.outer);
  for (const auto* weights : {&parameters.unembedding, &parameters.query, &parameters.key}) {
    multiply_abt(*weights, *weights, product);
    subtract(product, matrices.outer);
  }
  add_atb(parameters.query, parameters.query, matrices.inner);
  product = Matrix<double>(width, width);
  add_atb(parameters.key, parameters.key, product);
  subtract(product, matrices.inner);
  return matrices;
}

}  // namespace dewpoint::training
