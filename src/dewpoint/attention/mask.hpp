// Which keys a query sees.
//
//   name       keys visible to query j (0-based)
//   none       all
//   causal     0 .. j: those that do not come after it
//   window:W   the last W of those, j − W + 1 .. j
//
// A masked weight is exactly 0; everything else in a layer and in its Jacobian stays as it is.
// Where the keys of a query are more than one range, see variants/key_pattern.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dewpoint/core/matrix.hpp"

namespace dewpoint::attention {

class Mask {
 public:
  /// Everything is visible.
  Mask() = default;
  [[nodiscard]] static Mask none() { return {}; }
  [[nodiscard]] static Mask causal();
  /// Throws Error{bad_value} for width 0, which leaves a query nothing to see.
  [[nodiscard]] static Mask window(std::size_t width);

  /// The keys of one query out of n; always holds the query itself.
  [[nodiscard]] Range visible(std::size_t query, std::size_t n) const;
  [[nodiscard]] bool hides_nothing() const { return !backward_only_; }
  [[nodiscard]] std::string name() const;

  bool operator==(const Mask&) const = default;

 private:
  bool backward_only_ = false;
  std::size_t width_ = 0;  // 0: no limit
};

/// The mask of a name of the table above; nothing for any other text. Throws Error{bad_value} for a
/// window of width 0.
[[nodiscard]] std::optional<Mask> find_mask(const std::string& text);

/// The mask of a name of the table above. Throws Error{bad_value} naming the text and what is
/// allowed, for a window of width 0 too.
[[nodiscard]] Mask parse_mask(const std::string& text);

}  // namespace dewpoint::attention
