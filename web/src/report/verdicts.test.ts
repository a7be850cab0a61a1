// SPDX-License-Identifier: Apache-2.0
import { render } from 'svelte/server';
import { expect, it } from 'vitest';

import Verdicts from './Verdicts.svelte';

it('every verdict is in the page, as text, and counted', () => {
  const { body } = render(Verdicts, {
    props: { verdicts: ['layer 0 head 1: diffuse, 3 < 4 (100 %)', 'layer 0 head 2: cannot tell'] },
  });
  expect(body).toContain('2 verdicts with their reasons');
  expect(body).toContain('<li>layer 0 head 1: diffuse, 3 &lt; 4 (100 %)</li>');
  expect(body).toContain('<li>layer 0 head 2: cannot tell</li>');
});
