// The parameters of a study that is to be gone on with, read back from their texts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "dewpoint/store/study.hpp"

namespace dewpoint::cli {

/// All throw Error{malformed_file} naming the file, the parameter and what is wrong with it.
class StudyParameters {
 public:
  StudyParameters(const store::StudyRecord& study, const std::string& file)
      : values_(study.parameters.begin(), study.parameters.end()), file_(file) {}

  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] std::size_t count(const std::string& name) const;
  [[nodiscard]] bool flag(const std::string& name) const;

  template <class Word>
  [[nodiscard]] Word word(const std::string& name, const std::map<std::string, Word>& names) const {
    const auto found = names.find(text(name));
    if (found == names.end()) fail(name, "is unknown");
    return found->second;
  }

 private:
  [[noreturn]] void fail(const std::string& name, const char* what) const;

  std::map<std::string, std::string> values_;
  std::string file_;
};

}  // namespace dewpoint::cli
