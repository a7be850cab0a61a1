// A made-up page: one figure of curves and one heat map of each look, for tests and for looking at
// the page without a report. Nothing here was measured; main.ts does not import it.
//
// SPDX-License-Identifier: Apache-2.0
import type { Cell, FigureData, FigureEntry, HeatmapFigureData, HeatmapPanelData } from './data';
import type { LineFigureData, LinePanelData, PageData, SeriesData } from './data';

function grid(low: number, high: number, count: number): number[] {
  return Array.from({ length: count }, (_, k) => low + ((high - low) * k) / (count - 1));
}

// The same numbers every time, between 0 and 1.
function noise(k: number): number {
  const x = Math.sin(12.9898 * k + 4.1414) * 43758.5453;
  return x - Math.floor(x);
}

/** As the program packs what is long. */
export function packed(numbers: number[]): { float64: string } {
  const bytes = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((number, k) => bytes.setFloat64(8 * k, number, true));
  let text = '';
  for (let k = 0; k < bytes.byteLength; ++k) text += String.fromCharCode(bytes.getUint8(k));
  return { float64: btoa(text) };
}

function series(rest: Partial<SeriesData>): SeriesData {
  const bare = { label: '', colour: '#000000', theory: false, x: [], y: [], error: [] };
  return { ...bare, style: 'solid', ...rest };
}

// ------------------------------------------------------------------------------------------ lines

const kLengths = [
  { label: 'N = 10³', colour: '#440154', width: 0.35 },
  { label: 'N = 10⁶', colour: '#31688e', width: 0.2 },
  { label: 'N = 10¹²', colour: '#35b779', width: 0.1 },
];

function weight(t: number, width: number): number {
  return (0.7 / (1 + Math.exp(-(t - 1.1) / width))) * (t / 2.5) ** 0.3;
}

function condensation(): LinePanelData {
  const loads = grid(0.05, 2.5, 80);
  const measured = grid(0.1, 2.5, 25);
  const limit = (t: number) => (t < 1 ? 0 : 0.9 * (1 - 1 / t) + 0.05);
  return {
    title: 'largest weight',
    x: { label: 'load t = β/β_c', scale: 'linear', range: [-0.05, 2.6] },
    y: { label: 'mean largest weight', scale: 'linear', range: [-0.03, 0.83] },
    markers: [
      { x: 1, label: 'freezing' },
      { x: 1.2, label: 'half way' },
    ],
    series: [
      ...kLengths.map(({ label, colour, width }) =>
        series({ label, colour, theory: true, x: loads, y: loads.map((t) => weight(t, width)) }),
      ),
      ...kLengths.map(({ colour, width }, k) =>
        series({
          colour,
          style: 'points',
          x: measured,
          y: measured.map((t, m) => weight(t, width) + 0.02 * (noise(m + 99 * k) - 0.5)),
          error: measured.map((_, m): Cell => (m === 3 ? null : 0.006 + 0.03 * noise(m) ** 3)),
        }),
      ),
      series({
        label: 'N → ∞',
        style: 'dashed',
        theory: true,
        x: packed(loads),
        y: packed(loads.map((t) => limit(t))),
      }),
      series({ label: 'measured', style: 'points' }),
    ],
  };
}

// A hysteresis loop: forth along one branch, back along the other, with a gap; and a cloud beneath.
function loop(): LinePanelData {
  const forth = grid(-3, 1, 16);
  const there = forth.map((e) => 10 ** e);
  const branch = (e: number, middle: number) => 10 ** (-5 + 4 / (1 + Math.exp(-4 * (e - middle))));
  const path = [
    ...forth.map((e) => branch(e, -0.2)),
    ...[...forth].reverse().map((e) => branch(e, -1.3)),
  ];
  const cloud = grid(-3, 1, 400).map((e, k) => 10 ** (e + 0.3 * noise(k)));
  return {
    title: 'there and back',
    x: { label: 'learning rate η', scale: 'logarithmic', range: [-3.2, 1.2] },
    y: { label: 'order parameter 1 − s', scale: 'logarithmic', range: [-5.3, -0.5] },
    markers: [{ x: 0.5, label: 'η_c' }],
    series: [
      series({
        label: 'draws',
        style: 'dots',
        colour: '#56b4e9',
        x: packed(cloud),
        y: packed(cloud.map((_, k) => 10 ** (-5 + 4 * noise(3 * k + 1)))),
      }),
      series({
        label: 'a path',
        style: 'line-and-points',
        colour: '#d55e00',
        x: [...there, ...[...there].reverse()],
        y: path.map((y, k): Cell => (k === 6 ? null : k === 24 ? 0 : y)),
        error: path.map((y, k) => (k === 20 ? 1.2 : 0.4 * noise(k)) * y),
      }),
      series({
        label: 'linear response',
        style: 'dotted',
        theory: true,
        x: there,
        y: there.map((x) => 1e-3 * x),
      }),
    ],
  };
}

export const kLineFigure: LineFigureData = {
  kind: 'lines',
  columns: 2,
  panels: [condensation(), loop()],
};

