// The long contexts of jacobian_norm_law_test.cpp.
#include <gtest/gtest.h>

#include "laws/norm_table.hpp"

namespace dewpoint {
namespace {

TEST(LongJacobianNormLaw, AgreesWithTheReferenceTable) {
  test::expect_table(test::kLongReferenceTable, 24);
}

}  // namespace
}  // namespace dewpoint
