import type { LoadSubsetOptions, SyncAppliedReceipt, SyncConfig } from '@tanstack/db';
import type { AnyDocument } from '../api/document-types.ts';
import type { LiveSnapshot } from '../api/live-options.ts';
import { OptionError } from '../errors/errors.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import type { LiveQuery } from '../page/live/live-query.ts';
import { type ReadBoundary, type SubsetQuery, subsetQuery } from './subset-criteria.ts';

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
  /** The list as it was written. */
  rows: readonly Document[];
  isOver: boolean;
  end(): void;
}

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
    await this.#follow(
      subset,
      collection.live(query.criteria, {
        collation: query.collation,
        archived,
      }) as unknown as LiveQuery<readonly Document[]>,
    );
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
