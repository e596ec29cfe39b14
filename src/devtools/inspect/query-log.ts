import type { Explanation } from '../../api/document-types.ts';
import type { Collation } from '../../api/options/collation.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import type { Inspection } from '../../page/inspection/inspection.ts';
import type { ObservedCall } from '../../page/sending/observed-call.ts';
import {
  adviseIndexes,
  type ConstantValues,
  costsOfRelations,
  type IndexAdvice,
  type QueryCost,
} from '../advise-indexes.ts';
import { printShort } from '../values/print-value.ts';

/** Queries of the page that are alike: same collection, method, paths and operators. */
export interface QueryRecord {
  readonly collection: string;
  readonly method: string;
  /** Of the slowest so far. */
  params: unknown;
  options: Readonly<Record<string, unknown>> | undefined;
  runs: number;
  total_ms: number;
  slowest_ms: number;
  explanation: Explanation | undefined;
  /** Paths of the collection that hold arrays. */
  arrays: ReadonlySet<string>;
  /** Equal values that all runs so far had. */
  constants: Record<string, unknown>;
  constant: ConstantValues | undefined;
}

/** The position of the options among the arguments of each method that finds documents. */
const METHODS: Readonly<Record<string, number>> = {
  filter: 1,
  find: 1,
  has: 1,
  count: 1,
  live: 1,
  aggregate: 1,
  liveAggregate: 1,
  deleteMany: 1,
  deleteOne: 1,
  patchMany: 2,
  patchOne: 2,
};
const MOST = 100;
/** Runs from which on a value that they all had counts as a constant. */
const CONSTANT = 3;
/** Documents that are looked at for arrays. */
const SAMPLE = 20;

/** The collections of the page. */
interface Collections {
  documents(name: string): DocumentCollection | undefined;
  indexesOf(name: string, collation: unknown): readonly (readonly string[])[];
  hide<Options extends object>(options: Options): Options;
}

export class QueryLog {
  readonly #inspected: Collections;
  readonly #records = new Map<string, QueryRecord>();
  readonly #stop: () => void;
  #explaining: Promise<void> | undefined;

  constructor(inspected: Collections, inspection: Inspection) {
    this.#inspected = inspected;
    this.#stop = inspection.observe((call) => this.#take(call));
    // Queries that are live already.
    for (const { collection, call, first_ms = 0, since } of inspection.lives)
      if (call) this.#take({ collection, ...call, at: since, duration_ms: first_ms });
  }

  /** The slowest first. */
  get records(): readonly QueryRecord[] {
    return [...this.#records.values()].sort((a, b) => b.slowest_ms - a.slowest_ms);
  }

  get advice(): readonly IndexAdvice[] {
    return adviseIndexes(
      [...this.#records.values()].flatMap((record) => {
        const { collection, params, options, explanation, runs, arrays, constant } = record;
        if (!explanation) return [];
        const relations = costsOfRelations(explanation.relations, runs);
        // What a pipeline returns says nothing of what it had to read.
        if (Array.isArray(params)) return relations;
        const { plan, documents_examined, returned } = explanation;
        const { sort, collation } = (options ?? {}) as Pick<QueryCost, 'sort' | 'collation'>;
        const indexes = this.#inspected.indexesOf(collection, collation);
        const cost = { collection, params, sort, collation, plan, documents_examined, returned };
        const own = { ...cost, runs, indexes, arrays, constant };
        return [own, ...relations];
      }),
    );
  }

