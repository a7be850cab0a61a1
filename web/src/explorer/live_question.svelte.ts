// A question that is asked again whenever somebody moves a control. The newest wins: at most one
// request is on its way, what was asked meanwhile replaces what was asked before it, and the server
// cancels the job that a new question outdates. A room or a page that is left ends its job.
//
// SPDX-License-Identifier: Apache-2.0
import { connection } from './connection.svelte';
import { is_over, type JobNews, type JobView, type Problem, type Question } from './contract';
import { watch_job, type Stop } from './job_watch';
import { problem_of, Refusal, type Server } from './server';

export type Standing = 'idle' | 'asking' | 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

const kPatience = 1; // seconds, where the server names none

export class LiveQuestion<Result> {
  /** The newest result, of this question or, while `stale`, of the one before. */
  view = $state.raw<JobView<Result> | null>(null);
  stale = $state(false);
  standing = $state<Standing>('idle');
  progress = $state(0);
  problem = $state.raw<Problem | null>(null);
  /** The answer to the newest question, before there is a result: its command, its defaults. */
  command = $state('');
  job = $state<string | null>(null);

  readonly busy = $derived(
    this.standing === 'asking' || this.standing === 'queued' || this.standing === 'running',
  );

  readonly #server: Server;
  readonly #room: string;
  readonly #client: string;
  #wanted: Question | null = null;
  #asked = '';
  #is_posting = false;
  #is_awaited = true; // false: cancelled or left while the question was on its way
  #stop: Stop = () => {};
  #retry: ReturnType<typeof setTimeout> | undefined;
  #was_left = false; // with its page, while it was busy
  #forget: (() => void)[];

  /** `part` names a panel that asks beside the room's own question. */
  constructor(server: Server, room: string, part = '') {
    this.#server = server;
    this.#room = room;
    this.#client = part === '' ? server.client : `${server.client}-${part}`;
    this.#forget = [
      connection.when_back(() => this.#again()),
      server.when_page({ leaves: () => this.#leave(), returns: () => this.#return() }),
    ];
  }

  /** Asks, unless this is what was asked last. */
  ask(question: Question) {
    const text = JSON.stringify(question);
    if (text === this.#asked) return;
    this.#asked = text;
    this.#wanted = question;
    this.#is_awaited = true;
    this.problem = null;
    this.stale = true;
    this.standing = 'asking';
    if (!this.#is_posting) void this.#post();
  }

  /** Asks once more, for instance after a cancel. */
  again() {
    const question = JSON.parse(this.#asked || 'null') as Question | null;
    this.#asked = '';
    if (question !== null) this.ask(question);
  }

  cancel() {
    const { busy } = this;
    this.end();
    if (busy) this.standing = 'cancelled';
  }

  /** Nothing is shown any more. */
  clear() {
    this.end();
    this.#asked = '';
    this.view = null;
    this.problem = null;
    this.standing = 'idle';
  }

  /** Nobody wants the answer any more: what computes is cancelled. */
  end() {
    // A job whose name is on its way is dropped when it is known.
    const job = this.#is_awaited && this.busy && !this.#is_posting ? this.job : null;
    if (job !== null) void this.#drop(job);
    this.#wanted = null;
    this.#is_awaited = false;
    this.#stop();
    clearTimeout(this.#retry);
  }

  /** Never used again. */
  destroy() {
    this.end();
    for (const forget of this.#forget) forget();
  }

  // One request at a time: a slider that is dragged asks as fast as the server answers.
  async #post() {
    this.#is_posting = true;
    clearTimeout(this.#retry);
    while (this.#wanted !== null) {
      const question = this.#wanted;
      this.#wanted = null;
      try {
        const body = { client: this.#client, question };
        const view = await this.#server.post<JobView<Result>>(`/api/${this.#room}`, body);
        connection.found();
        // Also where a newer question waits: what was answered in time is worth a look.
        if (this.#is_awaited) this.#begin(view);
        else await this.#drop(view.job);
      } catch (error) {
        if (this.#wanted === null && this.#is_awaited) this.#refused(question, error);
      }
    }
    this.#is_posting = false;
  }

  async #drop(job: string) {
    try {
      await this.#server.drop(job);
    } catch (error) {
      this.problem = problem_of(error);
    }
  }

  #post_later(question: Question) {
    this.#wanted ??= question;
    if (!this.#is_posting) void this.#post();
  }

  #begin(view: JobView<Result>) {
    this.#stop();
    this.job = view.job;
    this.command = view.command;
    this.progress = view.progress;
    if (view.result !== null) this.#show(view);
    if (this.#wanted !== null) return;
    this.#settle(view);
    if (is_over(view.state)) return;
    this.#stop = watch_job(this.#server, view.job, view.sequence, {
      result: (next) => {
        this.#show(next as JobView<Result>);
        this.#settle(next);
      },
      news: (news) => this.#settle(news),
      lost: (error) => this.#lost(error),
    });
  }

  #show(view: JobView<Result>) {
    this.view = view;
    this.stale = false;
  }

  #settle(news: JobNews) {
    this.standing = news.state;
    this.progress = news.progress ?? this.progress;
    if (news.state !== 'failed' && news.state !== 'cancelled') return;
    if (news.state === 'cancelled' || !news.error) return;
    const command = this.command || null;
    this.problem = { message: news.error, field: news.field ?? null, command, status: 200 };
  }

  #refused(question: Question, error: unknown) {
    const problem = problem_of(error);
    if (problem.status === 503 && error instanceof Refusal) {
      const seconds = Number.isFinite(error.retry_after) ? error.retry_after : kPatience;
      this.#retry = setTimeout(() => this.#post_later(question), 1000 * seconds);
      this.standing = 'queued';
      return;
    }
    if (problem.status === 0) connection.lose();
    else this.problem = problem;
    this.#stop(); // what the question before still finds is no answer to this one
    this.command = problem.command ?? '';
    this.standing = 'failed';
  }

  // The job was forgotten, or the server is gone. A server that is there is asked anew.
  #lost(error: unknown) {
    const problem = problem_of(error);
    if (problem.status === 0) {
      connection.lose();
      this.standing = 'failed';
    } else this.again();
  }

  #again() {
    if (this.standing === 'failed' && this.problem === null) this.again();
  }

  #leave() {
    this.#was_left ||= this.busy;
    this.end();
  }

  #return() {
    if (this.#was_left) this.again();
    this.#was_left = false;
  }
}
