// What the program writes into the page. The C++ side is src/dewpoint/report/figure_json.cpp (the
// figures) and src/cli/report_data.cpp (everything around them); both sides change together.
//
// SPDX-License-Identifier: Apache-2.0

/** A number, or null where nothing is known (NaN), or an infinity, which JSON cannot say. */
export type Cell = number | null | 'inf' | '-inf';

/** Numbers in a row: as they are, or, when they are many, the bytes of little-endian doubles. */
export type PackedNumbers = Cell[] | { float64: string };

export type Scale =
  | 'linear'
  | 'logarithmic' // values above 0
  | 'exponent'; // values are log10 of what the axis shows: -3 lies at the number 10^-3

export interface AxisData {
  label: string;
  scale: Scale;
  /** The range to show at first, in places: the value itself, or its decimal logarithm. */
  range: [number, number];
}

export type SeriesStyle = 'solid' | 'dashed' | 'dotted' | 'points' | 'line-and-points' | 'dots';

export interface SeriesData {
  label: string; // empty: not in the legend
  style: SeriesStyle;
  colour: string; // "#rrggbb", chosen for white paper
  theory: boolean; // predicted, not measured
  x: PackedNumbers; // in no particular order: a path may go back and forth
  y: PackedNumbers; // as many; what has no place on its axis interrupts a line
  error: PackedNumbers; // standard errors; empty, or as many, null for none
}

export interface LinePanelData {
  title: string;
  x: AxisData;
  y: AxisData;
  series: SeriesData[]; // the last on top; all points above all lines, all dots beneath
  markers: { x: number; label: string }[]; // vertical dashed lines
}

export interface LineFigureData {
  kind: 'lines';
  columns: number; // panels side by side where there is room
  panels: LinePanelData[];
}

export interface CurveData {
  label: string;
  style: 'solid' | 'dashed';
  x: PackedNumbers;
  y: PackedNumbers;
}

export interface HeatmapPanelData {
  title: string;
  subtitle: string;
  x: PackedNumbers; // centres of the columns, increasing
  y: PackedNumbers; // centres of the rows, increasing
  z: PackedNumbers; // z[i * y.length + j] is the value at x[i], y[j]
  error: PackedNumbers; // standard errors of z; empty where there are none
  borrowed: number[]; // indices into z: not measured, the value of another cell
  curves: CurveData[]; // theory, on top
}

export interface HeatmapFigureData {
  kind: 'heatmap';
  columns: number;
  x_label: string;
  y_label: string;
  z_label: string;
  x_scale: Scale;
  y_scale: Scale;
  z_scale: Scale;
  z_low: number; // the value of the first colour; lower ones share it
  z_high: number;
  colours: 'viridis' | 'diverging'; // diverging: blue, white, red
  look:
    | 'graph' // y upwards, numbers along both axes
    | 'matrix' // a small square, row 0 on top, the values written into the cells
    | 'texture'; // a small square, first row on top, no numbers
  panels: HeatmapPanelData[];
}

export type FigureData = LineFigureData | HeatmapFigureData;

/** The study behind a figure, and the command that measures it again. */
export interface Origin {
  study: string; // file name
  command: string;
  experiment: string;
  parameters: [string, string][];
  seed: string; // 64 bits do not fit into a double
  version: string;
  created: string; // ISO 8601, UTC
}

export interface FigureEntry {
  id: string; // "cas-figure-1": also the stem of its files and of its CSV
  group: string; // heading that figures share: a paper, or a study
  title: string;
  see: string; // what to look at; may be empty
  paper: string; // what the paper says about it; may be empty
  claims: string[]; // ids of rows of the certificate that belong to it
  verdicts: string[]; // on what it shows, a sentence each: phases of heads, with their reasons
  caption: string; // parameters, samples, seed
  origin: Origin;
  figure: FigureData;
}

export interface Estimate {
  mean: Cell;
  standard_error: Cell;
  samples: number;
}

export interface Comparison {
  quantity: string;
  relation: 'equals' | 'at least' | 'at most';
  predicted: Cell;
  measured: Estimate;
  tolerance: Cell;
  holds: boolean;
}

export type Verdict = 'holds' | 'holds as corrected' | 'does not reproduce' | 'fails';

/** A row of `dewpoint verify --json`. */
export interface ClaimRow {
  id: string; // "cas.theorem-2.1", "erratum.4"
  place: string; // "CAS, Theorem 2.1"
  statement: string;
  parameters: string;
  verdict: Verdict;
  comparisons: Comparison[];
  as_printed: Comparison[]; // the printed version, where it differs: must not hold
  seconds: number;
  command: string; // runs this row alone
}

export interface Certificate {
  effort: 'quick' | 'full';
  seed: string;
  version: string;
  rows: ClaimRow[];
}

/** A study that the page would show if somebody had run it. */
export interface NotRun {
  name: string;
  title: string;
  command: string;
}

export interface PageData {
  title: string;
  intro: string; // paragraphs, parted by empty lines; plain text
  figures: FigureEntry[];
  certificate: Certificate | null;
  errata: Certificate | null;
  not_run: NotRun[];
  footer: { label: string; value: string }[]; // version, seed, machine, time, command
}
