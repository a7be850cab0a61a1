// Light, dark, or as the system has it. The choice is remembered where the browser allows it; pages
// opened as files may not. Paper is always light.
//
// SPDX-License-Identifier: Apache-2.0
import { medium } from './medium.svelte';

export type ThemeChoice = 'light' | 'dark' | 'system';

const kKey = 'dewpoint-theme';

function remembered(): ThemeChoice {
  try {
    const choice = localStorage.getItem(kKey);
    return choice === 'light' || choice === 'dark' ? choice : 'system';
  } catch {
    return 'system';
  }
}

function remember(choice: ThemeChoice) {
  try {
    localStorage.setItem(kKey, choice);
  } catch {
    // Not kept, then: the next visit begins as the system has it.
  }
}

/** What the button does: first away from what is shown, then back, then as the system has it. */
export function next_choice(choice: ThemeChoice, system_dark: boolean): ThemeChoice {
  const system = system_dark ? 'dark' : 'light';
  const other = system_dark ? 'light' : 'dark';
  if (choice === 'system') return other;
  return choice === other ? system : 'system';
}

class Theme {
  choice = $state<ThemeChoice>(remembered());
  #system_dark = $state(false);
  #chosen_dark = $derived(
    this.choice === 'dark' || (this.choice === 'system' && this.#system_dark),
  );

  /** What is drawn on: false on paper. */
  readonly dark = $derived(this.#chosen_dark && !medium.printing);

  constructor() {
    const system = matchMedia('(prefers-color-scheme: dark)');
    this.#system_dark = system.matches;
    system.addEventListener('change', () => (this.#system_dark = system.matches));
  }

  toggle() {
    this.choice = next_choice(this.choice, this.#system_dark);
    remember(this.choice);
  }

  /** Gives the page the colours of app.css. */
  show() {
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
  }
}

export const theme = new Theme();
