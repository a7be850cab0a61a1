// Queries and keys of a model, dumped by whoever could run it: .safetensors, .npz or .npy.
//
//   own names       layers.{l}.q [H, n, d], layers.{l}.k [Hk, n, d], perhaps .v, .sink [H]
//   TransformerLens blocks.{l}.attn.hook_rot_q|hook_rot_k|hook_q|hook_k|hook_v [batch, n, H, d]
//   bare            q, k[, v, sink]: one layer
//
// A folder may hold one file per layer: .safetensors or .npz with own names, or with bare ones and
// the number of the layer as the last number in the file's name; or one .npy per tensor, called as
// the tensor is: q.npy and k.npy, layers.0.q.npy, ...
//
// Of the TransformerLens names those after the rotation (hook_rot_q) win over those before it.
// Where only the latter are there, rope is "pre" until somebody says otherwise: then the scores are
// not what a model with rotary positions computes, and a warning says so.
//
// Layouts name the axes, the slowest first: batch B, heads H, tokens N, coordinates D. HND, NHD,
// BHND (Hugging Face), BNHD (flash-attn, xformers, TransformerLens), ND (one head). Where nobody
// says, own and bare names are ND, HND or BHND and TransformerLens is NHD or BNHD, by rank.
//
// Metadata of a safetensors file (options of the caller override them; all may be absent):
//
//   format        dewpoint-qk; whatever else is no business of ours (PyTorch writes "pt")
//   version       1
//   layout        as above
//   rope          post, pre or none
//   scale         τ > 0; 1/√d where nobody says
//   m_applied     what queries and keys already contain of a multiplier: reported, never applied
//   causal        true or false; true where nobody says
//   window        keys that a query sees at most, itself included; 0: no limit
//   softcap       c > 0
//   positions     first:count, where the queries sit among the keys; else they are the last ones
//   dtype         bf16: arrays of NumPy types u16 or V2 are bf16, which NumPy has no name for
//   model, text_sha256
//
// In an .npz the same keys are one JSON object in a member `metadata`: bytes, or a text:
//
//   np.savez(path, q=q, k=k, metadata=np.frombuffer(json.dumps(facts).encode(), np.uint8))
//
// Query heads share key heads in groups: head h reads key head h/(H/Hk).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dewpoint/checkpoint/dump_tensors.hpp"
#include "dewpoint/checkpoint/tensor_archive.hpp"
#include "dewpoint/core/matrix.hpp"

namespace dewpoint::checkpoint {

/// What the file does not say, or says wrongly; empty: as the file says.
struct DumpOptions {
  std::optional<std::string> layout;
  std::optional<std::string> rope;
  std::optional<double> scale;
  std::optional<bool> causal;
  std::optional<std::size_t> window;  // 0: none
  std::optional<double> softcap;      // 0: none
  std::optional<std::size_t> batch;   // which text of several; needed where there are several
};

struct DumpFacts {
  std::string layout;  // of the tensors as stored
  std::string rope = "post";
  double scale = 0.0;  // τ; 1/√d where nobody says
  bool scale_assumed = false;
  double m_applied = 1.0;
  bool causal = true;
  std::size_t window = 0;  // 0: none
  double softcap = 0.0;    // 0: none
  std::size_t batch = 0;   // the text that is read, out of
  std::size_t batches = 1;
  std::string model, text_sha256;
  std::vector<std::string> warnings;  // one sentence each, with a stable id before the colon
};

struct DumpShape {
  std::size_t layer = 0;
  std::size_t heads = 0;
  std::size_t key_heads = 0;
  std::size_t queries = 0;  // tokens
  std::size_t keys = 0;
  std::size_t dimension = 0;       // d, of queries and keys
  std::size_t first_position = 0;  // of query 0 among the keys
  bool values = false;
  bool sinks = false;
};

/// One layer in memory: head after head, rows are tokens, float32.
struct DumpedLayer {
  std::size_t number = 0;
  std::size_t first_position = 0;      // of query 0 among the keys
  std::vector<Matrix<float>> queries;  // one per head
  std::vector<Matrix<float>> keys;     // one per key head
  std::vector<Matrix<float>> values;   // one per key head, or none
  std::vector<double> sinks;           // one per head, or none
  [[nodiscard]] std::size_t key_head(std::size_t head) const {
    return head / (queries.size() / keys.size());
  }
};

/// Whether layer() reads values too; statistics of scores do not need them.
enum class Values { skip, read };

class HeadDump {
 public:
  /// Names, shapes and metadata are checked here, numbers when a layer is read.
  ///
  /// Throws Error{unreadable_file}, Error{malformed_file}, Error{bad_value} (an option): one line
  /// that names file, tensor or key, what was found and what is allowed.
  ///
  ///   Properties  (1) whatever the container and the layout, layer() gives the same floats for the
  ///                   same numbers.
  ///               (2) every layer has n_k ≥ n_q ≥ 1, H a multiple of Hk, the same d for both.
  ///               (3) no bytes lead to anything but a dump or an Error of one line.
  [[nodiscard]] static HeadDump open(const std::filesystem::path& path,
                                     const DumpOptions& options = {});
  /// Two .npy files.
  [[nodiscard]] static HeadDump open_pair(const std::filesystem::path& queries,
                                          const std::filesystem::path& keys,
                                          const DumpOptions& options = {});
  /// Tensors that somebody else has found; `name` is what messages call the whole.
  [[nodiscard]] static HeadDump from_pieces(DumpPieces pieces, const std::string& name,
                                            const DumpOptions& options = {});

  [[nodiscard]] const DumpFacts& facts() const { return facts_; }
  /// Numbers of the layers, increasing.
  [[nodiscard]] const std::vector<std::size_t>& layers() const { return numbers_; }
  /// In the same order.
  [[nodiscard]] const std::vector<DumpShape>& shapes() const { return shapes_; }

  /// Reads a layer; NaN and infinities are refused with layer, head, row and column, and so is a
  /// float64 beyond the range of float32.
  ///
  ///   Domain      a number out of layers().
  [[nodiscard]] DumpedLayer layer(std::size_t number, Values values = Values::skip) const;

 private:
  HeadDump(DumpPieces pieces, const std::string& name, const DumpOptions& options);

  std::vector<TensorArchive> archives_;
  std::vector<LayerTensors> tensors_;
  DumpFacts facts_;
  std::vector<std::size_t> numbers_;
  std::vector<DumpShape> shapes_;
};

}  // namespace dewpoint::checkpoint
