import type { IR, LoadSubsetOptions, SyncAppliedReceipt, SyncConfig } from '@tanstack/db';
import type { AnyDocument } from '../api/document-types.ts';
import type { LiveSnapshot } from '../api/live-options.ts';
import type { Collation } from '../api/options/collation.ts';
import { systemClock } from '../async/clock.ts';
import { OptionError } from '../errors/errors.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import type { LiveQuery } from '../page/live/live-query.ts';

type Document = AnyDocument & { readonly _id: string };

export type SyncParams = Parameters<SyncConfig<Document, string>['sync']>[0];

/** What the collections of TanStack DB that share their options read. */
export interface RowSource {
  readonly collection: DocumentCollection<AnyDocument>;
  readonly criteria: object;
  readonly archived: boolean | 'only' | undefined;
  readonly runs: Set<SyncRun>;
}

/** A part of the collection that somebody asked for, kept up to date by a live query. */
interface Subset {
  query?: LiveQuery<readonly Document[]>;
  /** Reads those of these keys that are in it. */
  read?: (keys: readonly string[]) => Promise<readonly Document[]>;
  /** The list as it was written. */
  rows: readonly Document[];
  isOver: boolean;
  end(): void;
}

/** Milliseconds between two looks at rows that are not as stored, and how many there are. */
const LOOK_MS = 20;
const MOST_LOOKS = 100;

/** To compare by. What JSON does not tell, such as the bytes of a Blob, nobody has to wait for. */
export const jsonTextOf = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));

const sorted = (rows: readonly Document[]) => [...rows].sort((a, b) => (a._id < b._id ? -1 : 1));

/** From the first reader of a collection to its cleanup: writes what live queries show. */
export class SyncRun {
  readonly #source: RowSource;
  readonly #sync: SyncParams;
  readonly #subsets = new Map<object, Subset>();
  /** The rows as they were written, and how many subsets have each. */
  readonly #rows = new Map<string, { row: Document; holders: number }>();

  /** @throws {OptionError} `peer_unsupported` */
  constructor(source: RowSource, sync: SyncParams) {
    if (typeof sync.markError !== 'function')
      throw new OptionError(
        'peer_unsupported',
        'cairndb/tanstack needs @tanstack/db 0.15 or later: update it.',
        { place: '@tanstack/db' },
      );
    this.#source = source;
    this.#sync = sync;
    source.runs.add(this);
  }

