// Requests to the server, and what they throw.
//
// SPDX-License-Identifier: Apache-2.0
import type { ArrayEntry, Problem } from './contract';
import { take_seat, type Locks } from './streams';

/** A request that did not succeed. */
export class Refusal extends Error {
  constructor(
    readonly problem: Problem,
    readonly retry_after = NaN, // seconds
  ) {
    super(problem.message);
  }
}

/** What the page needs of a browser; tests bring their own. */
export interface Browser {
  fetch(address: string, options?: RequestInit): Promise<Response>;
  event_source(address: string): EventSource;
  storage: Pick<Storage, 'getItem' | 'setItem'> | null;
  locks: Locks | null;
}

/** What a page does when it is closed, and when the browser shows a closed one again. */
export interface PageEvents {
  leaves(): void;
  returns(): void;
}

export interface OpenStream {
  source: EventSource;
  close(): void;
}

const kNoAnswer = 'the server does not answer';
const kClientKey = 'dewpoint-client';

function random_name(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `tab-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

// A tab that was duplicated has a copy of the store. Two tabs of one name would cancel each
// other's jobs, so a name that was kept is used only by the page that is loaded again.
function client_name(storage: Browser['storage'], is_reload: boolean): string {
  try {
    const kept = is_reload ? storage?.getItem(kClientKey) : null;
    const name = kept ?? random_name();
    storage?.setItem(kClientKey, name);
    return name;
  } catch {
    return random_name();
  }
}

function is_reloaded(): boolean {
  const [entry] = globalThis.performance?.getEntriesByType?.('navigation') ?? [];
  return (entry as PerformanceNavigationTiming | undefined)?.type === 'reload';
}

async function refusal_of(response: Response): Promise<Refusal> {
  const body = (await response.json().catch(() => ({}))) as Partial<Record<string, unknown>>;
  const text = (name: string) => (typeof body[name] === 'string' ? (body[name] as string) : null);
  const problem = {
    message: text('error') ?? `the server answers ${response.status}`,
    field: text('field'),
    command: text('command'),
    status: response.status,
  };
  return new Refusal(problem, Number(response.headers.get('Retry-After') ?? NaN));
}

export class Server {
  readonly client: string;
  readonly #browser: Browser;
  readonly #listeners = new Set<PageEvents>();

  constructor(browser: Browser) {
    this.#browser = browser;
    this.client = client_name(browser.storage, is_reloaded());
  }

  get<T>(path: string): Promise<T> {
    return this.#request<T>(path, { method: 'GET' });
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.#request<T>(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** Ends a job, even where the page is closed before the answer comes. */
  drop(job: string): Promise<unknown> {
    return this.#request(`/api/jobs/${job}`, { method: 'DELETE', keepalive: true });
  }

  async numbers(entry: ArrayEntry): Promise<Float64Array> {
    const response = await this.#respond(entry.url, { method: 'GET' });
    const bytes = new DataView(await response.arrayBuffer());
    const count = Math.floor(bytes.byteLength / 8);
    return Float64Array.from({ length: count }, (_, k) => bytes.getFloat64(8 * k, true));
  }

  /** Null where the streams of all tabs are as many as may be: then ask again and again. */
  async events(path: string): Promise<OpenStream | null> {
    const give_back = await take_seat(this.#browser.locks);
    if (give_back === null) return null;
    const source = this.#browser.event_source(path);
    const close = () => {
      source.close();
      give_back();
    };
    return { source, close };
  }

  when_page(events: PageEvents): () => void {
    this.#listeners.add(events);
    return () => this.#listeners.delete(events);
  }

  leave() {
    for (const listener of this.#listeners) listener.leaves();
  }

  come_back() {
    for (const listener of this.#listeners) listener.returns();
  }

  async #request<T>(path: string, options: RequestInit): Promise<T> {
    return (await (await this.#respond(path, options)).json()) as T;
  }

  async #respond(path: string, options: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await this.#browser.fetch(path, options);
    } catch {
      throw new Refusal({ message: kNoAnswer, field: null, command: null, status: 0 });
    }
    if (!response.ok) throw await refusal_of(response);
    return response;
  }
}

export function problem_of(error: unknown): Problem {
  if (error instanceof Refusal) return error.problem;
  const message = error instanceof Error ? error.message : String(error);
  return { message, field: null, command: null, status: -1 };
}
