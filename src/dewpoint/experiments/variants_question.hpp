// What can be asked of where a layer of any form condenses.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dewpoint/experiments/layer_question.hpp"
#include "dewpoint/experiments/variant_dew.hpp"

namespace dewpoint::experiments {

struct VariantsQuestion {
  CloudQuestion cloud = {.n = 4096, .common = tokens::Common::fixed};
  FormQuestion form;
  std::optional<double> size;
  std::size_t rows = VariantDew{}.rows;
};

template <class Visitor>
void describe(Visitor& visit, VariantsQuestion& q) {
  using namespace question;  // NOLINT(google-build-using-namespace): the words of a description
  describe_known(visit, q.cloud, in(3.0, 0x1p24));
  describe(visit, q.form);
  visit("size", q.size, "number in place of a capital letter: mask window:W, attention top:K");
  visit("rows", q.rows, in(3.0, 1e6), "queries asked for their dew point, the last ones", fixed);
}

/// Complete, with the size in its place. Throws Error{bad_value}.
///   Properties  (1) resolved(resolved(q)) = resolved(q).
[[nodiscard]] VariantsQuestion resolved(VariantsQuestion question);

/// A resolved question for sample_variant_dew.
[[nodiscard]] VariantDew variant_dew_of(const VariantsQuestion& question, std::uint64_t seed);

}  // namespace dewpoint::experiments
