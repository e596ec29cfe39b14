import { signal } from '@preact/signals';
import type { NewDocument } from 'cairndb';
import { announce } from '../app/announcer.tsx';
import { collectionOf } from '../database/database.ts';
import { formatCount, formatSpan } from '../parts/format.ts';
import { messageOf } from '../parts/message-of.ts';
import { LongTasks } from './long-tasks.ts';
import { nextTask } from './next-task.ts';
import { insertBatches } from './recipes/insert-batches.ts';
import type { Source } from './source.ts';

/** The progress or result of an import. */
export interface ImportJob {
  readonly source: Source;
  readonly state: 'running' | 'done' | 'cancelled' | 'failed';
  /** Imported documents. */
  readonly documents: number;
  /** Milliseconds since the start; at the end, until everything was saved. */
  readonly ms: number;
  /**
   * The longest task of the page in milliseconds, 0 if all were under 50, `undefined` if not
   * measured.
   */
  readonly longestTask: number | undefined;
  readonly problem: string;
}

/** The running or last import. */
export const importJob = signal<ImportJob | undefined>(undefined);

/** The newest batch, which the map paints at once. */
export const importedBatch = signal<readonly NewDocument[]>([]);

let stop = new AbortController();

export function cancelImport(): void {
  stop.abort();
}

/** @throws {Error} if an import is running. */
export function requireNoImport(): void {
  const { state, source } = importJob.peek() ?? {};
  if (state === 'running') {
    throw new Error(`Wait until "${source?.title}" is in, or cancel that import.`);
  }
}

/** Imports the documents that the collection lacks. Resolves with whether all are imported. */
export async function runImport(source: Source): Promise<boolean> {
  requireNoImport();
  stop = new AbortController();
  const { signal } = stop;
  const longTasks = new LongTasks();
  const began = performance.now();
  let documents = 0;
  const tell = (state: ImportJob['state'], problem = '') => {
    const ms = performance.now() - began;
    const longestTask = longTasks.longest;
    importJob.value = { source, state, documents, ms, longestTask, problem };
  };
  tell('running');
  try {
    const collection = collectionOf(source.collection);
    const batches = missing(source, signal);
    await insertBatches(collection, batches, async (count) => {
      documents += count;
      tell('running');
      await nextTask();
    });
    tell(signal.aborted ? 'cancelled' : 'done');
    const { ms } = importJob.value as ImportJob;
    announce(`${formatCount(documents, 'document')} saved in ${formatSpan(ms)}.`);
  } catch (error) {
    tell('failed', messageOf(error));
  } finally {
    longTasks.stop();
    importedBatch.value = [];
  }
  return importJob.peek()?.state === 'done';
}

/** The batches without stored documents, so that an import can resume. */
async function* missing(
  { batches, collection: name }: Source,
  signal: AbortSignal,
): AsyncGenerator<readonly NewDocument[]> {
  const collection = collectionOf(name);
  const isEmpty = (await collection.count({}, { archived: true })) === 0;
  for await (const batch of batches()) {
    if (signal.aborted) return;
    await nextTask(); // parsing a batch and encoding it are two tasks
    const documents = isEmpty ? batch : await withoutKnown(name, batch);
    if (documents.length === 0) continue;
    yield documents;
    importedBatch.value = documents;
  }
}

async function withoutKnown(name: string, batch: readonly NewDocument[]) {
  const ids = batch.flatMap(({ _id }) => _id ?? []);
  const found = await collectionOf(name).filter(
    { _id: { $in: ids } },
    { archived: true, select: ['_id'] },
  );
  const known = new Set(found.map(({ _id }) => _id));
  return batch.filter(({ _id }) => _id === undefined || !known.has(_id));
}
