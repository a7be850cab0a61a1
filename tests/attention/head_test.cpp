// What a head refuses to measure, and the scores of one query. That its statistics and outputs are
// right is tested in conformance/.
#include "dewpoint/attention/head.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/test_seed.hpp"

namespace dewpoint::attention {
namespace {

// Entries are multiples of 1/16, so that products are exact.
struct Data {
  Matrix<float> queries, keys;

  Data(std::size_t query_count, std::size_t n)
      : queries(on_grid(query_count, "Head/queries")), keys(on_grid(n, "Head/keys")) {}

  static Matrix<float> on_grid(std::size_t rows, const char* name) {
    const Stream stream = test::stream(name);
    Matrix<float> result(rows, 16);
    for (std::size_t k = 0; k < result.size(); ++k) {
      result.data()[k] = static_cast<float>(std::floor(64.0 * stream.uniform(k)) - 32.0) / 16.0F;
    }
    return result;
  }
  [[nodiscard]] Head head() const {
    Head head;
    head.queries = queries;
    head.keys = keys;
    head.first_position = keys.rows() - queries.rows();
    return head;
  }
};

std::string refusal_of(const Head& head, std::span<const LogitMultiplier> multipliers) {
  try {
    (void)measure_rows(head, std::vector<std::size_t>{0, 50, 99}, multipliers, true, {1, {}, {}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_value);
    return error.what();
  }
  return "";
}

TEST(HeadRefusal, NamesWhatCannotBeMeasured) {
  Data data(100, 100);
  Head head = data.head();
  const std::vector<LogitMultiplier> negative = {[](std::size_t) { return -0.5; }};
  EXPECT_EQ(refusal_of(head, negative),
            "multiplier: -0.5 at 1 keys is not a finite number, 0 or above");
  head.scale = 0.0;
  EXPECT_EQ(refusal_of(head, {}), "head: a scale of 0 is not a finite number above 0");
  head.scale = 1.0;
  head.softcap = -1.0;
  EXPECT_EQ(refusal_of(head, {}),
            "head: a softcap of -1 is not a finite number, 0 (none) or above");
  head.softcap = 0.0;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -3e38F}) {
    for (const std::size_t key : {0U, 98U}) {
      Data spoiled = data;
      for (float& x : spoiled.keys.row(key)) x = bad;
      for (float& x : spoiled.queries.row(99)) x = 2.0F;
      head.queries = spoiled.queries;
      head.keys = spoiled.keys;
      EXPECT_NE(refusal_of(head, {}).find("has scores that are not numbers"), std::string::npos)
          << bad << ' ' << key;
    }
  }
}

TEST(HeadScores, OneRowIsInDoubleAndKnowsItsFirstKey) {
  const Data data(4, 20);
  Head head = data.head();
  head.mask = Mask::window(7);
  head.scale = 0.25;
  const ScoreRow row = score_row(head, 2);
  EXPECT_EQ(row.position, 18U);
  EXPECT_EQ(row.first_key, 12U);
  ASSERT_EQ(row.scores.size(), 7U);
  double product = 0.0;
  for (std::size_t k = 0; k < 16; ++k) {
    product += static_cast<double>(data.queries(2, k)) * static_cast<double>(data.keys(13, k));
  }
  EXPECT_EQ(row.scores[1], 0.25 * product);  // exact on this grid
  head.softcap = 2.0;
  EXPECT_EQ(score_row(head, 2).scores[1], 2.0 * std::tanh(0.25 * product / 2.0));
}

}  // namespace
}  // namespace dewpoint::attention
