// The text of the data element, parsed and looked over, so that a damaged page says what is wrong.
//
// SPDX-License-Identifier: Apache-2.0
import type { PageData } from '../data';

const kLists = ['figures', 'not_run', 'footer'];
const kTexts = ['title', 'intro'];
const kCertificates = ['certificate', 'errata'];

type Fields = Record<string, unknown>;

function is_object(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function expect(holds: boolean, field: string, what: string) {
  if (!holds) throw new Error(`the field "${field}" has to be ${what}.`);
}

/** Null where the page is still the bare template, `{}` or nothing. Throws an Error otherwise. */
export function read_page_data(text: string): PageData | null {
  const data: unknown = text.trim() === '' ? {} : JSON.parse(text);
  if (!is_object(data)) throw new Error('they are not an object.');
  if (Object.keys(data).length === 0) return null;
  for (const field of kTexts) expect(typeof data[field] === 'string', field, 'a text');
  for (const field of kLists) expect(Array.isArray(data[field]), field, 'a list');
  for (const field of kCertificates) {
    const value = data[field];
    const fits = value === null || (is_object(value) && Array.isArray(value.rows));
    expect(fits, field, 'null or a certificate with rows');
  }
  return data as unknown as PageData;
}
