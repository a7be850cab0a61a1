// Every room of the explorer, in a real browser with a real server: what a control changes is what
// the command line prints for the command of the view.
//
// SPDX-License-Identifier: Apache-2.0
import { completed, expect, nudge, printed, shown, slider, test } from './explorer';
import { write_dump } from './head_dump';

interface Frame {
  dimensions: Record<string, number[]>;
  variables: Record<string, { mean: any }>;
}

function index_of(frame: Frame, dimension: string, value: number): number {
  const at = frame.dimensions[dimension]!.findIndex((each) => Math.abs(each / value - 1) < 1e-9);
  expect(at, `${value} in ${dimension}`).toBeGreaterThanOrEqual(0);
  return at;
}

test('Phase: a moved slider makes the map that the command prints, and a cell opens', async ({
  explorer,
  open,
}) => {
  await open('#/phase?n=32&d=16&rho=0:0.9:4&gamma=0.5:4:8');
  await completed(explorer, '--n 32');
  await nudge(slider(explorer, '[data-field=n]'), 'ArrowRight');
  const { result } = printed(await completed(explorer, '--n 64')) as { result: Frame };

  const canvas = explorer.locator('#phase-map canvas');
  const box = (await canvas.boundingBox())!;
  await explorer.mouse.move(box.x + 0.55 * box.width, box.y + 0.45 * box.height);
  const tooltip = explorer.locator('#phase-map [data-tooltip]');
  const { x, y, value } = await tooltip.evaluate((element: HTMLElement) => ({ ...element.dataset }));
  const rho = index_of(result, 'rho', Number(x));
  const gamma = index_of(result, 'gamma', Number(y));
  expect(Number(value)).toBe(result.variables['contraction']!.mean[0][0][rho][gamma]);

  await explorer.mouse.click(box.x + 0.55 * box.width, box.y + 0.45 * box.height);
  const cell = explorer.locator('[data-cell]');
  await expect(cell).toHaveAttribute('data-cell', `${Number(x)},${Number(y)}`);
  await expect(cell.locator('[data-standing]').first()).toHaveAttribute('data-standing', 'done');
  const command = (await cell.locator('[data-cell-command]').getAttribute('data-cell-command'))!;
  const point = printed(command);
  for (const name of ['contraction', 'entropy', 'largest_weight']) {
    expect(await shown(cell, name), name).toBe(point.observables[name].mean);
  }
  await expect(explorer.locator('#phase-cell canvas')).toHaveCount(3); // cosines, weights, cosines
  await expect(explorer.locator('#phase-depth canvas').first()).toBeVisible();
});

test('Phase: an opened cell averages over as many clouds as the map', async ({ explorer, open }) => {
  await open('#/phase?n=32&d=16&rho=0:0.9:4&gamma=0.5:4:8&replicas=3&_rho=0.3&_gamma=2');
  await completed(explorer, '--replicas 3');
  const cell = explorer.locator('[data-cell]');
  await expect(cell.locator('[data-standing]').first()).toHaveAttribute('data-standing', 'done');
  const command = (await cell.locator('[data-cell-command]').getAttribute('data-cell-command'))!;
  expect(command).toContain('--replicas 3');
  expect(await shown(cell, 'contraction')).toBe(printed(command).observables['contraction'].mean);
});

test('Condense: the numbers at t and n are those of the command', async ({ explorer, open }) => {
  await open('#/condense?draws=200&n=1e2,1e6&t=0.5,1,2&signal=1.2');
  await completed(explorer);
  await nudge(slider(explorer, '[data-cursor=t]'), 'ArrowRight', 3);
  await nudge(slider(explorer, '[data-cursor=n]'), 'ArrowRight', 2);
  await nudge(slider(explorer, '[data-field=signal]'), 'ArrowRight', 2);
  const { result } = printed(await completed(explorer, '--signal 1.3')) as { result: Frame };
  const page = new URL(explorer.url().replace('#/', '')).searchParams;
  const n = index_of(result, 'n', Number(page.get('_n')));
  const t = index_of(result, 't', Number(page.get('_t')));
  for (const name of ['largest_weight', 'participation', 'entropy']) {
    expect(await shown(explorer, name), name).toBe(result.variables[name]!.mean[n][t]);
  }
  expect(await shown(explorer, 'planted_weight')).toBe(result.variables['planted_weight']!.mean[n][t][0]);
});

