// The points of a figure as CSV, byte for byte as points_csv() of src/dewpoint/report/figure_file.cpp
// writes them: RFC 4180, UTF-8, shortest digits that give the number back.
//
//     heat maps   panel, curve, x, y, value, standard_error    curve is empty for cells
//     lines       panel, series, x, y, standard_error
//
// Numbers are values, not places on axes. What is not known is empty. Cells that borrow their value
// are left out.
//
// SPDX-License-Identifier: Apache-2.0
import type { FigureData, HeatmapFigureData, HeatmapPanelData, LineFigureData } from './data';
import { unpacked } from './numbers';

/** In quotes, with its own quotes doubled, where it holds a comma, a quote or the end of a line. */
export function csv_field(text: string): string {
  return /[,"\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// From 10⁻⁴ up to 10¹⁶ plain, else with an exponent of at least two digits: 1e+16, 2.5e-05.
function finite_text(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, power] = value.toExponential().split('e');
  const exponent = Number(power);
  // JavaScript itself turns to exponents below 10⁻⁶ and from 10²¹ on only.
  if (exponent >= -4 && exponent < 16) return String(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

export function csv_number(value: number): string {
  if (Number.isNaN(value)) return '';
  if (Number.isFinite(value)) return finite_text(value);
  return value < 0 ? '-inf' : 'inf';
}

function row(panel: string, name: string, ...numbers: number[]): string {
  return [csv_field(panel), csv_field(name), ...numbers.map(csv_number)].join(',') + '\n';
}

function cell_rows(panel: HeatmapPanelData): string {
  const [x, y, z, error] = [panel.x, panel.y, panel.z, panel.error].map(unpacked) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const borrowed = new Set(panel.borrowed);
  let rows = '';
  z.forEach((value, k) => {
    if (borrowed.has(k)) return;
    const column = Math.floor(k / y.length);
    rows += row(panel.title, '', x[column]!, y[k % y.length]!, value, error[k] ?? NaN);
  });
  return rows;
}

function curve_rows(panel: HeatmapPanelData): string {
  let rows = '';
  for (const curve of panel.curves) {
    const y = unpacked(curve.y);
    unpacked(curve.x).forEach((x, k) => {
      rows += row(panel.title, curve.label, x, y[k]!, NaN, NaN);
    });
  }
  return rows;
}

function heatmap_csv(figure: HeatmapFigureData): string {
  const rows = figure.panels.map((panel) => cell_rows(panel) + curve_rows(panel));
  return 'panel,curve,x,y,value,standard_error\n' + rows.join('');
}

function lines_csv(figure: LineFigureData): string {
  let csv = 'panel,series,x,y,standard_error\n';
  for (const panel of figure.panels) {
    for (const series of panel.series) {
      const y = unpacked(series.y);
      const error = unpacked(series.error);
      unpacked(series.x).forEach((x, k) => {
        csv += row(panel.title, series.label, x, y[k]!, error[k] ?? NaN);
      });
    }
  }
  return csv;
}

export function points_csv(figure: FigureData): string {
  return figure.kind === 'lines' ? lines_csv(figure) : heatmap_csv(figure);
}
