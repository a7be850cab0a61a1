// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { hash_of, place_of } from './address';
import { tables_of } from './context';
import type { RoomTable } from './contract';

const field = { meaning: '', option: null };
const kRooms: RoomTable[] = [
  {
    room: 'dew',
    verb: 'dew',
    title: '',
    fields: [
      { ...field, name: 'law', kind: 'words', default: ['gaussian:sigma=1'], count: 6 },
      { ...field, name: 'n', kind: 'list', default: '1e2:1e15:14:log' },
      { ...field, name: 'draws', kind: 'whole', default: 400, least: 2, most: 4000 },
      { ...field, name: 'residual', kind: 'flag', default: false },
      { ...field, name: 'top', kind: 'whole', default: null },
      { ...field, name: 'sigma', kind: 'number', default: 1 },
    ],
  },
];
const kTables = tables_of(kRooms);

describe('an address', () => {
  it('says what differs from the defaults, and nothing else', () => {
    const place = {
      room: 'dew',
      fields: { n: '1e2:1e6:5:log', draws: 50, law: ['sphere:d=5', 'vmf:d=5,kappa=2'], residual: true },
      page: { show: 'entropy', at: '' },
    };
    const hash = hash_of(place);
    expect(hash).toBe(
      '#/dew?n=1e2:1e6:5:log&draws=50&law=sphere:d=5&law=vmf:d=5,kappa=2&residual=1&_show=entropy',
    );
    expect(place_of(hash, kTables)).toEqual({ ...place, page: { show: 'entropy' } });
  });

  it('leaves out what is said but is the default', () => {
    const place = place_of('#/dew?draws=400&n=1e2:1e15:14:log&law=gaussian:sigma%3D1&top=', kTables);
    expect(place.fields).toEqual({});
  });

  it('keeps what is wrong, for the server to refuse', () => {
    const place = place_of('#/dew?draws=many&drws=3&sigma=1e-3', kTables);
    expect(place.fields).toEqual({ draws: 'many', drws: '3', sigma: 0.001 });
  });

  it('begins in the first room', () => {
    expect(place_of('', kTables)).toEqual({ room: 'phase', fields: {}, page: {} });
    expect(place_of('#/', kTables).room).toBe('phase');
  });

  it('says that nothing is chosen where the default is something', () => {
    expect(place_of(hash_of({ room: 'dew', fields: { law: ['a b&c=d?e#f'] }, page: {} }), kTables)).toEqual({
      room: 'dew',
      fields: { law: ['a b&c=d?e#f'] },
      page: {},
    });
  });
});
