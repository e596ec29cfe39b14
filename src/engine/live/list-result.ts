import { type Coroutine, outcome, type Result } from '../../async/coroutine.ts';
import { Pace } from '../../async/pace.ts';
import { type Body, encodeMade } from '../../codec/body.ts';
import { firstWhere } from '../../codec/first-where.ts';
import { sameBody } from '../../codec/same-value.ts';
import { bodySize } from '../../codec/size.ts';
import type { ListPart } from '../../protocol/live-protocol.ts';
import type { Selection } from '../../protocol/requests.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { OperationContext } from '../collection-context.ts';
import { sameVersion } from '../documents/collection-versions.ts';
import { type CompiledSelection, compileSelection } from '../find/compiled-selection.ts';
import { DocumentQuery } from '../find/query.ts';
import { columnsOfRecords } from '../records/record-store.ts';
import type { BodyOf, MaintainedResult } from './live-result.ts';

/**
 * Most documents, and characters of them, in a part: decoding it must not block a page for long.
 */
const PART_LENGTH = 4096;
const PART_SIZE = 1024 * 1024;

/** Documents that are read at once to sort them. */
const BATCH = 1024;

/** A difference that is sent in parts. */
interface PendingUpdate {
  readonly difference: Difference<Match>;
  /** Number of inserted documents sent so far. */
  done: number;
}

/** Delivers to a reader, part by part, how a list differs from the one that it has. */
export class ListUpdates {
  /** The body of a match as the reader gets it. */
  readonly #contentOf: (match: Match) => Result<Body>;
  /** The reader's list, once all parts are sent. */
  #delivered: readonly Match[] | undefined;
  #pending: PendingUpdate | undefined;

  constructor(contentOf: (match: Match) => Result<Body>) {
    this.#contentOf = contentOf;
  }

  /** Whether parts are missing. */
  get isDelivering(): boolean {
    return this.#pending !== undefined;
  }

