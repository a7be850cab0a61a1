// Which keys a query sees, where they need not be one unbroken range.
//
//   name          keys visible to query j (0-based)
//   none          all
//   causal        0 .. j
//   window:W      the last W of those, j − W + 1 .. j
//   dilated:W:S   W keys at stride S, backward: j, j − S, .., j − (W − 1) S, those that exist
//   global:W:G    the window of W, and the first G tokens as far as they do not come after j
//
// The first three are masks (mask.hpp), and a Mask is a pattern too; all that takes a Mask stays
// with those, because one range per query is what makes it fast. Patterns are for the attention
// variants of this folder.
//
// Every pattern but `none` looks backward. So a global query j < G needs no rule of its own: it
// sees all keys that do not come after it, since these are global themselves. (Longformer, which
// looks both ways, lets global queries see everything [Beltagy et al. 2020]; what is left of that
// under causal visibility is the same.)
//
// n as in "n keys" is the number of keys that one query sees: VisibleKeys::size().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dewpoint/attention/mask.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::attention {

/// Keys begin, begin + stride, .. below end; end − 1 is one of them.
struct KeyRun {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t stride = 1;

  [[nodiscard]] std::size_t size() const { return (end - begin + stride - 1) / stride; }
  [[nodiscard]] std::size_t key(std::size_t place) const { return begin + place * stride; }
  [[nodiscard]] Range hull() const { return {begin, end}; }
  bool operator==(const KeyRun&) const = default;
};

/// The keys of one query: one or two runs, neither empty, the first before the second.
class VisibleKeys {
 public:
  explicit VisibleKeys(KeyRun only) : runs_{only, {}}, count_(1) {}
  VisibleKeys(KeyRun first, KeyRun second) : runs_{first, second}, count_(2) {}

  [[nodiscard]] std::span<const KeyRun> runs() const { return std::span(runs_).first(count_); }
  [[nodiscard]] std::size_t size() const;
  /// All of them, increasing.
  [[nodiscard]] std::vector<std::size_t> keys() const;

 private:
  std::array<KeyRun, 2> runs_;
  std::size_t count_;
};

class KeyPattern {
 public:
  /// Everything is visible.
  KeyPattern() = default;
  KeyPattern(Mask mask) : mask_(mask) {}  // NOLINT(google-explicit-constructor)
  /// Both throw Error{bad_value} for a number that is 0. global:W:0 is window:W and has to be
  /// called so.
  [[nodiscard]] static KeyPattern dilated(std::size_t width, std::size_t stride);
  [[nodiscard]] static KeyPattern global(std::size_t width, std::size_t tokens);

  /// The keys of one query out of n.
  ///
  ///   Properties  (1) holds the query itself.
  ///               (2) of a mask, is Mask::visible.
  ///               (3) dilated:W:1 sees what window:W sees.
  ///               (4) but for `none`, no key comes after the query.
  [[nodiscard]] VisibleKeys visible(std::size_t query, std::size_t n) const;

  /// Ranges that hold every key that any of some queries sees: increasing, apart from each other,
  /// and each run of each query lies within one of them.
  [[nodiscard]] std::vector<Range> ranges_seen(Range queries, std::size_t n) const;
  [[nodiscard]] std::vector<Range> ranges_seen(std::span<const std::size_t> queries,
                                               std::size_t n) const;

  /// The mask that this is; nothing for the last two rows of the table.
  [[nodiscard]] std::optional<Mask> mask() const;
  [[nodiscard]] std::string name() const;

  bool operator==(const KeyPattern&) const = default;

 private:
  enum class Kind { mask, dilated, global };

  Kind kind_ = Kind::mask;
  Mask mask_;               // all of a mask; the window of a global pattern
  std::size_t width_ = 0;   // W of the other two
  std::size_t stride_ = 0;  // S
  std::size_t global_ = 0;  // G
};

/// The pattern of a name of the table above. Throws Error{bad_value} naming the text and what is
/// allowed, for a number that is 0 too.
[[nodiscard]] KeyPattern parse_key_pattern(const std::string& text);

}  // namespace dewpoint::attention
