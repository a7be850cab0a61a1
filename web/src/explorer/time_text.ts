// Times as a reader says them.
//
// SPDX-License-Identifier: Apache-2.0

/** "0.4 s", "31 s", "4 min", "2.5 h". */
export function seconds_text(seconds: number): string {
  if (!Number.isFinite(seconds)) return '';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 99.5) return `${Math.round(seconds)} s`;
  if (seconds < 5970) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
