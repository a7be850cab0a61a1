// One small model of two layers, written by NumPy in every container, type and layout: the same
// floats come back from all of them (property (1) of HeadDump).
#include <gtest/gtest.h>

#include <string>

#include "checkpoint/dump_files.hpp"
#include "checkpoint/foreign_files.hpp"
#include "dewpoint/checkpoint/head_dump.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr std::size_t kLayers = 2, kHeads = 4, kKeyHeads = 2, kTokens = 6, kDimension = 3;

// The numbers of test::exact_element once more; and files as other people's programs write them.
constexpr const char* kScript = R"(
import json, struct

def tensor(layer, part, heads):
    h, n, d = np.meshgrid(np.arange(heads), np.arange(6), np.arange(3), indexing='ij')
    mixed = 11 * layer + ord(part) + 7 * h + 3 * n + 5 * d + n * d
    return ((mixed % 65).astype('f8') - 32) / 16

def model(arrange=lambda x: x):
    return {f'layers.{l}.{part}': np.ascontiguousarray(arrange(tensor(l, part, heads)))
            for l in range(2) for part, heads in (('q', 4), ('k', 2))}

def bf16(x):
    return (x.astype('<f4').view('<u4') >> 16).astype('<u2')  # exact here: nothing is cut off

def safetensors(path, tensors, dtype, encode, metadata):
    header, data = {'__metadata__': metadata}, b''
    for name, x in tensors.items():
        raw = encode(x).tobytes()
        header[name] = {'dtype': dtype, 'shape': x.shape,
                        'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)

FACTS = {'format': 'dewpoint-qk', 'version': '1', 'layout': 'HND', 'scale': '0.25'}
def as_bytes(facts):
    return np.frombuffer(json.dumps(facts).encode(), np.uint8)
)";

