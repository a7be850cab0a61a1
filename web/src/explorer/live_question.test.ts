// The life of a question, with a browser that does as the test says.
//
// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it, vi } from 'vitest';

import { connection } from './connection.svelte';
import { FakeBrowser, FakeLocks, view } from './fake_server';
import { LiveQuestion } from './live_question.svelte';

function begin() {
  const browser = new FakeBrowser();
  const live = new LiveQuestion<{ value: number }>(browser.server, 'phase');
  return { browser, live };
}

afterEach(() => {
  vi.useRealTimers();
  connection.found();
});

describe('a question', () => {
  it('is answered by a first level, then by the stream, to its end', async () => {
    const { browser, live } = begin();
    live.ask({ n: 64 });
    expect(live.standing).toBe('asking');
    expect(browser.last.address).toBe('/api/phase');
    expect(browser.last.body?.question).toEqual({ n: 64 });
    expect(browser.last.body?.client).toMatch(/^[A-Za-z0-9_-]{4,64}$/);
    await browser.last.answer(view({}));
    expect(live.view?.result?.value).toBe(1);
    expect(browser.stream.address).toBe('/api/jobs/1-a/events?after=1');
    browser.stream.say('progress', { job: '1-a', state: 'running', sequence: 1, progress: 0.5 });
    expect([live.standing, live.progress]).toEqual(['running', 0.5]);
    browser.stream.say('result', view({ sequence: 3, level: 3, result: { value: 3 } }));
    expect(live.view?.result?.value).toBe(3);
    browser.stream.say('end', { job: '1-a', state: 'done', sequence: 3, progress: 1 });
    expect([live.standing, live.progress, live.busy]).toEqual(['done', 1, false]);
    expect(browser.stream.closed).toBe(true);
  });

  it('opens no stream where memory answers', async () => {
    const { browser, live } = begin();
    live.ask({});
    await browser.last.answer(view({ state: 'done', cached: true, progress: 1 }));
    expect(browser.streams).toHaveLength(0);
    expect(live.standing).toBe('done');
  });

  it('never shows an older level after a newer one', async () => {
    const { browser, live } = begin();
    live.ask({});
    await browser.last.answer(view({ sequence: 2, result: { value: 2 } }));
    browser.stream.say('result', view({ sequence: 1, result: { value: 1 } }));
    expect(live.view?.result?.value).toBe(2);
  });

  it('replaces the one before: one request at a time, the newest next', async () => {
    const { browser, live } = begin();
    live.ask({ n: 1 });
    live.ask({ n: 2 });
    live.ask({ n: 3 });
    expect(browser.requests).toHaveLength(1);
    await browser.last.answer(view({ job: '1-a' }));
    expect(browser.streams).toHaveLength(0); // nobody watches what is outdated
    expect(browser.requests).toHaveLength(2);
    expect(browser.last.body?.question).toEqual({ n: 3 });
    await browser.last.answer(view({ job: '2-b', result: { value: 30 } }));
    expect(live.view?.job).toBe('2-b');
    live.ask({ n: 3 }); // the same
    expect(browser.requests).toHaveLength(2);
  });

  it('keeps the old result, marked, until the new one is there', async () => {
    const { browser, live } = begin();
    live.ask({ n: 1 });
    await browser.last.answer(view({ state: 'done' }));
    live.ask({ n: 2 });
    expect([live.stale, live.view?.result?.value]).toEqual([true, 1]);
    await browser.last.answer(view({ job: '2-b', sequence: 0, result: null }), 202);
    expect(live.stale).toBe(true);
    browser.stream.say('result', view({ job: '2-b', sequence: 1, result: { value: 2 } }));
    expect([live.stale, live.view?.result?.value]).toEqual([false, 2]);
  });

  it('that is refused says why, next to its field', async () => {
    const { browser, live } = begin();
    live.ask({ gamma: '-1' });
    await browser.last.answer({ error: 'gamma: -1 is not in [0, 100]', field: 'gamma' }, 400);
    expect(live.problem).toMatchObject({ field: 'gamma', message: 'gamma: -1 is not in [0, 100]' });
    live.ask({ gamma: '1' });
    expect(live.problem).toBeNull();
  });

  it('that is refused shows its own command, or none', async () => {
    const { browser, live } = begin();
    live.ask({ n: 64 });
    await browser.last.answer(view({ state: 'done', command: 'dewpoint phase map --n 64' }));
    live.ask({ n: -1 });
    await browser.last.answer({ error: 'n: -1 is not in [8, 2048]', field: 'n' }, 400);
    expect(live.command).toBe('');
    live.ask({ n: 99999 });
    const command = 'dewpoint phase map --n 99999';
    await browser.last.answer({ error: 'n: 99999 is more than 2048', field: 'n', command }, 400);
    expect(live.command).toBe(command);
  });

  it('that is refused is not answered by the one before it', async () => {
    const { browser, live } = begin();
    live.ask({ n: 64 });
    await browser.last.answer(view({}));
    const before = browser.stream;
    live.ask({ n: -1 });
    await browser.last.answer({ error: 'n: -1 is not in [8, 2048]', field: 'n' }, 400);
    expect(before.closed).toBe(true);
    before.say('result', view({ sequence: 2, state: 'done', result: { value: 2 } }));
    expect([live.standing, live.stale, live.view?.result?.value]).toEqual(['failed', true, 1]);
  });

  it('that fails on its way says why', async () => {
    const { browser, live } = begin();
    live.ask({});
    await browser.last.answer(view({}));
    browser.stream.say('end', { job: '1-a', state: 'failed', error: 'too long', field: null });
    expect(live.problem).toMatchObject({ message: 'too long', command: 'dewpoint phase map' });
  });

  it('that is cancelled or left on its way is dropped as soon as its job has a name', async () => {
    for (const leave of ['cancel', 'destroy'] as const) {
      const { browser, live } = begin();
      live.ask({ n: 1 });
      void live[leave]();
      await browser.last.answer(view({ job: '7-c' }));
      expect(browser.streams).toHaveLength(0);
      expect([browser.last.method, browser.last.address]).toEqual(['DELETE', '/api/jobs/7-c']);
      expect(live.view).toBeNull();
      if (leave === 'cancel') expect(live.standing).toBe('cancelled');
    }
  });

  it('that waits for its turn is not sent again after a cancel', async () => {
    const { browser, live } = begin();
    live.ask({ n: 1 });
    await browser.last.answer({ error: 'full', field: null }, 503, { 'Retry-After': '0.001' });
    expect(live.standing).toBe('queued');
    void live.cancel();
    await new Promise((done) => setTimeout(done, 20));
    expect(browser.requests).toHaveLength(1);
    expect(live.standing).toBe('cancelled');
  });

  it('is cancelled, and can be asked again', async () => {
    const { browser, live } = begin();
    live.ask({ n: 1 });
    await browser.last.answer(view({}));
    void live.cancel();
    expect([browser.last.method, browser.last.address]).toEqual(['DELETE', '/api/jobs/1-a']);
    expect([browser.stream.closed, live.standing]).toEqual([true, 'cancelled']);
    live.again();
    expect(browser.last.body?.question).toEqual({ n: 1 });
  });

  it('whose room is left ends its job at once, once, and where there is one', async () => {
    for (const leave of ['destroy', 'clear'] as const) {
      const { browser, live } = begin();
      live.ask({ n: 1 });
      await browser.last.answer(view({}));
      live[leave]();
      expect([browser.last.method, browser.last.address]).toEqual(['DELETE', '/api/jobs/1-a']);
      expect(browser.stream.closed).toBe(true);
      live.destroy();
      expect(browser.requests).toHaveLength(2);
    }
    const { browser, live } = begin();
    live.ask({ n: 1 });
    await browser.last.answer(view({ state: 'done' }));
    live.destroy();
    expect(browser.requests).toHaveLength(1);
  });

  it('whose page is closed ends its job, and is asked again where the page is shown again', async () => {
    const { browser, live } = begin();
    live.ask({ n: 1 });
    await browser.last.answer(view({}));
    browser.server.leave();
    expect([browser.last.method, browser.last.address]).toEqual(['DELETE', '/api/jobs/1-a']);
    expect(browser.last.keepalive).toBe(true); // or the browser would take it back
    browser.server.come_back();
    expect(browser.last.body?.question).toEqual({ n: 1 });
    await browser.last.answer(view({ job: '2-b', state: 'done' }));
    browser.server.leave();
    browser.server.come_back();
    expect(browser.requests).toHaveLength(3);
  });

  it('of a part of a room is that of another client', async () => {
    const browser = new FakeBrowser();
    new LiveQuestion(browser.server, 'phase-cell', 'cell').ask({});
    expect(browser.last.body?.client).toBe(`${browser.server.client}-cell`);
  });
});

