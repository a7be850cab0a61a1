// What the server and the page say to each other: docs/design/0012-explorer.md.
//
// SPDX-License-Identifier: Apache-2.0

/** What a field of a question may hold. A text where a number belongs is refused by the server. */
export type Value = number | string | string[] | boolean | null;

export type Question = Record<string, Value>;

export type FieldKind = 'number' | 'whole' | 'list' | 'word' | 'words' | 'flag' | 'file';

export interface Field {
  name: string;
  kind: FieldKind;
  default: Value;
  meaning: string;
  option: string | null;
  least?: number;
  most?: number;
  count?: number;
  words?: string[];
}

export interface RoomTable {
  room: string;
  verb: string;
  title: string;
  fields: Field[];
}

export interface About {
  version: string;
  threads: number;
  directory: string;
  experiments: string[];
}

export type JobState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

export interface ArrayEntry {
  name: string;
  type: 'float64';
  shape: number[];
  url: string;
}

/** The view of a job. */
export interface JobView<Result = unknown> {
  job: string;
  room: string;
  state: JobState;
  cached: boolean;
  question: Question;
  command: string;
  sequence: number; // 0: no result yet
  level: number;
  levels: number;
  progress: number;
  error: string | null;
  field: string | null;
  arrays: ArrayEntry[];
  result: Result | null;
}

/** What `progress` and `end` events say of it. */
export type JobNews = Pick<JobView, 'job' | 'state'> & Partial<JobView>;

/** The server's, or our own, explanation of what is wrong. */
export interface Problem {
  message: string;
  field: string | null;
  command: string | null; // answers what the page cannot
  status: number; // of HTTP; 0: the server does not answer
}

export function is_over(state: JobState): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

// ---------------------------------------------------------------------------------------- studies

export type StudyState = 'running' | 'finished' | 'stopped' | 'failed' | 'killed' | 'planned';

export interface StudyRow {
  file: string;
  experiment: string;
  title: string;
  state: StudyState;
  sweep: boolean;
  planned: number;
  measured: number;
  work_seconds: number;
  seed: number | string;
  version: string;
  created: string;
  last: string;
  command: string;
  run: string | null;
}

export interface StudyList {
  studies: StudyRow[];
  texts: string[];
  dumps: string[];
  refused: { file: string; error: string }[];
}

export interface StudySummary extends StudyRow {
  text: string;
  sessions: {
    started: string;
    stopped: string | null;
    outcome: string;
    version: string;
    processor: string;
    ranks: number;
    threads: number;
  }[];
  parameters: Record<string, string>;
  frames: { name: string; dimensions: Record<string, number>; variables: string[] }[];
}

export type RunState = 'waiting' | 'running' | 'finished' | 'stopped' | 'failed';

export interface Run {
  run: string;
  file: string;
  experiment: string;
  state: RunState;
  finished: number;
  planned: number;
  progress: number;
  work_seconds: number;
  error: string | null;
  command: string;
}
