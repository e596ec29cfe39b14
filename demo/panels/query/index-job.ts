import { signal } from '@preact/signals';
import { connection, reopen } from '../../database/database.ts';
import { indexesOf, keepIndexes } from '../../database/index-lists.ts';
import { messageOf } from '../../parts/message-of.ts';
import { run } from './query.ts';
import { openIndexed } from './recipes/open-indexed.ts';

/** The progress of an index change. */
export interface IndexJob {
  readonly text: string;
  readonly isRunning: boolean;
  readonly problem: string;
}

export const indexJob = signal<IndexJob | undefined>(undefined);

/**
 * Adds or drops an index by reopening the collection with another list, then runs the query again.
 */
export async function switchIndex(table: string, path: string): Promise<void> {
  const before = indexesOf(table);
  const isOn = before.includes(path);
  const after = isOn ? before.filter((each) => each !== path) : [...before, path];
  const began = performance.now();
  indexJob.value = { text: 'Opening', isRunning: true, problem: '' };
  try {
    keepIndexes(table, after);
    await reopen();
    await openIndexed(connection(), table, after, ({ documents, total }) => {
      indexJob.value = { text: `${documents} of ${total}`, isRunning: true, problem: '' };
    });
    const ms = Math.round(performance.now() - began);
    const text = isOn
      ? `Dropped the index on ${path} and reopened in ${ms} ms.`
      : `Built the index on ${path} and reopened in ${ms} ms.`;
    indexJob.value = { text, isRunning: false, problem: '' };
  } catch (error) {
    keepIndexes(table, before);
    indexJob.value = { text: '', isRunning: false, problem: messageOf(error) };
  }
  await run();
}
