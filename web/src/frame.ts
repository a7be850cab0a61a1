// The frame of a panel, the same for curves and heat maps: where its axes lie on the canvas, and
// the grid, tics, numbers and labels around the box in the middle. All lengths are CSS pixels.
//
// SPDX-License-Identifier: Apache-2.0
import type { Range, Tic } from './axis';
import { draw_text, draw_upwards, text_width } from './canvas_text';

/** Colours and type of the page, as a canvas needs them. */
export interface Ink {
  paper: string;
  ink: string;
  quiet: string;
  line: string;
  font: string;
}

/** What is shown, in places. */
export interface View {
  x: Range;
  y: Range;
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface FramePlan {
  width: number; // of the canvas
  view: View;
  x_label: string;
  y_label: string;
  x_tics: Tic[];
  y_tics: Tic[];
  room_above: number;
  square: boolean; // the box; else it is wide
  turned: boolean; // y grows downwards
}

export interface Frame extends FramePlan {
  height: number; // of the canvas
  box: Box;
}

const kNumberSize = 11.5;
const kLabelSize = 12.5;
const kTicLength = 4;
const kShortTicLength = 2.5;
const kNumberGap = 7; // from the box to its numbers
const kLabelRoom = 21;
const kNumberRoom = 20;
const kRight = 14; // half a number of the x axis
const kBare = 4;
const kBetweenNumbers = 8;
const kUsualMargins = 64;

let measuring: CanvasRenderingContext2D | null = null;

/** A canvas that nobody sees, for the widths of texts. */
export function measure(): CanvasRenderingContext2D {
  measuring ??= document.createElement('canvas').getContext('2d');
  return measuring!;
}

// Colours come from properties that the style of a panel sets: a variable need not be a colour that
// a canvas understands.
export function ink_of(element: Element): Ink {
  const style = getComputedStyle(element);
  return {
    paper: style.backgroundColor,
    ink: style.color,
    quiet: style.textDecorationColor,
    line: style.borderTopColor,
    font: style.fontFamily,
  };
}

function widest(tics: Tic[], font: string): number {
  const look = { size: kNumberSize, font };
  return Math.max(0, ...tics.map((tic) => text_width(measure(), tic.label, look)));
}

// Panels side by side are as wide as each other; wider numbers must not make one lower.
function box_height(plan: FramePlan, width: number): number {
  if (plan.square) return width;
  return Math.min(430, Math.max(170, Math.round(0.72 * (plan.width - kUsualMargins))));
}

export function lay_out(plan: FramePlan, font: string): Frame {
  const numbers = plan.y_tics.length > 0 ? kNumberGap + widest(plan.y_tics, font) : 0;
  const left = Math.ceil(numbers + (plan.y_label ? kLabelRoom : kBare));
  const below = (plan.x_tics.length > 0 ? kNumberRoom : kBare) + (plan.x_label ? kLabelRoom : 0);
  const width = Math.max(40, Math.floor(plan.width - left - kRight));
  const height = box_height(plan, width);
  const box = { left, top: plan.room_above, width, height };
  return { ...plan, box, height: plan.room_above + height + below };
}

// ------------------------------------------------------------------------------ places and pixels

export function x_pixel(frame: Frame, place: number): number {
  const [low, high] = frame.view.x;
  return frame.box.left + (frame.box.width * (place - low)) / (high - low);
}

export function y_pixel(frame: Frame, place: number): number {
  const [low, high] = frame.view.y;
  const share = (place - low) / (high - low);
  return frame.box.top + frame.box.height * (frame.turned ? share : 1 - share);
}

export function x_place(frame: Frame, pixel: number): number {
  const [low, high] = frame.view.x;
  return low + ((high - low) * (pixel - frame.box.left)) / frame.box.width;
}

export function y_place(frame: Frame, pixel: number): number {
  const [low, high] = frame.view.y;
  const share = (pixel - frame.box.top) / frame.box.height;
  return low + (high - low) * (frame.turned ? share : 1 - share);
}

export function is_inside(frame: Frame, x: number, y: number): boolean {
  const { left, top, width, height } = frame.box;
  return x >= left && x <= left + width && y >= top && y <= top + height;
}

// ---------------------------------------------------------------------------------------- drawing

// In the middle of a pixel, where a thin line is sharp.
function sharp(pixel: number): number {
  return Math.round(pixel - 0.5) + 0.5;
}

function line(context: CanvasRenderingContext2D, from: [number, number], to: [number, number]) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/** Barely visible, through the numbers. */
export function draw_grid(context: CanvasRenderingContext2D, frame: Frame, ink: Ink) {
  const { left, top, width, height } = frame.box;
  context.strokeStyle = ink.line;
  context.globalAlpha = 0.55;
  context.lineWidth = 1;
  for (const tic of frame.x_tics.filter((tic) => tic.label)) {
    const x = sharp(x_pixel(frame, tic.place));
    line(context, [x, top], [x, top + height]);
  }
  for (const tic of frame.y_tics.filter((tic) => tic.label)) {
    const y = sharp(y_pixel(frame, tic.place));
    line(context, [left, y], [left + width, y]);
  }
  context.globalAlpha = 1;
}

/** The lines below and to the left of the box. */
export function draw_sides(context: CanvasRenderingContext2D, frame: Frame, ink: Ink) {
  const { left, top, width, height } = frame.box;
  context.strokeStyle = ink.quiet;
  context.globalAlpha = 0.6;
  context.lineWidth = 1;
  line(context, [sharp(left), top], [sharp(left), top + height]);
  line(context, [left, sharp(top + height)], [left + width, sharp(top + height)]);
  context.globalAlpha = 1;
}

// The smallest n so that every n-th number has room.
function stride(frame: Frame, font: string): number {
  const numbered = frame.x_tics.filter((tic) => tic.label);
  const ends = numbered.map((tic) => {
    const half = text_width(measure(), tic.label, { size: kNumberSize, font }) / 2;
    return { low: x_pixel(frame, tic.place) - half, high: x_pixel(frame, tic.place) + half };
  });
  for (let every = 1; every < ends.length; ++every) {
    const fits = ends.every(
      (end, k) => k % every !== 0 || k < every || ends[k - every]!.high + kBetweenNumbers <= end.low,
    );
    if (fits) return every;
  }
  return Math.max(1, ends.length);
}

function draw_x_axis(context: CanvasRenderingContext2D, frame: Frame, ink: Ink) {
  const bottom = frame.box.top + frame.box.height;
  const every = stride(frame, ink.font);
  let numbered = 0;
  for (const tic of frame.x_tics) {
    const x = x_pixel(frame, tic.place);
    const length = tic.label ? kTicLength : kShortTicLength;
    line(context, [sharp(x), bottom], [sharp(x), bottom + length]);
    if (!tic.label || numbered++ % every !== 0) continue;
    const look = { size: kNumberSize, font: ink.font, colour: ink.quiet };
    draw_text(context, tic.label, x, bottom + kNumberRoom - 6, look);
  }
}

function draw_y_axis(context: CanvasRenderingContext2D, frame: Frame, ink: Ink) {
  const { left } = frame.box;
  const look = { size: kNumberSize, font: ink.font, colour: ink.quiet, align: 'right' } as const;
  for (const tic of frame.y_tics) {
    const y = y_pixel(frame, tic.place);
    const length = tic.label ? kTicLength : kShortTicLength;
    line(context, [left - length, sharp(y)], [left, sharp(y)]);
    draw_text(context, tic.label, left - kNumberGap, y + 0.5, look);
  }
}

export function draw_axes(context: CanvasRenderingContext2D, frame: Frame, ink: Ink) {
  const { left, top, width, height } = frame.box;
  context.strokeStyle = ink.quiet;
  context.lineWidth = 1;
  draw_x_axis(context, frame, ink);
  draw_y_axis(context, frame, ink);
  const look = { size: kLabelSize, font: ink.font, colour: ink.ink };
  draw_text(context, frame.x_label, left + width / 2, frame.height - kLabelRoom / 2, look);
  const middle: [number, number] = [kLabelSize / 2 + 2, top + height / 2];
  draw_upwards(context, frame.y_label, middle, frame.height, look);
}
