import { type Coroutine, outcome, type Result } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import { CriteriaError, nameCollection } from '../../errors/errors.ts';
import type { RelatedAsk, RelationPlan } from '../../protocol/relation-protocol.ts';
import { loadedLanguage } from '../../query/criteria/late-operators.ts';
import type { Language } from '../../query/expressions/part.ts';
import type {
  ForeignAsk,
  ForeignCollection,
  ForeignLookup,
  LookupAsk,
} from '../../query/pipeline/run.ts';
import { isFields } from '../../query/value/value-type.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { documentReaders } from '../find/compiled-selection.ts';
import type { ForeignReading, ForeignSettings } from '../find/late-reads.ts';
import { DocumentQuery } from '../find/query.ts';
import { RelatedReading } from './reading.ts';
import { planOf, planOfCriteria, resolveCriteria } from './resolve-criteria.ts';

/** Bodies that are read together. */
const BATCH = 1024;

/** Bytes of a document that is found, besides its body. */
const OVERHEAD = 200;

/** What a pipeline reads besides its own collection, as of one instant. */
export class PipelineReading implements ForeignReading {
  readonly #reading: RelatedReading;
  readonly #settings: ForeignSettings;
  readonly #collections = new Map<OperationContext, Foreign>();
  readonly #plans = new Map<string, RelationPlan>();

  constructor(context: OperationContext, related: RelatedAsk, settings: ForeignSettings) {
    this.#reading = new RelatedReading(context, related);
    this.#settings = settings;
  }

  get context(): OperationContext {
    return this.#reading.context;
  }

  get plans(): RelationPlan[] {
    return [...this.#reading.plans, ...this.#plans.values()];
  }

  *resolve(pipeline: object): Coroutine<object> {
    const { archived = false, collation, pace } = this.#settings;
    const resolved: object[] = [];
    for (const stage of pipeline as readonly { readonly $match?: unknown }[]) {
      const { $match } = Object(stage) as typeof stage;
      if (!isFields($match)) return [...resolved, ...(pipeline as object[]).slice(resolved.length)];
      const documents = { archived, collation };
      const criteria = yield* resolveCriteria(this.#reading, this.context, $match, pace, documents);
      resolved.push({ ...stage, $match: criteria });
    }
    return resolved;
  }

  collection(name: string, place: string): ForeignCollection {
    const context = this.#reading.contextOf(name);
    if (context.settings.type !== 'DOCUMENT_BASED')
      throw new CriteriaError(
        'operand_invalid',
        `'${place}' reads "${name}", which has keys and values.`,
        { place },
      );
    const known = this.#collections.get(context);
    if (known) return known;
    const found = new Foreign(context, this.#settings, (...asked) => this.#note(context, ...asked));
    this.#collections.set(context, found);
    return found;
  }

  end(): void {
    this.#reading.release();
    this.#reading.unpin();
  }

  /** All that a stage finds is one plan: that of its first question. */
  #note(
    context: OperationContext,
    { place, path = '_id' }: Asked,
    query: DocumentQuery,
    returned: number,
  ): void {
    const own = planOf(context, query, path, place);
    const before = this.#plans.get(place);
    this.#plans.set(place, {
      ...own,
      plan: before?.plan ?? own.plan,
      use: place.endsWith('$unionWith') ? '$unionWith' : '$lookup',
      keys_examined: own.keys_examined + (before?.keys_examined ?? 0),
      documents_examined: own.documents_examined + (before?.documents_examined ?? 0),
      returned: returned + (before?.returned ?? 0),
    });
  }
}

type Note = (ask: Asked, query: DocumentQuery, returned: number) => void;

type Asked = ForeignAsk & Partial<Pick<LookupAsk, 'path'>>;

type Make = (record: StoredRecord, body: Body) => object;

class Foreign implements ForeignCollection {
  readonly context: OperationContext;
  readonly #settings: ForeignSettings;
  readonly #note: Note;
  /** What was found so far, and where it stands in the order. */
  readonly #documents = new Map<StoredRecord, object>();
  readonly #ranks = new Map<object, number>();

  constructor(context: OperationContext, settings: ForeignSettings, note: Note) {
    this.context = context;
    this.#settings = settings;
    this.#note = note;
  }

  get collation(): string | undefined {
    return this.#settings.collation;
  }

  lookup(ask: LookupAsk, charge: (bytes: number) => void): ForeignLookup {
    return new Lookup(ask, this, charge);
  }

  isIndexed(criteria: object): boolean {
    const { archived, collation } = this.#settings;
    return planOfCriteria(this.context, { criteria, archived, collation }).kind !== 'scan';
  }

  read(ask: Asked, take: (documents: object[]) => Result<void>): Coroutine<void> {
    const { wholeOf } = documentReaders(this.context);
    return this.#read(ask, wholeOf, take);
  }