// -------------------------------------------------------------------------------------- heat maps

const kHeatMap: HeatmapFigureData = {
  kind: 'heatmap',
  columns: 3,
  x_label: 'overlap ρ',
  y_label: 'scaling γ',
  z_label: 'contraction λ',
  x_scale: 'linear',
  y_scale: 'linear',
  z_scale: 'linear',
  z_low: 0,
  z_high: 1,
  colours: 'viridis',
  look: 'graph',
  panels: [],
};

function cells(
  x: number[],
  y: number[],
  z: (x: number, y: number, index: number) => Cell,
): Pick<HeatmapPanelData, 'x' | 'y' | 'z'> {
  const values = x.flatMap((a, i) => y.map((b, j) => z(a, b, i * y.length + j)));
  return { x, y, z: values };
}

function phase_panel(n: number, unknown: number): HeatmapPanelData {
  const rho = grid(0, 1, 24);
  const gamma = grid(0.1, 3, 24);
  const line = (r: number) => 1 / (1.05 - Math.min(r, 1)) ** 0.5;
  const z = (r: number, g: number, k: number): Cell =>
    k < unknown ? null : 1 / (1 + Math.exp((g - line(r)) * Math.log(n))) + 0.02 * (noise(k) - 0.5);
  return {
    title: `n = ${n}, d = 64`,
    subtitle: '',
    ...cells(rho, gamma, z),
    error: rho.flatMap((_, i) => gamma.map((_, j) => 0.002 + 0.01 * noise(i * 24 + j))),
    borrowed: [300, 301, 324],
    curves: [
      { label: 'critical line', style: 'solid', x: rho, y: rho.map(line) },
      { label: 'as printed', style: 'dashed', x: rho, y: rho.map((r) => 0.5 + 1.5 * r) },
    ],
  };
}

export const kGraphFigure: HeatmapFigureData = {
  ...kHeatMap,
  panels: [phase_panel(64, 9), phase_panel(512, 0), phase_panel(4096, 0)],
};

export const kMatrixFigure: HeatmapFigureData = {
  ...kHeatMap,
  columns: 4,
  look: 'matrix',
  colours: 'diverging',
  x_label: 'key',
  y_label: 'query',
  z_label: 'change of the weight',
  z_low: -1,
  z_high: 1,
  panels: ['step 0', 'step 100', 'step 1000', 'step 3000'].map((title, k) => ({
    title,
    subtitle: k === 2 ? 'stage III' : '',
    ...cells(grid(0, 3, 4), grid(0, 3, 4), (x, y) => (k === 0 ? 0 : Math.cos(k * x + y))),
    error: [],
    borrowed: [],
    curves: [],
  })),
};

export const kTextureFigure: HeatmapFigureData = {
  ...kHeatMap,
  columns: 4,
  look: 'texture',
  x_label: 'position',
  y_label: '',
  z_label: 'weight w_i',
  z_scale: 'logarithmic',
  z_low: 1e-4,
  z_high: 1,
  panels: ['t = 0.5', 't = 1', 't = 2'].map((title, k) => ({
    title,
    subtitle: '',
    ...cells(grid(0, 47, 48), grid(0, 47, 48), (x, y, index) =>
      Math.max(0, noise(index) ** (4 * (k + 1)) * Math.exp(-Math.abs(x - y) / 12)),
    ),
    error: [],
    borrowed: [],
    curves: [],
  })),
};

// ----------------------------------------------------------------------------------------- a page

function entry(id: string, title: string, figure: FigureData): FigureEntry {
  return {
    id,
    group: 'Made up',
    title,
    see: 'The curves of finite length leave the limit near t = 1, and the wider the shorter they are.',
    paper: 'Says that the largest weight jumps at β_c. It does not: it grows from 0.',
    claims: ['cc.theorem-2.1', 'erratum.4'],
    verdicts: ['layer 0 head 2 × 1, without sinks: diffuse, β is 0.31 of β_dew (100 %)'],
    caption: 'sigma = 1 · 1000 samples per cell · seed 18446744073709551615 · Dewpoint 0.1.0+e5f3f73fbb',
    origin: {
      study: `${id}.study`,
      command: `dewpoint reproduce --only ${id} --full --seed 18446744073709551615 -o out`,
      experiment: 'condensation',
      parameters: [
        ['n', '1000, 1000000, 1000000000000'],
        ['sigma', '1'],
      ],
      seed: '18446744073709551615',
      version: '0.1.0+e5f3f73fbb',
      created: '2025-11-16T12:00:00Z',
    },
    figure,
  };
}

export const kPage: PageData = {
  title: 'A page that nobody measured',
  intro: 'For looking at charts.',
  figures: [
    entry('made-up-lines', 'Attention condenses at t = 1, slowly', kLineFigure),
    entry('made-up-graph', 'Contraction of tokens by one layer', kGraphFigure),
    entry('made-up-matrix', 'Attention matrices along a training run', kMatrixFigure),
    entry('made-up-texture', 'Rows of weights', kTextureFigure),
  ],
  certificate: null,
  errata: null,
  not_run: [],
  footer: [],
};
