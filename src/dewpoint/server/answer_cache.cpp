#include "dewpoint/server/answer_cache.hpp"

#include <utility>

namespace dewpoint::server {
namespace {

std::size_t bytes_of(const store::StudyRecord& study) {
  std::size_t bytes = sizeof(study) + study.command.size();
  for (const Frame& frame : study.frames) {
    for (const Variable& variable : frame.variables()) {
      bytes += variable.cells.size() * sizeof(Estimate);
    }
  }
  for (const store::Attachment& one : study.attachments) bytes += one.bytes.size();
  return bytes;
}

}  // namespace

std::size_t SentResult::bytes() const {
  std::size_t bytes = sizeof(SentResult) + text.size();
  for (const Array& array : arrays) bytes += array.numbers.size() * sizeof(double);
  return bytes + (study ? bytes_of(*study) : 0);
}

std::shared_ptr<const SentResult> sent(Result&& result) {
  auto answer = std::make_shared<SentResult>();
  answer->level = result.level;
  answer->levels = result.levels;
  answer->text = result.json.dump(-1, ' ', false, Json::error_handler_t::replace);
  answer->arrays = std::move(result.arrays);
  if (result.study) {
    answer->study = std::make_shared<const store::StudyRecord>(std::move(*result.study));
  }
  return answer;
}

std::shared_ptr<const SentResult> AnswerCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().answer;
}

void AnswerCache::put(const std::string& key, std::shared_ptr<const SentResult> answer) {
  const std::size_t bytes = answer->bytes() + 2 * key.size() + sizeof(Entry);
  const std::lock_guard lock(mutex_);
  if (const auto found = places_.find(key); found != places_.end()) {
    entries_.splice(entries_.end(), entries_, found->second);
    forget_last();
  }
  if (bytes > most_bytes_) return;
  while (bytes_ + bytes > most_bytes_) forget_last();
  entries_.push_front({key, std::move(answer), bytes});
  places_[key] = entries_.begin();
  bytes_ += bytes;
}

void AnswerCache::forget_last() {
  bytes_ -= entries_.back().bytes;
  places_.erase(entries_.back().key);
  entries_.pop_back();
}

std::size_t AnswerCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t AnswerCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace dewpoint::server
