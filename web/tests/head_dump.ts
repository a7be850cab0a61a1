// A small dump of heads as a safetensors file, the same every time.
//
// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs';

const kShape = { layers: 2, heads: 2, tokens: 128, coordinates: 8 };

// Sums of twelve uniform numbers: nearly Gaussian, and nothing here depends on how nearly.
function* gaussian(): Generator<number> {
  let state = 1;
  for (;;) {
    let sum = -6;
    for (let k = 0; k < 12; ++k) {
      state = (1103515245 * state + 12345) % 2147483648;
      sum += state / 2147483648;
    }
    yield sum;
  }
}

export function write_dump(path: string) {
  const { layers, heads, tokens, coordinates } = kShape;
  const count = heads * tokens * coordinates;
  const draws = gaussian();
  const header: Record<string, object> = {};
  const bytes = Buffer.alloc(4 * 2 * layers * count);
  let at = 0;
  for (let layer = 0; layer < layers; ++layer) {
    for (const name of ['q', 'k']) {
      header[`layers.${layer}.${name}`] = {
        dtype: 'F32',
        shape: [heads, tokens, coordinates],
        data_offsets: [at, at + 4 * count],
      };
      for (let k = 0; k < count; ++k, at += 4) bytes.writeFloatLE(draws.next().value as number, at);
    }
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text, bytes]));
}
