import type { Coroutine } from '../../../async/coroutine.ts';
import type { Pace } from '../../../async/pace.ts';
import { type Body, encodeMade } from '../../../codec/body.ts';
import { sameBody } from '../../../codec/same-value.ts';
import type { ArchivedFilter } from '../../../protocol/requests.ts';
import type { StoredRecord } from '../../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../../collection-context.ts';
import { sameVersion } from '../../documents/collection-versions.ts';
import { type CompiledSelection, compileSelection } from '../../find/compiled-selection.ts';
import { DocumentQuery } from '../../find/query.ts';
import { type Match, OrderedMatches } from '../../live/list-result.ts';
import type { BodyOf } from '../../live/live-result.ts';
import { both, valuesToFind } from '../find-partners.ts';
import { type JoinReader, joinReader, ValueMap } from '../join-values.ts';

/** Documents that are read at once. */
const BATCH = 1024;

/** What a node shows: the documents of a live query, or the partners of such. */
export interface LiveAsk {
  /** Criteria, with the conditions on partners; resolved as the node is compiled. */
  readonly criteria: object;
  readonly archived: ArchivedFilter;
  readonly collation?: string | undefined;
  readonly sort?: object | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly select?: object | undefined;
  /** Of partners: the path by which they are found, and that of the documents they belong to. */
  readonly link?: { readonly from: string; readonly to: string };
}

/** A document, with the values by which each include finds its partners. */
interface LinkedMatch extends Match {
  readonly links: readonly (readonly unknown[])[];
}

export interface ShownDocument {
  match: Match;
  /** Known to the page by this number. */
  readonly number: number;
  /** How many buckets show it. */
  buckets: number;
  /** Whether the page has this version, with these partners. */
  isSent: boolean;
  /** Another object once it, or a partner, has changed. */
  token: object;
}

/** The documents that have one value at `to`, in order. All documents of a root are in one. */
interface Bucket {
  readonly value: unknown;
  readonly matches: OrderedMatches;
  /** The documents whose partners these are. */
  readonly owners: Set<string>;
  shown: readonly Match[];
}

/** The documents of one collection that a live query shows: its own, or partners. */
export class LiveNode {
  readonly context: CollectionContext;
  readonly ask: LiveAsk;
  readonly inner: readonly LiveNode[];
  /** Keys that changed and are not taken in. */
  touched = new Set<string>();
  /** Whether its criteria have to be resolved anew. */
  isOutdated = true;
  compiled!: CompiledSelection;
  /** Whether something that it shows has changed, since this was reset. */
  isChanged = true;
  readonly shown = new Map<string, ShownDocument>();
  /** The numbers of documents that were sent and are shown no more. */
  gone: number[] = [];
  /** Documents of the node above whose partners have changed. */
  readonly changedOwners = new Set<string>();
  readonly #end: number;
  readonly #to: JoinReader | undefined;
  readonly #from: JoinReader[];
  readonly #buckets = new ValueMap<Bucket>();
  /** Those that have to be read. */
  readonly #unread = new Set<Bucket>();
  readonly #bucketsOf = new Map<string, readonly Bucket[]>();
  readonly #owned = new Map<string, readonly Bucket[]>();
  /** Criteria without conditions on partners. */
  #criteria: object = {};
  #numbers = 0;

  constructor(context: CollectionContext, ask: LiveAsk, inner: readonly LiveNode[]) {
    const { skip = 0, limit = Number.POSITIVE_INFINITY, link } = ask;
    this.context = context;
    this.ask = ask;
    this.inner = inner;
    this.#end = skip + limit;
    this.#to = link && joinReader(context, link.to);
    this.#from = inner.map((one) => joinReader(context, one.ask.link?.from as string));
    if (!link) this.#bucketAt('');
  }

  /** Takes criteria without conditions, and reads all anew. */
  compile(criteria: object): void {
    const { archived, sort, select, collation } = this.ask;
    this.compiled = compileSelection(this.context, { criteria, archived, sort, select, collation });
    this.#criteria = criteria;
    this.reload();
  }

