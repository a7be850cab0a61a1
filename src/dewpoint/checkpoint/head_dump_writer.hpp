// Writes a dump of queries and keys: a .safetensors file of our own names (head_dump.hpp).
//
// All shapes are known before the first number, so the header goes first and the heads follow in
// any order, each to its place: nothing but one head is ever in memory. The file appears, whole,
// with finish().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "dewpoint/checkpoint/head_dump.hpp"
#include "dewpoint/checkpoint/tensor.hpp"
#include "dewpoint/core/matrix.hpp"
#include "dewpoint/core/pending_file.hpp"

namespace dewpoint::checkpoint {

/// Every layer has the same shape; layers are numbered from 0.
struct DumpPlan {
  std::size_t layers = 0;
  DumpShape shape;                      // `layer` and `values` mean nothing here
  ElementType type = ElementType::f32;  // f32, f16 or bf16; sinks are f32 whatever it is
};

/// Dumps, ours and those of `dewpoint.capture`.
[[nodiscard]] FileKind dump_kind();

class HeadDumpWriter {
 public:
  /// What is kept of the facts is scale, rope, m_applied, causal, window, softcap, model and
  /// text_sha256. Throws Error{unwritable_file}, and Error{bad_value} for another file in the way.
  HeadDumpWriter(const OutputFile& output, const DumpPlan& plan, const DumpFacts& facts);

  /// One head: its queries; the keys of its group, which are written once, with the group's first
  /// head; and its sink, where the plan has sinks. Throws Error{unwritable_file}, and
  /// Error{bad_value} naming the place of a number that is not finite in the type of the file.
  ///
  ///   Domain      shapes as planned; every head of every layer once, in any order.
  void write(std::size_t layer, std::size_t head, MatrixView<const float> queries,
             MatrixView<const float> keys, std::optional<double> sink = {});

  /// Throws Error{unwritable_file} when not all bytes have reached the file.
  ///
  ///   Domain      all heads are written.
  ///   Properties  (1) HeadDump::open gives back the facts and, for f32, every bit of every head.
  ///               (2) f16 and bf16 are the nearest numbers, ties to even.
  ///               (3) the same heads in any order give the same bytes.
  void finish();

 private:
  void check_file() const;
  void put(std::size_t offset, MatrixView<const float> matrix, ElementType type,
           const std::string& what);

  std::filesystem::path name_;
  PendingFile pending_;
  std::ofstream file_;
  DumpPlan plan_;
  std::size_t data_begin_ = 0;
  std::size_t heads_left_ = 0;
};

}  // namespace dewpoint::checkpoint
