// What a room needs to speak to its place: values of fields and of the page's own controls.
//
// SPDX-License-Identifier: Apache-2.0
import type { Context } from './context';
import type { Field, Question, Value } from './contract';
import { number_of_text } from './fields';

export class RoomState {
  readonly fields: readonly Field[];
  readonly #context: Context;

  constructor(context: Context, room: string) {
    this.#context = context;
    this.fields = context.rooms.get(room)?.fields ?? [];
  }

  get known(): string[] {
    return this.fields.map(({ name }) => name);
  }

  /** What the address says, beside the defaults. */
  get asked(): Question {
    return this.#context.places.place.fields;
  }

  value = (name: string): Value => this.#context.places.value(name);

  set = (name: string, value: Value) => this.#context.places.set_field(name, value);

  /** A choice of the page; `otherwise` where the address has none. */
  choice(name: string, otherwise: string): string {
    return this.#context.places.place.page[name] ?? otherwise;
  }

  /** A number of the page; NaN where there is none. */
  number(name: string, otherwise = NaN): number {
    const number = number_of_text(this.#context.places.place.page[name] ?? '');
    return Number.isFinite(number) ? number : otherwise;
  }

  set_page = (changed: Record<string, string>) => this.#context.places.set_page(changed);
}