  /** Asks for the plans that are missing, one after the other: each runs its query once more. */
  explainAll(): Promise<void> {
    this.#explaining ??= this.#explainAll().finally(() => {
      this.#explaining = undefined;
    });
    return this.#explaining;
  }

  clear(): void {
    this.#records.clear();
  }

  close(): void {
    this.#stop();
  }

  #take({ collection, method, args, duration_ms, error }: ObservedCall): void {
    const place = METHODS[method];
    const [params = {}] = args;
    const options = place === undefined ? undefined : (args[place] as QueryRecord['options']);
    if (place === undefined || error) return;
    if (!this.#inspected.documents(collection)) return;
    const key = `${collection} ${method} ${shapeOf(params)} ${printShort(options?.sort)} ${options?.limit} ${JSON.stringify(options?.collation)} ${shapeOf(options?.include)}`;
    let record = this.#records.get(key);
    if (!record) {
      record = {
        ...{ collection, method, params, options, runs: 0, total_ms: 0, slowest_ms: 0 },
        ...{ explanation: undefined, arrays: new Set(), constant: undefined },
        constants: equalValues(params),
      };
      this.#records.set(key, record);
      const [oldest] = this.#records.keys();
      if (this.#records.size > MOST && oldest !== undefined) this.#records.delete(oldest);
    }
    record.runs++;
    for (const [path, value] of Object.entries(equalValues(params)))
      if (record.constants[path] !== value) delete record.constants[path];
    record.total_ms += duration_ms;
    if (duration_ms < record.slowest_ms) return;
    record.slowest_ms = duration_ms;
    record.params = params;
    record.options = options;
  }

  async #explainAll(): Promise<void> {
    for (const record of this.#records.values()) {
      if (record.explanation) continue;
      const collection = this.#inspected.documents(record.collection);
      const { throttle, signal, upsert, array_filters, ...options } = record.options ?? {};
      const limit = /find|has|One/.test(record.method) ? { limit: 1 } : {};
      try {
        const params = record.params as object;
        record.explanation = await collection?.explain(params, { ...options, ...limit });
        const sample =
          (await collection?.filter({}, this.#inspected.hide({ limit: SAMPLE }))) ?? [];
        record.arrays = arrayPathsIn(sample);
        const where = record.constants;
        if (record.runs >= CONSTANT && collection && Object.keys(where).length > 0) {
          const hide = () => this.#inspected.hide({ collation: options.collation as Collation });
          const counts = [collection.count(where, hide()), collection.count({}, hide())];
          const [having = 0, all = 0] = await Promise.all(counts);
          record.constant = { where, share: all > 0 ? having / all : 1 };
        }
      } catch {
        // Dropped or closed: the record stays without a plan.
      }
    }
  }
}

/** The values that criteria ask to be equal, of the kinds that a partial index can name. */
function equalValues(params: unknown): Record<string, unknown> {
  if (!isPlainObject(params)) return {};
  const isNamed = (value: unknown) =>
    value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
  return Object.fromEntries(
    Object.entries(params).filter(([path, value]) => !/^(\$|_id$)/.test(path) && isNamed(value)),
  );
}

/** The paths and operators of criteria, without values. */
function shapeOf(value: unknown): string {
  if (typeof value === 'function') return printShort(value, 200);
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].join()}]`;
  if (typeof value !== 'object' || value === null || value.constructor !== Object) return '?';
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}:${shapeOf(item)}`)
    .join()}}`;
}

/** The dotted paths that hold an array in one of the documents, and the paths below them. */
export function arrayPathsIn(documents: readonly object[]): ReadonlySet<string> {
  return pathsIn(documents, (isArray, isInside) => isArray || isInside);
}

/** Paths of documents, by whether an array is there, and whether they lead through one. */
export function pathsIn(
  documents: readonly object[],
  isWanted: (isArray: boolean, isInside: boolean) => boolean,
): ReadonlySet<string> {
  const paths = new Set<string>();
  const visit = (value: unknown, path: string, isInside: boolean): void => {
    const isArray = Array.isArray(value);
    if (isWanted(isArray, isInside)) paths.add(path);
    if (isArray) for (const item of value) visitFields(item, path, true);
    else visitFields(value, path, isInside);
  };
  const visitFields = (value: unknown, path: string, isInside: boolean): void => {
    if (!isPlainObject(value)) return;
    for (const [key, field] of Object.entries(value))
      visit(field, path ? `${path}.${key}` : key, isInside);
  };
  for (const document of documents) visitFields(document, '', false);
  return paths;
}