  reload(): void {
    for (const bucket of this.#buckets.items) this.#unread.add(bucket);
  }

  get needsLoad(): boolean {
    return this.#unread.size > 0;
  }

  get list(): readonly Match[] {
    return this.#bucketAt('').shown;
  }

  /** The partners of a document of the node above, in order. */
  partnersOf(owner: string): readonly ShownDocument[] {
    const buckets = this.#owned.get(owner) ?? [];
    const { skip = 0 } = this.ask;
    const all = buckets.length === 1 ? (buckets[0] as Bucket).shown : this.#merged(buckets);
    return all
      .slice(skip, this.#end)
      .map(({ record }) => this.shown.get(record.key) as ShownDocument);
  }

  #merged(buckets: readonly Bucket[]): Match[] {
    const byKey = new Map<string, Match>();
    for (const { shown } of buckets) for (const match of shown) byKey.set(match.record.key, match);
    return [...byKey.values()].sort((a, b) => this.#compare(a, b));
  }

  #compare(a: Match, b: Match): number {
    const { order } = this.compiled;
    return (order?.compare(a.sort as never, b.sort as never) ?? 0) || a.record.rank - b.record.rank;
  }

  update(bodyOf: BodyOf): void {
    const keys = this.touched;
    this.touched = new Set();
    const changed = new Set<Bucket>();
    for (const key of keys) this.#updateOne(key, bodyOf, changed);
    for (const bucket of changed) {
      if (bucket.matches.short) this.#unread.add(bucket);
      else this.#show(bucket);
    }
  }

  #updateOne(key: string, bodyOf: BodyOf, changed: Set<Bucket>): void {
    const record = this.context.records.get(key);
    const before = this.#bucketsOf.get(key) ?? [];
    const after = record ? this.#bucketsFor(record, bodyOf) : [];
    let made: Match | undefined;
    for (const bucket of new Set([...before, ...after])) {
      if (this.#unread.has(bucket)) continue;
      const old = bucket.matches.get(key);
      const isIn = record !== undefined && after.includes(bucket);
      if ((!old && !isIn) || (isIn && old?.record === record)) continue;
      if (isIn) made ??= this.#matchOf(record, bodyOf(record));
      if (old && isIn && this.#isSame(bucket, old, made as Match)) {
        old.record = record as StoredRecord;
        continue;
      }
      bucket.matches.replace(old ? [old] : [], isIn ? [made as Match] : []);
      changed.add(bucket);
    }
    if (after.length > 0) this.#bucketsOf.set(key, after);
    else this.#bucketsOf.delete(key);
  }

  #bucketsFor(record: StoredRecord, bodyOf: BodyOf): Bucket[] {
    const { isOfKind, test } = this.compiled;
    if (!isOfKind(record)) return [];
    const body = bodyOf(record);
    if (test && !test(record, body)) return [];
    return this.#bucketsAt(this.#to ? this.#to.read(record, body) : ['']);
  }

  #bucketsAt(values: readonly unknown[]): Bucket[] {
    return [...new Set(values.flatMap((value) => this.#buckets.get(value) ?? []))];
  }

  #matchOf(record: StoredRecord, body: Body): LinkedMatch {
    const { order, sorted, select } = this.compiled;
    const sort = order?.keyOf(sorted(record, body));
    const delivered = select && encodeMade(select(record, body));
    // Now, as its body may not be in memory once it is shown.
    const links = this.#from.map((reader) => reader.read(record, body));
    return { record, sort, delivered, links };
  }

  #isSame({ matches }: Bucket, before: Match, after: Match): boolean {
    if (!matches.sameOrder(before, after)) return false;
    // Its own partners may be others.
    if (this.inner.length > 0) return false;
    return this.compiled.select
      ? sameBody(before.delivered as Body, after.delivered as Body)
      : sameVersion(before.record, after.record);
  }

  #show(bucket: Bucket): void {
    const before = bucket.shown;
    const after =
      bucket.owners.size > 0 || !this.ask.link
        ? bucket.matches.list.slice(this.#from0, this.#end)
        : [];
    if (before.length === after.length && before.every((match, at) => match === after[at])) return;
    bucket.shown = after;
    this.isChanged = true;
    for (const owner of bucket.owners) this.changedOwners.add(owner);
    const old = new Set(before);
    for (const match of after) if (!old.delete(match)) this.#hold(match);
    for (const match of old) this.#release(match.record.key);
  }

