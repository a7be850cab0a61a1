#include "dewpoint/diagnosis/curve_verdict.hpp"

#include <cmath>
#include <vector>

namespace dewpoint::diagnosis {

GrowthVerdict judge_curve(const Frame& frame, bool participation) {
  const std::vector<double>& n = frame.dimension("n").coordinates;
  const Variable& covariance =
      frame.variable(participation ? "covariance_log_beta_pr" : "covariance_log_beta_dew");
  GrowthData data;
  data.covariance = Matrix<double>(n.size(), n.size());
  for (std::size_t i = 0; i < n.size(); ++i) {
    data.log_n.push_back(std::log(n[i]));
    data.log_beta.push_back(participation ? std::log(frame.variable("beta_pr").cells[i].mean)
                                          : frame.variable("log_beta_dew").cells[i].mean);
    for (std::size_t j = 0; j < n.size(); ++j)
      data.covariance(i, j) = covariance.cells[i * n.size() + j].mean;
  }
  data.replicates = covariance.cells[0].samples;
  return judge_growth(data);
}

}  // namespace dewpoint::diagnosis
