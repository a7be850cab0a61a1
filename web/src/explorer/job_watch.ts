// Follows a job to its end: by EventSource, or by asking again and again where that does not work.
//
// SPDX-License-Identifier: Apache-2.0
import { is_over, type JobNews, type JobView } from './contract';
import { problem_of, Refusal, type OpenStream, type Server } from './server';

export interface JobEvents {
  result(view: JobView): void; // with a newer level
  news(news: JobNews): void; // progress, or the end
  lost(error: unknown): void; // the job cannot be followed any more
}

const kPollAfter = 100; // milliseconds, at first
const kPollEvery = 700; // later; the server waits for five seconds

/** Stops following; the job itself goes on until it is dropped, or nobody looks at it for a while. */
export type Stop = () => void;

/** Follows a job of which the level `after` is known. */
export function watch_job(server: Server, job: string, after: number, events: JobEvents): Stop {
  let known = after;
  let is_stopped = false;
  let is_polled = false;
  let pause = kPollAfter;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stream: OpenStream | null = null;
  const path = `/api/jobs/${job}`;

  function stop() {
    is_stopped = true;
    clearTimeout(timer);
    stream?.close();
  }

  function take(view: JobView) {
    if (view.result === null || view.sequence <= known) return;
    known = view.sequence;
    events.result(view);
  }

  function end(news: JobNews) {
    stop();
    events.news(news);
  }

  function poll_later() {
    timer = setTimeout(poll, pause);
    pause = Math.min(1.5 * pause, kPollEvery);
  }

  async function poll() {
    is_polled = true;
    try {
      const view = await server.get<JobView>(`${path}?after=${known}`);
      if (is_stopped) return;
      take(view);
      if (is_over(view.state)) return end(view);
      events.news({ job: view.job, state: view.state, progress: view.progress });
      poll_later();
    } catch (error) {
      if (is_stopped) return;
      if (error instanceof Refusal && problem_of(error).status === 503) {
        poll_later();
        return;
      }
      stop();
      events.lost(error);
    }
  }

  function listen(source: EventSource) {
    source.addEventListener('result', (event) => {
      const view = JSON.parse((event as MessageEvent<string>).data) as JobView;
      if (!is_stopped) take(view);
    });
    source.addEventListener('progress', (event) => {
      const news = JSON.parse((event as MessageEvent<string>).data) as JobNews;
      if (!is_stopped) events.news(news);
    });
    source.addEventListener('end', (event) => {
      if (!is_stopped) end(JSON.parse((event as MessageEvent<string>).data) as JobNews);
    });
    // Too many streams, or a connection that broke: what comes next is asked for.
    source.addEventListener('error', () => {
      if (is_stopped || is_polled) return;
      stream?.close();
      void poll();
    });
  }

  async function follow() {
    stream = await server.events(`${path}/events?after=${after}`);
    if (is_stopped) stream?.close();
    else if (stream === null) void poll();
    else listen(stream.source);
  }

  void follow();
  return stop;
}
