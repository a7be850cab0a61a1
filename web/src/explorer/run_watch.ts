// Follows a run of a study to its end: by EventSource, or by asking where that does not work.
//
// SPDX-License-Identifier: Apache-2.0
import type { Run, RunState } from './contract';
import type { Stop } from './job_watch';
import type { Server } from './server';

export interface RunEvents {
  run(run: Run): void;
  end(): void; // nothing more comes: the run is over, or the server is gone
}

const kPollEvery = 1000; // milliseconds

export function is_run_over(state: RunState): boolean {
  return state !== 'waiting' && state !== 'running';
}

export function watch_run(server: Server, name: string, events: RunEvents): Stop {
  let is_stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const source = server.events(`/api/runs/${name}/events`);

  function stop() {
    is_stopped = true;
    clearTimeout(timer);
    source.close();
  }

  function end() {
    if (is_stopped) return;
    stop();
    events.end();
  }

  async function poll() {
    try {
      const run = await server.get<Run>(`/api/runs/${name}`);
      if (is_stopped) return;
      events.run(run);
      if (is_run_over(run.state)) end();
      else timer = setTimeout(poll, kPollEvery);
    } catch {
      end();
    }
  }

  source.addEventListener('run', (event) => {
    if (!is_stopped) events.run(JSON.parse((event as MessageEvent<string>).data) as Run);
  });
  source.addEventListener('end', end);
  source.addEventListener('error', () => {
    if (is_stopped || timer !== undefined) return;
    source.close();
    void poll();
  });
  return stop;
}
