import { signal } from '@preact/signals';
import {
  CairnError,
  type DocumentCollection,
  type Explanation,
  type Params,
  type PipelineStage,
  type Sort,
} from 'cairndb';
import { announce } from '../../app/announcer.tsx';
import { collectionOf } from '../../database/database.ts';
import { indexesOf } from '../../database/index-lists.ts';
import { formatNumber } from '../../parts/format.ts';
import { messageOf } from '../../parts/message-of.ts';
import { readQuery, UnreadableQuery } from './editor/read-query.ts';
import { EXAMPLES } from './examples.ts';
import { explain } from './recipes/explain.ts';
import { firstMatches } from './recipes/find.ts';
import { totals } from './recipes/totals.ts';

/** A result with its plan. */
export interface Answer {
  readonly table: string;
  /** As the visitor wrote it. */
  readonly text: string;
  /** The sort path, if any. */
  readonly sort: string;
  /** Identifies query, sort and collection size: runs with equal keys are compared. */
  readonly key: string;
  /** Paths that could be indexed. */
  readonly paths: readonly string[];
  /** The first results, of a pipeline all. */
  readonly first: readonly object[];
  /** Milliseconds until the first documents arrived. */
  readonly ms: number;
  /** Size of the collection. */
  readonly total: number;
  /** Number of stages, of a pipeline. */
  readonly stages: number | undefined;
  /** Undefined for functions and pipelines, which have no plan. */
  readonly explanation: Explanation | undefined;
  /** Number of documents passed to the function. */
  readonly looked: number;
  readonly indexes: readonly string[];
}

export const queriedTable = signal('cities');
export const queryText = signal(EXAMPLES[0]?.text ?? '{}');
/** The path to sort by, descending; empty for insertion order. */
export const querySort = signal(EXAMPLES[0]?.sort ?? '');

export const answer = signal<Answer | undefined>(undefined);
export const queryError = signal<Error | undefined>(undefined);
export const isRunning = signal(false);

/** Explanations of one query, by its indexes. */
export const compared = signal<ReadonlyMap<string, Explanation>>(new Map());

export async function run(): Promise<void> {
  if (isRunning.peek()) return;
  isRunning.value = true;
  queryError.value = undefined;
  try {
    const found = await ask();
    if (found.key !== answer.peek()?.key) compared.value = new Map();
    if (found.explanation && found.total > 0) {
      const name = found.indexes.join(', ');
      compared.value = new Map([...compared.peek(), [name, found.explanation]]);
    }
    answer.value = found;
    announce(`${formatNumber(found.explanation?.returned ?? found.first.length)} found.`);
  } catch (error) {
    queryError.value = inWords(error);
  } finally {
    isRunning.value = false;
  }
}

/** The error of a query; one that is not Cairn's comes from the visitor's function. */
function inWords(error: unknown): Error {
  if (error instanceof CairnError || error instanceof UnreadableQuery) return error;
  return new Error(`The function threw: ${messageOf(error)}`, { cause: error });
}

async function ask(): Promise<Answer> {
  const table = queriedTable.peek();
  const text = queryText.peek();
  const path = querySort.peek();
  const sort = (path ? { [path]: -1 } : undefined) as Sort<object> | undefined;
  const collection = collectionOf(table);
  const found = await findBy(collection, readQuery(text), sort);
  const total = await collection.count();
  return {
    ...found,
    table,
    text,
    sort: path,
    key: JSON.stringify([table, text, path, total]),
    total,
    indexes: indexesOf(table),
  };
}

type Found = Pick<Answer, 'paths' | 'first' | 'ms' | 'stages' | 'explanation' | 'looked'>;

async function findBy(
  collection: DocumentCollection,
  read: Params | readonly PipelineStage[],
  sort: Sort<object> | undefined,
): Promise<Found> {
  const found = { paths: [], explanation: undefined, stages: undefined, looked: 0 };
  if (isPipeline(read)) {
    const timed = await inTime(() => totals(collection, read));
    return { ...found, ...timed, stages: read.length };
  }
  if (typeof read === 'function') {
    let looked = 0;
    const params: Params = (document) => {
      looked += 1;
      return read(document);
    };
    const timed = await inTime(() => firstMatches(collection, params, { sort }));
    return { ...found, ...timed, looked };
  }
  const explanation = await quickest(() => explain(collection, read, { sort }));
  const timed = await inTime(() => firstMatches(collection, read, { sort }));
  return { ...found, ...timed, explanation, paths: pathsIn(read, Object.keys(sort ?? {})) };
}

const isPipeline = (read: Params | readonly PipelineStage[]): read is readonly PipelineStage[] =>
  Array.isArray(read);

async function inTime<T>(find: () => Promise<T>): Promise<{ first: T; ms: number }> {
  const began = performance.now();
  const first = await find();
  return { first, ms: performance.now() - began };
}

/** The first run may wait for the cache to load, which says nothing about the plan. */
async function quickest(ask: () => Promise<Explanation>): Promise<Explanation> {
  const all = [await ask(), await ask(), await ask()];
  return all.reduce((best, next) => (next.engine_ms < best.engine_ms ? next : best));
}

/** The fields in the criteria and the sort paths. */
function pathsIn(criteria: object, sort: readonly string[]): string[] {
  const paths = new Set(sort);
  const collect = (inner: unknown) => {
    if (Array.isArray(inner)) for (const item of inner) collect(item);
    else if (typeof inner === 'object' && inner !== null) {
      for (const [key, value] of Object.entries(inner)) {
        if (key.startsWith('$')) collect(value);
        else if (key !== '_id') paths.add(key);
      }
    }
  };
  collect(criteria);
  paths.delete('_id');
  return [...paths];
}
