// The rooms in the order of the page, each with the view it begins with.
//
// SPDX-License-Identifier: Apache-2.0
import type { Component } from 'svelte';

import Condense from './rooms/Condense.svelte';
import Cycle from './rooms/Cycle.svelte';
import Dew from './rooms/Dew.svelte';
import Heads from './rooms/Heads.svelte';
import Phase from './rooms/Phase.svelte';
import Query from './rooms/Query.svelte';
import Studies from './rooms/Studies.svelte';

export interface RoomEntry {
  name: string;
  title: string;
  start: string; // its address at first
  component: Component;
}

export const kRooms: RoomEntry[] = [
  { name: 'phase', title: 'Phase', start: '#/phase?n=128', component: Phase },
  { name: 'condense', title: 'Condense', start: '#/condense?signal=1.2', component: Condense },
  {
    name: 'query',
    title: 'Query',
    start: '#/query?d=3&n=1000,1e6,1e15&theta=0.1:10:9:log',
    component: Query,
  },
  { name: 'dew', title: 'Dew', start: '#/dew', component: Dew },
  {
    name: 'cycle',
    title: 'Cycle',
    start: '#/cycle?optimiser=flow&time=150&record-every=0.5',
    component: Cycle,
  },
  { name: 'heads', title: 'Heads', start: '#/heads', component: Heads },
  { name: 'studies', title: 'Studies', start: '#/studies', component: Studies },
];
