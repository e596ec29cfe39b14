import { type Body, encode } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import { compileCriteria } from '../../query/criteria.ts';
import { compileOrder } from '../../query/order.ts';
import { compileSelect } from '../../query/projection.ts';
import type { StoredRecord } from '../../storage/stored-record.ts';
import type { StoreContext } from '../context.ts';
import { archivedTest, type DocumentView, viewFor } from '../document-view.ts';
import type { RecordStore } from '../record-store.ts';
import { Scan } from '../scan.ts';
import type { Work } from '../work.ts';
import { type Difference, difference } from './difference.ts';
import type { ListPart, LiveSpec } from './live-protocol.ts';
import type { BodyOf, LiveResult } from './live-result.ts';
import { managedOf } from './managed-values.ts';
import { type Match, OrderedMatches } from './ordered-matches.ts';

/** Documents, and characters of bodies, in a part at the most: taking it in must not block a page for long. */
const PART_LENGTH = 4096;
const PART_SIZE = 1024 * 1024;

/** Matches looked for in one go. */
const CHUNK = 1024;

/** A difference that is told in parts. */
interface Telling {
  readonly difference: Difference<Match>;
  /** How many of the documents that come were told. */
  done: number;
}

/** Documents that match, in order. */
export class ListResult implements LiveResult {
  readonly #records: RecordStore;
  /** The match that a version is, if it is one. */
  readonly #matchOf: (record: StoredRecord, body: Body) => Match | undefined;
  /** With `select`, what is told of a document in place of its body. */
  readonly #project: ((record: StoredRecord, body: Body) => Body) | undefined;
  readonly #inOrderOfInsertion: boolean;
  readonly #matches: OrderedMatches;
  readonly #from: number;
  readonly #to: number;
  #loaded = false;
  /** What the reader has, once all parts have come. */
  #told: readonly Match[] | undefined;
  #telling: Telling | undefined;

  constructor({ records, settings }: StoreContext, spec: LiveSpec & { kind: 'list' }) {
    const criteria = spec.criteria && compileCriteria(spec.criteria);
    const order = spec.sort === undefined ? undefined : compileOrder(spec.sort);
    const wanted = archivedTest(spec.archived);
    const view = viewFor(settings, [...(criteria?.roots ?? []), ...(order?.roots ?? [])]);
    this.#records = records;
    this.#matchOf = (record, body) => {
      if (!wanted(record)) return undefined;
      if (!criteria && !order) return { record, sort: undefined, told: undefined };
      const document = view(record, body);
      if (criteria && !criteria.test(document)) return undefined;
      return { record, sort: order?.keyOf(document), told: undefined };
    };
    if (spec.select !== undefined) {
      const whole: DocumentView = viewFor(settings, ['_id']);
      const select = compileSelect(spec.select);
      this.#project = (record, body) => encode(select(whole(record, body)), 'document');
    }
    this.#inOrderOfInsertion = !order;
    this.#from = spec.skip ?? 0;
    this.#to = this.#from + (spec.limit ?? Number.POSITIVE_INFINITY);
    this.#matches = new OrderedMatches(this.#to, (a, b) => order?.compare(a, b) ?? 0);
  }

  update(keys: ReadonlySet<string>, bodyOf: BodyOf): boolean {
    const out: Match[] = [];
    const into: Match[] = [];
    for (const key of keys) {
      const before = this.#matches.get(key);
      const record = this.#records.get(key);
      if (before?.record === record) continue;
      const after = record && this.#matchOf(record, bodyOf(record));
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

  *next(): Work<ListPart | undefined> {
    if (!this.#telling) {
      if (!this.#loaded || this.#matches.short) yield* this.#load();
      const list = this.#matches.list.slice(this.#from, this.#to);
      const change = difference(this.#told ?? [], list);
      if (this.#told && change.gone.length + change.at.length === 0) return undefined;
      this.#told = list;
      this.#telling = { difference: change, done: 0 };
    }
    return yield* this.#part(this.#telling);
  }

  *#part(telling: Telling): Work<ListPart> {
    const { gone, at, come } = telling.difference;
    const from = telling.done;
    const bodies: Body[] = [];
    for (let room = PART_SIZE; telling.done < come.length && room > 0; telling.done++) {
      if (bodies.length === PART_LENGTH) break;
      const body = yield* this.#content(come[telling.done] as Match);
      bodies.push(body);
      room -= bodySize(body);
    }
    const records = come.slice(from, telling.done).map(({ record }) => record);
    const more = telling.done < come.length;
    if (!more) this.#telling = undefined;
    return {
      gone: from === 0 ? gone : [],
      at: at.slice(from, from + bodies.length),
      keys: records.map(({ key }) => key),
      flags: Uint8Array.from(records, ({ flags }) => flags),
      stamps: records.some(({ stamps }) => stamps)
        ? records.map(({ stamps }) => stamps)
        : undefined,
      bodies,
      more,
    };
  }

  /** What is told of a document. */
  *#content(match: Match): Work<Body> {
    if (match.told !== undefined) return match.told;
    const body = yield* this.#records.body(match.record);
    if (this.#project) match.told = this.#project(match.record, body);
    return match.told ?? body;
  }

  /** Whether nothing of a document changed that the reader would see. */
  #isSame(before: Match, after: Match, bodyOf: BodyOf): boolean {
    if (!this.#matches.sameOrder(before, after)) return false;
    if (this.#project) {
      after.told = this.#project(after.record, bodyOf(after.record));
      return typeof after.told === 'string' && before.told === after.told;
    }
    const { body } = before.record;
    return (
      typeof body === 'string' &&
      body === after.record.body &&
      managedOf(before.record) === managedOf(after.record)
    );
  }

  *#load(): Work<void> {
    const scan = new Scan(this.#records);
    const found: Match[] = [];
    let complete = true;
    try {
      while (!scan.done) {
        const gather = (record: StoredRecord, body: Body): boolean => {
          const before = this.#matches.get(record.key);
          const match = before?.record === record ? before : this.#matchOf(record, body);
          if (match) found.push(match);
          return match !== undefined;
        };
        yield* scan.next(gather, Math.min(CHUNK, this.#to));
        if (this.#matches.prune(found)) complete = false;
        // All that is still to come was inserted later.
        const certain = found.length >= this.#to && this.#inOrderOfInsertion;
        if (certain && found.every(({ record }) => record.order < scan.floor) && !scan.done) {
          complete = false;
          break;
        }
      }
    } finally {
      scan.end();
    }
    this.#matches.reset(found, complete);
    this.#loaded = true;
  }
}
