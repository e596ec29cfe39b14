import type { NearestExplanation } from '../../api/nearest-types.ts';
import type { Coroutine } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import type { Body } from '../../codec/body.ts';
import { CollectionError, TransactionError, ValueError } from '../../errors/errors.ts';
import type { NearestAsk } from '../../protocol/live-protocol.ts';
import type { IndexKey } from '../../query/index/index-key.ts';
import type { EntryList } from '../../query/index/leaf-list.ts';
import { valueReader } from '../../query/path/own-property.ts';
import {
  type Nearest,
  type NearestRules,
  NearestSearch,
} from '../../query/vector/nearest-search.ts';
import { type VectorSettings, vectorOf } from '../../query/vector/vector-of.ts';
import { type Accept, bestEntries, type ScoredEntry } from '../../query/vector/vector-table.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext, OperationContext } from '../collection-context.ts';
import { DocumentIndex, indexKinds } from '../documents/document-index.ts';
import {
  type CompiledSelection,
  compileSelection,
  documentReaders,
} from '../find/compiled-selection.ts';
import { provideReads } from '../find/late-reads.ts';
import { madeRead } from '../find/made-reads.ts';
import { DocumentQuery } from '../find/query.ts';

/** What a record carries; `undefined` without a vector. */
type VectorKey = Float32Array | undefined;

/** The vectors at a path: a column of segments, which the table takes over for a search. */
class VectorIndex extends DocumentIndex {
  readonly settings: VectorSettings;
  readonly search: NearestSearch<StoredRecord>;
  readonly #valueAt: (document: object) => unknown;
  override readonly read: (document: object) => IndexKey;

  constructor(...given: ConstructorParameters<typeof DocumentIndex>) {
    super(...given);
    const [, { special, name }, collection] = given;
    const settings = special?.options as VectorSettings;
    const { path, dimensions, metric } = settings;
    this.settings = settings;
    this.search = new NearestSearch(metric, dimensions);
    // A column for cosines has no zeros; apart from that the metric counts when a search is made.
    this.column = JSON.stringify(['vector', path, dimensions, metric === 'cosine']);
    this.#valueAt = valueReader(path);
    this.read = (document) => {
      const vector = this.#vectorIn(document);
      if (typeof vector !== 'string') return vector as unknown as IndexKey;
      if (this.phase === 'extracting') return undefined;
      const remedy = `The index takes lists of ${dimensions} finite numbers, or nothing.`;
      throw new ValueError(
        'vector_invalid',
        `"${path}" of a document of "${collection.name}" ${vector}. ${remedy}`,
        { place: name },
      );
    };
  }

  override readStored(document: object): IndexKey {
    const vector = this.#vectorIn(document);
    return typeof vector === 'string' ? undefined : (vector as unknown as IndexKey);
  }

  /** The vector of a document, if it has one; or what is wrong with it. */
  #vectorIn(document: object): VectorKey | string {
    const value = this.#valueAt(document) ?? undefined;
    return value === undefined ? undefined : vectorOf(value, this.settings);
  }

  override get size(): number {
    return this.search.table.size;
  }

  override load(entries: EntryList<StoredRecord>, keys: readonly IndexKey[]): void {
    this.search.table.load(entries, keys as unknown as readonly VectorKey[]);
  }

  override add(entry: StoredRecord, key: IndexKey): void {
    const vector = key as unknown as VectorKey;
    if (vector) this.search.table.set(entry, vector);
  }

  override addAll(entries: EntryList<StoredRecord>, keys: readonly IndexKey[]): void {
    if (this.search.table.isEmpty) this.load(entries, keys);
    else
      keys.forEach((key, at) => {
        this.add(entries.at(at) as StoredRecord, key);
      });
  }

  override remove({ rank }: StoredRecord): void {
    this.search.table.delete(rank);
  }

  override replace(_: StoredRecord, after: StoredRecord, __: IndexKey, key: IndexKey): void {
    this.search.table.settle();
    if (key === undefined) this.remove(after);
    else this.add(after, key);
  }

  /** A table has no order. */
  override sorting(): Generator<void> {
    return [].values() as never;
  }

  vectorOf(record: StoredRecord): VectorKey {
    return this.keyOf(record) as unknown as VectorKey;
  }
}

