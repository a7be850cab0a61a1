#include "dewpoint/text/normalisation_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/refusal.hpp"

namespace dewpoint::text {
namespace {

constexpr std::size_t kUnitBytes = 4;
constexpr int kMostMatches = 32;        // what the library keeps on its stack
constexpr int kMostDepth = 256;         // bytes of one entry; real ones have a few dozen
constexpr std::size_t kMostText = 256;  // bytes of one replacement; the longest of NFKC has 33

[[noreturn]] void refuse(std::string found) {
  throw checkpoint::Refusal{"normalisation table", std::move(found),
                            "a table as sentencepiece writes it"};
}

std::uint32_t word_at(std::string_view bytes, std::size_t place) {
  std::uint32_t value = 0;
  for (unsigned k = 0; k < kUnitBytes; ++k) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[place + k])) << (8 * k);
  }
  return value;
}

// One unit of the trie, with the meaning of its bits in darts-clone.
struct Unit {
  std::uint32_t bits;

  [[nodiscard]] bool has_match() const { return (bits >> 8 & 1U) != 0; }
  [[nodiscard]] std::uint32_t value() const { return bits & 0x7fffffffU; }
  [[nodiscard]] std::uint32_t label() const { return bits & 0x800000ffU; }
  [[nodiscard]] std::uint32_t offset() const { return (bits >> 10) << ((bits & 0x200U) >> 6); }
};

// Follows every path from the root. Paths may meet again, as equal endings are stored once.
class TrieWalk {
 public:
  TrieWalk(std::string_view units, std::string_view texts)
      : units_(units), texts_(texts), matches_(units.size() / kUnitBytes, kUnseen) {}

  void run() {
    if (matches_.empty()) refuse("a trie without a root");
    (void)most_matches(0, 0);
  }

 private:
  static constexpr int kUnseen = -1;
  static constexpr int kOnThisPath = -2;

  [[nodiscard]] Unit unit(std::size_t index) const { return {word_at(units_, index * kUnitBytes)}; }

  // The most matches on a path from this unit on.
  int most_matches(std::size_t index, int depth) {
    if (matches_[index] == kOnThisPath) refuse("a path that is a circle");
    if (matches_[index] != kUnseen) return matches_[index];
    if (depth > kMostDepth) refuse(fmt::format("an entry of more than {} bytes", kMostDepth));
    matches_[index] = kOnThisPath;

    const std::size_t children = index ^ unit(index).offset();
    if ((children | 0xffU) >= matches_.size()) refuse("a link that leads out of the trie");
    const bool matched = unit(index).has_match();
    if (matched) check_text(unit(children).value());
    int most = 0;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const std::size_t child = children ^ byte;
      if (unit(child).label() == byte) {
        most = std::max(most, most_matches(child, depth + 1));
      }
    }
    most += matched ? 1 : 0;
    if (most > kMostMatches) refuse(fmt::format("more than {} matches on a path", kMostMatches));
    return matches_[index] = most;
  }

  void check_text(std::uint32_t place) const {
    if (place >= texts_.size()) refuse("a replacement beyond the texts");
    const std::string_view text = texts_.substr(place, kMostText + 1);
    if (text.find('\0') == std::string_view::npos) {
      refuse(fmt::format("a replacement of more than {} bytes", std::min(text.size(), kMostText)));
    }
  }

  std::string_view units_;
  std::string_view texts_;
  std::vector<int> matches_;
};

}  // namespace

void check_normalisation_table(std::string_view table) {
  if (table.empty()) return;
  if (table.size() < kUnitBytes) refuse(fmt::format("{} bytes", table.size()));
  const std::size_t trie = word_at(table, 0);
  table.remove_prefix(kUnitBytes);
  if (trie > table.size() || trie % kUnitBytes != 0) {
    refuse(fmt::format("a trie of {} bytes where {} are left", trie, table.size()));
  }
  TrieWalk(table.substr(0, trie), table.substr(trie)).run();
}

}  // namespace dewpoint::text
