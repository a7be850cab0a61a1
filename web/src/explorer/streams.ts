// Streams of events, as many as leave the browser connections for questions.
//
// A browser opens six connections to a server, for all its tabs together. Every stream takes one for
// as long as a job computes: two tabs with an open cell had them all, and no question of a third tab
// got through. So the streams of all tabs have a few seats; who finds none asks again and again.
//
// SPDX-License-Identifier: Apache-2.0

const kSeats = 3;

/** Names that one page of the origin holds at a time. Browsers have them where they trust the server. */
export type Locks = Pick<LockManager, 'request'>;

type GiveBack = () => void;

function take(locks: Locks, name: string): Promise<GiveBack | null> {
  return new Promise((found, failed) => {
    const hold = (lock: Lock | null) =>
      lock === null ? found(null) : new Promise<void>((give_back) => found(give_back));
    locks.request(name, { ifAvailable: true }, hold).catch(failed);
  });
}

/** A seat, or null where all are taken. Without locks nobody counts. */
export async function take_seat(locks: Locks | null): Promise<GiveBack | null> {
  if (locks === null) return () => {};
  for (let k = 0; k < kSeats; ++k) {
    const give_back = await take(locks, `dewpoint-stream-${k}`).catch(() => () => {});
    if (give_back !== null) return give_back;
  }
  return null;
}