/** Neighbours for each hit whose documents are tested, before the planner answers the criteria. */
const TESTED = 8;

/** The neighbours that a fusion looks at: those behind hardly change its order. */
const FUSED = 100;

/** What keeps the first places from outweighing all others (Cormack et al., SIGIR 2009). */
const CONSTANT = 60;

type Criteria = Pick<NearestExplanation, 'criteria' | 'documents_examined'>;

/** A record with its score, and its place in each result, from 1. */
interface FusedRecord {
  readonly record: StoredRecord;
  readonly score: number;
  readonly text?: number;
  readonly vector?: number;
}

class NearestQuery {
  readonly #ask: NearestAsk;
  readonly #context: OperationContext;
  readonly #pace: Pace;
  readonly #index: VectorIndex;
  /** How the last neighbours were found. */
  #last: Nearest<StoredRecord> = { nearest: [], examined: 0 };
  #criteria: Criteria = { criteria: 'none', documents_examined: 0 };

  /** @throws {TransactionError} `transaction_misused`; {CollectionError} `index_missing` */
  constructor(context: OperationContext, ask: NearestAsk, pace: Pace) {
    const { name } = context.settings;
    if (context.reads) throw inTransaction(name);
    this.#ask = ask;
    this.#context = context;
    this.#pace = pace;
    const { all } = (context as CollectionContext).indexes;
    const index = all.find(({ phase, keyName }) => phase === 'ready' && keyName === ask.index);
    if (!(index instanceof VectorIndex)) throw notIndexed(name);
    this.#index = index;
  }

