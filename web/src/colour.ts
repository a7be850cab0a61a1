// The colours of the figures; the C++ twins are src/dewpoint/report/colour.cpp and colour_of() of
// heatmap.cpp.
//
// Series come with colours chosen for white paper. On dark paper they keep their hue and become as
// light as reading needs, in OKLab [Ottosson 2020], where lightness is what the eye sees.
//
// SPDX-License-Identifier: Apache-2.0
import { interpolateViridis, schemeRdBu } from 'd3-scale-chromatic';

import { place } from './axis';
import type { HeatmapFigureData } from './data';

type Triple = [number, number, number];
export type ColourMap = HeatmapFigureData['colours'];

/** A cell without a value. Darker where white is a value. */
export const kUnknownColour = '#e4e4e4';
export const kUnknownBesideWhite = '#b4b4b4';

const kBlueWhiteRed = [...schemeRdBu[11]!].reverse().map(channels_of);

function channels_of(colour: string): Triple {
  const number = parseInt(colour.slice(1), 16);
  return [(number >> 16) & 0xff, (number >> 8) & 0xff, number & 0xff];
}

function hex_of(channels: readonly number[]): string {
  return '#' + channels.map((c) => Math.round(c).toString(16).padStart(2, '0')).join('');
}

function clamped(t: number): number {
  return Math.min(1, Math.max(0, t));
}

/** Viridis at t; below 0 as at 0, above 1 as at 1, NaN is unknown. */
export function viridis(t: number): string {
  return Number.isNaN(t) ? kUnknownColour : interpolateViridis(clamped(t));
}

/** Blue, white, red at t, linear between eleven published colours. */
export function diverging(t: number): string {
  if (Number.isNaN(t)) return kUnknownBesideWhite;
  const at = clamped(t) * (kBlueWhiteRed.length - 1);
  const below = Math.min(Math.floor(at), kBlueWhiteRed.length - 2);
  const [a, b] = [kBlueWhiteRed[below]!, kBlueWhiteRed[below + 1]!];
  return hex_of(a.map((from, k) => from + (at - below) * (b[k]! - from)));
}

export function mapped_colour(map: ColourMap, t: number): string {
  return map === 'viridis' ? viridis(t) : diverging(t);
}

/** NaN is unknown, as is what has no logarithm; infinities have the colours of the ends. */
export function colour_of(
  figure: Pick<HeatmapFigureData, 'colours' | 'z_scale' | 'z_low' | 'z_high'>,
  z: number,
): string {
  const low = place(figure.z_scale, figure.z_low);
  const high = place(figure.z_scale, figure.z_high);
  const at = figure.z_scale === 'logarithmic' ? Math.log10(z) : z;
  return mapped_colour(figure.colours, (at - low) / (high - low));
}

/** From 0, black, to 255, white. */
export function luma(colour: string): number {
  const [red, green, blue] = channels_of(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// ------------------------------------------------------------------------------------- dark paper

function linearised(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function displayed(light: number): number {
  return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
}

/** Lightness from 0 to 1, and the two coordinates of hue and chroma. */
export function ok_lab(colour: string): Triple {
  const [red, green, blue] = channels_of(colour).map(linearised) as Triple;
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
  ];
}

function channels_of_lab([lightness, a, b]: Triple): Triple {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const light: Triple = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  return light.map((channel) => displayed(Math.max(0, channel))) as Triple;
}

// Greys are turned round, so that black ink becomes white ink; colours are raised in their order.
function lightness_on_dark([lightness, a, b]: Triple): number {
  const is_grey = Math.hypot(a, b) < 0.03;
  return is_grey ? 0.95 - 0.4 * lightness : Math.max(lightness, 0.55 + 0.3 * lightness);
}

/**
 * A series colour for dark paper.
 *
 *   Properties  (1) black becomes nearly white.
 *               (2) the hue stays; chroma is given up only where no screen could show it.
 *               (3) colours keep their order in lightness.
 */
export function on_dark_paper(colour: string): string {
  const lab = ok_lab(colour);
  const lightness = lightness_on_dark(lab);
  for (let share = 1; share > 0; share -= 0.02) {
    const channels = channels_of_lab([lightness, share * lab[1], share * lab[2]]);
    if (channels.every((channel) => channel <= 255.5)) return hex_of(channels.map(within_byte));
  }
  return hex_of(channels_of_lab([lightness, 0, 0]).map(within_byte));
}

function within_byte(channel: number): number {
  return Math.min(255, Math.max(0, channel));
}

export function on_paper(colour: string, dark: boolean): string {
  return dark ? on_dark_paper(colour) : colour;
}
