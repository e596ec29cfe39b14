import { signal } from '@preact/signals';
import { announce } from '../../app/announcer.tsx';
import { messageOf } from '../../parts/message-of.ts';
import { nextTask } from '../../sources/next-task.ts';
import type { Driver } from './contender.ts';
import { CONTENDERS } from './contenders/all.ts';
import { makePeople } from './person.ts';
import { WORKLOADS } from './workloads.ts';

export const ROUNDS = 3;
export const SIZES = ['1000', '10000', '50000'] as const;

/** What was measured: figures of each round by workload and contender. */
export type Figures = ReadonlyMap<string, readonly number[]>;

/** What runs the contenders, by their name, once it is loaded. */
export const drivers = signal<ReadonlyMap<string, Driver>>(new Map());
export const size = signal<(typeof SIZES)[number]>('10000');
export const figures = signal<Figures>(new Map());
/** The size that the figures are of. */
export const measuredSize = signal(0);
/** What is being measured, in words; nothing while nothing is. */
export const racing = signal('');
export const raceProblem = signal('');

let stop = new AbortController();

export const keyOf = (workload: string, contender: string): string => `${workload}/${contender}`;

export const cancelRace = (): void => stop.abort();

/** The contenders' code is only loaded when somebody wants to see them. */
export async function loadDrivers(): Promise<void> {
  try {
    const loaded = CONTENDERS.map(async ({ name, load }) => [name, await load()] as const);
    drivers.value = new Map(await Promise.all(loaded));
  } catch (error) {
    raceProblem.value = messageOf(error);
  }
}

/** Gives everybody the same work, in turns, round by round. */
export async function race(): Promise<void> {
  if (racing.peek()) return;
  stop = new AbortController();
  const { signal } = stop;
  const count = Number(size.peek());
  figures.value = new Map();
  measuredSize.value = count;
  raceProblem.value = '';
  try {
    for (let round = 0; round < ROUNDS; round++) {
      // Each round begins with another, so that nobody always comes first.
      const list = [...drivers.peek()];
      const order = [...list.slice(round), ...list.slice(0, round)];
      for (const [name, driver] of order) {
        if (signal.aborted) return;
        await runAll(name, driver, count, round, signal);
      }
    }
    announce('All are measured.');
  } catch (error) {
    raceProblem.value = messageOf(error);
  } finally {
    racing.value = '';
  }
}

async function runAll(
  contender: string,
  driver: Driver,
  count: number,
  round: number,
  signal: AbortSignal,
): Promise<void> {
  const database = `race-${crypto.randomUUID()}`;
  const people = makePeople(count);
  const given = { driver, database, people, store: await driver.open(database) };
  try {
    for (const { name, title, run } of WORKLOADS) {
      if (signal.aborted) return;
      racing.value = `Round ${round + 1} of ${ROUNDS}, ${contender}: ${title}`;
      await nextTask();
      await painted();
      const figure = await run(given);
      const key = keyOf(name, contender);
      figures.value = new Map([
        ...figures.peek(),
        [key, [...(figures.peek().get(key) ?? []), figure]],
      ]);
    }
  } finally {
    await given.store.close();
    await remove(driver.stored(database));
  }
}

/** What was told is on the screen, so that painting is not measured with what follows. */
const painted = (): Promise<void> =>
  document.hidden
    ? Promise.resolve()
    : new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

function remove(stored: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(stored);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
    request.onblocked = () => resolve(); // it goes when its last connection does
  });
}