  *find(ask: Asked, charge: (bytes: number) => void): Coroutine<object[]> {
    const { settings, records } = this.context;
    const { wholeOf } = documentReaders(this.context);
    // Decoded values may stay in memory anyway.
    const isKept = settings.caching && records.bodies.resident;
    const make: Make = (record, body) => {
      const known = this.#documents.get(record);
      if (known) return known;
      charge(OVERHEAD + (isKept ? 0 : bodySize(body)));
      const made = wholeOf(record, body);
      this.#documents.set(record, made);
      this.#ranks.set(made, record.rank);
      return made;
    };
    const found: object[] = [];
    yield* this.#read(ask, make, (documents) => {
      for (const document of documents) found.push(document);
    });
    return found;
  }

  /** Found documents in their order. */
  inOrder(documents: Iterable<object>): object[] {
    const rank = (document: object) => this.#ranks.get(document) as number;
    return [...documents].sort((a, b) => rank(a) - rank(b));
  }

  *#read(ask: Asked, make: Make, take: (documents: object[]) => Result<void>): Coroutine<void> {
    const { records, settings } = this.context;
    const { archived, collation, pace } = this.#settings;
    const criteria = ask.criteria.length > 1 ? { $and: ask.criteria } : ask.criteria[0];
    try {
      const query = new DocumentQuery(this.context, { criteria, archived, collation }, pace);
      const found = yield* query.records();
      this.#note(ask, query, found.length);
      for (let from = 0; from < found.length; from += BATCH) {
        const batch = found.slice(from, from + BATCH);
        const bodies: Body[] = yield* records.bodies.ofAll(batch);
        yield* outcome(take(batch.map((record, at) => make(record, bodies[at] as Body))));
        if (pace.late) yield* pace.pause();
      }
    } catch (error) {
      throw nameCollection(error, settings.name);
    }
  }
}

/** The documents that a stage looks up, as far as a run has needed them. */
class Lookup implements ForeignLookup {
  readonly #ask: LookupAsk;
  readonly #foreign: Foreign;
  readonly #charge: (bytes: number) => void;
  readonly #keyOf: (value: unknown) => unknown;
  /** By the key of their value; empty lists for values that none has. */
  readonly #byKey = new Map<unknown, object[]>();
  /** Whether all values are there. */
  #isComplete = false;
  #hasScanned = false;
  #all: readonly object[] | undefined;
  /** Those that have no value. */
  #without: readonly object[] | undefined;

  constructor(ask: LookupAsk, foreign: Foreign, charge: (bytes: number) => void) {
    this.#ask = ask;
    this.#foreign = foreign;
    this.#keyOf = (loadedLanguage() as Language).keysIn(foreign.collation);
    this.#charge = charge;
  }

  /** By an index where there is one; else by one scan, and then all of them at once. */
  *load(values: readonly unknown[]): Coroutine<void> {
    if (this.#isComplete) return;
    const wanted = new Map<unknown, unknown>();
    for (const value of values.flat()) {
      if (value === null || value === undefined) continue;
      const key = this.#keyOf(value);
      if (!this.#byKey.has(key)) wanted.set(key, value);
    }
    if (wanted.size === 0) return;
    const list = [...wanted.values()];
    const criteria = this.#having({ $in: list });
    const canFind = list.every(isFindable);
    const isIndexed = canFind && this.#foreign.isIndexed(criteria);
    this.#isComplete = !isIndexed && (this.#hasScanned || !canFind);
    this.#hasScanned ||= !isIndexed;
    if (this.#isComplete) {
      this.#byKey.clear();
      this.#enter(yield* this.#find());
    } else {
      for (const key of wanted.keys()) this.#byKey.set(key, []);
      this.#enter(yield* this.#find([criteria]), wanted);
    }
  }

  *of(value: unknown): Coroutine<readonly object[]> {
    if (!Array.isArray(value)) return yield* this.#ofOne(value);
    const found = new Set<object>();
    for (const item of value) for (const one of yield* this.#ofOne(item)) found.add(one);
    return this.#foreign.inOrder(found);
  }

  *candidates(): Coroutine<readonly object[]> {
    const { equal } = this.#ask;
    const criteria: object[] = equal.flatMap(({ path, cell: { value } }) =>
      isFindable(value) ? [{ [path]: value }] : [],
    );
    const path = equal[0]?.path;
    if (criteria.length > 0 && this.#foreign.isIndexed({ $and: criteria }))
      return yield* this.#find(criteria, path);
    this.#all ??= yield* this.#find([], path);
    return this.#all;
  }

  *#ofOne(value: unknown): Coroutine<readonly object[]> {
    if (value !== null && value !== undefined) return this.#byKey.get(this.#keyOf(value)) ?? [];
    this.#without ??= yield* this.#find([this.#having(null)]);
    return this.#without;
  }

  #having(condition: unknown): object {
    return { [this.#ask.path as string]: condition };
  }

  #find(criteria: readonly object[] = [], path = this.#ask.path): Coroutine<readonly object[]> {
    const asked = { ...this.#ask, criteria: [...criteria, ...this.#ask.criteria], path };
    return this.#foreign.find(asked, this.#charge);
  }

  #enter(documents: readonly object[], wanted?: ReadonlyMap<unknown, unknown>): void {
    for (const document of documents) {
      const keys = new Set(Array.from(this.#ask.valuesOf(document), this.#keyOf));
      for (const key of keys) {
        if (wanted && !wanted.has(key)) continue;
        const bucket = this.#byKey.get(key);
        if (bucket) bucket.push(document);
        else this.#byKey.set(key, [document]);
      }
    }
  }
}

/** Whether criteria find the same value. */
function isFindable(value: unknown): boolean {
  if (typeof value === 'object') return value instanceof Date;
  return value !== undefined && !Number.isNaN(value);
}
