// Answers, kept as long as there is room: a question that was asked before costs nothing, and one
// that was left on its way begins with the level that it had.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dewpoint/server/room.hpp"

namespace dewpoint::server {

/// A result as it is sent: shared by the cache, the job and whoever is being answered.
struct SentResult {
  std::size_t level = 1;
  std::size_t levels = 1;
  std::string text;  // JSON
  std::vector<Array> arrays;
  std::shared_ptr<const store::StudyRecord> study;
  /// It is what was asked for, not a level on the way.
  [[nodiscard]] bool is_complete() const { return level == levels; }
  [[nodiscard]] std::size_t bytes() const;
};

[[nodiscard]] std::shared_ptr<const SentResult> sent(Result&& result);

/// The least recently used leave when `most_bytes` are exceeded. Any thread.
///   Properties  (1) bytes() ≤ most_bytes.
///               (2) an answer larger than most_bytes is not kept.
///               (3) find() makes its answer the most recently used.
class AnswerCache {
 public:
  explicit AnswerCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  [[nodiscard]] std::shared_ptr<const SentResult> find(const std::string& key);
  void put(const std::string& key, std::shared_ptr<const SentResult> answer);
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const SentResult> answer;
    std::size_t bytes;
  };
  void forget_last();

  mutable std::mutex mutex_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
};

}  // namespace dewpoint::server