test('Query: weights and bias are those of the command, and the sphere turns', async ({
  explorer,
  open,
}) => {
  await open('#/query?d=3&n=500,1e6&theta=0.2,1,5&draws=200&_n=500');
  await completed(explorer);
  await nudge(slider(explorer, '[data-cursor=at]'), 'ArrowRight', 3);
  await nudge(slider(explorer, '[data-field=draws]'), 'ArrowRight');
  const { result } = printed(await completed(explorer, '--draws 300')) as { result: Frame };
  const at = Number(new URL(explorer.url().replace('#/', '')).searchParams.get('_at'));
  const theta = index_of(result, 'theta', at);
  const n = index_of(result, 'n', 500);
  expect(await shown(explorer, 'largest_weight')).toBe(result.variables['weight']!.mean[n][theta][0]);
  expect(await shown(explorer, 'scaled_bias')).toBe(result.variables['scaled_bias']!.mean[n][theta]);

  const sphere = explorer.getByRole('application', { name: /500 keys/ });
  const before = await sphere.getAttribute('data-azimuth');
  await sphere.focus();
  await sphere.press('ArrowLeft');
  await expect(sphere).not.toHaveAttribute('data-azimuth', before!);
});

test('Dew: dew points of several laws are those of the command', async ({ explorer, open }) => {
  await open('#/dew?draws=100&n=1e2:1e6:5:log&law=gaussian:sigma%3D1&law=sphere:d%3D5');
  await completed(explorer);
  await nudge(slider(explorer, '[data-field=draws]'), 'ArrowLeft');
  await explorer.locator('[data-field=law] input').nth(1).fill('sphere:d=3');
  await explorer.locator('[data-field=law] input').nth(1).press('Enter');
  const answer = printed(await completed(explorer, 'sphere:d=3'));
  for (const { law, result } of answer.laws as { law: string; result: Frame }[]) {
    const row = explorer.locator(`[data-law="${law}"]`);
    const n = index_of(result, 'n', 1e6);
    for (const name of ['beta_dew_median', 'beta_pr']) {
      expect(await shown(row, name), `${law} ${name}`).toBe(result.variables[name]!.mean[n]);
    }
  }
});

test('Cycle: a changed repetition trains anew; play, pause and scrub', async ({ explorer, open }) => {
  await open('#/cycle?optimiser=flow&time=20&record-every=1&m=4');
  await completed(explorer);
  await nudge(slider(explorer, '[data-field=lambda]'), 'ArrowLeft', 5);
  const { end } = printed(await completed(explorer, '--lambda 0.75'));
  const now = explorer.locator('[data-record]');
  await expect(now).toHaveAttribute('data-record', '20');
  expect(Number(await now.getAttribute('data-loss'))).toBe(end.loss);

  const player = explorer.getByRole('group', { name: 'Player' });
  await player.getByRole('button', { name: 'Play' }).click();
  await expect(now).not.toHaveAttribute('data-record', /^(0|20)$/);
  await player.getByRole('button', { name: 'Pause' }).click();
  const paused = await now.getAttribute('data-record');
  await expect(explorer).toHaveURL(new RegExp(`_at=${paused}`));
  await player.getByRole('slider').focus();
  await player.getByRole('slider').press('Home');
  await expect(now).toHaveAttribute('data-record', '0');
});

test('Cycle: stages that the command prints are marked', async ({ explorer, open }) => {
  await open('#/cycle?s=9&sequences=5000&steps=500');
  const { stages } = printed(await completed(explorer));
  for (const name of ['condensation', 'focus', 'peak', 'half_dilution']) {
    const mark = explorer.locator(`[data-stage="${name.replace('_', '-')}"]`);
    await expect(mark).toContainText(String(stages[name]));
  }
});