describe('when streams do not work', () => {
  it('those of all tabs together leave connections for questions', async () => {
    const locks = new FakeLocks();
    const tabs = [1, 2, 3, 4].map(() => new FakeBrowser(locks.locks));
    const questions = tabs.map(({ server }) => new LiveQuestion(server, 'phase'));
    for (const [k, live] of questions.entries()) {
      live.ask({});
      await tabs[k]!.last.answer(view({}));
    }
    expect(tabs.map(({ streams }) => streams.length)).toEqual([1, 1, 1, 0]);
    expect(tabs[3]!.last.address).toBe('/api/jobs/1-a?after=1'); // by asking
    questions[0]!.destroy();
    await tabs[0]!.last.answer({});
    questions[3]!.ask({ n: 2 });
    await tabs[3]!.last.answer(view({ job: '2-b' }));
    expect(tabs[3]!.streams).toHaveLength(1);
  });

  it('the job is asked for again and again', async () => {
    const { browser, live } = begin();
    live.ask({});
    await browser.last.answer(view({}));
    vi.useFakeTimers();
    browser.stream.break_off();
    expect([browser.stream.closed, browser.last.address]).toEqual([true, '/api/jobs/1-a?after=1']);
    void browser.last.answer(view({ sequence: 2, result: { value: 2 } }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(live.view?.result?.value).toBe(2);
    expect(browser.last.address).toBe('/api/jobs/1-a?after=2');
    void browser.last.answer(view({ state: 'done', sequence: 2, result: null, progress: 1 }));
    await vi.advanceTimersByTimeAsync(1000);
    expect([live.standing, live.view?.result?.value]).toEqual(['done', 2]);
  });

  it('a job that the server forgot is asked anew', async () => {
    const { browser, live } = begin();
    live.ask({ n: 5 });
    await browser.last.answer(view({}));
    browser.stream.break_off();
    await browser.last.answer({ error: 'no such job', field: null }, 404);
    expect([browser.last.method, browser.last.address]).toEqual(['POST', '/api/phase']);
    expect(browser.last.body?.question).toEqual({ n: 5 });
  });
});

describe('a server that', () => {
  it('has no room asks for patience and gets it', async () => {
    const { browser, live } = begin();
    vi.useFakeTimers();
    live.ask({ n: 7 });
    void browser.last.answer({ error: 'too many jobs wait', field: null }, 503, { 'Retry-After': '2' });
    await vi.advanceTimersByTimeAsync(1900);
    expect([browser.requests.length, live.standing]).toEqual([1, 'queued']);
    await vi.advanceTimersByTimeAsync(200);
    expect(browser.last.body?.question).toEqual({ n: 7 });
    expect(browser.requests).toHaveLength(2);
  });

  it('is gone is said once, and asked again when it is back', async () => {
    const { browser, live } = begin();
    connection.probe_with(() => browser.server.get('/api/about'));
    live.ask({ n: 9 });
    await browser.last.fail();
    expect([connection.lost, live.standing, live.problem]).toEqual([true, 'failed', null]);
    const back = connection.retry();
    await browser.last.answer({ version: '1' });
    await back;
    expect(connection.lost).toBe(false);
    expect(browser.last.body?.question).toEqual({ n: 9 });
  });
});
