// Typed, checked values out of a configuration written by others.
//
// A reader stands before one object (of a config.json, or of the metadata of a GGUF file) and hands
// out values by key. Several names are the spellings of one thing in different families and
// versions: the first that is there counts. null is the same as absent. Everything else that is not
// what was asked for is a Refusal with the key, what was found and what is allowed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::checkpoint {

/// Both ends belong to it.
struct Range {
  double least;
  double most;
};

/// Far beyond any model, and far below what would hurt: a list per layer or a product of two
/// dimensions.
inline constexpr Range kLayers{1, 10'000};
inline constexpr Range kHeads{1, 65'536};
inline constexpr Range kDimension{1, 16'777'216};
inline constexpr Range kVocabulary{1, 1e9};
inline constexpr Range kLength{1, 1e12};
inline constexpr Range kToken{0, 2147483647};
inline constexpr Range kPositive{1e-30, 1e30};
inline constexpr Range kNotNegative{0, 1e30};
inline constexpr Range kAnyNumber{-1e30, 1e30};

class ConfigReader {
 public:
  using Json = nlohmann::ordered_json;
  using Names = std::initializer_list<std::string_view>;

  /// `object` must be one, and outlive the reader; `prefix` stands before keys in refusals:
  /// "text_config.".
  ConfigReader(const Json& object, std::string prefix);

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool has_list(std::string_view name) const;

  /// A whole number; 32.0 is one too.
  [[nodiscard]] std::optional<std::size_t> count(Names names, Range range) const;
  [[nodiscard]] std::optional<double> number(Names names, Range range) const;
  [[nodiscard]] std::optional<bool> flag(Names names) const;
  /// true and false, or a number that is not 0 or is.
  [[nodiscard]] std::optional<bool> flag_or_number(Names names) const;
  [[nodiscard]] std::optional<std::string> text(Names names) const;
  [[nodiscard]] std::optional<std::vector<double>> numbers(Names names, Range range) const;
  [[nodiscard]] std::optional<std::vector<std::string>> texts(Names names) const;
  /// A whole number, or the first of a list of them.
  [[nodiscard]] std::optional<std::size_t> first_count(Names names, Range range) const;
  [[nodiscard]] std::optional<ConfigReader> object(Names names) const;

  /// What must be there.
  [[nodiscard]] std::size_t required_count(Names names, Range range,
                                           std::optional<std::size_t> otherwise = {}) const;
  [[nodiscard]] bool required_flag(std::string_view name) const;

  /// For a value that fits its type but not the rest of the configuration.
  [[nodiscard]] Refusal refusal(std::string_view name, std::string found,
                                std::string allowed) const;

 private:
  struct Entry {
    std::string_view name;
    const Json* value;
  };
  [[nodiscard]] std::optional<Entry> find(Names names) const;
  [[nodiscard]] double checked(const Entry& entry, const Json& value, Range range) const;
  [[nodiscard]] std::size_t whole(const Entry& entry, const Json& value, Range range) const;
  [[nodiscard]] Refusal refusal(const Entry& entry, const Json& value, std::string allowed) const;

  const Json* object_;
  std::string prefix_;
};

}  // namespace dewpoint::checkpoint
