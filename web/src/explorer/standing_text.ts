// How far an answer is, in words.
//
// SPDX-License-Identifier: Apache-2.0
import type { JobView } from './contract';
import type { Standing } from './live_question.svelte';

function level_text(view: JobView | null): string {
  if (view === null || view.levels < 2) return '';
  return `level ${view.level} of ${view.levels}, `;
}

export function standing_text(standing: Standing, progress: number, view: JobView | null): string {
  switch (standing) {
    case 'idle':
      return '';
    case 'asking':
      return 'asking';
    case 'queued':
      return 'waiting in line';
    case 'running':
      return `${level_text(view)}${Math.round(100 * progress)} %`;
    case 'done':
      return view?.cached ? 'complete, from memory' : 'complete';
    case 'failed':
      return 'no result';
    case 'cancelled':
      return 'cancelled';
  }
}
