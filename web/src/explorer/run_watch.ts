// Follows a run of a study to its end: by EventSource, or by asking where that does not work.
//
// SPDX-License-Identifier: Apache-2.0
import type { Run, RunState } from './contract';
import type { Stop } from './job_watch';
import type { OpenStream, Server } from './server';

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
  let is_polled = false;
  let stream: OpenStream | null = null;

  function stop() {
    is_stopped = true;
    clearTimeout(timer);
    stream?.close();
  }

  function end() {
    if (is_stopped) return;
    stop();
    events.end();
  }

  async function poll() {
    is_polled = true;
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

  function listen(source: EventSource) {
    source.addEventListener('run', (event) => {
      if (!is_stopped) events.run(JSON.parse((event as MessageEvent<string>).data) as Run);
    });
    source.addEventListener('end', end);
    source.addEventListener('error', () => {
      if (is_stopped || is_polled) return;
      stream?.close();
      void poll();
    });
  }

  async function follow() {
    stream = await server.events(`/api/runs/${name}/events`);
    if (is_stopped) stream?.close();
    else if (stream === null) void poll();
    else listen(stream.source);
  }

  void follow();
  return stop;
}
