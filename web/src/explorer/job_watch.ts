// Follows a job to its end: by EventSource, or by asking again and again where that does not work.
//
// SPDX-License-Identifier: Apache-2.0
import { is_over, type JobNews, type JobView } from './contract';
import { problem_of, Refusal, type Server } from './server';

export interface JobEvents {
  result(view: JobView): void; // with a newer level
  news(news: JobNews): void; // progress, or the end
  lost(error: unknown): void; // the job cannot be followed any more
}

const kPollEvery = 700; // milliseconds; the server waits for five seconds

/** Stops following; the job itself goes on until nobody has looked at it for a while. */
export type Stop = () => void;

/** Follows a job of which the level `after` is known. */
export function watch_job(server: Server, job: string, after: number, events: JobEvents): Stop {
  let known = after;
  let is_stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const path = `/api/jobs/${job}`;
  const source = server.events(`${path}/events?after=${after}`);

  function stop() {
    is_stopped = true;
    clearTimeout(timer);
    source.close();
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

  async function poll() {
    try {
      const view = await server.get<JobView>(`${path}?after=${known}`);
      if (is_stopped) return;
      take(view);
      if (is_over(view.state)) return end(view);
      events.news({ job: view.job, state: view.state, progress: view.progress });
      timer = setTimeout(poll, kPollEvery);
    } catch (error) {
      if (is_stopped) return;
      if (error instanceof Refusal && problem_of(error).status === 503) {
        timer = setTimeout(poll, kPollEvery);
        return;
      }
      stop();
      events.lost(error);
    }
  }

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
    if (is_stopped || timer !== undefined) return;
    source.close();
    void poll();
  });
  return stop;
}
