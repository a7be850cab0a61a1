// Laws as text: "name:key=value,key=value", a mixture with '+' between its parts.
//
//     sphere:d=5
//     vmf:d=9,kappa=0,share=0.98+kappa=60,angle=0,share=0.02
//
// One table of forms says which names exist, which keys each takes and what they are when they are
// not given; reading and help texts use the same table. Whatever is wrong with a text is one line
// that names the text, the key, the value and what is allowed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dewpoint::scores {

/// One number of a law.
struct LawParameter {
  std::string key;
  std::optional<double> standard;  // taken when the key is not given; without one it must be
  bool of_part = false;            // one for each part of a mixture, not one for the law
};

/// A name, its parameters and a sentence about it.
struct LawForm {
  std::string name;
  std::vector<LawParameter> parameters;
  std::string about;

  /// Whether '+' may separate parts.
  [[nodiscard]] bool mixes() const;

  /// "sphere:d=…", "gaussian:sigma=1": every key, with its standard value where it has one.
  [[nodiscard]] std::string usage() const;
};

/// A text that has been read: every key of its form has a value, and no other key is there.
class LawText {
 public:
  /// Throws bad_value.
  LawText(std::string_view text, const std::vector<LawForm>& forms);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t parts() const { return values_.size(); }

  [[nodiscard]] double number(const std::string& key, std::size_t part = 0) const;

  /// Throws bad_value when the number is not whole or not an int.
  [[nodiscard]] int whole(const std::string& key) const;

 private:
  std::string name_;
  std::vector<std::map<std::string, double>> values_;
};

/// "gaussian:sigma=1, sphere:d=...": all that may be written, for help texts.
[[nodiscard]] std::string usage_of(const std::vector<LawForm>& forms);

/// The error of a law that cannot be read or made, with its text in front: "law 'sphere:d=1':
/// d: 1 is not in [2, 512]".
[[noreturn]] void refuse_law(std::string_view text, const std::string& reason);

}  // namespace dewpoint::scores