  *result(): Coroutine<readonly object[]> {
    const { records, clock } = this.#context;
    const began = clock.elapsed();
    const release = records.pin();
    try {
      const { found, wanted, k } = this.#ask;
      if (found) return yield* this.#fused(found);
      const nearest = yield* this.#nearest(k);
      if (wanted === 'explanation') return [this.#explanation(nearest.length, began)];
      return yield* this.#made(nearest.map(({ item, score }) => ({ record: item, score })));
    } finally {
      release();
    }
  }

  *#fused(found: readonly string[]): Coroutine<readonly object[]> {
    const { k } = this.#ask;
    const nearest = yield* this.#nearest(Math.max(FUSED, k));
    const texts = yield* this.#stillMatching(found);
    return yield* this.#made(
      fuse(
        texts,
        nearest.map(({ item }) => item),
      ).slice(0, k),
    );
  }

  /** Since their words were found, others may have changed, archived or deleted them. */
  *#stillMatching(found: readonly string[]): Coroutine<readonly (StoredRecord | undefined)[]> {
    const { records } = this.#context;
    const { criteria, archived } = this.#ask;
    const { wanted, test } = compileSelection(this.#context, { criteria, archived });
    const there = found.flatMap((id) => records.get(id) ?? []).filter(wanted);
    const bodies = test ? yield* records.bodies.ofAll(there) : [];
    const matching = new Map(
      there
        .filter((one, at) => test?.(one, bodies[at] as Body) ?? true)
        .map((one) => [one.key, one]),
    );
    // Each keeps its place.
    return found.map((id) => matching.get(id));
  }

  /** The hits as the caller gets them. */
  *#made(found: readonly FusedRecord[]): Coroutine<readonly object[]> {
    const { select } = compileSelection(this.#context, { select: this.#ask.select });
    const make = select ?? documentReaders(this.#context).wholeOf;
    const bodies = yield* this.#context.records.bodies.ofAll(found.map(({ record }) => record));
    return found.map(({ record, ...places }, at) => ({
      document: make(record, bodies[at] as Body),
      ...places,
    }));
  }

  *#nearest(most: number): Coroutine<readonly ScoredEntry<StoredRecord>[]> {
    const { criteria, archived, select } = this.#ask;
    const compiled = compileSelection(this.#context, { criteria, archived, select });
    const { wanted, test } = compiled;
    if (!test) return yield* this.#search(most, wanted);
    const query = new DocumentQuery(this.#context, { criteria, archived }, this.#pace);
    if (query.plan.kind === 'scan') {
      const near = yield* this.#tested(most, { wanted, test });
      if (near) return near;
    }
    return yield* this.#among(query, most);
  }

  /** What matches of some neighbours; `undefined` where those are too few. */
  *#tested(
    most: number,
    { wanted, test }: Pick<CompiledSelection, 'wanted'> & Required<Pick<CompiledSelection, 'test'>>,
  ): Coroutine<ScoredEntry<StoredRecord>[] | undefined> {
    const near = yield* this.#search(most * TESTED, wanted);
    const bodies = yield* this.#context.records.bodies.ofAll(near.map(({ item }) => item));
    const matching = near.filter(({ item }, at) => test?.(item, bodies[at] as Body));
    this.#criteria = { criteria: 'documents', documents_examined: near.length };
    return matching.length >= most || near.length < most * TESTED
      ? matching.slice(0, most)
      : undefined;
  }

  /** The nearest of what the planner finds. */
  *#among(query: DocumentQuery, most: number): Coroutine<ScoredEntry<StoredRecord>[]> {
    const { table } = this.#index.search;
    yield* table.prepare(this.#pace);
    const matching = yield* query.records();
    const best = bestEntries<StoredRecord>(most);
    let examined = 0;
    for (const record of matching) {
      // Of the version that matches: the table may have a newer one meanwhile.
      const vector = this.#index.vectorOf(record);
      if (vector) best.add({ item: record, score: table.score(vector, this.#ask.vector) });
      if (vector) examined++;
      if (this.#pace.due) yield* this.#pace.pause();
    }
    const nearest = best.sorted();
    this.#last = { nearest, examined };
    const { plan, candidates } = query;
    this.#criteria = {
      criteria: plan.kind === 'scan' ? 'documents' : 'index',
      documents_examined: this.#criteria.documents_examined + candidates.documents,
    };
    return nearest;
  }

  *#search(
    most: number,
    accept: Accept<StoredRecord>,
  ): Coroutine<readonly ScoredEntry<StoredRecord>[]> {
    const { clock, aborts } = this.#context;
    const rules: NearestRules<StoredRecord> = {
      pace: this.#pace,
      // Cells cannot be trained behind a call that must not wait.
      background: aborts.immediate ? undefined : () => new Pace(clock, aborts),
      accept,
      exact: this.#ask.exact,
    };
    this.#last = yield* this.#index.search.nearest(this.#ask.vector, most, rules);
    return this.#last.nearest;
  }

  #explanation(returned: number, began: number): NearestExplanation {
    const { search, settings } = this.#index;
    const { examined, cells } = this.#last;
    return {
      index: settings.path,
      vectors: search.table.size,
      vectors_examined: examined,
      ...(cells && {
        approximate: { cells: cells.count, cells_examined: cells.probed, recall: cells.recall },
      }),
      ...this.#criteria,
      returned,
      engine_ms: this.#context.clock.elapsed() - began,
    };
  }
}

function inTransaction(name: string): TransactionError {
  const message = `A transaction cannot search: the vector index of "${name}" does not know its changes. Search before it, and read what was found with tx().`;
  return new TransactionError('transaction_misused', message);
}

function notIndexed(name: string): CollectionError {
  const message = `The vector index of "${name}" is not there: it could not be built, which an event "error" has told, or the backup was made before it was declared.`;
  return new CollectionError('index_missing', message);
}

/** Makes one result of two by reciprocal rank fusion; of equal scores the oldest first. */
function fuse(
  texts: readonly (StoredRecord | undefined)[],
  nearest: readonly StoredRecord[],
): FusedRecord[] {
  const fused = new Map<string, FusedRecord>();
  const add = (list: readonly (StoredRecord | undefined)[], name: 'text' | 'vector') => {
    for (const [at, record] of list.entries()) {
      if (!record) continue;
      const before = fused.get(record.key) ?? { record, score: 0 };
      const score = before.score + 1 / (CONSTANT + at + 1);
      fused.set(record.key, { ...before, score, [name]: at + 1 });
    }
  };
  add(nearest, 'vector');
  add(texts, 'text');
  return [...fused.values()].sort((a, b) => b.score - a.score || a.record.rank - b.record.rank);
}

indexKinds.vectors = VectorIndex;
provideReads({
  vectors: madeRead((context, { pipeline }, pace) =>
    new NearestQuery(context, pipeline as NearestAsk, pace).result(),
  ),
});
