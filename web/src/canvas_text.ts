// Text on a canvas, with the lowered and raised parts of rich_text.ts.
//
// SPDX-License-Identifier: Apache-2.0
import { rich, type Piece } from './rich_text';

export interface TextLook {
  size: number; // in pixels
  font: string; // families
  colour: string;
  align?: 'left' | 'center' | 'right';
}

interface Run {
  text: string;
  scale: number; // of the size
  drop: number; // below the middle, in sizes
}

function runs(pieces: Piece[], scale = 1, drop = 0): Run[] {
  return pieces.flatMap((piece) => {
    if (piece.kind === 'lowered') return runs(piece.pieces, 0.74 * scale, drop + 0.28 * scale);
    if (piece.kind === 'raised') return runs(piece.pieces, 0.74 * scale, drop - 0.36 * scale);
    return [{ text: piece.text, scale, drop }];
  });
}

type Look = Pick<TextLook, 'size' | 'font'>;

function run_width(context: CanvasRenderingContext2D, run: Run, look: Look): number {
  context.font = `${run.scale * look.size}px ${look.font}`;
  return context.measureText(run.text).width;
}

export function text_width(context: CanvasRenderingContext2D, text: string, look: Look): number {
  return runs(rich(text)).reduce((width, run) => width + run_width(context, run, look), 0);
}

/** Half-way up the text is y. */
export function draw_text(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  look: TextLook,
) {
  const width = text_width(context, text, look);
  const share = { left: 0, center: 0.5, right: 1 }[look.align ?? 'center'];
  let left = x - share * width;
  context.fillStyle = look.colour;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  for (const run of runs(rich(text))) {
    const advance = run_width(context, run, look);
    context.fillText(run.text, left, y + run.drop * look.size);
    left += advance;
  }
}

/** Upwards, with its middle at (x, y); as much smaller as it must be to fit into `room`. */
export function draw_upwards(
  context: CanvasRenderingContext2D,
  text: string,
  [x, y]: [number, number],
  room: number,
  look: TextLook,
) {
  const shrunk = Math.min(1, room / Math.max(1, text_width(context, text, look)));
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  draw_text(context, text, 0, 0, { ...look, size: shrunk * look.size });
  context.restore();
}
