// What every room is given.
//
// SPDX-License-Identifier: Apache-2.0
import { getContext, setContext } from 'svelte';

import type { About, Field, RoomTable } from './contract';
import type { Places } from './places.svelte';
import type { Server } from './server';

export interface Context {
  server: Server;
  about: About;
  rooms: ReadonlyMap<string, RoomTable>;
  tables: ReadonlyMap<string, ReadonlyMap<string, Field>>;
  places: Places;
}

export function tables_of(rooms: RoomTable[]): Map<string, Map<string, Field>> {
  return new Map(
    rooms.map(({ room, fields }) => [room, new Map(fields.map((field) => [field.name, field]))]),
  );
}

const kKey = 'dewpoint';

/** For everything below the component that says so. */
export function give_context(context: () => Context) {
  setContext(kKey, context);
}

export function the_context(): Context {
  return getContext<() => Context>(kKey)();
}
