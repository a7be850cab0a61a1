#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "dewpoint/core/dense_algebra.hpp"
#include "dewpoint/core/vectors.hpp"
#include "dewpoint/training/stages.hpp"
#include "support/dense_algebra.hpp"
#include "training/stage_records.hpp"

namespace dewpoint::training {
namespace {

// The stages of random walks were also found by an independent program in Python (numpy), which
// made the walks with the same generator and wrote the lines below:
//
//     case condensation new-direction its-tokens {C start peak half peak-value} {R {from until
//     depth}}
//
// with "no" for not seen. 3,000 such walks were compared when this table was made; these have at
// least one open, one missing and one masked cycle among them.
constexpr const char* kWalks[] = {
    "97 4.0 10367.5 1 C 4.0 364.0 1457.5 0.8833703362 C 24.0 24.0 49.5 0.8242776314 R 3280.0 "
    "12640.0 0.8570520678 R 2737.5 12799.5 0.9028811951 R 3280.0 12799.5 0.9473631126",
    "134 4.0 no - C no no no 0.2974150277 C 7564.0 12481.5 no 0.4976491086 C 7.5 7.5 161.5 "
    "0.6476660419 R 3280.0 12799.5 0.9126933643 R 3280.0 12640.0 0.9076455051 R 3280.0 "
    "12640.0 0.9215214061 R 3280.0 12799.5 0.9217388360",
    "189 4.0 no - C no no no 0.3413049276 C 24.0 12324.0 no 0.8927160242 R 3280.0 12799.5 "
    "0.9265777049 R 3280.0 12799.5 0.9225318131 R 3280.0 12799.5 0.9168181383",
    "197 7.5 12167.5 12 C 1.5 17.5 480.0 0.5284623313 C 364.0 544.0 3444.0 0.9167406388 R "
    "2664.0 8711.5 0.8581555773 9112.0 9521.5 0.1306190722 9799.5 11100.0 0.3485488051 "
    "11249.5 11704.0 0.1376842450 12324.0 12799.5 0.2608510340 R 3041.5 12799.5 0.9128018008 "
    "R 3280.0 10512.0 0.9061975569 11100.0 12799.5 0.3079937722",
    "217 7.5 no - C no no no 0.3656627674 C 31.5 760.0 4704.0 0.7915610786 R 2964.0 10657.5 "
    "0.8638939758 11100.0 11857.5 0.4782787119 R 2887.5 12799.5 0.9186689681 R 3280.0 12481.5 "
    "0.9113192988",
    "239 1.5 no - C no no no 0.2603711292 C 8580.0 8580.0 no 0.3303930303 C 12.0 144.0 312.0 "
    "0.5491981341 C no no no 0.5000000000 R 3041.5 12799.5 0.8924735069 R 3280.0 12799.5 "
    "0.9062951511 R 3280.0 12799.5 0.9311879845 R 3280.0 12640.0 0.9209413353 R 3280.0 "
    "12799.5 0.9166396162",
    "317 4.0 11100.0 1 C 4.0 4.0 112.0 0.4130516062 C 7.5 49.5 364.0 0.8809645772 R 1799.5 "
    "9660.0 0.8326634913 10081.5 11551.5 0.2461475460 R 3280.0 12012.0 0.8698305305 R 3280.0 "
    "12799.5 0.9024894853",
    "343 1.5 no - C no no no 0.2255968949 C no no no 0.3201972356 C 199.5 4999.5 no "
    "0.4491206864 C 8449.5 8449.5 no 0.6024311109 R 3199.5 12640.0 0.9444419604 R 3120.0 "
    "12799.5 0.9058895284 R 3280.0 12799.5 0.9105043090 R 3280.0 12799.5 0.9071315003 R "
    "3280.0 12799.5 0.9165319703",
    "378 1.5 no - C no no no 0.3105849067 C 612.0 2449.5 5724.0 0.5060110352 C 721.5 8844.0 "
    "no 0.8077416958 R 3199.5 12481.5 0.9110655144 R 3280.0 12640.0 0.9227896041 R 3280.0 "
    "12799.5 0.9135984783 R 3280.0 12799.5 0.9208882876",
    "381 17.5 12481.5 2 C 6612.0 6727.5 7564.0 0.4390421524 C 7320.0 12799.5 no 0.9970321243 "
    "R 3041.5 8449.5 0.7697388301 8711.5 11857.5 0.7622008885 R 3280.0 12640.0 0.9024857887 R "
    "3280.0 12640.0 0.9079562610",
    "385 no 420.0 1 C 199.5 337.5 8449.5 0.4127312797 C 647.5 8449.5 no 0.6871706709 R 0.0 "
    "4.0 0.1949086453 24.0 31.5 0.2188857357 180.0 312.0 0.3335742962 511.5 684.0 "
    "0.5448409313 721.5 799.5 0.2748809797 1012.0 1351.5 0.3841568440 1799.5 1860.0 "
    "0.1938905253 1921.5 2047.5 0.2917840435 2112.0 2311.5 0.2870893936 2520.0 2591.5 "
    "0.1172616216 2664.0 2737.5 0.2118333881 3120.0 3280.0 0.2724011003 3444.0 3784.0 "
    "0.1583777699 3871.5 4049.5 0.2534907964 4417.5 4512.0 0.1012892375 4704.0 4900.0 "
    "0.4451639904 4999.5 5304.0 0.1979048466 5724.0 5831.5 0.1672454113 6049.5 6271.5 "
    "0.1467986370 7441.5 7564.0 0.1955271253 8064.0 8449.5 0.1875736771 9521.5 12481.5 "
    "0.3861372514 R 40.0 49.5 0.1568659463 97.5 161.5 0.2088977836 220.0 287.5 0.5186046679 "
    "449.5 480.0 0.1642584562 647.5 721.5 0.1594705409 840.0 881.5 0.1899975467 1151.5 1249.5 "
    "0.1674833403 1300.0 1404.0 0.2004585305 1567.5 1681.5 0.1075565008 1799.5 2047.5 "
    "0.2088201753 2112.0 2664.0 0.4497786948 2737.5 2887.5 0.1572803385 3041.5 3199.5 "
    "0.1749737201 3960.0 4324.0 0.5769497720 4512.0 4607.5 0.1429162420 4999.5 5201.5 "
    "0.2957456933 5304.0 5512.0 0.2366592802 6497.5 7564.0 0.4521198061 8064.0 8711.5 "
    "0.7777571272 9799.5 10224.0 0.1516718777 11400.0 11704.0 0.1091434906 R 12.0 40.0 "
    "0.3691096547 480.0 721.5 0.3154270362 799.5 1300.0 0.4780170524 3697.5 5100.0 "
    "0.3723605157 5407.5 5831.5 0.2340793545 6497.5 6844.0 0.3106466735 7812.0 10224.0 "
    "0.4260057873 10804.0 11249.5 0.1402538817 11551.5 12640.0 0.4190209034",
};

class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
  double operator()() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

Record record_of_walk(double time, const Matrix<double>& scores, const Matrix<double>& rows) {
  const std::size_t tokens = scores.rows();
  Record record = quiet_record(time, tokens);
  const std::vector<double> sigma = singular_values(rows);
  record.embedding_rank_one = sigma[0] * sigma[0] / inner(sigma, sigma);
  const double first = dewpoint::test::length(rows.row(0));
  for (std::size_t q = 0; q < tokens; ++q) {
    double sum = 0.0;
    for (const double score : scores.row(q)) sum += std::exp(score);
    for (std::size_t j = 0; j < tokens; ++j) {
      record.attention(q, j) = std::exp(scores(q, j)) / sum;
    }
    const double norm = dewpoint::test::length(rows.row(q)),
                 along = inner(rows.row(q), rows.row(0)) / first;
    record.embedding_norm[q] = norm;
    record.perpendicular[q] = std::sqrt(std::max(0.0, norm * norm - along * along));
  }
  return record;
}

std::vector<Record> random_walk(int number) {
  constexpr double kStay = 0.96875;
  const std::size_t tokens = 2 + static_cast<std::size_t>(number % 4), width = 5;
  const double jump = 0.4 + 0.3 * (number % 7), noise = 0.2 + 0.1 * (number % 3);
  const double drift = 0.02 * (number % 5);
  Uniform uniform(static_cast<std::uint64_t>(number));
  Matrix<double> scores(tokens, tokens), rows(tokens, width);
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t k = 0; k < width; ++k) rows(i, k) = uniform() - 0.5;
  }
  std::vector<Record> records;
  for (int t = 0; t < 160; ++t) {
    records.push_back(record_of_walk(0.5 * t * t + t, scores, rows));
    for (std::size_t i = 0; i < tokens; ++i) {
      for (std::size_t j = 0; j < tokens; ++j) {
        scores(i, j) = kStay * scores(i, j) + jump * (uniform() - 0.5);
      }
    }
    for (std::size_t i = 0; i < tokens; ++i) {
      for (std::size_t k = 0; k < width; ++k) {
        const double push = t < 80 ? drift * static_cast<double>((i + 1) * (k + 1)) : 0.0;
        rows(i, k) = kStay * rows(i, k) + noise * (uniform() - 0.5) + push;
      }
    }
  }
  return records;
}

