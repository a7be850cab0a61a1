// Where the reader is: the address, as the rooms see it and change it.
//
// SPDX-License-Identifier: Apache-2.0
import { differing, hash_of, place_of, type Place, type Tables } from './address';
import type { Value } from './contract';

const kWriteAfter = 150; // milliseconds: browsers refuse addresses that change all the time

export class Places {
  place = $state.raw<Place>({ room: '', fields: {}, page: {} });
  readonly #tables: Tables;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tables: Tables) {
    this.#tables = tables;
    this.#read();
    addEventListener('hashchange', () => this.#read());
  }

  /** A field of the question; its default is left out of the address. */
  set_field(name: string, value: Value) {
    this.set_fields({ [name]: value });
  }

  set_fields(changed: Record<string, Value>) {
    const { room, fields, page } = this.place;
    const next = differing({ ...fields, ...changed }, this.#tables.get(room));
    this.#change({ room, fields: next, page });
  }

  /** What only the page knows; empty: as at first. */
  set_page(changed: Record<string, string>) {
    this.#change({ ...this.place, page: { ...this.place.page, ...changed } });
  }

  /** What the question says, its default otherwise. */
  value(name: string): Value {
    const { room, fields } = this.place;
    return name in fields ? fields[name]! : (this.#tables.get(room)?.get(name)?.default ?? null);
  }

  /** The address is that of the view from here on. */
  flush() {
    clearTimeout(this.#timer);
    const hash = hash_of(this.place);
    if (hash !== location.hash) history.replaceState(null, '', hash);
  }

  #change(place: Place) {
    this.place = place;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), kWriteAfter);
  }

  #read() {
    clearTimeout(this.#timer);
    this.place = place_of(location.hash, this.#tables);
  }
}
