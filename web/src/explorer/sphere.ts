// Points on the sphere as a reader sees them who may turn it.
//
// SPDX-License-Identifier: Apache-2.0

export interface Turn {
  azimuth: number; // radians, around the vertical axis
  height: number; // of the reader above the equator, from −π/2 to π/2
}

export interface Seen {
  x: number; // to the right, −1 to 1
  y: number; // upwards
  depth: number; // towards the reader
}

const kSteepest = Math.PI / 2;

export function seen([x, y, z]: readonly [number, number, number], turn: Turn): Seen {
  const [c, s] = [Math.cos(turn.azimuth), Math.sin(turn.azimuth)];
  const right = c * y - s * x;
  const ahead = c * x + s * y;
  const [ch, sh] = [Math.cos(turn.height), Math.sin(turn.height)];
  return { x: right, y: ch * z - sh * ahead, depth: ch * ahead + sh * z };
}

/** After a drag, or a key. */
export function turned(turn: Turn, right: number, up: number): Turn {
  const height = Math.min(kSteepest, Math.max(-kSteepest, turn.height + up));
  return { azimuth: turn.azimuth + right, height };
}

/** The area of a disc is its weight's, so that the eye adds weights. */
export function radius_of_weight(weight: number, largest: number): number {
  return largest * Math.sqrt(Math.max(0, weight));
}