  /** Begins with a list. @returns whether there is anything to deliver. */
  begin(list: readonly Match[]): boolean {
    const change = difference(this.#delivered ?? [], list);
    if (this.#delivered && change.removed.length + change.indexes.length === 0) return false;
    this.#delivered = list;
    this.#pending = { difference: change, done: 0 };
    return true;
  }

  *part(): Coroutine<ListPart> {
    const pending = this.#pending as PendingUpdate;
    const { removed, indexes, inserted } = pending.difference;
    const from = pending.done;
    const bodies: Body[] = [];
    for (let room = PART_SIZE; pending.done < inserted.length && room > 0; pending.done++) {
      if (bodies.length === PART_LENGTH) break;
      const body = yield* outcome(this.#contentOf(inserted[pending.done] as Match));
      bodies.push(body);
      room -= bodySize(body);
    }
    const records = inserted.slice(from, pending.done).map(({ record }) => record);
    const more = pending.done < inserted.length;
    if (!more) this.#pending = undefined;
    return {
      removed: from === 0 ? removed : [],
      indexes: indexes.slice(from, from + bodies.length),
      ...columnsOfRecords(records),
      bodies,
      records,
      more,
    };
  }
}

/** The matching documents, in order. */
export class ListResult implements MaintainedResult {
  readonly #context: OperationContext;
  readonly #selection: Selection;
  readonly #compiled: CompiledSelection;
  readonly #matches: OrderedMatches;
  readonly #from: number;
  readonly #to: number;
  #loaded = false;
  readonly #updates = new ListUpdates((match) => this.#content(match));

  constructor(context: OperationContext, selection: Selection) {
    const { skip = 0, limit = Number.POSITIVE_INFINITY } = selection;
    this.#context = context;
    this.#compiled = compileSelection(context, selection);
    const { order } = this.#compiled;
    this.#from = skip;
    this.#to = skip + limit;
    this.#matches = new OrderedMatches(this.#to, (a, b) => order?.compare(a, b) ?? 0);
    const { most } = this.#matches;
    this.#selection = { ...selection, skip: 0, limit: Number.isFinite(most) ? most : undefined };
  }

  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean {
    const out: Match[] = [];
    const into: Match[] = [];
    for (const key of keys) {
      const before = this.#matches.get(key);
      const record = this.#context.records.get(key);
      if (before?.record === record) continue;
      const after = record && this.#matchOf(record, bodyOf);
      if (before && after && this.#isSame(before, after, bodyOf)) {
        before.record = after.record;
        continue;
      }
      if (before) out.push(before);
      if (after) into.push(after);
    }
    if (out.length + into.length === 0) return false;
    this.#matches.replace(out, into);
    return true;
  }

  reload(): void {
    this.#loaded = false;
  }

  *next(): Coroutine<ListPart | undefined> {
    if (!this.#updates.isDelivering) {
      if (!this.#loaded || this.#matches.short) yield* this.#load();
      if (!this.#updates.begin(this.#matches.list.slice(this.#from, this.#to))) return undefined;
    }
    return yield* this.#updates.part();
  }

  /** The document as the reader gets it. */
  *#content(match: Match): Coroutine<Body> {
    if (match.delivered !== undefined) return match.delivered;
    const body = yield* this.#context.records.bodies.of(match.record);
    const { select } = this.#compiled;
    if (select) match.delivered = encodeMade(select(match.record, body));
    return match.delivered ?? body;
  }

  /** Whether a changed document looks the same to the reader. */
  #isSame(before: Match, after: Match, bodyOf: BodyOf): boolean {
    if (!this.#matches.sameOrder(before, after)) return false;
    const { select } = this.#compiled;
    if (select) {
      after.delivered = encodeMade(select(after.record, bodyOf(after.record)));
      return sameBody(before.delivered, after.delivered);
    }
    return sameVersion(before.record, after.record);
  }

  #matchOf(record: StoredRecord, bodyOf: BodyOf): Match | undefined {
    const { isOfKind, test } = this.#compiled;
    if (!isOfKind(record) || (test && !test(record, bodyOf(record)))) return undefined;
    return { record, sort: this.#sortKey(record, bodyOf), delivered: undefined };
  }

  #sortKey(record: StoredRecord, bodyOf: BodyOf): unknown {
    const { order, sorted } = this.#compiled;
    return order?.keyOf(sorted(record, bodyOf(record)));
  }

  *#load(): Coroutine<void> {
    const { records, clock, aborts } = this.#context;
    const pace = new Pace(clock, aborts);
    const found = yield* new DocumentQuery(this.#context, this.#selection, pace).records();
    const matches: Match[] = [];
    for (let from = 0; from < found.length; from += BATCH) {
      if (pace.late) yield* pace.pause();
      const batch = found.slice(from, from + BATCH);
      const bodies = this.#compiled.order ? yield* records.bodies.ofAll(batch) : [];
      for (const [index, record] of batch.entries()) {
        const before = this.#matches.get(record.key);
        const sort = () => this.#sortKey(record, () => bodies[index] as Body);
        // An unchanged document stays the same match: it is not sent again.
        matches.push(
          before?.record === record ? before : { record, sort: sort(), delivered: undefined },
        );
      }
    }
    this.#matches.reset(matches, found.length < this.#matches.most);
    this.#loaded = true;
  }
}

/** The changes that turn one list into another. */
interface Difference<T> {
  /** Indexes in the old list, ascending. */
  readonly removed: readonly number[];
  /** Indexes in the new list, ascending. */
  readonly indexes: readonly number[];
  /** The items at these indexes. */
  readonly inserted: readonly T[];
}

/** The difference of two lists. Items of both must be in the same order. */
export function difference<T>(before: readonly T[], after: readonly T[]): Difference<T> {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = before.length;
  /** From an index in the old list to the same distance from the end of the new one. */
  const shift = after.length - before.length;
  const least = start + Math.max(0, -shift);
  while (end > least && before[end - 1] === after[end - 1 + shift]) end--;
  // Usually one document among ten thousand changed: the rest between is short.
  const old = new Set(before.slice(start, end));
  const removed: number[] = [];
  const indexes: number[] = [];
  const inserted: T[] = [];
  for (let index = start; index < end + shift; index++) {
    const item = after[index] as T;
    if (old.delete(item)) continue;
    indexes.push(index);
    inserted.push(item);
  }
  for (let index = start; index < end; index++) {
    if (old.has(before[index] as T)) removed.push(index);
  }
  return { removed, indexes, inserted };
}

/** A document of a live query. A changed document is a new match. */
export interface Match {
  /** The latest version examined. */
  record: StoredRecord;
  /** The sort key. */
  readonly sort: unknown;
  /** The body that the reader has, where it is not the record's own. */
  delivered: Body | undefined;
}

/** Number of changes from which sorting anew is cheaper than moving each. */
const MANY = 64;

/**
 * Matches in order. With a bound only the first are kept, plus a reserve, so that a few may go
 * before the query runs again.
 */
export class OrderedMatches {
  readonly #compare: (a: Match, b: Match) => number;
  /** Most matches kept. */
  readonly most: number;
  readonly #bound: number;
  /** Invariant: in order, and no match that is left out precedes the last. */
  #list: Match[] = [];
  /** Invariant: the same matches as in the list, by key. */
  readonly #byKey = new Map<string, Match>();
  #complete = true;

  /** @param bound Number of matches that must be known; Infinity for all. */
  constructor(bound: number, compare: (a: unknown, b: unknown) => number) {
    this.#bound = bound;
    this.most = 2 * bound + 32;
    this.#compare = (a, b) => compare(a.sort, b.sort) || a.record.rank - b.record.rank;
  }

  get list(): readonly Match[] {
    return this.#list;
  }

  get(key: string): Match | undefined {
    return this.#byKey.get(key);
  }

  /** Whether a match that was left out may belong among the first now. */
  get short(): boolean {
    return !this.#complete && this.#list.length < this.#bound;
  }

  sameOrder(a: Match, b: Match): boolean {
    return this.#compare(a, b) === 0;
  }

  /**
   * Starts anew with all matches in any order; with the first ones only where `complete` is false.
   */
  reset(matches: Match[], complete: boolean): void {
    this.#list = matches.sort(this.#compare);
    this.#complete = complete;
    this.#byKey.clear();
    for (const match of matches) this.#byKey.set(match.record.key, match);
    this.#cut();
  }

  /** Removes old matches and inserts new ones. */
  replace(out: readonly Match[], into: readonly Match[]): void {
    // Before the removal: the order behind the last match is unknown.
    const known = this.#complete ? into : into.filter((match) => !this.#isBeyond(match));
    if (out.length + into.length > MANY) {
      for (const { record } of out) this.#byKey.delete(record.key);
      this.reset([...this.#byKey.values(), ...known], this.#complete);
      return;
    }
    for (const match of out) {
      this.#list.splice(this.#placeOf(match), 1);
      this.#byKey.delete(match.record.key);
    }
    for (const match of known) {
      this.#list.splice(this.#placeOf(match), 0, match);
      this.#byKey.set(match.record.key, match);
    }
    this.#cut();
  }

  #cut(): void {
    for (const match of this.#list.splice(this.most)) {
      this.#byKey.delete(match.record.key);
      this.#complete = false;
    }
  }

  #isBeyond(match: Match): boolean {
    const last = this.#list.at(-1);
    return !last || this.#compare(match, last) > 0;
  }

  /** The index of a match: how many precede it. */
  #placeOf(match: Match): number {
    const list = this.#list;
    return firstWhere(0, list.length, (at) => this.#compare(list[at] as Match, match) >= 0);
  }
}