  /** Resolves when the subset is in the collection. */
  readonly load = async (options: LoadSubsetOptions): Promise<void> => {
    const subset: Subset = { rows: [], isOver: false, end: () => undefined };
    this.#subsets.set(options, subset);
    const { collection, criteria, archived } = this.#source;
    const query = await subsetQuery(criteria, options, this.#readBoundary);
    if (subset.isOver) return;
    const found = { collation: query.collation, archived };
    subset.read = async (keys) => {
      const within = { $and: [query.criteria, { _id: { $in: keys } }] };
      return (await collection.filter(within, found)) as readonly Document[];
    };
    const live = collection.live(query.criteria, found);
    await this.#follow(subset, live as unknown as LiveQuery<readonly Document[]>);
  };

  /** A row leaves the collection with the last subset that has it. */
  readonly unload = (options: LoadSubsetOptions): void => {
    const subset = this.#subsets.get(options);
    if (!subset) return;
    this.#subsets.delete(options);
    subset.isOver = true;
    subset.end();
    // A cleanup may follow, which drops all rows and rejects what was not shown.
    Promise.resolve(this.#take(subset, [])).catch(() => undefined);
  };

  /** Writes what live queries show by now: their listeners are called later. */
  flush(): void {
    for (const subset of this.#subsets.values()) {
      const snapshot = subset.query?.getSnapshot();
      // The load has the receipt of the first rows.
      if (snapshot?.status === 'ready')
        Promise.resolve(this.#take(subset, snapshot.data)).catch(() => undefined);
    }
  }

  /** The row of a key, as it was written. */
  rowOf(key: string): Document | undefined {
    return this.#rows.get(key)?.row;
  }

  /**
   * Resolves when the rows of these keys are as stored. They are already, unless another tab has
   * taken the lead: then live queries begin anew, and their first result may come after the answer
   * of a write.
   */
  async catchUp(keys: readonly string[]): Promise<void> {
    for (const subset of this.#subsets.values())
      for (let left = MOST_LOOKS; left > 0 && !subset.isOver && subset.query; left--) {
        const stored = (await subset.read?.(keys)) ?? [];
        const { status, data = [] } = subset.query.getSnapshot();
        const shown = data.filter(({ _id }) => keys.includes(_id));
        if (status !== 'ready' || jsonTextOf(sorted(stored)) === jsonTextOf(sorted(shown))) break;
        await new Promise<void>((resolve) => void systemClock.after(LOOK_MS, resolve));
      }
    this.flush();
  }

  readonly end = (): void => {
    this.#source.runs.delete(this);
    for (const subset of this.#subsets.values()) {
      subset.isOver = true;
      subset.end();
    }
    this.#subsets.clear();
  };

  readonly #readBoundary: ReadBoundary = async (query: SubsetQuery, path, sort, skip) => {
    const { collation, criteria } = query;
    const { archived, collection } = this.#source;
    const options = { sort: { [path]: sort }, skip, limit: 1, select: [path], collation, archived };
    const [found] = await collection.filter(criteria, options);
    return path.split('.').reduce<unknown>((value, key) => (value as AnyDocument)?.[key], found);
  };

  /** Resolves with the first result, or the end of the subset. */
  #follow(subset: Subset, query: LiveQuery<readonly Document[]>): Promise<void> {
    subset.query = query;
    return new Promise((resolve, reject) => {
      let isLoaded = false;
      const listen = ({ status, data, error }: LiveSnapshot<readonly Document[]>) => {
        if (subset.isOver) return;
        if (status === 'error' && isLoaded) this.#fail(error);
        else if (status === 'error') reject(error);
        if (status !== 'ready') return;
        isLoaded = true;
        Promise.resolve(this.#take(subset, data)).then(() => resolve(), reject);
      };
      const stop = query.subscribe(listen);
      subset.end = () => {
        stop();
        resolve();
      };
    });
  }

  /** What no longer follows its source says so. */
  #fail(error: unknown): void {
    if (this.#sync.collection.status === 'ready') this.#sync.markError(error);
  }

  /** Writes the differences between the list before and this one. */
  #take(subset: Subset, after: readonly Document[]): SyncAppliedReceipt {
    const before = subset.rows;
    subset.rows = after;
    let start = 0;
    while (start < after.length && before[start] === after[start]) start++;
    let kept = 0;
    const most = Math.min(before.length, after.length) - start;
    while (kept < most && before.at(-1 - kept) === after.at(-1 - kept)) kept++;
    const gone = new Set(before.slice(start, before.length - kept).map(({ _id }) => _id));
    const writes: (() => void)[] = [];
    for (const row of after.slice(start, after.length - kept)) {
      const known = this.#rows.get(row._id);
      if (!known) this.#rows.set(row._id, { row, holders: 1 });
      else if (!gone.delete(row._id)) known.holders++;
      if (known?.row === row) continue;
      if (known) known.row = row;
      writes.push(() => this.#sync.write({ type: known ? 'update' : 'insert', value: row }));
    }
    for (const key of gone) {
      const known = this.#rows.get(key);
      if (!known || --known.holders > 0) continue;
      this.#rows.delete(key);
      writes.push(() => this.#sync.write({ type: 'delete', key }));
    }
    if (writes.length === 0) return true;
    this.#sync.begin();
    for (const write of writes) write();
    return this.#sync.commit();
  }
}

/** Criteria that find every row that satisfies an expression. */
interface Translated {
  readonly criteria: object;
  /** Whether they find no other rows. */
  readonly exact: boolean;
}

const ALL: Translated = { criteria: {}, exact: true };
const NONE: Translated = { criteria: { _id: { $in: [] } }, exact: true };
/** TanStack DB filters what was loaded, so more than it asked for is only slower. */
const UNKNOWN: Translated = { criteria: {}, exact: false };

/** Each operator, its opposite, and what it is with its sides exchanged. */
const RANGES: Record<string, readonly [is: string, isNot: string, mirrored: string]> = {
  eq: ['$eq', '$nin', 'eq'],
  gt: ['$gt', '$lte', 'lt'],
  gte: ['$gte', '$lt', 'lte'],
  lt: ['$lt', '$gte', 'gt'],
  lte: ['$lte', '$gt', 'gte'],
};

/**
 * Translates an expression. Its logic has three values: what compares with null is neither true nor
 * false, so `not` finds no row whose value is null.
 */
function translate(expression: IR.BasicExpression | undefined, isNegated = false): Translated {
  if (!expression) return ALL;
  if (expression.type === 'val') {
    if (typeof expression.value !== 'boolean') return UNKNOWN;
    return expression.value === isNegated ? NONE : ALL;
  }
  if (expression.type === 'ref') return UNKNOWN;
  const { name, args } = expression;
  const [left, right] = args;
  if (name === 'and' || name === 'or') {
    const parts = args.map((part) => translate(part, isNegated));
    return (name === 'and') === isNegated ? anyOf(...parts) : allOf(...parts);
  }
  if (name === 'not') return translate(left, !isNegated);
  if (left?.type === 'val' && right?.type === 'ref' && RANGES[name])
    return compare(RANGES[name][2], right, left.value, isNegated);
  if (left?.type !== 'ref') return UNKNOWN;
  if (name === 'isNull' || name === 'isUndefined') return nothing(name, left, isNegated);
  return right?.type === 'val' ? compare(name, left, right.value, isNegated) : UNKNOWN;
}

function allOf(...parts: readonly Translated[]): Translated {
  const asked = parts.map(({ criteria }) => criteria).filter((one) => Object.keys(one).length > 0);
  const criteria = asked.length > 1 ? { $and: asked } : (asked[0] ?? {});
  return { criteria, exact: parts.every(({ exact }) => exact) };
}

function anyOf(...parts: readonly Translated[]): Translated {
  const all = parts.find(({ criteria }) => Object.keys(criteria).length === 0);
  if (all) return all;
  const $or = parts.map(({ criteria }) => criteria);
  return { criteria: { $or }, exact: parts.every(({ exact }) => exact) };
}

function compare(name: string, ref: IR.PropRef, value: unknown, isNegated: boolean): Translated {
  const path = pathOf(ref);
  if (!path) return UNKNOWN;
  if (name === 'like') return beginsWith(path, value, isNegated);
  if (name === 'in' && Array.isArray(value)) {
    const values = value.filter((one) => one !== null && one !== undefined);
    if (!values.every(isComparable)) return UNKNOWN;
    return exactly(path, isNegated ? { $nin: [...values, null] } : { $in: values });
  }
  const range = RANGES[name];
  if (!range) return UNKNOWN;
  if (value === null || value === undefined) return NONE;
  if (!isComparable(value)) return UNKNOWN;
  if (!isNegated) return exactly(path, { [range[0]]: value });
  return exactly(path, { [range[1]]: name === 'eq' ? [value, null] : value });
}

/** `isNull` and `isUndefined`: criteria for null match what is missing too. */
function nothing(name: string, ref: IR.PropRef, isNegated: boolean): Translated {
  const path = pathOf(ref);
  if (!path) return UNKNOWN;
  if (name === 'isNull') {
    const isNull = { $type: 'null' };
    return exactly(path, isNegated ? { $not: isNull } : isNull);
  }
  return isNegated ? UNKNOWN : { criteria: { [path]: null }, exact: false };
}

/** A range has the letters before the first wildcard; a pattern would make each result wait. */
function beginsWith(path: string, pattern: unknown, isNegated: boolean): Translated {
  const [start = ''] = typeof pattern === 'string' ? pattern.split(/[%_\\]/, 1) : [];
  const last = start.charCodeAt(start.length - 1);
  if (isNegated || !(last < 0xffff)) return UNKNOWN;
  const $lt = start.slice(0, -1) + String.fromCharCode(last + 1);
  return { criteria: { [path]: { $gte: start, $lt } }, exact: false };
}

const exactly = (path: string, operators: object): Translated => ({
  criteria: { [path]: operators },
  exact: true,
});

/** The dotted path of a field; none of a virtual property such as `$synced`. */
function pathOf(expression: IR.BasicExpression): string | undefined {
  if (expression.type !== 'ref' || expression.path.length === 0) return undefined;
  const isPlain = expression.path.every((key) => /^[^$.][^.]*$/.test(String(key)));
  return isPlain ? expression.path.join('.') : undefined;
}

function isComparable(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return /^(string|boolean|bigint|number)$/.test(typeof value) && !Number.isNaN(value);
}

/** What a subset has: every document from the start of its order to its boundary. */
interface SubsetQuery {
  readonly criteria: object;
  readonly collation?: Collation | undefined;
}

/** Reads the value at a path of the document at this place of a list that is sorted by it. */
type ReadBoundary = (
  query: SubsetQuery,
  path: string,
  sort: 1 | -1,
  place: number,
) => Promise<unknown>;

/**
 * Turns a limit into a boundary, ties included. A list with a limit would lose its last row to one
 * that is inserted before it, and no page would have that row any more.
 */
async function subsetQuery(
  own: object,
  options: LoadSubsetOptions,
  read: ReadBoundary,
): Promise<SubsetQuery> {
  const { orderBy, limit, offset = 0, cursor } = options;
  const base = allOf({ criteria: own, exact: true }, translate(options.where));
  const from = translate(cursor?.whereFrom);
  const current = cursor ? translate(cursor.whereCurrent) : NONE;
  const rest = cursor ? allOf(base, anyOf(current, from)) : base;
  const [order] = orderBy ?? [];
  const path = order && pathOf(order.expression);
  if (limit === undefined || !path || !base.exact || !from.exact) return rest;
  const place = cursor ? limit : offset + limit;
  if (place === 0) return cursor ? allOf(base, current) : NONE;
  const { direction, nulls, ...strings } = order.compareOptions;
  const sort = direction === 'asc' ? 1 : -1;
  const { criteria } = allOf(base, from, { criteria: { [path]: { $ne: null } }, exact: true });
  let boundary = await read({ criteria }, path, sort, place - 1);
  let collation: Collation | undefined;
  if (typeof boundary === 'string' && strings.stringSort !== 'lexical') {
    collation = collationOf(strings);
    if (!collation) return rest;
    boundary = await read({ criteria, collation }, path, sort, place - 1);
  }
  if (!isComparable(boundary)) return rest;
  const within = exactly(path, { [sort > 0 ? '$lte' : '$gte']: boundary });
  const first =
    nulls === 'first' ? anyOf({ criteria: { [path]: null }, exact: true }, within) : within;
  return { ...allOf(base, anyOf(current, allOf(from, first))), collation };
}

/** That of `localeCompare`, where it has no options. */
function collationOf(strings: object): Collation | undefined {
  const { stringSort, locale, localeOptions } = strings as Record<string, object | undefined>;
  if (String(stringSort ?? 'locale') !== 'locale' || Object.keys(localeOptions ?? {}).length > 0)
    return undefined;
  return String(locale ?? new Intl.Collator().resolvedOptions().locale);
}
