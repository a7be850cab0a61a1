#include "cli/model_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "dewpoint/checkpoint/number_table.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/core/error.hpp"
#include "dewpoint/core/nearest_word.hpp"
#include "dewpoint/experiments/loss_study.hpp"
#include "dewpoint/text/tokenizer.hpp"

namespace dewpoint::cli {
namespace {

const std::vector<std::string> kRotations = {"own",       "ntk",    "yarn",
                                             "yarn-bare", "linear", "dynamic"};

std::string whole_file(const std::string& file) {
  std::ifstream in = checkpoint::open_regular_file(file, "a text");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<int> read_ids(const std::string& file, std::size_t vocabulary) {
  const checkpoint::NumberTable table =
      checkpoint::read_number_table(file, {"token ids", "row of ids"});
  std::vector<int> ids;
  for (std::size_t i = 0; i < table.numbers.rows(); ++i) {
    for (const double id : table.numbers.row(i)) {
      if (!(id >= 0.0 && id < static_cast<double>(vocabulary) && id == std::floor(id))) {
        throw Error(Code::bad_value, fmt::format("{}: {} is no token id; allowed: 0 to {}", file,
                                                 id, vocabulary - 1));
      }
      ids.push_back(static_cast<int>(id));
    }
  }
  return ids;
}

std::filesystem::path folder_of(const std::filesystem::path& checkpoint) {
  if (std::filesystem::is_directory(checkpoint)) return checkpoint;
  return checkpoint.has_parent_path() ? checkpoint.parent_path() : ".";
}

void require_in_vocabulary(const std::vector<int>& ids, std::size_t vocabulary,
                           const text::Tokenizer& tokenizer) {
  const auto outside = std::find_if(ids.begin(), ids.end(), [&](int id) {
    return id < 0 || static_cast<std::size_t>(id) >= vocabulary;
  });
  if (outside == ids.end()) return;
  throw Error(Code::bad_value,
              fmt::format("tokenizer: {} gives the id {}, but the model has {} tokens; is it the "
                          "tokenizer of this model?",
                          tokenizer.kind(), *outside, vocabulary));
}

/// The token that a text begins with, for the model; the tokenizer is asked where the model's own
/// is not among its tokens.
std::optional<int> beginning_of(const checkpoint::ModelConfig& config,
                                const text::Tokenizer& tokenizer) {
  const auto usable = [&](const std::optional<int>& token) {
    return token && *token >= 0 && static_cast<std::size_t>(*token) < config.vocabulary;
  };
  if (usable(tokenizer.beginning())) return tokenizer.beginning();
  if (usable(config.beginning_token)) return config.beginning_token;
  return std::nullopt;
}

double factor_of(const std::string& text, const std::string& number) {
  try {
    std::size_t used = 0;
    const double factor = std::stod(number, &used);
    if (used == number.size() && std::isfinite(factor) && factor >= 1.0) return factor;
  } catch (const std::exception&) {
  }
  throw Error(Code::bad_value,
              fmt::format("rope: '{}' has no factor of at least 1 behind its colon", text));
}

}  // namespace

const std::vector<std::string>& rotation_words() { return kRotations; }

ModelText read_tokens(const ModelTextQuestion& options, const models::Decoder& decoder,
                      const std::filesystem::path& checkpoint) {
  const checkpoint::ModelConfig& config = decoder.config();
  if (!options.ids.empty()) return {read_ids(options.ids, config.vocabulary), {}};
  if (options.text.empty()) {
    throw Error(Code::bad_value, "text: a checkpoint needs --text FILE or --ids FILE to read");
  }
  const auto tokenizer = text::open_tokenizer(
      options.tokenizer.empty() ? folder_of(checkpoint) : std::filesystem::path(options.tokenizer));
  const std::string content = whole_file(options.text);
  ModelText found{{}, beginning_of(config, *tokenizer)};
  found.tokens = found.beginning ? experiments::story_stream(*tokenizer, content, options.separator,
                                                             *found.beginning)
                                 : tokenizer->encode(content);
  require_in_vocabulary(found.tokens, config.vocabulary, *tokenizer);
  if (found.tokens.empty()) {
    throw Error(Code::bad_value, fmt::format("text: {} is empty", options.text));
  }
  return found;
}

std::optional<scaling::RopeScaling> rotation_of(const std::string& text,
                                                const checkpoint::ModelConfig& config,
                                                std::size_t length) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (std::find(kRotations.begin(), kRotations.end(), name) == kRotations.end()) {
    throw Error(Code::bad_value,
                fmt::format("rope: '{}' is unknown{}", name, instead_of(name, kRotations)));
  }
  if (name == "own") return std::nullopt;
  if (config.attention.rope.kind == scaling::RopeKind::none) {
    throw Error(Code::bad_value,
                fmt::format("rope: '{}' asks for a rotation, but this model has none", text));
  }
  scaling::RopeScaling rope = config.attention.rope;
  const bool bare = name == "yarn-bare";
  rope.kind = scaling::parse_rope_kind(bare ? "yarn" : name);
  if (bare) rope.attention_factor = 1.0;
  const auto trained = static_cast<double>(config.attention.max_positions);
  rope.factor = colon != std::string::npos ? factor_of(text, text.substr(colon + 1))
                                           : std::max(1.0, static_cast<double>(length) / trained);
  rope.original_length = config.attention.max_positions;
  rope.original_length_given = true;
  return rope;
}

bool is_checkpoint(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return std::filesystem::exists(path / "config.json");
  return path.extension() == ".bin";
}

}  // namespace dewpoint::cli
