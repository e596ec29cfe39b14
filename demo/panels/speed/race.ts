import { figures as published } from 'virtual:published-figures';
import { signal } from '@preact/signals';
import { perform } from '../../../bench/page/perform.mjs';
import type { Given } from '../../../bench/page/session.mjs';
import { announce } from '../../app/announcer.tsx';
import { messageOf } from '../../parts/message-of.ts';
import { nextTask } from '../../sources/next-task.ts';
import { SHOWN_WORKLOADS } from './figures.ts';
import { CONTENDERS, type Contender } from './peers.ts';

export const SIZES = ['1000', '10000', '50000'] as const;
const SEED = 1;
/** Milliseconds after which a loop stops early. */
const PATIENCE_MS = 2000;

export const keyOf = (workload: string, metric: string, contender: string): string =>
  [workload, metric, contender].join('/');

/** Measured values, one for each round, by `keyOf`. */
export type Figures = ReadonlyMap<string, readonly number[]>;

export const size = signal<(typeof SIZES)[number]>('10000');
/** Number of rounds; the charts show medians. */
export const rounds = signal<'1' | '3'>('3');
/** At first those that the documentation publishes. */
export const figures = signal<Figures>(
  new Map(
    CONTENDERS.flatMap(({ peer, name }) =>
      published
        .filter(([, , contender]) => contender === peer.name)
        .map(([workload, metric, , values]) => [keyOf(workload, metric, name), values] as const),
    ),
  ),
);
/** The number of measured documents; `undefined`: the figures are the published ones. */
export const measuredSize = signal<number | undefined>(undefined);
/** The running workload as text, empty when idle. */
export const racing = signal('');
export const raceProblem = signal('');

let stop = new AbortController();

export const cancelRace = (): void => stop.abort();

/** Runs the same workloads for each database, round by round. */
export async function race(): Promise<void> {
  if (racing.peek()) return;
  stop = new AbortController();
  const { signal } = stop;
  const count = Number(size.peek());
  const times = Number(rounds.peek());
  figures.value = new Map();
  measuredSize.value = count;
  raceProblem.value = '';
  try {
    for (let round = 0; round < times; round++) {
      // Each round starts with another database.
      const order = [...CONTENDERS.slice(round), ...CONTENDERS.slice(0, round)];
      for (const contender of order) {
        await runAll(contender, count, `Round ${round + 1} of ${times}`, round, signal);
      }
    }
    announce(signal.aborted ? 'Stopped.' : 'Benchmark finished.');
  } catch (error) {
    raceProblem.value = messageOf(error);
  } finally {
    racing.value = '';
  }
}

async function runAll(
  { peer, name }: Contender,
  count: number,
  title: string,
  round: number,
  signal: AbortSignal,
): Promise<void> {
  const database = `race-${crypto.randomUUID()}`;
  let given: Given = {
    peer,
    libraries: { cairn: () => import('cairndb') },
    database,
    size: count,
    seed: SEED,
    round,
    patience: PATIENCE_MS,
    hasty: false,
    changes: [],
  };
  try {
    for (const workload of SHOWN_WORKLOADS) {
      if (signal.aborted) return;
      racing.value = `${title}, ${name}: ${workload.title}`;
      await nextTask();
      const { figures: found, changes } = await perform(workload.name, given);
      given = { ...given, changes: [...given.changes, ...changes] };
      note(workload.name, name, found ?? {});
    }
  } finally {
    await removeAll(database);
  }
}

function note(workload: string, contender: string, found: Record<string, number>): void {
  const entries = Object.entries(found).map(([metric, figure]) => {
    const key = keyOf(workload, metric, contender);
    return [key, [...(figures.peek().get(key) ?? []), figure]] as const;
  });
  figures.value = new Map([...figures.peek(), ...entries]);
}

/** Removes the databases of a contender, including those of its warm-up. */
async function removeAll(database: string): Promise<void> {
  const stored = (await indexedDB.databases()).flatMap(({ name }) => name ?? []);
  await Promise.all(stored.filter((name) => name.includes(database)).map(remove));
}

function remove(stored: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(stored);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
    request.onblocked = () => resolve(); // deleted once its last connection closes
  });
}
