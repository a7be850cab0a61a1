// Comparisons as the program prints them: "≥ 0.25", "0.31270 ± 0.00042", "1 (tolerance 6·10⁻¹³)".
//
// SPDX-License-Identifier: Apache-2.0
import type { Cell, Comparison, Estimate } from '../data';
import { measured_text as with_error, number_text, unpacked } from '../numbers';

const kSymbols = { equals: '=', 'at least': '≥', 'at most': '≤' };

export function value_of(cell: Cell): number {
  return unpacked([cell])[0]!;
}

export function cell_text(cell: Cell, digits = 6): string {
  return cell === null ? '?' : number_text(value_of(cell), digits);
}

export function predicted_text(comparison: Comparison): string {
  return `${kSymbols[comparison.relation]} ${cell_text(comparison.predicted)}`;
}

/** Nothing random: the error is 0. An error that is not known is a question mark. */
export function estimate_text({ mean, standard_error }: Estimate): string {
  if (value_of(standard_error) === 0) return cell_text(mean, 10);
  if (!Number.isFinite(value_of(standard_error))) return `${cell_text(mean)} ± ?`;
  return mean === null ? '?' : with_error(value_of(mean), value_of(standard_error));
}

/** With its error, or in six digits. */
export function measured_value({ measured }: Comparison): string {
  if (value_of(measured.standard_error) !== 0) return estimate_text(measured);
  return cell_text(measured.mean);
}

/** Where nothing is random: what is allowed for rounding and finite length. Otherwise empty. */
export function tolerance_note({ measured, tolerance }: Comparison): string {
  if (value_of(measured.standard_error) !== 0 || tolerance === 0) return '';
  return `tolerance ${cell_text(tolerance, 1)}`;
}

export function measured_text(comparison: Comparison): string {
  const note = tolerance_note(comparison);
  return measured_value(comparison) + (note === '' ? '' : ` (${note})`);
}

export function seconds_text(seconds: number): string {
  return seconds.toFixed(seconds < 100 ? 1 : 0);
}
