// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { read_page_data } from './page_data';

const page = {
  title: 'T',
  intro: '',
  figures: [],
  certificate: null,
  errata: null,
  not_run: [],
  footer: [],
};

describe('the data of a page', () => {
  it('come back as they were written', () => {
    expect(read_page_data(JSON.stringify(page))).toEqual(page);
  });
  it('are nothing in the bare template', () => {
    expect(read_page_data('{}')).toBeNull();
    expect(read_page_data(' \n')).toBeNull();
  });
  it('are refused with a reason where they are damaged', () => {
    expect(() => read_page_data('{"title"')).toThrow(SyntaxError);
    expect(() => read_page_data('[]')).toThrow('not an object');
    for (const field of Object.keys(page)) {
      const without = JSON.stringify({ ...page, [field]: undefined });
      expect(() => read_page_data(without), field).toThrow(`"${field}"`);
    }
    expect(() => read_page_data(JSON.stringify({ ...page, errata: {} }))).toThrow('"errata"');
  });
});
