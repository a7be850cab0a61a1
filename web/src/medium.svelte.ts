// What charts are drawn for: a screen with so many pixels to a CSS pixel, or a printer.
//
// SPDX-License-Identifier: Apache-2.0
import { flushSync } from 'svelte';

const kPrinterRatio = 2;

// Widths of panels on paper: three side by side, or one that is shown alone.
const kOnPaper = { usual: 215, large: 640, large_from: 420 };

class Medium {
  printing = $state(false);
  #screen_ratio = $state(1);

  /** Pixels of a canvas to a CSS pixel. */
  readonly ratio = $derived(
    this.printing ? Math.max(kPrinterRatio, this.#screen_ratio) : this.#screen_ratio,
  );

  constructor() {
    this.#follow_screen();
    const print = matchMedia('print');
    print.addEventListener('change', () => this.#print(print.matches));
    addEventListener('beforeprint', () => this.#print(true));
    addEventListener('afterprint', () => this.#print(false));
  }

  /** The width to draw a panel with that takes so much on the screen. */
  width_of(panel: number): number {
    if (!this.printing) return panel;
    return Math.min(panel, panel < kOnPaper.large_from ? kOnPaper.usual : kOnPaper.large);
  }

  // A query holds for one ratio; the next one needs the next query.
  #follow_screen() {
    this.#screen_ratio = devicePixelRatio;
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener('change', () => this.#follow_screen(), { once: true });
  }

  // The page is printed as soon as the event is over, so charts have to be redrawn within it.
  #print(printing: boolean) {
    flushSync(() => (this.printing = printing));
  }
}

export const medium = new Medium();
