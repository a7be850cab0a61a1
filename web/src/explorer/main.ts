// Shows the explorer, with the browser it runs in.
//
// SPDX-License-Identifier: Apache-2.0
import '../app.css';
import './explorer.css';

import { mount } from 'svelte';

import Explorer from './Explorer.svelte';
import { Server, type Browser } from './server';

// Asking for the store throws where the browser forbids it.
function storage(): Browser['storage'] {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

const browser: Browser = {
  fetch: (address, options) => fetch(address, options),
  event_source: (address) => new EventSource(address),
  storage: storage(),
  locks: navigator.locks ?? null,
};
const server = new Server(browser);

addEventListener('pagehide', () => server.leave());
addEventListener('pageshow', (event) => event.persisted && server.come_back());

const target = document.getElementById('explorer');
if (target !== null) mount(Explorer, { target, props: { server } });