test('Heads: a dump opens, a head is measured at the multiplier of the slider', async ({
  explorer,
  open,
  server,
}) => {
  write_dump(`${server.folder}/small.safetensors`);
  await open('#/heads?rows=32&replicates=40');
  await explorer.locator('[data-field=input] select').selectOption('small.safetensors');
  const { result } = printed(await completed(explorer, 'small.safetensors'), server.folder) as {
    result: Frame;
  };
  const canvas = explorer.locator('#heads-map canvas');
  const box = (await canvas.boundingBox())!;
  await explorer.mouse.click(box.x + 0.35 * box.width, box.y + 0.3 * box.height);
  const head = explorer.locator('[data-head]');
  await expect(head).toHaveAttribute('data-head', '0,0');
  const last = result.dimensions['n']!.length - 1;
  const phase = result.variables['phase']!.mean[0][0][last][0] as number;
  expect(await shown(head, 'phase')).toBe(phase);

  await nudge(slider(explorer, '[data-cursor=m]'), 'ArrowRight', 6);
  await expect.poll(() => shown(head, 'phase')).toBeCloseTo(2 * phase, 12);
  await expect(head.locator('[data-standing]')).toHaveAttribute('data-standing', 'done');
  const shown_command = await completed(explorer, '--beta 2');
  const doubled = printed(shown_command, server.folder);
  const frame = doubled.result as Frame;
  const m = index_of(frame, 'multiplier', 2);
  await expect
    .poll(() => shown(head, 'entropy'))
    .toBe(frame.variables['entropy']!.mean[0][0][last][m]);

  await explorer.locator('[data-field=schedule] select').selectOption('log-n');
  await completed(explorer, 'log-n');
  await expect(explorer.locator('#heads-schedules canvas')).toBeVisible();
});

test('Studies: a run is started, watched, stopped, resumed and opened', async ({ explorer, open }) => {
  await open('#/studies');
  const text = explorer.getByRole('textbox', { name: 'study text' });
  await explorer.getByRole('combobox', { name: 'begin with' }).selectOption('template:phase');
  await expect(text).toHaveValue(/experiment = "phase"/);
  await explorer.getByRole('textbox', { name: 'kept in' }).fill('watched.study');
  await explorer.getByRole('button', { name: 'Start' }).click();
  const row = explorer.locator('[data-study="watched.study"]');
  await expect(row).toHaveAttribute('data-state', /waiting|running|finished/);
  await expect(row).toHaveAttribute('data-state', 'finished');
  await row.getByRole('button', { name: 'watched.study' }).click();
  const study = explorer.locator('[data-open="watched.study"]');
  await expect(study.locator('canvas').first()).toBeVisible();

  // One that lasts for minutes is stopped on its way, and goes on.
  await text.fill(`experiment = "phase"\nseed = 1\nreplicas = 1000\n[parameters]\neta = "none"\n[grid]\nn = [512]\ngamma = { from = 0.25, to = 8.0, count = 32 }\n`);
  await explorer.getByRole('textbox', { name: 'kept in' }).fill('stopped.study');
  await explorer.getByRole('button', { name: 'Start' }).click();
  const long = explorer.locator('[data-study="stopped.study"]');
  await expect(long).toHaveAttribute('data-state', 'running');
  await long.getByRole('button', { name: 'Cancel' }).click();
  await expect(long).toHaveAttribute('data-state', 'stopped');
  await long.getByRole('button', { name: 'Resume' }).click();
  await expect(long).toHaveAttribute('data-state', 'running');
  await long.getByRole('button', { name: 'Cancel' }).click();
  await expect(long).toHaveAttribute('data-state', 'stopped');
});

test('Studies: a run that cannot be planned says why', async ({ explorer, open }) => {
  await open('#/studies');
  const start = async (file: string, lines: string) => {
    await explorer.getByRole('textbox', { name: 'study text' }).fill(`experiment = "phase"\n${lines}`);
    await explorer.getByRole('textbox', { name: 'kept in' }).fill(file);
    await explorer.getByRole('button', { name: 'Start' }).click();
  };
  // Behind one that lasts for minutes, so that its turn comes after the answer.
  await start('long.study', 'replicas = 100000\n[parameters]\neta = "none"\n[grid]\nn = [512]\ngamma = [1, 2, 3]\n');
  const long = explorer.locator('[data-study="long.study"]');
  await expect(long).toHaveAttribute('data-state', 'running');
  await start('wrong.study', '[parameters]\ntokens = "simplex"\nd = 20\n[grid]\nn = [16, 32]\ngamma = [1]\n');
  await expect(explorer.locator('[data-study="wrong.study"]')).toHaveAttribute('data-state', 'waiting');
  await long.getByRole('button', { name: 'Cancel' }).click();
  await expect(explorer.getByRole('alert').filter({ hasText: 'wrong.study failed: ' })).toContainText('d: 20');
});
