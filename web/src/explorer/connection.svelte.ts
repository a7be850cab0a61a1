// Whether the server is there. When it is not, everybody who asked is told once it is back.
//
// SPDX-License-Identifier: Apache-2.0

const kAskEvery = 3000; // milliseconds

class Connection {
  lost = $state(false);
  #probe: () => Promise<unknown> = () => Promise.resolve();
  #waiting = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** What is asked to see whether the server is there. */
  probe_with(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  when_back(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  lose() {
    if (this.lost) return;
    this.lost = true;
    this.#ask_later();
  }

  found() {
    clearTimeout(this.#timer);
    if (!this.lost) return;
    this.lost = false;
    for (const listener of this.#waiting) listener();
  }

  /** Asks now. */
  async retry() {
    clearTimeout(this.#timer);
    try {
      await this.#probe();
      this.found();
    } catch {
      this.#ask_later();
    }
  }

  #ask_later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.retry(), kAskEvery);
  }
}

export const connection = new Connection();
