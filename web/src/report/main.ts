// Reads the data that the program wrote into the page, and shows them.
//
// SPDX-License-Identifier: Apache-2.0
import '../app.css';

import { mount } from 'svelte';

import { read_page_data } from './page_data';
import Report from './Report.svelte';
import { theme } from '../theme.svelte';

const kEmpty =
  'This is the empty template of a Dewpoint report: “dewpoint reproduce” writes one with figures.';

function notice(target: HTMLElement, text: string, role: 'note' | 'alert') {
  const paragraph = document.createElement('p');
  paragraph.className = 'notice';
  paragraph.setAttribute('role', role);
  paragraph.textContent = text;
  target.replaceChildren(paragraph);
}

function start(target: HTMLElement) {
  theme.show();
  try {
    const data = read_page_data(document.getElementById('dewpoint-data')?.textContent ?? '');
    if (data === null) {
      notice(target, kEmpty, 'note');
    } else {
      mount(Report, { target, props: { data } });
    }
  } catch (error) {
    console.error(error);
    const reason = error instanceof Error ? error.message : String(error);
    notice(target, `The data in this page cannot be shown: ${reason}`, 'alert');
  }
}

const target = document.getElementById('report');
if (target !== null) start(target);
