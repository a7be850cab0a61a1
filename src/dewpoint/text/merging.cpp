#include "dewpoint/text/merging.hpp"

#include <cstddef>
#include <queue>
#include <tuple>

namespace dewpoint::text {
namespace {

// Tokens as a list linked both ways, by index. A token that was joined to its left neighbour keeps
// its place in the array and is marked gone.
struct Node {
  int token;
  std::ptrdiff_t before;
  std::ptrdiff_t after;
};

constexpr int kGone = -1;

struct Candidate {
  double order;
  std::ptrdiff_t place;  // of the left token
  int left;
  int right;
  int joined;
};

struct Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return std::tie(a.order, a.place) > std::tie(b.order, b.place);
  }
};

class Joiner {
 public:
  Joiner(const std::vector<int>& tokens, const MergeOf& merge_of) : merge_of_(merge_of) {
    const auto count = static_cast<std::ptrdiff_t>(tokens.size());
    nodes_.reserve(tokens.size());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      nodes_.push_back({tokens[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
    }
    for (std::ptrdiff_t i = 0; i + 1 < count; ++i) propose(i);
  }

  std::vector<int> run() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (still_stands(best)) join(best);
    }
    std::vector<int> tokens;
    for (const Node& node : nodes_) {
      if (node.token != kGone) tokens.push_back(node.token);
    }
    return tokens;
  }

 private:
  Node& at(std::ptrdiff_t place) { return nodes_[static_cast<std::size_t>(place)]; }

  void propose(std::ptrdiff_t place) {
    const int left = at(place).token, right = at(at(place).after).token;
    if (const auto merge = merge_of_(left, right)) {
      queue_.push({merge->order, place, left, right, merge->token});
    }
  }

  // A join changes its neighbours' pairs; the candidates they left in the queue are stale.
  bool still_stands(const Candidate& candidate) {
    const Node& left = at(candidate.place);
    return left.token == candidate.left && left.after >= 0 &&
           at(left.after).token == candidate.right;
  }

  void join(const Candidate& candidate) {
    Node& left = at(candidate.place);
    Node& right = at(left.after);
    left.token = candidate.joined;
    left.after = right.after;
    right.token = kGone;
    if (left.after >= 0) {
      at(left.after).before = candidate.place;
      propose(candidate.place);
    }
    if (left.before >= 0) propose(left.before);
  }

  const MergeOf& merge_of_;
  std::vector<Node> nodes_;
  std::priority_queue<Candidate, std::vector<Candidate>, Later> queue_;
};

}  // namespace

void join_neighbours(std::vector<int>& tokens, const MergeOf& merge_of) {
  if (tokens.size() > 1) tokens = Joiner(tokens, merge_of).run();
}

}  // namespace dewpoint::text
