// Where in the page the reader is: the last section whose top has passed the upper fifth of the
// window, or the last of all at the end of the page, where short sections cannot reach so high.
//
// SPDX-License-Identifier: Apache-2.0

const kUpperFifth = '0px 0px -80% 0px';

export class ReadingPlace {
  anchor = $state('');

  /** Watches the elements with these ids, in the order of the page, until the result is called. */
  watch(ids: string[]): () => void {
    const elements = ids.map((id) => document.getElementById(id)).filter((each) => each !== null);
    const observer = new IntersectionObserver(() => this.#update(elements), {
      rootMargin: kUpperFifth,
    });
    for (const element of elements) observer.observe(element);
    const last = elements.at(-1);
    const end = new IntersectionObserver(() => this.#update(elements), { threshold: [0, 1] });
    if (last !== undefined) end.observe(last);
    return () => {
      observer.disconnect();
      end.disconnect();
    };
  }

  #update(elements: HTMLElement[]) {
    const line = innerHeight / 5;
    const passed = elements.filter((each) => each.getBoundingClientRect().top <= line);
    const at_end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    this.anchor = (at_end && scrollY > 0 ? elements : passed).at(-1)?.id ?? '';
  }
}
