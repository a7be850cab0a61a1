#include "dewpoint/core/ode.hpp"

#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "dewpoint/core/error.hpp"

namespace dewpoint {
namespace {

// Dimension of the Krylov space in which a linear system is solved.
constexpr std::size_t kKrylovDimension = 30;

// So many steps with t + h = t in double are the end: CVODE alone would go on without moving.
constexpr int kMostIdleSteps = 10;

// What a callback answers to CVODE.
constexpr int kDone = 0;
constexpr int kTryShorterStep = 1;
constexpr int kGiveUp = -1;

struct FreeContext {
  void operator()(SUNContext context) const { SUNContext_Free(&context); }
};
struct FreeVector {
  void operator()(N_Vector vector) const { N_VDestroy(vector); }
};
struct FreeLinear {
  void operator()(SUNLinearSolver solver) const { SUNLinSolFree(solver); }
};
struct FreeNonlinear {
  void operator()(SUNNonlinearSolver solver) const { SUNNonlinSolFree(solver); }
};
struct FreeIntegrator {
  void operator()(void* integrator) const { CVodeFree(&integrator); }
};

template <class Pointer, class Free>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Free>;

// SUNDIALS answers a null pointer when there is no memory left, and when nothing else can fail.
template <class Pointer>
Pointer created(Pointer pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

Owned<SUNContext, FreeContext> new_context() {
  SUNContext context = nullptr;
  if (SUNContext_Create(nullptr, &context) != 0) throw std::bad_alloc();
  return Owned<SUNContext, FreeContext>(context);
}

// Settings are checked before they are handed over, so only memory can be wanting.
void set(int status) {
  if (status != CV_SUCCESS) throw std::bad_alloc();
}

std::span<double> numbers(N_Vector vector) {
  return {NV_DATA_S(vector), static_cast<std::size_t>(NV_LENGTH_S(vector))};
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

void require_positive(const char* name, double value) {
  if (std::isfinite(value) && value > 0.0) return;
  throw Error(Code::bad_value, fmt::format("{}: {} is not a finite number > 0", name, value));
}

std::string reason(int status) {
  switch (status) {
    case CV_TOO_MUCH_WORK:
      return "too many steps";
    case CV_TOO_MUCH_ACC:
      return "the tolerances are below rounding";
    case CV_ERR_FAILURE:
      return "the tolerances cannot be met with the shortest step";
    case CV_CONV_FAILURE:
    case CV_LSOLVE_FAIL:
      return "the implicit equation of a step has no solution within reach";
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR:
      return "the slope is not finite";
    case CV_TOO_CLOSE:
      return "the time asked for is too close to tell a step from rounding";
    default:
      return fmt::format("CVODE stopped with status {}", status);
  }
}

}  // namespace

struct OdeSolver::State {
  State(OdeProblem given, double t, std::span<const double> start, const OdeOptions& options);

  void choose_adams();
  void choose_bdf();
  void look_for_roots();
  [[nodiscard]] std::vector<std::size_t> roots_met();
  [[noreturn]] void fail(int status, double target);

  // Runs a function of the caller; an exception must not travel through C, so it waits here.
  template <class Function>
  int guarded(Function&& function) noexcept;

  static void note(int status, const char* module, const char* function, char* message,
                   void* state);
  static int slope(double t, N_Vector y, N_Vector slope, void* state);
  static int jacobian_product(N_Vector v, N_Vector product, double t, N_Vector y, N_Vector slope,
                              void* state, N_Vector scratch);
  static int roots(double t, N_Vector y, double* values, void* state);

  OdeProblem problem;
  double time;
  long evaluations = 0;
  long jacobian_products = 0;
  int idle_steps = 0;
  std::vector<int> met;
  std::exception_ptr thrown;

  // Freed in reverse: the integrator before its parts, the context last.
  Owned<SUNContext, FreeContext> context = new_context();
  Owned<N_Vector, FreeVector> value;   // at `time`
  Owned<N_Vector, FreeVector> output;  // CVODE's, also a scratch space of its root finder
  Owned<SUNNonlinearSolver, FreeNonlinear> iteration;
  Owned<SUNLinearSolver, FreeLinear> krylov;
  Owned<void*, FreeIntegrator> integrator;
};

OdeSolver::State::State(OdeProblem given, double t, std::span<const double> start,
                        const OdeOptions& options)
    : problem(std::move(given)), time(t), met(problem.root_directions.size()) {
  DEWPOINT_EXPECTS(problem.slope && !start.empty());
  require_positive("relative tolerance", options.relative_tolerance);
  require_positive("absolute tolerance", options.absolute_tolerance);
  DEWPOINT_EXPECTS(options.first_step >= 0.0 && options.largest_step >= 0.0);
  DEWPOINT_EXPECTS(options.most_steps > 0);

  value.reset(created(N_VNew_Serial(static_cast<sunindextype>(start.size()), context.get())));
  std::copy(start.begin(), start.end(), numbers(value.get()).begin());
  output.reset(created(N_VClone(value.get())));
  N_VScale(1.0, value.get(), output.get());
  const bool adams = options.method == OdeMethod::adams;
  integrator.reset(created(CVodeCreate(adams ? CV_ADAMS : CV_BDF, context.get())));
  set(CVodeSetErrHandlerFn(integrator.get(), note, this));
  set(CVodeInit(integrator.get(), slope, t, value.get()));
  set(CVodeSetUserData(integrator.get(), this));
  set(CVodeSStolerances(integrator.get(), options.relative_tolerance, options.absolute_tolerance));
  set(CVodeSetMaxNumSteps(integrator.get(), options.most_steps));
  set(CVodeSetMaxHnilWarns(integrator.get(), kMostIdleSteps));
  set(CVodeSetInitStep(integrator.get(), options.first_step));
  set(CVodeSetMaxStep(integrator.get(), options.largest_step));
  adams ? choose_adams() : choose_bdf();
  if (problem.roots) look_for_roots();
}

void OdeSolver::State::choose_adams() {
  iteration.reset(created(SUNNonlinSol_FixedPoint(value.get(), 0, context.get())));
  set(CVodeSetNonlinearSolver(integrator.get(), iteration.get()));
}

// Newton's iteration is what CVODE takes for BDF without being told.
void OdeSolver::State::choose_bdf() {
  const auto dimension = static_cast<int>(std::min(kKrylovDimension, numbers(value.get()).size()));
  krylov.reset(created(SUNLinSol_SPGMR(value.get(), SUN_PREC_NONE, dimension, context.get())));
  set(CVodeSetLinearSolver(integrator.get(), krylov.get(), nullptr));
  if (problem.jacobian_product) {
    set(CVodeSetJacTimes(integrator.get(), nullptr, jacobian_product));
  }
}

void OdeSolver::State::look_for_roots() {
  DEWPOINT_EXPECTS(!problem.root_directions.empty());
  set(CVodeRootInit(integrator.get(), static_cast<int>(problem.root_directions.size()), roots));
  set(CVodeSetRootDirection(integrator.get(), problem.root_directions.data()));
  set(CVodeSetNoInactiveRootWarn(integrator.get()));
}

std::vector<std::size_t> OdeSolver::State::roots_met() {
  set(CVodeGetRootInfo(integrator.get(), met.data()));
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < met.size(); ++i) {
    if (met[i] != 0) indices.push_back(i);
  }
  return indices;
}

void OdeSolver::State::fail(int status, double target) {
  if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
  const bool idle = idle_steps >= kMostIdleSteps;
  throw Error(
      Code::bad_value,
      fmt::format("differential equation: stopped at t = {:.10g} on the way to {:.10g}: {}", time,
                  target, idle ? "the steps became too short to move t" : reason(status)));
}

template <class Function>
int OdeSolver::State::guarded(Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    thrown = std::current_exception();
    return kGiveUp;
  }
}

// CVODE's messages are not printed. Its only warning is that a step does not move t.
void OdeSolver::State::note(int status, const char* /*module*/, const char* /*function*/,
                            char* /*message*/, void* state) {
  if (status == CV_WARNING) ++static_cast<State*>(state)->idle_steps;
}

// A slope that is not finite means that the step left the domain: CVODE tries a shorter one.
int OdeSolver::State::slope(double t, N_Vector y, N_Vector slope, void* state) {
  auto& self = *static_cast<State*>(state);
  return self.guarded([&] {
    if (self.idle_steps >= kMostIdleSteps) return kGiveUp;
    ++self.evaluations;
    self.problem.slope(t, numbers(y), numbers(slope));
    return all_finite(numbers(slope)) ? kDone : kTryShorterStep;
  });
}

int OdeSolver::State::jacobian_product(N_Vector v, N_Vector product, double t, N_Vector y,
                                       N_Vector /*slope*/, void* state, N_Vector /*scratch*/) {
  auto& self = *static_cast<State*>(state);
  return self.guarded([&] {
    ++self.jacobian_products;
    self.problem.jacobian_product(t, numbers(y), numbers(v), numbers(product));
    return all_finite(numbers(product)) ? kDone : kTryShorterStep;
  });
}

int OdeSolver::State::roots(double t, N_Vector y, double* values, void* state) {
  auto& self = *static_cast<State*>(state);
  return self.guarded([&] {
    self.problem.roots(t, numbers(y), {values, self.problem.root_directions.size()});
    return kDone;
  });
}

OdeSolver::OdeSolver(OdeProblem problem, double t, std::span<const double> y,
                     const OdeOptions& options)
    : state_(std::make_unique<State>(std::move(problem), t, y, options)) {}

OdeSolver::~OdeSolver() = default;

std::vector<std::size_t> OdeSolver::advance(double t) {
  State& state = *state_;
  if (t == state.time) return {};
  double reached = state.time;
  const int status = CVode(state.integrator.get(), t, state.output.get(), &reached, CV_NORMAL);
  if (status != CV_RTFUNC_FAIL) {
    state.time = reached;
    N_VScale(1.0, state.output.get(), state.value.get());
  }
  if (status == CV_SUCCESS) return {};
  if (status == CV_ROOT_RETURN) return state.roots_met();
  state.fail(status, t);
}

double OdeSolver::time() const { return state_->time; }

std::span<const double> OdeSolver::value() const { return numbers(state_->value.get()); }

long OdeSolver::steps() const {
  long steps = 0;
  set(CVodeGetNumSteps(state_->integrator.get(), &steps));
  return steps;
}

long OdeSolver::evaluations() const { return state_->evaluations; }

long OdeSolver::jacobian_products() const { return state_->jacobian_products; }

}  // namespace dewpoint