// Every number of every head, whatever it was read from.
void expect_exact(const HeadDump& dump) {
  ASSERT_EQ(dump.layers(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(dump.facts().scale, 0.25);
  for (std::size_t l = 0; l < kLayers; ++l) {
    const DumpedLayer layer = dump.layer(l);
    ASSERT_EQ(layer.queries.size(), kHeads);
    ASSERT_EQ(layer.keys.size(), kKeyHeads);
    for (std::size_t h = 0; h < kHeads; ++h) {
      for (std::size_t i = 0; i < kTokens; ++i) {
        for (std::size_t c = 0; c < kDimension; ++c) {
          EXPECT_EQ(layer.queries[h](i, c), test::exact_element(l, 'q', h, i, c));
          if (h >= kKeyHeads) continue;
          EXPECT_EQ(layer.keys[h](i, c), test::exact_element(l, 'k', h, i, c));
        }
      }
    }
  }
}

class HeadDumpOfNumPy : public test::NumPyFiles {
 protected:
  void expect_exact_files() const {
    for (const std::string& name : folder_.names()) {
      if (name == "write.py") continue;
      SCOPED_TRACE(name);
      expect_exact(HeadDump::open(folder_ / name));
    }
  }
  void run_with_model(const std::string& script) const { run(kScript + script); }
};

TEST_F(HeadDumpOfNumPy, EveryTypeOfSafetensorsGivesTheSameHeads) {
  run_with_model(R"(
safetensors('f32.safetensors', model(), 'F32', lambda x: x.astype('<f4'), FACTS)
safetensors('f64.safetensors', model(), 'F64', lambda x: x.astype('<f8'), FACTS)
safetensors('f16.safetensors', model(), 'F16', lambda x: x.astype('<f2'), FACTS)
safetensors('bf16.safetensors', model(), 'BF16', bf16, FACTS)
)");
  expect_exact_files();
}

TEST_F(HeadDumpOfNumPy, EveryArchiveGivesTheSameHeads) {
  run_with_model(R"(
facts = as_bytes(FACTS)
np.savez('stored.npz', **{k: v.astype('f4') for k, v in model().items()}, metadata=facts)
np.savez_compressed('deflated.npz', **{k: v.astype('f4') for k, v in model().items()},
                    metadata=facts)
np.savez('big_endian.npz', **{k: v.astype('>f8') for k, v in model().items()}, metadata=facts)
np.savez('half.npz', **{k: v.astype('f2') for k, v in model().items()}, metadata=facts)
np.savez('fortran.npz', **{k: np.asfortranarray(v) for k, v in model().items()}, metadata=facts)
words = as_bytes(dict(FACTS, dtype='bf16'))
np.savez('words.npz', **{k: bf16(v) for k, v in model().items()}, metadata=words)
np.savez('raw_words.npz', **{k: bf16(v).view('V2') for k, v in model().items()}, metadata=words)
)");
  expect_exact_files();
}

TEST_F(HeadDumpOfNumPy, EveryLayoutGivesTheSameHeads) {
  run_with_model(R"(
for layout, arrange in (('HND', lambda x: x), ('NHD', lambda x: x.transpose(1, 0, 2)),
                        ('BHND', lambda x: x[None]),
                        ('BNHD', lambda x: x.transpose(1, 0, 2)[None])):
    np.savez(layout + '.npz', **model(arrange), metadata=as_bytes(dict(FACTS, layout=layout)))
    lens = {k.replace('layers', 'blocks').replace('.q', '.attn.hook_rot_q')
             .replace('.k', '.attn.hook_rot_k'): v for k, v in model(arrange).items()}
    np.savez('lens_' + layout + '.npz', **lens, metadata=as_bytes(dict(FACTS, layout=layout)))
)");
  expect_exact_files();
}

TEST_F(HeadDumpOfNumPy, MetadataMayBeBytesOrTextsWithNumbersInThem) {
  run_with_model(R"(
facts = dict(format='dewpoint-qk', version=1, scale=0.25, causal=True, window=None)
np.savez('bytes.npz', **model(), metadata=as_bytes(facts))
np.savez('text.npz', **model(), metadata=json.dumps(facts))
np.savez('byte_text.npz', **model(), metadata=np.array(json.dumps(facts).encode()))
)");
  expect_exact_files();
}

TEST_F(HeadDumpOfNumPy, AFolderMayHoldOneArrayPerTensor) {
  run_with_model(R"(
import os
os.mkdir('arrays')
for name, x in model().items(): np.save(f'arrays/{name}.npy', x)
np.save('arrays/metadata.npy', as_bytes(FACTS))
)");
  expect_exact(HeadDump::open(folder_ / "arrays"));
}

TEST_F(HeadDumpOfNumPy, TwoArraysAreAPairOfQueriesAndKeys) {
  run_with_model("np.save('a.npy', tensor(0, 'q', 4)); np.save('b.npy', tensor(0, 'k', 2)[0])\n");
  EXPECT_NE(test::outcome([&] {
              static_cast<void>(HeadDump::open_pair(folder_ / "a.npy", folder_ / "b.npy"));
            }).message.find("b.npy: k: found shape [6, 3], allowed: 3 axes"),
            std::string::npos);
  run_with_model("np.save('a.npy', tensor(0, 'q', 4)); np.save('b.npy', tensor(0, 'k', 2))\n");
  const HeadDump dump = HeadDump::open_pair(folder_ / "a.npy", folder_ / "b.npy");
  EXPECT_EQ(dump.layer(0).keys[1](5, 2), test::exact_element(0, 'k', 1, 5, 2));
}

TEST_F(HeadDumpOfNumPy, OneHeadNeedsNoAxisForHeads) {
  run("np.save('q.npy', np.eye(5, 3)); np.save('k.npy', 2 * np.eye(5, 3))\n");
  const HeadDump dump = HeadDump::open(folder_ / "");
  EXPECT_EQ(dump.facts().layout, "ND");
  EXPECT_EQ(dump.layer(0).keys.at(0)(1, 1), 2.0F);
}

TEST_F(HeadDumpOfNumPy, BadMetadataAreRefusedInOneLine) {
  struct Case {
    const char* metadata;
    const char* message;
  };
  const Case cases[] = {
      {"np.arange(3.0)", "metadata: found an array of numbers, allowed: a text"},
      {"json.dumps([1, 2])", "metadata: found array, allowed: one JSON object"},
      {"'{\"scale\": }'", "metadata, byte 10: found '}'"},
      {"json.dumps({'scale': [1]})", "metadata key 'scale': found array, allowed: a text, a num"},
      {"json.dumps({'window': 1.5})", "metadata key 'window': found '1.5', allowed: a whole"},
      {"json.dumps({'scale': True})", "metadata key 'scale': found 'true', allowed: a positive"},
      {"'{\"scale\": 1, \"scale\": 2}'", "with the key 'scale' twice"},
  };
  for (const Case& bad : cases) {
    run_with_model(std::string("np.savez('bad.npz', **model(), metadata=") + bad.metadata + ")\n");
    const auto result =
        test::outcome([&] { static_cast<void>(HeadDump::open(folder_ / "bad.npz")); });
    EXPECT_EQ(result.code, Code::malformed_file) << bad.metadata;
    EXPECT_NE(result.message.find(bad.message), std::string::npos) << result.message;
    EXPECT_EQ(result.message.find('\n'), std::string::npos);
  }
}

TEST_F(HeadDumpOfNumPy, WordsWithoutTheirTypeAreRefused) {
  run_with_model("np.savez('words.npz', **{k: bf16(v) for k, v in model().items()})\n");
  const auto result =
      test::outcome([&] { static_cast<void>(HeadDump::open(folder_ / "words.npz")); });
  EXPECT_NE(result.message.find("layers.0.q: found type u16, allowed: f16, bf16, f32 or f64; u16"),
            std::string::npos)
      << result.message;
}

TEST_F(HeadDumpOfNumPy, ADoubleBeyondFloatIsRefusedWithItsPlace) {
  run("q = np.ones((2, 3, 4)); q[1, 2, 3] = 1e300\nnp.savez('far.npz', q=q, k=q)\n");
  const HeadDump dump = HeadDump::open(folder_ / "far.npz");
  const auto result = test::outcome([&] { static_cast<void>(dump.layer(0)); });
  EXPECT_NE(result.message.find("q: found inf in layer 0, head 1, row 2, column 3"),
            std::string::npos)
      << result.message;
}

}  // namespace
}  // namespace dewpoint::checkpoint
