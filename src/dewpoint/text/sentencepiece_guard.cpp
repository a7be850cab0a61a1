#include "dewpoint/text/sentencepiece_guard.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/text/characters.hpp"
#include "dewpoint/text/normalisation_table.hpp"
#include "dewpoint/text/protocol_buffer.hpp"

namespace dewpoint::text {
namespace {

using checkpoint::excerpt;
using checkpoint::Refusal;
using Kind = WireField::Kind;

// Numbers of the fields in sentencepiece_model.proto.
constexpr std::uint32_t kPieces = 1, kTrainer = 2, kNormaliser = 3, kSelfTest = 4,
                        kDenormaliser = 5;
constexpr std::uint32_t kPieceText = 1, kPieceScore = 2, kTable = 2;

std::size_t inside(const WireField& field, std::string_view model) {
  return static_cast<std::size_t>(field.bytes.data() - model.data());
}

void check_piece(std::size_t index, const WireField& piece, std::string_view model) {
  std::string_view text;
  bool finite = true;
  WireReader reader(piece.bytes, inside(piece, model));
  while (const auto field = reader.next()) {
    if (field->number == kPieceText && field->kind == Kind::bytes) text = field->bytes;
    if (field->number == kPieceScore && field->kind == Kind::fixed32) {
      finite = std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(field->value)));
    }
  }
  const bool sound = !text.empty() && text.size() <= kMostPieceBytes &&
                     text.find('\0') == std::string_view::npos &&
                     first_malformed(text) == text.size();
  if (sound && finite) return;
  throw Refusal{
      fmt::format("piece {}", index),
      fmt::format("'{}' of {} bytes{}", excerpt(text), text.size(),
                  finite ? "" : " with a score that is no number"),
      fmt::format("pieces of 1 to {} bytes of UTF-8 with finite scores", kMostPieceBytes)};
}

void check_normaliser(const WireField& normaliser, std::string_view model) {
  WireReader reader(normaliser.bytes, inside(normaliser, model));
  while (const auto field = reader.next()) {
    if (field->number == kTable && field->kind == Kind::bytes) {
      check_normalisation_table(field->bytes);
    }
  }
}

void check_message(const WireField& message, std::string_view model) {
  WireReader reader(message.bytes, inside(message, model));
  while (reader.next()) {
  }
}

}  // namespace

void check_sentencepiece_model(std::string_view model) {
  if (model.size() > kMostModelBytes) {
    throw Refusal{"size", fmt::format("{} bytes", model.size()),
                  fmt::format("sentencepiece models of at most {} bytes", kMostModelBytes)};
  }
  std::size_t pieces = 0;
  WireReader reader(model);
  while (const auto field = reader.next()) {
    if (field->kind != Kind::bytes) continue;
    if (field->number == kPieces) check_piece(pieces++, *field, model);
    if (field->number == kNormaliser || field->number == kDenormaliser) {
      check_normaliser(*field, model);
    }
    if (field->number == kTrainer || field->number == kSelfTest) check_message(*field, model);
  }
  if (pieces == 0) throw Refusal{"pieces", "none", "a sentencepiece model with pieces"};
}

}  // namespace dewpoint::text
