// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import type { Field } from './contract';
import { list_with, nearest_index, numbers_of_list, typed_number, value_of_text } from './fields';

const number: Field = { name: 'x', kind: 'number', default: 2, meaning: '', option: null };

describe('a number as one types it', () => {
  it.each([
    [0, '0'],
    [0.95, '0.95'],
    [1e30, '1e30'],
    [2.5e-7, '2.5e-7'],
    [1e6, '1e6'],
    [1234567, '1234567'],
    [-3, '-3'],
    [1e-4, '0.0001'],
  ])('%d is %s', (value, text) => {
    expect(typed_number(value)).toBe(text);
    expect(Number(text)).toBe(value);
  });
});

it('reads a value, its default from an empty box, and leaves nonsense to the server', () => {
  expect(value_of_text(number, ' 1e-3 ')).toBe(0.001);
  expect(value_of_text(number, '')).toBe(2);
  expect(value_of_text(number, 'two')).toBe('two');
  expect(value_of_text(number, '1e400')).toBe('1e400'); // no number: it would be sent as null
  expect(value_of_text({ ...number, kind: 'list' }, '0:1:5')).toBe('0:1:5');
  expect(value_of_text({ ...number, kind: 'flag' }, '0')).toBe(false);
});

describe('a list', () => {
  it('is read as the command line reads it', () => {
    expect(numbers_of_list('1,2,4')).toEqual([1, 2, 4]);
    expect(numbers_of_list('0:1:5')).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(numbers_of_list('1e2:1e4:3:log')!.map(Math.round)).toEqual([100, 1000, 10000]);
    expect(numbers_of_list('3')).toEqual([3]);
    expect(numbers_of_list('0:1')).toBeNull();
    expect(numbers_of_list('1,x')).toBeNull();
    expect(numbers_of_list('0:1:5:lin')).toBeNull();
    expect(numbers_of_list(null)).toBeNull();
  });

  it('takes one more number in its place, and stays as it is where that is there', () => {
    expect(list_with('1e2,1e6,1e30', 1000)).toBe('100,1000,1e6,1e30');
    expect(list_with('0:1:5', 0.75)).toBe('0:1:5');
    expect(list_with('nonsense', 1)).toBe('nonsense');
  });

  it('finds the nearest by ratio where all are positive', () => {
    expect(nearest_index([1, 100, 1e6], 1e4)).toBe(1);
    expect(nearest_index([0, 1, 10], 4)).toBe(1);
  });
});