std::string told(const Stages& stages) {
  std::ostringstream line;
  line.precision(12);
  const auto tell = [&](std::optional<double> time) {
    if (time) {
      line << ' ' << *time;
    } else {
      line << " no";
    }
  };
  tell(stages.condensation);
  tell(stages.new_direction);
  line << ' ';
  for (const std::size_t token : stages.new_tokens) line << token;
  if (stages.new_tokens.empty()) line << '-';
  for (const Cycle& cycle : stages.cycles) {
    line << " C";
    for (const auto& time : {cycle.start, cycle.peak, cycle.half}) tell(time);
    tell(cycle.peak_value);
  }
  for (const auto& token : stages.retractions) {
    line << " R";
    for (const Retraction& r : token) line << ' ' << r.from << ' ' << r.until << ' ' << r.depth();
  }
  return line.str();
}

// Times are exact. Values were printed with ten decimals, an error of 5e-11; theirs and ours come
// from a few dozen roundings on top, some 1e-15.
void expect_same_words(const std::string& found, const std::string& expected) {
  std::istringstream ours(found), theirs(expected);
  std::string word, wanted;
  while (theirs >> wanted) {
    ASSERT_TRUE(ours >> word) << found;
    const bool number = wanted.find_first_of("0123456789") != std::string::npos;
    if (number && word != "no" && word != "C" && word != "R") {
      EXPECT_NEAR(std::stod(word), std::stod(wanted), 1e-10) << found;
    } else {
      EXPECT_EQ(word, wanted) << found;
    }
  }
  EXPECT_FALSE(ours >> word) << "more than expected: " << found;
}

TEST(FindStages, AgreeWithAnIndependentProgramOnRandomWalks) {
  for (const char* line : kWalks) {
    const int number = std::stoi(line);
    const std::string found = told(find_stages(random_walk(number), StageThresholds{}));
    expect_same_words(std::to_string(number) + found, line);
  }
}

}  // namespace
}  // namespace dewpoint::training