  /** Partners of several buckets are merged before the first are left out. */
  get #from0(): number {
    return this.ask.link ? 0 : (this.ask.skip ?? 0);
  }

  #hold(match: Match): void {
    const { key } = match.record;
    const known = this.shown.get(key);
    if (known) {
      known.buckets++;
      if (known.match === match) return;
      known.match = match;
      this.#renew(known);
    } else {
      const number = ++this.#numbers;
      this.shown.set(key, { match, number, buckets: 1, isSent: false, token: {} });
    }
    const { links } = match as LinkedMatch;
    for (const [at, inner] of this.inner.entries())
      inner.link(key, links[at] as readonly unknown[]);
  }

  #release(key: string): void {
    const known = this.shown.get(key) as ShownDocument;
    if (--known.buckets > 0) return;
    this.shown.delete(key);
    this.gone.push(known.number);
    for (const inner of this.inner) inner.link(key, []);
  }

  #renew(document: ShownDocument): void {
    this.isChanged = true;
    document.isSent = false;
    document.token = {};
  }

  link(owner: string, values: readonly unknown[]): void {
    const before = this.#owned.get(owner) ?? [];
    const after = [...new Set(values.map((value) => this.#bucketAt(value)))];
    for (const bucket of after) bucket.owners.add(owner);
    for (const bucket of before) {
      if (after.includes(bucket)) continue;
      bucket.owners.delete(owner);
      if (bucket.owners.size > 0) continue;
      this.#show(bucket);
      this.#buckets.delete(bucket.value);
      this.#unread.delete(bucket);
    }
    if (after.length > 0) this.#owned.set(owner, after);
    else this.#owned.delete(owner);
    this.changedOwners.add(owner);
  }

  #bucketAt(value: unknown): Bucket {
    let bucket = this.#buckets.get(value);
    if (!bucket) {
      const compare = (a: unknown, b: unknown) =>
        this.compiled.order?.compare(a as never, b as never) ?? 0;
      const matches = new OrderedMatches(this.#end, compare);
      bucket = { value, matches, owners: new Set(), shown: [] };
      this.#buckets.set(value, bucket);
      this.#unread.add(bucket);
    }
    return bucket;
  }

  /** Reads the buckets that are not loaded, by one query; {@link touched} has later changes. */
  *load(pace: Pace): Coroutine<void> {
    const { records } = this.context;
    const wanted = [...this.#unread];
    const { archived, collation, sort, link } = this.ask;
    const values = wanted.map(({ value }) => value);
    const criteria = link ? both(valuesToFind(link.to, values), this.#criteria) : this.#criteria;
    const most = link ? undefined : wanted[0]?.matches.most;
    const limit = most !== undefined && Number.isFinite(most) ? most : undefined;
    const selection = { criteria, archived, collation, ...(limit && { sort, limit }) };
    const found = yield* new DocumentQuery(this.context, selection, pace).records();
    const matches = new Map<Bucket, Match[]>(wanted.map((bucket) => [bucket, []]));
    const needsBodies =
      this.compiled.order ||
      this.compiled.select ||
      [this.#to, ...this.#from].some((reader) => reader?.needsBodies);
    for (let from = 0; from < found.length; from += BATCH) {
      const batch = found.slice(from, from + BATCH);
      const bodies: Body[] = needsBodies ? yield* records.bodies.ofAll(batch) : [];
      for (const [at, record] of batch.entries()) {
        const body = bodies[at] as Body;
        let match: Match | undefined;
        const into = this.#to ? this.#bucketsAt(this.#to.read(record, body)) : wanted;
        for (const bucket of into) {
          const known = this.shown.get(record.key)?.match;
          // An unchanged document stays the same match: it is not sent again.
          match ??= known?.record === record ? known : this.#matchOf(record, body);
          matches.get(bucket)?.push(match);
        }
        if (into.length > 0) this.#bucketsOf.set(record.key, into);
      }
      if (pace.late) yield* pace.pause();
    }
    for (const [bucket, list] of matches) {
      bucket.matches.reset(list, limit === undefined || found.length < limit);
      this.#unread.delete(bucket);
      this.#show(bucket);
    }
  }

  /** Passes changes of partners on to the documents that show them. */
  passOn(): void {
    for (const inner of this.inner) {
      inner.passOn();
      for (const owner of inner.changedOwners) {
        const document = this.shown.get(owner);
        if (!document) continue;
        this.#renew(document);
        for (const bucket of this.#bucketsOf.get(owner) ?? [])
          for (const above of bucket.owners) this.changedOwners.add(above);
      }
      inner.changedOwners.clear();
    }
  }
}
