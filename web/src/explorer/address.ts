// The address of a view: `#/<room>?name=value&..`, with the fields that differ from their defaults.
// What begins with `_` belongs to the page alone.
//
// SPDX-License-Identifier: Apache-2.0
import type { Field, Question, Value } from './contract';
import { is_same_value, text_of_value, value_of_text } from './fields';

export interface Place {
  room: string;
  fields: Question; // only what differs from the default
  page: Record<string, string>; // names without their `_`
}

/** The fields of a room by name. An address may be read before they are known. */
export type Tables = ReadonlyMap<string, ReadonlyMap<string, Field>>;

const kFirstRoom = 'phase';

function value_in_address(field: Field | undefined, texts: string[]): Value {
  if (field?.kind === 'words') return texts;
  const text = texts.at(-1) ?? '';
  return field ? value_of_text(field, text) : text;
}

/** Unknown fields stay: the server says what is wrong with them. */
export function place_of(hash: string, tables: Tables): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const room = path === '' ? kFirstRoom : decodeURIComponent(path);
  const parameters = new URLSearchParams(query);
  const fields: Question = {};
  const page: Record<string, string> = {};
  for (const name of new Set(parameters.keys())) {
    const texts = parameters.getAll(name);
    if (name.startsWith('_')) page[name.slice(1)] = texts.at(-1) ?? '';
    else fields[name] = value_in_address(tables.get(room)?.get(name), texts);
  }
  return { room, fields: differing(fields, tables.get(room)), page };
}

/** Without what is as the default has it. */
export function differing(fields: Question, table: ReadonlyMap<string, Field> | undefined): Question {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => {
      const field = table?.get(name);
      return field === undefined || !is_same_value(value, field.default);
    }),
  );
}

// Colons, commas and slashes need no escape after a `#`, and are easier to read without.
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/%(3A|2C|2F|3D)/g, (code) => decodeURIComponent(code));
}

function pairs_of(name: string, value: Value): string[] {
  const texts = Array.isArray(value) ? value : [text_of_value(value)];
  return texts.map((text) => `${escaped(name)}=${escaped(text)}`);
}

export function hash_of(place: Place): string {
  const pairs = [
    ...Object.entries(place.fields).flatMap(([name, value]) => pairs_of(name, value)),
    ...Object.entries(place.page)
      .filter(([, text]) => text !== '')
      .flatMap(([name, text]) => pairs_of(`_${name}`, text)),
  ];
  return `#/${escaped(place.room)}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
}
