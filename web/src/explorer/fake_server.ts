// A browser for tests: requests wait until the test answers them, streams say what the test says.
//
// SPDX-License-Identifier: Apache-2.0
import type { JobView } from './contract';
import { Server } from './server';
import type { Locks } from './streams';

export interface Request {
  address: string;
  method: string;
  body: { client: string; question: Record<string, unknown> } | null;
  headers: Headers;
  keepalive: boolean;
  answer(body: object, status?: number, headers?: Record<string, string>): Promise<void>;
  fail(): Promise<void>; // the network is gone
}

export class FakeStream extends EventTarget {
  closed = false;

  constructor(readonly address: string) {
    super();
  }

  say(type: string, data: object) {
    this.dispatchEvent(Object.assign(new Event(type), { data: JSON.stringify(data) }));
  }

  break_off() {
    this.dispatchEvent(new Event('error'));
  }

  close() {
    this.closed = true;
  }
}

/** Locks of all pages of a browser; a name is held until the promise that it was asked with ends. */
export class FakeLocks {
  held = new Set<string>();

  request = async (name: string, _options: unknown, hold: (lock: unknown) => unknown) => {
    if (this.held.has(name)) return hold(null);
    this.held.add(name);
    await hold({ name });
    this.held.delete(name);
  };

  get locks(): Locks {
    return this as unknown as Locks;
  }
}

// Everything that waits for an answer has gone on by the time a timer fires.
function settled(): Promise<void> {
  return new Promise((done) => setTimeout(done, 0));
}

export class FakeBrowser {
  requests: Request[] = [];
  streams: FakeStream[] = [];
  readonly server: Server;

  constructor(locks: Locks | null = null) {
    this.server = new Server({
      fetch: (address, options) => this.#fetch(address, options ?? {}),
      event_source: (address) => this.#stream(address) as unknown as EventSource,
      storage: null,
      locks,
    });
  }

  get last(): Request {
    return this.requests.at(-1)!;
  }

  get stream(): FakeStream {
    return this.streams.at(-1)!;
  }

  #fetch(address: string, options: RequestInit): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.requests.push({
        address,
        method: options.method ?? 'GET',
        body: options.body ? (JSON.parse(String(options.body)) as Request['body']) : null,
        headers: new Headers(options.headers),
        keepalive: options.keepalive ?? false,
        answer: (body, status = 200, headers = {}) => {
          resolve(new Response(JSON.stringify(body), { status, headers }));
          return settled();
        },
        fail: () => {
          reject(new TypeError('Failed to fetch'));
          return settled();
        },
      });
    });
  }

  #stream(address: string): FakeStream {
    const stream = new FakeStream(address);
    this.streams.push(stream);
    return stream;
  }
}

export function view(rest: Partial<JobView>): JobView {
  return {
    job: '1-a',
    room: 'phase',
    state: 'running',
    cached: false,
    question: {},
    command: 'dewpoint phase map',
    sequence: 1,
    level: 1,
    levels: 3,
    progress: 0.1,
    error: null,
    field: null,
    arrays: [],
    result: { value: 1 },
    ...rest,
  };
}
